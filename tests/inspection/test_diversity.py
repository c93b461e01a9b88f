"""The ten measures of diversity: definitions, identities, limits, weights and missing votes."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import BaggingClassifier as SklearnBagging

from orfeon import BaggingClassifier, BaggingRegressor
from orfeon.datasets import make_waveform
from orfeon.inspection.diversity_measures import (
    MEASURES,
    coincident_failure,
    difficulty,
    diversity,
    entropy,
    generalized_diversity,
    interrater_kappa,
    kohavi_wolpert_variance,
    right_votes,
)
from orfeon.inspection.diversity_of_pairs import (
    correlation,
    disagreement,
    double_fault,
    pair_values,
    pairwise_diversity,
    q_statistic,
)

FUNCTIONS = {
    function.__name__: function
    for function in (
        q_statistic, correlation, disagreement, double_fault, kohavi_wolpert_variance,
        interrater_kappa, entropy, difficulty, generalized_diversity, coincident_failure,
    )
}  # fmt: skip
PAIRWISE = [name for name, measure in MEASURES.items() if measure.is_pairwise]


def of_right(right, **options):
    """Measures of members that are right where there is a 1."""
    votes = np.where(np.asarray(right) == 1, "right", "wrong")
    return diversity(votes, y=np.full(votes.shape[1], "right"), **options)


def patterns(counts):
    """Who is right: columns such as "110", each so many times."""
    return np.repeat([[int(c) for c in kind] for kind in counts], list(counts.values()), axis=0).T


def random_votes(seed, n_members=7, n_samples=40, n_classes=3, absent=0.0, skill=0.6):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_samples)
    guess = rng.integers(0, n_classes, (n_members, n_samples))
    votes = np.where(rng.random(guess.shape) < skill, y, guess)
    votes[rng.random(votes.shape) < absent] = -1
    return votes, y


def values_of(found):
    return np.array(list(found.as_dict().values()))


# -- definitions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("absent", [0.0, 0.4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_as_counted_one_by_one(seed, weighted, absent):
    votes, y = random_votes(seed, absent=absent)
    weights = np.random.default_rng(seed).integers(0, 4, len(y)) if weighted else np.ones(len(y))
    found = pairwise_diversity(votes, y=y, no_vote=-1, sample_weight=weights)
    for i, k in combinations(range(len(votes)), 2):
        n = dict.fromkeys(("11", "10", "01", "00"), 0)
        for j in range(len(y)):
            if votes[i, j] >= 0 and votes[k, j] >= 0:
                n[f"{int(votes[i, j] == y[j])}{int(votes[k, j] == y[j])}"] += int(weights[j])
        counted = [found.both_right, found.first_right, found.first_right.T, found.both_wrong]
        assert [matrix[i, k] for matrix in counted] == list(n.values())
        n11, n10, n01, n00 = n.values()
        cross, total = n11 * n00 - n01 * n10, n11 + n10 + n01 + n00
        margins = (n11 + n10) * (n01 + n00) * (n11 + n01) * (n10 + n00)
        assert found.together[i, k] == total
        for name, below in (
            ("q_statistic", n11 * n00 + n01 * n10), ("correlation", math.sqrt(margins)),
        ):  # fmt: skip
            expected = cross / below if below else math.nan
            value = getattr(found, name)[i, k]
            assert value == pytest.approx(expected, abs=1e-14, nan_ok=True)
        assert found.disagreement[i, k] == (n01 + n10) / total
        assert found.double_fault[i, k] == n00 / total
        assert found.error[i, k] == pytest.approx((2 * n00 + n01 + n10) / (2 * total), abs=1e-15)
    for name in (*PAIRWISE, "kappa", "error"):
        matrix = getattr(found, name)
        np.testing.assert_array_equal(matrix, matrix.T)
        assert found.mean(name) == pytest.approx(np.nanmean(matrix[np.triu_indices(7, 1)]))


def test_the_pattern_of_success_by_hand():
    """Three members of accuracy 0.6: each correct vote goes to a majority of two."""
    found = of_right(patterns({"110": 3, "101": 3, "011": 3, "000": 1}))
    assert found.as_dict() == pytest.approx({
        "q_statistic": -0.5, "correlation": -0.25, "disagreement": 0.6, "double_fault": 0.1,
        "kohavi_wolpert_variance": 0.2, "interrater_kappa": -0.25, "entropy": 0.9,
        "difficulty": 0.04, "generalized_diversity": 0.75, "coincident_failure": 0.9,
    }, abs=1e-15)  # fmt: skip
    assert (found.n_members, found.n_samples) == (3, 10)


def test_the_pattern_of_failure_by_hand():
    """Three members of accuracy 0.6: correct votes are all together, or lost one by one."""
    found = of_right(patterns({"111": 4, "100": 2, "010": 2, "001": 2}))
    assert found.as_dict() == pytest.approx({
        "q_statistic": 1 / 3, "correlation": 1 / 6, "disagreement": 0.4, "double_fault": 0.2,
        "kohavi_wolpert_variance": 2 / 15, "interrater_kappa": 1 / 6, "entropy": 0.6,
        "difficulty": 0.24 - 2 / 15, "generalized_diversity": 0.5, "coincident_failure": 0.5,
    }, abs=1e-15)  # fmt: skip


def test_only_right_and_wrong_count_but_for_kappa():
    """Two wrong votes for different classes are alike to all measures, and not to kappa."""
    y = np.array([0, 0, 0, 1, 1, 2])
    same = [[0, 1, 1, 1, 1, 2], [1, 1, 1, 1, 1, 2]]
    other = [[0, 1, 1, 1, 1, 2], [1, 2, 2, 1, 1, 2]]
    np.testing.assert_array_equal(values_of(diversity(same, y=y)), values_of(diversity(other, y=y)))
    kappas = [pairwise_diversity(votes, y=y).kappa[0, 1] for votes in (same, other)]
    assert kappas == pytest.approx([(5 / 6 - 21 / 36) / (15 / 36), (0.5 - 15 / 36) / (21 / 36)])


@pytest.mark.parametrize("name", MEASURES)
def test_each_measure_is_a_function_too(name):
    votes, y = random_votes(3, absent=0.2)
    weights = np.arange(len(y))
    options = {"y": y, "no_vote": -1, "sample_weight": weights}
    found = diversity(votes, **options)
    assert FUNCTIONS[name](votes, **options) == getattr(found, name) == found.as_dict()[name]
    ready = found.pairwise if name in PAIRWISE else right_votes(votes, **options)
    assert FUNCTIONS[name](ready) == getattr(found, name)


# -- identities ------------------------------------------------------------------------------------

matrices_of_right = st.integers(2, 7).flatmap(
    lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=30)
).map(lambda rows: np.array(rows, dtype=int).T)  # fmt: skip


@given(matrices_of_right)
def test_correlation_has_the_sign_of_q_and_is_nearer_to_zero(right):
    pairs = of_right(right).pairwise
    q, rho = pair_values(pairs.q_statistic), pair_values(pairs.correlation)
    known = ~np.isnan(rho)
    assert not np.isnan(q[known]).any()  # it has a value wherever the correlation has one
    assert (np.sign(q[known]) == np.sign(rho[known])).all()
    assert (np.abs(rho[known]) <= np.abs(q[known]) + 1e-15).all()


@given(matrices_of_right)
def test_identities_between_the_measures(right):
    found, n = of_right(right), len(right)
    p = right.mean()
    variance = found.kohavi_wolpert_variance
    assert variance == pytest.approx((n - 1) / (2 * n) * found.disagreement, abs=1e-14)
    assert variance + found.difficulty == pytest.approx(p * (1 - p), abs=1e-14)
    if 0 < p < 1:
        expected = 1 - n / (n - 1) * variance / (p * (1 - p))
        assert found.interrater_kappa == pytest.approx(expected, abs=1e-13)
        assert found.interrater_kappa >= -1 / (n - 1) - 1e-13
    if p < 1:
        expected = 1 - found.double_fault / (1 - p)
        assert found.generalized_diversity == pytest.approx(expected, abs=1e-13)
    if n == 2:
        assert found.entropy == pytest.approx(found.disagreement, abs=1e-15)
    for name, measure in MEASURES.items():
        value = getattr(found, name)
        inside = measure.lowest - 1e-13 <= value <= measure.highest + 1e-13
        assert inside or np.isnan(value)


# -- limits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_members", [2, 5])
def test_identical_members_have_no_diversity(n_members):
    found = of_right(np.tile([1, 1, 1, 0], (n_members, 1)))
    assert found.as_dict() == {
        "q_statistic": 1.0, "correlation": 1.0, "disagreement": 0.0, "double_fault": 0.25,
        "kohavi_wolpert_variance": 0.0, "interrater_kappa": 1.0, "entropy": 0.0,
        "difficulty": 0.1875, "generalized_diversity": 0.0, "coincident_failure": 0.0,
    }  # fmt: skip


def test_members_that_never_fail_together_have_most():
    found = of_right(1 - np.eye(5, dtype=int))
    assert found.q_statistic == -1
    assert found.double_fault == 0
    assert found.difficulty == 0
    assert found.generalized_diversity == 1
    assert found.coincident_failure == 1
    assert found.interrater_kappa == pytest.approx(-1 / 4)  # the least that five can have


@pytest.mark.parametrize(("n_members", "n_right"), [(2, 1), (3, 1), (3, 2), (4, 2), (7, 3)])
def test_entropy_is_one_when_half_are_right(n_members, n_right):
    right = np.zeros((n_members, 4), int)
    right[:n_right] = 1
    assert of_right(right).entropy == 1
    assert of_right(1 - right).entropy == 1


def test_members_that_are_all_perfect():
    """Nothing over nothing is NaN; coincident failure is defined as 0."""
    found = of_right(np.ones((3, 4), int))
    undefined = {name for name, value in found.as_dict().items() if np.isnan(value)}
    expected = {"q_statistic", "correlation", "interrater_kappa", "generalized_diversity"}
    assert undefined == expected
    assert found.coincident_failure == found.double_fault == found.difficulty == 0


def test_members_that_are_always_wrong():
    found = of_right(np.zeros((3, 4), int))
    undefined = {name for name, value in found.as_dict().items() if np.isnan(value)}
    assert undefined == {"q_statistic", "correlation", "interrater_kappa"}
    assert (found.double_fault, found.generalized_diversity, found.coincident_failure) == (1, 0, 0)


def test_pairs_without_a_value_are_left_out_of_the_mean():
    """A perfect member has no Q with others, but for Q of the rest that does not matter."""
    right = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 0, 1, 0]])
    pairs = of_right(right).pairwise
    assert np.isnan(pair_values(pairs.q_statistic)).tolist() == [True, True, False]
    assert pairs.mean("q_statistic") == pairs.q_statistic[1, 2] == pytest.approx(1 / 3)
    assert pairs.mean("disagreement") == pytest.approx(0.4)  # which all pairs have


@pytest.mark.parametrize("name", MEASURES)
def test_arrows_point_to_more_diversity(name):
    """Independent members against identical ones of the same accuracy."""
    rng = np.random.default_rng(0)
    independent = of_right(rng.random((15, 2000)) < 0.7)
    identical = of_right(np.tile(rng.random(2000) < 0.7, (15, 1)))
    difference = getattr(independent, name) - getattr(identical, name)
    assert abs(difference) > 0.1
    assert (difference > 0) == MEASURES[name].grows
    assert MEASURES[name].arrow == ("↑" if difference > 0 else "↓")


def test_independent_members_have_no_correlation():
    found = of_right(np.random.default_rng(1).random((10, 20000)) < 0.8)
    assert abs(found.q_statistic) < 0.01
    assert abs(found.correlation) < 0.005
    assert abs(found.interrater_kappa) < 0.005
    assert found.disagreement == pytest.approx(0.32, abs=0.005)
    assert found.double_fault == pytest.approx(0.04, abs=0.002)


# -- weights and order -----------------------------------------------------------------------------


@pytest.mark.parametrize("absent", [0.0, 0.3])
def test_weight_zero_is_absent_and_two_is_twice(absent):
    votes, y = random_votes(5, absent=absent)
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    by_weight = diversity(votes, y=y, no_vote=-1, sample_weight=weights)
    repeated = diversity(np.repeat(votes, weights, axis=1), y=np.repeat(y, weights), no_vote=-1)
    scaled = diversity(votes, y=y, no_vote=-1, sample_weight=0.1 * weights)
    np.testing.assert_array_equal(values_of(by_weight), values_of(repeated))
    np.testing.assert_array_equal(values_of(by_weight), values_of(scaled))
    np.testing.assert_array_equal(by_weight.pairwise.kappa, repeated.pairwise.kappa)


@pytest.mark.parametrize("absent", [0.0, 0.3])
def test_order_of_samples_and_members_changes_nothing(absent):
    votes, y = random_votes(6, absent=absent)
    weights = np.random.default_rng(2).random(len(y))
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(len(votes)), rng.permutation(len(y))
    options = {"no_vote": -1}
    one = diversity(votes, y=y, sample_weight=weights, **options)
    other = diversity(votes[:, columns], y=y[columns], sample_weight=weights[columns], **options)
    np.testing.assert_array_equal(values_of(one), values_of(other))
    moved = diversity(votes[rows], y=y, sample_weight=weights, **options)
    assert moved.as_dict() == pytest.approx(one.as_dict(), rel=1e-14)
    np.testing.assert_array_equal(
        moved.pairwise.q_statistic, one.pairwise.q_statistic[np.ix_(rows, rows)]
    )


def test_counts_are_exact_beyond_single_precision():
    """A million more than what float32 tells apart, and samples in more than one chunk."""
    rng = np.random.default_rng(0)
    right = rng.random((4, 10_000)) < 0.5
    weights = rng.integers(2**24, 2**30, right.shape[1])
    for absent in (0.0, 0.2):
        votes = right.astype(int)
        votes[rng.random(votes.shape) < absent] = -1
        found = pairwise_diversity(
            votes, y=np.ones(right.shape[1], int), sample_weight=weights, no_vote=-1
        )
        for i, k in combinations(range(4), 2):
            for matrix, one, other in (
                (found.both_right, 1, 1), (found.first_right, 1, 0), (found.both_wrong, 0, 0),
            ):  # fmt: skip
                expected = weights[(votes[i] == one) & (votes[k] == other)].sum()
                assert int(matrix[i, k]) == int(expected)


def test_many_samples_without_weights_are_exact():
    rng = np.random.default_rng(1)
    right = rng.random((3, 9001)) < 0.9
    found = of_right(right).pairwise
    signs = right.astype(np.int64)
    np.testing.assert_array_equal(found.both_right, signs @ signs.T)
    np.testing.assert_array_equal(found.first_right, signs @ (1 - signs).T)
    np.testing.assert_array_equal(found.both_wrong, (1 - signs) @ (1 - signs).T)


# -- missing votes ---------------------------------------------------------------------------------


def test_missing_votes_by_hand():
    """Samples: 2 of 3 right, 1 of 2, 0 of 2, and one with a single vote, which is left out."""
    votes = np.array([[1, 1, 0, -1], [1, 0, 0, -1], [0, -1, -1, 1]])
    found = diversity(votes, y=np.ones(4, int), no_vote=-1)
    assert found.n_samples == 4
    # Members 0 and 1 share three samples: both right, only the first, none.
    assert found.pairwise.together[0].tolist() == [3, 3, 1]
    assert found.pairwise.disagreement[0, 1] == pytest.approx(1 / 3)
    # Members 0 and 2, and 1 and 2, share the first example alone.
    assert found.disagreement == pytest.approx((1 / 3 + 1 + 1) / 3)
    assert found.double_fault == pytest.approx((1 / 3 + 0 + 0) / 3)
    assert found.q_statistic == 1  # only the first pair has one
    assert found.entropy == pytest.approx((1 / 1 + 1 / 1 + 0) / 3)
    assert found.kohavi_wolpert_variance == pytest.approx((2 / 9 + 1 / 4 + 0) / 3)
    assert found.difficulty == pytest.approx(np.var([2 / 3, 1 / 2, 0]))
    # Fleiss and Cuzick: seven votes, three of them right, on three samples.
    within = 2 * 1 / 3 + 1 * 1 / 2 + 0
    assert found.interrater_kappa == pytest.approx(1 - within / (3 * (7 / 3 - 1) * 3 / 7 * 4 / 7))
    assert found.generalized_diversity == pytest.approx(1 - (0 + 0 + 1) / (1 / 3 + 1 / 2 + 1))
    assert found.coincident_failure == pytest.approx((2 / 2 + 1 / 1 + 0) / 3)


def test_members_that_never_meet():
    """No pair, and no sample with two votes: nothing is defined, and nothing fails."""
    votes = np.array([[1, 0, -1, -1], [-1, -1, 0, 1]])
    found = diversity(votes, y=np.ones(4, int), no_vote=-1)
    assert np.isnan(values_of(found)).all()
    assert np.isnan(found.pairwise.kappa[0, 1])
    assert np.isnan(found.pairwise.error[0, 1])
    assert "Q statistic              ↓     nan" in str(found)


def test_missing_votes_of_one_sample_leave_the_others_alone():
    votes, y = random_votes(8)
    more = np.column_stack([votes, np.where(np.arange(7) == 2, 1, -1)])  # a single vote
    one, other = (diversity(v, y=[*y, 1][: v.shape[1]], no_vote=-1) for v in (votes, more))
    assert other.as_dict() == pytest.approx(one.as_dict(), rel=1e-14)


# -- what is given ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bag(waveform):
    return BaggingClassifier(n_estimators=12, random_state=0).fit(*waveform)


def test_an_ensemble_is_its_votes(bag, waveform):
    X, y = waveform
    by_votes = diversity(bag.classes_[bag.votes(X)], y=y)
    np.testing.assert_array_equal(values_of(diversity(bag, X, y)), values_of(by_votes))
    found = diversity(bag, X, y, sample_weight=np.arange(300))
    assert (found.n_members, found.n_samples) == (12, 299)


def test_out_of_bag_members_are_more_diverse_than_on_what_they_learnt(bag, waveform):
    X, y = waveform
    inside, outside = diversity(bag, X, y), diversity(bag, X, y, on="out_of_bag")
    together = pair_values(outside.pairwise.together)
    assert 20 < together.min() < together.max() < 65  # 300 exp(-2) = 41 in the mean
    assert outside.double_fault > 2 * inside.double_fault
    X_new, y_new = make_waveform(2000, random_state=5)
    fresh = diversity(bag, X_new, y_new)
    assert outside.disagreement == pytest.approx(fresh.disagreement, abs=0.04)
    assert outside.interrater_kappa == pytest.approx(fresh.interrater_kappa, abs=0.06)


def test_ensembles_of_scikit_learn_and_lists_of_estimators(waveform):
    X, y = waveform
    theirs = SklearnBagging(n_estimators=5, random_state=0).fit(X, y)
    votes = np.array([member.predict(X) for member in theirs.estimators_]).astype(int)
    expected = values_of(diversity(votes, y=y))
    np.testing.assert_array_equal(values_of(diversity(theirs, X, y)), expected)
    np.testing.assert_array_equal(values_of(diversity(list(theirs.estimators_), X, y)), expected)


def test_numbers_are_printed_with_their_direction(bag, waveform):
    lines = str(diversity(bag, *waveform)).splitlines()
    assert lines[0] == "Diversity of 12 members on 300 samples"
    assert len(lines) == 11
    assert [line.split()[-2] for line in lines[1:]] == list("↓↓↑↓↑↓↑↓↑↑")


def test_bad_input_is_refused(friedman):
    votes, y = [[0, 1], [1, 1]], [0, 1]
    with pytest.raises(ValueError, match=r"y is missing.*pass y=labels"):
        diversity(votes, y)
    with pytest.raises(ValueError, match="has 1 member; diversity needs two or more"):
        diversity([[0, 1]], y=y)
    with pytest.raises(ValueError, match="votes for classes are needed"):
        diversity([[0.5, 1.2], [1.0, 1.1]], y=[0.4, 1.0])
    regressors = BaggingRegressor(n_estimators=3, random_state=0).fit(*friedman)
    with pytest.raises(ValueError, match="votes for classes are needed"):
        entropy(regressors, *friedman)
    with pytest.raises(ValueError, match="on='bag' is not allowed"):
        q_statistic(votes, y=y, on="bag")
    with pytest.raises(ValueError, match="sample_weight is zero for every sample"):
        diversity(votes, y=y, sample_weight=[0, 0])
    with pytest.raises(TypeError, match="weights"):
        disagreement(votes, y=y, weights=[1, 2])
