"""Trees of several outputs from sparse columns are those of the dense table, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.shared import assert_same_forest

from orfeon.data import Table
from orfeon.data.schema import Schema
from orfeon.data.sparse import SparseTable, read_sparse
from orfeon.growth import Growth
from orfeon.growth.several_outputs import grow_several_outputs

N_TREES = 2


def drawn_case(seed: int, splitter: str):
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.integers(5, 200)), int(rng.integers(1, 12))
    if seed % 5 == 0:
        n_features = 300  # enough to mark those that are zero in a node
    shape = (n_rows, n_features)
    X = rng.normal(size=shape) if seed % 2 else rng.integers(-3, 4, shape).astype(float)
    X[rng.random(shape) < rng.choice([0.2, 0.7, 0.95])] = 0
    if seed % 3 == 0:
        X[rng.random(shape) < 0.07] = np.nan
    X[:, n_features // 2] = 0
    n_classes = [(), (2, 3, 4), (2, 2)][int(rng.integers(3))]
    y = rng.normal(size=(n_rows, 3)).round(1)
    criterion = "variance"
    if n_classes:
        y = np.column_stack([rng.integers(0, k, n_rows) for k in n_classes])
        criterion = ["gini", "entropy"][int(rng.integers(2))]
    copies, shares = rng.integers(0, 3, (1, n_rows)), rng.random((1, n_rows))
    weights = [np.ones((1, n_rows)), copies.astype(float), shares][seed % 3]
    weights[:, :2] = 1
    growth = Growth(
        criterion=criterion,
        splitter=splitter,
        max_features=None if rng.random() < 0.5 else max(1, n_features // 4),
        min_samples_leaf=int(rng.integers(1, 4)),
        max_leaf_nodes=None if rng.random() < 0.7 else 9,
        ties="first" if rng.random() < 0.2 else "random",
    )
    how = {
        "n_classes": n_classes, "seeds": np.arange(N_TREES, dtype=np.uint64), "weights": weights,
        "n_samples": float(n_rows), "candidates": None, "growth": growth,
    }  # fmt: skip
    return X, y, how


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("part", range(2))
def test_random_tables(splitter, part):
    n_nodes = 0
    for seed in range(part, 80, 2):
        X, y, how = drawn_case(seed, splitter)
        dense = grow_several_outputs(Table(X), y[None], **how)
        rows = read_sparse(sparse.csr_array(X))
        wide = grow_several_outputs(SparseTable(rows, Schema.ordered(X.shape[1])), y[None], **how)
        assert_same_forest(dense, wide)
        np.testing.assert_array_equal(dense.apply(X), wide.apply(rows))
        n_nodes += len(dense.nodes)
    assert n_nodes > 1000
