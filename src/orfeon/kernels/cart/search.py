"""Searching the best split of a node over its candidate features.

Features are visited in random order, or as they are listed, and only a strictly better split
replaces the best so far. So ties between features are broken at random, or by the first.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import CATEGORICAL, COUNTED, SORTED
from orfeon.kernels.cart.bounded import CONSTANT, SEARCHED, search_bounded
from orfeon.kernels.cart.choice import ABSENT as ABSENT
from orfeon.kernels.cart.choice import MISSING_LEFT as MISSING_LEFT
from orfeon.kernels.cart.choice import MISSING_RIGHT as MISSING_RIGHT
from orfeon.kernels.cart.choice import NO_SPLIT as NO_SPLIT
from orfeon.kernels.cart.choice import NONE_MISSING as NONE_MISSING
from orfeon.kernels.cart.choice import PROJECTION as PROJECTION
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
from orfeon.kernels.cart.criteria import GINI, GINI_TWO, VARIANCE, best_of_two, best_possible
from orfeon.kernels.cart.node_sorting import small_node, sort_by_counting, sort_by_rank
from orfeon.kernels.cart.scan import scan, scan_gini_few, scan_gini_two
from orfeon.kernels.cart.subset import best_subset, sort_by_key
from orfeon.kernels.cart.words import (
    FIELDS,
    TWO_CLASSES,
    MANY_CLASSES,
    choose_fields,
    load_words,
)
from orfeon.kernels.rng import random_below
from orfeon.utils.jit import array_step, inlined, with_step

#: Nodes of more rows are searched by counting ranks, not by sorting them.
LARGE = 1024
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
def search_categories(columns, sample, options, work, f, begin, end, best):
    """Best subset of a categorical feature: (score, categories present, whether it is better)."""
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
    """``search_categories`` by the node's words, if they are packed."""
    if packing != TWO_CLASSES and packing != FIELDS:
        return search_categories(columns, sample, options, work, f, begin, end, best)
    n_codes = columns.n_values[f] + 1
    base, stride = place_of(f, columns.ranks, columns.n_rows, columns.kind.shape[0], end - begin)
    count_codes(
        columns.ranks, base, stride, n_codes, work.rows, work.counts.words, begin, end,
        work.counts.bins, work.counts.seen,
    )  # fmt: skip
    n = list_codes(work.counts.seen, n_codes, work.present)
    better = False
    if n > 1:
        best, better = search_subsets(
            options.criterion, packing, bits, work.counts.bins, work.present, n, work.histogram, work.key,
            work.counts.field, work.left, work.total, options.min_leaf, best, work.trial,
        )  # fmt: skip
    clear_bins(work.counts.bins, work.present, n)
    return best, n, better


@inlined
def find_best(columns, sample, options, work, begin, end, n_candidates):
    """The best split over ``max_features`` features that vary in the node: (score, threshold)."""
    criterion = options.criterion
    max_features = options.max_features
    min_leaf = options.min_leaf
    n_rows = columns.n_rows
    shift = columns.shift
    mask = columns.mask
    kinds = columns.kind
    n_values = columns.n_values
    segment = columns.segment
    ranks = columns.ranks
    packed = sample.packed
    labels = sample.labels
    weights = sample.weights
    moments = sample.moments
    segments = work.segments
    rows = work.rows
    count = work.count
    left = work.left
    aside = work.aside
    total = work.total
    table = work.table
    candidates = work.candidates
    random = work.random
    constant = work.counts.constant
    words = work.counts.words
    bins = work.counts.bins
    seen_codes = work.counts.seen
    present = work.present
    field = work.counts.field
    field_total = work.counts.field_total
    in_order = options.in_order
    choice = work.choice
    choice[0] = NO_SPLIT
    best = -np.inf
    if criterion == VARIANCE:
        bound = best_of_two(sample.targets, weights, moments, rows, begin, end, left, total)
    else:
        bound = best_possible(criterion, total)
    small = small_node(max_features, n_candidates)
    buffer = segments.shape[0] - n_rows
    packing, n_fields, bits = choose_fields(
        criterion, total, field, field_total, work.counts.total_classes
    )
    is_packed = packing == TWO_CLASSES or packing == FIELDS
    weight = np.int64(0)
    for c in range(options.n_stats):
        weight += total[c]
    if is_packed and (work.counts.uses_words or criterion == GINI):
        load_words(
            criterion, labels, weights, packed, rows, begin, end, field, columns.records.shape[0],
            words,
        )  # fmt: skip
    seen = 0
    for j in range(n_candidates):
        f = candidates[j] if in_order else next_candidate(candidates, random, j, n_candidates)
        if is_marked(constant, f):
            continue
        kind = kinds[f]
        base, stride = place_of(f, ranks, n_rows, kinds.shape[0], end - begin)
        if kind == CATEGORICAL:
            score, n, better = search_counted_categories(
                columns, sample, options, work, f, begin, end, packing, bits, best
            )
            if n < 2:
                mark_feature(constant, f)
                continue
            if better:
                best = score
                keep_subset(columns, work, f, n)
        elif kind == COUNTED and is_packed:
            n_codes = n_values[f] + 1
            count_codes(
                ranks, base, stride, n_codes, rows, words, begin, end, bins, seen_codes
            )
            n = list_codes(seen_codes, n_codes, present)
            if n < 2:
                clear_bins(bins, present, n)
                mark_feature(constant, f)
                continue
            score, position, missing_left = search_counts(
                packing, n_fields, bits, bins, present, n, n_values[f], total, field_total,
                min_leaf, best,
            )  # fmt: skip
            clear_bins(bins, present, n)
            if position >= 0:
                best = score
                choice[0] = f
                choice[1] = present[position]
                choice[2] = present[position + 1]
                choice[3] = NONE_MISSING
                if present[n - 1] == n_values[f]:
                    choice[3] = MISSING_LEFT if missing_left else MISSING_RIGHT
        elif (
            kind == COUNTED and packing == MANY_CLASSES
            and end - begin > (n_values[f] + 1) * options.n_stats // 2
        ):  # fmt: skip
            n_codes = n_values[f] + 1
            cells = work.counts.cells
            fill_cells(
                ranks, base, stride, n_codes, rows, labels, weights, begin, end, options.n_stats,
                cells,
            )  # fmt: skip
            n, score, better, goes = search_cells(
                cells, n_codes, work.counts.left_classes, work.counts.total_classes, weight,
                min_leaf, best, work.counts.beside,
            )  # fmt: skip
            if n < 2:
                mark_feature(constant, f)
                continue
            if better:
                best = score
                choice[0] = f
                choice[1] = work.counts.beside[0]
                choice[2] = work.counts.beside[1]
                choice[3] = goes
        else:
            is_large = end - begin > LARGE and packing == TWO_CLASSES
            if kind == SORTED and is_large and end - begin <= small:
                found, score, better = search_bounded(
                    ranks, base, stride, n_values[f], rows, words, packed, begin, end,
                    work.counts.near, bins, work.counts.marked, work.counts.first_fine, work.counts.within,
                    work.counts.fine, work.counts.listed_ranks, work.counts.listed_words, segments,
                    shift, mask, work.counts.digits, total, min_leaf, best, work.counts.beside,
                )  # fmt: skip
                if found == CONSTANT:
                    mark_feature(constant, f)
                    continue
                if better:
                    best = score
                    choice[0] = f
                    choice[1] = work.counts.beside[0]
                    choice[2] = work.counts.beside[1]
                    choice[3] = NONE_MISSING
                if found == SEARCHED:
                    seen += 1
                    if best >= bound or (seen >= max_features and choice[0] != NO_SPLIT):
                        break
                    continue
            first = buffer
            if kind != SORTED:
                sort_by_counting(
                    segments, shift, ranks, np.uint64(f * n_rows), n_values[f] + 1, rows, begin,
                    end, count, buffer,
                )  # fmt: skip
            elif end - begin <= small:
                first = sort_by_rank(
                    segments, shift, ranks, base, stride, rows, begin, end, work.counts.digits
                )
            else:
                first = segment[f] * n_rows + begin
            last = first + end - begin
            if (segments[first] >> shift) == (segments[last - 1] >> shift):
                mark_feature(constant, f)
                continue
            goes = np.int64(NONE_MISSING)
            plain = np.int64(segments[last - 1] >> shift) < n_values[f]
            if plain and criterion == GINI_TWO:  # the two most frequent cases, by the shortest path
                left[0] = left[1] = 0
                score, position = scan_gini_two(
                    segments, first, last, shift, mask, packed, left, total, min_leaf, best
                )
            elif plain and packing == FIELDS:
                for c in range(n_fields):
                    left[c] = 0
                score, position = scan_gini_few(
                    segments, first, last, shift, mask, packed, left, field_total, n_fields, bits,
                    min_leaf, best,
                )  # fmt: skip
            else:
                score, position, goes = search_sorted(
                    criterion, segments, shift, mask, packed, labels, weights, moments, left,
                    aside, total, table, min_leaf, first, last, n_values[f], best,
                )  # fmt: skip
            if position >= 0:
                best = score
                choice[0] = f
                choice[1] = np.int64(segments[position] >> shift)
                choice[2] = np.int64(segments[position + 1] >> shift)
                choice[3] = goes
        seen += 1
        if best >= bound or (seen >= max_features and choice[0] != NO_SPLIT):
            break
    threshold = 0.0
    if choice[0] != NO_SPLIT and kinds[choice[0]] != CATEGORICAL:
        threshold = cut_between(columns, choice[0], choice[1], choice[2])
    return best, threshold


@array_step
def no_categories(columns, sample, options, work, f, begin, end, packing, bits, best):
    """Replaces ``search_counted_categories`` if there are no categories."""
    return best, np.int64(0), False


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
