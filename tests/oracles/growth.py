"""What a grown tree must look like: every node judged by enumeration of its splits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.oracles import Node, nested, rows_by_node
from tests.oracles.splits import (
    MISSING,
    Samples,
    Split,
    all_splits,
    categorical_splits,
    categories_of,
    leaves_enough,
    majority,
    prefix_splits,
    sizes_of,
)

from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.forest import Forest
from orfeon.growth import Growth, grow_forest

Floats = npt.NDArray[np.float64]
#: With more than two classes, up to this many categories all subsets must be searched.
SEARCHED_WHOLE = 10


@dataclass
class Problem:
    """A small random table with its targets and weights."""

    X: Floats
    n_categories: list[int]
    y: npt.NDArray[Any]
    weights: Floats | None
    n_classes: int

    @property
    def schema(self) -> Schema:
        return Schema(tuple(tuple(range(n)) if n else None for n in self.n_categories))

    @property
    def is_categorical(self) -> list[bool]:
        return [n > 0 for n in self.n_categories]

    @property
    def present(self) -> list[int]:
        return [int(r) for r in np.flatnonzero(self.all_weights > 0)]

    @property
    def all_weights(self) -> Floats:
        return np.ones(len(self.y)) if self.weights is None else self.weights

    def grow(self, growth: Growth, n_trees: int = 1, seed: int = 0, **options: Any) -> Forest:
        seeds = np.random.default_rng(seed).integers(2**64, size=n_trees, dtype=np.uint64)
        forest = grow_forest(
            Table(self.X, self.schema), self.y, n_classes=self.n_classes, weights=self.weights,
            growth=growth, seeds=seeds, **options,
        )  # fmt: skip
        return forest.validate()

    def rows(self, at: Any) -> Problem:
        weights = None if self.weights is None else self.weights[at]
        return Problem(self.X[at], self.n_categories, self.y[at], weights, self.n_classes)


def random_weights(rng: np.random.Generator, kind: str, n: int) -> Floats | None:
    if kind == "none":
        return None
    weights: Floats
    if kind == "zero":
        weights = rng.integers(0, 2, n).astype(np.float64)
    elif kind == "integer":
        weights = rng.integers(0, 5, n).astype(np.float64)
    elif kind == "heavy":
        weights = rng.integers(0, 5, n).astype(np.float64) * 30_011.0
    else:
        weights = rng.exponential(size=n) * (rng.random(n) < 0.85)
    weights[rng.integers(n)] = 1.0
    return weights


def random_problem(
    rng: np.random.Generator, features: str, weights: str, n_classes: int, n_rows: int = 14
) -> Problem:
    """A table of ordered, categorical or mixed features, perhaps with missing values."""
    n = int(rng.integers(1, n_rows + 1))
    d = int(rng.integers(1, 5))
    X = np.empty((n, d))
    n_categories = []
    for j in range(d):
        categorical = features.startswith("categorical") or (
            features.startswith("mixed") and rng.random() < 0.5
        )
        count = int(rng.integers(1, 7))
        if categorical:
            X[:, j] = rng.integers(0, count, n)
        elif "duplicates" in features:
            X[:, j] = rng.integers(-2, 3, n) / 4
        else:
            X[:, j] = rng.normal(size=n)
        n_categories.append(count if categorical else 0)
        if "missing" in features:
            X[rng.random(n) < rng.choice([0.0, 0.2, 0.6]), j] = np.nan
    if n_classes:
        y: npt.NDArray[Any] = rng.integers(0, n_classes, n)
    else:
        y = rng.integers(-3, 4, n).astype(np.float64) if rng.random() < 0.5 else rng.normal(size=n)
    return Problem(X, n_categories, y, random_weights(rng, weights, n), n_classes)


class Judge:
    """What the engine's tree of a problem must look like."""

    def __init__(self, problem: Problem, growth: Growth, forest: Forest, tree: int = 0) -> None:
        self.problem, self.growth, self.forest = problem, growth, forest
        self.base = int(forest.tree_start[tree])
        self.root = nested(forest, tree)
        self.samples = Samples(problem.y.astype(np.float64), problem.all_weights, growth.criterion)
        self.sizes = sizes_of(problem.all_weights)
        present = problem.present
        self.whole = self.samples.weight(present)
        reached = rows_by_node(self.root, problem.X[present])
        self.rows = {index: [present[r] for r in rows] for index, rows in reached.items()}
        applied = forest.apply(np.ascontiguousarray(problem.X))[:, tree]
        for leaf in self.root.leaves():
            assert all(applied[r] == leaf.index for r in self.rows[leaf.index])

    def valid_splits(self, rows: list[int]) -> list[Split]:
        """Candidates that leave enough in both children and gain enough."""
        splits = all_splits(self.problem.X, self.problem.is_categorical, rows, self.samples)
        share = self.samples.weight(rows) / self.whole
        return [
            s
            for s in splits
            if self.leaves_enough(s, rows)
            and float(share) * float(s.gain) >= self.growth.min_impurity_decrease
        ]

    def surely_tried(self, rows: list[int], splits: list[Split]) -> list[Split]:
        """Without the subsets that an ordering of the categories may pass over.

        For two classes and for regression the best subset is always tried. When it would leave too
        little in a child, the best of the others need not be.
        """
        tried = [s for s in splits if not self.problem.is_categorical[s.feature]]
        for j in np.flatnonzero(self.problem.is_categorical):
            column = self.problem.X[:, j]
            present = categories_of(column, rows)
            few = len(present) <= SEARCHED_WHOLE
            every = categorical_splits(column, rows, int(j), self.samples)
            free = all(self.leaves_enough(s, rows) for s in every)
            if few if self.problem.n_classes > 2 else free:
                tried += [s for s in splits if s.feature == j]
                continue
            for key in self.category_keys(rows, int(j), present):
                tried += prefix_splits(self.problem.X, rows, int(j), key, splits)
        return tried

    def leaves_enough(self, split: Split, rows: list[int]) -> bool:
        """Whether both children of a split would be heavy enough."""
        least = self.growth.min_samples_leaf
        # Up to the default the limits ask for nothing: a light sample may be set apart.
        return leaves_enough(split, rows, self.sizes, 0 if least <= 1 else least)

    def category_keys(self, rows: list[int], j: int, present: list[int]) -> list[dict[int, Any]]:
        column = self.problem.X[:, j]
        members = {
            c: [r for r in rows if (MISSING if math.isnan(column[r]) else int(column[r])) == c]
            for c in present
        }
        if not self.problem.n_classes:
            return [{c: self.samples.mean(members[c]) for c in present}]
        return [
            {
                c: self.samples.weight([r for r in members[c] if self.problem.y[r] == k])
                / self.samples.weight(members[c])
                for c in present
            }
            for k in range(self.problem.n_classes)
        ]

    def is_open(self, node: Node) -> bool:
        """Whether the limits on the node itself, and its impurity, let it be split."""
        rows = self.rows[node.index]
        deep = self.growth.max_depth is not None and node.depth >= self.growth.max_depth
        least = self.growth.min_samples_split
        small = least > 2 and sum(self.sizes[r] for r in rows) < least
        return not (deep or small or self.samples.is_pure(rows))

    def check_statistics(self, node: Node) -> None:
        """Value and label of a node, and its weight and variance in regression."""
        rows = self.rows[node.index]
        assert rows, "an empty node"
        if self.problem.n_classes == 0:
            mean, weight = self.samples.mean(rows), self.samples.weight(rows)
            assert node.value[0] == pytest.approx(float(mean), rel=1e-12, abs=1e-12)
            assert self.forest.node_weight is not None
            assert self.forest.impurity is not None
            at = self.base + node.index
            assert self.forest.node_weight[at] == pytest.approx(float(weight), rel=1e-12)
            variance = float(self.samples.impurity(rows))
            assert self.forest.impurity[at] == pytest.approx(variance, rel=1e-12, abs=1e-12)
            return
        expected = [
            float(self.samples.weight([r for r in rows if self.problem.y[r] == k]))
            for k in range(self.problem.n_classes)
        ]
        if (self.problem.all_weights == np.round(self.problem.all_weights)).all():
            assert node.value.tolist() == expected
        else:
            assert node.value == pytest.approx(expected, rel=1e-12, abs=1e-12)
        parent = None if node.parent is None else node.parent.label
        assert node.label == majority(self.samples, rows, parent)

    def matching(self, node: Node, splits: list[Split]) -> Split:
        """The candidate that the engine's node makes."""
        rows = frozenset(self.rows[node.index])
        left = frozenset(self.rows[node.children[0].index])
        for s in splits:
            if s.feature != node.feature:
                continue
            if node.branches is not None:
                if s.left in (left, rows - left):
                    return s
            elif s.left == left and s.threshold == node.threshold:
                return s
        raise AssertionError(f"node {node.index} splits {sorted(left)}: no valid candidate does.")

    def check_unseen(self, node: Node) -> None:
        """Missing values and categories that the node has not seen go to its heavier child."""
        weights = [self.samples.weight(self.rows[c.index]) for c in node.children]
        heavier = 0 if weights[0] >= weights[1] else 1
        column = self.problem.X[:, node.feature]
        seen = categories_of(column, self.rows[node.index]) if node.branches is not None else []
        if not any(math.isnan(column[r]) for r in self.rows[node.index]):
            assert node.missing == heavier
        for category, side in enumerate(node.branches or ()):
            assert category in seen or side == heavier

    def check_split(self, node: Node) -> None:
        """An inner node makes the best of the valid splits."""
        rows = self.rows[node.index]
        assert self.is_open(node)
        splits = self.valid_splits(rows)
        made = self.matching(node, splits)
        for other in self.surely_tried(rows, splits):
            assert float(made.gain) >= float(other.gain) - 1e-9
        self.check_unseen(node)

    def check(self) -> None:
        """The whole tree, when nothing limits the number of leaves."""
        for node in self.root.walk():
            self.check_statistics(node)
            if not node.is_leaf:
                self.check_split(node)
            elif self.is_open(node):
                rows = self.rows[node.index]
                assert not self.surely_tried(rows, self.valid_splits(rows)), "a leaf has a split"

    def weighted_gain(self, node: Node) -> float:
        """Weight times gain of the best split of a node; below zero when it has none."""
        rows = self.rows[node.index]
        splits = self.valid_splits(rows) if self.is_open(node) else []
        return float(self.samples.weight(rows)) * max((float(s.gain) for s in splits), default=-1)

    def check_best_first(self) -> None:
        """With few leaves allowed, the nodes split are those of greatest weighted gain."""
        frontier, n_leaves = [self.root], 1
        while any(not node.is_leaf for node in frontier):
            best = max(self.weighted_gain(node) for node in frontier)
            node = max((f for f in frontier if not f.is_leaf), key=self.weighted_gain)
            assert self.weighted_gain(node) >= best - 1e-9
            self.check_statistics(node)
            self.check_split(node)
            frontier.remove(node)
            frontier += node.children
            n_leaves += 1
        assert self.growth.max_leaf_nodes is not None
        assert n_leaves <= self.growth.max_leaf_nodes
        if n_leaves < self.growth.max_leaf_nodes:
            assert all(self.weighted_gain(node) < 0 for node in frontier)
