"""What an Order is to its user: readable, iterable, picklable, and honest about what it holds."""

from __future__ import annotations

import pickle
import threading
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier as TheirForest

from orfeon import (
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    PrunedClassifier,
    order,
    prune,
)
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.ordering import (
    Arrangement,
    CorrectnessGram,
    Rule,
    order_chunks,
    order_votes,
    prune_votes,
    read_selection,
)

T = 20


@pytest.fixture(scope="module")
def bag_and_data():
    X, y = make_waveform(120, random_state=0)
    bag = BaggingClassifier(CARTClassifier(pruning="cv", n_folds=3), T, random_state=0)
    return bag.fit(X, y + 1), X, y + 1


def test_it_says_what_it_is_in_a_line(bag_and_data):
    bag, X, y = bag_and_data
    found = order(bag, X, y, rule="reduce_error", backfitting=True)
    assert repr(found).startswith("<Order of 20 members by ReduceError(backfitting=True")
    assert len(repr(found)) < 160
    assert list(found) == found.order.tolist()


def test_it_is_pickled_without_the_votes(bag_and_data):
    bag, X, y = bag_and_data
    found = order(bag, X, y)
    size = found.size("auto")
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.order, found.order)
    assert found.size("auto") == size
    with pytest.raises(ValueError, match='keep="auto" needs the votes'):
        again.size("auto")


def test_what_is_kept_is_a_copy(bag_and_data):
    bag, X, y = bag_and_data
    found = order(bag, X, y)
    before = found.order.copy()
    found.members(5)[:] = 0
    np.testing.assert_array_equal(found.order, before)


def test_curves_of_other_samples_from_the_ensemble_itself(bag_and_data):
    bag, X, y = bag_and_data
    X_new, y_new = make_waveform(80, random_state=1)
    found = order(bag, X, y)
    curve = found.test_curve(bag, X_new, y_new + 1)
    labels = bag.classes_[bag.votes(X_new)]
    np.testing.assert_array_equal(curve, found.test_curve_votes(labels, y_new + 1))
    assert curve[-1] == pytest.approx(1 - bag.score(X_new, y_new + 1), abs=1e-15)
    with pytest.raises(ValueError, match="votes of 19 members; 20 were ordered"):
        found.test_curve_votes(labels[:-1], y_new + 1)


def test_forests_are_ordered_and_cut_as_members(bag_and_data):
    bag, X, y = bag_and_data
    small = prune(bag.forest_, X, y - 1, keep=5)
    np.testing.assert_array_equal(small.votes(X), prune(bag, X, y, keep=5).votes(X))
    with pytest.raises(ValueError, match="members alone do not record"):
        prune(bag.forest_, X, y - 1, on="out_of_bag")
    X, y = make_friedman1(60, random_state=0)
    numbers = BaggingRegressor(n_estimators=6, random_state=0).fit(X, y)
    found = order(numbers.forest_, X, y, rule="reduce_error")
    assert found.order.tolist() == order(numbers, X, y, rule="reduce_error").order.tolist()


def test_warnings_stay_as_they_are_when_threads_choose_sizes(bag_and_data):
    bag, X, y = bag_and_data
    found = [order(bag, X, y, rule="margin_distance") for _ in range(8)]
    with warnings.catch_warnings():
        before = list(warnings.filters)
        threads = [threading.Thread(target=one.size, args=("auto",)) for one in found]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert list(warnings.filters) == before


@pytest.mark.parametrize(
    "query",
    [
        lambda votes, y: order_votes(votes, y, rule="orientation"),
        lambda votes, y: prune_votes(votes, y, rule="orientation"),
        lambda votes, y: order_chunks([(votes, y)], rule="orientation"),
    ],
    ids=["order", "prune", "order_chunks"],
)
def test_the_warning_of_a_rule_points_at_the_caller(query):
    with pytest.warns(UserWarning, match="almost equally right on all samples") as caught:
        query(np.zeros((3, 10), int), np.zeros(10, int))
    assert caught[0].filename == __file__


@dataclass(frozen=True)
class Halving(Rule):
    """A rule of one's own that weighs the votes."""

    name = "halving"

    def arrange(self, selection):
        n = selection.n_members
        return Arrangement(np.arange(n), np.zeros(n), member_weights=0.5 ** np.arange(n))


def test_weights_of_any_rule_are_not_lost(bag_and_data):
    bag, X, y = bag_and_data
    assert order(bag, X, y, rule=Halving()).has_own_weights
    with pytest.raises(ValueError, match=r"Halving\(\) gives the votes weights"):
        prune(bag, X, y, rule=Halving())
    model = PrunedClassifier(bag, rule=Halving(), keep=6, random_state=0).fit(X, y)
    assert model.error_curve_[5] == pytest.approx(1 - model.score(X, y), abs=1e-15)


def test_random_orders_are_fixed_too(bag_and_data):
    bag, X, y = bag_and_data
    kept = [PrunedClassifier(bag, rule="random", random_state=7).fit(X, y).kept_ for _ in range(2)]
    np.testing.assert_array_equal(*kept)
    other = PrunedClassifier(bag, rule="random", random_state=8).fit(X, y).kept_
    assert kept[0].tolist() != other.tolist()


def test_samples_set_aside_are_not_taken_for_the_training_set(monkeypatch):
    X, y = make_waveform(200, random_state=0)
    forest = TheirForest(10, random_state=0)

    def never(*_):
        raise AssertionError("it asked which of them the trees had seen")

    monkeypatch.setattr("orfeon.members.adapter.Members.out_of_bag", never)
    model = PrunedClassifier(
        forest, on="validation", validation_fraction=0.5, keep="auto", random_state=0
    )
    assert 1 <= len(model.fit(X, y)) <= 10


def test_matrices_come_back_as_they_were_given():
    pd = pytest.importorskip("pandas")
    votes, y = np.array([[0, 1, 1], [0, 0, 1], [-1, 0, 1]]), [0, 0, 1]
    masked = np.ma.masked_equal(votes, -1)
    kept = prune_votes(masked, y, rule="individual_error", keep=1)
    assert isinstance(kept, np.ma.MaskedArray)
    frame = prune_votes(pd.DataFrame(votes[:2]), y, rule="individual_error", keep=1)
    assert frame.index.tolist() == [1]
    marked = prune_votes(votes, y, rule="individual_error", keep=3, no_vote=-1)
    assert marked[0].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("votes", "y", "message"),
    [
        ([[0.5, 1.5], [1.2, 0.3]], [0, 1], 'task="regression"'),
        (np.array([["a", 1], ["a", "b"]], dtype=object), ["a", "b"], "in the same way"),
        ([[0, 1], [1, 1]], np.ma.masked_equal([0, 1], 1), "y has masked values"),
        ([[0, 1, 1], [0, 1]], [0, 1, 1], "votes|inhomogeneous"),
    ],
)
def test_votes_that_make_no_sense_are_refused(votes, y, message):
    with pytest.raises(ValueError, match=message):
        order_votes(votes, y)


@pytest.mark.parametrize("scale", [1e308, 1e-300])
def test_weights_of_any_size(scale):
    votes, y = [[0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]], [0, 0, 1, 1]
    weights = np.array([0.3, 0.1, 0.25, 0.7])
    found = order_votes(votes, y, sample_weight=weights * scale)
    np.testing.assert_array_equal(found.order, order_votes(votes, y, sample_weight=weights).order)


def test_one_sample_tells_nothing_of_the_size():
    found = order_votes([[0], [1], [1]], [0])
    assert found.size("auto") == 3
    assert np.isnan(found.size_choice().curve).all()


def test_what_ensembles_know_cannot_be_said_otherwise(bag_and_data):
    bag, X, y = bag_and_data
    for name, value in (("task", "regression"), ("no_vote", -1)):
        with pytest.raises(ValueError, match=f"{name}=.* is for a matrix of votes"):
            order(bag, X, y, **{name: value})


def test_many_classes_are_too_many_for_a_meta_tree():
    votes = np.tile(np.arange(40), (3, 1))
    with pytest.raises(ValueError, match="up to 30 classes, but there are 40"):
        order_votes(votes, np.arange(40), rule="meta_tree")


def test_a_chunk_that_is_refused_leaves_the_sums_as_they_were():
    gram = CorrectnessGram(2)
    gram.add(read_selection([[0, 1], [1, 1]], [0, 1]))
    with pytest.raises(ValueError, match="too much for exact sums"):
        gram.add(read_selection([[0, 1], [1, 1]], [0, 1], [2**51, 2**51]))
    assert gram.total_weight == 2
    with pytest.raises(ValueError, match="each chunk is"):
        order_chunks([5])


@pytest.mark.parametrize(
    ("rule", "option", "value"),
    [
        ("reduce_error", "backfitting", "yes"),
        ("reduce_error", "max_passes", 2.5),
        ("reduce_error", "max_passes", 0),
        ("boosting_based", "stop", "never"),
        ("boosting_based", "weighted_vote", 1),
    ],
)
def test_options_that_a_rule_does_not_take_are_refused(rule, option, value):
    with pytest.raises(ValueError, match=f"{option}={value!r} is not allowed"):
        order_votes([[0, 1], [0, 0]], [0, 1], rule=rule, **{option: value})
