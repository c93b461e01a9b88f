"""Weights and targets as integers, so that their sums are exact whatever the order of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Weights whose sum stays below this are used as they are when they are whole numbers.
_MAX_COUNT = 1 << 31
#: Sums of fixed-point weights stay below this, so that a float holds them exactly.
_FIXED_POINT = float(1 << 52)
#: Sums of fixed-point targets stay below this, in 64-bit integers.
_MAX_MOMENT = float(1 << 61)


@dataclass(frozen=True)
class Whole:
    """Weights of some trees as integers.

    Parameters
    ----------
    weights : ndarray of int64 of shape (n_trees, n_rows)
        The integers.
    scale : ndarray of shape (n_trees,)
        What one unit of weight became.
    unit : ndarray of shape (n_trees,)
        The weight that counts as one example, in integer units.
    exact : bool
        Whether they are counts.
    """

    weights: Integers
    scale: Floats
    unit: Floats
    exact: bool


def whole_weights(weights: npt.NDArray[Any]) -> Whole:
    """Turn weights into integers whose sums are exact.

    Parameters
    ----------
    weights : ndarray of shape (n_trees, n_rows)
        Non-negative weights, at least one positive in each row.

    Returns
    -------
    Whole
        Counts as they are; other weights scaled to a total of about 2**52.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.growth.weights import whole_weights
    >>> whole_weights(np.array([[2.0, 0.0, 1.0]])).weights
    array([[2, 0, 1]])
    """
    n_trees = len(weights)
    counts = weights.astype(np.int64)
    whole = weights.dtype.kind in "iu" or np.array_equal(counts, weights)
    if whole and counts.sum(axis=1).max() < _MAX_COUNT:
        return Whole(counts, np.ones(n_trees), np.ones(n_trees), True)
    total = weights.sum(axis=1, dtype=np.float64)
    scale = np.exp2(np.floor(np.log2(_FIXED_POINT / total)))
    fixed = np.rint(weights * scale[:, None]).astype(np.int64)
    fixed[(fixed == 0) & (weights > 0)] = 1  # too small to weigh, but present
    unit = total / (weights > 0).sum(axis=1) * scale
    return Whole(fixed, scale, unit, False)


@dataclass(frozen=True)
class FixedTargets:
    """Regression targets of some trees as fixed-point moments.

    Parameters
    ----------
    moments : ndarray of int64 of shape (n_trees, n_rows)
        Weight times centred target.
    targets : ndarray of shape (1 or n_trees, n_rows)
        Centred targets.
    scale : float
        What one unit of weighted target became.
    centre : float
        What was subtracted from the targets.
    """

    moments: Integers
    targets: Floats
    scale: float
    centre: float


def fixed_targets(y: Floats, whole: Whole) -> FixedTargets:
    """Weight times target as integers, so that sums do not depend on the order of the rows."""
    # Any number near the mean will do; one of the targets keeps whole numbers whole.
    centre = float(y.flat[np.argmin(np.abs(y - y.mean()))])
    centred = y - centre
    weights = whole.weights / whole.scale[:, None]
    largest = float(np.abs(centred).max()) or 1.0
    room = _MAX_MOMENT / (largest * float(weights.sum(axis=1).max()))
    scale = float(np.exp2(np.floor(np.log2(min(room, (1 << 53) / largest)))))
    if whole.exact:
        moments = whole.weights * np.rint(centred * scale).astype(np.int64)
    else:
        moments = np.rint(weights * centred * scale).astype(np.int64)
    return FixedTargets(np.atleast_2d(moments), np.atleast_2d(centred), scale, centre)
