"""One tree in place of the vote of three: the same class on every row."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CARTClassifier,
    RandomForestClassifier,
)
from orfeon.datasets import make_waveform
from orfeon.io import load, save
from orfeon.members import adapt
from orfeon.ordering import single_tree
from orfeon.ordering.merged_trees import _decided


def mixed(rng, n, missing=0.15):
    """Rows with numbers and categories, some missing."""
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 5, (n, 2))]).astype(float)
    y = (X[:, 0] + (X[:, 3] % 2) > 0.3).astype(int) + (X[:, 1] > 1)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def majority(ensemble, X):
    votes = adapt(ensemble).answers(X)
    counts = np.stack([(votes == c).sum(axis=0) for c in range(len(ensemble.classes_))])
    return ensemble.classes_[counts.argmax(axis=0)]


@pytest.mark.parametrize("n_trees", [1, 2, 3, 4])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_it_predicts_as_the_majority_on_rows_of_any_kind(n_trees, missing):
    rng = np.random.default_rng(n_trees)
    X, y = mixed(rng, 150, missing)
    tree = CARTClassifier(max_depth=3, categorical_features=[3, 4])
    few = BaggingClassifier(tree, n_trees, random_state=0).fit(X, y)
    one = single_tree(few)
    rows, _ = mixed(rng, 3000, 0.3)
    rows[:200, 3] = 99  # categories never seen
    assert (one.predict(rows) == majority(few, rows)).all()
    assert len(one.forest_) == 1
    assert isinstance(one, CARTClassifier)


def test_tests_that_are_decided_and_leaves_of_one_class_are_left_out():
    X, y = make_waveform(300, random_state=0)
    forest = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, y)
    same = RandomForestClassifier(1, max_depth=3, random_state=0).fit(X, y)
    assert single_tree(forest).forest_.n_leaves[0] < np.prod(forest.members_.n_leaves)
    # One tree alone is itself, but for tests between leaves of the same class.
    assert single_tree(same).forest_.n_leaves[0] <= same.members_.n_leaves[0]
    rows, _ = make_waveform(2000, random_state=1)
    assert (single_tree(forest).predict(rows) == majority(forest, rows)).all()


def test_three_copies_of_a_tree_are_no_larger_than_it():
    X, y = make_waveform(200, random_state=0)
    bag = BaggingClassifier(CARTClassifier(max_depth=4), 1, random_state=0).fit(X, y)
    small = single_tree(bag).forest_
    bag.members_ = bag.members_.subset([0, 0, 0])
    merged = single_tree(bag).forest_
    assert merged.n_leaves.tolist() == small.n_leaves.tolist()


@pytest.mark.parametrize(
    ("votes", "n_left", "winner"),
    [((2, 0), 1, 0), ((0, 2), 1, 1), ((1, 0), 1, 0), ((0, 1), 1, -1), ((1, 1, 0), 0, 0)],
)
def test_when_a_vote_is_decided(votes, n_left, winner):
    # A tie goes to the first class: one vote of two is enough for it.
    assert _decided(votes, n_left) == winner


def test_it_is_saved_and_loaded(tmp_path):
    X, y = make_waveform(150, random_state=0)
    one = single_tree(BaggingClassifier(CARTClassifier(max_depth=2), 3, random_state=0).fit(X, y))
    save(one, tmp_path / "tree.orf")
    assert (load(tmp_path / "tree.orf").predict(X) == one.predict(X)).all()


def test_what_is_refused():
    X, y = make_waveform(150, random_state=0)
    with pytest.raises(TypeError, match="whose members are trees"):
        single_tree(BaggingRegressor(n_estimators=3).fit(X, y.astype(float)))
    bag = BaggingClassifier(n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="more than max_nodes=10 tests"):
        single_tree(bag, max_nodes=10)
    with pytest.raises(ValueError, match="vote with different weights"):
        single_tree(AdaBoostClassifier(CARTClassifier(max_depth=3), 3).fit(X, y))
    soft = BaggingClassifier(n_estimators=3, combine="soft").fit(X, y)
    with pytest.raises(ValueError, match="combine='soft'"):
        single_tree(soft)
    X = X.copy()
    X[::7, 0] = np.nan
    with pytest.raises(ValueError, match="down all branches"):
        single_tree(BaggingClassifier(C45Classifier(), 3, random_state=0).fit(X, y))
