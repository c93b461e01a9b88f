"""Random cuts: each candidate feature of a node is cut once, and the best cut is made.

Values are read unsorted, as *keys*: integers in the order of the values
(:func:`orfeon.data.sorting.spread_keys`). A candidate takes three passes over the node's rows: copy
the keys, find the extremes, sum the left side; the last two take several rows at a time.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import CATEGORICAL, MISSING_KEY, key_of, value_of
from orfeon.kernels.cart.criteria import (
    GINI,
    GINI_TWO,
    VARIANCE,
    best_of_two,
    best_possible,
    counter_bits,
    split_score,
)
from orfeon.kernels.cart.search import (
    ABSENT,
    MISSING_LEFT,
    MISSING_RIGHT,
    NO_SPLIT,
    NONE_MISSING,
    add_row,
    midpoint,
    next_candidate,
)
from orfeon.kernels.rng import random_below, random_unit
from orfeon.utils.jit import array_step, inlined, step

#: Small nodes read several candidates at once, up to this many values.
SIDE_BY_SIDE = 256
#: How statistics are summed: all class weights in one word, weights and moments, or by class.
PACKED, MOMENTS, BY_CLASS = 0, 1, 2


@step
def pack_counters(options, labels, weights, packed):
    """Put each row's weight into the bits of its class, for sums that fit in one word."""
    bits = counter_bits(options.n_stats)
    if options.criterion == VARIANCE or bits == 0:
        return
    for i in range(weights.shape[0]):
        packed[i] = np.uint64(weights[i]) << np.uint64(bits * np.int64(labels[i]))


@array_step
def random_categories(random, present, trial, n):
    """Draw a random proper subset of the ``n`` present categories into ``trial``."""
    for i in range(n - 1, 0, -1):
        q = random_below(random, i + 1)
        present[i], present[q] = present[q], present[i]
    size = 1 + random_below(random, n - 1)
    for i in range(n):
        trial[present[i]] = 1 if i < size else 0


@array_step
def count_categories(criterion, ranks, base, labels, weights, moments, rows, begin, end, count,
                     histogram, present):  # fmt: skip
    """Statistics of each category in the node; returns how many are present, listed in order."""
    n = np.int64(0)
    for i in range(begin, end):
        row = np.int64(rows[i])
        code = np.int64(ranks[base + np.uint64(row)])
        if count[code] == 0:
            at = n
            while at > 0 and present[at - 1] > code:
                present[at] = present[at - 1]
                at -= 1
            present[at] = code
            n += 1
            for c in range(histogram.shape[1]):
                histogram[code, c] = 0
        count[code] += 1
        add_row(criterion, labels, weights, moments, row, histogram[code])
    for i in range(n):
        count[present[i]] = 0
    return n


@array_step
def keep_categories(present, n, trial, n_categories, chosen):
    """Make the subset under trial the best one; returns where missing values go."""
    for code in range(n_categories + 1):
        chosen[code] = ABSENT
    for i in range(n):
        chosen[present[i]] = trial[present[i]]
    missing = np.int64(chosen[n_categories])
    return np.int64(NONE_MISSING) if missing == ABSENT else missing


@array_step
def gather_keys(keys, n_rows, candidates, first, drawn, rows, begin, end, cells):
    """Copy the node's keys of some candidates, one after the other."""
    # The loads are independent: in a small node each misses the cache, and they overlap.
    n = end - begin
    for q in range(drawn):
        base = np.uint64(candidates[first + q] * n_rows)
        put = np.uint64(q * n)
        for i in range(n):
            cells[put + np.uint64(i)] = keys[base + np.uint64(rows[np.uint64(begin + i)])]


@array_step
def gather_words(form, packed, labels, weights, moments, rows, begin, end, words, codes):
    n = end - begin
    if form == PACKED:
        for i in range(n):
            words[i] = packed[rows[np.uint64(begin + i)]]
    elif form == MOMENTS:
        second = words.shape[0] // 2
        for i in range(n):
            row = rows[np.uint64(begin + i)]
            words[i] = np.uint64(weights[row])
            words[np.uint64(second + i)] = np.uint64(moments[row])
    else:
        for i in range(n):
            row = rows[np.uint64(begin + i)]
            words[i] = np.uint64(weights[row])
            codes[i] = labels[row]


@inlined
def extremes(cells, start, n):
    """Smallest and largest known key, and whether any are missing."""
    low = np.int64(MISSING_KEY)
    high = np.int64(-MISSING_KEY)
    for i in range(n):
        key = cells[np.uint64(start + i)]
        low = min(low, key)
        high = max(high, key)
    any_missing = high == MISSING_KEY
    if any_missing:
        high = np.int64(-MISSING_KEY)
        for i in range(n):
            key = cells[np.uint64(start + i)]
            high = max(high, key if key < MISSING_KEY else high)
    return low, high, any_missing


@array_step
def random_threshold(random, low, high):
    """A threshold uniform between two values, always below the larger one."""
    threshold = low + random_unit(random) * (high - low)
    if threshold >= high or not threshold >= low:
        threshold = midpoint(low, high)
    return threshold


@inlined
def sum_cells(cells, start, words, second, n, cut, missing_left):
    total = np.uint64(0)
    for i in range(n):
        word = words[np.uint64(second + i)]
        total += word if cells[np.uint64(start + i)] <= cut else np.uint64(0)
    if missing_left:
        for i in range(n):
            if cells[np.uint64(start + i)] == MISSING_KEY:
                total += words[np.uint64(second + i)]
    return total


@array_step
def sum_moments(cells, start, words, n, cut, missing_left, left):
    second = words.shape[0] // 2
    left[0] = np.int64(sum_cells(cells, start, words, np.int64(0), n, cut, missing_left))
    left[1] = np.int64(sum_cells(cells, start, words, second, n, cut, missing_left))
    return left[0]


@array_step
def sum_classes(cells, start, words, codes, n, cut, missing_left, left):
    for c in range(left.shape[0]):
        left[c] = 0
    weight = np.int64(0)
    for i in range(n):
        key = cells[np.uint64(start + i)]
        side = np.int64(key <= cut) | np.int64(missing_left and key == MISSING_KEY)
        w = np.int64(words[i]) * side
        left[np.uint64(codes[i])] += w
        weight += w
    return weight


@inlined
def score_packed(criterion, counters, bits, min_leaf, weight, left, total):
    """Score of a cut from packed class weights; -inf if a side is too small. Fills ``left``."""
    lowest = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    weight_left = np.int64(0)
    squares_left = 0.0
    squares_right = 0.0
    here = np.int64(0)
    for c in range(total.shape[0]):
        here = np.int64((counters >> np.uint64(bits * c)) & lowest)
        left[c] = here
        weight_left += here
        squares_left += float(here) * float(here)
        squares_right += float(total[c] - here) * float(total[c] - here)
    weight_right = weight - weight_left
    score = -np.inf
    if weight_left >= min_leaf and weight_right >= min_leaf:
        if criterion == GINI_TWO:  # ``here`` is that of the second class
            excess = float(here) * float(weight) - float(weight_left) * float(total[1])
            score = excess * excess / (float(weight_left) * float(weight_right))
        elif criterion <= GINI:
            score = squares_left / float(weight_left) + squares_right / float(weight_right)
        else:
            score = split_score(criterion, left, total)
    return score


@array_step
def cut_categories(criterion, histogram, present, n, trial, random, left, total, min_leaf):
    """Score of a random subset of categories, in ``trial``; -inf if a side is too small."""
    # Fills ``left``.
    if n < 2:
        return -np.inf
    random_categories(random, present, trial, n)
    for c in range(left.shape[0]):
        left[c] = 0
    for i in range(n):
        code = present[i]
        if trial[code] == 1:
            for c in range(left.shape[0]):
                left[c] += histogram[code, c]
    weight_left = left[0]
    weight = total[0]
    if criterion != VARIANCE:
        for c in range(1, left.shape[0]):
            weight_left += left[c]
            weight += total[c]
    if weight_left < min_leaf or weight - weight_left < min_leaf:
        return -np.inf
    return split_score(criterion, left, total)


@inlined
def form_of(criterion, total):
    """Weight of a node, bits per class in a word, and how its statistics are summed."""
    weight = total[0]
    bits = counter_bits(total.shape[0])
    form = np.int64(MOMENTS)
    if criterion != VARIANCE:
        for c in range(1, total.shape[0]):
            weight += total[c]
        form = np.int64(PACKED if weight < np.int64(1) << bits else BY_CLASS)
    return weight, bits, form


@inlined
def cut_keys(criterion, form, bits, min_leaf, weight, cells, start, n, words, codes, random, left,
             total):  # fmt: skip
    """Cut one feature: (score, threshold, missing goes, whether the feature varies)."""
    # The score is -inf if a side is too small. Fills ``left``.
    score = -np.inf
    threshold = np.inf
    goes = np.int64(NONE_MISSING)
    low, high, any_missing = extremes(cells, start, n)
    if any_missing:
        goes = random_below(random, np.int64(2))
    varies = low < high
    cut = low
    if varies:
        threshold = random_threshold(random, value_of(low), value_of(high))
        cut = key_of(threshold)
    elif low == high and any_missing:
        # One known value: the only split separates the missing values from it.
        varies = True
        goes = np.int64(MISSING_RIGHT)
    if varies:
        to_left = goes == MISSING_LEFT
        if form == PACKED:
            counters = sum_cells(cells, start, words, np.int64(0), n, cut, to_left)
            score = score_packed(criterion, counters, bits, min_leaf, weight, left, total)
        else:
            if form == MOMENTS:
                weight_left = sum_moments(cells, start, words, n, cut, to_left, left)
            else:
                weight_left = sum_classes(cells, start, words, codes, n, cut, to_left, left)
            if weight_left >= min_leaf and weight - weight_left >= min_leaf:
                score = split_score(criterion, left, total)
    return score, threshold, goes, varies


@inlined
def search_cuts(criterion, max_features, min_leaf, n_rows, kinds, n_values, ranks, keys, packed,
                labels, weights, moments, targets, rows, spare, cells, words, candidates, total,
                left, best_left, count, histogram, present, trial, chosen, choice, random, begin,
                end):  # fmt: skip
    """The best of one random cut for each of ``max_features`` features: (score, threshold)."""
    # Leaves the best cut in ``choice`` and its left side in ``best_left``.
    n = end - begin
    weight, bits, form = form_of(criterion, total)
    gather_words(form, packed, labels, weights, moments, rows, begin, end, words, spare)
    if criterion == VARIANCE:
        bound = best_of_two(targets, weights, moments, rows, begin, end, left, total)
    else:
        bound = best_possible(criterion, total)
    best = -np.inf
    best_threshold = 0.0
    choice[0] = NO_SPLIT
    seen = 0
    first = np.int64(0)
    one = np.int64(1)
    while first < candidates.shape[0]:
        # Drawn in rounds, so that small nodes can copy the keys of all candidates at once.
        drawn = min(max(max_features - seen, one), candidates.shape[0] - first)
        for j in range(first, first + drawn):
            next_candidate(candidates, random, j, candidates.shape[0])
        together = drawn * n <= SIDE_BY_SIDE
        if together:
            gather_keys(keys, n_rows, candidates, first, drawn, rows, begin, end, cells)
        for j in range(first, first + drawn):
            f = candidates[j]
            n_present = np.int64(0)
            if kinds[f] == CATEGORICAL:
                n_present = count_categories(
                    criterion, ranks, np.uint64(f * n_rows), labels, weights, moments, rows,
                    begin, end, count, histogram, present,
                )  # fmt: skip
                score = cut_categories(
                    criterion, histogram, present, n_present, trial, random, left, total, min_leaf
                )
                varies = n_present > 1
                threshold = np.inf
                goes = np.int64(NONE_MISSING)
            else:
                if not together:
                    gather_keys(keys, n_rows, candidates, j, one, rows, begin, end, cells)
                score, threshold, goes, varies = cut_keys(
                    criterion, form, bits, min_leaf, weight, cells,
                    (j - first) * n if together else np.int64(0), n, words, spare, random, left,
                    total,
                )  # fmt: skip
            seen += np.int64(varies)
            if score > best:
                best = score
                best_threshold = threshold
                choice[0] = f
                choice[3] = goes
                for c in range(total.shape[0]):
                    best_left[c] = left[c]
                if n_present > 0:
                    choice[3] = keep_categories(present, n_present, trial, n_values[f], chosen)
            if best >= bound:
                break
        first += drawn
        if best >= bound or (seen >= max_features and choice[0] != NO_SPLIT):
            break
    return best, best_threshold
