"""Each ordering rule against its sentence, worked out with fractions on hundreds of small cases."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests import shared
from tests.oracles import ordering as oracle
from tests.oracles.ordering import ORACLES, Case, assert_agrees, random_case

from orfeon.ordering import (
    Order,
    Orientation,
    order_votes,
    read_selection,
    reference_direction,
)

#: Few random votes may look like codes.
pytestmark = pytest.mark.filterwarnings("ignore:votes holds 0, which is not in y")

N_CASES = 250
FOR_REGRESSION = ["reduce_error", "complementarity", "individual_error", "utility"]


def ordered(case: Case, rule: str, **options: Any) -> Order:
    """The order of a case; that orientation may be unstable is of no concern here."""
    votes, y, _ = oracle.arrays(case)
    task: Any = "classification" if case.n_classes else "regression"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*from the diagonal", UserWarning)
        return order_votes(votes, y, rule=rule, task=task, **options)


def cases(seed: int, n: int = N_CASES, **kind: Any) -> list[Case]:
    rng = np.random.default_rng(seed)
    return [random_case(rng, **kind) for _ in range(shared.cases(n))]


# -- classes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ORACLES)
def test_a_rule_does_what_its_sentence_says(rule):
    for case in cases(0):
        assert_agrees(ordered(case, rule), ORACLES[rule](case), case)


#: Their fractions grow too long.
SMALL_ONLY = ("boosting_based", "kl_divergence")


@pytest.mark.parametrize("rule", [name for name in ORACLES if name not in SMALL_ONLY])
def test_larger_ensembles_on_more_samples(rule):
    for case in cases(1, 12, members=20, samples=50):
        assert_agrees(ordered(case, rule), ORACLES[rule](case), case)


def test_most_of_the_cases_have_ties_between_candidates():
    # Otherwise the comparisons above would say little about the lowest index.
    tied = 0
    for case in cases(0):
        errors = [oracle.error(case, [t]) for t in case.members]
        tied += errors.count(min(errors)) > 1
    assert tied > shared.cases(N_CASES) / 3


# -- reduce-error ----------------------------------------------------------------------------------


@pytest.mark.parametrize("max_passes", [1, 100])
def test_backfitting_replaces_members_that_were_chosen_before(max_passes):
    nested = 0
    for case in cases(2, 150):
        expected = oracle.reduce_error_backfitting(case, max_passes)
        found = ordered(case, "reduce_error", backfitting=True, max_passes=max_passes)
        assert_agrees(found, expected, case)
        assert expected.subsets is not None
        sets = [set(subset) for subset in expected.subsets]
        nested += all(small < large for small, large in pairwise(sets))
    assert 0 < nested < shared.cases(150)


def test_backfitting_by_hand():
    # The best member alone, 0, is no part of the best pair: 1 and 2 are right in turn.
    votes = [[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 0, 1], [1, 1, 0, 0, 0, 0]]
    found = order_votes(votes, [0] * 6, rule="reduce_error", backfitting=True)
    assert found.error_curve.tolist() == [2 / 6, 0, 1 / 6]
    assert [members.tolist() for members in found.subsets or ()] == [[0], [0, 2], [0, 2, 1]]
    assert found.members(2).tolist() == [0, 2]


def test_reduce_error_counts_the_votes_of_all_classes():
    # Two members against one is not enough to be right where all three differ: class 0 wins.
    votes = [[2, 1], [1, 1], [0, 0]]
    assert order_votes(votes, [2, 1], rule="reduce_error").error_curve.tolist() == [0, 0.5, 0.5]


# -- margin distance -------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.05, 0.1, 0.2, 0.25, 0.6, 0.1234567])
def test_margin_distance_to_any_point(p):
    for case in cases(3, 100):
        expected = oracle.margin_distance(case, p)
        assert_agrees(ordered(case, "margin_distance", p=p), expected, case)


def test_equal_distances_are_ties():
    # p = 1/4 is reached by 0, and by 0, 1 and 2 together; with 1, 2 or 3 added to 0 alone two
    # coordinates are 1/4 away: at (2, 0)/4, (0, 2)/4 and (0, 0).
    votes = [[0, 0], [0, 1], [1, 0], [1, 1]]
    found = order_votes(votes, [0, 0], rule="margin_distance", p=0.25)
    assert found.order.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(found.criterion, np.sqrt([0, 1 / 8, 0, 1 / 8]))


def test_a_point_that_is_reached_is_at_no_distance():
    found = order_votes([[0] * 7, *[[1] * 7] * 4], [0] * 7, rule="margin_distance", p=0.2)
    assert found.order[0] == 0
    assert found.criterion[0] == pytest.approx(0, abs=1e-12)


def test_margin_distance_of_hundreds_of_members_in_whole_numbers():
    # With p = 3/40 the squared distance, times 40 T^2 and but for |o|^2, is 40 |S|^2 - 6 T sum(S).
    rng = np.random.default_rng(9)
    votes = (rng.random((300, 150)) < rng.uniform(0.2, 0.5, (300, 1))).astype(np.int64)
    weights = rng.integers(0, 5, 150)
    signs = 1 - 2 * votes
    total, chosen = np.zeros(150, np.int64), np.zeros(300, dtype=bool)
    expected = []
    for _ in range(300):
        sums = total + signs
        values = 40 * (sums**2 @ weights) - 6 * 300 * (sums @ weights)
        values[chosen] = np.iinfo(np.int64).max
        expected.append(int(values.argmin()))
        chosen[expected[-1]] = True
        total += signs[expected[-1]]
    found = order_votes(votes, np.zeros(150, int), rule="margin_distance", sample_weight=weights)
    assert found.order.tolist() == expected


# -- orientation -----------------------------------------------------------------------------------

#: Four members with c_ens = (1, 1/2, -1/2).
WORKED = [[0, 0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]]


def test_the_worked_sample_of_the_reference():
    answers = np.array(WORKED)
    c_ens = np.where(answers == 0, 1, -1).mean(axis=0)
    np.testing.assert_array_equal(c_ens, [1, 0.5, -0.5])
    factor, reference = reference_direction(c_ens)
    assert factor == pytest.approx(-2 / 3, abs=1e-15)
    np.testing.assert_allclose(reference, [1 / 3, 2 / 3, 4 / 3], rtol=1e-15)
    assert abs(reference @ c_ens) < 1e-15


def test_the_worked_sample_through_votes():
    # c.c_ref: (1, 1, 1) 7/3; (1, 1, -1) -1/3; (1, -1, -1) -5/3. |c_ref| = sqrt(21) / 3.
    found = order_votes(WORKED, [0, 0, 0], rule="orientation")
    assert found.order.tolist() == [3, 0, 2, 1]
    cosines = np.array([7, -1, -1, -5]) / math.sqrt(63)
    np.testing.assert_allclose(found.criterion, np.arccos(cosines), rtol=1e-14)
    assert found.own_size == 1


def test_orientation_suggests_the_members_below_the_mean_of_the_acute_angles():
    sizes = []
    for case in cases(4, 600, members=12, samples=20):
        expected = oracle.orientation(case).own_size
        assert expected is not None
        found = ordered(case, "orientation")
        assert found.own_size == max(1, expected), case
        sizes.append(expected)
    assert max(sizes) > 3
    assert 0 in sizes  # one size at least is always suggested


@pytest.mark.parametrize("kind", [{}, {"weighted": True}, {"abstaining": 0.4}], ids=str)
def test_the_first_by_orientation_are_those_of_the_whole_order(kind):
    rule = Orientation()
    for case in cases(11, 120, members=12, samples=20, **kind):
        votes, y, weights = oracle.arrays(case)
        selection = read_selection(votes, y, weights, no_vote=-1)
        whole = rule.arrange(selection).order
        for n_kept in range(1, len(whole) + 1):
            assert rule.first(selection, n_kept).tolist() == whole[:n_kept].tolist()
    for wrong in (0, 99):
        with pytest.raises(
            ValueError, match=f"n_kept={wrong} is not allowed; it must be from 1 to"
        ):
            rule.first(selection, wrong)


def test_orientation_is_told_to_be_unstable_when_all_samples_are_alike():
    votes = np.zeros((10, 10), int)
    np.fill_diagonal(votes, 1)
    with pytest.warns(UserWarning, match=r"0\.0 degrees from the diagonal"):
        found = order_votes(votes, np.zeros(10, int), rule="orientation")
    assert found.order.tolist() == list(range(10))
    np.testing.assert_array_equal(found.criterion, math.pi / 2)


def test_members_that_cancel_out_are_ordered_by_accuracy():
    votes = [[0, 1, 1, 1], [1, 0, 0, 0]]
    found = order_votes(votes, [0, 0, 0, 0], rule="orientation")
    assert found.order.tolist() == [1, 0]
    np.testing.assert_allclose(found.criterion, [math.pi / 3, 2 * math.pi / 3], rtol=1e-15)


def test_members_along_the_reference_make_no_angle_with_it():
    votes = [[0, 0], [1, 1], [0, 0], [1, 1]]
    found = order_votes(votes, [0, 0], rule="orientation")
    assert found.order.tolist() == [0, 2, 1, 3]
    np.testing.assert_allclose(found.criterion, [0, 0, math.pi, math.pi], rtol=0, atol=1e-12)


# -- boosting --------------------------------------------------------------------------------------


def test_boosting_stops_before_the_first_member_that_errs_on_half_of_the_weight():
    stopped = 0
    for case in cases(5):
        expected = oracle.boosting_based(case).own_size
        size = len(case.answers) if expected is None else max(1, expected)
        assert ordered(case, "boosting_based", stop=True).own_size == size, case
        assert ordered(case, "boosting_based").own_size is None
        stopped += expected is not None
    assert N_CASES / 4 < stopped * N_CASES / shared.cases(N_CASES) < N_CASES


def test_votes_are_weighted_by_the_log_of_the_odds():
    for case in cases(6, 200):
        expected = oracle.boosting_based(case)
        errors = np.clip([float(e) for e in expected.criterion], 1e-10, 0.5)
        weights = np.log((1 - errors) / errors)
        weights = weights if weights.any() else np.ones(len(weights))
        found = ordered(case, "boosting_based", weighted_vote=True)
        assert found.order.tolist() == expected.order
        assert found.member_weights is not None
        np.testing.assert_allclose(found.member_weights, weights, rtol=1e-11, atol=1e-10)
        by_member = dict(zip(expected.order, found.member_weights.tolist(), strict=True))
        shares = [Fraction(by_member[t]) for t in case.members]
        weighted = replace(case, member_weights=shares)
        errors_of_vote = oracle.curve(weighted, oracle.prefixes(expected.order))
        assert found.error_curve.tolist() == [float(e) for e in errors_of_vote], case


def test_a_twin_errs_on_half_of_the_weight_and_is_not_taken_before_the_weights_go_back():
    # After 0 (e = 1/4) its twins have 1/2, as all have: weights go back, and they have 1/4 again.
    votes = [[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]]
    found = order_votes(votes, [0, 0, 0, 0], rule="boosting_based", stop=True)
    assert found.order.tolist() == [0, 1, 2]
    np.testing.assert_allclose(found.criterion, [0.25, 0.25, 0.25], rtol=1e-15)
    assert found.own_size == 1


def test_with_the_first_weights_another_member_is_the_best():
    # After 2 (e = 1/5) sample 4 weighs 1/2 and the others 1/8: 0 and 1 have 5/8, 3 has 1/2, the
    # least, and is not taken. With equal weights 0 has 2/5 and 3 has 4/5.
    votes = [[1, 0, 0, 0, 1], [1, 1, 0, 0, 1], [0, 0, 0, 0, 1], [1, 1, 1, 1, 0]]
    found = order_votes(votes, [0] * 5, rule="boosting_based", stop=True)
    # After 0, samples 0 and 4 weigh 1/4 each and the others 1/6: 3 has 3/4 and 1 has 2/3; again
    # the weights go back. 3 is taken with an error of 4/5: there is nothing else.
    assert found.order.tolist() == [2, 0, 1, 3]
    np.testing.assert_allclose(found.criterion, [1 / 5, 2 / 5, 3 / 5, 4 / 5], rtol=1e-15)
    assert found.own_size == 1


def test_a_member_without_errors_leaves_the_weights_as_they_are():
    votes = [[0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    found = order_votes(votes, [0, 0, 0, 0], rule="boosting_based", stop=True)
    assert found.order.tolist() == [1, 2, 3, 0]
    np.testing.assert_allclose(found.criterion, [0, 1 / 4, 1 / 6, 2 / 5], rtol=1e-15)
    assert found.own_size == 4


@pytest.mark.parametrize("twins", [False, True])
def test_boosting_with_eighty_digits(twins):
    # The digits of fractions double with each member; decimals go far beyond floats, and enough.
    rng = np.random.default_rng(10)
    tiny = Decimal("1e-40")
    votes = rng.random((50, 90)) > rng.uniform(0.5, 0.9, (50, 1))
    votes = votes[rng.integers(0, 50, 50)] if twins else votes
    start = np.array([1 / Decimal(90)] * 90, dtype=object)
    with localcontext(prec=80):
        weights, left, expected, errors = start, list(range(50)), [], []
        while left:
            wrong = [sum(weights[votes[k]]) / sum(weights) for k in left]
            e = min(wrong)
            if e >= Decimal("0.5") - tiny and weights is not start:
                weights = start
                continue
            expected.append(left.pop(next(j for j, one in enumerate(wrong) if one <= e + tiny)))
            errors.append(float(e))
            if e < Decimal("0.5") - tiny:
                weights = weights / np.where(votes[expected[-1]], 2 * e, 2 * (1 - e))
    found = order_votes(votes, np.zeros(90, dtype=bool), rule="boosting_based")
    assert found.order.tolist() == expected
    np.testing.assert_allclose(found.criterion, errors, rtol=1e-10)
    assert min(errors) > 0  # no division by it above
    assert max(errors) > 0.4


# -- kappa, random ---------------------------------------------------------------------------------


def test_kappa_by_hand():
    # Of (0, 1): agreement 3/4, by chance 1/2 * 1/4 + 1/2 * 3/4. Of (0, 2) and (1, 2): 1/4 and 1/2.
    votes = [[0, 0, 1, 1], [0, 1, 1, 1], [1, 0, 0, 1]]
    found = order_votes(votes, [0, 0, 0, 0], rule="kappa")
    chance = 1 / 4 * 1 / 2 + 3 / 4 * 1 / 2
    assert found.order.tolist() == [1, 2, 0]
    np.testing.assert_allclose(found.criterion[0], (1 / 4 - chance) / (1 - chance), rtol=1e-15)
    np.testing.assert_array_equal(found.criterion, [-0.5, -0.5, 0])


def test_a_random_order_is_a_permutation_fixed_by_its_seed():
    votes, y = np.zeros((30, 4), int), np.zeros(4, int)
    orders = [
        order_votes(votes, y, rule="random", random_state=s).order.tolist() for s in range(20)
    ]
    assert all(sorted(found) == list(range(30)) for found in orders)
    assert len({tuple(found) for found in orders}) == 20
    again = [order_votes(votes, y, rule="random", random_state=s).order.tolist() for s in range(20)]
    assert again == orders
    generator = order_votes(votes, y, rule="random", random_state=np.random.default_rng(1)).order
    assert sorted(generator.tolist()) == list(range(30))


def test_a_random_order_is_any_with_equal_chance():
    first = [
        int(order_votes([[0], [0], [0]], [0], rule="random", random_state=s).order[0])
        for s in range(600)
    ]  # fmt: skip
    counts = np.bincount(first, minlength=3)
    assert ((counts - 200) ** 2 / 200).sum() < 13.8  # chi-squared, one in a thousand


# -- numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", FOR_REGRESSION)
def test_a_rule_for_numbers_does_what_its_sentence_says(rule):
    for case in cases(7, regression=True):
        assert_agrees(ordered(case, rule), ORACLES[rule](case), case)


@pytest.mark.parametrize("rule", FOR_REGRESSION)
def test_larger_ensembles_that_predict_numbers(rule):
    for case in cases(8, 12, regression=True, members=20, samples=40):
        assert_agrees(ordered(case, rule), ORACLES[rule](case), case)


def test_reduce_error_of_numbers_by_hand():
    # Means: 1 alone errs by (0, 1); with 0 by (0, 0); all three by (1/3, 2/3).
    votes = [[1.0, 1.0], [1.0, 3.0], [2.0, 4.0]]
    found = order_votes(votes, [1.0, 2.0], rule="reduce_error", task="regression")
    assert found.order.tolist() == [0, 1, 2]
    np.testing.assert_allclose(found.error_curve, [0.5, 0, 5 / 18], rtol=1e-15, atol=1e-15)


def test_values_with_fractions_are_read_as_numbers():
    found = order_votes([[0.5, 1.5], [0.25, 1.25]], [0.25, 1.5], rule="individual_error")
    assert found.n_classes == 0
    np.testing.assert_array_equal(found.criterion, [0.03125, 0.03125])


@pytest.mark.parametrize("rule", ["margin_distance", "orientation", "boosting_based", "kappa"])
def test_rules_for_classes_refuse_numbers(rule):
    with pytest.raises(ValueError, match=f"rule='{rule}' needs classes.*reduce_error, compl"):
        order_votes([[0.5, 1.5]], [0.5, 1.5], rule=rule)
    numbers = read_selection([[0.5, 1.5]], [0.5, 1.5])
    assert numbers.is_regression
