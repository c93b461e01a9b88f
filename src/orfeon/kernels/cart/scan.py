"""One pass over the sorted records of a node finds a feature's best threshold.

A scan starts from ``left``: zeros, or the statistics of the missing values if these go left. It
evaluates only where the rank changes and both sides hold ``min_leaf``, and returns the best score
with the position of the last record on the left, or -1 if nothing beat ``best``. Scores are
compared by cross-multiplication; the first of those equal up to rounding wins.

Two compiler traps explain the many casts: unsigned plus signed integers become floats, and signed
indices cost a check for wrap-around.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.criteria import (
    ENTROPY_TABLE,
    ERROR,
    GINI,
    GINI_FEW,
    GINI_PAIR,
    GINI_TWO,
    VARIANCE,
    counter_bits,
    n_log_n,
    split_score,
)
from orfeon.utils.jit import array_step

#: A score must exceed the best one by more than the rounding of the comparison.
TIED = 1.0 + 1e-15
#: The same for running sums, which accumulate rounding.
_NEARLY_TIED = 1.0 + 1e-12


@array_step
def scan_gini_two(records, begin, end, shift, mask, packed, left, total, min_leaf, best):
    """Two classes: one accumulator holds the weight (low half) and that of class 1 (high half)."""
    high = np.uint64(32)
    low = np.uint64(0xFFFFFFFF)
    accumulated = np.uint64(left[0] + left[1]) | (np.uint64(left[1]) << high)
    weight = total[0] + total[1]
    whole = float(weight)
    ones = float(total[1])
    most = weight - min_leaf
    bar = best * TIED
    position = np.int64(-1)
    current = records[begin]
    for i in range(begin, end - 1):
        accumulated += packed[current & mask]
        following = records[np.uint64(i + 1)]
        if (following >> shift) != (current >> shift):
            weight_left = np.int64(accumulated & low)
            excess = float(np.int64(accumulated >> high)) * whole - float(weight_left) * ones
            shares = float(weight_left) * float(weight - weight_left)
            if excess * excess > bar * shares and weight_left >= min_leaf and weight_left <= most:
                best = excess * excess / shares
                bar = best * TIED
                position = i
        current = following
    return best, position


@array_step
def scan_gini_few(records, begin, end, shift, mask, packed, left, total, n_fields, bits, min_leaf,
                  best):  # fmt: skip
    """Few classes and small weights: the counters of all classes in one register."""
    # L, T: class weights on the left and in the node; WL, WR, W: weights of left, right and node.
    # sum L^2 / WL + sum (T - L)^2 / WR = (W sum L^2 + WL (sum T^2 - 2 sum L T)) / (WL WR),
    # whose numerator and denominator are integers of less than 63 bits.
    lowest = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    counters = np.uint64(0)
    totals = np.uint64(0)
    squares_left = np.int64(0)
    squares = np.int64(0)
    products = np.int64(0)
    weight_left = np.int64(0)
    weight = np.int64(0)
    for c in range(n_fields):
        counters |= np.uint64(left[c]) << np.uint64(bits * c)
        totals |= np.uint64(total[c]) << np.uint64(bits * c)
        squares_left += left[c] * left[c]
        squares += total[c] * total[c]
        products += left[c] * total[c]
        weight_left += left[c]
        weight += total[c]
    most = weight - min_leaf
    bar = best * TIED
    position = np.int64(-1)
    current = records[begin]
    for i in range(begin, end - 1):
        code = packed[current & mask]
        place = code & np.uint64(0xFFFF)
        w = np.int64(code >> np.uint64(16))
        here = np.int64((counters >> place) & lowest)
        whole = np.int64((totals >> place) & lowest)
        counters += np.uint64(w) << place
        squares_left += w * (2 * here + w)
        products += w * whole
        weight_left += w
        following = records[np.uint64(i + 1)]
        if (following >> shift) != (current >> shift):
            crossed = float(squares_left * weight + weight_left * (squares - 2 * products))
            shares = float(weight_left * (weight - weight_left))
            if crossed > bar * shares and weight_left >= min_leaf and weight_left <= most:
                best = crossed / shares
                bar = best * TIED
                position = i
        current = following
    return best, position


@array_step
def scan_gini(records, begin, end, shift, mask, labels, weights, left, total, min_leaf, best):
    """Any number of classes, any weights; like ``scan_gini_few``, in floating point."""
    squares_left = 0.0
    rest = 0.0
    weight_left = np.int64(0)
    weight = np.int64(0)
    for c in range(total.shape[0]):
        squares_left += float(left[c]) * float(left[c])
        rest += float(total[c]) * float(total[c] - 2 * left[c])
        weight_left += left[c]
        weight += total[c]
    whole = float(weight)
    most = weight - min_leaf
    bar = best * _NEARLY_TIED
    position = np.int64(-1)
    current = records[begin]
    for i in range(begin, end - 1):
        row = current & mask
        c = np.uint64(labels[row])
        w = weights[row]
        here = left[c]
        left[c] = here + w
        squares_left += float(w) * float(2 * here + w)
        rest -= 2.0 * float(w) * float(total[c])
        weight_left += w
        following = records[np.uint64(i + 1)]
        if (following >> shift) != (current >> shift):
            on_left = float(weight_left)
            crossed = squares_left * whole + on_left * rest
            shares = on_left * float(weight - weight_left)
            if crossed > bar * shares and weight_left >= min_leaf and weight_left <= most:
                # Next to a very light branch the running sums are mostly rounding.
                score = split_score(np.int64(GINI), left, total)
                if score > bar:
                    best = score
                    bar = best * _NEARLY_TIED
                    position = i
        current = following
    return best, position


@array_step
def scan_entropy(records, begin, end, shift, mask, labels, weights, left, total, tabled,
                 table, min_leaf, best):  # fmt: skip
    """Entropy of any number of classes; ``tabled`` looks n log2 n up in ``table``."""
    # The running sum accumulates rounding, so a split must be better by more than that.
    running = 0.0
    weight_left = np.int64(0)
    weight = np.int64(0)
    for c in range(total.shape[0]):
        running += n_log_n(float(left[c])) + n_log_n(float(total[c] - left[c]))
        weight_left += left[c]
        weight += total[c]
    tolerance = 1e-12 * n_log_n(float(weight))
    most = weight - min_leaf
    position = np.int64(-1)
    current = records[begin]
    for i in range(begin, end - 1):
        row = current & mask
        c = np.uint64(labels[row])
        w = weights[row]
        here = left[c]
        there = total[c] - here
        left[c] = here + w
        if tabled:
            running += table[np.uint64(here + w)] - table[np.uint64(here)]
            running += table[np.uint64(there - w)] - table[np.uint64(there)]
        else:
            running += n_log_n(float(here + w)) - n_log_n(float(here))
            running += n_log_n(float(there - w)) - n_log_n(float(there))
        weight_left += w
        following = records[np.uint64(i + 1)]
        if (following >> shift) != (current >> shift):
            if tabled:
                score = (
                    running - table[np.uint64(weight_left)] - table[np.uint64(weight - weight_left)]
                )
            else:
                score = running - n_log_n(float(weight_left)) - n_log_n(float(weight - weight_left))
            if score > best + tolerance and weight_left >= min_leaf and weight_left <= most:
                best = score
                position = i
        current = following
    return best, position


@array_step
def scan_variance(records, begin, end, shift, mask, moments, weights, left, total, min_leaf, best):
    """Regression: the largest sum over both sides of moment^2 / weight."""
    weight_left = left[0]
    sum_left = left[1]
    most = total[0] - min_leaf
    bar = best * TIED
    position = np.int64(-1)
    current = records[begin]
    for i in range(begin, end - 1):
        row = current & mask
        weight_left += weights[row]
        sum_left += moments[row]
        following = records[np.uint64(i + 1)]
        if (following >> shift) != (current >> shift):
            on_left = float(sum_left)
            on_right = float(total[1] - sum_left)
            weight_right = float(total[0] - weight_left)
            crossed = on_left * on_left * weight_right + on_right * on_right * float(weight_left)
            shares = float(weight_left) * weight_right
            if crossed > bar * shares and weight_left >= min_leaf and weight_left <= most:
                best = crossed / shares
                bar = best * TIED
                position = i
        current = following
    return best, position


@array_step
def scan_error(records, begin, end, shift, mask, labels, weights, left, total, min_leaf, best):
    """Classification error; of the many cuts of equal error, the most even one."""
    # The first one would split off one sample after the other, in trees as deep as the samples.
    weight_left = np.int64(0)
    weight = np.int64(0)
    for c in range(total.shape[0]):
        weight_left += left[c]
        weight += total[c]
    most = weight - min_leaf
    bar = best * _NEARLY_TIED
    lowest = best
    uneven = weight
    position = np.int64(-1)
    current = records[begin]
    for i in range(begin, end - 1):
        row = current & mask
        left[np.uint64(labels[row])] += weights[row]
        weight_left += weights[row]
        following = records[np.uint64(i + 1)]
        if (following >> shift) != (current >> shift):
            if weight_left >= min_leaf and weight_left <= most:
                score = split_score(np.int64(ERROR), left, total)
                distance = abs(2 * weight_left - weight)
                tied = position >= 0 and score >= lowest and distance < uneven
                if score > bar or tied:
                    if score > bar:
                        lowest = score * (2.0 - _NEARLY_TIED)
                        bar = score * _NEARLY_TIED
                    best = max(best, score)
                    uneven = distance
                    position = i
        current = following
    return best, position


@array_step
def scan(criterion, records, begin, end, shift, mask, packed, labels, weights, moments,
         left, total, table, min_leaf, best):  # fmt: skip
    if criterion == GINI_PAIR:  # convert class weights to (weight, moment)
        left[0] += left[1]
        total[0] += total[1]
        best, position = scan_variance(
            records, begin, end, shift, mask, moments, weights, left, total, min_leaf, best
        )
        left[0] -= left[1]
        total[0] -= total[1]
        return best, position
    if criterion == GINI_TWO:
        return scan_gini_two(records, begin, end, shift, mask, packed, left, total, min_leaf, best)
    if criterion == GINI_FEW:
        return scan_gini_few(
            records, begin, end, shift, mask, packed, left, total, np.int64(total.shape[0]),
            counter_bits(total.shape[0]), min_leaf, best,
        )  # fmt: skip
    if criterion == VARIANCE:
        return scan_variance(
            records, begin, end, shift, mask, moments, weights, left, total, min_leaf, best
        )
    if criterion == ERROR:
        return scan_error(
            records, begin, end, shift, mask, labels, weights, left, total, min_leaf, best
        )
    if criterion >= ENTROPY_TABLE:
        return scan_entropy(
            records, begin, end, shift, mask, labels, weights, left, total,
            criterion == ENTROPY_TABLE, table, min_leaf, best,
        )  # fmt: skip
    return scan_gini(records, begin, end, shift, mask, labels, weights, left, total, min_leaf, best)
