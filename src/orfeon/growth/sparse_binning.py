"""Binning a sparse table: the bins of the dense one, of which only values other than zero are kept.

Time and memory are proportional to the stored values and the features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.growth.binning import MOST_BINS, _limited_copies
from orfeon.kernels.histogram.sparse_bins import bin_columns
from orfeon.utils.types import Floats, Integers

#: Places in a histogram are counted in 32 bits.
_MOST_PLACES = (1 << 32) - 1


@dataclass(frozen=True)
class SparseBins:
    """A binned sparse table."""

    n_bins: Integers
    offset: npt.NDArray[np.uint64]  # of the bins, and of the sums of the features after them
    low: Floats
    high: Floats
    starts: Integers  # where the values of each row begin
    places: npt.NDArray[np.uint32]  # in a histogram, of each value, row after row
    features: npt.NDArray[np.uint32]  # of each value
    zero_bin: Integers  # of each feature


def bin_sparse(X: Any, max_bins: int = MOST_BINS, copies: Floats | None = None) -> SparseBins:
    """Bin the features of sparse rows, whose values are sorted by feature."""
    n_rows, n_features = X.shape
    order = np.lexsort((X.data, X.indices))  # NaN comes last
    counts = np.bincount(X.indices, minlength=n_features)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    each = _limited_copies(copies)
    own, total = np.ones(len(order), np.uint32), n_rows
    if each is not None:
        row = np.repeat(np.arange(n_rows), np.diff(X.indptr))[order]
        own, total = each[row].astype(np.uint32), int(each.sum())
    n_bins, zero_bin = np.empty((2, n_features), np.int64)
    low, high = np.zeros((2, len(order) + n_features))
    codes = np.empty(len(order), np.uint8)
    values = np.asarray(X.data, dtype=np.float64)[order]
    bin_columns(values, own, starts, total, max_bins, low, high, n_bins, zero_bin, codes)
    del values, own
    offset = np.concatenate([[0], np.cumsum(n_bins + 1)])
    if offset[-1] + n_features >= _MOST_PLACES:
        raise ValueError(
            f"X has {offset[-1]:,} bins; at most {_MOST_PLACES - n_features:,} are allowed: give a "
            "smaller max_bins."
        )
    places = np.empty(len(order), np.uint32)
    places[order] = np.repeat(offset[:-1], counts) + codes
    # Values in the bin of zero are zeros from here on.
    is_other = places != (offset[:-1] + zero_bin)[X.indices]
    before = np.concatenate([[0], np.cumsum(is_other)]).astype(np.int64)
    lows, highs = np.zeros((2, int(offset[-1])))
    within = np.arange(int(n_bins.sum())) - np.repeat(np.cumsum(n_bins) - n_bins, n_bins)
    to = np.repeat(offset[:-1], n_bins) + within
    come_from = np.repeat(starts[:-1] + np.arange(n_features), n_bins) + within
    lows[to], highs[to] = low[come_from], high[come_from]
    return SparseBins(
        n_bins, np.append(offset, offset[-1] + n_features).astype(np.uint64), lows, highs,
        before[X.indptr], places[is_other], X.indices[is_other].astype(np.uint32),
        np.maximum(zero_bin, 0),
    )  # fmt: skip
