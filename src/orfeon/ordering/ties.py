"""Ties between numbers that were computed with rounding."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: Numbers that differ by less than this, relative to their size, are the same but for rounding.
TOLERANCE = 1e-12


def first_of_least(values: npt.NDArray[np.float64], allowed: npt.NDArray[np.bool_]) -> int:
    """Index of the least of the values that are allowed, the first of those tied."""
    index = np.flatnonzero(allowed)
    some = values[index]
    least = some.min()
    return int(index[np.argmax(some <= least + TOLERANCE * abs(least))])
