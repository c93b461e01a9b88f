"""Sorting the records of one node, for features that have no presorted segments."""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import SORTED
from orfeon.utils.jit import array_step

#: Most rows to sort by comparing all pairs.
MOST_PAIRS = 128
#: The same for features with few values, where counting is faster beyond.
_FEW_PAIRS = 32
#: The same where digits are faster beyond.
_LIKELY_PAIRS = 64
#: Values of a digit, by which larger nodes are sorted.
N_DIGITS = 1024
#: In place of a number of rows: any node.
ANY_SIZE = 1 << 40


@array_step
def small_node(max_features, n_candidates):
    """Up to how many rows a node's records are sorted when it is searched: all or none."""
    # Where most features are searched, every split partitions the presorted records of every
    # feature. Where few are, touching only these costs less.
    return np.int64(0 if 3 * max_features > n_candidates else ANY_SIZE)


@array_step
def write_records(segments, shift, ranks, base, stride, rows, begin, end, at):
    """Write the unsorted records of a node's rows; returns whether their ranks differ."""
    put = np.uint64(at)
    first = np.uint64(ranks[base + stride * np.uint64(rows[np.uint64(begin)])])
    differences = np.uint64(0)
    for i in range(begin, end):
        row = rows[np.uint64(i)]
        rank = ranks[base + stride * np.uint64(row)]
        differences |= np.uint64(rank) ^ first
        segments[put] = (segments.dtype.type(rank) << shift) | segments.dtype.type(row)
        put += np.uint64(1)
    return differences != np.uint64(0)


@array_step
def rank_range(segments, shift, at, n):
    """The least and the greatest rank of ``n`` records."""
    low = segments[np.uint64(at)]
    high = low
    for i in range(at, at + n):
        low = min(low, segments[np.uint64(i)])
        high = max(high, segments[np.uint64(i)])
    return np.uint64(low >> shift), np.uint64(high >> shift)


@array_step
def order_by_pairs(segments, source, n, target):
    """Sort few records from one place to another."""
    # A record's place is the number of smaller ones: n^2 comparisons, vectorised and branchless.
    for i in range(n):
        record = segments[np.uint64(source + i)]
        smaller = np.uint32(0)
        for j in range(n):
            smaller += np.uint32(segments[np.uint64(source + j)] < record)
        segments[np.uint64(target) + np.uint64(smaller)] = record


@array_step
def order_by_digits(segments, shift, source, target, n, low, high, digits):
    """Sort records by rank, lowest digit first; returns where they are in the end."""
    # A digit for few records is shorter: the table of its values should not be longer than they.
    bits = np.int64(0)
    while ((high - low) >> np.uint64(bits)) > np.uint64(0):
        bits += 1
    most = np.int64(10 if n > 400 else 8)
    n_digits = (bits + most - 1) // most
    width = np.uint64((bits + n_digits - 1) // max(n_digits, np.int64(1)))
    last = (np.uint64(1) << width) - np.uint64(1)
    done = np.uint64(0)
    while ((high - low) >> done) > np.uint64(0):
        for d in range(np.int64(last) + 1):
            digits[np.uint64(d)] = 0
        for i in range(n):
            rank = np.uint64(segments[np.uint64(source + i)] >> shift) - low
            digits[(rank >> done) & last] += np.uint32(1)
        put = np.uint32(target)
        for d in range(np.int64(last) + 1):
            size = digits[np.uint64(d)]
            digits[np.uint64(d)] = put
            put += size
        for i in range(n):
            record = segments[np.uint64(source + i)]
            digit = ((np.uint64(record >> shift) - low) >> done) & last
            at = digits[digit]
            segments[np.uint64(at)] = record
            digits[digit] = at + np.uint32(1)
        source, target = target, source
        done += width
    return source


@array_step
def sort_records(segments, shift, at, n, digits):
    """Sort the ``n`` records at ``at``; returns where they are: there or in the other half."""
    other = segments.shape[0] // 2 - at
    if n <= _LIKELY_PAIRS:
        order_by_pairs(segments, at, n, other)
        return other
    low, high = rank_range(segments, shift, at, n)
    return order_by_digits(segments, shift, at, other, n, low, high, digits)


@array_step
def sort_by_pairs(segments, shift, ranks, base, rows, begin, end, buffer):
    """Write the sorted records of a small node's rows to the buffer."""
    n = end - begin
    unsorted = np.uint64(buffer - MOST_PAIRS)
    for i in range(n):
        row = rows[np.uint64(begin + i)]
        segments[unsorted + np.uint64(i)] = (
            segments.dtype.type(ranks[base + np.uint64(row)]) << shift
        ) | segments.dtype.type(row)
    order_by_pairs(segments, buffer - MOST_PAIRS, n, buffer)


@array_step
def sort_by_counting(segments, shift, ranks, base, n_ranks, rows, begin, end, count, buffer):
    """Write the sorted records of the node's rows to the buffer, for a feature of few values."""
    if end - begin <= _FEW_PAIRS:
        sort_by_pairs(segments, shift, ranks, base, rows, begin, end, buffer)
        return
    for i in range(begin, end):
        count[np.int64(ranks[base + np.uint64(rows[i])])] += 1
    put = buffer
    for r in range(n_ranks):
        size = count[r]
        count[r] = put
        put += size
    for i in range(begin, end):
        row = rows[i]
        rank = ranks[base + np.uint64(row)]
        at = count[np.int64(rank)]
        segments[np.uint64(at)] = (segments.dtype.type(rank) << shift) | segments.dtype.type(row)
        count[np.int64(rank)] = at + 1
    for r in range(n_ranks):
        count[r] = 0


@array_step
def sort_by_rank(segments, shift, ranks, base, stride, rows, begin, end, digits):
    """Sort the records of a node of any size, without presorted ones; returns where they are."""
    at = np.int64(0)
    if not write_records(segments, shift, ranks, base, stride, rows, begin, end, at):
        return at  # a constant feature: any order will do
    return sort_records(segments, shift, at, end - begin, digits)


@array_step
def sort_above_least(segments, shift, ranks, base, stride, rows, begin, end, digits):
    """Sort the records above rank 0, if less than half are: (where they begin, how many).

    In front of them is one of the records of rank 0.
    """
    put = np.uint64(1)
    for i in range(begin, end):
        row = rows[np.uint64(i)]
        segments[put] = segments.dtype.type(row)
        put += np.uint64(ranks[base + stride * np.uint64(row)] != 0)
    n = np.int64(put) - 1
    at = np.int64(1)
    if 0 < 2 * n < end - begin:
        for i in range(1, n + 1):
            row = segments[np.uint64(i)]
            rank = ranks[base + stride * np.uint64(row)]
            segments[np.uint64(i)] = (segments.dtype.type(rank) << shift) | row
        at = sort_records(segments, shift, at, n, digits)
        i = np.uint64(begin)
        while ranks[base + stride * np.uint64(rows[i])] != 0:
            i += np.uint64(1)
        segments[np.uint64(at - 1)] = segments.dtype.type(rows[i])
    return at, n


@array_step
def segment_of(kind, segment, segments, shift, ranks, n_rows, f, n_ranks, rows, begin, end, count,
               digits, buffer, small):  # fmt: skip
    """Bounds of the node's sorted records of a feature, which are sorted first if necessary."""
    base = np.uint64(f * n_rows)
    first = buffer
    if kind != SORTED:
        sort_by_counting(segments, shift, ranks, base, n_ranks, rows, begin, end, count, buffer)
    elif end - begin <= small:
        first = sort_by_rank(segments, shift, ranks, base, np.uint64(1), rows, begin, end, digits)
    else:
        first = segment[f] * n_rows + begin
    return first, first + end - begin
