"""Newton trees whose leaves hold a value for each of several scores.

All scores share the tests of a tree, whose gains are summed over them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.presorted import Table
from orfeon.data.sorting import SORTED
from orfeon.growth.engine import Growth
from orfeon.growth.newton import (
    ExactNewtonTrees,
    Grown,
    Newton,
    _Scratch,
    check_derivatives,
    most_leaves,
)
from orfeon.growth.residuals import check_weights, checked_residuals
from orfeon.kernels.gradient.exact_vector_round import vector_round
from orfeon.kernels.gradient.exact_vectors import LANES, N_OTHER
from orfeon.utils.types import Floats, Integers, Words


class VectorNewtonTrees(ExactNewtonTrees):
    """One symmetric tree a round for all scores, over every threshold.

    The penalty on the squares of a leaf's values is ``l2`` over the root of their number.
    """

    def __init__(
        self,
        table: Table,
        X: Floats,
        growth: Growth,
        newton: Newton,
        *,
        n_scores: int,
        n_samples: float | None = None,
    ) -> None:
        own = replace(newton, l2=newton.l2 / math.sqrt(n_scores))
        super().__init__(table, X, growth, own, n_samples=n_samples)
        self.n_scores = n_scores

    def can_update(self, n_trees: int) -> bool:
        return True

    def grow_newton(
        self,
        gradients: Floats,
        hessians: Floats,
        weights: npt.NDArray[Any],
        seeds: Words,
        candidates: Integers | None = None,
    ) -> Grown:
        """Grow one tree for all rows of negative gradients and second derivatives."""
        n_rows = self.table.n_rows
        gradients = checked_residuals(gradients, self.n_scores, n_rows)
        hessians = checked_residuals(hessians, self.n_scores, n_rows)
        check_derivatives(gradients, hessians)
        check_weights(weights, 1, n_rows)
        weighed, chosen = self._weigh(weights), self._candidates(candidates, 1)
        scratch, n = self._grow((gradients, hessians), weighed, seeds, chosen, None)
        grown = self._pack(scratch, n, weighed, 1)
        self._scratch.append(scratch)
        return grown

    def _new_scratch(self) -> _Scratch:
        return _VectorScratch(self.table, self.growth, self.newton, self.n_scores)


class _VectorScratch(_Scratch):
    """Arrays for growing trees of vectors."""

    def __init__(self, table: Table, growth: Growth, newton: Newton, n_scores: int) -> None:
        super().__init__(table, growth, newton)
        n_slots = most_leaves(growth, table.n_rows) + 2
        widest = int(table.n_values.max(initial=0, where=table.kind != SORTED)) + 1
        width = 2 * LANES * -(-n_scores // LANES) + N_OTHER
        self._vectors = (
            np.empty((table.n_rows, width)), np.empty((self._n_nodes, width)),
            np.empty((n_slots, width)), np.empty((n_slots, width)), np.zeros((widest, width)),
            np.empty((n_slots, 3)), np.empty((n_scores, widest)),
            np.empty(max(2, n_scores) * widest), n_scores,
        )  # fmt: skip
        self._values = np.empty((self._n_nodes, n_scores))

    def round(self, *arguments: Any) -> int:
        given = (*arguments, self._vectors, self._values)
        return int(vector_round(*given))

    def values(self, n: int) -> Floats:
        return self._values[:n].copy()
