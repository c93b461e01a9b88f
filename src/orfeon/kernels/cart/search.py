"""Searching the best split of a node over its candidate features.

Features are visited in random order, or as they are listed, and only a strictly better split
replaces the best so far. So ties between features are broken at random, or by the first.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import CATEGORICAL, SORTED
from orfeon.kernels.cart.criteria import (
    GINI_FEW,
    GINI_TWO,
    VARIANCE,
    best_of_two,
    best_possible,
)
from orfeon.kernels.cart.scan import scan, scan_gini_few, scan_gini_two
from orfeon.kernels.cart.subset import best_subset, sort_by_key
from orfeon.kernels.rng import random_below
from orfeon.utils.jit import array_step, inlined, with_step

#: In place of a feature: the node has no split, or it tests a linear combination.
NO_SPLIT, PROJECTION = -2, -1
#: Where missing values go; ``NONE_MISSING`` if none were seen.
MISSING_RIGHT, MISSING_LEFT, NONE_MISSING = 0, 1, 2
#: In a category set: the category does not occur in the node.
ABSENT = 2

#: Most rows to sort by comparing all pairs.
MOST_PAIRS = 128
#: The same for features with few values, where counting is faster beyond.
_FEW_PAIRS = 32


@array_step
def add_row(criterion, labels, weights, moments, row, stats):
    if criterion == VARIANCE:
        stats[0] += weights[row]
        stats[1] += moments[row]
    else:
        stats[np.int64(labels[row])] += weights[row]


@array_step
def small_node(max_features, n_candidates):
    """Up to how many rows a node's records are sorted when it is searched."""
    # In larger nodes, and where all features are searched, every split partitions the sorted
    # records of every feature. In small nodes, sorting the few features drawn costs less.
    if 3 * max_features > n_candidates:
        return np.int64(0)
    return min(np.int64(MOST_PAIRS), 5 * n_candidates // max_features)


@array_step
def sort_by_pairs(segments, shift, ranks, base, rows, begin, end, buffer):
    """Write the sorted records of a small node's rows to the buffer."""
    # A record's place is the number of smaller ones: n^2 comparisons, vectorised and branchless.
    n = end - begin
    unsorted = np.uint64(buffer - MOST_PAIRS)
    for i in range(n):
        row = rows[np.uint64(begin + i)]
        segments[unsorted + np.uint64(i)] = (
            segments.dtype.type(ranks[base + np.uint64(row)]) << shift
        ) | segments.dtype.type(row)
    for i in range(n):
        record = segments[unsorted + np.uint64(i)]
        smaller = np.uint32(0)
        for j in range(n):
            smaller += np.uint32(segments[unsorted + np.uint64(j)] < record)
        segments[np.uint64(buffer) + np.uint64(smaller)] = record


@array_step
def sort_by_counting(segments, shift, ranks, base, n_ranks, rows, begin, end, count, buffer):
    """Write the sorted records of the node's rows to the buffer, for a feature of few values."""
    if end - begin <= _FEW_PAIRS:
        sort_by_pairs(segments, shift, ranks, base, rows, begin, end, buffer)
        return
    for i in range(begin, end):
        count[np.int64(ranks[base + np.uint64(rows[i])])] += 1
    put = buffer
    for r in range(n_ranks):
        size = count[r]
        count[r] = put
        put += size
    for i in range(begin, end):
        row = rows[i]
        rank = ranks[base + np.uint64(row)]
        at = count[np.int64(rank)]
        segments[np.uint64(at)] = (segments.dtype.type(rank) << shift) | segments.dtype.type(row)
        count[np.int64(rank)] = at + 1
    for r in range(n_ranks):
        count[r] = 0


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
def segment_of(kind, segment, segments, shift, ranks, n_rows, f, n_ranks, rows, begin, end, count,
               buffer, small):  # fmt: skip
    """Bounds of the node's sorted records of a feature, which are sorted first if necessary."""
    base = np.uint64(f * n_rows)
    if kind != SORTED:
        sort_by_counting(segments, shift, ranks, base, n_ranks, rows, begin, end, count, buffer)
    elif end - begin <= small:
        sort_by_pairs(segments, shift, ranks, base, rows, begin, end, buffer)
    else:
        return segment[f] * n_rows + begin, segment[f] * n_rows + end
    return buffer, buffer + end - begin


@array_step
def next_candidate(candidates, random, j, n_candidates):
    """Draw the j-th candidate feature of the node without replacement."""
    q = j + random_below(random, n_candidates - j)
    f = candidates[q]
    candidates[q] = candidates[j]
    candidates[j] = f
    return f


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
    seen = 0
    for j in range(n_candidates):
        f = candidates[j] if in_order else next_candidate(candidates, random, j, n_candidates)
        kind = kinds[f]
        if kind == CATEGORICAL:
            score, n, better = search_categories(
                columns, sample, options, work, f, begin, end, best
            )
            if n < 2:
                continue
            if better:
                best = score
                keep_subset(columns, work, f, n)
        else:
            first = buffer
            if kind != SORTED:
                sort_by_counting(
                    segments, shift, ranks, np.uint64(f * n_rows), n_values[f] + 1, rows, begin,
                    end, count, buffer,
                )  # fmt: skip
            elif end - begin <= small:
                sort_by_pairs(
                    segments, shift, ranks, np.uint64(f * n_rows), rows, begin, end, buffer
                )
            else:
                first = segment[f] * n_rows + begin
            last = first + end - begin
            if (segments[first] >> shift) == (segments[last - 1] >> shift):
                continue
            goes = np.int64(NONE_MISSING)
            plain = np.int64(segments[last - 1] >> shift) < n_values[f]
            if plain and criterion == GINI_TWO:  # the two most frequent cases, by the shortest path
                left[0] = left[1] = 0
                score, position = scan_gini_two(
                    segments, first, last, shift, mask, packed, left, total, min_leaf, best
                )
            elif plain and criterion == GINI_FEW:
                for c in range(total.shape[0]):
                    left[c] = 0
                score, position = scan_gini_few(
                    segments, first, last, shift, mask, packed, left, total, min_leaf, best
                )
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
def no_categories(columns, sample, options, work, f, begin, end, best):
    """Replaces ``search_categories`` if there are no categories."""
    return best, np.int64(0), False


@array_step
def no_subset(columns, work, f, n):
    """Replaces ``keep_subset`` if there are no categories."""


#: ``find_best`` without categorical features.
find_best_ordered = inlined(
    with_step(
        find_best, "find_best_ordered", search_categories=no_categories, keep_subset=no_subset
    )
)
