"""Random cuts of sparse columns.

The search, and the order of its random numbers, are those of
:mod:`orfeon.kernels.cart.random_search`; cells are ranks. Only the values that are not zero are
read: a cut's left side is their sum, or the node minus that of the right side. The best cut alone
is written out for all rows of the node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from orfeon.kernels.cart.criteria import VARIANCE
from orfeon.kernels.cart.random_batch import grow_random
from orfeon.kernels.cart.random_cuts import draw_cut, row_of_item, score_classes
from orfeon.kernels.cart.random_growth import grow_cuts, search_node
from orfeon.kernels.cart.random_records import FEATURE, Scratch
from orfeon.kernels.cart.random_search import draw_candidate, keep_cut, place_of
from orfeon.kernels.cart.search import MISSING_LEFT, NO_SPLIT, NONE_MISSING
from orfeon.kernels.cart.sparse_search import FEW_ROWS, FEWEST_MARKED, MOST_MARKED
from orfeon.utils.jit import array_step, inlined, kernel, merged_step, step, with_step

#: More than any rank.
_BEYOND = 1 << 40


class SparseFeatures(NamedTuple):
    """The arrays of an :class:`orfeon.data.sparse.SparseTable`."""

    records: Any
    by_row: Any
    start: Any
    kind: Any
    n_values: Any
    values: Any
    value_start: Any
    packing: Any  # shift, mask, rows
    slices: Any  # of dense columns only
    slices_per_unit: Any


@step
def make_sparse_scratch(n_rows, n_stats, n_candidates, n_words, widest):
    """As ``make_scratch``: ``seen`` marks features, ``present`` says where each row is."""
    return Scratch(
        np.empty(n_rows + 1, np.uint64),
        np.empty(n_rows + 1, np.uint64),
        np.empty(2 * n_rows, np.uint64),
        np.empty(n_rows, np.uint16),
        np.empty(n_candidates, np.int64),
        np.zeros(n_words, np.uint64),
        np.zeros(n_stats, np.int64),
        np.zeros(n_stats, np.int64),
        np.zeros(n_stats, np.int64),
        np.zeros(n_stats, np.int64),
        np.zeros(n_stats, np.int64),
        np.zeros(n_stats, np.int64),
        np.zeros(n_words, np.uint64),
        np.zeros(n_rows, np.int64),
        np.empty(1, np.uint8),
        np.empty(n_rows + 1, np.int64),
        np.empty(1, np.uint8),
        np.empty(7, np.int64),
        np.empty(1, np.uint64),
    )


@merged_step
def gather_cells(features, f, items, begin, n, place, found):
    """Note the node's rows that are not zero, with their ranks; returns how many."""
    # A found cell is the row's place in the node, then the rank.
    n_features = features.kind.shape[0]
    start = features.start[f]
    stop = features.start[f + 1]
    shift = np.uint64(features.packing[0])
    mask = np.uint64(features.packing[1])
    m = np.uint64(0)
    if n <= FEW_ROWS and 8 * n < stop - start:
        n_rows = features.packing[2]
        first = np.int64(n_features + n_rows + 1)
        n_records = np.int64(features.records.shape[0])
        for i in range(n):
            row = np.int64(row_of_item(items[np.uint64(begin + i)]))
            low = np.int64(features.by_row[np.uint64(n_features + row)])
            size = np.int64(features.by_row[np.uint64(n_features + row + 1)]) - low
            last = low + size
            while size > 0:
                half = size >> np.int64(1)
                below = np.int64(features.by_row[np.uint64(first + low + half)]) < f
                low = low + half + 1 if below else low
                size = size - half - 1 if below else half
            if low < last and np.int64(features.by_row[np.uint64(first + low)]) == f:
                rank = np.int64(features.by_row[np.uint64(first + n_records + low)])
                found[m] = (np.int64(i) << np.int64(32)) | rank
                m += np.uint64(1)
        return np.int64(m)
    for i in range(start, stop):
        record = np.uint64(features.records[np.uint64(i)])
        row = record & mask
        at = np.uint64(place[row])
        inside = at < np.uint64(n)
        at = at if inside else np.uint64(0)
        inside = inside & (row_of_item(items[np.uint64(begin) + at]) == row)
        found[m] = np.int64((at << np.uint64(32)) | (record >> shift))
        m += np.uint64(inside)
    return np.int64(m)


@merged_step
def mark_untouched(features, items, begin, n, touched, constant):
    """Mark the features that are zero in all rows of a small node as constant."""
    n_features = features.kind.shape[0]
    total = np.int64(0)
    for i in range(n):
        at = np.uint64(n_features) + row_of_item(items[np.uint64(begin + i)])
        total += np.int64(features.by_row[at + np.uint64(1)]) - np.int64(features.by_row[at])
        if total > MOST_MARKED:
            return
    for k in range(touched.shape[0]):
        touched[k] = 0
    first = np.uint64(n_features + features.packing[2] + 1)
    for i in range(n):
        at = np.uint64(n_features) + row_of_item(items[np.uint64(begin + i)])
        low = np.int64(features.by_row[at])
        for k in range(low, np.int64(features.by_row[at + np.uint64(1)])):
            f = np.uint64(features.by_row[first + np.uint64(k)])
            touched[f >> np.uint64(6)] |= np.uint64(1) << (f & np.uint64(63))
    for k in range(touched.shape[0]):
        constant[k] |= ~touched[k]


@merged_step
def sum_found(criterion, found, m, cut, beyond, zeros_left, words, labels, by_class, total, left):
    """Statistics of the left side; returns its weight."""
    # Sums the side that the zeros are not on.
    for c in range(left.shape[0]):
        left[c] = 0
    second = np.int64(words.shape[0] // 2)
    for k in range(m):
        cell = found[np.uint64(k)]
        rank = cell & np.int64(0xFFFFFFFF)
        at = np.uint64(cell >> np.int64(32))
        goes_left = (rank <= cut) | (rank == beyond)
        if goes_left != zeros_left:
            w = np.int64(words[at])
            if by_class:
                left[np.uint64(labels[at])] += w
            else:
                left[0] += w
                left[1] += np.int64(words[np.uint64(second) + at])
    weight = np.int64(0)
    for c in range(left.shape[0]):
        if zeros_left:
            left[c] = total[c] - left[c]
        weight += left[c]
    return weight if by_class else left[0]


@merged_step
def unpack_words(form, bits, local, items, begin, n, words, labels):
    """Undo the packing of class weights (``gather_words``): weights and classes apart."""
    for i in range(n):
        label = local[items[np.uint64(begin + i)] & np.uint64(0xFFFF)]
        labels[np.uint64(i)] = label
        words[np.uint64(i)] >>= np.uint64(bits * label)


@merged_step
def write_cells(features, f, items, begin, n, place, found, cells, at):
    """Write the ranks of all rows of the node."""
    zero_rank = np.int64(features.by_row[np.uint64(f)])
    for i in range(n):
        cells[np.uint64(at + i)] = zero_rank
    m = gather_cells(features, f, items, begin, n, place, found)
    for k in range(m):
        cell = found[np.uint64(k)]
        cells[np.uint64(at + (cell >> np.int64(32)))] = cell & np.int64(0xFFFFFFFF)


@inlined
def search_sparse_cuts(features, limits, scratch, cells, form, bits, left, total, weight, bound,
                       begin, n):  # fmt: skip
    """As ``search_cuts``."""
    n_candidates = np.int64(scratch.candidates.shape[0])
    max_features = limits.max_features
    items = scratch.items
    place = scratch.present
    found = scratch.best_present
    by_class = limits.criterion != VARIANCE
    for i in range(n):
        place[row_of_item(items[np.uint64(begin + i)])] = i
    if n_candidates >= FEWEST_MARKED:
        mark_untouched(features, items, begin, n, scratch.seen, scratch.constant)
    if by_class and form == 0:  # PACKED
        unpack_words(form, bits, scratch.local, items, begin, n, scratch.words, scratch.labels)
    best = -np.inf
    best_threshold = 0.0
    scratch.choice[FEATURE] = NO_SPLIT
    zero = np.int64(0)
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
            m = gather_cells(features, f, items, begin, n, place, found)
            missing = features.n_values[f]
            zero_rank = np.int64(features.by_row[np.uint64(f)])
            low = zero_rank if m < n else np.int64(_BEYOND)
            high = zero_rank if m < n else np.int64(-1)
            any_missing = False
            for k in range(m):
                rank = found[np.uint64(k)] & np.int64(0xFFFFFFFF)
                low = min(low, rank)
                if rank == missing:
                    any_missing = True
                else:
                    high = max(high, rank)
            high = max(high, low)
            varies, cut, threshold, goes = draw_cut(
                low, high, any_missing, missing, True, features.values, features.value_start[f],
                features.slices, zero, 0.0, scratch.random,
            )  # fmt: skip
            if not varies:
                if goes == NONE_MISSING:
                    scratch.constant[word] |= bit
                continue
            beyond = missing if goes == MISSING_LEFT else cut
            zeros_left = m < n and zero_rank <= cut
            weight_left = sum_found(
                limits.criterion, found, m, cut, beyond, zeros_left, scratch.words,
                scratch.labels, by_class, total, left,
            )  # fmt: skip
            score = -np.inf
            if weight_left >= limits.min_leaf and weight - weight_left >= limits.min_leaf:
                score = score_classes(limits.criterion, weight_left, weight, left, total)
            visited += 1
            if score > best:
                best = score
                best_threshold = threshold
                keep_cut(scratch, f, goes, zero, False, cut, beyond, zero, left)
            if best >= bound:
                break
        first += drawn
        has_split = scratch.choice[FEATURE] != NO_SPLIT
        if best >= bound or (visited >= max_features and has_split):
            break
    f = scratch.choice[FEATURE]
    if f != NO_SPLIT:
        write_cells(features, f, items, begin, n, place, found, cells.keys, zero)
    return best, best_threshold


@array_step
def no_widest(kind, n_values):
    """Replaces ``widest_category``: there are no categories."""
    return np.int64(0)


_searching = inlined(
    with_step(search_node, "search_node_sparse_cuts", search_cuts=search_sparse_cuts)
)
_growing = array_step(with_step(grow_cuts, "grow_cuts_sparse", search_node=_searching))
#: ``grow_random`` for sparse columns.
grow_random_sparse = kernel(
    with_step(
        grow_random, "grow_random_sparse", Features=SparseFeatures, grow_cuts=_growing,
        make_scratch=make_sparse_scratch, widest_category=no_widest,
    )
)  # fmt: skip
