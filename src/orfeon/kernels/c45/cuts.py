"""The best cut of an ordered feature by information gain, in four forms of one loop.

The entropy of weight ``W`` with class weights ``w_c`` is ``W ln W - sum w_c ln w_c``, in nats times
weight. Integer weights use a table of ``x ln x``, and two classes share one counter.

Each returns (entropy after the cut, its place, the number of cuts, the weight below it); records up
to the place go below. A cut leaves ``least`` on both sides; the lowest of equal cuts wins.
``begin`` and ``end`` delimit the known values in the flat ``segments``.
"""

from __future__ import annotations

import math

import numpy as np

from orfeon.kernels.c45.information import SLACK, x_ln_x
from orfeon.utils.jit import array_step

_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


@array_step
def best_cut_counted_two(segments, begin, end, shift, mask, samples, total, ones, least, tie,
                         table):  # fmt: skip
    """Two classes, integer weights."""
    first = np.int64(math.ceil(least - SLACK))
    last = total - first
    sums = np.uint64(0)
    best = np.inf
    at = np.int64(-1)
    below = np.int64(0)
    n_cuts = np.int64(0)
    record = segments[np.uint64(begin)]
    for i in range(begin + 1, end):
        sums += samples[record & mask]["packed"]
        following = segments[np.uint64(i)]
        if (following ^ record) >> shift != 0:
            low = np.int64(sums >> _HALF)
            if low > last:
                break
            if low >= first:
                n_cuts += 1
                low_ones = np.int64(sums & _LOW_HALF)
                high = total - low
                high_ones = ones - low_ones
                after = (
                    (table[np.uint64(low)] + table[np.uint64(high)])
                    - (table[np.uint64(low_ones)] + table[np.uint64(high_ones)])
                    - (table[np.uint64(low - low_ones)] + table[np.uint64(high - high_ones)])
                )
                if after < best - tie:
                    best = after
                    at = np.int64(i - 1)
                    below = low
        record = following
    return best, at, n_cuts, float(below)


@array_step
def best_cut_two(segments, begin, end, shift, mask, samples, total, ones, least, tie):
    """Two classes, any weights."""
    first = least - SLACK
    last = total - first
    low = 0.0
    low_ones = 0.0
    best = np.inf
    at = np.int64(-1)
    below = 0.0
    n_cuts = np.int64(0)
    record = segments[np.uint64(begin)]
    for i in range(begin + 1, end):
        row = record & mask
        low += samples[row]["weight"]
        low_ones += samples[row]["ones"]
        following = segments[np.uint64(i)]
        if (following ^ record) >> shift != 0:
            if low > last:
                break
            if low >= first:
                n_cuts += 1
                high = total - low
                high_ones = ones - low_ones
                after = (
                    (x_ln_x(low) + x_ln_x(high))
                    - (x_ln_x(low_ones) + x_ln_x(high_ones))
                    - (x_ln_x(low - low_ones) + x_ln_x(high - high_ones))
                )
                if after < best - tie:
                    best = after
                    at = np.int64(i - 1)
                    below = low
        record = following
    return best, at, n_cuts, below


@array_step
def best_cut_counted(segments, begin, end, shift, mask, samples, totals, least, tie, table, sums):
    """Any number of classes, integer weights."""
    total = np.int64(0)
    high_terms = 0.0
    for c in range(totals.shape[0]):
        n = np.int64(totals[c])
        sums[c]["low_count"] = 0
        sums[c]["high_count"] = n
        total += n
        high_terms += table[np.uint64(n)]
    low_terms = 0.0
    first = np.int64(math.ceil(least - SLACK))
    last = total - first
    low = np.int64(0)
    best = np.inf
    at = np.int64(-1)
    below = np.int64(0)
    n_cuts = np.int64(0)
    record = segments[np.uint64(begin)]
    for i in range(begin + 1, end):
        row = record & mask
        w = np.int64(samples[row]["packed"] >> _HALF)
        c = np.uint64(samples[row]["label"])
        low += w
        before = sums[c]["low_count"]
        sums[c]["low_count"] = before + w
        low_terms += table[np.uint64(before + w)] - table[np.uint64(before)]
        before = sums[c]["high_count"]
        sums[c]["high_count"] = before - w
        high_terms += table[np.uint64(before - w)] - table[np.uint64(before)]
        following = segments[np.uint64(i)]
        if (following ^ record) >> shift != 0:
            if low > last:
                break
            if low >= first:
                n_cuts += 1
                high = total - low
                after = table[np.uint64(low)] - low_terms + table[np.uint64(high)] - high_terms
                if after < best - tie:
                    best = after
                    at = np.int64(i - 1)
                    below = low
        record = following
    return best, at, n_cuts, float(below)


@array_step
def best_cut(segments, begin, end, shift, mask, samples, totals, least, tie, sums):
    """Any number of classes, any weights."""
    total = 0.0
    high_terms = 0.0
    for c in range(totals.shape[0]):
        sums[c]["low"] = 0.0
        sums[c]["low_term"] = 0.0
        sums[c]["high"] = totals[c]
        sums[c]["high_term"] = x_ln_x(totals[c])
        total += totals[c]
        high_terms += sums[c]["high_term"]
    low_terms = 0.0
    first = least - SLACK
    last = total - first
    low = 0.0
    best = np.inf
    at = np.int64(-1)
    below = 0.0
    n_cuts = np.int64(0)
    record = segments[np.uint64(begin)]
    for i in range(begin + 1, end):
        row = record & mask
        w = samples[row]["weight"]
        c = np.uint64(samples[row]["label"])
        low += w
        sums[c]["low"] += w
        term = x_ln_x(sums[c]["low"])
        low_terms += term - sums[c]["low_term"]
        sums[c]["low_term"] = term
        sums[c]["high"] -= w
        term = x_ln_x(sums[c]["high"])
        high_terms += term - sums[c]["high_term"]
        sums[c]["high_term"] = term
        following = segments[np.uint64(i)]
        if (following ^ record) >> shift != 0:
            if low > last:
                break
            if low >= first:
                n_cuts += 1
                after = x_ln_x(low) - low_terms + x_ln_x(total - low) - high_terms
                if after < best - tie:
                    best = after
                    at = np.int64(i - 1)
                    below = low
        record = following
    return best, at, n_cuts, below
