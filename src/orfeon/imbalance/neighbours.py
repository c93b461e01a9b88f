"""Neighbours by class: the samples of one class that are nearest to given ones.

Ties between equally near samples go to the first row, so that the same table gives the same
neighbours wherever it is computed. scikit-learn's searches leave that open: here a search goes on
until everything that is as near as the last neighbour has been seen.
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

#: Distances that differ by less than this part of them are equal: rounding must not tell.
_ROUNDING = 1e-10
#: Entries of the arrays that are held at once.
_ENTRIES = 4_000_000
#: With more features trees look at nearly everything, and products are faster.
_FOR_TREES = 15


@dataclass(frozen=True)
class Search:
    """Where neighbours are looked for, and by what."""

    X: Any
    points: Any
    finder: Any
    n_neighbors: int
    slack: float | None


def search_among(X: Any, n_neighbors: Any, *, additional: int, n_jobs: int | None) -> Search:
    """How neighbours are looked for among samples.

    By default in trees, which take differences before squares. Where there are many features, or
    where the samples are sparse, by products, which are fast and cancel: what they find is
    measured again. In both cases the samples are multiplied by a power of two, which changes no
    order, so that no square overflows.
    """
    X = X.tocsr() if sparse.issparse(X) else X
    if not isinstance(n_neighbors, Integral):
        wanted = int(n_neighbors.n_neighbors) - additional
        if wanted < 1:
            raise ValueError(
                f"n_neighbors is an estimator of {n_neighbors.n_neighbors} neighbour, which is "
                "the sample itself: it must find one more than are to be looked at"
            )
        return Search(X, X, n_neighbors, wanted, None)
    X = _scaled(X)
    if not sparse.issparse(X) and X.shape[1] <= _FOR_TREES:
        finder = NearestNeighbors(algorithm="kd_tree", n_jobs=n_jobs)
        return Search(X, X, finder, int(n_neighbors), None)
    finder = NearestNeighbors(algorithm="brute", n_jobs=n_jobs)
    points = X if sparse.issparse(X) else X - X.mean(axis=0)
    squares = points.multiply(points) if sparse.issparse(points) else points**2
    # Two squares and a product, each a sum of as many terms as features, each term rounded.
    roundings = 8 * (X.shape[1] + 4) * np.finfo(np.float64).eps
    return Search(X, points, finder, int(n_neighbors), roundings * squares.sum(axis=1).max())


def _scaled(X: Any) -> Any:
    """A copy in double precision, times a power of two: no value is above 1."""
    X = X.astype(np.float64)
    values = X.data if sparse.issparse(X) else X
    _, exponent = np.frexp(np.abs(values).max(initial=0.0))
    np.ldexp(values, -exponent, out=values)
    return X


class ClassNeighbours:
    """The samples of one class, ready to be asked which of them are nearest to others."""

    def __init__(self, search: Search, rows: Integers) -> None:
        self.search = search
        self.wanted = min(search.n_neighbors, len(rows))
        # More copies than neighbours, one being the sample itself, are never reached.
        is_dense = isinstance(search.X, np.ndarray)
        self.rows = few_copies(search.X, rows, search.n_neighbors + 1) if is_dense else rows
        self.finder = clone(search.finder).fit(search.points[self.rows])

    def nearest(self, queries: Integers) -> tuple[Floats, Integers]:
        """Distances and rows of the nearest of the class, nearest first."""
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
        """The nearest of as many as `reach`, and whether nothing further off can be as near."""
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
    """Distances of rows to others, from differences."""
    if sparse.issparse(X):
        apart = X[np.repeat(queries, rows.shape[1])] - X[rows.ravel()]
        squares = np.asarray(apart.multiply(apart).sum(axis=1)).reshape(rows.shape)
    else:
        apart = X[queries][:, None, :] - X[rows]
        squares = np.einsum("ijk,ijk->ij", apart, apart)
    distances: Floats = np.sqrt(squares)
    return distances


def few_copies(X: npt.NDArray[Any], rows: Integers, n_copies: int) -> Integers:
    """Rows without those of which enough equal ones come before."""
    _, value, sizes = np.unique(X[rows], axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(value.reshape(-1), kind="stable")
    before = np.empty(len(rows), dtype=np.int64)
    before[order] = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return rows[before < n_copies]


def by_distance(distances: Floats, rows: Integers) -> Integers:
    """Order of each line by distance, and by row among those equal up to rounding."""
    order = np.argsort(distances, axis=1, kind="stable")
    ascending = np.take_along_axis(distances, order, axis=1)
    level = np.zeros(order.shape, dtype=np.int64)
    level[:, 1:] = np.cumsum(ascending[:, 1:] > ascending[:, :-1] * (1 + _ROUNDING), axis=1)
    within = np.lexsort((np.take_along_axis(rows, order, axis=1), level), axis=1)
    return np.take_along_axis(order, within, axis=1)


def blocks(rows: Integers, n_entries: int) -> Iterator[Integers]:
    """Rows in parts, so small that as many entries for each can be held."""
    size = max(1, _ENTRIES // n_entries)
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
