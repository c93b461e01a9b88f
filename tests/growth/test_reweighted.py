"""Trees grown one after the other from one table are those that the engine grows, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.shared import assert_same_forest, cases, differences

from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.growth import Growth, grow_forest
from orfeon.growth.reweighted import ReweightedTrees
from orfeon.utils.jit import kernel_view

LIMITS: dict[str, dict[str, Any]] = {
    "none": {},
    "stump": {"max_depth": 1},
    "depth": {"max_depth": 3},
    "leaves": {"max_leaf_nodes": 5},
    "split": {"min_samples_split": 9},
    "leaf": {"min_samples_leaf": 3},
    "share": {"min_weight_fraction_leaf": 0.1},
    "decrease": {"min_impurity_decrease": 0.02},
    "features": {"max_features": 2},
    "all": {
        "max_depth": 4, "max_leaf_nodes": 7, "min_samples_split": 5, "min_samples_leaf": 2,
        "min_weight_fraction_leaf": 0.02, "min_impurity_decrease": 0.001, "max_features": 3,
    },
    "among the best": {"n_best": 3},
    "random cuts": {"splitter": "random", "max_features": 2},
    "oblique": {"splitter": "oblique", "max_features": 3, "n_combined": 2},
}  # fmt: skip
CATEGORIES = (None, None, None, tuple("abcd"), tuple("abcdefghijk"))


def random_table(rng: np.random.Generator, kind: str, n_rows: int) -> tuple[Any, Table]:
    """Continuous and few-valued features, one constant; with categories, or missing values."""
    X = np.column_stack(
        [
            rng.normal(size=n_rows),
            rng.integers(0, 3, n_rows),
            np.full(n_rows, 2.5) if rng.random() < 0.3 else rng.normal(size=n_rows).round(1),
            rng.integers(0, 4, n_rows),
            rng.integers(0, 11, n_rows),
        ]
    ).astype(float)
    if "missing" in kind:
        X[rng.random(X.shape) < 0.12] = np.nan
    schema = Schema(CATEGORIES) if "categories" in kind else Schema((None,) * 5)
    return X, Table(X, schema)


def many_weights(rng: np.random.Generator, n_rows: int) -> list[Any]:
    """Ones, counts, shares on several scales, with and without zeros, in turn."""
    shares = rng.exponential(size=(4, n_rows))
    shares[1, rng.random(n_rows) < 0.3] = 0.0
    shares[1, 0] = 1.0
    counts = rng.poisson(1, (2, n_rows))
    counts[:, 0] += 1
    spread = np.exp(rng.uniform(-60, 0, n_rows))  # as after many rounds of boosting
    return [
        np.ones(n_rows, np.int64), shares[0] * (n_rows / shares[0].sum()), counts[0],
        shares[1] * (n_rows / shares[1].sum()), shares[2] / shares[2].sum(), counts[1],
        spread * (n_rows / spread.sum()), 1e9 * shares[3], 7 * counts[0], shares[0],
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["plain", "missing", "categories", "categories and missing"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("limits", LIMITS)
def test_each_tree_is_that_of_the_engine(limits, n_classes, criterion, kind):
    """The same object grows with ones, counts and shares in turn; labels change in between."""
    growth = Growth(criterion=criterion, **LIMITS[limits])
    if growth.splitter == "oblique" and kind != "plain":
        kind = "missing"  # linear combinations are of ordered features here
    rng = np.random.default_rng([len(limits), n_classes, len(criterion), len(kind)])
    splits = 0
    n_tables = cases(4)
    for _ in range(n_tables):
        n_rows = int(rng.integers(12, 70))
        X, table = random_table(rng, kind, n_rows)
        labels = [rng.integers(0, n_classes, n_rows) for _ in range(2)]
        labels[1][X[:, 0] > 0.4] = 0
        trees = ReweightedTrees(table, n_classes, growth)
        for t, weights in enumerate(many_weights(rng, n_rows)):
            y = labels[(t // 3) % 2]
            seed = np.uint64(rng.integers(2**63))
            grown = trees.grow(y, weights, seed).validate()
            alone = grow_forest(
                table, y, n_classes=n_classes, seeds=np.array([seed]), weights=weights[None],
                n_samples=float(n_rows), growth=growth,
            )  # fmt: skip
            assert_same_forest(grown, alone)
            splits += int((grown.n_children > 0).sum())
            if kind == "plain" and growth.splitter != "oblique":
                answers = trees.votes(grown, kernel_view(X))
                np.testing.assert_array_equal(answers, grown.predict(X))
    assert splits >= 7 * n_tables  # there was something to compare


@pytest.mark.parametrize("n_classes", [2, 3])
def test_votes_of_other_rows_are_predictions(n_classes):
    """The buffer is kept from call to call, and rows may be more or fewer than before."""
    rng = np.random.default_rng(3)
    _, table = random_table(rng, "plain", 60)
    y = rng.integers(0, n_classes, 60)
    trees = ReweightedTrees(table, n_classes, Growth(max_depth=4))
    tree = trees.grow(y, rng.exponential(size=60), np.uint64(1))
    for n_rows in (60, 5, 200, 1, 200):
        rows = np.ascontiguousarray(random_table(rng, "plain", n_rows)[0])
        answers = trees.votes(tree, rows)
        np.testing.assert_array_equal(answers, tree.predict(rows))
        again = trees.grow(y, rng.exponential(size=60), np.uint64(2))
        kept = answers.copy()
        trees.votes(again, rows)
        np.testing.assert_array_equal(answers, kept)  # earlier votes are not overwritten


def test_trees_do_not_share_what_they_are_made_of():
    """Growing the next tree leaves the last one as it was."""
    rng = np.random.default_rng(4)
    _, table = random_table(rng, "categories and missing", 50)
    y = rng.integers(0, 3, 50)
    trees = ReweightedTrees(table, 3, Growth())
    first = trees.grow(y, rng.exponential(size=50), np.uint64(1))
    before = [np.copy(part) for part in (first.nodes, first.value, first.label, first.branches)]
    second = trees.grow(y, rng.exponential(size=50), np.uint64(2))
    assert differences(first, second) != []
    for part, was in zip(
        (first.nodes, first.value, first.label, first.branches), before, strict=True
    ):
        np.testing.assert_array_equal(part, was)


def test_labels_are_distinguished_though_they_are_equal_in_part():
    """The split follows the labels that are given, not those of the tree before."""
    X = np.arange(6.0)[:, None]
    trees = ReweightedTrees(Table(X), 2, Growth(max_depth=1))
    weights = np.array([1.5, 1.0, 0.5, 1.0, 1.5, 0.5])
    one, other = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 0, 1, 1])
    found = [trees.grow(y, weights, np.uint64(0)).threshold[0] for y in (one, other, one, other)]
    assert found == [1.5, 3.5, 1.5, 3.5]


def test_the_scale_of_shares_does_not_matter():
    rng = np.random.default_rng(5)
    _, table = random_table(rng, "missing", 40)
    y, shares = rng.integers(0, 2, 40), rng.exponential(size=40)
    trees = ReweightedTrees(table, 2, Growth(max_depth=3))
    first = trees.grow(y, shares, np.uint64(0))
    for power in (-300, -60, -1, 1, 60, 300):
        other = trees.grow(y, np.ldexp(shares, power), np.uint64(0))
        np.testing.assert_array_equal(other.nodes, first.nodes)
        np.testing.assert_array_equal(other.value, np.ldexp(first.value, power))


def impurity(criterion: str, classes: Any, weights: Any) -> float:
    """Weight times impurity of some samples."""
    shares = np.bincount(classes, weights=weights) / weights.sum()
    shares = shares[shares > 0]
    if criterion == "gini":
        return float(weights.sum() * (1 - (shares**2).sum()))
    return float(-weights.sum() * (shares * np.log(shares)).sum())


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("tiny", [1e-300, 1e-15, 1e-14, 1e-9])
def test_the_best_split_is_found_among_weights_of_any_size(n_classes, criterion, tiny):
    """Long runs of boosting leave samples with next to no weight: they must not decide."""
    for seed in range(cases(30)):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 3)), rng.integers(0, n_classes, 40)
        y[X[:, 0] > 0.3] = 0
        weights = rng.exponential(size=40)
        weights[rng.random(40) < 0.3] = tiny
        trees = ReweightedTrees(Table(X), n_classes, Growth(criterion, max_depth=1))
        stump = trees.grow(y, weights, np.uint64(0))

        def cost(feature: int, threshold: float, X=X, y=y, weights=weights) -> float:
            left = X[:, feature] <= threshold
            sides = (left, ~left)
            return sum(impurity(criterion, y[side], weights[side]) for side in sides)

        cuts = [(j, c) for j in range(3) for c in np.convolve(np.sort(X[:, j]), [0.5, 0.5])[1:-1]]
        least = min(cost(j, c) for j, c in cuts)
        assert cost(int(stump.feature[0]), float(stump.threshold[0])) <= least + 1e-9
