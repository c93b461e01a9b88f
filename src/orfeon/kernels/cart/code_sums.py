"""Features of few values searched by summing weights and moments by code.

For regression, and for two classes of fractional weights, which are scanned as targets 0 and 1
(:mod:`orfeon.kernels.cart.scan`). The cuts and their scores are those of a scan of sorted records.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.choice import MISSING_LEFT, MISSING_RIGHT, NONE_MISSING
from orfeon.kernels.cart.scan import TIED
from orfeon.utils.jit import array_step


@array_step
def sum_in_banks(ranks, base, stride, n_codes, rows, weights, moments, begin, n, sums):
    """Sum whole groups of four rows by code; returns how many rows these are."""
    # As :func:`orfeon.kernels.cart.counting.count_in_banks`: with one sum per code, each addition
    # would wait for that of the row before wherever most rows have the same code.
    zero = np.uint64(0)
    one = np.uint64(1)
    bank = np.uint64(n_codes)
    for code in range(n_codes, 4 * n_codes):
        sums[np.uint64(code), zero] = 0
        sums[np.uint64(code), one] = 0
    i = np.uint64(begin)
    for _ in range(n >> 2):
        for k in range(4):
            row = np.uint64(rows[i + np.uint64(k)])
            at = np.uint64(k) * bank + np.uint64(ranks[base + stride * row])
            sums[at, zero] += weights[row]
            sums[at, one] += moments[row]
        i += np.uint64(4)
    for code in range(n_codes):
        at = np.uint64(code)
        for k in range(1, 4):
            sums[at, zero] += sums[np.uint64(k) * bank + at, zero]
            sums[at, one] += sums[np.uint64(k) * bank + at, one]
    return np.int64(i) - begin


@array_step
def sum_codes(ranks, base, stride, n_codes, rows, weights, moments, begin, end, sums):
    """Sum the weights and moments of a node's rows by code; four times as many sums are used."""
    zero = np.uint64(0)
    one = np.uint64(1)
    for code in range(n_codes):
        sums[np.uint64(code), zero] = 0
        sums[np.uint64(code), one] = 0
    if end - begin > 64 + 8 * n_codes:
        begin += sum_in_banks(
            ranks, base, stride, n_codes, rows, weights, moments, begin, end - begin, sums
        )
    for i in range(begin, end):
        row = np.uint64(rows[np.uint64(i)])
        code = np.uint64(ranks[base + stride * row])
        sums[code, zero] += weights[row]
        sums[code, one] += moments[row]


@array_step
def list_summed(sums, n_codes, present):
    """List the codes that occur in ascending order; returns how many."""
    n = np.uint64(0)
    for code in range(n_codes):
        present[n] = code
        n += np.uint64(sums[np.uint64(code), np.uint64(0)] > 0)
    return np.int64(n)


@array_step
def scan_sums(sums, present, n, weight_left, sum_left, weight, moment, min_leaf, best):
    """Best cut between neighbours of ``present``: (score, place of the code on its left or -1)."""
    # Starts with some weight and moment on the left.
    most = weight - min_leaf
    bar = best * TIED
    position = np.int64(-1)
    for i in range(n - 1):
        code = np.uint64(present[np.uint64(i)])
        weight_left += sums[code, np.uint64(0)]
        sum_left += sums[code, np.uint64(1)]
        on_left = float(sum_left)
        on_right = float(moment - sum_left)
        weight_right = float(weight - weight_left)
        crossed = on_left * on_left * weight_right + on_right * on_right * float(weight_left)
        shares = float(weight_left) * weight_right
        if crossed > bar * shares and weight_left >= min_leaf and weight_left <= most:
            best = crossed / shares
            bar = best * TIED
            position = np.int64(i)
    return best, position


@array_step
def search_sums(sums, present, n, missing_rank, weight, moment, min_leaf, best):
    """Best cut of a feature: (score, place of the code on its left or -1, missing goes)."""
    zero = np.int64(0)
    best, position = scan_sums(sums, present, n, zero, zero, weight, moment, min_leaf, best)
    if present[n - 1] != missing_rank:
        return best, position, np.int64(NONE_MISSING)
    aside = np.uint64(missing_rank)
    best, found = scan_sums(
        sums, present, n - 1, sums[aside, np.uint64(0)], sums[aside, np.uint64(1)], weight, moment,
        min_leaf, best,
    )  # fmt: skip
    if found >= 0:
        return best, found, np.int64(MISSING_LEFT)
    return best, position, np.int64(MISSING_RIGHT)
