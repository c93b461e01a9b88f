"""Newton trees against brute force: gains, values, limits and constraints."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles.newton import Oracle, Rules

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
@pytest.mark.parametrize("kind", ["ones", "counts"])
def test_gains_and_values_are_those_of_brute_force(engine, case, kind):
    for seed in range(6):
        X, g, h, rng = problem(seed)
        w = np.ones(60) if kind == "ones" else rng.integers(0, 4, 60).astype(float)
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
