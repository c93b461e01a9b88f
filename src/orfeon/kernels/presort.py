"""Rank-coding of the attributes, done once for a whole ensemble.

Every ordered attribute is replaced by the ranks of its distinct values. A *record* packs the rank
and the row into one integer (``rank << shift | row``), so that a sorted attribute is a sorted array
of integers and a scan needs one load per example. Missing values get the rank after the last one.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.jit import array_step, kernel

#: The key of a missing value, larger than all others.
MISSING_KEY = (1 << 63) - 1


@kernel
def rank_column(column, order, ranks, records, values, shift):
    """Ranks, sorted records and distinct values of one attribute, given its sorting permutation.

    Missing values (NaN) come last in ``order``. Returns the number of distinct known values.
    """
    n_rows = column.shape[0]
    n_values = 0
    previous = 0.0
    write_records = records.shape[0] > 0
    for i in range(n_rows):
        row = order[i]
        x = column[row]
        if x == x and (n_values == 0 or x != previous):
            values[n_values] = x
            previous = x
            n_values += 1
        rank = n_values - 1 if x == x else n_values
        ranks[row] = rank
        if write_records:
            records[i] = (records.dtype.type(rank) << shift) | records.dtype.type(row)
    return n_values


@kernel
def code_column(column, n_categories, ranks):
    """Ranks of a categorical attribute: its codes, missing values after the last one."""
    for row in range(column.shape[0]):
        x = column[row]
        ranks[row] = int(x) if x == x else n_categories


@array_step
def key_of(x):
    """An integer for a number other than NaN and -0: the keys are in the order of the numbers."""
    bits = np.float64(x).view(np.int64)
    return bits ^ ((bits >> np.int64(63)) & np.int64(MISSING_KEY))


@array_step
def value_of(key):
    """The number that a key stands for."""
    bits = np.int64(key) ^ ((np.int64(key) >> np.int64(63)) & np.int64(MISSING_KEY))
    return np.int64(bits).view(np.float64)


@kernel
def spread_keys(ranks, is_categorical, n_values, value_start, values, keys):
    """Write the key of every row of every ordered attribute."""
    for f in range(ranks.shape[0]):
        if is_categorical[f]:
            continue
        for row in range(ranks.shape[1]):
            rank = np.int64(ranks[f, row])
            if rank < n_values[f]:
                keys[f, row] = key_of(values[value_start[f] + rank] + 0.0)
            else:
                keys[f, row] = MISSING_KEY
