"""Growing a Newton tree over every threshold.

As :mod:`orfeon.kernels.cart.grow`: a node owns a segment of every feature's sorted records, which a
split partitions; nodes are searched when created, and the last found, or that of greatest gain if
leaves are limited, is split next.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.data.sorting import CATEGORICAL, SORTED
from orfeon.kernels.cart.choice import ABSENT, MISSING_LEFT, NO_SPLIT, NONE_MISSING
from orfeon.kernels.cart.grow import NO_LIMIT
from orfeon.kernels.cart.node_sorting import small_node
from orfeon.kernels.cart.partition import (
    keep_left,
    keep_right,
    mark_ranks,
    mark_records,
    partition_both,
    partition_by_code,
    partition_by_rank,
    partition_rows,
)
from orfeon.kernels.cart.search import cut_between
from orfeon.kernels.gradient.exact_search import (
    HESSIAN,
    MOMENT,
    WEIGHT,
    add_row,
    clear,
    find_best,
)
from orfeon.kernels.gradient.interactions import (
    allow_features,
    clear_words,
    extend_paths,
    has_feature,
)
from orfeon.kernels.gradient.newton_scores import best_value, own_score, write_bounds
from orfeon.kernels.record import record
from orfeon.kernels.rng import seed_state
from orfeon.utils.jit import array_step, inlined

#: Columns of the frontier.
BEGIN, END, NODE, DEPTH, FEATURE, CUT, FOLLOWING, MISSING = range(8)


@record
class Sample:
    pairs: Any  # int64; moment and hessian of each row, side by side
    weights: Any  # int64; 0 = absent


@record
class Tree:
    threshold: Any
    feature: Any
    first_child: Any
    n_children: Any
    missing: Any
    stats: Any  # int64 (n, 3): hessian, moment, weight
    bounds: Any  # of the values of the node and of all below
    gain: Any  # of each split
    paths: Any  # features above each node, a bit each
    segment: Any  # int64 (n, 2): begin and end of the rows
    leaf_of_row: Any


@array_step
def make_leaf(tree, node, begin, end):
    tree.threshold[node] = np.inf
    tree.feature[node] = 0
    tree.first_child[node] = node
    tree.n_children[node] = 0
    tree.missing[node] = 0
    tree.gain[node] = 0.0
    tree.segment[node, 0] = begin
    tree.segment[node, 1] = end


@array_step
def load_rows(columns, sample, work, small):
    """List the rows of positive weight, and their sorted records; returns their number."""
    n_rows = columns.n_rows
    m = 0
    for i in range(n_rows):
        is_present = sample.weights[np.uint64(i)] != 0
        work.rows[m] = i
        work.goes_left[np.uint64(i)] = is_present
        m += np.int64(is_present)
    if n_rows <= small:
        return m
    for a in range(work.candidates.shape[0]):
        f = work.candidates[a]
        if columns.kind[f] != SORTED:
            continue
        begin = columns.segment[f] * n_rows
        put = np.uint64(begin)
        for i in range(begin, begin + n_rows):
            record = columns.records[np.uint64(i)]
            work.segments[put] = record
            put += np.uint64(work.goes_left[record & columns.mask])
    return m


@array_step
def may_split(tree, rule, node, depth, begin, end):
    stats = tree.stats[node]
    if end - begin < 2 or depth >= rule.max_depth:
        return False
    if stats[WEIGHT] < rule.min_split or stats[WEIGHT] < 2 * rule.min_leaf:
        return False
    return stats[HESSIAN] >= 2 * rule.min_hessian


@array_step
def save_subset(work, n_categories):
    """Store the chosen categories as a branch table; returns where it starts."""
    start = work.used[0]
    if start + n_categories > work.branches.shape[0]:
        work.used[1] = 1
        return np.int64(0)
    for code in range(n_categories):
        side = work.chosen[code]
        work.branches[start + code] = 2 if side == ABSENT else 1 - side
    work.used[0] = start + n_categories
    return start


@inlined
def search_node(columns, rule, sample, work, tree, signs, groups, k, waiting, small):
    """Search an open node and add it to the frontier if it has a split."""
    node = work.open[k, 0]
    begin = work.open[k, 1]
    end = work.open[k, 2]
    for c in range(3):
        work.total[c] = tree.stats[node, c]
    at = node if rule.interactions else 0
    allow_features(rule.interactions, groups, tree.paths[at], work.allowed)
    low = tree.bounds[node, 0]
    high = tree.bounds[node, 1]
    best = find_best(columns, rule, sample, work, signs, begin, end, low, high, small)
    f = work.choice[0]
    if f == NO_SPLIT:
        return waiting
    entry = work.frontier[waiting]
    entry[BEGIN] = begin
    entry[END] = end
    entry[NODE] = node
    entry[DEPTH] = work.open[k, 3]
    for c in range(4):
        entry[FEATURE + c] = work.choice[c]
    if columns.kind[f] == CATEGORICAL:
        entry[CUT] = save_subset(work, columns.n_values[f])
    own = own_score(rule, float(work.total[MOMENT]), float(work.total[HESSIAN]), low, high)
    work.gain[waiting] = best - own
    return waiting + 1


@inlined
def partition_node(columns, work, entry, small):
    """Partition the rows of a waiting node; returns the boundary."""
    begin = entry[BEGIN]
    end = entry[END]
    f = entry[FEATURE]
    cut = entry[CUT]
    goes = entry[MISSING]
    base = np.uint64(f * columns.n_rows)
    beyond = columns.n_values[f] if goes == MISSING_LEFT else cut
    if columns.kind[f] == CATEGORICAL:
        middle = partition_by_code(
            columns.ranks, base, np.uint64(1), columns.n_values[f], work.branches, cut,
            goes == MISSING_LEFT, work.rows, work.spare_rows, begin, end,
        )  # fmt: skip
        if small == 0:
            for i in range(begin, end):
                work.goes_left[np.uint64(work.rows[np.uint64(i)])] = np.uint8(i < middle)
        return middle
    if small > 0:
        return partition_by_rank(
            columns.ranks, base, np.uint64(1), cut, beyond, work.rows, work.spare_rows, begin, end
        )
    if columns.kind[f] == SORTED:
        first = columns.segment[f] * columns.n_rows
        mark_records(
            work.segments, first + begin, first + end, columns.shift, columns.mask, cut, beyond,
            work.goes_left,
        )  # fmt: skip
    else:
        mark_ranks(columns.ranks, base, cut, beyond, work.rows, work.goes_left, begin, end)
    return partition_rows(work.rows, work.spare_rows, work.goes_left, begin, end)


@array_step
def sum_side(sample, work, tree, node, begin, middle, end):
    """Sum the smaller side to ``work.left``; the other is the node minus it."""
    is_left = middle - begin <= end - middle
    clear(work.left)
    for i in range(begin if is_left else middle, middle if is_left else end):
        add_row(sample.pairs, sample.weights, work.rows[np.uint64(i)], work.left)
    if not is_left:
        for c in range(3):
            work.left[c] = tree.stats[node, c] - work.left[c]


@inlined
def partition_segments(columns, work, begin, end, open_left, open_right):
    """Partition the records of every feature that the open children may use."""
    segments = work.segments
    buffer = segments.shape[0] - columns.n_rows
    for a in range(work.candidates.shape[0]):
        f = work.candidates[a]
        if columns.kind[f] != SORTED or not has_feature(work.allowed, f):
            continue
        base = columns.segment[f] * columns.n_rows
        if open_left and open_right:
            partition_both(segments, base + begin, base + end, buffer, columns.mask, work.goes_left)
        elif open_left:
            keep_left(segments, base + begin, base + end, columns.mask, work.goes_left)
        else:
            keep_right(segments, base + begin, base + end, columns.mask, work.goes_left)


@inlined
def write_test(columns, work, tree, entry, n_nodes):
    """Write the test of a node whose children have their sums; the heavier gets what is unseen."""
    node = entry[NODE]
    f = entry[FEATURE]
    cut = entry[CUT]
    heavier = 1 if tree.stats[n_nodes + 1, HESSIAN] > tree.stats[n_nodes, HESSIAN] else 0
    tree.first_child[node] = n_nodes
    tree.n_children[node] = 2
    tree.feature[node] = f
    tree.missing[node] = heavier if entry[MISSING] == NONE_MISSING else 1 - entry[MISSING]
    if columns.kind[f] != CATEGORICAL:
        tree.threshold[node] = cut_between(columns, f, cut, entry[FOLLOWING])
        return
    tree.threshold[node] = float(cut)
    for code in range(columns.n_values[f]):
        if work.branches[cut + code] == 2:
            work.branches[cut + code] = heavier


@inlined
def add_children(rule, work, tree, signs, entry, middle, n_nodes):
    """Make two leaves with their sums, bounds and paths under a node."""
    node = entry[NODE]
    for c in range(3):
        tree.stats[n_nodes, c] = work.left[c]
        tree.stats[n_nodes + 1, c] = tree.stats[node, c] - work.left[c]
    make_leaf(tree, n_nodes, entry[BEGIN], middle)
    make_leaf(tree, n_nodes + 1, middle, entry[END])
    low = tree.bounds[node, 0]
    high = tree.bounds[node, 1]
    left = tree.stats[n_nodes]
    right = tree.stats[n_nodes + 1]
    write_bounds(
        rule, tree.bounds, node, n_nodes, signs[entry[FEATURE]],
        best_value(rule, float(left[MOMENT]), float(left[HESSIAN]), low, high),
        best_value(rule, float(right[MOMENT]), float(right[HESSIAN]), low, high),
    )  # fmt: skip
    if rule.interactions:
        extend_paths(tree.paths, node, n_nodes, entry[FEATURE])


@inlined
def split_node(columns, rule, sample, work, tree, signs, groups, entry, n_nodes, small):
    """Split a waiting node; ``work.open`` lists the children that may be split again."""
    begin = entry[BEGIN]
    end = entry[END]
    node = entry[NODE]
    depth = entry[DEPTH] + 1
    middle = partition_node(columns, work, entry, small)
    sum_side(sample, work, tree, node, begin, middle, end)
    add_children(rule, work, tree, signs, entry, middle, n_nodes)
    write_test(columns, work, tree, entry, n_nodes)
    n_open = np.int64(0)
    opened = 0
    for side in range(1, -1, -1):
        child = n_nodes + side
        first = middle if side else begin
        last = end if side else middle
        if may_split(tree, rule, child, depth, first, last):
            work.open[n_open, 0] = child
            work.open[n_open, 1] = first
            work.open[n_open, 2] = last
            work.open[n_open, 3] = depth
            n_open += 1
            opened += 1 + side
    if opened and small == 0:
        at = n_nodes if rule.interactions else 0
        allow_features(rule.interactions, groups, tree.paths[at], work.allowed)
        partition_segments(columns, work, begin, end, opened in (1, 3), opened >= 2)
    return n_open


@inlined
def next_to_split(rule, work, waiting):
    entry = waiting - 1
    if rule.max_leaves < NO_LIMIT:
        for k in range(waiting - 1):
            if work.gain[k] > work.gain[entry]:
                entry = k
    return entry


@array_step
def grow(columns, rule, sample, work, tree, signs, groups, seed):
    """Grow a tree; returns its number of nodes."""
    seed_state(work.random, seed)
    small = small_node(rule.max_features, np.int64(work.candidates.shape[0]))
    m = load_rows(columns, sample, work, small)
    zero = np.int64(0)
    clear(tree.stats[0])
    for i in range(m):
        add_row(sample.pairs, sample.weights, work.rows[np.uint64(i)], tree.stats[0])
    make_leaf(tree, zero, zero, m)
    tree.bounds[0, 0] = -np.inf
    tree.bounds[0, 1] = np.inf
    clear_words(tree.paths[0])
    work.used[0] = 0
    work.used[1] = 0
    work.open[0, 0] = 0
    work.open[0, 1] = 0
    work.open[0, 2] = m
    work.open[0, 3] = 0
    n_open = np.int64(may_split(tree, rule, zero, zero, zero, m))
    n_nodes = np.int64(1)
    n_leaves = np.int64(1)
    waiting = np.int64(0)
    while n_leaves < rule.max_leaves:
        for k in range(n_open):
            waiting = search_node(
                columns, rule, sample, work, tree, signs, groups, k, waiting, small
            )
        if waiting == 0 or work.used[1]:
            break
        k = next_to_split(rule, work, waiting)
        entry = work.frontier[k]
        tree.gain[entry[NODE]] = work.gain[k]
        n_open = split_node(columns, rule, sample, work, tree, signs, groups, entry, n_nodes, small)
        waiting -= 1
        for c in range(entry.shape[0]):
            entry[c] = work.frontier[waiting, c]
        work.gain[k] = work.gain[waiting]
        n_nodes += 2
        n_leaves += 1
    for node in range(n_nodes):
        if tree.n_children[node] == 0:
            for i in range(tree.segment[node, 0], tree.segment[node, 1]):
                tree.leaf_of_row[np.uint64(work.rows[np.uint64(i)])] = node
    return n_nodes
