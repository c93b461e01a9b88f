"""A forest in the form in which categories and missing values are routed fast.

It is made from a forest at its first prediction, in one pass over the nodes, and is no part of the
model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orfeon.kernels.routing import packed
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats, Integers

if TYPE_CHECKING:
    from orfeon.forest.forest import Forest

_NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True)
class PackedForest:
    """Nodes as words, and the features that they test.

    Parameters
    ----------
    words : ndarray of uint64
        Two a node, as :mod:`orfeon.kernels.routing.packed` describes.
    features : ndarray of int64
        Feature of each column of packed rows.
    has_odd : bool
        Whether some test needs a step of its own.
    splits_missing : bool
        Whether missing values go down several branches of some node.
    """

    words: npt.NDArray[np.uint64]
    features: Integers
    has_odd: bool
    splits_missing: bool

    @classmethod
    def of(cls, forest: Forest) -> PackedForest:
        """Pack a forest."""
        words = np.empty(2 * len(forest.nodes), np.uint64)
        column_of = np.empty(forest.n_features, np.int64)
        has_odd = packed.pack_nodes(
            kernel_view(forest._words()[1]), forest.tree_start, forest.n_children, forest.missing,
            forest.n_categories, forest.branches, column_of, words,
        )  # fmt: skip
        features = np.flatnonzero(column_of >= 0)
        return cls(words, features, has_odd, bool((forest.missing == ALL_BRANCHES).any()))

    def apply(self, forest: Forest, X: Floats, leaves: npt.NDArray[np.uint32]) -> Integers:
        """Fill ``leaves``; returns the rows that have no single leaf in some tree."""
        X, several = self._rows(X)
        packed.apply_packed(*self._nodes(forest, X), leaves, several)
        return np.flatnonzero(several) if several.any() else _NO_ROWS

    def add(self, forest: Forest, X: Floats, weights: Floats, out: Floats) -> Integers:
        """Add what the trees predict; returns the rows that have no single leaf in some tree."""
        X, several = self._rows(X)
        packed.add_packed(
            *self._nodes(forest, X), forest.label, weights, forest.value, forest._pure_label, out,
            several,
        )  # fmt: skip
        return np.flatnonzero(several) if several.any() else _NO_ROWS

    def _nodes(self, forest: Forest, X: Floats) -> tuple[Any, ...]:
        tests = (forest.feature, forest.threshold, forest.missing, *forest._tests())
        return (
            self.words, self.has_odd, forest.tree_start, X, self.features, forest.n_categories,
            forest.first_child, tests,
        )  # fmt: skip

    def _rows(self, X: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """The rows, and which are known to go down several branches."""
        several = np.zeros(len(X), np.bool_)
        if self.splits_missing and len(self.features):
            several = np.isnan(X[:, self.features]).any(axis=1)
        return kernel_view(np.ascontiguousarray(X)), several
