"""The best of a node's random cuts.

Large nodes read a feature's column, small ones the table by row: their rows are far apart, and what
a row's first value brings to the cache holds the others, too. Classes are numbered within a node,
so that their weights mostly fit in one word.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import MISSING_KEY
from orfeon.data.unsorted import CATEGORY_CODES, CATEGORY_KEYS, KEYS, MISSING_CODE
from orfeon.kernels.cart.criteria import VARIANCE
from orfeon.kernels.cart.random_cuts import (
    BY_CLASS,
    MOMENTS,
    PACKED,
    cut_cells,
    gather_column,
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

#: Small nodes read several candidates at once, up to this many values.
SIDE_BY_SIDE = 256
#: Nodes of fewer rows read the table by row.
SMALL = 32
#: Columns of up to this many codes in all stay in the cache.
CACHED = 1 << 20


@inlined
def place_of(f):
    """The word that holds a feature's bit, and the bit."""
    return f >> np.int64(6), np.uint64(1) << np.uint64(f & np.int64(63))


@inlined
def reads_rows(features, f, n):
    """Whether a node reads a feature from the table by row."""
    if n < SMALL:
        return True
    n_rows = features.rows.shape[0] // features.kind.shape[0]
    if features.kind[f] == KEYS or features.kind[f] == CATEGORY_KEYS:
        return n * 16 < n_rows
    return n * 64 < n_rows and features.codes.shape[0] > CACHED


@merged_step
def number_classes(stats, local, classes, total, left):
    """Number the classes of a node from 0 on; returns how many it has."""
    m = np.int64(0)
    for c in range(stats.shape[0]):
        local[c] = m
        classes[m] = c
        total[m] = stats[c]
        m += np.int64(stats[c] > 0)
    for c in range(m, stats.shape[0]):
        total[c] = 0
        left[c] = 0
    return m


@inlined
def form_of(criterion, n_classes, total):
    """Weight of a node, bits per class in a word, and how its statistics are summed."""
    weight = total[0]
    bits = np.int64(0)
    form = np.int64(MOMENTS)
    if criterion != VARIANCE:
        for c in range(1, n_classes):
            weight += total[c]
        bits = min(np.int64(64) // n_classes, np.int64(62))
        form = np.int64(PACKED if weight < np.int64(1) << bits else BY_CLASS)
    return weight, bits, form


@inlined
def gather_together(features, scratch, keys, half, first, drawn, begin, n):
    """Copy the values of all candidates of a round that may vary, one after the other."""
    width = features.kind.shape[0]
    for j in range(first, first + drawn):
        f = scratch.candidates[j]
        word, bit = place_of(f)
        if scratch.constant[word] & bit == np.uint64(0):
            gather_values(
                features.rows, width, f, features.kind[f] >= CATEGORY_CODES, features.n_values[f],
                scratch.items, begin, n, keys, half + (j - first) * n,
            )  # fmt: skip


@inlined
def gather_one(features, items, cells, at, f, begin, n):
    """Copy the values of one candidate; returns whether they are codes."""
    kind = features.kind[f]
    is_coded = False
    if reads_rows(features, f, n):
        gather_values(
            features.rows, features.kind.shape[0], f, kind >= CATEGORY_CODES, features.n_values[f],
            items, begin, n, cells.keys, at,
        )  # fmt: skip
    elif kind == KEYS or kind == CATEGORY_KEYS:
        gather_column(features.keys, features.start[f], items, begin, n, cells.keys, at)
    else:
        is_coded = True
        gather_column(features.codes, features.start[f], items, begin, n, cells.codes, at)
    return is_coded


@inlined
def keep_cut(scratch, f, goes, at, is_coded, cut, beyond, n_present, n_classes):
    choice = scratch.choice
    choice[FEATURE] = f
    choice[GOES] = goes
    choice[PLACE] = at
    choice[IS_CODED] = np.int64(is_coded)
    choice[CUT] = cut
    choice[BEYOND] = beyond
    choice[N_PRESENT] = n_present
    for c in range(n_classes):
        scratch.best_left[c] = scratch.left[c]
    for c in range(n_present):
        scratch.best_present[c] = scratch.present[c]
        scratch.best_sides[c] = scratch.sides[scratch.present[c]]


@inlined
def search_cuts(features, limits, scratch, cells, form, bits, n_classes, weight, bound, begin, n):
    """The best of one random cut for each of ``max_features`` features: (score, threshold)."""
    # Leaves the best cut in ``choice`` and its left side in ``best_left``. Cells are written to the
    # half of the scratch that does not hold those of the best cut.
    room = np.int64(cells.keys.shape[0] // 2)
    n_candidates = np.int64(scratch.candidates.shape[0])
    max_features = limits.max_features
    best = -np.inf
    best_threshold = 0.0
    best_half = np.int64(0)
    scratch.choice[FEATURE] = NO_SPLIT
    visited = np.int64(0)
    first = np.int64(0)
    while first < n_candidates:
        # Drawn in rounds, so that small nodes can copy the values of all candidates at once.
        drawn = min(max(max_features - visited, np.int64(1)), n_candidates - first)
        for j in range(first, first + drawn):
            draw_candidate(scratch.candidates, scratch.random, j, n_candidates)
        together = n < SMALL and drawn * n <= SIDE_BY_SIDE
        half = room - best_half
        if together:
            gather_together(features, scratch, cells.keys, half, first, drawn, begin, n)
        for j in range(first, first + drawn):
            f = scratch.candidates[j]
            word, bit = place_of(f)
            if scratch.constant[word] & bit != np.uint64(0):
                continue
            is_categorical = features.kind[f] >= CATEGORY_CODES
            is_coded = False
            at = half
            if together:
                at += (j - first) * n
            else:
                is_coded = gather_one(features, scratch.items, cells, at, f, begin, n)
            if is_coded:
                missing = features.n_values[f] if is_categorical else np.int64(MISSING_CODE)
                score, varies, cut, beyond, threshold, goes, n_present = cut_cells(
                    limits.criterion, form, bits, n_classes, limits.min_leaf, weight, cells.codes,
                    at, n, is_categorical, is_coded, missing, features.values,
                    features.value_start[f], scratch,
                )  # fmt: skip
            else:
                missing = features.n_values[f] if is_categorical else np.int64(MISSING_KEY)
                score, varies, cut, beyond, threshold, goes, n_present = cut_cells(
                    limits.criterion, form, bits, n_classes, limits.min_leaf, weight, cells.keys,
                    at, n, is_categorical, is_coded, missing, features.values,
                    features.value_start[f], scratch,
                )  # fmt: skip
            if not varies:
                if goes == NONE_MISSING:
                    scratch.constant[word] |= bit
                continue
            visited += 1
            if score > best:
                best = score
                best_threshold = threshold
                best_half = half
                if not together:
                    half = room - best_half
                keep_cut(scratch, f, goes, at, is_coded, cut, beyond, n_present, n_classes)
            if best >= bound:
                break
        first += drawn
        has_split = scratch.choice[FEATURE] != NO_SPLIT
        if best >= bound or (visited >= max_features and has_split):
            break
    return best, best_threshold
