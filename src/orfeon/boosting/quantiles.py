"""Weighted quantiles, of a whole sample or of each of its groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]


def weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """The least value with at least this share of the weight at or below it.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Values.
    weights : ndarray of shape (n_rows,)
        Their weights, not all zero.
    share : float
        Share of the weight, above 0.

    Returns
    -------
    float
        One of the values: a weight of two gives the same as two copies.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting.quantiles import weighted_quantile
    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), 0.5)
    2.0
    """
    groups = np.zeros(len(values), np.int64)
    return float(grouped_quantiles(values, weights, groups, 1, share)[0])


def grouped_quantiles(
    values: Floats, weights: Floats, groups: Integers, n_groups: int, share: float
) -> Floats:
    """The weighted quantile of each group, all with one sort.

    Parameters
    ----------
    values, weights : ndarray of shape (n_rows,)
        Values and their weights.
    groups : ndarray of shape (n_rows,)
        Group of each, from 0 on.
    n_groups : int
        How many groups there are.
    share : float
        Share of a group's weight, above 0.

    Returns
    -------
    ndarray of shape (n_groups,)
        As :func:`weighted_quantile`; 0 for groups without weight.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting.quantiles import grouped_quantiles
    >>> grouped_quantiles(np.array([3.0, 1.0, 2.0]), np.ones(3), np.array([1, 0, 1]), 3, 0.5)
    array([1., 2., 0.])
    """
    # Sorting by value and then, stably, by small integers is faster than sorting by both.
    order = np.argsort(values)
    narrow = groups.astype(np.int16) if n_groups < 1 << 15 else groups
    order = order[np.argsort(narrow[order], kind="stable")]
    # One running sum over all groups: each weighs about 1 in it, or light ones would be lost among
    # heavy ones. By powers of two, so that sums of counts stay exact.
    totals = np.bincount(groups, weights=weights, minlength=n_groups)
    weights = np.ldexp(weights, -np.frexp(totals)[1][groups])
    running = np.cumsum(weights[order])
    ends = np.cumsum(np.bincount(groups, minlength=n_groups))
    after = np.concatenate([[0.0], running])[ends]
    before = np.concatenate([[0.0], after[:-1]])
    # Rounding of the share must not skip a value that just reaches it.
    wanted = before + share * (after - before) * (1.0 - 1e-12)
    at = np.minimum(np.searchsorted(running, wanted), len(values) - 1)
    return np.asarray(np.where(totals > 0, values[order][at], 0.0), dtype=np.float64)
