"""Coincidence matrices against sets of members, their identities, and their picture."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier as BaggingOfScikitLearn

from orfeon import BaggingClassifier, CARTClassifier, order
from orfeon.datasets import make_waveform
from orfeon.inspection.coincidence import (
    Coincidence,
    CoincidenceDisplay,
    member_coincidence,
    subset_coincidence,
)
from orfeon.ordering import ReduceError, order_votes, search_exhaustive, search_exhaustive_votes

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture(scope="module")
def bag(waveform):
    return BaggingClassifier(CARTClassifier(pruning="cv"), 11, random_state=0).fit(*waveform)


@pytest.fixture(scope="module")
def search(waveform, bag):
    return search_exhaustive(bag, *waveform)


@pytest.fixture(scope="module")
def greedy(waveform, bag):
    return order(bag, *waveform, rule="reduce_error")


def best_subsets(votes, y, order):
    """Of the subsets of least error of each size the one most like an order, by trying them all."""
    best = []
    for size in range(1, len(votes) + 1):
        errors = {}
        for some in combinations(range(len(votes)), size):
            decided = [np.bincount(votes[list(some), i]).argmax() for i in range(len(y))]
            errors[some] = np.sum(decided != y)
        least = [some for some in errors if errors[some] == min(errors.values())]
        best.append(max(least, key=lambda some: len({*some} & {*order[: len(some)]})))
    return best


# -- members in the best subsets -------------------------------------------------------------------


def test_ones_are_members_of_the_best_subsets():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 30)
    votes = np.where(rng.random((6, 30)) < 0.5, y, rng.integers(0, 3, (6, 30)))
    made = order_votes(votes, y, rule="reduce_error")
    subsets = best_subsets(votes, y, made.order.tolist())
    found = member_coincidence(search_exhaustive_votes(votes, y), made)
    assert found.kind == "members"
    assert found.sizes.tolist() == found.columns.tolist() == [1, 2, 3, 4, 5, 6]
    for i, subset in enumerate(subsets):
        assert found.values[i].tolist() == [float(member in subset) for member in made.order]
        common = len(set(subset) & set(made.order[: i + 1].tolist()))
        assert found.found[i] == pytest.approx(common / (i + 1), abs=1e-15)


def test_rows_hold_as_many_ones_as_their_size(search, greedy):
    found = member_coincidence(search, greedy)
    assert (found.values.sum(axis=1) == np.arange(1, 12)).all()
    assert set(np.unique(found.values)) == {0.0, 1.0}
    assert found.values[0, 0] == 1.0  # reduce-error begins with the best member
    assert (found.values == search.coincidence(greedy)).all()


def test_an_order_that_finds_the_best_subsets_fills_the_triangle():
    # Each further member is best to have: those before are right wherever it is.
    y = np.zeros(8, int)
    votes = np.ones((4, 8), int)
    for t in range(4):
        votes[t, : 8 - t] = 0
    search = search_exhaustive_votes(votes, y)
    found = member_coincidence(search, np.arange(4))
    assert (found.values == np.tril(np.ones((4, 4)))).all()
    assert found.found.tolist() == [1.0, 1.0, 1.0, 1.0]
    backwards = member_coincidence(search, np.arange(4)[::-1])
    # With member 0 any other is best: 2 comes before 3, and both are among the first two.
    assert backwards.values.tolist() == [[0, 0, 0, 1], [0, 1, 0, 1], [0, 1, 1, 1], [1, 1, 1, 1]]
    assert backwards.found.tolist() == [0.0, 0.5, pytest.approx(2 / 3), 1.0]


def test_runs_are_averaged(waveform):
    X, y = waveform
    searches, orders = [], []
    for seed in range(3):
        bag = BaggingClassifier(CARTClassifier(max_depth=2), 7, random_state=seed).fit(X, y)
        searches.append(search_exhaustive(bag, X, y, sizes="odd"))
        orders.append(order(bag, X, y, rule="reduce_error"))
    found = member_coincidence(searches, orders)
    assert found.n_runs == 3
    assert found.sizes.tolist() == [1, 3, 5, 7]
    each = [s.coincidence(o) for s, o in zip(searches, orders, strict=True)]
    np.testing.assert_allclose(found.values, np.mean(each, axis=0), atol=1e-15)
    assert found.values.sum(axis=1) == pytest.approx([1, 3, 5, 7])


# -- subsets against subsets -----------------------------------------------------------------------


def test_shares_are_of_the_smaller_subset(search):
    found = subset_coincidence(search)
    assert found.kind == "subsets"
    for i, one in enumerate(search.subsets):
        for j, other in enumerate(search.subsets):
            common = len(set(one.tolist()) & set(other.tolist()))
            assert found.values[i, j] == common / min(len(one), len(other))
    assert (found.values == found.values.T).all()
    assert (np.diag(found.values) == 1.0).all()
    assert (found.values[-1] == 1.0).all()  # all members hold every subset
    assert found.values.min() < 1.0  # the best subsets are not nested


def test_first_members_of_one_order_are_nested(greedy):
    for given in (greedy, greedy.order, greedy.order.tolist()):
        assert (subset_coincidence(given).values == 1.0).all()


def test_subsets_of_two_sources_are_compared(search, greedy):
    found = subset_coincidence(search, greedy)
    for i, subset in enumerate(search.subsets_like(greedy)):
        for j in range(11):
            common = len(set(subset.tolist()) & set(greedy.order[: j + 1].tolist()))
            assert found.values[i, j] == common / min(i + 1, j + 1)
    assert (subset_coincidence(greedy, search).values == found.values.T).all()
    # The share of a best subset that is among as many first members is in both matrices.
    np.testing.assert_allclose(found.found, member_coincidence(search, greedy).found, atol=1e-15)


def test_odd_sizes_are_compared_with_all(waveform, bag, greedy):
    odd = search_exhaustive(bag, *waveform, sizes="odd")
    found = subset_coincidence(odd, greedy)
    assert found.values.shape == (6, 11)
    assert found.sizes.tolist() == [1, 3, 5, 7, 9, 11]
    assert len(found.found) == 6
    other_way = subset_coincidence(greedy, odd).found
    assert np.flatnonzero(np.isnan(other_way)).tolist() == [1, 3, 5, 7, 9]  # no even sizes there


def test_subsets_of_backfitting_are_used_as_they_are(waveform):
    X, y = make_waveform(150, random_state=3)
    bag = BaggingClassifier(CARTClassifier(max_depth=2), 30, random_state=3).fit(X, y)
    made = order(bag, X, y, rule=ReduceError(backfitting=True))
    found = subset_coincidence(made)
    assert found.sizes.tolist() == list(range(1, 31))
    expected = len(set(made.members(4).tolist()) & set(made.members(9).tolist())) / 4
    assert found.values[3, 8] == expected
    assert found.values.min() < 1.0


# -- bad input -------------------------------------------------------------------------------------


def test_what_is_neither_a_search_nor_several_is_refused(search, greedy):
    for wrong in (None, 3, "search"):
        with pytest.raises(TypeError, match=r"search is of type \w+; give what search_exhaustive"):
            member_coincidence(wrong, None)
    for wrong in (None, greedy):
        with pytest.raises(TypeError, match=r"order is of type \w+; .* one per run"):
            member_coincidence([search], wrong)
    # A matrix has an order in each row.
    many = member_coincidence([search, search], np.array([greedy.order, greedy.order]))
    assert (many.values == member_coincidence(search, greedy).values).all()


def test_what_does_not_belong_together_is_refused(search, greedy):
    with pytest.raises(ValueError, match="search holds 1 runs and order 2"):
        member_coincidence([search], [greedy, greedy])
    with pytest.raises(ValueError, match="search holds 0 runs"):
        member_coincidence([], [])
    with pytest.raises(TypeError, match="search holds a Order"):
        member_coincidence([greedy], [greedy])
    with pytest.raises(ValueError, match="each of the 11 members must be in it once"):
        member_coincidence(search, [0, 1, 2])
    small = search_exhaustive_votes([[0, 1], [1, 0], [0, 0]], [0, 1])
    with pytest.raises(ValueError, match="runs over 3 members"):
        member_coincidence([search, small], [greedy, [0, 1, 2]])
    with pytest.raises(ValueError, match="one has 11 members and other has 3"):
        subset_coincidence(search, small)
    with pytest.raises(ValueError, match="is not allowed; give an ExhaustiveSearch, an Order"):
        subset_coincidence([0, 0, 1])


# -- the picture -----------------------------------------------------------------------------------


def test_the_matrix_is_drawn_from_the_smallest_size_down(waveform, bag, search, greedy):
    display = CoincidenceDisplay.from_estimator(bag, *waveform)
    expected = member_coincidence(search, greedy)
    assert (display.data.values == expected.values).all()
    assert (np.asarray(display.mesh_.get_array()).reshape(11, 11) == expected.values).all()
    assert display.ax_.get_ylim() == (11, 0)
    assert display.ax_.get_xlabel() == "place in the order"
    assert display.ax_.get_ylabel() == "size of the best subset"
    share = round(100 * expected.found[:-1].mean())
    title = display.ax_.get_title().replace("\n", " ")
    assert title == f"On average {share}% of a best subset is among as many first members"
    (stair,) = display.ax_.lines
    assert stair.get_xydata()[:4].tolist() == [[1, 0], [1, 1], [2, 1], [2, 2]]
    bar = display.figure_.axes[1]
    assert [tick.get_text() for tick in bar.get_yticklabels()] == ["no", "yes"]


def test_ticks_are_sizes(waveform, bag):
    display = CoincidenceDisplay.from_votes(bag.votes(waveform[0]), waveform[1], sizes="odd")
    ticks = display.ax_.get_yticks().tolist()
    assert ticks == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    labels = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert labels == ["1", "3", "5", "7", "9", "11"]
    # The stair goes by sizes, not by rows.
    assert display.ax_.lines[0].get_xdata().tolist() == [1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11]


def test_subsets_are_drawn_without_a_stair(waveform, bag, search):
    figure, ax = pyplot.subplots()
    display = CoincidenceDisplay.from_estimator(bag, *waveform, kind="subsets", rule=None, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert (display.data.values == subset_coincidence(search).values).all()
    assert len(ax.lines) == 0
    assert ax.get_xlabel() == "size of the other subset"
    off = display.data.values[~np.eye(11, dtype=bool)].mean()
    title = ax.get_title().replace("\n", " ")
    assert title == f"On average {100 * off:.0f}% of the smaller of two subsets is in the larger"


def test_ensembles_of_scikit_learn_are_searched_too(waveform):
    X, y = waveform
    bag = BaggingOfScikitLearn(n_estimators=5, random_state=0).fit(X, y)
    display = CoincidenceDisplay.from_estimator(bag, X, y, rule="kappa")
    search = search_exhaustive(bag, X, y)
    expected = search.coincidence(order(bag, X, y, rule="kappa"))
    assert (display.data.values == expected).all()


def test_means_of_runs_say_of_how_many(search, greedy):
    display = CoincidenceDisplay.from_search([search, search], [greedy, greedy])
    assert display.ax_.get_title().replace("\n", " ").endswith("first members (2 runs)")
    assert display.figure_.axes[1].get_ylabel() == "share of the runs"


def test_pictures_that_cannot_be_are_refused(search):
    with pytest.raises(ValueError, match="kind='pairs' is not allowed"):
        CoincidenceDisplay.from_search(search, kind="pairs")
    with pytest.raises(ValueError, match='kind="members" needs an order'):
        CoincidenceDisplay.from_search(search)


def test_one_member_has_a_picture_too():
    data = Coincidence(np.ones((1, 1)), np.array([1]), np.array([1]), "members")
    title = CoincidenceDisplay(data).plot().ax_.get_title().replace("\n", " ")
    assert title == "On average 100% of a best subset is among as many first members"
