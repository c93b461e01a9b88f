"""Weights and targets as integers, so that their sums are exact whatever the order of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats, Integers

#: Weights whose sum stays below this are used as they are when they are whole numbers.
_MAX_COUNT = 1 << 31
#: Sums of fixed-point weights stay below this, so that a float holds them exactly.
_FIXED_POINT = float(1 << 52)
#: Sums of fixed-point targets stay below this, in 64-bit integers.
_MAX_MOMENT = float(1 << 61)
#: The largest power of two that is a float: targets below 1e-292 lose digits.
_MAX_SCALE = 2.0**1023


@dataclass(frozen=True)
class Whole:
    """Weights of some trees as integers."""

    weights: Integers
    scale: Floats
    unit: Floats
    exact: npt.NDArray[np.bool_]

    @property
    def total(self) -> Integers:
        """Sum of each tree's integers."""
        return np.asarray(self.weights.sum(axis=1))


def whole_weights(
    weights: npt.NDArray[Any], n_samples: npt.NDArray[np.float64] | None = None
) -> Whole:
    """Turn weights into integers whose sums are exact, tree by tree."""
    if weights.dtype.kind in "iu" and weights.max() < _MAX_COUNT:
        counts = np.array(weights, dtype=np.int64)
        if counts.sum(axis=1).max() < _MAX_COUNT:
            ones = np.ones(len(counts))
            return Whole(counts, ones, ones, np.ones(len(counts), dtype=bool))
    real = np.asarray(weights, dtype=np.float64)
    total = real.sum(axis=1)
    counted = (real == np.rint(real)).all(axis=1)
    exact = counted & (total < _MAX_COUNT)
    # A little more than the total, so that its last bits do not decide between two scales.
    scale = np.exp2(np.floor(np.log2(_FIXED_POINT / (total * (1 + 1e-9)))))
    scale = np.where(exact, 1.0, scale)
    fixed = np.rint(real * scale[:, None]).astype(np.int64)
    fixed[(fixed == 0) & (real > 0)] = 1  # too small to weigh, but present
    many = (real > 0).sum(axis=1) if n_samples is None else n_samples
    mean = np.where(counted, 1.0, total / many)
    return Whole(fixed, scale, mean * scale, exact)


@dataclass(frozen=True)
class FixedTargets:
    """Regression targets of some trees as fixed-point moments."""

    moments: Integers
    targets: Floats
    scale: Floats
    centre: Floats


def fixed_targets(y: Floats, whole: Whole) -> FixedTargets:
    """Weight times target as integers, so that sums do not depend on the order of the rows."""
    n_trees = max(len(y), len(whole.weights))
    y = np.broadcast_to(y, (n_trees, y.shape[1]))
    weights = np.broadcast_to(whole.weights, y.shape)
    moments, targets = np.empty(y.shape, np.int64), np.empty(y.shape)
    scales, centres = np.empty(n_trees), np.empty(n_trees)
    for t in range(n_trees):
        # The centre is one of the targets, so that whole numbers stay whole.
        distinct = np.unique(y[t][weights[t] > 0])
        centres[t] = distinct[len(distinct) // 2]
        targets[t] = y[t] - centres[t]
        largest = float(max(distinct[-1] - centres[t], centres[t] - distinct[0])) or 1.0
        room = _MAX_MOMENT / (largest * float(weights[t].sum()))
        most = min(room, float(1 << 53) / largest, _MAX_SCALE)
        scales[t] = np.exp2(np.floor(np.log2(most)))
        if whole.exact[t if len(whole.exact) > 1 else 0]:
            fixed = np.rint(np.where(weights[t] > 0, targets[t], 0.0) * scales[t])
            moments[t] = weights[t] * fixed.astype(np.int64)
        else:
            moments[t] = np.rint(weights[t] * np.where(weights[t] > 0, targets[t], 0.0) * scales[t])
    return FixedTargets(moments, targets, scales, centres)
