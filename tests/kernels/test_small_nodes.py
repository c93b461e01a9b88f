"""Small and large nodes are searched in different ways: tables that have both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.oracles import nested, rows_by_node
from tests.oracles.growth import Problem

from orfeon.growth import Growth

#: Classes whose counters share a word, whose counters do in small nodes only, and never.
CRITERIA = (
    ("gini", 2), ("gini", 3), ("gini", 9), ("gini", 40), ("entropy", 3), ("variance", 0)
)  # fmt: skip


def large_problem(n_classes: int, weights: str, seed: int = 0) -> Problem:
    """Six hundred rows: continuous, few values, categories, values missing in each kind."""
    rng = np.random.default_rng([seed, n_classes, len(weights)])
    n = 600
    X = np.column_stack([
        rng.normal(size=(n, 2)), rng.exponential(size=n) * 1e9, rng.integers(0, 9, n),
        rng.integers(0, 5, n), np.where(rng.random(n) < 0.5, 0.0, -0.0),
    ])  # fmt: skip
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 0] = rng.permutation(n) / 64.0
    score = X[:, 0] + 3.0 * np.nan_to_num(X[:, 1]) + rng.normal(size=n)
    y: Any = score
    if n_classes:
        y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    w = {
        "none": None,
        "counts": rng.integers(0, 4, n).astype(np.float64),
        "float": rng.exponential(size=n),
    }[weights]
    return Problem(X, [0, 0, 0, 0, 5, 0], y, w, n_classes)


def leaf_sums(problem: Problem, forest: Any, tree: int) -> tuple[Any, Any]:
    """Weight of each class, or weight and mean target, in the leaves: counted, and as kept."""
    leaf = forest.apply(problem.X)[:, tree]
    start, end = forest.tree_start[tree : tree + 2]
    kept = forest.value[start:end]
    counted = np.zeros((end - start, max(problem.n_classes, 2)))
    if problem.n_classes:
        np.add.at(counted, (leaf, problem.y), problem.all_weights)
        return counted[forest.is_leaf[start:end]], kept[forest.is_leaf[start:end]]
    np.add.at(counted, (leaf, 0), problem.all_weights)
    np.add.at(counted, (leaf, 1), problem.all_weights * problem.y)
    counted = counted[forest.is_leaf[start:end]]
    weight = forest.node_weight[start:end][forest.is_leaf[start:end]]
    return counted, np.column_stack([weight, weight * kept[forest.is_leaf[start:end], 0]])


@pytest.mark.parametrize("weights", ["none", "counts", "float"])
@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize(
    "options",
    [
        {"splitter": "random", "max_features": 1},
        {"splitter": "random", "max_features": 3},
        {"splitter": "random", "min_samples_leaf": 3},
        {"max_features": 2},
        {},
    ],
    ids=str,
)
def test_leaves_hold_the_rows_that_reach_them(criterion, n_classes, weights, options):
    problem = large_problem(n_classes, weights)
    forest = problem.grow(Growth(criterion=criterion, **options), 3)
    for tree in range(3):
        counted, kept = leaf_sums(problem, forest, tree)
        assert len(kept) > 20
        np.testing.assert_allclose(kept, counted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("weights", ["none", "counts", "float"])
@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_trees_grow_until_the_targets_of_a_leaf_are_equal(criterion, n_classes, weights, splitter):
    problem = large_problem(n_classes, weights)
    forest = problem.grow(Growth(criterion=criterion, splitter=splitter, max_features=2), 2)
    present = problem.all_weights > 0
    leaf = forest.apply(problem.X)
    for tree in range(2):
        for index in np.unique(leaf[present, tree]):
            rows = present & (leaf[:, tree] == index)
            assert len(np.unique(problem.y[rows])) == 1


@pytest.mark.parametrize("max_features", [1, 3, None])
def test_random_cuts_of_large_nodes_lie_between_the_extremes(max_features):
    problem = large_problem(3, "none")
    growth = Growth(splitter="random", max_features=max_features)
    root = nested(problem.grow(growth))
    reached = rows_by_node(root, problem.X)
    sizes = []
    for node in root.walk():
        if node.is_leaf or node.branches is not None or np.isinf(node.threshold):
            continue
        known = problem.X[reached[node.index], node.feature]
        known = known[~np.isnan(known)]
        assert known.min() <= node.threshold < known.max()
        sizes.append(len(known))
    assert max(sizes) > 500
    assert min(sizes) < 5


@pytest.mark.parametrize("n_rows", [40, 400])
def test_random_cuts_are_uniform_in_nodes_of_any_size(n_rows):
    """The 400 rows are read one feature after the other, the 40 all at once."""
    rng = np.random.default_rng(n_rows)
    X = np.column_stack([rng.normal(size=n_rows) ** 3, np.ones(n_rows)])
    problem = Problem(X, [0, 0], rng.integers(0, 2, n_rows), None, 2)
    forest = problem.grow(Growth(splitter="random", max_depth=1), 4000)
    cuts = forest.threshold[forest.tree_start[:-1]]
    low, high = X[:, 0].min(), X[:, 0].max()
    shares = np.histogram(cuts, bins=8, range=(low, high))[0] / 4000
    np.testing.assert_allclose(shares, 0.125, atol=0.02)


@pytest.mark.parametrize(("criterion", "n_classes"), CRITERIA)
@pytest.mark.parametrize("splitter", ["best", "random"])
def test_weights_are_copies_in_large_nodes_too(criterion, n_classes, splitter):
    problem = large_problem(n_classes, "counts")
    growth = Growth(criterion=criterion, splitter=splitter, max_features=2)
    at = np.repeat(np.arange(600), problem.all_weights.astype(int))
    copies = problem.rows(np.random.default_rng(1).permutation(at))
    copies.weights = None
    one, other = problem.grow(growth, 3), copies.grow(growth, 3)
    np.testing.assert_array_equal(one.nodes, other.nodes)
    np.testing.assert_array_equal(one.value, other.value)
    np.testing.assert_array_equal(one.branches, other.branches)


def impurity(y: Any, w: Any, n_classes: int) -> float:
    """Weight times Gini impurity, or times variance."""
    if n_classes:
        shares = np.bincount(y, w, n_classes)
        return float(w.sum() - (shares**2).sum() / w.sum())
    return float((w * (y - np.average(y, weights=w)) ** 2).sum())


def gain(on_left: Any, y: Any, w: Any, n_classes: int) -> float:
    parts = (on_left, ~on_left)
    return impurity(y, w, n_classes) - sum(impurity(y[p], w[p], n_classes) for p in parts)


@pytest.mark.parametrize(
    ("narrow_rows", "n_best"),
    # Wide records compile another version of the kernels; the usual run has one.
    [(65_535, 1), (65_535, 2), (0, 1), pytest.param(0, 2, marks=pytest.mark.thorough)],
)
@pytest.mark.parametrize("n_classes", [2, 3, 6, 0])
def test_cuts_are_the_best_of_their_feature_in_nodes_of_any_size(
    n_classes, narrow_rows, n_best, monkeypatch
):
    """One feature of nine is drawn: nodes of up to 45 rows are sorted when they are searched."""
    monkeypatch.setattr("orfeon.data.presorted.MAX_NARROW_ROWS", narrow_rows)
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(300, 9))
    X[:, 8] = rng.integers(0, 20, 300)  # few values
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, n_classes, 300) if n_classes else rng.normal(size=300)
    w = rng.integers(1, 4, 300).astype(np.float64)
    criterion = "gini" if n_classes else "variance"
    growth = Growth(criterion=criterion, max_features=1, n_best=n_best, min_samples_leaf=2)
    root = nested(Problem(X, [0] * 9, y, w, n_classes).grow(growth))
    reached = rows_by_node(root, X)
    sizes = []
    for node in root.walk():
        if node.is_leaf:
            continue
        rows = np.array(reached[node.index])
        x, sizes = X[rows, node.feature], [*sizes, len(rows)]
        gains = set()
        for cut in [*np.unique(x[~np.isnan(x)])[:-1], *([np.inf] if np.isnan(x).any() else [])]:
            best_side = -np.inf
            for on_left in (x <= cut, (x <= cut) | np.isnan(x)):
                smaller = min(w[rows][on_left].sum(), w[rows][~on_left].sum())
                if smaller >= 2:
                    best_side = max(best_side, gain(on_left, y[rows], w[rows], n_classes))
            gains.add(best_side)
        first = set(reached[node.children[0].index])
        made = gain(np.array([r in first for r in rows]), y[rows], w[rows], n_classes)
        assert made >= sorted(gains)[-min(n_best, len(gains))] - 1e-9
    assert max(sizes) == 300
    assert sum(size <= 45 for size in sizes) > 20
