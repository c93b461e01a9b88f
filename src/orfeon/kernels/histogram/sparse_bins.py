"""Binning of sparse columns: zero is one more value, of all rows that store none."""

from __future__ import annotations

import numpy as np

from orfeon.kernels.histogram.bins import cut_counts
from orfeon.utils.jit import array_step, kernel


@array_step
def count_values(values, copies, begin, end, total, known, counts):
    """Distinct known values of a column and their rows: (values, known rows, rows of zero)."""
    n_zeros = np.int64(total)
    n_known = np.int64(total)
    for k in range(begin, end):
        n_zeros -= copies[k]
        if values[k] != values[k]:
            n_known -= copies[k]
    waits = n_zeros > 0
    n = np.int64(0)
    k = np.int64(begin)
    while k < end or waits:
        x = values[k] if k < end else np.nan
        if waits and not x < 0.0:
            known[n] = 0.0
            counts[n] = n_zeros
            n += 1
            waits = False
            continue
        if x != x:  # missing values come last
            break
        if n == 0 or known[n - 1] != x:
            known[n] = x
            counts[n] = 0
            n += 1
        counts[n - 1] += copies[k]
        k += 1
    return n, n_known, n_zeros


@kernel
def bin_columns(values, copies, starts, total, max_bins, low, high, n_bins, zero_bin, codes):
    """Cut sorted columns into bins, as ``cut_into_bins`` does all their rows, and code the values.

    The bins of column f begin at ``starts[f] + f``; ``zero_bin`` is -1 if there are no zeros.
    """
    n_features = n_bins.shape[0]
    longest = np.int64(1)
    for f in range(n_features):
        longest = max(longest, starts[f + 1] - starts[f] + 1)
    known = np.empty(longest)
    counts = np.empty(longest, np.uint32)
    first = np.empty(max_bins, np.int64)
    last = np.empty(max_bins, np.int64)
    for f in range(n_features):
        begin = starts[f]
        end = starts[f + 1]
        at = begin + f
        n_values, n_known, n_zeros = count_values(values, copies, begin, end, total, known, counts)
        n = cut_counts(counts, n_values, n_known, max_bins, first, last)
        for b in range(n):
            low[at + b] = known[first[b]]
            high[at + b] = known[last[b]]
        n = max(n, 1)  # a column without known values has one empty bin
        n_bins[f] = n
        zero_bin[f] = -1
        if n_zeros > 0:
            b = 0
            while high[at + b] < 0.0:
                b += 1
            zero_bin[f] = b
        b = 0
        for k in range(begin, end):
            x = values[k]
            if x != x:
                codes[k] = n
                continue
            while high[at + b] < x:
                b += 1
            codes[k] = b
