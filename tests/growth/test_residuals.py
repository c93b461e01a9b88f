"""Trees on residuals: the same as the engine grows, prepared once for many rounds."""

from __future__ import annotations

import numpy as np
import pytest
from tests.shared import assert_same_forest

from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.growth import Growth, grow_forest
from orfeon.growth import residuals as module
from orfeon.growth.engine import integer_weights
from orfeon.growth.residuals import ExactTrees, FixedPoint

GROWTHS = [
    Growth(criterion="variance", max_depth=3),
    Growth(criterion="variance", max_leaf_nodes=6),
    Growth(criterion="variance", max_depth=4, min_samples_leaf=5, min_samples_split=20),
    Growth(criterion="variance", max_depth=3, min_impurity_decrease=0.02),
    Growth(criterion="variance", max_depth=4, max_features=2, min_weight_fraction_leaf=0.1),
]


def problem(n_rows=120, n_trees=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    X[:, 2] = rng.integers(0, 5, n_rows)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4] = np.round(rng.normal(size=n_rows), 1)
    return X, rng.normal(size=(n_trees, n_rows)), rng


def seeds_of(n_trees):
    return np.arange(n_trees, dtype=np.uint64)


@pytest.mark.parametrize("categorical", [None, [2]])
@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("kind", ["ones", "counts", "fractions", "own"])
def test_the_trees_are_those_of_the_engine(growth, kind, categorical):
    X, residuals, rng = problem()
    schema, encoded = Schema.learn_and_encode(X, categorical)
    table = Table(encoded, schema)
    weights = {
        "ones": np.ones(120),
        "counts": rng.integers(0, 4, 120),
        "fractions": rng.uniform(0, 2, 120) * (rng.random(120) < 0.7),
        "own": rng.uniform(0, 2, (3, 120)),
    }[kind]
    trees = ExactTrees(table, encoded, growth)
    expected = grow_forest(
        table, residuals, n_classes=0, seeds=seeds_of(3), weights=weights, growth=growth
    )
    for _ in range(2):  # the second time with what was prepared the first
        forest, leaves = trees.grow(residuals, weights, seeds_of(3))
        # Two features may give the same split; rounding decides which is taken.
        forest.validate()
        assert forest.n_leaves.tolist() == expected.n_leaves.tolist()
        assert sorted(forest.leaf_weight) == pytest.approx(sorted(expected.leaf_weight), rel=1e-12)
        present = np.broadcast_to(weights, (3, 120)) > 0
        answers, answered = (f.supports(encoded)[:, :, 0][present] for f in (forest, expected))
        np.testing.assert_allclose(answers, answered, atol=1e-13)
        assert np.mean(forest.threshold == expected.threshold) > 0.9
        np.testing.assert_array_equal(leaves, forest.apply(encoded).T)
        assert leaves.dtype == np.int32


def test_rows_of_weight_zero_are_routed_and_change_nothing():
    X, residuals, rng = problem(n_trees=1)
    growth = GROWTHS[0]
    inside = rng.random(120) < 0.6
    forest, leaves = ExactTrees(Table(X), X, growth).grow(residuals, 1.0 * inside, seeds_of(1))
    table = Table(X[inside])
    alone, its_leaves = ExactTrees(table, X[inside], growth).grow(
        residuals[:, inside], np.ones(inside.sum()), seeds_of(1)
    )
    assert_same_forest(forest, alone, but=())
    np.testing.assert_array_equal(leaves[:, inside], its_leaves)
    assert forest.leaf_weight.sum() == inside.sum()
    assert set(leaves[0, ~inside]) <= set(leaves[0, inside])


def test_few_rows_reach_the_leaves_that_packed_trees_give_them(monkeypatch):
    X, residuals, _ = problem()
    schema, encoded = Schema.learn_and_encode(X, [2])
    trees = ExactTrees(Table(encoded, schema), encoded, GROWTHS[1])
    few = trees.grow(residuals, np.ones(120), seeds_of(3))[1]
    monkeypatch.setattr(module, "_FEW_PATHS", 0)
    packed = trees.grow(residuals, np.ones(120), seeds_of(3))[1]
    assert len(np.unique(few)) > 6
    np.testing.assert_array_equal(few, packed)


def test_each_tree_uses_its_own_features():
    X, residuals, _ = problem()
    trees = ExactTrees(Table(X), X, GROWTHS[0])
    own = np.array([[0, 1], [2, 4], [3, 4]])
    forest, _ = trees.grow(residuals, np.ones(120), seeds_of(3), own)
    for t in range(3):
        tree = forest.subset([t])
        assert set(tree.feature[~tree.is_leaf]) <= set(own[t])
    one, _ = trees.grow(residuals, np.ones(120), seeds_of(3), own[:1])
    assert set(one.feature[~one.is_leaf]) <= {0, 1}


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(module, "_WORTH_THREADS", 1)
    X, residuals, rng = problem()
    weights = rng.uniform(0, 2, (3, 120))
    serial = ExactTrees(Table(X), X, GROWTHS[4]).grow(residuals, weights, seeds_of(3))
    threads = ExactTrees(Table(X), X, GROWTHS[4], n_jobs=2).grow(residuals, weights, seeds_of(3))
    assert_same_forest(serial[0], threads[0])
    np.testing.assert_array_equal(serial[1], threads[1])


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e150])
def test_residuals_of_any_size(size):
    X, residuals, _ = problem(n_trees=1)
    trees = ExactTrees(Table(X), X, GROWTHS[0])
    plain, leaves = trees.grow(residuals, np.ones(120), seeds_of(1))
    # A power of two, so that no bit of the residuals changes.
    factor = 2.0 ** np.round(np.log2(size))
    other, same = trees.grow(residuals * factor, np.ones(120), seeds_of(1))
    np.testing.assert_array_equal(same, leaves)
    np.testing.assert_allclose(other.value, plain.value * factor, rtol=1e-12)


def test_residuals_without_variation_are_a_leaf():
    X, _, _ = problem()
    for value in (0.0, -0.1):
        trees = ExactTrees(Table(X), X, GROWTHS[0])
        forest, leaves = trees.grow(np.full((1, 120), value), np.ones(120), seeds_of(1))
        assert forest.n_leaves.tolist() == [1]
        assert forest.value[0, 0] == pytest.approx(value, rel=1e-15)
        assert not leaves.any()


def test_sums_of_moments_are_exact_and_never_overflow():
    rng = np.random.default_rng(1)
    residuals = rng.normal(size=(2, 1000)) * [[1.0], [1e9]]
    for weights in (np.ones((1, 1000)), rng.integers(0, 2**20, (1, 1000)), rng.random((2, 1000))):
        whole = integer_weights(weights)
        moments, scale = FixedPoint(whole)(residuals, np.abs(residuals).max(axis=1).tolist())
        total = [sum(map(abs, map(int, row))) for row in moments]
        assert max(total) < 2**61
        means = moments.sum(axis=1) / whole.total / scale
        expected = (residuals * weights).sum(axis=1) / np.broadcast_to(weights.sum(axis=1), 2)
        np.testing.assert_allclose(means, expected, rtol=1e-10)


def test_one_row():
    X = np.array([[1.0, np.nan]])
    forest, leaves = ExactTrees(Table(X), X, GROWTHS[0]).grow(
        np.array([[3.0]]), np.ones(1), seeds_of(1)
    )
    assert forest.value.tolist() == [[3.0]]
    assert leaves.tolist() == [[0]]


@pytest.mark.parametrize(
    ("weights", "candidates", "message"),
    [
        (np.ones(2), None, r"weights has shape \(2,\); \(3,\) or \(2, 3\) is expected"),
        (np.ones((3, 3)), None, r"weights has shape \(3, 3\)"),
        (np.array([1, 2, -1]), None, "weights lie between -1 and 2; they must be finite and not"),
        (np.array([1.0, np.nan, 1.0]), None, "weights lie between nan and nan"),
        (np.array([1.0, np.inf, 1.0]), None, "weights lie between 1.0 and inf"),
        (np.array([[1.0, 0, 1], [0, 0, 0]]), None, "weights are all 0; at least one"),
        (np.ones(3), [[0, 2]], "candidates lie between 0 and 2; .* from 0 to 1"),
        (np.ones(3), [[-1, 0]], "candidates lie between -1 and 0"),
        (np.ones(3), [[0], [1], [1]], r"candidates has shape \(3, 1\); \(1, n\) or \(2, n\)"),
        (np.ones(3), [[0.0]], "candidates are of type float64; they must be integers"),
        (np.ones(3), np.zeros((2, 0), int), r"candidates has shape \(2, 0\)"),
    ],
)
def test_weights_and_candidates_are_checked(weights, candidates, message):
    X = np.arange(6.0).reshape(3, 2)
    trees = ExactTrees(Table(X), X, GROWTHS[0])
    with pytest.raises(ValueError, match=message):
        trees.grow(np.eye(2, 3), weights, seeds_of(2), candidates)


def test_residuals_are_checked():
    X = np.arange(3.0)[:, None]
    trees = ExactTrees(Table(X), X, GROWTHS[0])
    with pytest.raises(ValueError, match=r"residuals has shape \(1, 2\); \(1, 3\) is expected"):
        trees.grow(np.zeros((1, 2)), np.ones(3), seeds_of(1))
    residuals = np.array([[0.0, np.nan, 1.0]])
    with pytest.raises(ValueError, match="residuals must be finite where the weight is positive"):
        trees.grow(residuals, np.ones(3), seeds_of(1))
    forest, _ = trees.grow(residuals, np.array([1.0, 0.0, 1.0]), seeds_of(1))
    assert forest.n_leaves.tolist() == [2]
