"""The best of a node's random cuts.

Large nodes read a feature's column, small ones the table by row: their rows are far apart, and what
a row's first value brings to the cache holds the others, too. Classes are numbered within a node,
so that their weights mostly fit in one word.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.coding import CATEGORY_CODES, CATEGORY_KEYS, KEYS, MISSING_CODE, N_SLICES
from orfeon.data.sorting import MISSING_KEY
from orfeon.kernels.cart.criteria import VARIANCE
from orfeon.kernels.cart.random_cuts import (
    BY_CLASS,
    MOMENTS,
    PACKED,
    SMALL,
    cut_cells,
    gather_column,
    gather_few,
    gather_few_values,
    gather_values,
)
from orfeon.kernels.cart.random_records import (
    BEYOND,
    CUT,
    FEATURE,
    GOES,
    IS_CODED,
    N_PRESENT,
    PLACE,
)
from orfeon.kernels.cart.search import NO_SPLIT, NONE_MISSING, next_candidate
from orfeon.utils.jit import inlined, merged_step

draw_candidate = merged_step(next_candidate)

#: Counts of values by slice that each feature has.
SLICES = np.int64(N_SLICES + 1)
#: Columns of up to this many codes in all stay in the cache.
CACHED = 1 << 20


@inlined
def place_of(f):
    """The word that holds a feature's bit, and the bit."""
    return f >> np.int64(6), np.uint64(1) << np.uint64(f & np.int64(63))


@inlined
def reads_rows(features, f, n):
    """Whether a node reads a feature from the table by row."""
    n_rows = features.rows.shape[0] // features.kind.shape[0]
    if features.kind[f] == KEYS or features.kind[f] == CATEGORY_KEYS:
        return n * 16 < n_rows
    return n * 64 < n_rows and features.codes.shape[0] > CACHED


@merged_step
def number_classes(stats, local, classes, total):
    """Number the classes of a node from 0 on; returns how many it has."""
    m = np.int64(0)
    for c in range(stats.shape[0]):
        weight = np.int64(stats[c])
        local[c] = m
        classes[m] = c
        total[m] = weight
        m += np.int64(weight > 0)
    return m


@inlined
def form_of(criterion, total):
    """Weight of a node, bits per class in a word, and how its statistics are summed."""
    weight = total[0]
    bits = np.int64(0)
    form = np.int64(MOMENTS)
    if criterion != VARIANCE:
        for c in range(1, total.shape[0]):
            weight += total[c]
        bits = min(np.int64(64) // np.int64(total.shape[0]), np.int64(62))
        form = np.int64(PACKED if weight < np.int64(1) << bits else BY_CLASS)
    return weight, bits, form


@inlined
def gather_one(features, items, cells, at, f, begin, n):
    """Copy the values of one candidate: (whether they are codes, smallest, largest)."""
    # The extremes of small nodes only.
    kind = features.kind[f]
    width = features.kind.shape[0]
    start = features.start[f]
    is_small = n < SMALL
    is_coded = False
    low = np.int64(0)
    high = np.int64(0)
    if reads_rows(features, f, n):
        if is_small and kind < CATEGORY_CODES:
            low, high = gather_few_values(features.rows, width, f, items, begin, n, cells.keys, at)
        else:
            gather_values(
                features.rows, width, f, kind >= CATEGORY_CODES, features.n_values[f], items,
                begin, n, cells.keys, at,
            )  # fmt: skip
    elif kind == KEYS or kind == CATEGORY_KEYS:
        if is_small:
            low, high = gather_few(features.keys, start, items, begin, n, cells.keys, at)
        else:
            gather_column(features.keys, start, items, begin, n, cells.keys, at)
    else:
        is_coded = True
        if is_small:
            low, high = gather_few(features.codes, start, items, begin, n, cells.codes, at)
        else:
            gather_column(features.codes, start, items, begin, n, cells.codes, at)
    return is_coded, low, high


@inlined
def keep_cut(scratch, f, goes, at, is_coded, cut, beyond, n_present, left):
    choice = scratch.choice
    choice[FEATURE] = f
    choice[GOES] = goes
    choice[PLACE] = at
    choice[IS_CODED] = np.int64(is_coded)
    choice[CUT] = cut
    choice[BEYOND] = beyond
    choice[N_PRESENT] = n_present
    for c in range(left.shape[0]):
        scratch.best_left[c] = left[c]
    for c in range(n_present):
        scratch.best_present[c] = scratch.present[c]
        scratch.best_sides[c] = scratch.sides[scratch.present[c]]


@inlined
def search_cuts(features, limits, scratch, cells, form, bits, left, total, weight, bound, begin,
                n):  # fmt: skip
    """The best of one random cut for each of ``max_features`` features: (score, threshold)."""
    # Leaves the best cut in ``choice`` and its left side in ``best_left``. Cells are written to the
    # half of the scratch that does not hold those of the best cut.
    at = np.int64(cells.keys.shape[0] // 2)
    n_candidates = np.int64(scratch.candidates.shape[0])
    max_features = limits.max_features
    best = -np.inf
    best_threshold = 0.0
    scratch.choice[FEATURE] = NO_SPLIT
    visited = np.int64(0)
    first = np.int64(0)
    while first < n_candidates:
        # Drawn in rounds, because features that turn out to be constant do not count.
        drawn = min(max(max_features - visited, np.int64(1)), n_candidates - first)
        for j in range(first, first + drawn):
            draw_candidate(scratch.candidates, scratch.random, j, n_candidates)
        for j in range(first, first + drawn):
            f = scratch.candidates[j]
            word, bit = place_of(f)
            if scratch.constant[word] & bit != np.uint64(0):
                continue
            is_categorical = features.kind[f] >= CATEGORY_CODES
            scale = features.slices_per_unit[f]
            is_coded, low, high = gather_one(features, scratch.items, cells, at, f, begin, n)
            if is_coded:
                missing = features.n_values[f] if is_categorical else np.int64(MISSING_CODE)
                score, varies, cut, beyond, threshold, goes, n_present = cut_cells(
                    limits.criterion, form, bits, limits.min_leaf, weight, cells.codes, at, n,
                    is_categorical, is_coded, low, high, missing, features.values,
                    features.value_start[f], features.slices, f * SLICES, scale, scratch, left,
                    total,
                )  # fmt: skip
            else:
                missing = features.n_values[f] if is_categorical else np.int64(MISSING_KEY)
                score, varies, cut, beyond, threshold, goes, n_present = cut_cells(
                    limits.criterion, form, bits, limits.min_leaf, weight, cells.keys, at, n,
                    is_categorical, is_coded, low, high, missing, features.values,
                    features.value_start[f], features.slices, f * SLICES, scale, scratch, left,
                    total,
                )  # fmt: skip
            if not varies:
                if goes == NONE_MISSING:
                    scratch.constant[word] |= bit
                continue
            visited += 1
            if score > best:
                best = score
                best_threshold = threshold
                keep_cut(scratch, f, goes, at, is_coded, cut, beyond, n_present, left)
                at = np.int64(cells.keys.shape[0] // 2) - at
            if best >= bound:
                break
        first += drawn
        has_split = scratch.choice[FEATURE] != NO_SPLIT
        if best >= bound or (visited >= max_features and has_split):
            break
    return best, best_threshold
