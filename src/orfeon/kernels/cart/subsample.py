"""Splits decided by some of a large node's samples (Breiman et al. 1984, section 5.6).

A node of more than ``n_drawn`` samples is searched in that many of them, drawn at random without
replacement; all are then sent down, and the gain is that of all. Records are sorted when a node is
searched: filtering presorted ones would read every sample of every feature.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import CATEGORICAL
from orfeon.kernels.cart.criteria import VARIANCE, split_score
from orfeon.kernels.cart.node_sorting import MOST_PAIRS, sort_by_pairs
from orfeon.kernels.cart.partition import sum_rows
from orfeon.kernels.cart.search import (
    ABSENT,
    MISSING_LEFT,
    MISSING_RIGHT,
    NO_SPLIT,
    NONE_MISSING,
    add_row,
    cut_between,
    keep_subset,
    next_candidate,
    search_categories,
    search_sorted,
)
from orfeon.kernels.rng import random_below
from orfeon.utils.jit import array_step, loop_step, step, with_step

#: A large kernel optimises the loops of loop steps alone.
sort_few = loop_step(with_step(sort_by_pairs, "sort_few"))
search_few = loop_step(with_step(search_sorted, "search_few"))


@step
def sort_records(columns, work, f, begin, end, buffer):
    """Write the sorted records of a node's rows to the buffer."""
    base = np.uint64(f * columns.n_rows)
    segments = work.segments
    if end - begin <= MOST_PAIRS:
        sort_few(segments, columns.shift, columns.ranks, base, work.rows, begin, end, buffer)
        return
    for i in range(begin, end):
        row = work.rows[i]
        rank = segments.dtype.type(columns.ranks[base + np.uint64(row)])
        segments[buffer + i - begin] = (rank << columns.shift) | segments.dtype.type(row)
    segments[buffer : buffer + end - begin].sort()


@step
def find_unsorted(columns, sample, options, work, begin, end, n_candidates):
    """``find_best`` without presorted records: (score, threshold)."""
    choice = work.choice
    choice[0] = NO_SPLIT
    best = -np.inf
    segments = work.segments
    shift = columns.shift
    buffer = segments.shape[0] - columns.n_rows
    last = buffer + end - begin
    seen = 0
    for j in range(n_candidates):
        if options.in_order:
            f = work.candidates[j]
        else:
            f = next_candidate(work.candidates, work.random, j, n_candidates)
        if columns.kind[f] == CATEGORICAL:
            score, n, better = search_categories(
                columns, sample, options, work, f, begin, end, best
            )
            if n < 2:
                continue
            if better:
                best = score
                keep_subset(columns, work, f, n)
        else:
            sort_records(columns, work, f, begin, end, buffer)
            if (segments[buffer] >> shift) == (segments[last - 1] >> shift):
                continue
            score, position, goes = search_few(
                options.criterion, segments, shift, columns.mask, sample.packed, sample.labels,
                sample.weights, sample.moments, work.left, work.aside, work.total, work.table,
                options.min_leaf, buffer, last, columns.n_values[f], best,
            )  # fmt: skip
            if position >= 0:
                best = score
                choice[0] = f
                choice[1] = np.int64(segments[position] >> shift)
                choice[2] = np.int64(segments[position + 1] >> shift)
                choice[3] = goes
        seen += 1
        if seen >= options.max_features and choice[0] != NO_SPLIT:
            break
    threshold = 0.0
    if choice[0] != NO_SPLIT and columns.kind[choice[0]] != CATEGORICAL:
        threshold = cut_between(columns, choice[0], choice[1], choice[2])
    return best, threshold


@array_step
def draw_rows(work, begin, end, n):
    """Draw ``n`` rows of a node and move them to its front."""
    rows = work.rows
    for i in range(begin, begin + n):
        q = i + random_below(work.random, end - i)
        rows[i], rows[q] = rows[q], rows[i]


@array_step
def are_alike(criterion, total, targets, rows, begin, end):
    """Whether rows of known statistics have one class or target."""
    if criterion == VARIANCE:
        for i in range(begin + 1, end):
            if targets[rows[i]] != targets[rows[begin]]:
                return False
        return True
    present = 0
    for c in range(total.shape[0]):
        present += np.int64(total[c] > 0)
    return present < 2


@array_step
def move_cut(columns, choice, threshold):
    """Move the cut to the largest value of the table up to the threshold."""
    # Values that were not drawn may be between the two that the threshold is halfway of.
    f = choice[0]
    start = columns.value_start[f]
    cut = choice[1]
    while cut + 1 < columns.n_values[f] and columns.values[start + cut + 1] <= threshold:
        cut += 1
    choice[1] = cut


@array_step
def place_categories(columns, sample, work, begin, end):
    """Send the categories that were not drawn to the heavier side."""
    f = work.choice[0]
    base = np.uint64(f * columns.n_rows)
    balance = np.int64(0)
    for i in range(begin, end):
        row = np.int64(work.rows[i])
        side = work.chosen[np.int64(columns.ranks[base + np.uint64(row)])]
        if side != ABSENT:
            balance += sample.weights[row] if side == 1 else -sample.weights[row]
    for i in range(begin, end):
        code = np.int64(columns.ranks[base + np.uint64(work.rows[i])])
        if work.chosen[code] == ABSENT:
            work.chosen[code] = 1 if balance >= 0 else 0
    missing = work.chosen[columns.n_values[f]]
    work.choice[3] = NONE_MISSING if missing == ABSENT else missing


@loop_step
def score_all(columns, sample, options, work, begin, end):
    """Score of the chosen split in all rows of the node; decides where missing values go."""
    choice = work.choice
    f = choice[0]
    base = np.uint64(f * columns.n_rows)
    is_categorical = columns.kind[f] == CATEGORICAL
    n_missing = 0
    for c in range(options.n_stats):
        work.left[c] = 0
        work.aside[c] = 0
    for i in range(begin, end):
        row = np.int64(work.rows[i])
        rank = np.int64(columns.ranks[base + np.uint64(row)])
        stats = work.left
        if rank == columns.n_values[f]:
            n_missing += 1
            stats = work.aside
        elif (is_categorical and work.chosen[rank] != 1) or (
            not is_categorical and rank > choice[1]
        ):
            continue
        add_row(options.criterion, sample.labels, sample.weights, sample.moments, row, stats)
    score = split_score(options.criterion, work.left, work.total)
    if n_missing == 0:
        return score
    for c in range(options.n_stats):
        work.left[c] += work.aside[c]
    other = split_score(options.criterion, work.left, work.total)
    if choice[3] == NONE_MISSING:  # none was drawn
        choice[3] = MISSING_LEFT if other > score else MISSING_RIGHT
    return other if choice[3] == MISSING_LEFT else score


@loop_step
def sum_node(sample, options, work, begin, end):
    """Statistics of some of the rows, in the place of the node's."""
    sum_rows(
        options.criterion, sample.labels, sample.weights, sample.packed, sample.moments, work.rows,
        begin, end, work.total,
    )  # fmt: skip


@step
def find_subsampled(columns, sample, options, work, begin, end, n_candidates):
    """The best split of at most ``n_drawn`` samples of the node: (score in all, threshold)."""
    choice = work.choice
    n = min(end - begin, options.n_drawn)
    is_drawn = n < end - begin
    if is_drawn:
        draw_rows(work, begin, end, n)
        sum_node(sample, options, work, begin, begin + n)
        if are_alike(options.criterion, work.total, sample.targets, work.rows, begin, begin + n):
            n = end - begin
            is_drawn = False
            sum_node(sample, options, work, begin, end)
    while True:
        # The only call of the search, each copy of which would take seconds to compile.
        score, threshold = find_unsorted(
            columns, sample, options, work, begin, begin + n, n_candidates
        )
        if not is_drawn:
            return score, threshold
        sum_node(sample, options, work, begin, end)
        if choice[0] != NO_SPLIT:
            break
        n = end - begin  # those drawn cannot be separated
        is_drawn = False
    if columns.kind[choice[0]] == CATEGORICAL:
        place_categories(columns, sample, work, begin, end)
    else:
        move_cut(columns, choice, threshold)
    return score_all(columns, sample, options, work, begin, end), threshold
