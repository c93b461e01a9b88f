"""Regions of competence: the selection samples nearest to a row, whole levels of equal distance."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

from orfeon.combining.competence import Regions
from orfeon.utils.types import Floats, Integers, Mask

#: Distances that differ by less than this part of them are equal: rounding must not decide.
_ROUNDING = 1e-10
#: With more inputs a tree visits nearly everything, and products of matrices are faster.
_FOR_TREES = 15
#: Numbers held at once when distances are measured again.
_ENTRIES = 1 << 22


class Neighbours:
    """Selection samples among which the regions of rows are found.

    Products of matrices are fast but cancel, so what they find is measured again from differences,
    and the search widens until nothing outside can be as near as the last neighbour.
    """

    def __init__(self, points: Floats, weights: Floats, n_neighbors: int, n_jobs: int | None):
        self.points, self.weights, self.n_neighbors = points, weights, n_neighbors
        is_tree = points.shape[1] <= _FOR_TREES
        self.finder = NearestNeighbors(algorithm="kd_tree" if is_tree else "brute", n_jobs=n_jobs)
        self.finder.fit(points)
        roundings = 8 * (points.shape[1] + 4) * np.finfo(np.float64).eps
        self.slack = 0.0 if is_tree else roundings * float((points**2).sum(axis=1).max())

    def regions(self, queries: Floats, *, without: Integers | None = None) -> Regions:
        """The region of each row: samples of a total weight of at least ``n_neighbors``.

        ``without`` names for each row a sample that is left out: the row itself.
        """
        parts: list[tuple[Integers, Integers, Integers]] = []
        pending, reach = np.arange(len(queries)), self.n_neighbors + 8
        while len(pending):
            reach = min(reach, len(self.points))
            unsure = []
            size = max(1, _ENTRIES // (reach * self.points.shape[1]))
            for first in range(0, len(pending), size):
                rows = pending[first : first + size]
                own = None if without is None else without[rows]
                found, level, belongs, sure = self._look(queries[rows], reach, own)
                belongs &= sure[:, None]
                parts.append((rows[np.nonzero(belongs)[0]], found[belongs], level[belongs]))
                unsure.append(rows[~sure])
            pending, reach = np.concatenate(unsure), 2 * reach
        return self._collect(parts, len(queries))

    def _look(
        self, queries: Floats, reach: int, own: Integers | None
    ) -> tuple[Integers, Integers, Mask, Mask]:
        """Samples by distance, their levels, which are in the region, and whether that is sure."""
        distances, found = self.finder.kneighbors(queries, n_neighbors=reach)
        horizon = distances.max(axis=1)
        if self.slack:
            horizon = np.sqrt(np.maximum(horizon**2 - self.slack, 0.0))
            apart = queries[:, None, :] - self.points[found]
            distances = np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))
        if own is not None:
            distances = np.where(found == own[:, None], np.inf, distances)
        order = np.lexsort((found, distances), axis=1)
        distances = np.take_along_axis(distances, order, axis=1)
        found = np.take_along_axis(found, order, axis=1)
        level = np.zeros(found.shape, dtype=np.int64)
        level[:, 1:] = np.cumsum(distances[:, 1:] > distances[:, :-1] * (1 + _ROUNDING), axis=1)
        is_there = np.isfinite(distances)
        reached = np.cumsum(self.weights[found] * is_there, axis=1)
        enough = reached >= self.n_neighbors * (1 - _ROUNDING)
        is_short = ~enough.any(axis=1)
        last = np.where(is_short, found.shape[1] - 1, enough.argmax(axis=1))
        at = np.arange(len(found))
        belongs = (level <= level[at, last][:, None]) & is_there
        sure = ~is_short & (distances[at, last] * (1 + _ROUNDING) < horizon)
        return found, level, belongs, sure | (reach == len(self.points))

    def _collect(self, parts: list[tuple[Integers, Integers, Integers]], n_rows: int) -> Regions:
        rows, samples, levels = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(rows, kind="stable")
        samples, ends = samples[order], np.cumsum(np.bincount(rows, minlength=n_rows))
        weights = csr_array(
            (self.weights[samples], samples, np.concatenate([[0], ends])),
            shape=(n_rows, len(self.points)),
        )
        return Regions(weights, levels[order])
