"""Trees of several outputs: every split is the best of all, and the values are the leaves' own."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from orfeon.data import Table
from orfeon.growth import Growth
from orfeon.growth.several_outputs import grow_several_outputs

N_CLASSES = (2, 3, 4)


def problem(seed: int, *, ties: bool = False, missing: bool = True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 4)).round(1 if ties else 12)
    if missing:
        X[rng.random(X.shape) < 0.07] = np.nan
    noise = rng.integers(0, 3, 90)
    classes = np.column_stack([X[:, 0] > 0, noise, np.digitize(X[:, 1], [-1, 0, 1])]).astype(int)
    numbers = np.column_stack([np.nan_to_num(X[:, 2]) ** 2, 50 * rng.normal(size=90)])
    return X, classes, numbers, rng


def grow(X, y, n_classes, weights, growth, n_trees=1, **how):
    return grow_several_outputs(
        Table(X), y[None], n_classes=n_classes, seeds=np.arange(n_trees, dtype=np.uint64),
        weights=weights[None], n_samples=float((weights > 0).sum()),
        candidates=how.get("candidates"), growth=growth,
    )  # fmt: skip


def impurity(y, weights, criterion):
    """Weighted impurity of some samples, summed over the outputs."""
    total = 0.0
    for column in y.T:
        if criterion == "variance":
            mean = np.average(column, weights=weights)
            total += weights @ (column - mean) ** 2
            continue
        shares = np.bincount(column, weights=weights) / weights.sum()
        shares = shares[shares > 0]
        value = 1 - (shares**2).sum()
        if criterion == "entropy":
            value = -(shares * np.log2(shares)).sum()
        total += weights.sum() * value
    return total


def best_decrease(X, y, weights, criterion, least):
    """The largest decrease by any cut of any feature, missing values on either side."""
    best = -np.inf
    for x in X.T:
        known = ~np.isnan(x)
        for cut in np.unique(x[known]):
            for missing_left in (False, True):
                left = (x <= cut) | (~known & missing_left)
                if min((weights[left] > 0).sum(), (weights[~left] > 0).sum()) < least:
                    continue
                below = impurity(y[left], weights[left], criterion)
                above = impurity(y[~left], weights[~left], criterion)
                best = max(best, impurity(y, weights, criterion) - below - above)
    return best


def rows_of_nodes(forest, X):
    path = np.zeros((len(X), len(forest.nodes)), dtype=bool)
    parent = forest.parents()
    for row, leaf in enumerate(forest.apply(X)[:, 0]):
        at = int(leaf)
        while at >= 0:
            path[row, at] = True
            at = int(parent[at])
    return path


@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance"])
@pytest.mark.parametrize("seed", range(3))
def test_each_split_decreases_the_summed_impurity_most(seed, criterion):
    X, classes, numbers, rng = problem(seed, ties=seed == 2)
    y, n_classes = (numbers, ()) if criterion == "variance" else (classes, N_CLASSES)
    weights = [np.ones(90), rng.integers(1, 4, 90).astype(float), rng.random(90) + 0.1][seed]
    forest = grow(X, y, n_classes, weights, Growth(criterion=criterion, max_depth=3))
    inside = rows_of_nodes(forest, X)
    for node in np.flatnonzero(forest.n_children):
        child = forest.first_child[node]
        own, left, right = (inside[:, k] for k in (node, child, child + 1))
        made = impurity(y[own], weights[own], criterion)
        made -= impurity(y[left], weights[left], criterion)
        made -= impurity(y[right], weights[right], criterion)
        best = best_decrease(X[own], y[own], weights[own], criterion, 1)
        assert_allclose(made, best, rtol=1e-9)
    if criterion == "variance":
        means = [np.average(y[k], axis=0, weights=weights[k]) for k in inside.T]
        assert_allclose(forest.value, means)
    else:
        shares = [
            np.concatenate(
                [
                    np.bincount(y[k, o], weights=weights[k], minlength=m) / weights[k].sum()
                    for o, m in enumerate(N_CLASSES)
                ]
            )
            for k in inside.T
        ]
        assert_allclose(forest.value, shares)
    assert_allclose(forest.weights(), [weights[k].sum() for k in inside.T])
    if criterion != "entropy":
        summed = [impurity(y[k], weights[k], criterion) / weights[k].sum() for k in inside.T]
        assert_allclose(forest.impurity, summed, atol=1e-9)


@pytest.mark.parametrize("splitter", ["best", "random"])
def test_limits_hold(splitter):
    X, classes, _, _ = problem(0)
    growth = Growth(splitter=splitter, min_samples_leaf=7, max_leaf_nodes=6)
    forest = grow(X, classes, N_CLASSES, np.ones(90, np.int64), growth)
    assert forest.n_leaves[0] == 6
    assert forest.leaf_weight.min() >= 7
    few = Growth(splitter=splitter, min_impurity_decrease=0.02)
    gain = grow(X, classes, N_CLASSES, np.ones(90, np.int64), few)
    inner = np.flatnonzero(gain.n_children)
    whole = gain.impurity * gain.weights() / 90 / 3
    left = gain.first_child[inner]
    assert (whole[inner] - whole[left] - whole[left + 1] >= 0.02 - 1e-12).all()
    assert 1 < gain.n_leaves[0] < 90


@pytest.mark.parametrize("splitter", ["best", "random"])
def test_trees_are_pure_and_copies_are_weights(splitter):
    X, classes, numbers, rng = problem(1)
    weights = rng.integers(0, 3, 90)
    kept = np.repeat(np.arange(90), weights)
    for y, n_classes, criterion in ((classes, N_CLASSES, "gini"), (numbers, (), "variance")):
        growth = Growth(criterion=criterion, splitter=splitter)
        forest = grow(X, y, n_classes, weights, growth)
        assert not len(forest.leaf_impurity)
        copied = grow(X[kept], y[kept], n_classes, np.ones(len(kept), np.int64), growth)
        assert_allclose(copied.value, forest.value, atol=1e-12)
        assert_array_equal(copied.threshold, forest.threshold)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_one_output_given_twice_is_that_output(criterion):
    from orfeon.growth import grow_forest

    X, classes, _, _ = problem(3, missing=False)
    twice = np.column_stack([classes[:, 2], classes[:, 2]])
    growth = Growth(criterion=criterion, ties="first")
    both = grow(X, twice, (4, 4), np.ones(90, np.int64), growth)
    one = grow_forest(
        Table(X), classes[:, 2], n_classes=4, seeds=np.zeros(1, np.uint64), growth=growth
    )
    assert_array_equal(both.nodes, one.nodes)


def test_features_per_node_and_per_tree():
    X, classes, _, _ = problem(0)
    candidates = np.array([[0, 2], [1, 3]])
    forest = grow(
        X, classes, N_CLASSES, np.ones(90, np.int64), Growth(max_features=1), 2,
        candidates=candidates,
    )  # fmt: skip
    for t, own in enumerate(candidates):
        one = forest.subset([t])
        assert set(one.feature[one.n_children > 0]) == set(own)


@pytest.mark.parametrize(
    "growth", [Growth(criterion="error"), Growth(n_best=3), Growth(max_split_samples=5)]
)
def test_what_needs_one_output_says_so(growth):
    X, classes, _, _ = problem(0)
    with pytest.raises(ValueError, match="need one output"):
        grow(X, classes, N_CLASSES, np.ones(90, np.int64), growth)
