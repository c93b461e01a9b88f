"""Tests of many methods: Friedman, Nemenyi, Holm, records; Demšar's sample to its figures."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.statistics.demsar import AREAS, NAMES

from orfeon.statistics import (
    NemenyiTest,
    average_ranks,
    compare_with_control,
    corrected_resampled_t_test,
    critical_difference,
    friedman_test,
    holm,
    nemenyi,
    paired_t_test,
    win_draw_loss,
)

# -- ranks and Friedman ----------------------------------------------------------------------------


def test_average_ranks_of_demsar():
    assert average_ranks(AREAS).round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert average_ranks(1 - AREAS, greater_is_better=False, decimals=6).round(3).tolist() == [
        3.143, 2.0, 2.893, 1.964,
    ]  # fmt: skip


def test_friedman_of_demsar():
    test = friedman_test(AREAS, names=NAMES, correct_ties=False)
    assert round(test.chi_square, 2) == 9.28
    assert round(test.f_statistic, 2) == 3.69
    # The critical value of F(3, 39) is 2.85 at 0.05.
    assert test.f_p_value == pytest.approx(float(stats.f.sf(test.f_statistic, 3, 39)))
    assert 0.01 < test.f_p_value < 0.05


@pytest.mark.parametrize("decimals", [None, 1, 0])
def test_friedman_is_that_of_scipy_with_and_without_ties(decimals):
    scores = np.random.default_rng(3).normal(size=(9, 5))
    rounded = scores if decimals is None else np.round(scores, decimals)
    test = friedman_test(scores, decimals=decimals)
    theirs = stats.friedmanchisquare(*rounded.T)
    assert test.chi_square == pytest.approx(theirs.statistic, rel=1e-12)
    assert test.chi_square_p_value == pytest.approx(theirs.pvalue, rel=1e-12)


def test_friedman_p_value_is_near_that_of_all_permutations():
    rng = np.random.default_rng(0)
    scores = rng.normal([0.0, 0.3, 0.6, 1.2], size=(8, 4))
    test = friedman_test(scores)
    found = [friedman_test(rng.permuted(scores, axis=1)).f_statistic for _ in range(2000)]
    assert np.mean(np.array(found) >= test.f_statistic) == pytest.approx(test.f_p_value, abs=0.02)


def test_equal_methods_and_perfect_agreement():
    same = friedman_test(np.ones((5, 3)))
    assert (same.chi_square, same.chi_square_p_value, same.f_p_value) == (0.0, 1.0, 1.0)
    agreed = friedman_test(np.tile([3.0, 2.0, 1.0], (6, 1)))
    assert agreed.chi_square == pytest.approx(12.0)
    assert (agreed.f_statistic, agreed.f_p_value) == (math.inf, 0.0)


def test_two_methods_are_the_square_of_a_sign_test():
    # 7 of 10: z = (7 - 5) / (sqrt(10) / 2), and chi-square is its square.
    scores = [[1.0, 0.0]] * 7 + [[0.0, 1.0]] * 3
    assert friedman_test(scores).chi_square == pytest.approx(1.6)


def test_one_data_set_has_ranks_and_no_test():
    assert average_ranks([[0.1, 0.3, 0.2]]).tolist() == [3.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="a row for each of 2 or more data sets, got 1"):
        friedman_test([[0.1, 0.3, 0.2]])


def test_names_come_from_the_columns_of_a_frame():
    frame = pd.DataFrame(AREAS, columns=NAMES)
    assert friedman_test(frame).names == NAMES
    assert nemenyi(frame).names == NAMES
    assert win_draw_loss(frame).names == NAMES


# -- Nemenyi ---------------------------------------------------------------------------------------


def test_critical_differences_of_demsar():
    assert round(critical_difference(4, 14), 2) == 1.25
    assert round(critical_difference(4, 14, alpha=0.1), 2) == 1.12
    error = math.sqrt(4 * 5 / (6 * 14))
    assert round(critical_difference(4, 14) / error, 3) == 2.569
    assert round(critical_difference(4, 14, comparisons="control") / error, 3) == 2.394


@pytest.mark.parametrize(
    ("n_methods", "at_5", "at_10"),
    # Demšar 2006, table 5(a).
    [(2, 1.960, 1.645), (3, 2.343, 2.052), (5, 2.728, 2.459), (10, 3.164, 2.920)],
)
def test_critical_values_are_the_tabulated_ones(n_methods, at_5, at_10):
    error = math.sqrt(n_methods * (n_methods + 1) / (6 * 30))
    for alpha, expected in ((0.05, at_5), (0.1, at_10)):
        found = critical_difference(n_methods, 30, alpha=alpha) / error
        assert found == pytest.approx(expected, abs=1e-3)


def test_groups_of_demsar():
    assert nemenyi(AREAS, names=NAMES).groups() == (("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"),)
    found = nemenyi(AREAS, names=NAMES, alpha=0.1)
    # At 0.10 C4.5 is worse than C4.5+m and than C4.5+m+cf; of C4.5+cf nothing can be said.
    assert found.groups() == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5"))
    assert found.differ("C4.5", "C4.5+m")
    assert not found.differ("C4.5", "C4.5+cf")


def test_p_values_are_those_of_scikit_posthocs():
    # posthoc_nemenyi_friedman of version 0.17, on the table as printed (voting is tied).
    printed = np.round(AREAS, 3)
    test = nemenyi(printed, names=NAMES)
    assert test.p_value("C4.5", "C4.5+m") == pytest.approx(0.088673, abs=1e-6)
    assert test.p_value("C4.5", "C4.5+cf") == pytest.approx(0.971686, abs=1e-6)
    assert test.p_value("C4.5+cf", "C4.5+m+cf") == pytest.approx(0.170052, abs=1e-6)
    assert test.p_value("C4.5", "C4.5") == pytest.approx(1.0)


def test_all_told_apart_and_all_equal():
    apart = NemenyiTest.from_ranks([1.0, 2.0, 3.0], 100)
    assert apart.groups() == ()
    assert str(apart).endswith("all differ significantly")
    assert NemenyiTest.from_ranks([2.0, 2.0, 2.0], 100).groups() == (("0", "1", "2"),)


def test_a_difference_of_exactly_the_critical_one_differs():
    difference = critical_difference(2, 16)
    at = 1.5 - difference / 2
    assert NemenyiTest.from_ranks([at, at + difference], 16).differ("0", "1")
    assert not NemenyiTest.from_ranks([at, at + 0.999 * difference], 16).differ("0", "1")


def test_ranks_are_checked():
    with pytest.raises(ValueError, match=r"must be from 1 to 2, got 2\.5"):
        NemenyiTest.from_ranks([1.0, 2.5], 3)
    with pytest.raises(ValueError, match="ranks must hold finite numbers, got nan at place 1"):
        NemenyiTest.from_ranks([1.0, math.nan], 3)
    with pytest.raises(ValueError, match="n_datasets=0 is not allowed"):
        critical_difference(3, 0)
    with pytest.raises(ValueError, match="n_methods=1 is not allowed"):
        critical_difference(1, 3)
    with pytest.raises(ValueError, match="comparisons='some' is not allowed"):
        critical_difference(3, 3, comparisons="some")
    with pytest.raises(ValueError, match="'x' is not one of the methods: 0, 1"):
        NemenyiTest.from_ranks([1.0, 2.0], 3).p_value("0", "x")


# -- Holm ------------------------------------------------------------------------------------------


def test_holm_of_demsar():
    found = compare_with_control(AREAS, "C4.5", names=NAMES)
    assert found.names == ("C4.5+m", "C4.5+cf", "C4.5+m+cf")
    # As printed, where ranks and their error were rounded to three decimals first.
    assert found.z == pytest.approx((-2.343, -0.512, -2.416), abs=2e-3)
    assert found.correction.p_values == pytest.approx((0.019, 0.607, 0.016), abs=2e-3)
    assert found.correction.rejected == (True, False, True)
    # The least of them three times, the next twice, which is less and is raised to it.
    least, last = found.correction.p_values[2], found.correction.p_values[1]
    assert found.correction.adjusted == pytest.approx((3 * least, last, 3 * least), rel=1e-12)


def test_holm_stops_at_the_first_that_is_not_rejected():
    found = holm([0.01, 0.04, 0.03, 0.005])
    # 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1 raised to 0.06 (statsmodels gives the same).
    assert found.adjusted == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert found.rejected == (True, False, False, True)


def test_holm_never_passes_one_and_bears_ties():
    assert holm([0.9, 0.8, 0.9]).adjusted == (1.0, 1.0, 1.0)
    assert holm([0.01, 0.01]).adjusted == (0.02, 0.02)
    assert holm([0.03]).adjusted == (0.03,)


def test_holm_refuses_what_is_no_p_value():
    with pytest.raises(ValueError, match=r"p_values must be from 0 to 1, got 1.5"):
        holm([0.1, 1.5])
    with pytest.raises(ValueError, match="p_values must hold finite numbers, got nan at place 0"):
        holm([math.nan])
    with pytest.raises(ValueError, match="p_values must hold at least one"):
        holm([])
    with pytest.raises(ValueError, match="alpha=5 is not allowed"):
        holm([0.1], alpha=5)
    with pytest.raises(ValueError, match=r"control='C5' is not one of the methods: C4.5, C4.5\+m"):
        compare_with_control(AREAS, "C5", names=NAMES)


# -- win, draw, loss -------------------------------------------------------------------------------


def test_records_of_demsar():
    found = win_draw_loss(AREAS, names=NAMES)
    assert found.record("C4.5+m", "C4.5") == (10, 2, 2)
    assert found.record("C4.5", "C4.5+m") == (2, 2, 10)
    assert (found.wins + found.draws + found.losses == 14).all()
    errors = win_draw_loss(np.round(1 - AREAS, 4), names=NAMES, greater_is_better=False)
    assert errors.wins.tolist() == found.wins.tolist()


def test_significance_turns_wins_into_draws():
    rng = np.random.default_rng(0)
    far = rng.normal([[0.0], [3.0]], size=(2, 30))
    near = rng.normal([[0.5], [0.0]], size=(2, 10))
    assert paired_t_test(*near).p_value > 0.05
    plain = win_draw_loss([far, near])
    tested = win_draw_loss([far, near], test=paired_t_test)
    assert plain.record("0", "1") == (1, 0, 1)
    assert tested.record("0", "1") == (0, 1, 1)

    def corrected(first, second):
        return corrected_resampled_t_test(first, second, n_train=1, n_test=1000)

    assert win_draw_loss([far, near], test=corrected).record("0", "1") == (0, 2, 0)


def test_means_printed_alike_are_draws():
    errors = [[[12.4, 12.6], [12.5, 12.52]], [[8.0, 8.0], [9.0, 9.0]]]
    assert win_draw_loss(errors, greater_is_better=False).record("0", "1") == (2, 0, 0)
    found = win_draw_loss(errors, greater_is_better=False, decimals=1)
    assert found.record("0", "1") == (1, 1, 0)


def test_all_equal_is_all_draws():
    found = win_draw_loss(np.ones((4, 3)), names=["a", "b", "c"])
    assert found.wins.sum() == 0
    assert str(found).splitlines()[1].split() == ["a", "-", "0/4/0", "0/4/0"]


def test_records_refuse_what_they_cannot_compare():
    with pytest.raises(ValueError, match=r"scores\[1\] must hold finite numbers, got nan"):
        win_draw_loss([[1.0, 2.0], [1.0, math.nan]])
    with pytest.raises(ValueError, match="got 2 on the first and 3 on data set 1"):
        win_draw_loss([[1.0, 2.0], [1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match=r"scores\[0\] must have scores on several splits"):
        win_draw_loss([[1.0, 2.0]], test=paired_t_test)
    with pytest.raises(ValueError, match="at least one data set, got none"):
        win_draw_loss([])
    with pytest.raises(ValueError, match=r"scores\[0\] must have scores on at least one split"):
        win_draw_loss([np.ones((2, 0))])
    with pytest.raises(ValueError, match="'x' is not one of the methods: 0, 1"):
        win_draw_loss([[1.0, 2.0]]).record("x", "0")


# -- bad tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", [average_ranks, friedman_test, nemenyi])
def test_bad_tables_are_refused_by_name(test):
    frame = pd.DataFrame({"bagging": [0.9, 0.8], "boosting": [0.7, math.nan]})
    with pytest.raises(ValueError, match=r"that of 'boosting' on data set 1 \(counted.* is nan"):
        test(frame)
    with pytest.raises(ValueError, match="2 or more methods, got 1"):
        test([[0.9], [0.8]])
    with pytest.raises(ValueError, match=r"scores must have 2 dimension\(s\), got shape \(2,\)"):
        test([0.9, 0.8])


def test_bad_names_are_refused():
    with pytest.raises(ValueError, match="names must hold one name for each of 4 methods, got 2"):
        friedman_test(AREAS, names=["a", "b"])
    with pytest.raises(ValueError, match="names must differ, got 'a' twice"):
        nemenyi(AREAS, names=["a", "b", "a", "c"])
