"""A forest in the form in which many rows are routed fastest: with ranks instead of numbers.

It is made from a forest at its first prediction of many rows, and is no part of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from orfeon.kernels.routing import ranked
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats, Integers

if TYPE_CHECKING:
    from orfeon.forest.forest import Forest

#: Fewer trees, or paths of a row through a tree, are not worth ranking.
_FEW_TREES, _FEW_PATHS = 16, 200_000
#: Nor are so few paths for a node, all of which must be ranked.
_PATHS_PER_NODE = 8


def gains_by_ranking(forest: Forest, n_rows: int) -> bool:
    """Whether so many rows are routed faster through ranked trees."""
    paths = n_rows * len(forest)
    return len(forest) >= _FEW_TREES and paths >= max(
        _FEW_PATHS, _PATHS_PER_NODE * len(forest.nodes)
    )


@dataclass(frozen=True)
class RankedForest:
    """Nodes as words, and the thresholds that numbers are ranked by."""

    words: npt.NDArray[np.uint64]  # one a node, or two: :mod:`orfeon.kernels.routing.ranked`
    features: Integers  # feature of each column of ranked rows
    cuts: Floats  # thresholds of each column, ascending, as many as a power of two less one
    cut_start: Integers
    n_levels: Integers  # the powers

    @classmethod
    def of(cls, forest: Forest, *, numbers: bool) -> RankedForest | None:
        """Rank a forest for rows of numbers only, or for all rows; None where it cannot be."""
        if not forest._is_plain and (numbers or forest._packed.has_odd):
            return None
        inner = forest.n_children > 0
        if not numbers and (forest.missing[inner] == ALL_BRANCHES).any():
            return None
        words = forest.first_child.astype(np.uint64) << np.uint64(32)
        sets = np.zeros(0 if numbers else len(words), np.uint64)
        features = np.unique(forest.feature[inner]).astype(np.int64)
        if len(features) >= ranked.MOST_COLUMNS:
            return None
        cuts, n_levels = [], np.zeros(len(features), np.int64)
        order = np.argsort(np.where(inner, forest.feature, -1), kind="stable")
        ends = np.cumsum(np.bincount(forest.feature[inner], minlength=forest.n_features))
        for column, j in enumerate(features):
            begin = (~inner).sum() + (ends[j - 1] if j else 0)
            nodes = order[begin : begin + ends[j] - (ends[j - 1] if j else 0)]
            words[nodes] |= np.uint64(column)
            if forest.n_categories[j]:
                sets[nodes] = forest._packed.words[2 * nodes]
                continue
            thresholds, count = np.unique(forest.threshold[nodes], return_inverse=True)
            if len(thresholds) > ranked.NO_COUNT:
                return None
            words[nodes] |= (ranked.NO_COUNT - count.astype(np.uint64)) << ranked.COUNT_SHIFT
            if not numbers:
                sets[nodes] = (forest.missing[nodes] == 1).astype(np.uint64) << np.uint64(1)
            n_levels[column] = len(thresholds).bit_length()
            padding = np.full((1 << n_levels[column]) - 1 - len(thresholds), np.inf)
            cuts += [thresholds, padding]
        sizes = np.where(n_levels > 0, (1 << n_levels) - 1, 0)
        if not numbers:
            words = np.column_stack([words, sets]).ravel()
        return cls(
            words, features, np.concatenate([*cuts, np.zeros(1)]),
            (np.cumsum(sizes) - sizes).astype(np.int64), n_levels,
        )  # fmt: skip

    def add(self, forest: Forest, X: Floats, weights: Floats, out: Floats) -> None:
        """Add what the trees predict."""
        add = ranked.add_mixed if len(self.words) > len(forest.nodes) else ranked.add_numbers
        add(
            self.words, forest.tree_start, kernel_view(np.ascontiguousarray(X)), self.features,
            forest.n_categories, self.cuts, self.cut_start, self.n_levels, forest.label, weights,
            forest.value, forest._pure_label_for(weights), out,
        )  # fmt: skip
