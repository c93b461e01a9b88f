"""Histograms of a node over binned features, and the best split of each feature.

A histogram holds the weight and the moment (weight times residual, fixed point) of the node's rows
in each bin. If weights are small integers, one word holds both, the weight above the moment, and
adding a row is one addition; otherwise a second plane holds the moments. All sums are integers:
exact and independent of the order of the rows.

A score is the sum over both sides of moment^2 / weight, as in the exact search. Features compute
only their best score, many bins at a time; the cut is located for the winner alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.kernels.cart.search import ABSENT, MISSING_LEFT, MISSING_RIGHT, NONE_MISSING
from orfeon.kernels.cart.subset import sort_by_key
from orfeon.kernels.histogram.threads import prefetch
from orfeon.kernels.record import record
from orfeon.utils.jit import array_step, inlined, loop_step

#: In place of a score: no cut leaves enough weight on both sides, or all rows are in one bin.
NO_CUT, CONSTANT = -1.0, -2.0
TIED = 1.0 + 1e-15
#: Rows between prefetching a code and reading it; this many rows may follow the last one.
AHEAD = 32


@record
class Bins:
    codes: Any  # uint64; eight features per word, all rows, then the next eight
    offset: Any  # uint64; where each feature's bins begin in a histogram
    n_bins: Any  # int64; the bin of missing values comes after these
    is_categorical: Any
    low: Any  # lowest and highest value of each bin, laid out like a histogram
    high: Any
    n_rows: int


@record
class Search:
    histograms: Any  # int64; one after the other
    length: int  # of a plane of a histogram
    is_wide: int  # whether moments have their own plane
    shift: int  # of the weight in a packed word
    mask: int  # of the moment in a packed word
    centre: float  # subtracted from the moment per unit of weight
    least: float  # minimum weight of a leaf
    weight: Any  # float64 (2,), of the two nodes under search
    moment: Any
    sums: Any  # int64 (2, 256) running sums of weights (or packed words), and of moments
    order: Any
    key: Any


@loop_step
def add_rows(codes, base, rows, values, at, begin, end, histograms, to, offset, first):
    byte = np.uint64(255)
    start0 = to + offset[first]
    start1 = to + offset[first + 1]
    start2 = to + offset[first + 2]
    start3 = to + offset[first + 3]
    start4 = to + offset[first + 4]
    start5 = to + offset[first + 5]
    start6 = to + offset[first + 6]
    start7 = to + offset[first + 7]
    for i in range(begin, end):
        prefetch(codes, base + np.uint64(rows[np.uint64(i + AHEAD)]))
        word = codes[base + np.uint64(rows[np.uint64(i)])]
        value = values[at + np.uint64(i)]
        histograms[start0 + (word & byte)] += value
        histograms[start1 + ((word >> np.uint64(8)) & byte)] += value
        histograms[start2 + ((word >> np.uint64(16)) & byte)] += value
        histograms[start3 + ((word >> np.uint64(24)) & byte)] += value
        histograms[start4 + ((word >> np.uint64(32)) & byte)] += value
        histograms[start5 + ((word >> np.uint64(40)) & byte)] += value
        histograms[start6 + ((word >> np.uint64(48)) & byte)] += value
        histograms[start7 + (word >> np.uint64(56))] += value


@loop_step
def subtract(histograms, first, last, other):
    """Subtract the histogram at ``other`` from ``histograms[first:last]``."""
    for i in range(last - first):
        histograms[np.uint64(first + i)] -= histograms[np.uint64(other + i)]


@loop_step
def run_sums(histograms, first, n, start, sums):
    total = np.int64(start)
    for i in range(n):
        total += histograms[np.uint64(first + i)]
        sums[np.uint64(i)] = total


@array_step
def score_of(weight_left, moment_left, weight, moment):
    """Score of a cut; both sides need positive weight."""
    weight_right = weight - weight_left
    moment_right = moment - moment_left
    crossed = moment_left * moment_left * weight_right + moment_right * moment_right * weight_left
    return crossed / (weight_left * weight_right)


@loop_step
def best_packed(sums, n, shift, mask, centre, weight, moment, least):
    """Best score of a cut after any of the bins, from running sums of packed words."""
    # Comparing by bits vectorises: floats of at least 0 order like their bits, and NO_CUT is below.
    most = weight - least
    top = np.float64(NO_CUT).view(np.int64)
    for i in range(n):
        total = sums[np.uint64(i)]
        on_left = float(total >> shift)
        moment_left = float(total & mask) - on_left * centre
        score = NO_CUT
        if (on_left >= least) & (on_left <= most):
            score = score_of(on_left, moment_left, weight, moment)
        top = max(top, np.float64(score).view(np.int64))
    return np.int64(top).view(np.float64)


@loop_step
def best_wide(weights, moments, n, weight, moment, least):
    """Like ``best_packed``, from running sums of weights and of moments."""
    most = weight - least
    top = np.float64(NO_CUT).view(np.int64)
    for i in range(n):
        on_left = float(weights[np.uint64(i)])
        moment_left = float(moments[np.uint64(i)])
        score = NO_CUT
        if (on_left >= least) & (on_left <= most):
            score = score_of(on_left, moment_left, weight, moment)
        top = max(top, np.float64(score).view(np.int64))
    return np.int64(top).view(np.float64)


@array_step
def best_of_sums(search, side, n):
    weight = search.weight[side]
    moment = search.moment[side]
    if search.is_wide:
        return best_wide(search.sums[0], search.sums[1], n, weight, moment, search.least)
    return best_packed(
        search.sums[0], n, search.shift, search.mask, search.centre, weight, moment, search.least
    )


@array_step
def first_of_sums(search, side, n, best, above):
    """The first running sum that reaches the best score and whose weight exceeds ``above``."""
    weight = search.weight[side]
    for i in range(n):
        total = search.sums[0, i]
        if search.is_wide:
            on_left = float(total)
            moment_left = float(search.sums[1, i])
        else:
            on_left = float(total >> search.shift)
            moment_left = float(total & search.mask) - on_left * search.centre
        if on_left > above and on_left >= search.least and weight - on_left >= search.least:
            if score_of(on_left, moment_left, weight, search.moment[side]) * TIED >= best:
                return np.int64(i)
    return np.int64(-1)


@array_step
def bin_weight(search, at):
    word = search.histograms[at]
    return float(word if search.is_wide else word >> search.shift)


@array_step
def run_over_values(search, first, n, missing_left):
    """Running sums over the bins of an ordered feature, from missing values on or without them."""
    for plane in range(1 + search.is_wide):
        at = first + plane * search.length
        start = search.histograms[at + n] if missing_left else np.int64(0)
        run_sums(search.histograms, at, n, start, search.sums[plane])


@array_step
def run_over_categories(search, first, n):
    """Running sums over the categories by mean; returns how many are present."""
    # Missing values are a category. The prefixes include the best subset (Breiman et al. 1984).
    present = 0
    for b in range(n + 1):
        here = bin_weight(search, first + b)
        if here > 0:
            search.order[present] = b
            word = search.histograms[first + b]
            if search.is_wide:
                search.key[b] = float(search.histograms[first + search.length + b]) / here
            else:
                search.key[b] = float(word & search.mask) / here
            present += 1
    sort_by_key(search.order, present, search.key)
    for plane in range(1 + search.is_wide):
        total = np.int64(0)
        for i in range(present):
            total += search.histograms[first + plane * search.length + search.order[i]]
            search.sums[plane, i] = total
    return present


@inlined
def is_constant(search, side, first, n):
    """Whether all rows of the node are in one bin, counting missing values as a bin."""
    for b in range(n + 1):
        here = bin_weight(search, first + b)
        if here > 0:
            return here == search.weight[side]
    return True


@array_step
def best_score(bins, search, side, start, f):
    first = start + np.int64(bins.offset[f])
    n = bins.n_bins[f]
    if is_constant(search, side, first, n):
        return CONSTANT
    if bins.is_categorical[f]:
        return best_of_sums(search, side, run_over_categories(search, first, n) - 1)
    run_over_values(search, first, n, False)
    score = best_of_sums(search, side, n)
    if bin_weight(search, first + n) > 0:
        run_over_values(search, first, n, True)
        score = max(score, best_of_sums(search, side, n))
    return score


@array_step
def locate_split(bins, search, side, start, f, best, sides, choice):
    """Find the split that reaches the best score of a feature."""
    # ``choice``: feature, last bin on the left, first on the right, where missing values go. For a
    # categorical feature ``sides`` receives the side of each bin.
    first = start + np.int64(bins.offset[f])
    n = bins.n_bins[f]
    missing = bin_weight(search, first + n)
    choice[0] = f
    choice[3] = MISSING_RIGHT if missing > 0 else NONE_MISSING
    if bins.is_categorical[f]:
        present = run_over_categories(search, first, n)
        last = first_of_sums(search, side, present - 1, best, 0.0)
        for b in range(n + 1):
            sides[b] = ABSENT
        for i in range(present):
            sides[search.order[i]] = 1 if i <= last else 0
        if missing > 0:
            choice[3] = sides[n]
        return
    run_over_values(search, first, n, False)
    cut = first_of_sums(search, side, n, best, 0.0)
    if cut < 0:
        choice[3] = MISSING_LEFT
        run_over_values(search, first, n, True)
        cut = first_of_sums(search, side, n, best, missing)
    following = cut + 1
    while following < n and bin_weight(search, first + following) == 0:
        following += 1
    choice[1] = cut
    choice[2] = following
