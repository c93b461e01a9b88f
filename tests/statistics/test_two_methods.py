"""Tests of two methods: t-tests, 5x2cv, McNemar, Wilcoxon and sign, against figures by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import special, stats
from sklearn.datasets import make_moons
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.svm import SVC
from tests.statistics.demsar import AREAS

from orfeon.statistics import (
    McNemarTest,
    corrected_resampled_t_test,
    five_by_two_cv_test,
    mcnemar_test,
    paired_t_test,
    sign_test,
    wilcoxon_test,
)

FIRST, SECOND = [20.0, 22.0, 25.0, 21.0], [21.0, 22.5, 27.0, 23.5]
PAIRED = [paired_t_test, wilcoxon_test, sign_test]


def _corrected(first, second, **options):
    return corrected_resampled_t_test(first, second, n_train=90, n_test=10, **options)


# -- t-tests ---------------------------------------------------------------------------------------


def test_paired_t_is_the_mean_over_its_standard_error():
    test = paired_t_test(FIRST, SECOND)
    # Differences -1, -0.5, -2, -2.5: mean -1.5, sum of squares about it 2.5.
    assert test.mean_difference == pytest.approx(-1.5)
    assert test.standard_error == pytest.approx(math.sqrt(2.5 / 3 / 4))
    assert test.degrees_of_freedom == 3
    assert test.statistic == pytest.approx(-3.286335)
    # With 3 degrees of freedom Student's distribution has a closed form.
    angle = math.atan(3.2863353 / math.sqrt(3))
    expected = 1 - 2 / math.pi * (angle + math.sin(angle) * math.cos(angle))
    assert test.p_value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_paired_t_is_that_of_scipy(alternative):
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 17))
    ours = paired_t_test(first, second, alternative=alternative)
    theirs = stats.ttest_rel(first, second, alternative=alternative)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-12)
    low, high = paired_t_test(first, second).interval(0.9)
    expected = stats.ttest_rel(first, second).confidence_interval(0.9)
    assert (low, high) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_corrected_variance_adds_the_share_of_test_to_training_samples():
    plain, corrected = paired_t_test(FIRST, SECOND), _corrected(FIRST, SECOND)
    ratio = math.sqrt((1 / 4 + 10 / 90) / (1 / 4))
    assert corrected.standard_error == pytest.approx(ratio * plain.standard_error, rel=1e-12)
    assert corrected.p_value == pytest.approx(2 * stats.t.sf(3.2863353 / ratio, 3), rel=1e-6)
    assert "(corrected)" in str(corrected)


def test_corrected_t_of_the_gallery_of_scikit_learn():
    # "Statistical comparison of models using grid search": t = 0.750 and p = 0.227 (one-sided).
    X, y = make_moons(noise=0.352, random_state=1, n_samples=100)
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    radial, linear = (
        cross_val_score(SVC(kernel=kernel, random_state=0), X, y, scoring="roc_auc", cv=folds)
        for kernel in ("rbf", "linear")
    )
    test = _corrected(radial, linear, alternative="greater")
    assert round(test.statistic, 3) == 0.750
    assert round(test.p_value, 3) == 0.227


def test_corrected_test_keeps_its_level_where_the_plain_one_does_not():
    # Scores of splits whose correlation is that which the correction allows for.
    rng = np.random.default_rng(0)
    correlation = 0.1  # n_test / (n_train + n_test)
    rejected = np.zeros(2)
    for _ in range(1000):
        shared, own = rng.normal(), rng.normal(size=20)
        differences = math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own
        tests = (paired_t_test(differences, np.zeros(20)), _corrected(differences, np.zeros(20)))
        rejected += [test.p_value < 0.05 for test in tests]
    plain, corrected = rejected / 1000
    assert plain > 0.2
    assert 0.03 < corrected < 0.07


@pytest.mark.parametrize("test", [paired_t_test, _corrected])
def test_differences_without_spread(test):
    same = test([0.3, 0.4, 0.5], [0.3, 0.4, 0.5])
    assert (same.statistic, same.p_value, same.interval()) == (0.0, 1.0, (0.0, 0.0))
    apart = test([3.5, 4.5, 5.5], [3.0, 4.0, 5.0])
    assert (apart.statistic, apart.p_value, apart.interval()) == (math.inf, 0.0, (0.5, 0.5))
    below = test([3.0, 4.0], [3.5, 4.5], alternative="greater")
    assert (below.statistic, below.p_value) == (-math.inf, 1.0)


def test_sizes_of_splits_are_checked():
    with pytest.raises(ValueError, match="n_test=0 is not allowed: it must be 1 or more"):
        corrected_resampled_t_test(FIRST, SECOND, n_train=90, n_test=0)
    with pytest.raises(ValueError, match="confidence=95 is not allowed"):
        paired_t_test(FIRST, SECOND).interval(95)


# -- 5x2cv -----------------------------------------------------------------------------------------


def test_five_by_two_by_hand():
    # Differences (0.02, 0.04), (0.06, 0.02), (0.04, 0.04), (0.01, 0.03), (0.05, 0.05): variances
    # within repetitions 0.0002, 0.0008, 0, 0.0002, 0, of sum 0.0012; squares sum to 0.0152.
    second = np.full((5, 2), 0.1)
    gains = np.array([[0.02, 0.04], [0.06, 0.02], [0.04, 0.04], [0.01, 0.03], [0.05, 0.05]])
    test = five_by_two_cv_test(second + gains, second)
    assert test.mean_difference == pytest.approx(0.036)
    assert test.t_statistic == pytest.approx(0.02 / math.sqrt(0.0012 / 5))
    assert test.t_p_value == pytest.approx(2 * stats.t.sf(1.2909944, 5), rel=1e-6)
    assert test.f_statistic == pytest.approx(0.0152 / 0.0024)
    ratio = 0.0152 / 0.0024
    assert test.f_p_value == pytest.approx(special.betainc(2.5, 5, 5 / (5 + 10 * ratio)), rel=1e-9)


def test_f_does_not_depend_on_the_order_of_folds_and_t_does():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 5, 2))
    one = five_by_two_cv_test(first, second)
    other = five_by_two_cv_test(first[:, ::-1], second[:, ::-1])
    assert one.f_statistic == pytest.approx(other.f_statistic, rel=1e-12)
    assert one.t_statistic != pytest.approx(other.t_statistic, rel=1e-3)


def test_five_by_two_without_spread_and_with_wrong_shapes():
    same = np.full((5, 2), 0.5)
    test = five_by_two_cv_test(same, same)
    assert (test.t_p_value, test.f_p_value) == (1.0, 1.0)
    test = five_by_two_cv_test(same + 0.25, same)
    assert (test.t_statistic, test.t_p_value, test.f_p_value) == (math.inf, 0.0, 0.0)
    with pytest.raises(ValueError, match=r"second must have shape \(5, 2\), got \(2, 5\)"):
        five_by_two_cv_test(same, same.T)
    with pytest.raises(ValueError, match=r"first must hold finite numbers, got nan at .*\(3, 1\)"):
        five_by_two_cv_test(np.where(np.arange(10).reshape(5, 2) == 7, np.nan, 1.0), same)


# -- McNemar ---------------------------------------------------------------------------------------


def test_mcnemar_by_hand():
    exact = McNemarTest.from_counts(1, 11)
    assert exact.p_value == pytest.approx(2 * (1 + 12) / 2**12, rel=1e-12)
    corrected = McNemarTest.from_counts(1, 11, method="corrected")
    assert corrected.statistic == pytest.approx(81 / 12)
    assert corrected.p_value == pytest.approx(0.009375, abs=1e-6)
    assert McNemarTest.from_counts(25, 15, method="corrected").statistic == pytest.approx(2.025)


@pytest.mark.parametrize("method", ["exact", "corrected"])
def test_mcnemar_without_a_difference(method):
    y = ["a", "b", "a"]
    assert mcnemar_test(y, y, y, method=method).p_value == 1.0
    assert McNemarTest.from_counts(7, 7, method=method).p_value == 1.0
    assert McNemarTest.from_counts(7, 8, method=method).p_value == 1.0


def test_mcnemar_counts_what_only_one_gets_wrong():
    rng = np.random.default_rng(0)
    y, first, second = rng.integers(0, 3, (3, 200))
    test = mcnemar_test(y, first, second)
    pairs = list(zip(first != y, second != y, strict=True))
    assert test.only_first_wrong == sum(one and not other for one, other in pairs)
    assert test.only_second_wrong == sum(other and not one for one, other in pairs)


def test_mcnemar_refuses_what_it_cannot_count():
    with pytest.raises(ValueError, match="second must have the length of y, got 1 and 2"):
        mcnemar_test([0, 1], [0, 1], [0])
    with pytest.raises(ValueError, match="first must hold classes, got nan at place 1"):
        mcnemar_test([0, 1], [0, math.nan], [0, 1])
    with pytest.raises(ValueError, match="y must hold at least one sample"):
        mcnemar_test([], [], [])
    with pytest.raises(ValueError, match="method='chi2' is not allowed"):
        McNemarTest.from_counts(1, 2, method="chi2")
    with pytest.raises(ValueError, match="only_first_wrong=-1 is not allowed"):
        McNemarTest.from_counts(-1, 2)


# -- Wilcoxon and sign -----------------------------------------------------------------------------


def test_signed_ranks_of_demsar():
    test = wilcoxon_test(AREAS[:, 1], AREAS[:, 0], decimals=3)
    assert (test.ranks_for, test.ranks_against, test.n, test.statistic) == (93.0, 12.0, 14, 12.0)
    assert test.p_value == pytest.approx(0.0109, abs=1e-3)


def _p_by_all_signs(differences):
    """Share of all signs of the same ranks whose sum is as far from its mean."""
    ranks = stats.rankdata(np.abs(differences))
    half = ranks.sum() / 2
    apart = abs(ranks[differences > 0].sum() + ranks[differences == 0].sum() / 2 - half)
    taken = ranks[differences != 0]
    zeros = ranks[differences == 0].sum() / 2
    sums = [
        abs(taken[np.array(signs, dtype=bool)].sum() + zeros - half)
        for signs in itertools.product([0, 1], repeat=len(taken))
    ]
    return np.mean(np.array(sums) >= apart - 1e-9)


@pytest.mark.parametrize(
    "differences",
    [
        [0.5, 1.5, -0.25, 2.0, 3.0, 0.75],
        [1.0, 1.0, -1.0, 2.0, 2.0, 3.0, -3.0, 4.0],
        [0.0, 1.0, -1.0, 2.0, 2.0, 3.0, 0.0, 4.0],
    ],
)
def test_few_signed_ranks_have_exact_probabilities(differences):
    differences = np.array(differences)
    test = wilcoxon_test(differences, np.zeros(len(differences)))
    assert test.p_value == pytest.approx(_p_by_all_signs(differences), rel=1e-9)


def test_zeros_of_signed_ranks_are_left_out_if_asked():
    first, second = [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 1.5, 2.25, 3.0, 6.5]
    split, dropped = wilcoxon_test(first, second), wilcoxon_test(first, second, zeros="drop")
    assert (split.ranks_for, split.ranks_against, split.n) == (9.5, 5.5, 5)
    assert (dropped.ranks_for, dropped.ranks_against, dropped.n) == (6.0, 4.0, 4)
    assert dropped.p_value == pytest.approx(stats.wilcoxon([0.5, 0.75, 1.0, -1.5]).pvalue)


@pytest.mark.parametrize("zeros", ["split", "drop"])
def test_equal_scores_have_no_signed_ranks(zeros):
    assert wilcoxon_test(FIRST, FIRST, zeros=zeros).p_value == 1.0


def test_signs_of_demsar():
    test = sign_test(AREAS[:, 1], AREAS[:, 0])
    assert (test.wins, test.draws, test.losses) == (10, 2, 2)
    # 11 of 14, with half the draws: 14 of 3 choices and those beyond.
    assert test.p_value == pytest.approx(2 * (364 + 91 + 14 + 1) / 2**14, rel=1e-12)
    dropped = sign_test(AREAS[:, 1], AREAS[:, 0], draws="drop")
    assert dropped.p_value == pytest.approx(2 * (66 + 12 + 1) / 2**12, rel=1e-12)


def test_an_odd_draw_is_left_out():
    test = sign_test([1.0, 1.0, 1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 1.0, 1.0])
    assert (test.wins, test.draws) == (2, 3)
    assert test.p_value == pytest.approx(stats.binomtest(3, 4).pvalue, rel=1e-12)
    assert str(sign_test([1.0], [1.0])) == "0 wins, 1 draw, 0 losses: p = 1.000"


def test_scores_printed_alike_are_draws():
    assert sign_test([12.51, 9.0], [12.49, 9.0], decimals=1).draws == 2
    assert wilcoxon_test([12.51, 9.0], [12.49, 9.0], decimals=1).p_value == 1.0


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", [*PAIRED, _corrected])
def test_what_is_no_pair_of_scores_is_refused_by_name(test):
    with pytest.raises(ValueError, match="second must hold finite numbers, got nan at place 2"):
        test([1.0, 2.0, 3.0], [1.0, 2.0, math.nan])
    with pytest.raises(ValueError, match="first must hold finite numbers, got inf at place 0"):
        test([math.inf, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="first and second must have the same length, got 2 and 3"):
        test([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"must hold at least [12] pairs, got 0"):
        test([], [])
    with pytest.raises(ValueError, match=r"first must have 1 dimension\(s\), got shape \(1, 2\)"):
        test([[1.0, 2.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="first must hold numbers"):
        test(["a", "b"], [1.0, 2.0])
    with pytest.raises(ValueError, match="alternative='more' is not allowed"):
        test(FIRST, SECOND, alternative="more")


def test_choices_are_checked():
    with pytest.raises(ValueError, match="zeros='keep' is not allowed"):
        wilcoxon_test(FIRST, SECOND, zeros="keep")
    with pytest.raises(ValueError, match="draws='keep' is not allowed"):
        sign_test(FIRST, SECOND, draws="keep")
    with pytest.raises(ValueError, match="at least 2 pairs, got 1"):
        paired_t_test([1.0], [2.0])
