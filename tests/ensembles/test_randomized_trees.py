"""Randomised trees: each split is any of the best ones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from tests.ensembles.twins import LEVEL, content_order, generators, table
from tests.shared import assert_same_forest

from orfeon import BaggingClassifier, RandomizedTreesClassifier
from orfeon.data.presorted import Table
from orfeon.ensembles.perturbation import draw_seed
from orfeon.growth import Growth, grow_forest


def all_splits(X, y):
    """Every cut of the whole table with its weighted impurity, the best first."""
    found = []
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for low, high in pairwise(values):
            left = X[:, j] <= low
            gini = 0.0
            for side in (left, ~left):
                shares = np.bincount(y[side]) / side.sum()
                gini += side.sum() * (1 - (shares**2).sum())
            found.append((gini, j, (low + high) / 2))
    return sorted(found)


@pytest.mark.parametrize("n_best", [5, 20])
def test_roots_are_any_of_the_best_splits(n_best):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(61, 4)), rng.integers(0, 3, 61)
    best = all_splits(X, y)
    assert best[n_best - 1][0] < best[n_best][0] - 1e-9  # or the last one would be in doubt
    forest = RandomizedTreesClassifier(1000, n_best=n_best, max_depth=1, random_state=0)
    forest = forest.fit(X, y).forest_
    at = forest.tree_start[:-1]
    seen = list(zip(forest.feature[at].tolist(), forest.threshold[at].tolist(), strict=True))
    counts = [
        sum(a == j and t == pytest.approx(cut) for a, t in seen) for _, j, cut in best[:n_best]
    ]
    assert sum(counts) == 1000
    assert stats.chisquare(counts).pvalue > LEVEL


def test_the_default_is_twenty():
    assert RandomizedTreesClassifier().n_best == 20


def test_the_best_of_one_is_the_best():
    """But for ties, which the seed of each tree decides, as in bagging without bootstrap."""
    X, y = table(RandomizedTreesClassifier())
    trees = RandomizedTreesClassifier(4, n_best=1, random_state=0).fit(X, y)
    bag = BaggingClassifier(n_estimators=4, bootstrap=False, random_state=0).fit(X, y)
    assert_same_forest(trees.forest_, bag.forest_)
    at = trees.forest_.tree_start[:-1]
    _, feature, cut = all_splits(X, y)[0]
    assert set(trees.forest_.feature[at]) == {feature}
    assert set(trees.forest_.threshold[at]) == {cut}


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_trees_are_those_grown_by_hand(criterion):
    X, y = table(RandomizedTreesClassifier())
    trees = RandomizedTreesClassifier(8, n_best=7, criterion=criterion, random_state=2).fit(X, y)
    order = content_order(X, y)
    seeds = np.array([draw_seed(rng) for rng in generators(2, 8)])
    by_hand = grow_forest(
        Table(X[order]), y[order], n_classes=3, seeds=seeds, growth=Growth(criterion, n_best=7)
    )
    assert_same_forest(trees.forest_, by_hand)


def test_all_samples_are_seen_and_learnt():
    X, y = table(RandomizedTreesClassifier())
    trees = RandomizedTreesClassifier(10, random_state=0).fit(X, y)
    assert (trees.votes(X) == y).all()
    assert len(set(trees.forest_.n_leaves.tolist())) > 3


@pytest.mark.parametrize("n_best", [0, 1.5, "all"])
def test_other_numbers_are_refused(n_best):
    X, y = table(RandomizedTreesClassifier())
    message = "'n_best' parameter of RandomizedTreesClassifier must be"
    with pytest.raises(ValueError, match=message):
        RandomizedTreesClassifier(n_best=n_best).fit(X, y)
