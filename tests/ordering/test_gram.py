"""Orders from sums over chunks: the same as from all votes at once, however they are cut."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import shared

from orfeon.ordering import (
    CorrectnessGram,
    MarginDistance,
    Order,
    Orientation,
    Selection,
    order_chunks,
    order_votes,
    read_selection,
)

Integers = npt.NDArray[np.int64]
RULES = ["margin_distance", "orientation"]
quiet = pytest.mark.filterwarnings("ignore:.*from the diagonal:UserWarning")


def problem(
    seed: int, n_members: int = 9, n: int = 40, abstaining: float = 0.3
) -> tuple[Integers, Integers, Integers]:
    """Votes (-1 for none), labels and weights from 0 to 3; the first member votes on all."""
    rng = np.random.default_rng(seed)
    votes, y = rng.integers(0, 3, (n_members, n)), rng.integers(0, 3, n)
    votes[rng.random(votes.shape) < abstaining] = -1
    votes[0] = y
    return votes, y, rng.integers(0, 4, n)


def read(votes: Any, y: Any, weights: Any = None) -> Selection:
    return read_selection(votes, y, weights, no_vote=-1)


def summed(selection: Selection, **options: Any) -> CorrectnessGram:
    gram = CorrectnessGram(selection.n_members, **options)
    gram.add(selection)
    return gram


def signs_of(votes: Integers, y: Integers) -> Integers:
    """+1 right, -1 wrong, 0 no vote."""
    return np.where(votes < 0, 0, np.where(votes == y, 1, -1))


def assert_sums(gram: CorrectnessGram, votes: Integers, y: Integers, weights: Integers) -> None:
    """The sums are those of the definition, in whole numbers."""
    c = signs_of(votes, y)
    weighted = c * weights
    np.testing.assert_array_equal(gram.totals, weighted.sum(axis=1))
    np.testing.assert_array_equal(gram.sizes, (weighted * c).sum(axis=1))
    np.testing.assert_array_equal(gram.with_all, weighted @ c.sum(axis=0))
    assert gram.total_weight == weights.sum()
    np.testing.assert_array_equal(gram.matrix.astype(np.int64), weighted @ c.T)


def assert_same_order(one: Order, other: Order) -> None:
    assert one.order.tolist() == other.order.tolist()
    assert one.criterion.tolist() == other.criterion.tolist()
    assert one.error_curve.tolist() == other.error_curve.tolist()
    assert one.own_size == other.own_size
    assert one.n_classes == other.n_classes


def cut(parts: list[Any], places: list[int]) -> Iterator[tuple[Any, ...]]:
    """Votes, labels and weights in pieces."""
    yield from zip(*(np.split(part, places, axis=-1) for part in parts), strict=True)


# -- the sums --------------------------------------------------------------------------------------


def test_the_sums_are_those_of_the_definition():
    for seed in range(20):
        votes, y, weights = problem(seed)
        assert_sums(summed(read(votes, y, weights)), votes, y, weights)
        assert_sums(summed(read(votes, y)), votes, y, np.ones(40, np.int64))


def test_the_matrix_is_whole_for_more_members_than_a_block():
    votes, y, weights = problem(0, n_members=2100, n=7)
    gram = summed(read(votes, y, weights))
    assert_sums(gram, votes, y, weights)
    np.testing.assert_array_equal(gram.matrix, gram.matrix.T)


def test_more_samples_than_are_multiplied_at_once():
    votes, y, weights = problem(1, n_members=5, n=9001)
    assert_sums(summed(read(votes, y, weights)), votes, y, weights)


def test_sums_stay_exact_beyond_the_digits_of_single_precision():
    votes, y, weights = problem(2, n_members=5, n=30)
    heavy = weights * 2**24 + np.arange(30) % 2
    gram = summed(read(votes, y, weights))
    assert gram.matrix.dtype == np.float32
    gram.add(read(votes, y, heavy))
    assert_sums(gram, np.hstack([votes, votes]), np.tile(y, 2), np.concatenate([weights, heavy]))
    assert gram.matrix.dtype == np.float64


def test_sums_that_could_not_be_exact_are_refused():
    gram = CorrectnessGram(8)
    heavy = read(np.zeros((8, 2), int), [0, 1], [2**49, 2**49])
    with pytest.raises(ValueError, match="too much for exact sums"):
        gram.add(heavy)


def test_orientation_needs_no_products():
    votes, y, weights = problem(3)
    gram = summed(read(votes, y, weights), with_products=False)
    whole = summed(read(votes, y, weights))
    np.testing.assert_array_equal(gram.with_all, whole.with_all)
    assert Orientation().arrange_sums(gram).order.tolist() == (
        Orientation().arrange_sums(whole).order.tolist()
    )
    with pytest.raises(ValueError, match="margin distance needs them"):
        MarginDistance().arrange_sums(gram)


# -- adding ----------------------------------------------------------------------------------------


def test_sums_of_parts_are_added_in_any_order():
    votes, y, weights = problem(4)
    parts = [summed(read(*part)) for part in cut([votes, y, weights], [5, 17, 18])]
    assert_sums(parts[0] + parts[1] + parts[2] + parts[3], votes, y, weights)
    assert_sums(parts[3] + (parts[1] + (parts[2] + parts[0])), votes, y, weights)
    assert_sums(sum(parts[1:], CorrectnessGram(9) + parts[0]), votes, y, weights)


def test_adding_leaves_the_parts_as_they_were():
    votes, y, weights = problem(5)
    one, other = (summed(read(*part)) for part in cut([votes, y, weights], [20]))
    _ = one + other
    assert_sums(one, votes[:, :20], y[:20], weights[:20])
    assert_sums(other, votes[:, 20:], y[20:], weights[20:])


def test_sums_can_be_pickled_and_added_elsewhere():
    import pickle

    votes, y, weights = problem(6)
    parts = [summed(read(*part)) for part in cut([votes, y, weights], [13])]
    one, other = (pickle.loads(pickle.dumps(part)) for part in parts)
    assert_sums(one + other, votes, y, weights)


def test_parts_of_other_members_or_kinds_cannot_be_added():
    with pytest.raises(ValueError, match="same members"):
        CorrectnessGram(3) + CorrectnessGram(4)
    with pytest.raises(ValueError, match="same kind"):
        CorrectnessGram(3) + CorrectnessGram(3, with_products=False)
    gram = CorrectnessGram(3)
    with pytest.raises(ValueError, match="votes of 2 members, and there are 3"):
        gram.add(read([[0, 1], [1, 1]], [0, 1]))
    with pytest.raises(ValueError, match="members that predict numbers"):
        gram.add(read_selection(np.full((3, 2), 0.5), [0.5, 1.5]))
    with pytest.raises(ValueError, match="n_members=0"):
        CorrectnessGram(0)


def test_weights_in_different_units_cannot_be_added():
    one, other = (read(np.zeros((2, 2), int), [0, 1], w) for w in ([0.5, 1.5], [0.3, 0.6]))
    with pytest.raises(ValueError, match="whole numbers in all chunks"):
        order_chunks([([[0, 1], [1, 1]], [0, 1], w) for w in ([0.5, 1.5], [0.3, 0.6])])
    with pytest.raises(ValueError, match="other steps"):
        summed(one) + summed(other)


# -- orders ----------------------------------------------------------------------------------------


@quiet
@settings(deadline=None, derandomize=True, max_examples=shared.cases(60))
@given(
    seed=st.integers(0, 10**6),
    places=st.lists(st.integers(1, 39), unique=True, max_size=39),
    rule=st.sampled_from(RULES),
    abstaining=st.sampled_from([0.0, 0.5]),
)
def test_any_chunks_give_the_order_of_the_whole(seed, places, rule, abstaining):
    votes, y, _ = problem(seed, abstaining=abstaining)
    weights = np.random.default_rng(seed).integers(1, 4, 40)
    whole = order_votes(votes, y, rule=rule, sample_weight=weights, no_vote=-1)
    chunks = list(cut([votes, y, weights], sorted(places)))
    assert_same_order(order_chunks(chunks, rule=rule, no_vote=-1), whole)
    turned = order_chunks(chunks[::-1], rule=rule, no_vote=-1)
    assert_same_order(turned, whole)


@quiet
@pytest.mark.parametrize("rule", RULES)
def test_chunks_come_from_lists_generators_and_functions(rule):
    votes, y, weights = problem(7)
    weights += 1
    whole = order_votes(votes, y, rule=rule, sample_weight=weights, no_vote=-1)
    parts, places = [votes, y, weights], [10, 30]
    assert_same_order(order_chunks(list(cut(parts, places)), rule=rule, no_vote=-1), whole)
    assert_same_order(order_chunks(cut(parts, places), rule=rule, no_vote=-1), whole)
    assert_same_order(order_chunks(lambda: cut(parts, places), rule=rule, no_vote=-1), whole)


@quiet
def test_chunks_may_have_no_weights_and_labels_of_any_kind():
    names = np.array(["a", "b", "c"])
    votes, y, _ = problem(8, abstaining=0)
    whole = order_votes(names[votes], names[y])
    assert_same_order(order_chunks(list(cut([names[votes], names[y]], [1, 2, 25]))), whole)


@quiet
@pytest.mark.parametrize("rule", RULES)
def test_a_chunk_may_hold_nothing_that_counts(rule):
    votes, y, weights = problem(9)
    weights[10:15] = 0
    votes[:, 20:24] = -1
    weights[20:24] = 2
    whole = order_votes(votes, y, rule=rule, sample_weight=weights, no_vote=-1)
    chunks = list(cut([votes, y, weights], [10, 15, 20, 24]))
    assert_same_order(order_chunks(chunks, rule=rule, no_vote=-1), whole)
    assert_same_order(order_chunks([*chunks, chunks[1]], rule=rule, no_vote=-1), whole)


@quiet
def test_options_reach_the_rule():
    votes, y, _ = problem(10, n_members=12, abstaining=0)
    chunks = [(votes[:, :20], y[:20]), (votes[:, 20:], y[20:])]
    found = [order_chunks(chunks, p=p) for p in (0.05, 0.5)]
    assert found[0].order.tolist() != found[1].order.tolist()
    assert_same_order(found[1], order_votes(votes, y, rule=MarginDistance(p=0.5)))
    assert_same_order(order_chunks(chunks, rule=MarginDistance(p=0.05)), found[0])


def test_chunks_know_no_automatic_size_but_curves_on_other_samples():
    votes, y, _ = problem(11, abstaining=0)
    found = order_chunks([(votes[:, :20], y[:20]), (votes[:, 20:], y[20:])])
    np.testing.assert_array_equal(found.test_curve_votes(votes, y), found.error_curve)
    with pytest.raises(ValueError, match="needs the votes"):
        found.size("auto")


def test_other_rules_need_all_votes_at_once():
    with pytest.raises(ValueError, match="rule='reduce_error' needs all votes at once"):
        order_chunks([([[0, 1]], [0, 1])], rule="reduce_error")
    with pytest.raises(ValueError, match="chunks holds no sample that counts"):
        order_chunks([])
    with pytest.raises(ValueError, match="votes of 1 members, and there are 2"):
        order_chunks([([[0, 1], [0, 1]], [0, 1]), ([[0, 1]], [0, 1])])


def test_the_warning_of_orientation_does_not_depend_on_chunks():
    votes, y = np.zeros((6, 8), int), np.zeros(8, int)
    votes[0, 0] = 1
    for found in (
        lambda: order_votes(votes, y, rule="orientation"),
        lambda: order_chunks([(votes[:, :1], y[:1]), (votes[:, 1:], y[1:])], rule="orientation"),
    ):
        with pytest.warns(UserWarning, match="degrees from the diagonal"):
            found()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        order_chunks([([[0, 0, 1], [0, 1, 1]], [0, 0, 0])], rule="orientation")
