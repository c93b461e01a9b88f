"""Newton trees against brute force: gains, values, limits and constraints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.oracles.newton import Oracle, Rules, SymmetricOracle

from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.growth import Growth
from orfeon.growth.histogram_newton import HistogramNewtonTrees
from orfeon.growth.newton import ExactNewtonTrees, Interactions, Newton


def problem(seed, n_rows=60):
    """Rows with few values, categories and missing values, and their derivatives."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    X[:, 1] = rng.integers(0, 7, n_rows)
    X[:, 2] = rng.integers(0, 6, n_rows)
    X[:, 3] = np.round(rng.normal(size=n_rows), 1)
    X[rng.random(X.shape) < 0.08] = np.nan
    g = rng.normal(size=n_rows) + np.nan_to_num(X[:, 0]) + (X[:, 2] == 3)
    return X, g, rng.uniform(0.01, 0.25, n_rows), rng


def exact(X, schema, growth, newton, n_jobs=1):
    return ExactNewtonTrees(Table(X, schema), X, growth, newton, n_jobs=n_jobs)


def histogram(X, schema, growth, newton, n_jobs=1):
    return HistogramNewtonTrees(X, schema, growth, newton, n_jobs=n_jobs)


def symmetric(X, schema, growth, newton, n_jobs=1):
    return exact(X, schema, growth, replace(newton, is_symmetric=True), n_jobs)


ENGINES = {"exact": exact, "histogram": histogram}
each_engine = pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES.keys())

SEED = np.zeros(1, np.uint64)
CASES = {
    "plain": {},
    "l2": {"l2": 1.0},
    "l1": {"l1": 2.0, "l2": 0.3},
    "hessian": {"min_hessian": 0.9},
    "leaf": {"min_leaf": 9, "l2": 0.5},
    "gain": {"min_gain": 4.0},
    "categories": {"cat_smooth": 2.0, "l2": 0.1},
    "one against others": {"max_onehot": 7},
    "monotone": {"signs": {0: 1, 3: -1, 1: 1}, "l2": 0.2},
    "all": {
        "l1": 0.5, "l2": 0.2, "min_leaf": 3, "min_hessian": 0.4, "signs": {0: -1}, "cat_smooth": 1.0
    },
    "groups": {"groups": [{0, 1}, {1, 2}, {3, 4}]},
}  # fmt: skip


def settings_of(rules, w, n_features=5):
    growth = Growth(
        criterion="variance", max_depth=rules.max_depth, min_samples_leaf=max(rules.min_leaf, 1),
        min_impurity_decrease=rules.min_gain / w.sum(),
    )  # fmt: skip
    signs = np.array([rules.signs.get(f, 0) for f in range(n_features)])
    interactions = None
    if rules.groups is not None:
        words = [[sum(1 << f for f in group)] for group in rules.groups]
        interactions = Interactions(3, np.array(words, dtype=np.uint64))
    newton = Newton(
        rules.l2, rules.l1, rules.min_hessian, rules.cat_smooth, rules.max_onehot,
        signs if signs.any() else None, interactions,
    )  # fmt: skip
    return growth, newton


@each_engine
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("kind", ["ones", "counts", "squared error"])
def test_gains_and_values_are_those_of_brute_force(engine, case, kind):
    for seed in range(4):
        X, g, h, rng = problem(seed)
        w = np.ones(60) if kind == "ones" else rng.integers(0, 4, 60).astype(float)
        h = np.ones(60) if kind == "squared error" else h
        rules = Rules(**CASES[case], categorical=(2,))
        schema, encoded = Schema.learn_and_encode(X, [2])
        growth, newton = settings_of(rules, w)
        oracle = Oracle(encoded, g, h, w, rules)
        grown = engine(encoded, schema, growth, newton).grow_newton(g[None], h[None], w, SEED)
        grown.forest.validate()
        inner = grown.forest.n_children > 0
        assert inner.sum() >= 1
        np.testing.assert_allclose(np.sort(grown.gains[inner]), oracle.gains, rtol=1e-5)
        values = grown.forest.value[grown.leaves[0], 0]
        expected = oracle.values()
        known = ~np.isnan(expected)
        np.testing.assert_allclose(values[known], expected[known], rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(grown.leaves[0], grown.forest.apply(encoded)[:, 0])


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("kind", ["ones", "counts", "squared error"])
def test_symmetric_trees_are_those_of_brute_force(case, kind):
    for seed in range(3):
        X, g, h, rng = problem(seed)
        w = np.ones(60) if kind == "ones" else rng.integers(0, 4, 60).astype(float)
        h = np.ones(60) if kind == "squared error" else h
        rules = Rules(**CASES[case], categorical=(2,))
        schema, encoded = Schema.learn_and_encode(X, [2])
        growth, newton = settings_of(rules, w)
        newton = replace(newton, is_symmetric=True)
        oracle = SymmetricOracle(encoded, g, h, w, rules)
        grown = exact(encoded, schema, growth, newton).grow_newton(g[None], h[None], w, SEED)
        grown.forest.validate()
        inner = grown.forest.n_children > 0
        assert inner.sum() >= 1
        np.testing.assert_allclose(np.sort(grown.gains[inner]), oracle.gains, rtol=1e-5, atol=1e-8)
        values, expected = grown.forest.value[grown.leaves[0], 0], oracle.values()
        known = ~np.isnan(expected)
        np.testing.assert_allclose(values[known], expected[known], rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(grown.leaves[0], grown.forest.apply(encoded)[:, 0])


def test_nodes_of_a_level_share_their_test():
    X, g, h, _ = problem(0, 300)
    schema, encoded = Schema.learn_and_encode(X, [])
    growth = Growth(criterion="variance", max_depth=4)
    newton = Newton(l2=1.0, is_symmetric=True)
    forest = exact(encoded, schema, growth, newton).grow_newton(
        g[None], h[None], np.ones(300), SEED
    ).forest  # fmt: skip
    inner = forest.n_children > 0
    tests = set(forest.nodes[["feature", "threshold"]][inner].tolist())
    assert inner.sum() > 6
    assert 2 <= len(tests) <= 4  # one for each level
    free = exact(encoded, schema, growth, Newton(l2=1.0))
    forest = free.grow_newton(g[None], h[None], np.ones(300), SEED).forest
    assert len(set(forest.nodes["threshold"][forest.n_children > 0])) > 4


@pytest.mark.parametrize(
    ("l1", "low", "high"), [(0.0, -9e9, 9e9), (0.7, -9e9, 9e9), (0.4, -0.5, 0.2)]
)
def test_the_score_in_a_box_of_sums_is_at_most_that_of_a_corner(l1, low, high):
    # What docs/bounds.md says of Newton trees.
    def side(moment, hessian, l2):
        soft = np.sign(moment) * np.maximum(np.abs(moment) - l1, 0.0)
        value = np.clip(soft / (hessian + l2), low, high)
        return 2 * (moment * value - l1 * np.abs(value)) - (hessian + l2) * value**2

    rng = np.random.default_rng(0)
    for _ in range(300):
        l2, total = rng.choice([0.0, 0.5, 3.0]), rng.uniform(2.0, 3.0)
        moment = rng.normal()
        hessians = np.sort(rng.uniform(0.01, total - 0.01, 2))
        moments = np.sort(rng.normal(size=2))
        h, m = np.meshgrid(np.linspace(*hessians, 15), np.linspace(*moments, 15))
        scores = side(m, h, l2) + side(moment - m, total - h, l2)
        corners = scores[[0, 0, -1, -1], [0, -1, 0, -1]]
        assert scores.max() <= corners.max() * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("engine", [*ENGINES.values(), symmetric])
def test_rows_of_weight_zero_are_routed_and_change_nothing(engine):
    X, g, h, rng = problem(0)
    schema, encoded = Schema.learn_and_encode(X, [2])
    growth, newton = Growth(criterion="variance", max_depth=4), Newton(l2=1.0)
    inside = rng.random(60) < 0.6
    w = inside.astype(float)
    whole = engine(encoded, schema, growth, newton).grow_newton(g[None], h[None], w, SEED)
    some = np.ascontiguousarray(encoded[inside])
    alone = engine(some, schema, growth, newton).grow_newton(
        g[None, inside], h[None, inside], np.ones(inside.sum()), SEED
    )
    assert whole.forest.leaf_weight.sum() == inside.sum()
    np.testing.assert_array_equal(whole.leaves[:, inside], alone.leaves)
    np.testing.assert_array_equal(whole.leaves[0], whole.forest.apply(encoded)[:, 0])
    np.testing.assert_array_equal(whole.gains, alone.gains)


@each_engine
@pytest.mark.parametrize("weights", ["ones", "counts", "fractions"])
def test_leaves_are_limited_to_the_nodes_of_greatest_gain(engine, weights):
    X, g, h, rng = problem(3, 120)
    w = {
        "ones": np.ones(120), "counts": rng.integers(1, 4, 120) * 1.0,
        "fractions": rng.uniform(0.2, 2.0, 120),
    }[weights]  # fmt: skip
    schema, encoded = Schema.learn_and_encode(X, [2])
    growth = Growth(criterion="variance", max_leaf_nodes=7)
    grown = engine(encoded, schema, growth, Newton(l2=0.5)).grow_newton(g[None], h[None], w, SEED)
    forest = grown.forest
    assert forest.n_leaves[0] == 7
    assert forest.leaf_weight.sum() == pytest.approx(w.sum())
    # Each child's gain was known when its parent was split: no waiting gain is above one taken
    # later, so sorting the taken ones by their turn gives the greatest that were open.
    turn = np.argsort(forest.first_child[forest.n_children > 0])
    gains = grown.gains[forest.n_children > 0][turn]
    nodes = np.flatnonzero(forest.n_children > 0)[turn]
    opened = {0: -1}
    for t, node in enumerate(nodes):
        opened[int(forest.first_child[node])] = opened[int(forest.first_child[node]) + 1] = t
    for t, node in enumerate(nodes):
        waiting = [u for u in range(t, len(nodes)) if opened[int(nodes[u])] < t]
        assert gains[t] >= max(gains[u] for u in waiting) * (1 - 1e-9)
        assert opened[int(node)] < t


@each_engine
def test_bad_derivatives_get_one_sentence(engine):
    X, g, h, _ = problem(0)
    trees = engine(X, Schema.ordered(5), Growth(criterion="variance"), Newton())
    for bad_g, bad_h, message in (
        (np.full(60, np.nan), h, "gradients must be finite"),
        (g, -h, "hessians must be finite and not negative"),
        (g[:9], h, r"shape \(1, 9\)"),
    ):
        with pytest.raises(ValueError, match=message):
            trees.grow_newton(bad_g[None], bad_h[None], np.ones(60), SEED)


def test_the_same_trees_with_and_without_presorted_records():
    X, g, h, _ = problem(1, 150)
    few = Growth(criterion="variance", max_depth=4, max_features=1)  # sorts the nodes it searches
    grown = exact(X, Schema.ordered(5), few, Newton(l2=1.0)).grow_newton(
        g[None], h[None], np.ones(150), SEED, np.array([[3]])
    )
    alone = exact(X[:, [3]].copy(), Schema.ordered(1), few, Newton(l2=1.0)).grow_newton(
        g[None], h[None], np.ones(150), SEED
    )
    np.testing.assert_array_equal(grown.forest.threshold, alone.forest.threshold)
    np.testing.assert_array_equal(grown.leaves, alone.leaves)
    lazy = Growth(criterion="variance", max_depth=4, max_features=2)
    drawn = exact(X, Schema.ordered(5), lazy, Newton(l2=1.0)).grow_newton(
        g[None], h[None], np.ones(150), SEED
    )
    np.testing.assert_array_equal(drawn.leaves[0], drawn.forest.validate().apply(X)[:, 0])
