"""Sample weights, members that do not vote, unequal votes, labels of any kind, and bad input."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.ensemble import AdaBoostClassifier, VotingRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests import shared
from tests.oracles import ordering as oracle
from tests.oracles.ordering import ORACLES, Case, assert_agrees, random_case, those_that_count

from orfeon.datasets import make_friedman1, make_ringnorm
from orfeon.ordering import (
    ORDERING_RULES,
    Complementarity,
    Order,
    ReduceError,
    error_curve,
    order,
    order_votes,
    read_selection,
)

#: Few random votes may look like codes.
pytestmark = pytest.mark.filterwarnings("ignore:votes holds 0, which is not in y")

N_CASES = 200
FOR_REGRESSION = ["reduce_error", "complementarity", "individual_error"]
UNEQUAL = {
    "reduce_error": (ReduceError(), oracle.reduce_error),
    "backfitting": (ReduceError(backfitting=True), oracle.reduce_error_backfitting),
    "complementarity": (Complementarity(), oracle.complementarity),
}


def quietly(votes: Any, y: Any, **options: Any) -> Order:
    """The order; that orientation may be unstable is of no concern here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*from the diagonal", UserWarning)
        return order_votes(votes, y, **options)


def ordered(case: Case, rule: str, **options: Any) -> Order:
    votes, y, weights = oracle.arrays(case)
    task: Any = "classification" if case.n_classes else "regression"
    silent = -1 if case.n_classes else np.nan
    return quietly(
        votes, y, rule=rule, sample_weight=weights, no_vote=silent, task=task, **options
    )  # fmt: skip


def cases(seed: int, n: int = N_CASES, **kind: Any) -> list[Case]:
    rng = np.random.default_rng(seed)
    return [random_case(rng, **kind) for _ in range(shared.cases(n))]


def votes_of(seed: int, shape: tuple[int, int] = (8, 12), k: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    return rng.integers(0, k, shape), rng.integers(0, k, shape[1])


# -- against the sentences -------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ORACLES)
@pytest.mark.parametrize(("weighted", "abstaining"), [(True, 0.0), (False, 0.3), (True, 0.6)])
def test_a_rule_counts_weights_and_only_those_who_vote(rule, weighted, abstaining):
    for case in cases(0, weighted=weighted, abstaining=abstaining):
        counted = those_that_count(case)
        assert_agrees(ordered(case, rule), ORACLES[rule](counted), counted)


@pytest.mark.parametrize("abstaining", [0.0, 0.4])
def test_backfitting_counts_weights_and_only_those_who_vote(abstaining):
    for case in cases(1, 100, weighted=True, abstaining=abstaining):
        counted = those_that_count(case)
        expected = oracle.reduce_error_backfitting(counted)
        assert_agrees(ordered(case, "reduce_error", backfitting=True), expected, counted)


@pytest.mark.parametrize("rule", FOR_REGRESSION)
@pytest.mark.parametrize("abstaining", [0.0, 0.4])
def test_a_rule_for_numbers_counts_weights_and_only_those_who_predict(rule, abstaining):
    kind: Any = {"regression": True, "weighted": True, "abstaining": abstaining}
    for case in cases(2, 120, **kind):
        counted = those_that_count(case)
        assert_agrees(ordered(case, rule), ORACLES[rule](counted), counted)


@pytest.mark.parametrize("name", ["orientation", "boosting_based"])
def test_own_sizes_count_weights_and_only_those_who_vote(name):
    options = {"stop": True} if name == "boosting_based" else {}
    for case in cases(3, weighted=True, abstaining=0.3):
        counted = those_that_count(case)
        expected = ORACLES[name](counted).own_size
        size = len(case.answers) if expected is None else max(1, expected)
        assert ordered(case, name, **options).own_size == size, case


# -- members of unequal votes ----------------------------------------------------------------------


@pytest.mark.parametrize("name", UNEQUAL)
@pytest.mark.parametrize("least", [0, 1])
def test_members_of_unequal_votes(name, least):
    rule, slow = UNEQUAL[name]
    rng = np.random.default_rng(4)
    for case in cases(5, 120, weighted=True, abstaining=0.2):
        shares = rng.integers(least, 4, len(case.answers)) / 2
        shares[0] += not shares.any()
        weighted = those_that_count(replace(case, member_weights=[Fraction(s) for s in shares]))
        votes, y, weights = oracle.arrays(weighted)
        selection = read_selection(votes, y, weights, no_vote=-1, member_weights=shares)
        found, expected = rule.arrange(selection), slow(weighted)
        assert found.order.tolist() == expected.order, weighted
        values = [float(value) for value in expected.criterion]
        np.testing.assert_array_equal(found.criterion, values)
        subsets = expected.subsets or oracle.prefixes(expected.order)
        errors = [float(value) for value in oracle.curve(weighted, subsets)]
        assert error_curve(selection, found.order, found.subsets).tolist() == errors


def test_the_order_of_additions_decides_nothing_in_backfitting():
    rng = np.random.default_rng(6)
    rule = ReduceError(backfitting=True)
    for case in cases(7, 150, members=7):
        shares = rng.choice([0.1, 0.2, 0.3, 0.7, 1.1], len(case.answers))
        votes, y, _ = oracle.arrays(case)
        selection = read_selection(votes, y, member_weights=shares)
        found = rule.arrange(selection)
        again = error_curve(selection, found.order, found.subsets)
        np.testing.assert_array_equal(found.criterion, again)


def test_equal_votes_of_any_size_are_one_each():
    votes, y = votes_of(8)
    assert read_selection(votes, y, member_weights=[0.3] * 8).member_weights is None


def test_curves_of_boosted_members_on_other_samples_keep_their_votes():
    X, y = make_ringnorm(120, random_state=0)
    stump = DecisionTreeClassifier(max_depth=1)
    boosted = AdaBoostClassifier(stump, n_estimators=9, random_state=0).fit(X, y)
    answers = np.array([member.predict(X) for member in boosted.estimators_])
    for backfitting in (False, True):
        found = order(boosted, X, y, rule="reduce_error", backfitting=backfitting)
        np.testing.assert_array_equal(found.test_curve_votes(answers, y), found.error_curve)
        assert found.error_curve[-1] == pytest.approx(1 - boosted.score(X, y), abs=1e-12)


def test_regressors_of_unequal_weights_are_ordered_by_their_weighted_mean():
    X, y = make_friedman1(80, random_state=0)
    trees = [
        (str(t), DecisionTreeRegressor(max_depth=t + 1, max_features=2, random_state=t))
        for t in range(5)
    ]
    shares = np.array([1.0, 5.0, 1.0, 3.0, 2.0])
    model = VotingRegressor(trees, weights=shares).fit(X, y)
    answers = np.array([member.predict(X) for member in model.estimators_])
    found = order(model, X, y, rule="reduce_error")
    chosen: list[int] = []
    for u in range(5):
        errors = {}
        for k in set(range(5)) - set(chosen):
            taken = [*chosen, k]
            mean = np.average(answers[taken], axis=0, weights=shares[taken])
            errors[k] = float(((mean - y) ** 2).mean())
        chosen.append(min(errors, key=errors.__getitem__))
        assert found.error_curve[u] == pytest.approx(errors[chosen[-1]], rel=1e-12)
    assert found.order.tolist() == chosen
    np.testing.assert_allclose(found.criterion, found.error_curve, rtol=1e-12)
    np.testing.assert_allclose(found.test_curve_votes(answers, y), found.error_curve, rtol=1e-12)


# -- weights are copies ----------------------------------------------------------------------------


def copied(votes: Any, y: Any, weights: npt.NDArray[np.int64], seed: int) -> Any:
    """Each sample as often as its weight says, in any order."""
    drawn = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(y)), weights))
    return votes[:, drawn], y[drawn]


@pytest.mark.parametrize("rule", [*ORACLES, "random"])
def test_a_weight_is_that_many_copies_and_none_is_absent(rule):
    options = {"random_state": 0} if rule == "random" else {}
    rng = np.random.default_rng(9)
    for seed in range(shared.cases(60)):
        votes, y = votes_of(seed)
        weights = rng.integers(0, 4, len(y))
        weights[0] = 2
        one = quietly(votes, y, rule=rule, sample_weight=weights, **options)
        other = quietly(*copied(votes, y, weights, seed), rule=rule, **options)
        assert one.order.tolist() == other.order.tolist()
        np.testing.assert_allclose(one.criterion, other.criterion, rtol=1e-12, atol=1e-12)
        assert one.error_curve.tolist() == other.error_curve.tolist()
        assert one.own_size == other.own_size


@pytest.mark.parametrize("rule", FOR_REGRESSION)
def test_a_weight_is_that_many_copies_of_numbers_too(rule):
    rng = np.random.default_rng(10)
    for seed in range(shared.cases(40)):
        votes, y = rng.normal(size=(7, 11)), rng.normal(size=11)
        weights = rng.integers(0, 4, 11)
        weights[0] = 2
        one = order_votes(votes, y, rule=rule, sample_weight=weights)
        some, labels = copied(votes, y, weights, seed)
        other = order_votes(some, labels, rule=rule)
        assert one.order.tolist() == other.order.tolist()
        np.testing.assert_allclose(one.criterion, other.criterion, rtol=1e-12)
        np.testing.assert_allclose(one.error_curve, other.error_curve, rtol=1e-12)


def test_an_sample_of_no_weight_may_have_a_class_of_its_own():
    votes, y = votes_of(11)
    more = np.hstack([votes, np.full((8, 1), 9)])
    one = order_votes(more, [*y, 7], sample_weight=[1] * 12 + [0], rule="kappa")
    assert one.order.tolist() == order_votes(votes, y, rule="kappa").order.tolist()


@pytest.mark.parametrize("rule", ORACLES)
@pytest.mark.parametrize("scale", [0.5, 0.1, np.pi, 1e-9, 1e12 / 3])
def test_weights_in_other_units_change_nothing(rule, scale):
    for seed in range(shared.cases(25)):
        votes, y = votes_of(seed, (6, 8), 2)
        weights = np.random.default_rng(seed).choice([2, 3, 5, 7], 8)
        one = quietly(votes, y, rule=rule, sample_weight=weights)
        other = quietly(votes, y, rule=rule, sample_weight=weights * scale)
        assert one.order.tolist() == other.order.tolist(), (votes, y, weights)
        np.testing.assert_allclose(other.error_curve, one.error_curve, rtol=0, atol=1e-6)
        unit = scale**0.5 if rule == "margin_distance" else 1.0
        np.testing.assert_allclose(other.criterion, one.criterion * unit, rtol=1e-5, atol=1e-6)


# -- labels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [["no", "yes"], [-1, 1], [False, True], [-0.5e3, 2.0], [10**12, 10**12 + 5]],
    ids=["strings", "signs", "booleans", "floats", "large numbers"],
)
def test_labels_of_two_classes_may_be_of_any_kind(names):
    labels = np.array(names)
    for seed in range(shared.cases(20)):
        votes, y = votes_of(seed, k=2)
        for rule in ("reduce_error", "margin_distance", "kappa"):
            one, other = (
                order_votes(votes, y, rule=rule),
                order_votes(labels[votes], labels[y], rule=rule),
            )
            assert one.order.tolist() == other.order.tolist()
            assert one.error_curve.tolist() == other.error_curve.tolist()
            assert other.n_classes == 2


def test_labels_may_be_objects_or_categories():
    pandas = pytest.importorskip("pandas")
    votes, y = votes_of(12)
    names = np.array(["a", "b", "c"], dtype=object)
    expected = order_votes(votes, y).order.tolist()
    assert order_votes(names[votes], names[y]).order.tolist() == expected
    assert (
        order_votes(names[votes], pandas.Series(names[y], dtype="category")).order.tolist()
        == expected
    )
    assert order_votes(names[votes].astype(str), names[y]).order.tolist() == expected
    assert order_votes(pandas.DataFrame(votes), pandas.Series(y)).order.tolist() == expected


def test_votes_tie_in_favour_of_the_lowest_label():
    for low, high in (("a", "b"), (-1, 1), (False, True)):
        found = order_votes([[low, low], [high, high]], [low, high], rule="individual_error")
        assert found.order.tolist() == [0, 1]
        assert found.error_curve.tolist() == [0.5, 0.5]
        found = order_votes([[high, low], [low, high]], [low, high], rule="individual_error")
        assert found.order.tolist() == [1, 0]
        assert found.error_curve.tolist() == [0, 0.5]


def test_arrays_may_be_read_only_views_of_any_layout():
    votes, y = votes_of(13)
    expected = order_votes(votes, y, rule="reduce_error")
    wide = np.asfortranarray(np.repeat(votes, 2, axis=1).astype(np.int16))
    wide.setflags(write=False)
    found = order_votes(wide[:, ::2], y.astype(np.uint8), rule="reduce_error")
    assert found.order.tolist() == expected.order.tolist()
    assert found.error_curve.tolist() == expected.error_curve.tolist()


# -- members that do not vote ----------------------------------------------------------------------


def test_no_vote_can_be_said_in_many_ways():
    rng = np.random.default_rng(14)
    names = np.array(["a", "b", "c", "?"])
    for seed in range(shared.cases(20)):
        votes, y = votes_of(seed)
        silent = rng.random(votes.shape) < 0.3
        expected = quietly(np.where(silent, -1, votes), y, rule="reduce_error", no_vote=-1)
        ways = [
            (np.ma.masked_array(votes, silent), y, None),
            (np.where(silent, 99, votes), y, 99),
            (np.where(silent, np.nan, votes), y.astype(float), np.nan),
            (names[np.where(silent, 3, votes)], names[y], "?"),
        ]
        for answers, labels, no_vote in ways:
            found = order_votes(answers, labels, rule="reduce_error", no_vote=no_vote)
            assert found.order.tolist() == expected.order.tolist()
            assert found.error_curve.tolist() == expected.error_curve.tolist()


def test_an_sample_without_a_vote_yet_is_wrong_and_one_without_any_does_not_count():
    votes = [[0, -1, -1, -1], [-1, 0, 0, -1], [-1, -1, 1, -1]]
    found = order_votes(votes, [0, 0, 0, 0], rule="reduce_error", no_vote=-1)
    assert found.order.tolist() == [1, 0, 2]
    assert found.error_curve.tolist() == [1 / 3, 0, 0]


def test_a_member_without_votes_comes_last_by_its_own_error():
    votes = [[-1, -1], [1, 0], [0, 0]]
    found = order_votes(votes, [0, 0], rule="individual_error", no_vote=-1)
    assert found.order.tolist() == [2, 1, 0]
    assert found.criterion.tolist() == [0, 0.5, 1]
    numbers = [[np.nan, np.nan], [1, 0], [0, 0]]
    found = order_votes(numbers, [0.0, 0.5], rule="individual_error", no_vote=np.nan)
    assert found.order.tolist() == [2, 1, 0]
    assert found.criterion.tolist() == [0.125, 0.625, np.inf]


# -- what is refused -------------------------------------------------------------------------------

SOME = [[0, 1], [1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("votes", "y", "options", "message"),
    [
        (SOME, [0, 1, 1], {}, r"votes has shape \(3, 2\).*y has 3 values.*transposed"),
        (SOME, [0, 1, 1, 0], {}, r"votes has shape \(3, 2\).*y has 4 values"),
        ([0, 1], [0, 1], {}, r"votes has shape \(2,\)"),
        ([[[0, 1]]], [0, 1], {}, r"votes has shape \(1, 1, 2\)"),
        ([], [], {}, r"votes has shape \(0,\)"),
        (np.empty((0, 2)), [0, 1], {}, r"votes has shape \(0, 2\)"),
        (np.empty((2, 0)), [], {}, r"votes has shape \(2, 0\)"),
        ([[0, np.nan]], [0, 1], {}, "votes contains NaN"),
        ([[0, np.inf]], [0.0, 1.0], {}, "votes contains infinity"),
        ([[0, 1]], [0, np.nan], {}, "y contains NaN"),
        ([[0.5, np.nan]], [0.5, 1], {"rule": "reduce_error"}, "votes contains NaN"),
        ([[0.5, 1]], [0.5, np.inf], {"rule": "reduce_error"}, "contains infinity"),
        ([[0, 1j]], [0, 1], {}, "votes holds complex numbers"),
        ([["a", "b"]], [0, 1], {}, "votes and y must name the classes in the same way"),
        (SOME, [0, 1], {"sample_weight": [1]}, r"sample_weight has shape \(1,\).*2 samples"),
        (SOME, [0, 1], {"sample_weight": [-1, 1]}, "sample_weight must hold finite numbers"),
        (SOME, [0, 1], {"sample_weight": [0, 0]}, "sample_weight is zero for every sample"),
        (SOME, [0, 1], {"sample_weight": [1, np.nan]}, "sample_weight must hold finite"),
        (SOME, [0, 1], {"task": "ranking"}, "task='ranking' is not allowed"),
        ([[-1, -1]], [0, 1], {"no_vote": -1}, "votes holds no vote on any sample"),
        ([[-1, 1], [1, 1]], [-1, 1], {"no_vote": -1}, "no_vote=-1"),
    ],
)  # fmt: skip
def test_bad_votes_and_labels_are_refused(votes, y, options, message):
    with pytest.raises(ValueError, match=message):
        order_votes(votes, y, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": "elsewhere"}, "on='elsewhere' is not allowed"),
        ({"on": "out_of_bag"}, 'on="out_of_bag" needs an ensemble'),
        ({"X": [[1], [2]]}, "ensemble is of type list, not a fitted ensemble"),
    ],
)
def test_votes_are_refused_where_only_an_ensemble_will_do(options, message):
    with pytest.raises(ValueError, match=message):
        order(SOME, y=[0, 1], **options)


@pytest.mark.parametrize("rule", ["best", "", None, 3, "Kappa"])
def test_unknown_rules_are_refused_with_the_names_of_all(rule):
    with pytest.raises(ValueError, match="is not known; rules are") as caught:
        order_votes(SOME, [0, 1], rule=rule)
    assert all(name in str(caught.value) for name in ORDERING_RULES)


def test_options_of_another_rule_are_refused():
    with pytest.raises(TypeError, match="rule='kappa' has no option 'p'; its options: none"):
        order_votes(SOME, [0, 1], rule="kappa", p=0.1)
    with pytest.raises(TypeError, match="has no option 'stop'; its options: backfitting, max_pas"):
        order_votes(SOME, [0, 1], rule="reduce_error", stop=True)
    with pytest.raises(ValueError, match=r"p cannot be .* rule=ReduceError"):
        order_votes(SOME, [0, 1], rule=ReduceError(), p=0.1)


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5, np.nan, np.inf, "a", None])
def test_objectives_out_of_range_are_refused(p):
    with pytest.raises((TypeError, ValueError), match="p="):
        order_votes(SOME, [0, 1], p=p)


@pytest.mark.parametrize("max_passes", [0, -1])
def test_backfitting_goes_through_at_least_once(max_passes):
    with pytest.raises(ValueError, match=f"max_passes={max_passes}"):
        order_votes(SOME, [0, 1], rule="reduce_error", max_passes=max_passes)


@pytest.mark.parametrize("shares", [[1, 2], [1, -1, 1], [1, np.nan, 1], [np.inf, 1, 1]])
def test_bad_weights_of_members_are_refused(shares):
    with pytest.raises(ValueError, match=r"member_weights must hold .* each of the 3 members"):
        read_selection(SOME, [0, 1], member_weights=shares)
