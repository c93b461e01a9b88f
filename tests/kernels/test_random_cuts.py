"""Random cuts of features of all kinds, in nodes of all sizes, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles import nested, rows_by_node
from tests.oracles.growth import Judge, Problem
from tests.oracles.random_cuts import best_cut

from orfeon.data.coding import MOST_CODES
from orfeon.growth import Growth

nan = np.nan
#: Few and many categories, on both sides of what fits in a word and in a code.
WIDTHS = (2, 5, 63, 64, MOST_CODES, MOST_CODES + 1, 700)


def mixed_problem(n_rows: int, n_classes: int, weights: str, seed: int = 0) -> Problem:
    """More than 64 features: continuous, few values, constant, categories, missing values."""
    rng = np.random.default_rng([seed, n_rows, n_classes])
    one_missing, two = np.full(n_rows, 4.0), rng.integers(0, 2, n_rows)
    one_missing[rng.random(n_rows) < 0.2] = nan
    columns = [
        rng.normal(size=n_rows), rng.integers(0, 3, n_rows) - 1.0, np.zeros(n_rows),
        np.full(n_rows, nan), one_missing, np.where(two, 0.0, -0.0), rng.exponential(size=n_rows),
        rng.integers(-MOST_CODES // 2, MOST_CODES // 2, n_rows) / 7.0,
        rng.integers(0, MOST_CODES + 1, n_rows) * 1e300,
    ]  # fmt: skip
    columns += [np.ones(n_rows)] * 60
    n_categories = [0] * len(columns)
    for width in WIDTHS:
        columns.append(rng.integers(0, width, n_rows).astype(np.float64))
        n_categories.append(width)
    X = np.column_stack(columns)
    for f in (0, 1, 7, 8, *range(69, X.shape[1], 2)):
        X[rng.random(n_rows) < 0.1, f] = nan
    score = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) + rng.normal(size=n_rows)
    y = np.round(8 * score) / 8
    if n_classes:
        y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    w = {
        "none": None,
        "counts": rng.integers(0, 3, n_rows).astype(np.float64),
        "heavy": rng.integers(0, 3, n_rows) * 70_000.0,
    }[weights]
    return Problem(X, n_categories, y, w, n_classes)


CASES = [
    (n_rows, n_classes, weights)
    for n_rows in (3, 9, 31, 32, 33, 300, 1000)
    for n_classes, weights in ((2, "none"), (3, "counts"), (2, "heavy"), (30, "none"), (0, "none"))
]


@pytest.mark.parametrize(("n_rows", "n_classes", "weights"), CASES)
def test_the_root_is_the_best_of_its_cuts(n_rows, n_classes, weights):
    problem = mixed_problem(n_rows, n_classes, weights)
    criterion = "gini" if n_classes else "variance"
    for seed in range(6):
        for max_features in (1, 6):
            growth = Growth(criterion, splitter="random", max_features=max_features, max_depth=1)
            forest = problem.grow(growth, seed=seed)
            cut = best_cut(problem, max_features, first_seed(seed))
            if len(np.unique(problem.y[problem.present])) < 2:
                assert len(forest.feature) == 1
                continue
            assert cut is not None
            assert forest.feature[0] == cut.feature
            if cut.left_categories is None:
                assert forest.threshold[0] == cut.threshold
            else:
                start = int(forest.threshold[0])
                table = forest.branches[start : start + problem.n_categories[cut.feature]]
                width = problem.n_categories[cut.feature]
                assert all(table[c] == 0 for c in cut.left_categories if c < width)
                assert all(table[c] == 1 for c in cut.right_categories if c < width)
            if cut.missing_left is not None:
                assert forest.missing[0] == (0 if cut.missing_left else 1)


def first_seed(seed: int) -> int:
    """The seed of the first tree that :meth:`Problem.grow` grows."""
    return int(np.random.default_rng(seed).integers(2**64, dtype=np.uint64))


@pytest.mark.parametrize("weights", ["none", "counts", "heavy"])
@pytest.mark.parametrize("n_classes", [2, 3, 30, 0])
def test_every_node_is_cut_between_its_extremes(n_classes, weights):
    problem = mixed_problem(700, n_classes, weights)
    growth = Growth("gini" if n_classes else "variance", splitter="random", max_features=2)
    judge = Judge(problem, growth, problem.grow(growth))
    n_split = 0
    for node in judge.root.walk():
        judge.check_statistics(node)
        rows = judge.rows[node.index]
        if node.is_leaf:
            values = problem.X[rows]
            same = (values == values[0]) | (np.isnan(values) & np.isnan(values[0]))
            assert not judge.is_open(node) or same.all()
            continue
        n_split += 1
        judge.check_unseen(node)
        known = problem.X[rows, node.feature]
        known = known[~np.isnan(known)]
        if node.branches is None and np.isfinite(node.threshold):
            assert known.min() <= node.threshold < known.max()
    assert n_split > 50


def test_nodes_far_apart_are_read_by_row():
    """Beyond 2**20 codes in all, small nodes read the table by row: the trees are the same."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(9000, 120)).astype(np.float64)
    X[rng.random(X.shape) < 0.01] = nan
    y = rng.integers(0, 2, 9000)
    problem = Problem(X, [3] * 10 + [0] * 110, y, None, 2)
    growth = Growth(splitter="random", max_features=3, max_leaf_nodes=400)
    root = nested(problem.grow(growth))
    reached = rows_by_node(root, X)
    smallest = len(y)
    for node in root.walk():
        rows = reached[node.index]
        np.testing.assert_array_equal(node.value, np.bincount(y[rows], minlength=2))
        smallest = min(smallest, len(rows))
        if not node.is_leaf and node.branches is None and np.isfinite(node.threshold):
            known = X[rows, node.feature]
            assert np.nanmin(known) <= node.threshold < np.nanmax(known)
    assert smallest * 64 < len(y)
