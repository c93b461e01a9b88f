"""Binning the values of a feature, and coding the rows by bin."""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import DIGIT, N_DIGITS, count_below, key_of, value_of
from orfeon.utils.jit import array_step, kernel

#: Features whose codes share a word, so that one load finds a row's bins of all of them.
PER_WORD = 8
_SIDE_BY_SIDE = 64


@array_step
def move_by_digit(keys, n, to_keys, count, shift):
    mask = np.uint64(N_DIGITS - 1)
    count_below(keys, n, count, shift)
    for i in range(n):
        key = keys[np.uint64(i)]
        digit = (key >> shift) & mask
        to_keys[np.uint64(count[digit])] = key
        count[digit] += 1


@kernel
def sort_known(column, keys, count):
    """Write the bits of the known values, sorted, to ``keys[0]``; returns how many there are."""
    # Radix sort, as in ``order_column``. ``keys[1]`` and ``count`` are scratch.
    sign = np.uint64(1 << 63)
    always = np.uint64(0xFFFFFFFFFFFFFFFF)
    ever = np.uint64(0)
    n = np.int64(0)
    for i in range(column.shape[0]):
        x = column[i]
        if x == x:
            key = np.uint64(key_of(x)) ^ sign
            keys[0, n] = key
            always &= key
            ever |= key
            n += 1
    varying = ever & ~always
    shift = np.uint64(0)
    source = 0
    while shift < np.uint64(64) and (varying >> shift) != np.uint64(0):
        while ((varying >> shift) & np.uint64(1)) == np.uint64(0):
            shift += np.uint64(1)
        move_by_digit(keys[source], n, keys[1 - source], count, shift)
        source = 1 - source
        shift += np.uint64(DIGIT)
    for i in range(n):
        value = value_of(np.int64(keys[source, i] ^ sign))
        keys[0, i] = np.float64(value).view(np.uint64)
    return n


@array_step
def cut_counts(counts, n_values, n_rows, max_bins, first, last):
    """Cut values of which so many rows have each into bins with about equally many rows."""
    # A value frequent enough to fill a bin gets its own; the others share the remaining rows
    # evenly. Writes the first and the last value of each bin; returns the number of bins.
    rows_left = n_rows
    bins_left = max_bins
    if n_values > max_bins:
        for v in range(n_values):
            if counts[v] * max_bins >= n_rows:
                rows_left -= counts[v]
                bins_left -= 1
    b = 0
    held = 0
    light = 0
    for v in range(n_values):
        if held == 0:
            first[b] = v
        held += counts[v]
        heavy = counts[v] * max_bins >= n_rows
        if not heavy:
            light += counts[v]
        before_heavy = v + 1 < n_values and counts[v + 1] * max_bins >= n_rows
        full = heavy or held * bins_left >= rows_left
        full = full or (before_heavy and 2 * held * bins_left >= rows_left)
        if v + 1 == n_values or n_values <= max_bins or (full and b + 1 < max_bins):
            last[b] = v
            b += 1
            rows_left -= light
            if not heavy and bins_left > 1:
                bins_left -= 1
            held = 0
            light = 0
    return b


@kernel
def cut_into_bins(column, max_bins, low, high, counts):
    """Cut a sorted column of known values into bins with about equally many rows."""
    # Writes the lowest and highest value of each bin; returns the number of bins. ``counts`` is
    # scratch.
    n_rows = column.shape[0]
    n_values = 0
    begin = 0
    for i in range(1, n_rows + 1):
        if i == n_rows or column[i] != column[begin]:
            counts[n_values] = i - begin
            n_values += 1
            begin = i
    first = np.empty(max_bins, np.int64)
    last = np.empty(max_bins, np.int64)
    n_bins = cut_counts(counts, n_values, n_rows, max_bins, first, last)
    b = 0
    at = 0
    for v in range(n_values):
        if v == first[b]:
            low[b] = column[at]
        at += counts[v]
        if v == last[b]:
            high[b] = column[at - 1]
            b += 1
    return n_bins


@kernel
def code_ordered(column, high, n_bins, missing, codes):
    """Write the bin of each row: the first whose highest value is not below it."""
    # Binary search, in step for many rows at a time.
    n_rows = column.shape[0]
    first = np.zeros(_SIDE_BY_SIDE, np.int64)
    begin = 0
    while begin < n_rows:
        n = min(_SIDE_BY_SIDE, n_rows - begin)
        for k in range(n):
            first[k] = 0
        size = n_bins - 1
        while size > 0:
            half = size - (size >> 1)
            for k in range(n):
                at = first[np.uint64(k)]
                below = high[np.uint64(at + half - 1)] < column[np.uint64(begin + k)]
                first[np.uint64(k)] = at + (half if below else 0)
            size -= half
        for k in range(n):
            x = column[begin + k]
            codes[begin + k] = first[k] if x == x else missing
        begin += n


@kernel
def code_categories(column, bin_of_category, missing, codes):
    for row in range(column.shape[0]):
        x = column[row]
        codes[row] = bin_of_category[np.int64(x)] if x == x else missing
