"""What trees over binned features must look like: every node judged as the exact engine's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.oracles import Node
from tests.oracles.growth import Judge, Problem

from orfeon.data.presorted import Table
from orfeon.forest import Forest
from orfeon.growth import Growth, grow_forest
from orfeon.growth.binning import Bins
from orfeon.growth.histogram import HistogramTrees

Floats = npt.NDArray[np.float64]


def seeds_of(n_trees: int, seed: int = 0) -> npt.NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(2**64, size=n_trees, dtype=np.uint64)


@dataclass
class BinnedProblem(Problem):
    """A small regression problem whose trees are grown over bins."""

    max_bins: int = 255

    def grow(self, growth: Growth, n_trees: int = 1, seed: int = 0, **options: Any) -> Forest:
        """Grow trees; every row must be told the leaf that it reaches."""
        trees = HistogramTrees(self.X, self.schema, growth, max_bins=self.max_bins, **options)
        residuals = np.tile(self.y.astype(np.float64), (n_trees, 1))
        forest, leaves = trees.grow(residuals, self.all_weights, seeds_of(n_trees, seed))
        np.testing.assert_array_equal(leaves, forest.apply(np.ascontiguousarray(self.X)).T)
        return forest.validate()

    def grow_exactly(self, growth: Growth, seed: int = 0) -> Forest:
        """The exact engine's tree."""
        return grow_forest(
            Table(self.X, self.schema), self.y, n_classes=0, weights=self.weights,
            seeds=seeds_of(1, seed), growth=growth,
        )  # fmt: skip


def binned(problem: Problem, max_bins: int = 255) -> BinnedProblem:
    """The same problem, to be solved with bins."""
    return BinnedProblem(
        problem.X, problem.n_categories, problem.y, problem.weights, 0, max_bins=max_bins
    )


class BinnedJudge(Judge):
    """Judges by enumeration of all splits, as for the exact engine; leaves have no variance."""

    def check_statistics(self, node: Node) -> None:
        rows = self.rows[node.index]
        assert rows, "an empty node"
        mean, weight = self.samples.mean(rows), self.samples.weight(rows)
        assert node.value[0] == pytest.approx(float(mean), rel=1e-12, abs=1e-12)
        assert self.forest.node_weight is not None
        at = self.base + node.index
        assert self.forest.node_weight[at] == pytest.approx(float(weight), rel=1e-12)


def codes_of(bins: Bins) -> Floats:
    """The bins of all rows as numbers, NaN where missing."""
    columns = [bins.column(j).astype(np.float64) for j in range(len(bins.n_bins))]
    return np.column_stack(
        [
            np.where(column == n, np.nan, column)
            for column, n in zip(columns, bins.n_bins, strict=True)
        ]
    )


def same_leaves(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    """Whether two numberings of leaves part the rows alike."""
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))
