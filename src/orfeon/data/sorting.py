"""Rank coding of the features, done once for a whole ensemble.

Every ordered feature is replaced by the ranks of its distinct values. A *record* packs rank and row
into one integer (``rank << shift | row``): a sorted feature is a sorted array of integers, and a
scan needs one load per sample. Missing values get the rank after the last one.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import array_step, kernel

#: How a feature is searched for splits. ``SPARSE`` features are sorted node by node, and most
#: samples have their least value.
SORTED, COUNTED, CATEGORICAL, SPARSE = 0, 1, 2, 3
#: The key of a missing value, larger than all others.
MISSING_KEY = (1 << 63) - 1
#: Bits per digit of the radix sort, and the number of digit values.
DIGIT = 12
N_DIGITS = 1 << DIGIT


@kernel
def rank_column(column, order, ranks, records, values, shift):
    """Fill ranks, sorted records and distinct values of one feature; returns how many values."""
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
    """Fill the ranks of a categorical feature: its codes, then missing values."""
    for row in range(column.shape[0]):
        x = column[row]
        ranks[row] = int(x) if x == x else n_categories


@array_step
def key_of(x):
    """Map a number other than NaN to an integer of the same order."""
    # Trailing zero bits stay, so numbers with few digits need few sorting passes.
    bits = np.float64(x).view(np.int64)
    return bits if bits >= 0 else -(bits & np.int64(MISSING_KEY))


@array_step
def value_of(key):
    """The inverse of :func:`key_of`."""
    bits = np.int64(key if key >= 0 else -key)
    magnitude = np.int64(bits).view(np.float64)
    return magnitude if key >= 0 else -magnitude


@array_step
def count_below(keys, n, count, shift):
    """Count the first ``n`` keys whose digit is less than each of its values."""
    mask = np.uint64(N_DIGITS - 1)
    for digit in range(count.shape[0]):
        count[digit] = 0
    for i in range(n):
        count[(keys[np.uint64(i)] >> shift) & mask] += 1
    put = np.uint32(0)
    for digit in range(count.shape[0]):
        size = count[digit]
        count[digit] = put
        put += size


@array_step
def sort_by_digit(keys, rows, to_keys, to_rows, count, shift):
    """Sort keys and their rows stably by the digit that starts at bit ``shift``."""
    mask = np.uint64(N_DIGITS - 1)
    count_below(keys, keys.shape[0], count, shift)
    for i in range(keys.shape[0]):
        key = keys[i]
        digit = (key >> shift) & mask
        at = np.uint64(count[digit])
        to_keys[at] = key
        to_rows[at] = rows[i]
        count[digit] += 1


@kernel
def order_column(column, keys, rows, count, order):
    """Write the order that sorts a column: missing values last, equal values by row."""
    # Radix sort from the lowest digit up. ``keys`` and ``rows`` are scratch for two columns each.
    n = column.shape[0]
    always = np.uint64(0xFFFFFFFFFFFFFFFF)
    ever = np.uint64(0)
    for i in range(n):
        x = column[i]
        # Missing values use a NaN with trailing zero bits: fewer digits to sort by.
        signed = key_of(x) if x == x else np.int64(0x7FF8 << 48)
        key = np.uint64(signed) ^ np.uint64(1 << 63)  # unsigned
        keys[0, i] = key
        rows[0, i] = i
        always &= key
        ever |= key
    varying = ever & ~always
    shift = np.uint64(0)
    source = 0
    while shift < np.uint64(64) and (varying >> shift) != np.uint64(0):
        while ((varying >> shift) & np.uint64(1)) == np.uint64(0):
            shift += np.uint64(1)
        sort_by_digit(keys[source], rows[source], keys[1 - source], rows[1 - source], count, shift)
        source = 1 - source
        shift += np.uint64(DIGIT)
    for i in range(n):
        order[i] = rows[source, i]
