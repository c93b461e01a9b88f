"""A forest in the form in which categories and missing values are routed fast.

It is made from a forest at its first prediction, in one pass over the nodes, and is no part of the
model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orfeon.kernels.routing import packed, shallow
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats, Integers

if TYPE_CHECKING:
    from orfeon.forest.forest import Forest

_NO_ROWS = np.zeros(0, np.int64)
#: Trees of more tests on a path are followed link by link.
_SHALLOW = 6
#: Fewer rows are not worth all tests.
_FEW_ROWS = 32
#: Fewer trees, or paths of a row through a tree, are not worth packing.
_FEW_TREES, _FEW_PATHS = 8, 200_000


Heaps = tuple[int, npt.NDArray[np.uint64], npt.NDArray[np.uint32]]


def gains_by_packing(forest: Forest, n_rows: int) -> bool:
    """Whether so many rows without missing values are routed faster through packed trees."""
    if len(forest) < _FEW_TREES or n_rows < _FEW_ROWS or n_rows * len(forest) < _FEW_PATHS:
        return False
    return _may_be_shallow(forest) and forest._packed.heaps is not None


def _may_be_shallow(forest: Forest) -> bool:
    return int(np.diff(forest.tree_start).max()) < 2 << _SHALLOW


def _heaps(forest: Forest, words: npt.NDArray[np.uint64]) -> Heaps | None:
    if not _may_be_shallow(forest):
        return None
    depth = max(1, int(forest.depth.max()))
    if depth > _SHALLOW:
        return None
    tests = np.empty((len(forest), (1 << depth) - 1, 2), np.uint64)
    leaves = np.empty((len(forest), 1 << depth), np.uint32)
    shallow.pack_heaps(words, forest.tree_start, depth, tests.reshape(-1), leaves.reshape(-1))
    return depth, tests.reshape(-1), leaves.reshape(-1)


@dataclass(frozen=True)
class PackedForest:
    """Nodes as words, and the features that they test."""

    words: npt.NDArray[np.uint64]  # two a node: :mod:`orfeon.kernels.routing.packed`
    features: Integers  # feature of each column of packed rows
    has_odd: bool  # whether some test needs a step of its own
    splits_missing: bool  # whether missing values go down several branches of some node
    heaps: Heaps | None  # of shallow trees: :mod:`orfeon.kernels.routing.shallow`

    @classmethod
    def of(cls, forest: Forest) -> PackedForest:
        words = np.empty(2 * len(forest.nodes), np.uint64)
        column_of = np.empty(forest.n_features, np.int64)
        has_odd = packed.pack_nodes(
            kernel_view(forest._words()[1]), forest.tree_start, forest.n_children, forest.missing,
            forest.n_categories, forest.branches, column_of, words,
        )  # fmt: skip
        features = np.flatnonzero(column_of >= 0)
        splits_missing = bool((forest.missing == ALL_BRANCHES).any())
        heaps = None if has_odd else _heaps(forest, words)
        return cls(words, features, bool(has_odd), splits_missing, heaps)

    def apply(self, forest: Forest, X: Floats, leaves: npt.NDArray[np.uint32]) -> Integers:
        """Fill ``leaves``; returns the rows that have no single leaf in some tree."""
        X, several = self._rows(X)
        if self.heaps is not None and len(X) >= _FEW_ROWS:
            shallow.apply_shallow(
                *self.heaps, forest.tree_start, X, self.features, forest.n_categories, leaves
            )
        else:
            packed.apply_packed(*self._nodes(forest, X), leaves, several)  # type: ignore[call-arg]
        return np.flatnonzero(several) if several.any() else _NO_ROWS

    def add(self, forest: Forest, X: Floats, weights: Floats, out: Floats) -> Integers:
        """Add what the trees predict; returns the rows that have no single leaf in some tree."""
        X, several = self._rows(X)
        leaf = (forest.label, weights, forest.value, forest._pure_label_for(weights), out)
        if self.heaps is not None and len(X) >= _FEW_ROWS:
            shallow.add_shallow(
                *self.heaps, forest.tree_start, X, self.features, forest.n_categories, *leaf
            )
        else:
            packed.add_packed(*self._nodes(forest, X), *leaf, several)  # type: ignore[call-arg]
        return np.flatnonzero(several) if several.any() else _NO_ROWS

    def _nodes(self, forest: Forest, X: Floats) -> tuple[Any, ...]:
        tests = (forest.feature, forest.threshold, forest.missing, *forest._tests())
        return (
            self.words, self.has_odd, forest.tree_start, X, self.features, forest.n_categories,
            forest.first_child, tests,
        )  # fmt: skip

    def _rows(self, X: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """The rows, and which are known to go down several branches."""
        several: npt.NDArray[np.bool_] = np.zeros(len(X), np.bool_)
        if self.splits_missing and len(self.features):
            np.isnan(X[:, self.features]).any(axis=1, out=several)
        return kernel_view(np.ascontiguousarray(X)), several
