"""IGP trees: halves, convergence and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.shared import assert_same_forest, cases

from orfeon import IGPTreeClassifier
from orfeon.growth.igp import MAX_ROUNDS
from orfeon.trees.igp import halve_groups


def random_problem(seed: int) -> tuple[Any, Any, Any]:
    """A small problem with ties, categories, missing values, and perhaps weights."""
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.integers(2, 120)), int(rng.integers(2, 6))
    X = rng.normal(size=(n_rows, 4))
    X[:, 1:3] = np.round(X[:, 1:3], int(rng.integers(0, 2)))
    X[:, 3] = rng.integers(0, 5, n_rows)
    X[rng.random(X.shape) < 0.1 * (seed % 2)] = np.nan
    y = np.digitize(np.nan_to_num(X[:, 0]) + rng.normal(size=n_rows), np.arange(n_classes - 1))
    kinds = (None, rng.integers(0, 4, n_rows), rng.exponential(size=n_rows) ** 2)
    weights = kinds[seed % 3]
    if weights is not None:
        weights[0] = 1
    return X, y, weights


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_every_tree_converges(criterion):
    """With labels that stay, the trees are nested, so the loop ends."""
    rounds = []
    for seed in range(cases(200)):
        X, y, weights = random_problem(seed)
        tree = IGPTreeClassifier(criterion=criterion, categorical_features=[3], random_state=seed)
        tree.fit(X, y, sample_weight=weights)
        tree.forest_.validate()
        rounds.append(tree.n_rounds_)
    assert min(rounds) == 2
    assert max(rounds) < 12 < MAX_ROUNDS
    assert np.mean(np.array(rounds) <= 3) > 0.8


def test_halves_share_every_class_equally(waveform):
    X, y = waveform
    firsts = []
    for seed in range(20):
        halves = IGPTreeClassifier(random_state=seed).fit(X, y).halves_
        assert halves.shape == (300,)
        for c in range(3):
            sizes = np.bincount(halves[y == c], minlength=3)
            assert sizes[0] == 0
            assert abs(sizes[1] - sizes[2]) <= 1
        sizes = np.bincount(halves, minlength=3)
        assert abs(sizes[1] - sizes[2]) <= 1
        firsts.append(halves)
    assert len({half.tobytes() for half in firsts}) == 20
    assert 0.3 < np.mean([half[0] == 1 for half in firsts]) < 0.9


def test_halves_weigh_the_same_in_every_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), rng.integers(0, 3, 400)
    weights = rng.uniform(0.5, 1.5, 400)
    halves = IGPTreeClassifier(random_state=0).fit(X, y, sample_weight=weights).halves_
    for c in range(3):
        one, two = (weights[(y == c) & (halves == h)].sum() for h in (1, 2))
        assert abs(one - two) <= 1.5


def test_copies_share_a_half_and_absent_rows_have_none(waveform):
    X, y = waveform
    twice = np.repeat(np.arange(300), 2)
    halves = IGPTreeClassifier(random_state=0).fit(X[twice], y[twice]).halves_
    np.testing.assert_array_equal(halves[::2], halves[1::2])
    weights = np.arange(300) % 3
    weights[-5:] = 0
    halves = IGPTreeClassifier(random_state=0).fit(X, y, sample_weight=weights).halves_
    assert len(halves) == 300
    np.testing.assert_array_equal(halves == 0, weights == 0)


def test_halves_of_groups_are_the_lighter_side_of_their_class():
    groups = np.array([0, 1, 2, 3, 4, 4])
    labels = np.array([0, 0, 0, 1, 1, 1])
    for seed in range(20):
        halves = halve_groups(groups, labels, np.ones(6), np.random.default_rng(seed))
        first = np.bincount(halves[labels == 0], minlength=3)
        assert sorted(first[1:]) == [1, 2]
        assert halves[4] == halves[5] != halves[3]


def test_random_state_fixes_the_halves_and_the_tree(waveform):
    X, y = waveform
    one = IGPTreeClassifier(random_state=5).fit(X, y)
    two = IGPTreeClassifier(random_state=5).fit(X, y)
    assert_same_forest(one.forest_, two.forest_)
    np.testing.assert_array_equal(one.halves_, two.halves_)
    assert one.n_rounds_ == two.n_rounds_
    sizes = {IGPTreeClassifier(random_state=s).fit(X, y).get_n_leaves() for s in range(20)}
    assert len(sizes) > 5


def test_the_root_is_labelled_by_the_first_half_and_keeps_it(waveform):
    X, y = waveform
    for seed in range(20):
        tree = IGPTreeClassifier(random_state=seed).fit(X, y)
        first = np.bincount(y[tree.halves_ == 1], minlength=3)
        assert tree.forest_.label[0] == np.argmax(first)


def test_labels_are_majorities_or_those_of_the_parent(waveform):
    """Leaves never relabelled: each label is the majority of the half that made the node."""
    X, y = waveform
    for seed in range(20):
        forest = IGPTreeClassifier(random_state=seed).fit(X, y).forest_
        parent = forest.parents()
        for node in np.flatnonzero(forest.is_leaf):
            value = forest.value[node]
            tied = np.flatnonzero(value == value.max())
            assert forest.label[node] in tied
            if len(tied) > 1 and forest.label[parent[node]] in tied:
                assert forest.label[node] == forest.label[parent[node]]


def test_every_leaf_was_made_by_one_half(waveform):
    X, y = waveform
    for seed in range(20):
        tree = IGPTreeClassifier(random_state=seed).fit(X, y)
        leaves = tree.apply(X)
        for leaf in np.flatnonzero(tree.forest_.is_leaf):
            counts = [
                np.bincount(y[(leaves == leaf) & (tree.halves_ == half)], minlength=3).tolist()
                for half in (1, 2)
            ]
            assert tree.forest_.value[leaf].tolist() in counts


def test_no_leaf_can_be_pruned_or_grown_any_more(waveform):
    """At the end, neither half would cut a test that the other half's growth left."""
    X, y = waveform
    for seed in range(10):
        tree = IGPTreeClassifier(random_state=seed).fit(X, y)
        forest, path = tree.forest_, tree.decision_path(X).toarray().astype(bool)
        half = 1 if tree.n_rounds_ % 2 == 0 else 2
        test = tree.halves_ == half
        leaf_label = tree.predict(X)
        for node in np.flatnonzero(~forest.is_leaf):
            rows = test & path[:, node]
            below = np.count_nonzero(leaf_label[rows] != y[rows])
            assert below < np.count_nonzero(forest.label[node] != y[rows])


def test_depth_is_limited(waveform):
    X, y = waveform
    for depth in (1, 2, 3):
        for seed in range(5):
            tree = IGPTreeClassifier(max_depth=depth, random_state=seed).fit(X, y)
            assert tree.get_depth() <= depth


def test_one_sample_and_two():
    tree = IGPTreeClassifier().fit([[1.0]], ["a"])
    assert (tree.predict([[0.0]]).tolist(), tree.n_rounds_) == (["a"], 2)
    tree = IGPTreeClassifier().fit([[1.0], [2.0]], ["a", "b"])
    assert tree.get_n_leaves() == 1
    assert sorted(tree.halves_) == [1, 2]
