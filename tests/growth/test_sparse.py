"""Trees of sparse columns are those of the dense table, to the last bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from tests.shared import assert_same_forest

from orfeon.data import Table
from orfeon.data.schema import Schema
from orfeon.data.sparse import SparseTable, read_sparse
from orfeon.growth import Growth, grow_forest

N_TREES = 2


def sparse_table(X: np.ndarray, rng: np.random.Generator) -> SparseTable:
    """The table of a matrix that stores some of its zeros, too."""
    stored = (X != 0) | (rng.random(X.shape) < 0.1)
    rows, columns = np.nonzero(stored)
    matrix = sparse.coo_array((X[rows, columns], (rows, columns)), shape=X.shape)
    return SparseTable(read_sparse(matrix), Schema.ordered(X.shape[1]))


def drawn_case(seed: int):
    """A random table, target, weights and way of growing."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(5, 300))
    n_features = int(rng.integers(1, 400 if seed % 3 == 0 else 12))
    shape = (n_rows, n_features)
    X = rng.normal(size=shape) if seed % 2 else rng.integers(-3, 4, shape).astype(float)
    X[rng.random(shape) < rng.choice([0.2, 0.7, 0.95])] = 0
    if seed % 4 == 0:
        X[rng.random(shape) < 0.05] = np.nan
    X[:, n_features // 2] = 0
    n_classes = [0, 2, 3, 7][int(rng.integers(4))]
    y = rng.integers(0, n_classes, n_rows) if n_classes else rng.normal(size=n_rows).round(seed % 3)
    copies, shares = rng.integers(0, 3, (N_TREES, n_rows)), rng.random((N_TREES, n_rows))
    weights = [None, copies, shares][int(rng.integers(3))]
    if weights is not None:
        weights[:, :2] = 1
    criterion = ["gini", "entropy", "error"][int(rng.integers(3))] if n_classes else "variance"
    growth = Growth(
        criterion=criterion,
        max_features=None if rng.random() < 0.5 else max(1, n_features // 4),
        min_samples_leaf=int(rng.integers(1, 4)),
        max_leaf_nodes=None if rng.random() < 0.7 else 9,
        ties="first" if rng.random() < 0.2 else "random",
    )
    return rng, X, y, n_classes, weights, growth


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("part", range(4))
def test_random_tables(splitter, part):
    for seed in range(part, 80, 4):
        rng, X, y, n_classes, weights, growth = drawn_case(seed)
        how = {
            "n_classes": n_classes,
            "seeds": np.arange(N_TREES, dtype=np.uint64),
            "weights": weights,
            "growth": replace(growth, splitter=splitter),
        }
        dense = grow_forest(Table(X), y, **how)
        wide = grow_forest(sparse_table(X, rng), y, **how)
        assert_same_forest(dense, wide)
        rows = read_sparse(sparse.csr_array(X))
        np.testing.assert_array_equal(dense.apply(X), wide.apply(rows))
        np.testing.assert_array_equal(dense.mean_supports(X), wide.mean_supports(rows))


@pytest.mark.parametrize("splitter", ["best", "random"])
def test_each_tree_with_its_own_features(splitter):
    rng = np.random.default_rng(0)
    X = sparse.random(150, 30, 0.2, random_state=0).toarray()
    y = (X[:, :5].sum(axis=1) > 0.3).astype(int)
    how = {
        "n_classes": 2,
        "seeds": np.arange(3, dtype=np.uint64),
        "candidates": np.sort([rng.permutation(30)[:7] for _ in range(3)]),
        "growth": Growth(splitter=splitter),
    }
    assert_same_forest(grow_forest(Table(X), y, **how), grow_forest(sparse_table(X, rng), y, **how))


def test_rows_that_need_wide_records():
    rng = np.random.default_rng(0)
    X = sparse.random(70_000, 3, 0.01, random_state=0).toarray()
    y = ((X[:, 0] > 0.5) | (X[:, 1] > 0.5)).astype(int)
    how = {"n_classes": 2, "seeds": np.zeros(1, np.uint64), "growth": Growth(max_depth=4)}
    assert_same_forest(grow_forest(Table(X), y, **how), grow_forest(sparse_table(X, rng), y, **how))
