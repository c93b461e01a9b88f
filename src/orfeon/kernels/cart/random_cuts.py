"""Random cuts: each candidate feature of a node is cut once, and the best cut is made.

A candidate takes a few passes over the node's rows: copy its values to *cells*, find their
extremes, sum the left side; all but the first take several rows at a time. Cells are codes of 8
bits, or keys (:func:`orfeon.data.sorting.key_of`). Categories are replaced by the sides that a
random subset sends them to, so that they are summed and partitioned as numbers are.

An *item* is a row of a node in one word: the row, then its weight if it is small, then its class.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.coding import code_near
from orfeon.data.sorting import MISSING_KEY, key_of, value_of
from orfeon.kernels.bits import count_ones
from orfeon.kernels.cart.criteria import GINI, GINI_TWO, split_score
from orfeon.kernels.cart.search import MISSING_LEFT, MISSING_RIGHT, NONE_MISSING, midpoint
from orfeon.kernels.rng import random_below, random_unit
from orfeon.utils.jit import inlined, merged_step

count_bits = merged_step(count_ones)

#: How statistics are summed: all class weights in one word, weights and moments, or by class.
PACKED, MOMENTS, BY_CLASS = 0, 1, 2
#: Weights below this are kept in the items.
LIGHT = 1 << 16
_LOW = (1 << 16) - 1
#: In nodes of fewer rows cells are compared when they are copied.
SMALL = 32
#: The bits of infinity; those of NaN are more.
_INFINITY = 0x7FF << 52


@inlined
def row_of_item(item):
    return np.uint64(item) >> np.uint64(32)


@merged_step
def make_items(labels, weights, light, items):
    """Write the items of the rows of positive weight, in order; returns how many."""
    n = np.int64(0)
    for row in range(weights.shape[0]):
        item = np.uint64(row) << np.uint64(32)
        if light:
            item |= np.uint64(weights[row]) << np.uint64(16)
        if labels.shape[0] > 0:
            item |= np.uint64(labels[row])
        items[n] = item
        n += np.int64(weights[row] != 0)
    return n


# -- cells -----------------------------------------------------------------------------------------


@merged_step
def gather_values(rows, width, f, is_categorical, missing, items, begin, n, cells, at):
    """Copy the node's values of a feature from a table by row, as keys or category codes."""
    # First the bits, a load and a store each; then what several numbers at once can do.
    base = np.uint64(f)
    step = np.uint64(width)
    for i in range(n):
        row = row_of_item(items[np.uint64(begin + i)])
        cells[np.uint64(at + i)] = np.float64(rows[row * step + base]).view(np.int64)
    if is_categorical:
        for i in range(n):
            x = np.int64(cells[np.uint64(at + i)]).view(np.float64)
            cells[np.uint64(at + i)] = np.int64(x) if x == x else missing
        return
    for i in range(n):
        bits = cells[np.uint64(at + i)]
        magnitude = bits & np.int64(MISSING_KEY)
        sign = bits >> np.int64(63)
        key = (magnitude ^ sign) - sign
        cells[np.uint64(at + i)] = key if magnitude <= _INFINITY else np.int64(MISSING_KEY)


@merged_step
def gather_column(column, start, items, begin, n, cells, at):
    """The same from a column of codes or keys."""
    for i in range(n):
        row = row_of_item(items[np.uint64(begin + i)])
        cells[np.uint64(at + i)] = column[np.uint64(start) + row]


@merged_step
def gather_few(column, start, items, begin, n, cells, at):
    """As :func:`gather_column`; returns the smallest and the largest cell, too."""
    # In small nodes a second loop costs more than what vectors save in it.
    low = np.int64(MISSING_KEY)
    high = np.int64(-MISSING_KEY)
    for i in range(n):
        row = row_of_item(items[np.uint64(begin + i)])
        cell = column[np.uint64(start) + row]
        cells[np.uint64(at + i)] = cell
        low = min(low, np.int64(cell))
        high = max(high, np.int64(cell))
    return low, high


@merged_step
def gather_few_values(rows, width, f, items, begin, n, cells, at):
    """The same for keys from a table by row."""
    low = np.int64(MISSING_KEY)
    high = np.int64(-MISSING_KEY)
    for i in range(n):
        row = row_of_item(items[np.uint64(begin + i)])
        bits = np.float64(rows[row * np.uint64(width) + np.uint64(f)]).view(np.int64)
        magnitude = bits & np.int64(MISSING_KEY)
        sign = bits >> np.int64(63)
        key = (magnitude ^ sign) - sign
        key = key if magnitude <= _INFINITY else np.int64(MISSING_KEY)
        cells[np.uint64(at + i)] = key
        low = min(low, key)
        high = max(high, key)
    return low, high


@merged_step
def gather_words(form, bits, light, has_all, local, weights, moments, items, begin, n, words,
                 labels):  # fmt: skip
    """Weights of the node's rows, in the form that they are summed in."""
    # ``has_all``: the node has all classes, so that each has its own number.
    second = np.int64(words.shape[0] // 2)
    if form == PACKED and light and has_all:
        for i in range(n):  # several rows at once: no class has to be looked up
            item = items[np.uint64(begin + i)]
            weight = (item >> np.uint64(16)) & np.uint64(_LOW)
            words[np.uint64(i)] = weight << (np.uint64(bits) * (item & np.uint64(_LOW)))
        return
    for i in range(n):
        item = items[np.uint64(begin + i)]
        row = row_of_item(item)
        if light:
            weight = (item >> np.uint64(16)) & np.uint64(_LOW)
        else:
            weight = np.uint64(weights[row])
        if form == MOMENTS:
            words[np.uint64(second + i)] = np.uint64(moments[row])
        else:
            label = local[item & np.uint64(_LOW)]
            if form == PACKED:
                weight = weight << np.uint64(bits * label)
            else:
                labels[np.uint64(i)] = label
        words[np.uint64(i)] = weight


# -- one cut ---------------------------------------------------------------------------------------


@merged_step
def extremes(cells, at, n):
    """Smallest and largest cell."""
    low = cells[np.uint64(at)]
    high = low
    for i in range(n):
        cell = cells[np.uint64(at + i)]
        low = min(low, cell)
        high = max(high, cell)
    return np.int64(low), np.int64(high)


@merged_step
def largest_known(cells, at, n, low, missing):
    """The largest cell that is not missing, or ``low`` if there is none."""
    high = np.int64(low)
    for i in range(n):
        cell = np.int64(cells[np.uint64(at + i)])
        high = max(high, cell if cell < missing else high)
    return high


@merged_step
def random_threshold(random, low, high):
    """A threshold uniform between two values, always below the larger one."""
    threshold = low + random_unit(random) * (high - low)
    if threshold >= high or not threshold >= low:
        threshold = midpoint(low, high)
    return threshold


@inlined
def draw_cut(low, high, any_missing, missing, is_coded, values, first, slices, at_slices, scale,
             random):  # fmt: skip
    """Cut an ordered feature: (varies, cut, threshold, missing goes)."""
    threshold = np.inf
    goes = np.int64(NONE_MISSING)
    if any_missing:
        goes = random_below(random, np.int64(2))
    varies = low < high
    cut = low
    if varies and is_coded:
        a = np.int64(first + low)
        b = np.int64(first + high)
        threshold = random_threshold(random, values[np.uint64(a)], values[np.uint64(b)])
        cut = code_near(values, first, low, high, threshold, slices, at_slices, scale)
    elif varies:
        threshold = random_threshold(random, value_of(low), value_of(high))
        cut = key_of(threshold)
    elif any_missing and low != missing:
        # One known value: the only split separates the missing values from it.
        varies = True
        goes = np.int64(MISSING_RIGHT)
    return varies, cut, threshold, goes


@merged_step
def list_categories(cells, at, n, n_codes, seen, present):
    """List the codes in the cells in ascending order; returns how many."""
    for i in range(n):
        seen[np.uint64(cells[np.uint64(at + i)])] = 1
    m = np.int64(0)
    if n_codes <= 8 * n:
        for code in range(n_codes + 1):
            present[m] = code
            m += np.int64(seen[code])
            seen[code] = 0
        return m
    for i in range(n):
        code = np.int64(cells[np.uint64(at + i)])
        if seen[code] == 0:
            continue
        seen[code] = 0
        put = m
        while put > 0 and present[put - 1] > code:
            present[put] = present[put - 1]
            put -= 1
        present[put] = code
        m += 1
    return m


@merged_step
def list_few_categories(cells, at, n, present):
    """The same for codes below 64, which are gathered as the bits of a word."""
    found = np.uint64(0)
    for i in range(n):
        found |= np.uint64(1) << np.uint64(cells[np.uint64(at + i)])
    m = np.int64(0)
    while found != np.uint64(0):
        below = (found & (~found + np.uint64(1))) - np.uint64(1)
        present[m] = np.int64(count_bits(below))
        found &= found - np.uint64(1)
        m += 1
    return m


@merged_step
def random_sides(random, present, n_present, sides):
    """Send a random proper subset of the present categories to side 0, the others to side 1."""
    # Shuffles ``present``.
    for i in range(n_present - 1, 0, -1):
        q = random_below(random, np.int64(i + 1))
        present[i], present[q] = present[q], present[i]
    size = 1 + random_below(random, n_present - 1)
    for i in range(n_present):
        sides[present[i]] = np.int64(i >= size)


@merged_step
def cells_to_sides(cells, at, n, sides):
    for i in range(n):
        cells[np.uint64(at + i)] = sides[np.uint64(cells[np.uint64(at + i)])]


@merged_step
def few_to_sides(cells, at, n, present, n_present, sides):
    """The same for codes below 64."""
    right = np.uint64(0)
    for i in range(n_present):
        right |= np.uint64(sides[present[i]]) << np.uint64(present[i])
    for i in range(n):
        side = (right >> np.uint64(cells[np.uint64(at + i)])) & np.uint64(1)
        cells[np.uint64(at + i)] = side


@merged_step
def sum_cells(cells, at, n, cut, beyond, words, second):
    """Sum the words on the left: of the cells up to ``cut``, and of those equal to ``beyond``."""
    total = np.uint64(0)
    for i in range(n):
        cell = cells[np.uint64(at + i)]
        word = words[np.uint64(second + i)]
        total += word if (cell <= cut) | (cell == beyond) else np.uint64(0)
    return total


@merged_step
def sum_classes(cells, at, n, cut, beyond, words, labels, left):
    for c in range(left.shape[0]):
        left[c] = 0
    weight = np.int64(0)
    for i in range(n):
        cell = cells[np.uint64(at + i)]
        side = np.int64((cell <= cut) | (cell == beyond))
        w = np.int64(words[np.uint64(i)]) * side
        left[np.uint64(labels[np.uint64(i)])] += w
        weight += w
    return weight


@merged_step
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


@merged_step
def score_classes(criterion, weight_left, weight, left, total):
    if criterion == GINI_TWO or criterion > GINI:
        return split_score(criterion, left, total)
    squares_left = 0.0
    squares_right = 0.0
    for c in range(total.shape[0]):
        on_left = float(left[c])
        on_right = float(total[c] - left[c])
        squares_left += on_left * on_left
        squares_right += on_right * on_right
    return squares_left / float(weight_left) + squares_right / float(weight - weight_left)


@merged_step
def score_cut(criterion, form, bits, min_leaf, weight, cells, at, n, cut, beyond, words, labels,
              left, total):  # fmt: skip
    """Score of a cut; -inf if a side is too small. Fills ``left``."""
    first = np.int64(0)
    if form == PACKED:
        counters = sum_cells(cells, at, n, cut, beyond, words, first)
        return score_packed(criterion, counters, bits, min_leaf, weight, left, total)
    if form == MOMENTS:
        second = np.int64(words.shape[0] // 2)
        left[0] = np.int64(sum_cells(cells, at, n, cut, beyond, words, first))
        left[1] = np.int64(sum_cells(cells, at, n, cut, beyond, words, second))
        weight_left = left[0]
    else:
        weight_left = sum_classes(cells, at, n, cut, beyond, words, labels, left)
    if weight_left < min_leaf or weight - weight_left < min_leaf:
        return -np.inf
    return score_classes(criterion, weight_left, weight, left, total)


@inlined
def cut_cells(criterion, form, bits, min_leaf, weight, cells, at, n, is_categorical, is_coded,
              low, high, missing, values, first, slices, at_slices, scale, scratch, left,
              total):  # fmt: skip
    """Cut one feature: (score, varies, cut, beyond, threshold, missing goes, categories)."""
    n_present = np.int64(0)
    score = -np.inf
    threshold = np.inf
    goes = np.int64(NONE_MISSING)
    cut = np.int64(0)
    present = scratch.present
    sides = scratch.sides
    if is_categorical:
        few = missing < 64
        if few:
            n_present = list_few_categories(cells, at, n, present)
        else:
            n_present = list_categories(cells, at, n, missing, scratch.seen, present)
        varies = n_present > 1
        if varies:
            random_sides(scratch.random, present, n_present, sides)
            for i in range(n_present):
                if present[i] == missing:
                    goes = np.int64(1) - np.int64(sides[missing])
            if few:
                few_to_sides(cells, at, n, present, n_present, sides)
            else:
                cells_to_sides(cells, at, n, sides)
        beyond = cut
    else:
        if n >= SMALL:
            low, high = extremes(cells, at, n)
        any_missing = high == missing
        if any_missing:
            high = largest_known(cells, at, n, low, missing)
        varies, cut, threshold, goes = draw_cut(
            low, high, any_missing, missing, is_coded, values, first, slices, at_slices, scale,
            scratch.random,
        )  # fmt: skip
        beyond = missing if goes == MISSING_LEFT else cut
    if varies:
        score = score_cut(
            criterion, form, bits, min_leaf, weight, cells, at, n, cells.dtype.type(cut),
            cells.dtype.type(beyond), scratch.words, scratch.labels, left, total,
        )  # fmt: skip
    return score, varies, cut, beyond, threshold, goes, n_present


@merged_step
def partition_items(cells, at, cut, beyond, items, spare, begin, n):
    """Move the items on the left to the front; returns where the others begin."""
    # Both sides keep their order.
    put = np.uint64(0)
    first = np.uint64(begin)
    if cut == beyond:
        for i in range(n):
            item = items[first + np.uint64(i)]
            items[first + put] = item
            spare[np.uint64(i) - put] = item
            put += np.uint64(cells[np.uint64(at + i)] <= cut)
    else:
        for i in range(n):
            item = items[first + np.uint64(i)]
            cell = cells[np.uint64(at + i)]
            items[first + put] = item
            spare[np.uint64(i) - put] = item
            put += np.uint64((cell <= cut) | (cell == beyond))
    put += first
    for i in range(begin + n - np.int64(put)):
        items[put + np.uint64(i)] = spare[np.uint64(i)]
    return np.int64(put)
