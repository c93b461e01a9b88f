"""Searching the best split of a node over its candidate features.

Features are visited in random order, or as they are listed, and only a strictly better split
replaces the best so far. So ties between features are broken at random, or by the first.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import CATEGORICAL, COUNTED, SORTED, SPARSE
from orfeon.kernels.cart.bounded import CONSTANT, HAS_MISSING, SEARCHED, search_bounded
from orfeon.kernels.cart.choice import ABSENT as ABSENT
from orfeon.kernels.cart.choice import MISSING_LEFT as MISSING_LEFT
from orfeon.kernels.cart.choice import MISSING_RIGHT as MISSING_RIGHT
from orfeon.kernels.cart.choice import NO_SPLIT as NO_SPLIT
from orfeon.kernels.cart.choice import NONE_MISSING as NONE_MISSING
from orfeon.kernels.cart.choice import PROJECTION as PROJECTION
from orfeon.kernels.cart.code_sums import list_summed, search_sums, sum_codes
from orfeon.kernels.cart.constant_features import is_marked, mark_feature
from orfeon.kernels.cart.counting import (
    clear_bins,
    count_codes,
    fill_cells,
    list_codes,
    search_cells,
    search_counts,
    search_subsets,
)
from orfeon.kernels.cart.criteria import GINI, GINI_PAIR, VARIANCE, best_of_two, best_possible
from orfeon.kernels.cart.node_sorting import (
    small_node,
    sort_above_least,
    sort_by_counting,
    sort_by_rank,
)
from orfeon.kernels.cart.scan import scan, scan_gini_few, scan_gini_two
from orfeon.kernels.cart.subset import best_subset, sort_by_key
from orfeon.kernels.cart.words import (
    FIELDS,
    MANY_CLASSES,
    TWO_CLASSES,
    choose_fields,
    load_words,
)
from orfeon.kernels.rng import random_below
from orfeon.utils.jit import array_step, inlined, with_step

#: In place of a threshold: it is looked up when the tree is finished.
LATER = np.nan
#: Nodes of more rows are searched by counting ranks, not by sorting them.
LARGE = 1024
#: The same for features of fewer values than the node has rows.
MEDIUM = 128
#: A node has few of the rows if it has less than one in so many.
_SPARSE = 8


@array_step
def add_row(criterion, labels, weights, moments, row, stats):
    if criterion == VARIANCE:
        stats[0] += weights[row]
        stats[1] += moments[row]
    else:
        stats[np.int64(labels[row])] += weights[row]


@array_step
def search_sorted(criterion, segments, shift, mask, packed, labels, weights, moments, left, aside,
                  total, table, min_leaf, first, last, missing_rank, best):  # fmt: skip
    """Best cut of the sorted records ``segments[first:last]``: (score, position, missing goes)."""
    # Takes arrays, not records of arrays: reading an array from a record counts a reference, which
    # at every feature of every node costs as much as a short scan.
    known = last
    for c in range(total.shape[0]):
        left[c] = 0
    if np.int64(segments[last - 1] >> shift) == missing_rank:
        for c in range(total.shape[0]):
            aside[c] = 0
        while np.int64(segments[known - 1] >> shift) == missing_rank:
            known -= 1
            row = np.int64(segments[known] & mask)
            add_row(criterion, labels, weights, moments, row, aside)
    position = np.int64(-1)
    goes = np.int64(NONE_MISSING if known == last else MISSING_RIGHT)
    # First with missing values on the right, where their records are, then on the left.
    for side in range(1 if known == last else 2):
        if side == 1:
            last = known
            for c in range(total.shape[0]):
                left[c] = aside[c]
        best, found = scan(
            criterion, segments, first, last, shift, mask, packed, labels, weights, moments, left,
            total, table, min_leaf, best,
        )  # fmt: skip
        if found >= 0:
            position = found
            if side == 1:
                goes = np.int64(MISSING_LEFT)
    return best, position, goes


@array_step
def fill_histogram(columns, sample, options, work, f, begin, end):
    """Statistics of each category in the node; returns how many are present."""
    base = np.uint64(f * columns.n_rows)
    n = np.int64(0)
    for i in range(begin, end):
        row = np.int64(work.rows[i])
        code = np.int64(columns.ranks[base + np.uint64(row)])
        if work.count[code] == 0:
            work.present[n] = code
            n += 1
            for c in range(options.n_stats):
                work.histogram[code, c] = 0
        work.count[code] += 1
        add_row(
            options.criterion, sample.labels, sample.weights, sample.moments, row,
            work.histogram[code],
        )  # fmt: skip
    for i in range(n):
        work.count[work.present[i]] = 0
        work.key[work.present[i]] = float(work.present[i])
    sort_by_key(work.present, n, work.key)  # by code, not by row
    return n


@array_step
def keep_subset(columns, work, f, n):
    for code in range(columns.n_values[f] + 1):
        work.chosen[code] = ABSENT
    for i in range(n):
        work.chosen[work.present[i]] = work.trial[work.present[i]]
    missing = work.chosen[columns.n_values[f]]
    work.choice[0] = f
    work.choice[3] = NONE_MISSING if missing == ABSENT else missing


@array_step
def keep_cut(choice, f, cut, following, goes):
    choice[0] = f
    choice[1] = cut
    choice[2] = following
    choice[3] = goes


@array_step
def search_categories(columns, sample, options, work, f, begin, end, best):
    """Best subset of a categorical feature: (score, categories present, whether it is better)."""
    n_codes = columns.n_values[f] + 1
    if options.criterion == VARIANCE and 2 * (end - begin) > n_codes:
        sum_codes(
            columns.ranks, np.uint64(f * columns.n_rows), np.uint64(1), n_codes, work.rows,
            sample.weights, sample.moments, begin, end, work.histogram,
        )  # fmt: skip
        n = list_summed(work.histogram, n_codes, work.present)
    else:
        n = fill_histogram(columns, sample, options, work, f, begin, end)
    best, better = best_subset(
        options.criterion, work.histogram, work.present, n, work.key, work.left, work.total,
        options.min_leaf, best, work.trial,
    )  # fmt: skip
    return best, n, better


@array_step
def midpoint(low, high):
    """A number between two others, below the larger one."""
    middle = 0.5 * low + 0.5 * high
    return middle if middle < high else low


@array_step
def cut_between(columns, f, cut, following):
    """Threshold of a cut between two ranks; +inf if only missing values are beyond it."""
    if following == columns.n_values[f]:
        return np.inf
    start = columns.value_start[f]
    return midpoint(columns.values[start + cut], columns.values[start + following])


@array_step
def place_of(f, ranks, n_rows, n_features, n):
    """Where a feature's ranks begin, and the distance between those of neighbouring rows."""
    # Behind the ranks by feature there may be a copy by row. The rows of a small node are far
    # apart, and by feature every rank would be in a cache line of its own.
    by_feature = n_features * n_rows
    if ranks.shape[0] > by_feature and _SPARSE * n < n_rows:
        return np.uint64(by_feature + f), np.uint64(n_features)
    return np.uint64(f * n_rows), np.uint64(1)


@array_step
def next_candidate(candidates, random, j, n_candidates):
    """Draw the j-th candidate feature of the node without replacement."""
    q = j + random_below(random, n_candidates - j)
    f = candidates[q]
    candidates[q] = candidates[j]
    candidates[j] = f
    return f


@array_step
def search_counted_categories(columns, sample, options, work, f, begin, end, packing, bits, best):
    """``search_categories`` by the words of the node, if they are packed."""
    if packing != TWO_CLASSES and packing != FIELDS:
        return search_categories(columns, sample, options, work, f, begin, end, best)
    counts = work.counts
    n_codes = columns.n_values[f] + 1
    base, stride = place_of(f, columns.ranks, columns.n_rows, columns.kind.shape[0], end - begin)
    count_codes(
        columns.ranks, base, stride, n_codes, work.rows, counts.words, begin, end, counts.bins,
        counts.seen,
    )  # fmt: skip
    n = list_codes(counts.seen, n_codes, work.present)
    better = False
    if n > 1:
        best, better = search_subsets(
            options.criterion, packing, bits, counts.bins, work.present, n, work.histogram,
            work.key, counts.field, work.left, work.total, options.min_leaf, best, work.trial,
        )  # fmt: skip
    clear_bins(counts.bins, work.present, n)
    return best, n, better


@array_step
def search_codes(columns, options, work, f, begin, end, packing, n_fields, bits, best):
    """Best cut of a feature with few values: (score, values present); keeps a better one."""
    counts = work.counts
    present = work.present
    missing_rank = columns.n_values[f]
    base, stride = place_of(f, columns.ranks, columns.n_rows, columns.kind.shape[0], end - begin)
    count_codes(
        columns.ranks, base, stride, missing_rank + 1, work.rows, counts.words, begin, end,
        counts.bins, counts.seen,
    )  # fmt: skip
    n = list_codes(counts.seen, missing_rank + 1, present)
    if n > 1:
        best, position, missing_left = search_counts(
            packing, n_fields, bits, counts.bins, present, n, missing_rank, work.total,
            counts.field_total, options.min_leaf, best,
        )  # fmt: skip
        if position >= 0:
            goes = np.int64(NONE_MISSING)
            if present[n - 1] == missing_rank:
                goes = np.int64(MISSING_LEFT if missing_left else MISSING_RIGHT)
            keep_cut(work.choice, f, present[position], present[position + 1], goes)
    clear_bins(counts.bins, present, n)
    return best, n


@array_step
def search_classes(columns, sample, options, work, f, begin, end, weight, best):
    """``search_codes`` for classes that do not fit in a word."""
    counts = work.counts
    n_codes = columns.n_values[f] + 1
    base, stride = place_of(f, columns.ranks, columns.n_rows, columns.kind.shape[0], end - begin)
    fill_cells(
        columns.ranks, base, stride, n_codes, work.rows, sample.labels, sample.weights, begin, end,
        options.n_stats, counts.cells,
    )  # fmt: skip
    n, best, better, goes = search_cells(
        counts.cells, n_codes, counts.left_classes, counts.total_classes, weight,
        options.min_leaf, best, counts.beside,
    )  # fmt: skip
    if better:
        keep_cut(work.choice, f, counts.beside[0], counts.beside[1], goes)
    return best, n


@array_step
def search_code_sums(columns, sample, options, work, f, begin, end, best):
    """``search_codes`` for regression, and for two classes scanned as targets."""
    present = work.present
    missing_rank = columns.n_values[f]
    total = work.total
    weight = total[0] + total[1] if options.criterion == GINI_PAIR else total[0]
    base, stride = place_of(f, columns.ranks, columns.n_rows, columns.kind.shape[0], end - begin)
    sum_codes(
        columns.ranks, base, stride, missing_rank + 1, work.rows, sample.weights, sample.moments,
        begin, end, work.histogram,
    )  # fmt: skip
    n = list_summed(work.histogram, missing_rank + 1, present)
    if n > 1:
        best, position, goes = search_sums(
            work.histogram, present, n, missing_rank, weight, total[1], options.min_leaf, best
        )
        if position >= 0:
            keep_cut(work.choice, f, present[position], present[position + 1], goes)
    return best, n


@array_step
def search_ranks(columns, sample, options, work, f, begin, end, best):
    """Best cut of two classes in a large node without segments: (score, what was found)."""
    counts = work.counts
    base, stride = place_of(f, columns.ranks, columns.n_rows, columns.kind.shape[0], end - begin)
    found, best, better = search_bounded(
        columns.ranks, base, stride, columns.n_values[f], work.rows, counts.words, sample.packed,
        begin, end, counts.near, counts.bins, counts.marked, counts.first_fine, counts.within,
        counts.fine, counts.listed_ranks, counts.listed_words, work.segments, columns.shift,
        columns.mask, counts.digits, work.total, options.min_leaf, best, counts.beside,
    )  # fmt: skip
    if better:
        goes = np.int64(NONE_MISSING)
        keep_cut(work.choice, f, counts.beside[0], counts.beside[1], goes)
    return best, found


@array_step
def sum_below(segments, first, last, mask, packing, n_fields, bits, packed, total, field_total,
              left):  # fmt: skip
    """Fill ``left`` with the class weights of the node without those of some records."""
    high = np.uint64(32)
    low = np.uint64(0xFFFFFFFF)
    others = np.uint64(0)
    if packing == TWO_CLASSES:
        for i in range(first, last):
            others += packed[segments[np.uint64(i)] & mask]
        left[1] = total[1] - np.int64(others >> high)
        left[0] = total[0] + total[1] - np.int64(others & low) - left[1]
        return
    place = np.uint64(0xFFFF)
    for i in range(first, last):
        word = packed[segments[np.uint64(i)] & mask]
        others += (word >> np.uint64(16)) << (word & place)
    lowest = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    for c in range(n_fields):
        left[c] = field_total[c] - np.int64((others >> np.uint64(bits * c)) & lowest)


@array_step
def search_sparse(columns, sample, options, work, f, begin, end, packing, n_fields, bits, best):
    """Best cut of a feature whose least value most rows have: (score, what was found)."""
    # ``HAS_MISSING`` also where another way is better. Only the other rows are sorted and scanned;
    # the scan begins at the last record of the least value, as if all before had been added.
    segments = work.segments
    shift = columns.shift
    mask = columns.mask
    left = work.left
    base, stride = place_of(f, columns.ranks, columns.n_rows, columns.kind.shape[0], end - begin)
    first, n = sort_above_least(
        segments, shift, columns.ranks, base, stride, work.rows, begin, end, work.counts.digits
    )
    if n == 0:
        return best, np.int64(CONSTANT)
    last = first + n
    if 2 * n >= end - begin or np.int64(segments[last - 1] >> shift) == columns.n_values[f]:
        return best, np.int64(HAS_MISSING)
    first -= 1
    sum_below(
        segments, first, last, mask, packing, n_fields, bits, sample.packed, work.total,
        work.counts.field_total, left,
    )  # fmt: skip
    if packing == TWO_CLASSES:
        best, position = scan_gini_two(
            segments, first, last, shift, mask, sample.packed, left, work.total, options.min_leaf,
            best,
        )  # fmt: skip
    else:
        best, position = scan_gini_few(
            segments, first, last, shift, mask, sample.packed, left, work.counts.field_total,
            n_fields, bits, options.min_leaf, best,
        )  # fmt: skip
    if position >= 0:
        cut = np.int64(segments[position] >> shift)
        following = np.int64(segments[position + 1] >> shift)
        keep_cut(work.choice, f, cut, following, np.int64(NONE_MISSING))
    return best, np.int64(SEARCHED)


@array_step
def first_record(columns, work, f, begin, end, small):
    """Where the node's sorted records of an ordered feature begin."""
    if columns.kind[f] == SORTED and end - begin > small:
        return columns.segment[f] * columns.n_rows + begin
    if columns.kind[f] != COUNTED:
        base, stride = place_of(
            f, columns.ranks, columns.n_rows, columns.kind.shape[0], end - begin
        )
        return sort_by_rank(
            work.segments, columns.shift, columns.ranks, base, stride, work.rows, begin, end,
            work.counts.digits,
        )  # fmt: skip
    buffer = work.segments.shape[0] - columns.n_rows
    sort_by_counting(
        work.segments, columns.shift, columns.ranks, np.uint64(f * columns.n_rows),
        columns.n_values[f] + 1, work.rows, begin, end, work.count, buffer,
    )  # fmt: skip
    return np.int64(buffer)


@array_step
def search_records(columns, sample, options, work, f, first, last, packing, n_fields, bits, best):
    """Best cut of the sorted records ``first`` to ``last``: its score; keeps a better one."""
    segments = work.segments
    shift = columns.shift
    left = work.left
    goes = np.int64(NONE_MISSING)
    plain = np.int64(segments[last - 1] >> shift) < columns.n_values[f]
    if plain and packing == TWO_CLASSES:  # the two most frequent cases, by the shortest path
        left[0] = left[1] = 0
        best, position = scan_gini_two(
            segments, first, last, shift, columns.mask, sample.packed, left, work.total,
            options.min_leaf, best,
        )  # fmt: skip
    elif plain and packing == FIELDS:
        for c in range(n_fields):
            left[c] = 0
        best, position = scan_gini_few(
            segments, first, last, shift, columns.mask, sample.packed, left,
            work.counts.field_total, n_fields, bits, options.min_leaf, best,
        )  # fmt: skip
    else:
        best, position, goes = search_sorted(
            options.criterion, segments, shift, columns.mask, sample.packed, sample.labels,
            sample.weights, sample.moments, left, work.aside, work.total, work.table,
            options.min_leaf, first, last, columns.n_values[f], best,
        )  # fmt: skip
    if position >= 0:
        cut = np.int64(segments[position] >> shift)
        keep_cut(work.choice, f, cut, np.int64(segments[position + 1] >> shift), goes)
    return best


@inlined
def find_best(columns, sample, options, work, begin, end, n_candidates):
    """The best split over ``max_features`` features that vary in the node: (score, ``LATER``)."""
    criterion = options.criterion
    max_features = options.max_features
    candidates = work.candidates
    total = work.total
    counts = work.counts
    constant = counts.constant
    choice = work.choice
    choice[0] = NO_SPLIT
    best = -np.inf
    if criterion == VARIANCE:
        bound = best_of_two(
            sample.targets, sample.weights, sample.moments, work.rows, begin, end, work.left, total
        )
    else:
        bound = best_possible(criterion, total)
    small = small_node(max_features, n_candidates)
    packing, n_fields, bits, weight = choose_fields(
        criterion, total, counts.field, counts.field_total, counts.total_classes
    )
    is_packed = packing == TWO_CLASSES or packing == FIELDS
    if is_packed and (counts.uses_words or criterion == GINI):
        load_words(
            criterion, sample.labels, sample.weights, sample.packed, work.rows, begin, end,
            counts.field, columns.records.shape[0], counts.words,
        )  # fmt: skip
    by_bounds = packing == TWO_CLASSES and end - begin > MEDIUM and end - begin <= small
    by_sums = criterion == VARIANCE or criterion == GINI_PAIR
    seen = 0
    for j in range(n_candidates):
        if options.in_order:
            f = candidates[j]
        else:
            f = next_candidate(candidates, work.random, j, n_candidates)
        if is_marked(constant, f):
            continue
        kind = columns.kind[f]
        n = np.int64(2)
        if kind == CATEGORICAL:
            best, n, better = search_counted_categories(
                columns, sample, options, work, f, begin, end, packing, bits, best
            )
            if better:
                keep_subset(columns, work, f, n)
        elif kind == COUNTED and is_packed:
            best, n = search_codes(
                columns, options, work, f, begin, end, packing, n_fields, bits, best
            )
        elif (
            kind == COUNTED and packing == MANY_CLASSES
            and 2 * (end - begin) > (columns.n_values[f] + 1) * options.n_stats
        ):  # fmt: skip
            best, n = search_classes(columns, sample, options, work, f, begin, end, weight, best)
        elif kind == COUNTED and by_sums and 2 * (end - begin) > columns.n_values[f]:
            best, n = search_code_sums(columns, sample, options, work, f, begin, end, best)
        else:
            found = np.int64(HAS_MISSING)
            if kind == SPARSE and is_packed:
                best, found = search_sparse(
                    columns, sample, options, work, f, begin, end, packing, n_fields, bits, best
                )
            if (
                found == HAS_MISSING and by_bounds and kind != COUNTED
                and (end - begin > LARGE or end - begin > columns.n_values[f])
            ):  # fmt: skip
                best, found = search_ranks(columns, sample, options, work, f, begin, end, best)
            if found == CONSTANT:
                n = np.int64(1)
            elif found == HAS_MISSING:  # or not tried
                first = first_record(columns, work, f, begin, end, small)
                last = first + end - begin
                low = work.segments[first] >> columns.shift
                if low == (work.segments[last - 1] >> columns.shift):
                    n = np.int64(1)
                else:
                    best = search_records(
                        columns, sample, options, work, f, first, last, packing, n_fields, bits,
                        best,
                    )  # fmt: skip
        if n < 2:
            mark_feature(constant, f)
            continue
        seen += 1
        if best >= bound or (seen >= max_features and choice[0] != NO_SPLIT):
            break
    return best, LATER


@array_step
def no_categories(columns, sample, options, work, f, begin, end, packing, bits, best):
    """Replaces ``search_counted_categories`` if there are no categories."""
    return best, np.int64(2), False


@array_step
def no_subset(columns, work, f, n):
    """Replaces ``keep_subset`` if there are no categories."""


#: ``find_best`` without categorical features.
find_best_ordered = inlined(
    with_step(
        find_best, "find_best_ordered", search_counted_categories=no_categories,
        keep_subset=no_subset,
    )
)  # fmt: skip
