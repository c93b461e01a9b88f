"""Features of few values and categories, searched by counting.

One pass over a node's rows adds their words (:mod:`orfeon.kernels.cart.words`) by code; a second
pass visits the codes that occur. Nothing is sorted and nothing has to be partitioned.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.choice import MISSING_LEFT, MISSING_RIGHT, NONE_MISSING
from orfeon.kernels.cart.scan import TIED
from orfeon.kernels.cart.subset import best_subset
from orfeon.kernels.cart.words import TWO_CLASSES
from orfeon.utils.jit import array_step


@array_step
def count_in_banks(ranks, base, stride, n_codes, rows, words, begin, n, bins):
    """Sum the words of whole groups of four rows by code; returns how many rows these are."""
    # Neighbouring rows often have the same code. With one sum per code each addition would wait
    # for the one before; the four rows of a group have their own.
    first = np.uint64(begin)
    two = np.uint64(n_codes)
    three = two + np.uint64(n_codes)
    four = three + np.uint64(n_codes)
    i = np.uint64(0)
    for _ in range(n >> 2):
        at = first + i
        bins[np.uint64(ranks[base + stride * np.uint64(rows[at])])] += words[i]
        i += np.uint64(1)
        bins[two + np.uint64(ranks[base + stride * np.uint64(rows[at + np.uint64(1)])])] += words[i]
        i += np.uint64(1)
        bins[three + np.uint64(ranks[base + stride * np.uint64(rows[at + np.uint64(2)])])] += words[
            i
        ]
        i += np.uint64(1)
        bins[four + np.uint64(ranks[base + stride * np.uint64(rows[at + np.uint64(3)])])] += words[
            i
        ]
        i += np.uint64(1)
    return np.int64(i)


@array_step
def gather_banks(n_codes, bins, seen):
    """Add the four sums of each code, and mark the codes that occur."""
    two = np.uint64(n_codes)
    three = two + np.uint64(n_codes)
    four = three + np.uint64(n_codes)
    for k in range(n_codes):
        code = np.uint64(k)
        word = bins[code] + bins[two + code] + bins[three + code] + bins[four + code]
        bins[code] = word
        bins[two + code] = 0
        bins[three + code] = 0
        bins[four + code] = 0
        seen[code >> np.uint64(6)] |= np.uint64(word != np.uint64(0)) << (code & np.uint64(63))


@array_step
def count_codes(ranks, base, stride, n_codes, rows, words, begin, end, bins, seen):
    """Add the words of a node's rows by code, and mark the codes in ``seen``, a bit each."""
    first = np.uint64(begin)
    one = np.uint64(1)
    low = np.uint64(63)
    start = np.int64(0)
    if end - begin > 64 + 2 * n_codes:
        start = count_in_banks(ranks, base, stride, n_codes, rows, words, begin, end - begin, bins)
        gather_banks(n_codes, bins, seen)
    if n_codes <= 64:
        marks = seen[0]
        for i in range(start, end - begin):
            code = np.uint64(ranks[base + stride * np.uint64(rows[first + np.uint64(i)])])
            bins[code] += words[np.uint64(i)]
            marks |= one << code
        seen[0] = marks
        return
    for i in range(start, end - begin):
        code = np.uint64(ranks[base + stride * np.uint64(rows[first + np.uint64(i)])])
        bins[code] += words[np.uint64(i)]
        seen[code >> np.uint64(6)] |= one << (code & low)


@array_step
def list_codes(seen, n_codes, present):
    """List the marked codes in ascending order and clear the marks; returns how many."""
    n = np.uint64(0)
    for k in range((n_codes + 63) >> 6):
        marks = seen[k]
        seen[k] = 0
        while marks != np.uint64(0):
            lowest = marks & (~marks + np.uint64(1))
            # A power of two as a float has its logarithm in the exponent.
            exponent = (np.float64(lowest).view(np.int64) >> 52) - 1023
            present[n] = 64 * k + exponent
            n += np.uint64(1)
            marks ^= lowest
    return np.int64(n)


@array_step
def scan_codes_two(bins, present, n, accumulated, total, min_leaf, best):
    """As :func:`orfeon.kernels.cart.scan.scan_gini_two`, over the codes of ``present``."""
    high = np.uint64(32)
    low = np.uint64(0xFFFFFFFF)
    weight = total[0] + total[1]
    whole = float(weight)
    ones = float(total[1])
    most = weight - min_leaf
    bar = best * TIED
    position = np.int64(-1)
    for i in range(n - 1):
        accumulated += bins[np.uint64(present[np.uint64(i)])]
        weight_left = np.int64(accumulated & low)
        excess = float(np.int64(accumulated >> high)) * whole - float(weight_left) * ones
        shares = float(weight_left) * float(weight - weight_left)
        if excess * excess > bar * shares and weight_left >= min_leaf and weight_left <= most:
            best = excess * excess / shares
            bar = best * TIED
            position = i
    return best, position


@array_step
def scan_codes_few(bins, present, n, counters, total, n_fields, bits, min_leaf, best):
    """As :func:`orfeon.kernels.cart.scan.scan_gini_few`, over the codes of ``present``."""
    lowest = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    squares = np.int64(0)
    weight = np.int64(0)
    for c in range(n_fields):
        squares += total[c] * total[c]
        weight += total[c]
    most = weight - min_leaf
    bar = best * TIED
    position = np.int64(-1)
    for i in range(n - 1):
        counters += bins[np.uint64(present[np.uint64(i)])]
        rest = counters
        weight_left = np.int64(0)
        squares_left = np.int64(0)
        products = np.int64(0)
        for c in range(n_fields):
            here = np.int64(rest & lowest)
            rest >>= np.uint64(bits)
            weight_left += here
            squares_left += here * here
            products += here * total[np.uint64(c)]
        crossed = float(squares_left * weight + weight_left * (squares - 2 * products))
        shares = float(weight_left * (weight - weight_left))
        if crossed > bar * shares and weight_left >= min_leaf and weight_left <= most:
            best = crossed / shares
            bar = best * TIED
            position = i
    return best, position


@array_step
def scan_codes(packing, n_fields, bits, bins, present, n, start, total, field_total, min_leaf,
               best):  # fmt: skip
    if packing == TWO_CLASSES:
        return scan_codes_two(bins, present, n, start, total, min_leaf, best)
    return scan_codes_few(bins, present, n, start, field_total, n_fields, bits, min_leaf, best)


@array_step
def search_counts(packing, n_fields, bits, bins, present, n, missing_rank, total, field_total,
                  min_leaf, best):  # fmt: skip
    """Best cut between the codes: (score, its place in ``present``, missing values go left)."""
    best, position = scan_codes(
        packing, n_fields, bits, bins, present, n, np.uint64(0), total, field_total, min_leaf, best
    )
    if present[n - 1] != missing_rank:
        return best, position, False
    best, found = scan_codes(
        packing, n_fields, bits, bins, present, n - 1, bins[missing_rank], total, field_total,
        min_leaf, best,
    )  # fmt: skip
    return best, found if found >= 0 else position, found >= 0


@array_step
def unpack(packing, bits, bins, present, n, total, field, histogram):
    """Statistics of each code that occurs, by class."""
    high = np.uint64(32)
    low = np.uint64(0xFFFFFFFF)
    lowest = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    for i in range(n):
        code = present[i]
        word = bins[code]
        if packing == TWO_CLASSES:
            histogram[code, 1] = np.int64(word >> high)
            histogram[code, 0] = np.int64(word & low) - histogram[code, 1]
            continue
        for c in range(total.shape[0]):
            histogram[code, c] = 0
            if total[c] > 0:
                histogram[code, c] = np.int64((word >> np.uint64(field[c])) & lowest)


@array_step
def sort_codes(present, n, key):
    """Sort codes by their keys, stably, in place."""
    for i in range(1, n):
        code = present[np.uint64(i)]
        own = key[np.uint64(i)]
        j = i - 1
        while j >= 0 and key[np.uint64(j)] > own:
            present[np.uint64(j + 1)] = present[np.uint64(j)]
            key[np.uint64(j + 1)] = key[np.uint64(j)]
            j -= 1
        present[np.uint64(j + 1)] = code
        key[np.uint64(j + 1)] = own


@array_step
def search_subsets(criterion, packing, bits, bins, present, n, histogram, key, field, left, total,
                   min_leaf, best, trial):  # fmt: skip
    """Best subset of the counted categories: (score, whether it is better)."""
    if packing == TWO_CLASSES:
        for i in range(n):
            word = bins[present[i]]
            ones = float(np.int64(word >> np.uint64(32)))
            key[np.uint64(i)] = ones / float(np.int64(word & np.uint64(0xFFFFFFFF)))
        sort_codes(present, n, key)
        best, position = scan_codes_two(bins, present, n, np.uint64(0), total, min_leaf, best)
        if position >= 0:
            for i in range(n):
                trial[present[i]] = 1 if i <= position else 0
        return best, position >= 0
    unpack(packing, bits, bins, present, n, total, field, histogram)
    return best_subset(criterion, histogram, present, n, key, left, total, min_leaf, best, trial)


@array_step
def clear_bins(bins, present, n):
    for i in range(n):
        bins[present[i]] = 0


# -- many classes: a table of codes by classes -----------------------------------------------------


@array_step
def fill_cells(ranks, base, stride, n_codes, rows, labels, weights, begin, end, n_classes,
               cells):  # fmt: skip
    """Weight of each class at each code, flat."""
    for k in range(n_codes * n_classes):
        cells[np.uint64(k)] = 0
    width = np.uint64(n_classes)
    for i in range(begin, end):
        row = rows[np.uint64(i)]
        code = np.uint64(ranks[base + stride * np.uint64(row)])
        cells[code * width + np.uint64(labels[row])] += np.uint32(weights[row])


@array_step
def scan_cells(cells, n_codes, start, left, total, weight, min_leaf, best, beside):
    """Best cut between codes that occur: (score, whether it is better).

    Starts from the class weights of the code ``start``, or from none if it is negative.
    """
    n_classes = left.shape[0]
    width = np.uint64(n_classes)
    squares = np.int64(0)
    for c in range(n_classes):
        squares += np.int64(total[c]) * np.int64(total[c])
        left[c] = cells[np.uint64(start) * width + np.uint64(c)] if start >= 0 else np.uint32(0)
    most = weight - min_leaf
    bar = best * TIED
    before = np.int64(-1)
    is_waiting = False
    found = False
    score = best
    for code in range(n_codes):
        first = np.uint64(code) * width
        here = np.uint64(0)
        for c in range(n_classes):
            here += np.uint64(cells[first + np.uint64(c)])
        if here == np.uint64(0):
            continue
        if is_waiting:
            beside[1] = code
            is_waiting = False
        weight_left = np.uint64(0)
        squares_left = np.uint64(0)
        products = np.uint64(0)
        for c in range(n_classes):
            own = left[np.uint64(c)] + cells[first + np.uint64(c)]
            left[np.uint64(c)] = own
            weight_left += np.uint64(own)
            squares_left += np.uint64(own) * np.uint64(own)
            products += np.uint64(own) * np.uint64(total[np.uint64(c)])
        on_left = np.int64(weight_left)
        crossed = float(
            np.int64(squares_left) * weight + on_left * (squares - 2 * np.int64(products))
        )
        shares = float(on_left * (weight - on_left))
        if crossed > bar * shares and on_left >= min_leaf and on_left <= most and on_left < weight:
            score = crossed / shares
            bar = score * TIED
            before = np.int64(code)
            is_waiting = True
            found = True
    if found:
        beside[0] = before
    return score, found


@array_step
def search_cells(cells, n_codes, left, total, weight, min_leaf, best, beside):
    """Best cut of a feature with few values: (codes present, score, better, missing go left)."""
    n_classes = left.shape[0]
    n = np.int64(0)
    n_missing = np.uint64(0)
    for code in range(n_codes):
        here = np.uint64(0)
        for c in range(n_classes):
            here += np.uint64(cells[code * n_classes + c])
        n += np.int64(here != np.uint64(0))
        n_missing = here
    if n < 2:
        return n, best, False, np.int64(NONE_MISSING)
    none = np.int64(-1)
    best, better = scan_cells(cells, n_codes, none, left, total, weight, min_leaf, best, beside)
    if n_missing == np.uint64(0):
        return n, best, better, np.int64(NONE_MISSING)
    known = n_codes - 1
    best, found = scan_cells(cells, known, known, left, total, weight, min_leaf, best, beside)
    return n, best, better or found, np.int64(MISSING_LEFT if found else MISSING_RIGHT)
