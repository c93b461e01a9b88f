"""Ties between numbers that were computed with rounding."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: Numbers that differ by less than this, relative to their size, are the same but for rounding.
TOLERANCE = 1e-12


def first_of_least(values: npt.NDArray[np.float64], allowed: npt.NDArray[np.bool_]) -> int:
    """Index of the least of the values that are allowed, the first of those tied.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite numbers.
    allowed : ndarray of bool of shape (n,)
        Which may be chosen.

    Returns
    -------
    int
        The index.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.ordering.ties import first_of_least
    >>> first_of_least(np.array([0.1, 0.1 + 0.2, 0.3, 0.5]), np.array([False, True, True, True]))
    1
    """
    index = np.flatnonzero(allowed)
    some = values[index]
    least = some.min()
    return int(index[np.argmax(some <= least + TOLERANCE * abs(least))])
