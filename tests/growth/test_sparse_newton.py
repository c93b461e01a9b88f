"""Bins and Newton trees of sparse rows are those of the dense table, to the last bit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from tests.shared import assert_same_forest

from orfeon.data.schema import Schema
from orfeon.data.sparse import read_sparse
from orfeon.growth import Growth
from orfeon.growth.binning import bin_table
from orfeon.growth.histogram_newton import HistogramNewtonTrees
from orfeon.growth.newton import Newton
from orfeon.growth.sparse_binning import bin_sparse
from orfeon.growth.sparse_newton import SparseNewtonTrees

nan = np.nan


class Case(NamedTuple):
    X: np.ndarray
    gradients: np.ndarray
    hessians: np.ndarray
    weights: np.ndarray
    growth: Growth
    newton: Newton
    how: dict[str, Any]


def drawn_table(rng: np.random.Generator, n_rows: int, n_features: int) -> np.ndarray:
    shape = (n_rows, n_features)
    X = rng.normal(size=shape) if rng.random() < 0.5 else rng.integers(-3, 4, shape).astype(float)
    X[rng.random(shape) < rng.choice([0.2, 0.7, 0.95])] = 0
    if rng.random() < 0.4:
        X[rng.random(shape) < 0.1] = nan
    if n_features > 3:
        X[:, 0] = rng.normal(size=n_rows)  # no zeros
        X[:, 1] = nan
        X[:, 2] = 0
    return X


def drawn_case(seed: int) -> Case:
    """A random table, derivatives, weights and limits."""
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.integers(5, 300)), int(rng.integers(1, 14))
    X = drawn_table(rng, n_rows, n_features)
    kinds = [np.ones(n_rows), rng.integers(0, 3, n_rows).astype(float), rng.random(n_rows)]
    weights = kinds[seed % 3]
    weights[0] = 1
    rows = None
    if rng.random() < 0.5:  # a part of a larger table
        whole = drawn_table(rng, 2 * n_rows, n_features)
        rows = rng.permutation(2 * n_rows)[:n_rows]
        whole[rows] = X
        X = whole
    growth = Growth(
        criterion="variance",
        max_depth=[None, 3, 6][int(rng.integers(3))],
        max_features=None if rng.random() < 0.5 else max(1, n_features // 2),
        min_samples_leaf=int(rng.integers(1, 4)),
        max_leaf_nodes=None if rng.random() < 0.6 else 7,
        min_impurity_decrease=0.01 if rng.random() < 0.2 else 0.0,
    )
    signs = rng.integers(-1, 2, n_features) if rng.random() < 0.3 else None
    newton = Newton(1.0, 0.1 if rng.random() < 0.3 else 0.0, 0.1, signs=signs)
    how = {
        "max_bins": [255, 6, 2][int(rng.integers(3))],
        "copies": rng.integers(1, 4, n_rows).astype(float) if rng.random() < 0.3 else None,
        "rows": rows,
    }
    hessians = rng.random((2, n_rows)) if rng.random() < 0.7 else np.ones((2, n_rows))
    return Case(X, rng.normal(size=(2, n_rows)), hessians, weights, growth, newton, how)


@pytest.mark.parametrize("part", range(4))
def test_random_trees(part):
    n_nodes = 0
    for seed in range(part, 120, 4):
        X, gradients, hessians, weights, growth, newton, how = drawn_case(seed)
        seeds = np.arange(2, dtype=np.uint64)
        dense = HistogramNewtonTrees(X, None, growth, newton, **how)
        wide = SparseNewtonTrees(read_sparse(sparse.csr_array(X)), None, growth, newton, **how)
        for candidates in (None, np.arange(0, X.shape[1], 2)[None]):
            one = dense.grow_newton(gradients, hessians, weights, seeds, candidates)
            other = wide.grow_newton(gradients, hessians, weights, seeds, candidates)
            assert_same_forest(one.forest, other.forest)
            assert_array_equal(one.leaves, other.leaves)
            assert_array_equal(one.gains, other.gains)
            n_nodes += len(one.forest.nodes)
    assert n_nodes > 500


def codes_of(bins: Any, n_rows: int, f: int) -> np.ndarray:
    """Bin of each row in a feature."""
    first, end = int(bins.offset[f]), int(bins.offset[f + 1])
    codes = np.full(n_rows, bins.zero_bin[f])
    row = np.repeat(np.arange(n_rows), np.diff(bins.starts))
    own = (bins.places >= first) & (bins.places < end)
    codes[row[own]] = bins.places[own] - first
    return codes


@pytest.mark.parametrize("max_bins", [2, 5, 255])
@pytest.mark.parametrize("with_copies", [False, True])
def test_bins_are_those_of_the_dense_table(max_bins, with_copies):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = drawn_table(rng, 400, 9)
        copies = rng.integers(1, 4, 400).astype(float) if with_copies else None
        rows = read_sparse(sparse.csr_array(X))
        dense = bin_table(X, Schema.ordered(9), max_bins, 1, copies)
        wide = bin_sparse(rows, max_bins, copies)
        assert_array_equal(dense.n_bins, wide.n_bins)
        end = int(wide.offset[-2])
        assert_array_equal(dense.low[:end], wide.low[:end])
        assert_array_equal(dense.high[:end], wide.high[:end])
        for f in range(9):
            assert_array_equal(dense.column(f), codes_of(wide, 400, f))


def test_a_table_without_stored_values():
    rows = read_sparse(sparse.csr_array((30, 4)))
    trees = SparseNewtonTrees(rows, None, Growth(criterion="variance"), Newton())
    ones = np.ones((1, 30))
    grown = trees.grow_newton(np.arange(30.0)[None], ones, ones[0], np.zeros(1, np.uint64))
    assert len(grown.forest.nodes) == 1
