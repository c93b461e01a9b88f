"""Trees over binned features: judged by enumeration, and against the exact engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.oracles import frozen, nested
from tests.oracles.growth import Problem, random_problem, random_weights
from tests.oracles.histogram import (
    BinnedJudge,
    BinnedProblem,
    binned,
    codes_of,
    same_leaves,
    seeds_of,
)

from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.growth import Growth, grow_forest
from orfeon.growth.binning import bin_table
from orfeon.growth.histogram import HistogramTrees, _fix

FEATURES = (
    "ordered", "ordered duplicates", "ordered missing", "ordered duplicates missing",
    "categorical", "categorical missing", "mixed duplicates missing",
)  # fmt: skip
WEIGHTS = ("none", "zero", "integer", "heavy", "float")
FREE = {"min_samples_leaf": 0, "min_samples_split": 0}


def problems(*key: Any, n: int, **options: Any) -> Any:
    """Random regression problems that depend on the key only."""
    rng = np.random.default_rng([sum(map(ord, str(k))) for k in key])
    for _ in range(n):
        yield binned(random_problem(rng, n_classes=0, **options)), rng


def variance(**limits: Any) -> Growth:
    return Growth(criterion="variance", **limits)


def larger_problem(seed: int, weights: str, n: int = 250) -> BinnedProblem:
    """Ordered and categorical features with repeated and missing values; no tied targets."""
    rng = np.random.default_rng([seed, sum(map(ord, weights))])
    X = np.column_stack(
        [
            np.round(rng.normal(size=(n, 6)), 1), rng.normal(size=n), rng.integers(0, 9, n),
            rng.integers(0, 2, (n, 2)), rng.integers(0, 30, n),
        ]
    )  # fmt: skip
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1] + X[:, 6]) + (X[:, 7] % 3 == 1) + rng.normal(size=n)
    kinds = [0] * 7 + [9, 0, 0, 30]
    return binned(Problem(X, kinds, y, random_weights(rng, weights, n), 0))


def assert_same_forest(one: Any, other: Any) -> None:
    """Same tests in the same nodes, same weights; branch tables may be elsewhere."""
    assert len(one) == len(other)
    for t in range(len(one)):
        assert frozen(nested(one, t)) == frozen(nested(other, t))
    np.testing.assert_array_equal(one.first_child, other.first_child)
    np.testing.assert_array_equal(one.leaf_weight, other.leaf_weight)


# -- the best split of every node ------------------------------------------------------------------


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_every_split_is_the_best_one(features, weights):
    growth = variance(**FREE)
    drawn = problems(features, weights, n=8, features=features, weights=weights)
    for seed, (problem, _) in enumerate(drawn):
        BinnedJudge(problem, growth, problem.grow(growth, seed=seed)).check()


@pytest.mark.parametrize("weights", WEIGHTS)
def test_limits_are_kept_and_nothing_else_stops_growth(weights):
    drawn = problems("limits", weights, n=25, features="mixed duplicates missing", weights=weights)
    for problem, rng in drawn:
        growth = variance(
            max_depth=rng.choice([None, 0, 1, 2, 3]),
            min_samples_split=float(rng.integers(2, 7)),
            min_samples_leaf=float(rng.integers(1, 4)),
        )
        BinnedJudge(problem, growth, problem.grow(growth)).check()


@pytest.mark.parametrize("weights", WEIGHTS)
def test_min_impurity_decrease_weighs_the_decrease_by_the_share_of_the_node(weights):
    drawn = problems("decrease", weights, n=15, features="ordered", weights=weights)
    for problem, rng in drawn:
        growth = variance(min_impurity_decrease=float(rng.uniform(0.01, 0.2)))
        BinnedJudge(problem, growth, problem.grow(growth)).check()


@pytest.mark.parametrize("weights", WEIGHTS)
def test_limited_leaves_go_to_the_nodes_of_greatest_weighted_gain(weights):
    drawn = problems("leaves", weights, n=15, features="mixed missing", weights=weights)
    for problem, rng in drawn:
        growth = variance(max_leaf_nodes=int(rng.integers(1, 7)), **FREE)
        BinnedJudge(problem, growth, problem.grow(growth)).check_best_first()


# -- the exact engine's trees ----------------------------------------------------------------------


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(
    "limits",
    [
        {"max_leaf_nodes": 25}, {"max_leaf_nodes": 12, "min_samples_leaf": 5}, {"max_depth": 4},
        {"max_depth": 4, "max_features": 3, "min_weight_fraction_leaf": 0.02},
    ],
)  # fmt: skip
def test_with_a_bin_for_each_value_the_tree_is_the_exact_one(weights, limits):
    for seed in range(4):
        problem = larger_problem(seed, weights)
        growth = variance(**limits)
        ours, exact = problem.grow(growth, seed=seed), problem.grow_exactly(growth, seed)
        assert exact.n_leaves[0] >= 8
        leaf, weight = ours.apply(problem.X)[:, 0], problem.all_weights
        # Two features may part some rows alike; so it is their leaves that are compared.
        assert same_leaves(leaf[weight > 0], exact.apply(problem.X)[weight > 0, 0])
        assert (ours.feature == exact.feature).mean() > 0.95
        for at in np.flatnonzero(ours.is_leaf):
            mean = np.average(problem.y[leaf == at], weights=weight[leaf == at])
            assert ours.value[at, 0] == pytest.approx(mean, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("weights", ["none", "integer", "float"])
@pytest.mark.parametrize("max_bins", [2, 5, 40])
def test_with_fewer_bins_the_tree_is_the_exact_one_of_the_codes(weights, max_bins):
    for seed in range(3):
        problem = larger_problem(seed, weights)
        problem.X = np.delete(problem.X, [7, 10], axis=1)  # categories have bins of their own
        problem.n_categories = [0] * 9
        problem.max_bins = max_bins
        growth = variance(max_leaf_nodes=20, min_samples_leaf=3)
        bins = bin_table(problem.X, problem.schema, max_bins)
        codes = BinnedProblem(codes_of(bins), [0] * 9, problem.y, problem.weights, 0)
        present = problem.all_weights > 0
        ours = problem.grow(growth, seed=seed).apply(problem.X)[present, 0]
        exact = codes.grow_exactly(growth, seed).apply(codes.X)[present, 0]
        assert len(set(exact.tolist())) > 4
        assert same_leaves(ours, exact)


def test_a_threshold_lies_between_the_values_next_to_the_border():
    x = np.array([0.0, 1.0, 10.0, 11.0, 30.0, 32.0])
    residuals = np.array([[0.0, 0.0, 0.0, 0.0, 1.0, 1.0]])
    trees = HistogramTrees(x[:, None], growth=variance(), max_bins=3)
    forest, _ = trees.grow(residuals, np.ones(6), seeds_of(1))
    assert forest.threshold[0] == 20.5
    # Without the rows in the middle bin, the border is between the two others.
    forest, leaves = trees.grow(residuals, np.array([1.0, 1, 0, 0, 1, 1]), seeds_of(1))
    assert forest.threshold[0] == 15.5
    assert leaves.tolist() == [[1, 1, 1, 1, 2, 2]]


def test_a_row_without_weight_in_a_bin_that_a_threshold_parts_follows_its_value():
    x = np.array([0.0, 0.0, 4.0, 6.0, 10.0, 10.0])
    residuals = np.array([[0.0, 0.0, 9.0, -9.0, 1.0, 1.0]])
    trees = HistogramTrees(x[:, None], growth=variance(), max_bins=3)
    assert trees.bins.column(0).tolist() == [0, 0, 1, 1, 2, 2]
    forest, leaves = trees.grow(residuals, np.array([1.0, 1, 0, 0, 1, 1]), seeds_of(1))
    assert forest.threshold[0] == 5.0
    assert leaves.tolist() == [[1, 1, 1, 2, 2, 2]]


def test_categories_that_share_a_bin_go_together():
    rng = np.random.default_rng(0)
    x = np.repeat(np.arange(8.0), [40, 30, 20, 3, 3, 2, 2, 1])
    y = x % 2 + 0.1 * rng.normal(size=len(x))
    problem = BinnedProblem(x[:, None], [8], y, None, 0, max_bins=4)
    forest = problem.grow(variance(max_leaf_nodes=2))
    side = forest.branches.tolist()
    assert side[1] != side[0] == side[2]
    assert len(set(side[3:])) == 1


def test_ties_between_features_are_broken_at_random():
    x = np.arange(20.0)
    trees = HistogramTrees(np.column_stack([x, -x, x * 2, x**3]), growth=variance(max_depth=1))
    forest, _ = trees.grow(np.tile(x > 9, (200, 1)), np.ones(20), seeds_of(200))
    counts = np.bincount(forest.feature[forest.tree_start[:-1]], minlength=4)
    assert counts.min() > 30  # 50 are expected, give or take 6


# -- rows, weights, threads ------------------------------------------------------------------------


def test_a_weight_of_two_is_a_row_twice_to_the_bit():
    problem = larger_problem(1, "integer")
    growth = variance(max_leaf_nodes=15, min_samples_leaf=4)
    twice = np.repeat(np.arange(len(problem.y)), problem.all_weights.astype(int))
    one, other = (
        problem.grow(growth),
        binned(Problem(problem.X[twice], problem.n_categories, problem.y[twice], None, 0)).grow(
            growth
        ),
    )
    assert_same_forest(one, other)
    np.testing.assert_array_equal(one.value, other.value)


@pytest.mark.parametrize("kind", ["float32", "fortran", "memory-mapped", "integers"])
def test_rows_are_read_from_arrays_of_any_type_and_layout(kind, tmp_path):
    problem = larger_problem(4, "zero")
    X = np.round(np.nan_to_num(problem.X) * 4)
    if kind != "integers":
        X[::7, 0], X[::5, 1] = 0.5, np.nan
    given = X
    if kind == "memory-mapped":
        np.save(tmp_path / "X.npy", X)
        given = np.load(tmp_path / "X.npy", mmap_mode="r")
    elif kind == "fortran":
        given = np.asfortranarray(X)
    else:
        given = X.astype(np.float32 if kind == "float32" else np.int16)
    rows = np.random.default_rng(0).permutation(len(X))[:200]
    growth, weights = variance(max_leaf_nodes=12), problem.all_weights[rows]
    residuals = problem.y[None, rows]
    one, leaves = HistogramTrees(X[rows], growth=growth).grow(residuals, weights, seeds_of(1))
    trees = HistogramTrees(given, growth=growth, rows=rows)
    other, theirs = trees.grow(residuals, weights, seeds_of(1))
    assert_same_forest(one, other)
    np.testing.assert_array_equal(leaves, theirs)
    np.testing.assert_array_equal(leaves, one.apply(X[rows]).T)


def test_among_many_rows_fewer_bits_do_for_a_residual(monkeypatch):
    """A word has room for both up to millions of rows; leaves keep the precision of floats."""
    problem = larger_problem(9, "none", n=3000)
    growth = variance(max_leaf_nodes=20, min_samples_leaf=20)
    whole = problem.grow(growth)
    fixed = _fix(
        problem.y,
        HistogramTrees(problem.X, growth=growth)._weigh(np.full(3000, 1000.0), 1).of_tree(0),
    )
    assert fixed.is_wide
    monkeypatch.setattr("orfeon.growth.histogram._MANY_ROWS", 0)
    problem.weights = np.full(3000, 1000.0)
    fixed = _fix(
        problem.y, HistogramTrees(problem.X, growth=growth)._weigh(problem.weights, 1).of_tree(0)
    )
    assert not fixed.is_wide
    heavy = problem.grow(variance(max_leaf_nodes=20, min_samples_leaf=20_000))
    np.testing.assert_array_equal(heavy.nodes, whole.nodes)
    np.testing.assert_allclose(heavy.value, whole.value, rtol=1e-12, atol=1e-13)


def test_weights_in_halves_are_weights_of_one():
    problem = larger_problem(2, "none")
    growth = variance(max_leaf_nodes=15, min_samples_leaf=4)
    one = problem.grow(growth)
    problem.weights = np.full(len(problem.y), 0.5)
    other = problem.grow(growth)
    np.testing.assert_array_equal(one.nodes, other.nodes)
    np.testing.assert_allclose(one.value, other.value, rtol=1e-13, atol=1e-14)
    assert other.weights()[0] == len(problem.y) / 2


def test_room_is_made_for_the_leaves_that_there_can_be():
    rng = np.random.default_rng(10)
    X, residuals = rng.normal(size=(6000, 2)), rng.normal(size=(1, 6000))
    trees, deep = (HistogramTrees(X, growth=variance(max_depth=depth)) for depth in (3, 99))
    forest, _ = trees.grow(residuals, np.ones(6000), seeds_of(1))
    assert forest.n_leaves.tolist() == [8]
    assert sum(array.nbytes for array in trees._scratch[0].tree) < 17 * 100
    assert deep.grow(residuals, np.ones(6000), seeds_of(1))[0].n_leaves[0] > 1000


def test_each_tree_has_its_residuals_weights_seed_and_candidates():
    problem = larger_problem(5, "none")
    n = len(problem.y)
    rng = np.random.default_rng(6)
    residuals, seeds = rng.normal(size=(3, n)) + problem.y, seeds_of(3)
    weights = rng.integers(0, 3, (3, n)).astype(np.float64)
    weights[2] *= 0.3
    candidates = np.array([[0, 1, 2], [3, 7, 10], [9, 8, 6]])
    growth = variance(max_leaf_nodes=9, max_features=2)
    trees = HistogramTrees(problem.X, problem.schema, growth)
    forest, leaves = trees.grow(residuals, weights, seeds, candidates)
    for t in range(3):
        one = slice(t, t + 1)
        alone, own = trees.grow(residuals[one], weights[t], seeds[one], candidates[one])
        np.testing.assert_array_equal(leaves[t], own[0])
        exact = grow_forest(
            Table(problem.X, problem.schema), residuals[t], n_classes=0, weights=weights[t],
            seeds=seeds[one], candidates=candidates[one], growth=growth,
        )  # fmt: skip
        assert_same_forest(alone, exact)
        inner = alone.n_children > 0
        assert set(alone.feature[inner].tolist()) <= set(candidates[t].tolist())
    np.testing.assert_array_equal(leaves, forest.apply(problem.X).T)


def test_histograms_that_are_not_kept_are_made_again(monkeypatch):
    problem = larger_problem(7, "integer")
    for growth in (variance(), variance(max_leaf_nodes=20)):
        kept = problem.grow(growth)
        monkeypatch.setattr("orfeon.growth.histogram._MOST_KEPT", 0)
        assert_same_forest(problem.grow(growth), kept)
        monkeypatch.undo()


def test_few_bits_for_a_residual_give_it_a_word_of_its_own(monkeypatch):
    problem = larger_problem(8, "integer")
    packed = problem.grow(variance())
    monkeypatch.setattr("orfeon.growth.histogram._FEWEST_BITS", 64)
    wide = problem.grow(variance())
    assert_same_forest(wide, packed)
    np.testing.assert_allclose(wide.value, packed.value, rtol=1e-13, atol=1e-14)


def test_a_table_gives_the_trees_of_its_rows():
    problem = larger_problem(9, "none")
    growth = variance(max_leaf_nodes=9)
    table = HistogramTrees(Table(problem.X, problem.schema), growth=growth)
    np.testing.assert_array_equal(table.X, problem.X)
    forest, _ = table.grow(problem.y[None], np.ones(len(problem.y)), seeds_of(1))
    assert_same_forest(forest, problem.grow(growth))


@pytest.mark.parametrize("size", [1e-280, 1e-200, 1.0, 1e200, 1.5e308])
@pytest.mark.parametrize("weight", [1.0, 0.7])
def test_residuals_of_any_size_are_distinguished(size, weight):
    X = np.arange(6.0)[:, None]
    residuals = size * np.array([[-1.0, -1.0, 0.25, 0.25, 1.0, 1.0]])
    trees = HistogramTrees(X, growth=variance())
    forest, leaves = trees.grow(residuals, np.full(6, weight), seeds_of(1))
    assert forest.n_leaves.tolist() == [3]
    np.testing.assert_allclose(forest.value[leaves[0], 0], residuals[0], rtol=1e-12)


@pytest.mark.parametrize("weight", [1.0, 0.7])
def test_small_residuals_far_from_zero_are_distinguished(weight):
    X = np.arange(4.0)[:, None]
    residuals = 1e9 + np.array([[0.0, 0.0, 1e-6, 2e-6]])
    forest, leaves = HistogramTrees(X, growth=variance()).grow(
        residuals, np.full(4, weight), seeds_of(1)
    )
    assert forest.n_leaves.tolist() == [3]
    np.testing.assert_allclose(forest.value[leaves[0], 0], residuals[0], rtol=1e-15)


def test_nothing_to_split_is_a_leaf():
    for X, y in ((np.zeros((1, 1)), [3.0]), (np.zeros((4, 2)), [1.0, 2.0, 3.0, 6.0])):
        trees = HistogramTrees(X, growth=variance())
        forest, leaves = trees.grow(np.array([y]), np.ones(len(X)), seeds_of(1))
        assert forest.n_nodes.tolist() == [1]
        assert forest.value.tolist() == [[3.0]]
        assert leaves.tolist() == [[0] * len(X)]


def test_an_feature_without_values_is_passed_over():
    X = np.column_stack([np.full(6, np.nan), np.arange(6.0)])
    schema = Schema((None, None))
    forest, _ = HistogramTrees(X, schema, variance()).grow(
        np.arange(6.0)[None], np.ones(6), seeds_of(1)
    )
    assert forest.n_leaves.tolist() == [6]
    assert (forest.feature[forest.n_children > 0] == 1).all()


@pytest.mark.parametrize(
    ("growth", "message"),
    [
        (Growth(), "criterion='gini' is not allowed with histograms: 'variance' is"),
        (variance(splitter="random"), "splitter='random' is not allowed with histograms"),
        (variance(n_best=3), "n_best=3 is not allowed with histograms: 1 is"),
    ],
)
def test_options_of_the_exact_engine_alone_are_rejected(growth, message):
    with pytest.raises(ValueError, match=message):
        HistogramTrees(np.zeros((3, 1)), growth=growth)


def test_residuals_are_checked():
    trees = HistogramTrees(np.arange(3.0)[:, None])
    with pytest.raises(ValueError, match=r"residuals has shape \(1, 2\); \(1, 3\) is expected"):
        trees.grow(np.zeros((1, 2)), np.ones(3), seeds_of(1))
    residuals = np.array([[0.0, np.nan, 1.0]])
    with pytest.raises(ValueError, match="residuals must be finite where the weight is positive"):
        trees.grow(residuals, np.ones(3), seeds_of(1))
    forest, _ = trees.grow(residuals, np.array([1.0, 0.0, 1.0]), seeds_of(1))
    assert forest.n_leaves.tolist() == [2]


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
    trees = HistogramTrees(X)
    with pytest.raises(ValueError, match=message):
        trees.grow(np.eye(2, 3), weights, seeds_of(2), candidates)
