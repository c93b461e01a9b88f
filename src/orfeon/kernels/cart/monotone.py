"""Growing trees whose means rise or fall with some features.

A cut of a constrained feature is allowed if the means of both sides are in the right order and
within the bounds of the node. What lies halfway between them then bounds all means below: those of
one side from above, those of the other from below. Cuts of other features are all allowed, and hand
the bounds down as they are. Leaf values are moved within their bounds when the tree is grown
(:mod:`orfeon.growth.monotone`).

``work.table`` holds whether cuts are random, then the sign of each feature, then the bounds of the
nodes. A node's bounds are those of its first row's place, because open nodes share no rows.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import CATEGORICAL
from orfeon.kernels.cart.constant_features import is_marked, mark_feature
from orfeon.kernels.cart.criteria import VARIANCE, is_better, split_score
from orfeon.kernels.cart.grow import grow_open, load_rows, open_root, search_node, split_node
from orfeon.kernels.cart.grow_batch import _grow_block
from orfeon.kernels.cart.node_sorting import small_node
from orfeon.kernels.cart.partition import partition_node
from orfeon.kernels.cart.random_cuts import random_threshold
from orfeon.kernels.cart.search import (
    LATER,
    MISSING_LEFT,
    MISSING_RIGHT,
    NO_SPLIT,
    NONE_MISSING,
    add_row,
    fill_histogram,
    first_record,
    keep_cut,
    keep_subset,
    next_candidate,
    search_categories,
)
from orfeon.kernels.rng import random_below
from orfeon.utils.jit import array_step, inlined, kernel, with_step


@array_step
def weight_of(criterion, stats):
    if criterion == VARIANCE:
        return stats[0]
    return stats[0] + stats[1]


@array_step
def means_of(criterion, left, total):
    """Means of both sides: of the targets, or of the indicators of the second class."""
    on_left = weight_of(criterion, left)
    on_right = weight_of(criterion, total) - on_left
    return float(left[1]) / float(on_left), float(total[1] - left[1]) / float(on_right)


@array_step
def is_allowed(criterion, sign, least, most, left, total):
    """Whether a cut of a feature keeps the order of the means, and the bounds of the node."""
    if sign == 0.0:
        return True
    low, high = means_of(criterion, left, total)
    if sign < 0.0:
        low, high = high, low
    return least <= low and low <= high and high <= most


@array_step
def scan_bounded(criterion, segments, first, last, shift, mask, labels, weights, moments, left,
                 total, min_leaf, sign, least, most, best):  # fmt: skip
    """Best allowed cut of sorted records from ``left`` on: (score, position or -1)."""
    weight = weight_of(criterion, total)
    position = np.int64(-1)
    current = segments[np.uint64(first)]
    for i in range(first, last - 1):
        add_row(criterion, labels, weights, moments, np.int64(current & mask), left)
        following = segments[np.uint64(i + 1)]
        if (following >> shift) != (current >> shift):
            on_left = weight_of(criterion, left)
            if on_left >= min_leaf and weight - on_left >= min_leaf:
                score = split_score(criterion, left, total)
                if is_better(criterion, score, best, weight) and is_allowed(
                    criterion, sign, least, most, left, total
                ):
                    best = score
                    position = i
        current = following
    return best, position


@array_step
def search_bounded_cut(columns, sample, work, options, f, first, last, sign, least, most, best):
    """Best allowed cut of a feature, with missing values on either side; keeps a better one."""
    segments = work.segments
    shift = columns.shift
    missing_rank = columns.n_values[f]
    left = work.left
    aside = work.aside
    known = last
    for c in range(left.shape[0]):
        left[c] = 0
        aside[c] = 0
    while known > first and np.int64(segments[known - 1] >> shift) == missing_rank:
        known -= 1
        row = np.int64(segments[known] & columns.mask)
        add_row(options.criterion, sample.labels, sample.weights, sample.moments, row, aside)
    for side in range(1 if known == last else 2):
        if side == 1:
            for c in range(left.shape[0]):
                left[c] = aside[c]
        best, position = scan_bounded(
            options.criterion, segments, first, known if side == 1 else last, shift, columns.mask,
            sample.labels, sample.weights, sample.moments, left, work.total, options.min_leaf,
            sign, least, most, best,
        )  # fmt: skip
        if position >= 0:
            goes = np.int64(MISSING_LEFT if side == 1 else MISSING_RIGHT)
            if known == last:
                goes = np.int64(NONE_MISSING)
            keep_cut(
                work.choice, f, np.int64(segments[position] >> shift),
                np.int64(segments[position + 1] >> shift), goes,
            )  # fmt: skip
    return best


@array_step
def cut_ordered(columns, sample, work, options, f, begin, end, sign, least, most, best, threshold):
    """One random cut of an ordered feature: (varies, score, threshold); keeps a better one."""
    base = np.uint64(f * columns.n_rows)
    missing_rank = columns.n_values[f]
    low = missing_rank
    high = np.int64(-1)
    n_missing = np.int64(0)
    for i in range(begin, end):
        rank = np.int64(columns.ranks[base + np.uint64(work.rows[i])])
        if rank == missing_rank:
            n_missing += 1
        else:
            low = min(low, rank)
            high = max(high, rank)
    goes = np.int64(NONE_MISSING)
    if n_missing > 0:
        goes = random_below(work.random, np.int64(2))
    at = np.inf
    cut = high
    if low < high:
        values = columns.values
        start = columns.value_start[f]
        at = random_threshold(work.random, values[start + low], values[start + high])
        cut = low
        while values[start + cut + 1] <= at:
            cut += 1
    elif n_missing == 0 or n_missing == end - begin:
        return False, best, threshold
    else:
        goes = np.int64(MISSING_RIGHT)
    left = work.left
    for c in range(left.shape[0]):
        left[c] = 0
    for i in range(begin, end):
        row = np.int64(work.rows[i])
        rank = np.int64(columns.ranks[base + np.uint64(row)])
        if rank <= cut or (rank == missing_rank and goes == MISSING_LEFT):
            add_row(options.criterion, sample.labels, sample.weights, sample.moments, row, left)
    score, is_kept = judge_cut(options, work, sign, least, most, best)
    if is_kept:
        keep_cut(work.choice, f, cut, cut, goes)
        return True, score, at
    return True, best, threshold


@array_step
def cut_categories(columns, sample, work, options, f, begin, end, best, threshold):
    """A random part of a node's categories: (varies, score, threshold); keeps a better one."""
    n = fill_histogram(columns, sample, options, work, f, begin, end)
    if n < 2:
        return False, best, threshold
    n_left = np.int64(0)
    while n_left == 0 or n_left == n:
        n_left = np.int64(0)
        for i in range(n):
            side = random_below(work.random, np.int64(2))
            work.trial[work.present[i]] = side
            n_left += side
    left = work.left
    for c in range(left.shape[0]):
        left[c] = 0
    for i in range(n):
        if work.trial[work.present[i]] == 1:
            for c in range(left.shape[0]):
                left[c] += work.histogram[work.present[i], c]
    score, is_kept = judge_cut(options, work, 0.0, -np.inf, np.inf, best)
    if is_kept:
        keep_subset(columns, work, f, n)
        return True, score, LATER
    return True, best, threshold


@array_step
def judge_cut(options, work, sign, least, most, best):
    """Score of the cut whose left side is ``work.left``, and whether it is allowed and better."""
    criterion = options.criterion
    weight = weight_of(criterion, work.total)
    on_left = weight_of(criterion, work.left)
    if on_left < options.min_leaf or weight - on_left < options.min_leaf:
        return best, False
    score = split_score(criterion, work.left, work.total)
    if not is_better(criterion, score, best, weight):
        return best, False
    return score, is_allowed(criterion, sign, least, most, work.left, work.total)


@inlined
def find_bounded(columns, sample, options, work, begin, end, n_candidates):
    """Replaces ``find_best``: (score, threshold or ``LATER``)."""
    table = work.table
    is_random = table[0] > 0.0
    bounds = 1 + columns.kind.shape[0] + 2 * begin
    least = table[bounds]
    most = table[bounds + 1]
    choice = work.choice
    choice[0] = NO_SPLIT
    constant = work.counts.constant
    small = small_node(options.max_features, n_candidates)
    best = -np.inf
    threshold = LATER
    seen = 0
    for j in range(n_candidates):
        if options.in_order:
            f = work.candidates[j]
        else:
            f = next_candidate(work.candidates, work.random, j, n_candidates)
        if is_marked(constant, f):
            continue
        varies = True
        sign = table[1 + f]
        if columns.kind[f] == CATEGORICAL:
            if is_random:
                varies, best, threshold = cut_categories(
                    columns, sample, work, options, f, begin, end, best, threshold
                )
            else:
                best, n, better = search_categories(
                    columns, sample, options, work, f, begin, end, best
                )
                varies = n > 1
                if better:
                    keep_subset(columns, work, f, n)
        elif is_random:
            varies, best, threshold = cut_ordered(
                columns, sample, work, options, f, begin, end, sign, least, most, best, threshold
            )
        else:
            first = first_record(columns, work, f, begin, end, small)
            last = first + end - begin
            low = work.segments[first] >> columns.shift
            varies = low != (work.segments[last - 1] >> columns.shift)
            if varies:
                best = search_bounded_cut(
                    columns, sample, work, options, f, first, last, sign, least, most, best
                )
        if not varies:
            mark_feature(constant, f)
            continue
        seen += 1
        if seen >= options.max_features and choice[0] != NO_SPLIT:
            break
    return best, threshold


@array_step
def hand_down(columns, options, work, nodes, entry, middle):
    """Write the bounds of both sides of a split."""
    table = work.table
    begin = work.frontier[entry, 0]
    f = work.frontier[entry, 4]
    first = 1 + columns.kind.shape[0]
    at_left = first + 2 * begin
    at_right = first + 2 * middle
    table[at_right] = table[at_left]
    table[at_right + 1] = table[at_left + 1]
    sign = table[1 + f]
    if sign == 0.0:
        return
    on_left, on_right = means_of(options.criterion, work.left, nodes.stats[work.frontier[entry, 2]])
    halfway = 0.5 * on_left + 0.5 * on_right
    if sign > 0.0:
        table[at_left + 1] = halfway
        table[at_right] = halfway
    else:
        table[at_left] = halfway
        table[at_right + 1] = halfway


_plain_partition = inlined(with_step(partition_node, "partition_node_plain"))


@inlined
def partition_bounded(columns, sample, options, work, arenas, nodes, entry, small):
    """Replaces ``partition_node``."""
    middle = _plain_partition(columns, sample, options, work, arenas, nodes, entry, small)
    hand_down(columns, options, work, nodes, entry, middle)
    return middle


@array_step
def load_unbounded(columns, sample, options, work, n_candidates):
    """Replaces ``load_rows``: the root has no bounds."""
    first = 1 + columns.kind.shape[0]
    work.table[first] = -np.inf
    work.table[first + 1] = np.inf
    return load_rows(columns, sample, options, work, n_candidates)


_searching = inlined(with_step(search_node, "search_node_bounded", find_split=find_bounded))
_splitting = inlined(with_step(split_node, "split_node_bounded", partition_node=partition_bounded))
_growing = array_step(
    with_step(grow_open, "grow_open_bounded", search_node=_searching, split_node=_splitting)
)
_opening = array_step(with_step(open_root, "open_root_bounded", load_rows=load_unbounded))
#: ``grow_best`` for trees with constrained features.
grow_bounded = kernel(
    with_step(_grow_block, "grow_block_bounded", grow_open=_growing, open_root=_opening)
)
