"""Weighted quantiles, of a whole sample or of each of its groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats

Integers = npt.NDArray[np.integer[Any]]


def weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """The least value with at least this share of the weight at or below it."""
    groups = np.zeros(len(values), np.int64)
    return float(grouped_quantiles(values, weights, groups, 1, share)[0])


def grouped_quantiles(
    values: Floats, weights: Floats, groups: Integers, n_groups: int, share: float
) -> Floats:
    """The weighted quantile of each group, all with one sort."""
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
