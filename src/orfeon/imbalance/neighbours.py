"""Nearest neighbours within a class.

Ties go to the first row, so that results are the same on every machine. scikit-learn leaves ties
open, so a search continues until every sample as near as the last neighbour has been found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from orfeon.utils.types import Floats, Integers

#: Relative difference up to which distances are equal, so that rounding does not decide.
_ROUNDING = 1e-10
#: Maximum number of array entries held at a time.
_ENTRIES = 4_000_000
#: With more features, k-d trees visit almost everything and brute force is faster.
_FOR_TREES = 15


@dataclass(frozen=True)
class Search:
    """Samples and the search over them; ``slack`` bounds the error of squared distances."""

    X: Any
    points: Any
    finder: Any
    n_neighbors: int
    slack: float | None


def search_among(X: Any, n_neighbors: Any, *, additional: int, n_jobs: int | None) -> Search:
    """Choose the search: a k-d tree, or brute force for many features or sparse samples.

    Brute force uses dot products, which suffer from cancellation, so that distances are computed
    again from differences. Samples are scaled by a power of two, so that squares do not overflow.
    """
    X = X.tocsr() if sparse.issparse(X) else X
    if not isinstance(n_neighbors, Integral):
        wanted = int(n_neighbors.n_neighbors) - additional
        if wanted < 1:
            raise ValueError(
                f"n_neighbors is an estimator of {n_neighbors.n_neighbors} neighbour, which is "
                "the sample itself; give one with at least 2"
            )
        return Search(X, X, n_neighbors, wanted, None)
    X = _scaled(X)
    if not sparse.issparse(X) and X.shape[1] <= _FOR_TREES:
        finder = NearestNeighbors(algorithm="kd_tree", n_jobs=n_jobs)
        return Search(X, X, finder, int(n_neighbors), None)
    finder = NearestNeighbors(algorithm="brute", n_jobs=n_jobs)
    points = X if sparse.issparse(X) else X - X.mean(axis=0)
    squares = points.multiply(points) if sparse.issparse(points) else points**2
    # Rounding errors of two squares and a product, each a sum over the features.
    roundings = 8 * (X.shape[1] + 4) * np.finfo(np.float64).eps
    return Search(X, points, finder, int(n_neighbors), roundings * squares.sum(axis=1).max())


def _scaled(X: Any) -> Any:
    """A copy in double precision, scaled by a power of two to at most 1."""
    X = X.astype(np.float64)
    values = X.data if sparse.issparse(X) else X
    _, exponent = np.frexp(np.abs(values).max(initial=0.0))
    np.ldexp(values, -exponent, out=values)
    return X


class ClassNeighbours:
    """Neighbour search among the samples of one class."""

    def __init__(self, search: Search, rows: Integers) -> None:
        self.search = search
        self.wanted = min(search.n_neighbors, len(rows))
        # More copies than neighbours, plus the sample itself, are never needed.
        is_dense = isinstance(search.X, np.ndarray)
        self.rows = few_copies(search.X, rows, search.n_neighbors + 1) if is_dense else rows
        self.finder = clone(search.finder).fit(search.points[self.rows])

    def nearest(self, queries: Integers) -> tuple[Floats, Integers]:
        """Distances and rows of the nearest samples of the class, nearest first."""
        distances = np.empty((len(queries), self.wanted))
        rows = np.empty(distances.shape, dtype=np.int64)
        pending, reach = np.arange(len(queries)), self.wanted + 2
        while len(pending):
            reach = min(reach, len(self.rows))
            unsure = []
            for part in blocks(pending, reach * self.search.X.shape[1]):
                distances[part], rows[part], sure = self._look(queries[part], reach)
                unsure.append(part[~sure])
            pending, reach = np.concatenate(unsure), 2 * reach
        return distances, rows

    def _look(
        self, queries: Integers, reach: int
    ) -> tuple[Floats, Integers, npt.NDArray[np.bool_]]:
        """The nearest among ``reach`` candidates, and whether no other sample can be as near."""
        distances, found = self.finder.kneighbors(self.search.points[queries], n_neighbors=reach)
        rows = self.rows[found]
        horizon = distances.max(axis=1)
        if self.search.slack is not None:
            horizon = np.sqrt(np.maximum(horizon**2 - self.search.slack, 0.0))
            distances = _measured(self.search.X, queries, rows)
        distances = np.where(rows == queries[:, None], np.inf, distances)
        first = by_distance(distances, rows)[:, : self.wanted]
        distances = np.take_along_axis(distances, first, axis=1)
        sure = distances[:, -1] * (1 + _ROUNDING) < horizon
        if reach == len(self.rows):
            sure[:] = True
        return distances, np.take_along_axis(rows, first, axis=1), sure


def _measured(X: Any, queries: Integers, rows: Integers) -> Floats:
    """Distances computed from differences."""
    if sparse.issparse(X):
        apart = X[np.repeat(queries, rows.shape[1])] - X[rows.ravel()]
        squares = np.asarray(apart.multiply(apart).sum(axis=1)).reshape(rows.shape)
    else:
        apart = X[queries][:, None, :] - X[rows]
        squares = np.einsum("ijk,ijk->ij", apart, apart)
    distances: Floats = np.sqrt(squares)
    return distances


def few_copies(X: npt.NDArray[Any], rows: Integers, n_copies: int) -> Integers:
    """Keep at most ``n_copies`` of equal rows."""
    _, value, sizes = np.unique(X[rows], axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(value.reshape(-1), kind="stable")
    before = np.empty(len(rows), dtype=np.int64)
    before[order] = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rows[before < n_copies]


def by_distance(distances: Floats, rows: Integers) -> Integers:
    """Order by distance, and by row among distances equal up to rounding."""
    order = np.argsort(distances, axis=1, kind="stable")
    ascending = np.take_along_axis(distances, order, axis=1)
    level = np.zeros(order.shape, dtype=np.int64)
    level[:, 1:] = np.cumsum(ascending[:, 1:] > ascending[:, :-1] * (1 + _ROUNDING), axis=1)
    within = np.lexsort((np.take_along_axis(rows, order, axis=1), level), axis=1)
    return np.take_along_axis(order, within, axis=1)


def blocks(rows: Integers, n_entries: int) -> Iterator[Integers]:
    """Split rows into blocks of at most ``_ENTRIES`` entries."""
    size = max(1, _ENTRIES // n_entries)
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
