"""The automatic size: how samples are parted, the curves on those held out, the choice."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.oracles import ordering as oracle
from tests.oracles.ordering import ORACLES, Case

from orfeon import BaggingClassifier, BaggingRegressor, CARTClassifier, order, ordering
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.members.vote_input import Source
from orfeon.members.votes import read_selection
from orfeon.ordering import order_votes
from orfeon.ordering.auto_size import choose_size, cross_validated_curves, smooth, split_weights
from orfeon.ordering.rule import as_rule

FOR_REGRESSION = ["reduce_error", "complementarity", "individual_error"]


def some_votes(seed, *, members=5, samples=60, classes=3, repeated=True):
    """Votes of members of any accuracy, with samples of the same kind among them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, samples)
    right = rng.random((members, samples)) < rng.uniform(0.3, 0.9, (members, 1))
    votes = np.where(right, y, rng.integers(0, classes, (members, samples)))
    if repeated:
        drawn = rng.integers(0, samples // 2, samples)
        votes, y = votes[:, drawn], y[drawn]
    return votes, y


def kinds_of(selection, judged):
    """What a sample is: all that is said of it, and its class."""
    columns = np.concatenate([selection.answers, judged.answers]).T
    return [(*column, y) for column, y in zip(columns.tolist(), selection.y.tolist(), strict=True)]


def shares_of(parts, kinds):
    """How much of each kind each part has."""
    shares = [Counter() for _ in parts]
    for share, part in zip(shares, parts, strict=True):
        for weight, kind in zip(part.tolist(), kinds, strict=True):
            share[kind] += weight
    return [{kind: share[kind] for kind in set(kinds)} for share in shares]


# -- the parts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_folds", [2, 3, 10])
@pytest.mark.parametrize("seed", range(5))
def test_parts_add_up_and_share_each_kind_evenly(seed, n_folds):
    votes, y = some_votes(seed)
    weights = np.random.default_rng(seed).integers(0, 5, len(y))
    selection = read_selection(votes, y, weights)
    parts = split_weights(selection, selection, n_folds)
    assert len(parts) == n_folds
    np.testing.assert_array_equal(np.sum(parts, axis=0), weighed_once(selection))
    shares = shares_of(parts, kinds_of(selection, selection))
    for kind in shares[0]:
        given = [share[kind] for share in shares]
        assert max(given) - min(given) <= 1
    for code in range(selection.n_classes):
        given = [part[selection.y == code].sum() for part in parts]
        assert max(given) - min(given) <= 1
    given = [part.sum() for part in parts]
    assert max(given) - min(given) <= 1


def weighed_once(selection):
    """The weights, those of each kind on its first example in the order of the parts."""
    parts = split_weights(selection, selection, 2)
    kinds = kinds_of(selection, selection)
    held = np.flatnonzero(np.sum(parts, axis=0))
    assert len({kinds[i] for i in held}) == len(held) == len(set(kinds))
    total = Counter()
    for weight, kind in zip(selection.weights.tolist(), kinds, strict=True):
        total[kind] += weight
    expected = np.zeros(len(kinds), np.int64)
    expected[held] = [total[kinds[i]] for i in held]
    return expected


@pytest.mark.parametrize("seed", range(5))
def test_parts_depend_neither_on_the_order_nor_on_how_copies_are_given(seed):
    votes, y = some_votes(seed)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, len(y))
    copies = rng.permutation(np.repeat(np.arange(len(y)), weights))
    moved = rng.permutation(len(y))
    found = []
    for rows, given in ((slice(None), weights), (copies, None), (moved, weights[moved])):
        selection = read_selection(votes[:, rows], y[rows], given)
        parts = split_weights(selection, selection, 4)
        found.append(shares_of(parts, kinds_of(selection, selection)))
    assert found[0] == found[1] == found[2]


def test_samples_that_differ_out_of_bag_only_are_of_two_kinds():
    selection = read_selection([[0, 0, 0, 0]], [0, 0, 0, 0])
    judged = read_selection([[0, 0, -1, -1], [0, 0, 0, 0]], [0, 0, 0, 0], no_vote=-1)
    parts = split_weights(selection, judged.members([0]), 2)
    assert sorted(np.flatnonzero(np.sum(parts, axis=0)) // 2) == [0, 1]
    shares = shares_of(parts, [0, 0, 1, 1])
    assert shares == [{0: 1, 1: 1}] * 2


def test_samples_of_which_the_same_is_said_differ_by_their_class_or_target():
    selection = read_selection([[0] * 6], [0, 0, 0, 1, 1, 1])
    for part in split_weights(selection, selection, 3):
        assert [part[:3].sum(), part[3:].sum()] == [1, 1]
    selection = read_selection([[0.5] * 6], [1.5, 2, 3, 4, 5, 6], task="regression")
    parts = split_weights(selection, selection, 3)
    assert np.sum(parts, axis=0).tolist() == [1] * 6


@pytest.mark.parametrize("seed", range(5))
def test_weights_with_fractions_are_shared_in_pieces(seed):
    votes, y = some_votes(seed, repeated=False)
    weights = np.random.default_rng(seed).uniform(0.1, 3.0, len(y))
    weights[3] = 40.0
    selection = read_selection(votes, y, weights)
    parts = split_weights(selection, selection, 5)
    np.testing.assert_array_equal(np.sum(parts, axis=0).sum(), selection.total_weight)
    piece = selection.total_weight / len(y)
    kinds = kinds_of(selection, selection)
    shares = shares_of(parts, kinds)
    total = Counter()
    for weight, kind in zip(selection.weights.tolist(), kinds, strict=True):
        total[kind] += weight
    for kind, weight in total.items():
        given = [share[kind] for share in shares]
        assert sum(given) == weight
        # A light kind is in one part; a heavy one in all, a piece more or less.
        if weight < 1.4 * piece:
            assert sorted(given)[:-1] == [0] * 4
        if 1.6 * piece < weight < 2 * piece:
            assert np.count_nonzero(given) == 2
        assert max(given) - min(given) <= 2 * piece
    heavy = [share[kinds[3]] for share in shares]
    assert min(heavy) > 0
    totals = [part.sum() for part in parts]
    assert max(totals) - min(totals) < 6 * piece


def test_equal_weights_of_any_size_give_the_same_parts():
    votes, y = some_votes(1)
    plain = split_weights(*[read_selection(votes, y)] * 2, 4)
    for weight in (0.25, 1e-9):
        selection = read_selection(votes, y, np.full(len(y), weight))
        parts = split_weights(selection, selection, 4)
        np.testing.assert_array_equal(parts, plain)


# -- the curves ------------------------------------------------------------------------------------


def as_case(selection, weights):
    """Votes and whole weights for the oracle, without the samples of no weight."""
    silent = ~selection.answered
    kept = np.flatnonzero(weights)
    number = int if selection.n_classes else (lambda value: Fraction(float(value)))
    answers = [
        [None if silent[t, i] else number(selection.answers[t, i]) for i in kept]
        for t in range(selection.n_members)
    ]
    truth = [number(value) for value in selection.y[kept]]
    return Case(answers, truth, [Fraction(int(w)) for w in weights[kept]], selection.n_classes)


def slow_curves(selection, judges, rule, n_folds):
    """Fold by fold: order by the other samples, count the errors on those held out."""
    curves = [np.zeros(selection.n_members) for _ in judges]
    for part in split_weights(selection, judges[-1], n_folds):
        if part.any() and (selection.weights - part).any():
            found = ORACLES[rule](as_case(selection, selection.weights - part)).order
            for curve, judge in zip(curves, judges, strict=True):
                held_out = as_case(judge, part)
                errors = oracle.curve(held_out, oracle.prefixes(found))
                share = held_out.total / selection.total_weight
                curve += [float(e * share) for e in errors]
    return curves


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", ORACLES)
def test_curves_are_those_of_a_loop_over_the_folds(rule, weighted):
    for seed in range(4):
        votes, y = some_votes(seed, members=7, samples=25)
        rng = np.random.default_rng(seed)
        weights = rng.integers(0, 4, len(y)) if weighted else None
        left_out = rng.random(votes.shape) < 0.5
        left_out[0, 0] = True
        selection = read_selection(votes, y, weights)
        kept = slice(None) if weights is None else weights > 0
        answers = np.where(left_out[:, kept], selection.answers, -1)
        judge = read_selection_of(answers, selection)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = cross_validated_curves(selection, [selection, judge], as_rule(rule), 4)
        expected = slow_curves(selection, [selection, judge], rule, 4)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        assert not np.allclose(found[0], found[1])


def read_selection_of(answers, selection):
    """Other answers to the same samples; some may have none."""
    return replace(selection, answers=answers.astype(selection.answers.dtype))


@pytest.mark.parametrize("rule", FOR_REGRESSION)
def test_curves_of_numbers_are_those_of_a_loop_over_the_folds(rule):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 9, 20) / 2
        answers = y + rng.integers(-4, 5, (6, 20)) / 2
        selection = read_selection(answers, y, rng.integers(1, 4, 20), task="regression")
        judge = read_selection_of(
            np.where(rng.random(answers.shape) < 0.4, answers, np.nan), selection
        )
        found = cross_validated_curves(selection, [selection, judge], as_rule(rule), 3)
        expected = slow_curves(selection, [selection, judge], rule, 3)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_choice_is_the_minimum_of_the_smoothed_mean_of_both_curves():
    X, y = make_waveform(60, random_state=0)
    bag = BaggingClassifier(CARTClassifier(max_depth=3), 24, random_state=0).fit(X, y)
    choice = order(bag, X, y).size_choice(n_folds=4)
    selection = read_selection(bag.votes(X), y)
    judge = read_selection_of(np.where(bag.in_bag(X, y) == 0, bag.votes(X), -1), selection)
    expected = slow_curves(selection, [selection, judge], "margin_distance", 4)
    np.testing.assert_allclose(choice.with_all_votes, expected[0], atol=1e-12)
    np.testing.assert_allclose(choice.out_of_bag, expected[1], atol=1e-12)
    mean = [(a + b) / 2 for a, b in zip(*expected, strict=True)]
    smoothed = by_hand(mean)
    np.testing.assert_allclose(choice.curve, smoothed, atol=1e-12)
    assert choice.size == next(
        n for n, error in enumerate(smoothed, 1) if error < min(smoothed) + 1e-9
    )


def test_votes_out_of_bag_have_one_curve_that_is_both():
    X, y = make_waveform(100, random_state=0)
    bag = BaggingClassifier(CARTClassifier(max_depth=3), 9, random_state=0).fit(X, y)
    choice = order(bag, X, y, on="out_of_bag").size_choice()
    assert choice.out_of_bag is choice.with_all_votes
    np.testing.assert_allclose(choice.curve, choice.with_all_votes, atol=1e-12)  # only nine
    by_votes = order_votes(np.where(bag.in_bag(X, y) == 0, bag.votes(X), -1), y, no_vote=-1)
    np.testing.assert_array_equal(by_votes.size_choice().curve, choice.curve)


def test_regressors_have_both_curves():
    X, y = make_friedman1(80, random_state=0)
    bag = BaggingRegressor(n_estimators=20, random_state=0).fit(X, y)
    choice = order(bag, X, y, rule="reduce_error").size_choice()
    # With all votes members know most samples by heart, out of bag they do not.
    assert choice.with_all_votes[-1] == pytest.approx(((bag.predict(X) - y) ** 2).mean())
    assert choice.out_of_bag[-1] > 3 * choice.with_all_votes[-1]


# -- honesty ---------------------------------------------------------------------------------------


def memorisers(n):
    """Votes of n members that each err on one sample, and of one that never errs; all are 1."""
    return np.vstack([1 - np.eye(n, dtype=int), np.ones(n, dtype=int)]), np.ones(n, dtype=int)


def test_the_automatic_size_does_not_see_what_is_held_out():
    votes, y = memorisers(10)
    found = order_votes(votes, y, rule="reduce_error")
    # The last member is right everywhere, and so the minimum in training is at one member.
    assert found.order[0] == 10
    assert found.error_curve[0] == 0
    # With a sample held out, the member that errs on it alone seems to be as good, and comes
    # first; next comes the last, and they tie for the lower class; the third decides.
    choice = found.size_choice()
    assert choice.with_all_votes.tolist() == pytest.approx([1, 1] + [0] * 9)
    assert choice.out_of_bag is None
    assert found.suggestions == {"fifth": 2, "minimum": 1, "auto": 3}
    assert found.size("auto") == len(found.members("auto")) == 3


def test_the_number_of_folds_is_the_number_of_orders():
    votes, y = memorisers(10)
    choice = order_votes(votes, y, rule="reduce_error").size_choice(n_folds=5)
    # Two are held out: those who err on them come first, each wrong on one, then tied on both.
    assert choice.with_all_votes.tolist() == pytest.approx([0.5, 1] + [0] * 9)
    assert choice.size == 3


@pytest.mark.parametrize("wrong", [1, 3, 7, 11])
def test_of_sizes_that_are_equally_good_the_smallest_is_chosen(wrong):
    # Members that are all alike: one will do. Thirtieths do not add up exactly, and that must not
    # decide.
    votes = np.zeros((43, 30), dtype=int)
    votes[:, :wrong] = 1
    choice = order_votes(votes, np.zeros(30, dtype=int)).size_choice(n_folds=7)
    np.testing.assert_allclose(choice.curve, np.full(43, wrong / 30), atol=1e-12)
    assert choice.size == 1


def test_all_members_have_the_error_of_the_whole_in_any_fold():
    votes, y = some_votes(7, members=9)
    found = order_votes(votes, y)
    assert found.size_choice().curve[-1] == pytest.approx(found.error_curve[-1], abs=1e-12)


def test_the_warning_of_a_rule_is_given_once():
    rng = np.random.default_rng(0)
    votes = np.where(rng.random((6, 40)) < 0.02, 1, 0)
    with pytest.warns(UserWarning, match="from the diagonal"):
        found = order_votes(votes, np.zeros(40, dtype=int), rule="orientation")
    assert 1 <= found.size("auto") <= 6  # which would be an error now


@pytest.mark.parametrize("n_samples", [2, 3])
def test_few_samples_have_a_size_too(n_samples):
    found = order_votes(np.eye(4, n_samples, dtype=int), np.zeros(n_samples, dtype=int))
    assert 1 <= found.size("auto") <= 4
    assert found.size_choice().curve.shape == (4,)


def test_one_sample_that_counts_twice_is_held_out_and_not():
    # A copy stays to order by: the member that is right comes first, and two already tie.
    found = order_votes([[0], [1]], [1], sample_weight=[2])
    assert found.size_choice().curve.tolist() == [0, 1]


# -- smoothing -------------------------------------------------------------------------------------


def by_hand(curve):
    """Means over windows of n // 20 on either side, narrower where there are fewer."""
    n = len(curve)
    means = []
    for at in range(n):
        reach = min(n // 20, at, n - 1 - at)
        window = curve[at - reach : at + reach + 1]
        means.append(sum(window) / len(window))
    return means


@pytest.mark.parametrize("n", [1, 2, 19, 20, 39, 40, 100, 237])
def test_smoothing_is_the_mean_of_a_tenth_around(n):
    curve = np.random.default_rng(n).random(n)
    np.testing.assert_allclose(smooth(curve), by_hand(curve.tolist()), atol=1e-12)
    assert smooth(curve)[[0, -1]].tolist() == pytest.approx(curve[[0, -1]].tolist())
    if n < 20:
        np.testing.assert_allclose(smooth(curve), curve, atol=1e-12)


def test_smoothing_in_numbers():
    curve = np.array([9.0, 0, 3, 6] + [1] * 16)
    expected = [9.0, 4, 3, 10 / 3, 8 / 3] + [1] * 15
    assert smooth(curve).tolist() == pytest.approx(expected)


def test_an_order_is_the_one_public_way_to_its_automatic_size():
    votes, y = some_votes(0)
    found = order_votes(votes, y, rule="kappa").size_choice(n_folds=4)
    expected = choose_size(Source(read_selection(votes, y)), as_rule("kappa"), n_folds=4)
    np.testing.assert_array_equal(found.curve, expected.curve)
    assert not hasattr(ordering, "choose_size")


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("n_folds", [1, 0, -3, 2.5, "ten", None])
def test_too_few_folds_are_refused(n_folds):
    votes, y = some_votes(0)
    found = order_votes(votes, y)
    with pytest.raises(ValueError, match=f"n_folds={n_folds!r} is not allowed; give a whole"):
        found.size_choice(n_folds=n_folds)
    with pytest.raises(ValueError, match=f"n_folds={n_folds!r} is not allowed"):
        choose_size(Source(read_selection(votes, y)), as_rule("kappa"), n_folds=n_folds)


def test_an_order_without_its_votes_has_no_automatic_size():
    votes, y = some_votes(0)
    found = order_votes(votes, y).without_source()
    for query in (found.size_choice, lambda: found.size("auto"), lambda: found.members("auto")):
        with pytest.raises(ValueError, match='keep="auto" needs the votes'):
            query()
    assert "auto" not in found.suggestions
