"""New samples made of training values: any row may supply the value of any feature.

So categories, missing values and whole numbers keep their form. For each new sample and feature,
the training sample that supplies the value is drawn.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.forest import Forest
from orfeon.utils.types import Floats, Integers

# -- tables ----------------------------------------------------------------------------------------


def _is_polars(X: Any) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, polars.DataFrame)


def can_be_mixed(X: Any) -> bool:
    """Whether :func:`mix_rows` takes a table as it is; others are read and decoded first."""
    return type(X) is np.ndarray or hasattr(X, "iloc") or _is_polars(X)


def mix_rows(X: Any, rows: Integers) -> Any:
    """A table whose cells come from the same columns of any rows of another."""
    if hasattr(X, "iloc"):
        columns = {name: X.iloc[:, j].array.take(rows[:, j]) for j, name in enumerate(X.columns)}
        return sys.modules["pandas"].DataFrame(columns)
    if _is_polars(X):
        return type(X)([X.to_series(j)[rows[:, j]] for j in range(X.shape[1])])
    return X[rows, np.arange(X.shape[1])]


# -- drawing ---------------------------------------------------------------------------------------


def _pick(cumulative: Floats, uniform: Floats) -> Integers:
    """Positions drawn in proportion to weights, given as running sums."""
    place = np.searchsorted(cumulative, uniform * cumulative[-1], side="right")
    return np.asarray(np.minimum(place, len(cumulative) - 1), dtype=np.int64)


def draw_marginals(weights: Floats, n_features: int, n: int, rng: np.random.Generator) -> Integers:
    """Draw every feature from its own training sample."""
    return _pick(np.cumsum(weights), rng.random((n, n_features)))


def draw_pairs(weights: Floats, n_features: int, n: int, rng: np.random.Generator) -> Integers:
    """Draw two training samples and every feature from either of them."""
    one, other = _pick(np.cumsum(weights), rng.random((2, n, 1)))
    return np.asarray(np.where(rng.random((n, n_features)) < 0.5, one, other))


@dataclass(frozen=True)
class _Values:
    """The training values of a feature, sorted, with the running sums of their weights."""

    values: Floats
    rows: Integers
    before: Floats

    @classmethod
    def of(cls, column: Floats, weights: Floats) -> _Values:
        rows = np.argsort(column, kind="stable")
        rows = rows[: len(rows) - int(np.isnan(column).sum())]  # missing values come last
        return cls(column[rows], rows, np.concatenate([[0.0], np.cumsum(weights[rows])]))

    def between(self, starts: Integers, stops: Integers, uniform: Floats) -> Integers:
        """A row from each of some ranges of the sorted values, -1 for ranges without weight."""
        if not len(self.rows):
            return np.full(len(uniform), -1)
        first, size = self.before[starts], self.before[stops] - self.before[starts]
        place = np.searchsorted(self.before, first + uniform * size, side="right") - 1
        place = np.clip(place, starts, stops - 1)
        return np.where(size > 0, self.rows[place], -1)

    def among(self, codes: Integers, uniform: Floats) -> Integers:
        """Rows with some of the category codes, -1 if there are none."""
        starts = np.searchsorted(self.values, codes, side="left")
        stops = np.searchsorted(self.values, codes, side="right")
        size = self.before[stops] - self.before[starts]
        if not size.any():
            return np.full(len(uniform), -1)
        # All rows of a category have the same value.
        return np.asarray(self.rows[starts[_pick(np.cumsum(size), uniform)]])


class Regions:
    """The leaves of some trees, and the training values that lead to them."""

    def __init__(self, forest: Forest, X: Floats, weights: Floats) -> None:
        self._forest = forest
        self._missing = np.isnan(X)
        self._weights = weights
        self._columns = [_Values.of(column, weights) for column in X.T]
        self._parents = forest.parents()
        self._leaves = np.flatnonzero(forest.is_leaf)
        size = forest.weights()[self._leaves]
        tree = np.searchsorted(forest.tree_start, self._leaves, side="right") - 1
        self._share = np.cumsum(size / np.bincount(tree, weights=size)[tree])
        self._base = forest.tree_start[tree]

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Draw samples: a leaf for each, then values that lead to it."""
        picked = np.sort(_pick(self._share, rng.random(n)))
        leaves, of = np.unique(picked, return_inverse=True)
        drawn = draw_marginals(self._weights, len(self._columns), n, rng)
        uniform = rng.random(drawn.shape)
        intervals, subsets = self._conditions(leaves)
        for feature, column in enumerate(self._columns):
            passing = np.full(n, -1)
            if feature in intervals:
                ends = np.searchsorted(column.values, intervals[feature], side="right")
                passing = column.between(ends[of, 0], ends[of, 1], uniform[:, feature])
            for leaf, passes in subsets.get(feature, {}).items():
                some = slice(*np.searchsorted(of, [leaf, leaf + 1]))
                passing[some] = column.among(np.flatnonzero(passes), uniform[some, feature])
            # Missing values stay missing: trees route them without a test.
            known = ~self._missing[drawn[:, feature], feature]
            drawn[:, feature] = np.where(known & (passing >= 0), passing, drawn[:, feature])
        return drawn

    def _conditions(
        self, leaves: Integers
    ) -> tuple[dict[int, Floats], dict[int, dict[int, npt.NDArray[np.bool_]]]]:
        """Which values pass the tests above some leaves.

        For ordered features the bounds of each leaf's interval, for categorical ones the
        categories, of those leaves that they are tested above.
        """
        forest = self._forest
        intervals: dict[int, Floats] = {}
        subsets: dict[int, dict[int, npt.NDArray[np.bool_]]] = {}
        for k, leaf in enumerate(leaves):
            base, node = self._base[leaf], self._leaves[leaf]
            while (parent := self._parents[node]) >= 0:
                branch = node - base - forest.first_child[parent]
                feature, threshold = int(forest.feature[parent]), forest.threshold[parent]
                n_categories = forest.n_categories[feature]
                if n_categories:
                    table = forest.branches[int(threshold) :][:n_categories]
                    passes = subsets.setdefault(feature, {}).get(k, True)
                    subsets[feature][k] = passes & (table == branch)
                else:
                    if feature not in intervals:
                        intervals[feature] = np.tile([-np.inf, np.inf], (len(leaves), 1))
                    bounds = intervals[feature][k]
                    if branch:
                        bounds[0] = max(bounds[0], threshold)
                    else:
                        bounds[1] = min(bounds[1], threshold)
                node = parent
        return intervals, subsets
