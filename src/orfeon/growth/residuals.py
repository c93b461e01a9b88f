"""Regression trees on residuals, round by round, for gradient boosting.

The features stay the same and the residuals change in every round. So whatever depends only on the
features and the limits is prepared once, and a round costs little more than growing its trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from orfeon.data.presorted import Table
from orfeon.forest import NODE, Forest
from orfeon.forest.routing import routes_plain
from orfeon.growth.engine import (
    Growth,
    IntegerWeights,
    _columns,
    _kernel,
    _least_decrease,
    _limits,
    _settings,
    integer_weights,
)
from orfeon.kernels.cart.criteria import VARIANCE
from orfeon.kernels.gradient.training_leaves import training_leaves
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats, Integers, Integers32, Words

#: Sums of fixed-point residuals stay below two to this power, in 64-bit integers.
_SUM_BITS = 61
#: A residual keeps all bits of a float if there is room.
_RESIDUAL_BITS = 53
#: The largest power of two that is a float.
_MOST_BITS = 1023
#: Minimum number of rows for which several threads pay.
_WORTH_THREADS = 1 << 12
#: For more rows times trees it pays to pack the nodes of a round.
_FEW_PATHS = 1 << 13


class ResidualTrees(Protocol):
    """Grows the trees of a round of gradient boosting, by least squares on the residuals."""

    def grow(
        self,
        residuals: Floats,
        weights: npt.NDArray[Any],
        seeds: Words,
        candidates: Integers | None = None,
    ) -> tuple[Forest, Integers32]:
        """Grow one tree for each row of residuals."""


def checked_residuals(residuals: Any, n_trees: int, n_rows: int) -> Floats:
    """Residuals as floats of the expected shape."""
    known: Floats = np.ascontiguousarray(residuals, dtype=np.float64)
    expected = (n_trees, n_rows)
    if known.shape != expected:
        raise ValueError(f"residuals has shape {known.shape}; {expected} is expected.")
    return known


def check_weights(weights: npt.NDArray[Any], n_trees: int, n_rows: int) -> None:
    """Reject weights of a wrong shape, and negative or infinite ones."""
    allowed = ((n_rows,), (1, n_rows), (n_trees, n_rows))
    if weights.shape not in allowed:
        raise ValueError(
            f"weights has shape {weights.shape}; {allowed[0]} or {allowed[2]} is expected."
        )
    least, most = weights.min(), weights.max()
    if not (least >= 0 and np.isfinite(most)):
        raise ValueError(
            f"weights lie between {least} and {most}; they must be finite and not negative."
        )
    if not weights.any(axis=-1).all():
        raise ValueError("weights are all 0; at least one per tree must be positive.")


def checked_candidates(candidates: Any, n_trees: int, n_features: int) -> Integers:
    """Candidate features of each tree, checked."""
    candidates = np.atleast_2d(candidates)
    shape = candidates.shape
    if candidates.ndim != 2 or shape[0] not in (1, n_trees) or shape[1] == 0:
        raise ValueError(
            f"candidates has shape {shape}; (1, n) or ({n_trees}, n) with n > 0 is expected."
        )
    if candidates.dtype.kind not in "iu":
        raise ValueError(f"candidates are of type {candidates.dtype}; they must be integers.")
    if candidates.min() < 0 or candidates.max() >= n_features:
        raise ValueError(
            f"candidates lie between {candidates.min()} and {candidates.max()}; features are "
            f"counted from 0 to {n_features - 1}."
        )
    return np.asarray(candidates, dtype=np.int64)


class FixedPoint:
    """Weights times residuals as integers; residuals are not centred, being around zero already."""

    def __init__(self, whole: IntegerWeights) -> None:
        self._weights = whole.weights
        self._totals = whole.total.tolist()
        self._exact = bool(whole.exact.all())
        self._ones = self._exact and whole.weights.min() == whole.weights.max() == 1

    def __call__(self, residuals: Floats, largest: list[float]) -> tuple[Integers, Floats]:
        """The integers, and their scale for each tree, by its largest residual."""
        totals = self._totals if len(self._totals) == len(largest) else self._totals * len(largest)
        powers = [_room(most, total) for most, total in zip(largest, totals, strict=True)]
        scale = np.array([math.ldexp(1.0, power) for power in powers])
        scaled = residuals * scale[:, None]
        if not self._exact:
            scaled *= self._weights
        moments = np.rint(scaled, out=scaled).astype(np.int64)
        if self._exact and not self._ones:
            moments *= self._weights
        return moments, scale


def _room(largest: float, total: int) -> int:
    """Exponent of the largest power of two by which residuals can be multiplied."""
    if largest <= 0.0:
        return 0
    bits = math.frexp(largest)[1]
    return min(_SUM_BITS - bits - total.bit_length(), _RESIDUAL_BITS - bits, _MOST_BITS)


@dataclass(frozen=True)
class _Weights:
    """Integer weights, with the limits that depend on them."""

    given: npt.NDArray[Any]
    whole: IntegerWeights
    limits: Integers
    fixed_point: FixedPoint


class ExactTrees:
    """Trees that consider every threshold."""

    def __init__(
        self,
        table: Table,
        X: Floats,
        growth: Growth,
        *,
        n_samples: float | None = None,
        n_jobs: int = 1,
    ) -> None:
        self.table = table
        self.X = X
        self.growth = growth
        self.n_samples = None if n_samples is None else np.array([n_samples])
        self.n_jobs = n_jobs if table.n_rows >= _WORTH_THREADS else 1
        self._kernel = _kernel(growth, table)
        self._columns = _columns(table, growth)
        self._settings = _settings(growth, 0, table.n_features)
        self._all_features = np.arange(table.n_features)[None]
        self._no_labels = np.zeros((1, 0), np.uint16)
        self._no_table = np.zeros(0)
        self._n_categories = table.schema.n_categories
        self._known: _Weights | None = None

    def grow(
        self,
        residuals: Floats,
        weights: npt.NDArray[Any],
        seeds: Words,
        candidates: Integers | None = None,
    ) -> tuple[Forest, Integers32]:
        n_trees = len(seeds)
        residuals = checked_residuals(residuals, n_trees, self.table.n_rows)
        weighed = self._weigh(weights, n_trees)
        largest = np.abs(residuals).max(axis=1).tolist()
        if not all(map(math.isfinite, largest)):
            finite = np.isfinite(residuals)
            if not (finite | (weighed.whole.weights == 0)).all():
                raise ValueError("residuals must be finite where the weight is positive.")
            residuals = np.where(finite, residuals, 0.0)
            largest = np.abs(residuals).max(axis=1).tolist()
        moments, scale = weighed.fixed_point(residuals, largest)
        chosen = self._all_features
        if candidates is not None:
            chosen = checked_candidates(candidates, n_trees, self.table.n_features)

        def grow(block: slice) -> tuple[Forest, Integers32]:
            forest = self._grow(block, residuals, weighed, (moments, scale), seeds, chosen)
            return forest, self._leaves(forest)

        return self._in_threads(grow, n_trees)

    def _leaves(self, forest: Forest) -> Integers32:
        """The leaf of each training row in each tree."""
        if len(forest) * self.table.n_rows > _FEW_PATHS or routes_plain(forest, self.X):
            return np.ascontiguousarray(forest._leaves(self.X).T).view(np.int32)
        leaves = np.empty((len(forest), self.table.n_rows), np.int32)
        training_leaves(
            forest.tree_start, forest.threshold, forest.feature, forest.first_child,
            forest.missing, forest.branches, self._n_categories, kernel_view(self.X), leaves,
        )  # fmt: skip
        return leaves

    def _in_threads(
        self, grow: Callable[[slice], tuple[Forest, Integers32]], n_trees: int
    ) -> tuple[Forest, Integers32]:
        """Grow the trees of a round in one call, or one by one in threads."""
        if self.n_jobs == 1 or n_trees == 1:
            return grow(slice(0, n_trees))
        with ThreadPoolExecutor(self.n_jobs) as threads:
            parts = list(threads.map(grow, [slice(k, k + 1) for k in range(n_trees)]))
        forests, leaves = zip(*parts, strict=True)
        return Forest.concatenate(forests), np.concatenate(leaves)

    def _weigh(self, weights: npt.NDArray[Any], n_trees: int) -> _Weights:
        """The weights as integers, cached while they are the same array."""
        if self._known is None or self._known.given is not weights:
            check_weights(weights, n_trees, self.table.n_rows)
            whole = integer_weights(np.atleast_2d(weights), self.n_samples)
            variants = np.full(len(whole.exact), VARIANCE)
            limits = _limits(self.growth, variants, whole)
            self._known = _Weights(weights, whole, limits, FixedPoint(whole))
        return self._known

    def _grow(
        self,
        block: slice,
        residuals: Floats,
        weighed: _Weights,
        fixed: tuple[Integers, Floats],
        seeds: Words,
        candidates: Integers,
    ) -> Forest:
        n_trees = block.stop - block.start
        whole = _of_block(weighed.whole, block)
        moments, scale = fixed[0][block], fixed[1][block]
        limits = weighed.limits if len(weighed.limits) == 1 else weighed.limits[block]
        if len(limits) < n_trees:
            limits = np.repeat(limits, n_trees, axis=0)
        least = _least_decrease(self.growth, whole, scale)
        if len(least) < n_trees:
            least = np.repeat(least, n_trees)
        grown = self._kernel(
            *self._columns, self._settings, self._no_labels, whole.weights, moments,
            residuals[block], limits, least, seeds[block],
            candidates if len(candidates) == 1 else candidates[block], self._no_table,
        )  # fmt: skip
        return self._pack(grown, whole, scale)

    def _pack(self, grown: Any, whole: IntegerWeights, scale: Floats) -> Forest:
        """The forest that the kernel returned, without leaf variances."""
        starts, threshold, feature, first_child, n_children, missing, _, stats = grown[:8]
        n = int(starts[-1])
        packed = np.empty(n, dtype=NODE)
        packed["threshold"] = threshold[:n]
        packed["feature"] = feature[:n]
        packed["first_child"] = first_child[:n]
        n_children = n_children[:n].copy()
        weight = stats[:n, 0]
        leaf_weight = weight[n_children == 0]
        value = stats[:n, 1] / weight
        value /= scale if len(scale) == 1 else np.repeat(scale, np.diff(starts))
        if whole.exact.all():
            leaf_weight = leaf_weight.astype(np.uint32)
        elif len(whole.scale) == 1:
            leaf_weight = leaf_weight / whole.scale
        else:
            leaf_weight = leaf_weight / np.repeat(whole.scale, np.diff(starts))[n_children == 0]
        return Forest(
            tree_start=starts,
            nodes=packed,
            n_children=n_children,
            missing=missing[:n].copy(),
            label=np.zeros(0, np.int32),
            value=value[:, None],
            n_classes=0,
            n_categories=self._n_categories,
            branches=grown[9][: grown[13][0]].copy(),
            leaf_weight=leaf_weight,
        )


def _of_block(whole: IntegerWeights, block: slice) -> IntegerWeights:
    if len(whole.weights) == 1:
        return whole
    return IntegerWeights(
        whole.weights[block], whole.scale[block], whole.unit[block], whole.exact[block]
    )
