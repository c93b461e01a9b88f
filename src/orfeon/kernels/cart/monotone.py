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
from orfeon.kernels.cart.criteria import VARIANCE, is_better, split_score
from orfeon.kernels.cart.grow import grow_open, load_rows, open_root, search_node, split_node
from orfeon.kernels.cart.grow_batch import _grow_block
from orfeon.kernels.cart.partition import partition_node
from orfeon.kernels.cart.plain_search import (
    cut_ordered,
    search_ordered,
    search_sorted,
    visit_candidates,
)
from orfeon.kernels.cart.search import (
    LATER,
    add_row,
    fill_histogram,
    keep_subset,
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
def bounds_of(columns, work, f, begin):
    """The sign of a feature, and the bounds of the node that begins there."""
    at = 1 + columns.kind.shape[0] + 2 * begin
    return work.table[1 + f], work.table[at], work.table[at + 1]


@array_step
def scan_bounded(columns, sample, options, work, f, begin, first, last, best):
    """Best allowed cut of sorted records from ``work.left`` on: (score, position or -1)."""
    criterion = options.criterion
    segments = work.segments
    shift = columns.shift
    labels = sample.labels
    weights = sample.weights
    moments = sample.moments
    left = work.left
    total = work.total
    min_leaf = options.min_leaf
    sign, least, most = bounds_of(columns, work, f, begin)
    weight = weight_of(criterion, total)
    position = np.int64(-1)
    current = segments[np.uint64(first)]
    for i in range(first, last - 1):
        add_row(criterion, labels, weights, moments, np.int64(current & columns.mask), left)
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
def judge_bounded(columns, options, work, f, begin, best):
    """Replaces ``judge_cut``."""
    criterion = options.criterion
    weight = weight_of(criterion, work.total)
    on_left = weight_of(criterion, work.left)
    if on_left < options.min_leaf or weight - on_left < options.min_leaf:
        return best, False
    score = split_score(criterion, work.left, work.total)
    if not is_better(criterion, score, best, weight):
        return best, False
    sign, least, most = bounds_of(columns, work, f, begin)
    return score, is_allowed(criterion, sign, least, most, work.left, work.total)


@array_step
def cut_categories(columns, sample, options, work, f, begin, end, best, threshold):
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
    score, is_kept = judge_bounded(columns, options, work, f, begin, best)
    if is_kept:
        keep_subset(columns, work, f, n)
        return True, score, LATER
    return True, best, threshold


_search_sorted = array_step(
    with_step(search_sorted, "search_sorted_bounded", scan_side=scan_bounded)
)
_search_ordered = array_step(
    with_step(search_ordered, "search_ordered_bounded", search_sorted=_search_sorted)
)
_cut_ordered = array_step(with_step(cut_ordered, "cut_ordered_bounded", judge_cut=judge_bounded))


@array_step
def search_constrained(columns, sample, options, work, f, begin, end, small, best, threshold):
    """Replaces ``search_feature``."""
    is_random = work.table[0] > 0.0
    if columns.kind[f] == CATEGORICAL:
        if is_random:
            return cut_categories(columns, sample, options, work, f, begin, end, best, threshold)
        best, n, better = search_categories(columns, sample, options, work, f, begin, end, best)
        if better:
            keep_subset(columns, work, f, n)
        return n > 1, best, threshold
    if is_random:
        return _cut_ordered(columns, sample, options, work, f, begin, end, best, threshold)
    varies, best = _search_ordered(columns, sample, options, work, f, begin, end, small, best)
    return varies, best, threshold


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


_visiting = inlined(
    with_step(visit_candidates, "visit_candidates_bounded", search_feature=search_constrained)
)
_searching = inlined(with_step(search_node, "search_node_bounded", find_split=_visiting))
_splitting = inlined(with_step(split_node, "split_node_bounded", partition_node=partition_bounded))
_growing = array_step(
    with_step(grow_open, "grow_open_bounded", search_node=_searching, split_node=_splitting)
)
_opening = array_step(with_step(open_root, "open_root_bounded", load_rows=load_unbounded))
#: ``grow_best`` for trees with constrained features.
grow_bounded = kernel(
    with_step(_grow_block, "grow_block_bounded", grow_open=_growing, open_root=_opening)
)
