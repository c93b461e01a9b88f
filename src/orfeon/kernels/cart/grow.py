"""Growing trees by exact search over presorted features, shared by a whole ensemble.

A tree copies the sorted records (:mod:`orfeon.data.sorting`) of its rows. A node owns a segment of
every feature's records, which a split partitions stably. Nodes are searched when created and wait
in a frontier: the last is split next, or the one of greatest gain if leaves are limited.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import CATEGORICAL, SORTED
from orfeon.kernels.cart.constant_features import clear_marks, copy_marks
from orfeon.kernels.cart.criteria import VARIANCE, decrease
from orfeon.kernels.cart.node_sorting import small_node
from orfeon.kernels.cart.partition import partition_node, partition_segments, sum_rows
from orfeon.kernels.cart.search import (
    ABSENT,
    NO_SPLIT,
    NONE_MISSING,
    PROJECTION,
    cut_between,
    find_best,
)
from orfeon.utils.jit import array_step, inlined, step

#: A branch table entry not decided yet: the category does not occur in the node.
UNDECIDED = 65_535
NO_LIMIT = 1 << 40
#: The word of the settings that ends the growing of trees (:mod:`orfeon.utils.interruption`).
STOP = 0


@array_step
def load_rows(columns, sample, options, work, n_candidates):
    """Fill the root's segments with the rows of positive weight; returns their number."""
    n_rows = columns.n_rows
    rows = work.rows
    weights = sample.weights
    present = work.goes_left
    m = 0
    for i in range(n_rows):
        rows[m] = i
        present[i] = weights[i] != 0
        m += np.int64(present[i])
    if not options.uses_segments or n_rows <= small_node(options.max_features, n_candidates):
        return m
    records = columns.records
    segments = work.segments
    mask = columns.mask
    for a in range(n_candidates):
        f = work.candidates[a]
        if columns.kind[f] != SORTED:
            continue
        begin = columns.segment[f] * n_rows
        if m == n_rows:
            for i in range(begin, begin + n_rows):
                segments[i] = records[i]
            continue
        put = np.uint64(begin)
        for i in range(begin, begin + n_rows):
            record = records[i]
            segments[put] = record
            put += np.uint64(present[record & mask])
    return m


@step
def group_by_leaf(columns, sample, options, work, n_candidates, leaf_of_row, n_nodes, leaf_begin):
    """Fill the segments with the present rows grouped by leaf, sorted within each leaf."""
    # ``leaf_begin`` (at least n_nodes + 1 long) receives where each node's rows begin.
    m = load_rows(columns, sample, options, work, n_candidates)
    rows = work.rows
    segments = work.segments
    for node in range(n_nodes + 1):
        leaf_begin[node] = 0
    for i in range(m):
        leaf_begin[leaf_of_row[rows[i]] + 1] += 1
    for node in range(n_nodes):
        leaf_begin[node + 1] += leaf_begin[node]
    put = leaf_begin.copy()
    for i in range(m):
        node = leaf_of_row[rows[i]]
        work.spare_rows[put[node]] = rows[i]
        put[node] += 1
    for i in range(m):
        rows[i] = work.spare_rows[i]
    if columns.n_rows <= small_node(options.max_features, n_candidates):
        return
    buffer = segments.shape[0] - columns.n_rows
    for a in range(n_candidates):
        f = work.candidates[a]
        if columns.kind[f] != SORTED:
            continue
        begin = columns.segment[f] * columns.n_rows
        for node in range(n_nodes + 1):
            put[node] = leaf_begin[node]
        for i in range(begin, begin + m):
            record = segments[i]
            node = leaf_of_row[np.int64(record & columns.mask)]
            segments[buffer + put[node]] = record
            put[node] += 1
        for i in range(m):
            segments[begin + i] = segments[buffer + i]


@array_step
def make_leaf(nodes, node):
    nodes.threshold[node] = np.inf
    nodes.feature[node] = 0
    nodes.first_child[node] = node
    nodes.n_children[node] = 0
    nodes.missing[node] = 0


@array_step
def majority(stats, tie, parent_label):
    """The class of greatest weight; among ties the parent's label, else the first."""
    best = 0
    for c in range(1, stats.shape[0]):
        if stats[c] > stats[best]:
            best = c
    if parent_label >= 0 and stats[best] - stats[parent_label] <= tie:
        return parent_label
    for c in range(best):
        if stats[best] - stats[c] <= tie:
            return c
    return best


@array_step
def describe_node(nodes, node, sample, options, rows, begin, end, parent_label):
    """Label a node whose statistics are known, or sum its squared deviations in regression."""
    if options.criterion != VARIANCE:
        nodes.label[node] = majority(nodes.stats[node], options.tie, parent_label)
        return
    nodes.label[node] = 0
    if end - begin == 1:
        nodes.spread[node] = 0.0
        return
    weight = 0.0
    total = 0.0
    for i in range(begin, end):
        row = rows[i]
        weight += float(sample.weights[row])
        total += float(sample.weights[row]) * sample.targets[row]
    mean = total / weight if weight > 0 else 0.0
    spread = 0.0
    for i in range(begin, end):
        row = rows[i]
        deviation = sample.targets[row] - mean
        spread += float(sample.weights[row]) * deviation * deviation
    nodes.spread[node] = spread


@array_step
def node_weight(options, stats):
    if options.criterion == VARIANCE:
        return stats[0]
    weight = np.int64(0)
    for c in range(stats.shape[0]):
        weight += stats[c]
    return weight


@array_step
def may_split(nodes, node, depth, sample, options, rows, begin, end):
    """Whether the limits and the impurity allow a split."""
    weight = node_weight(options, nodes.stats[node])
    if end - begin < 2 or depth >= options.max_depth:
        return False
    if weight < options.min_split or weight < 2 * options.min_leaf:
        return False
    if options.criterion == VARIANCE:
        first = sample.targets[rows[begin]]
        for i in range(begin + 1, end):
            if sample.targets[rows[i]] != first:
                return True
        return False
    present = 0
    for c in range(options.n_stats):
        present += np.int64(nodes.stats[node, c] > 0)
    return present > 1


@array_step
def save_subset(work, arenas, n_categories):
    """Store the chosen category set as a branch table; returns where it starts."""
    start = arenas.used[0]
    if start + n_categories > arenas.branches.shape[0]:
        arenas.used[3] = 1
        return 0
    for code in range(n_categories):
        side = work.chosen[code]
        arenas.branches[start + code] = UNDECIDED if side == ABSENT else 1 - side
    arenas.used[0] = start + n_categories
    return start


@array_step
def save_projection(work, arenas, n_terms):
    p = arenas.used[1]
    start = arenas.used[2]
    if start + n_terms > arenas.term_weight.shape[0] or p + 2 > arenas.term_start.shape[0]:
        arenas.used[3] = 1
        return 0
    for k in range(n_terms):
        arenas.term_feature[start + k] = work.term_feature[k]
        arenas.term_weight[start + k] = work.term_weight[k]
    arenas.term_start[p] = start
    arenas.term_start[p + 1] = start + n_terms
    arenas.used[1] = p + 1
    arenas.used[2] = start + n_terms
    return p


#: The step in which the ways of growing differ.
find_split = find_best


@inlined
def search_node(columns, sample, options, work, arenas, nodes, k, waiting, n_candidates):
    """Search an open node and add it to the frontier if it has a split."""
    node = work.open[k, 0]
    begin = work.open[k, 1]
    end = work.open[k, 2]
    copy_marks(work.counts.open_constant[k], work.counts.constant)
    for c in range(options.n_stats):
        work.total[c] = nodes.stats[node, c]
    score, threshold = find_split(columns, sample, options, work, begin, end, n_candidates)
    f = work.choice[0]
    if f == NO_SPLIT:
        return waiting
    gain = decrease(options.criterion, score, work.total)
    if gain < options.min_decrease:
        return waiting
    frontier = work.frontier
    frontier[waiting, 0] = begin
    frontier[waiting, 1] = end
    frontier[waiting, 2] = node
    frontier[waiting, 3] = work.open[k, 3]
    for c in range(4):
        frontier[waiting, 4 + c] = work.choice[c]
    if f == PROJECTION:
        frontier[waiting, 5] = save_projection(work, arenas, work.choice[1])
    elif columns.kind[f] == CATEGORICAL:
        frontier[waiting, 5] = save_subset(work, arenas, columns.n_values[f])
    work.frontier_gain[waiting] = gain
    work.frontier_threshold[waiting] = threshold
    copy_marks(work.counts.constant, work.counts.frontier_constant[waiting])
    return waiting + 1


@array_step
def delay_threshold(delayed, node, cut, following):
    """Note which ranks a threshold is between; the first row has their number."""
    k = delayed[0, 0] + 1
    delayed[0, 0] = k
    delayed[k, 0] = node
    delayed[k, 1] = cut
    delayed[k, 2] = following


@array_step
def write_thresholds(columns, nodes, delayed):
    """Look up the thresholds of a finished tree."""
    # The values of a large table are not in the cache. Here their loads overlap; at a node, each
    # would be waited for.
    for k in range(1, delayed[0, 0] + 1):
        node = delayed[k, 0]
        nodes.threshold[node] = cut_between(
            columns, np.int64(nodes.feature[node]), delayed[k, 1], delayed[k, 2]
        )


@inlined
def write_test(columns, work, arenas, nodes, node, entry, heavier):
    f = work.frontier[entry, 4]
    cut = work.frontier[entry, 5]
    missing_goes = work.frontier[entry, 7]
    nodes.n_children[node] = 2
    nodes.missing[node] = heavier if missing_goes == NONE_MISSING else 1 - missing_goes
    nodes.feature[node] = f if f >= 0 else -1 - cut
    nodes.threshold[node] = work.frontier_threshold[entry]
    if f >= 0 and columns.kind[f] == CATEGORICAL:
        nodes.threshold[node] = float(cut)
    elif nodes.threshold[node] != nodes.threshold[node]:
        delay_threshold(work.counts.delayed, node, cut, work.frontier[entry, 6])
    if f >= 0 and columns.kind[f] == CATEGORICAL:
        for code in range(columns.n_values[f]):
            if arenas.branches[cut + code] == UNDECIDED:
                arenas.branches[cut + code] = heavier


@inlined
def next_to_split(options, work, waiting):
    entry = waiting - 1
    if options.max_leaves < NO_LIMIT:
        for k in range(waiting - 1):
            if work.frontier_gain[k] > work.frontier_gain[entry]:
                entry = k
    return entry


@inlined
def drop_entry(work, entry, waiting):
    last = waiting - 1
    for k in range(work.frontier.shape[1]):
        work.frontier[entry, k] = work.frontier[last, k]
    work.frontier_gain[entry] = work.frontier_gain[last]
    work.frontier_threshold[entry] = work.frontier_threshold[last]
    copy_marks(work.counts.frontier_constant[last], work.counts.frontier_constant[entry])
    return last


@inlined
def add_children(options, work, nodes, node, n_nodes):
    """Add two leaves with their statistics under a node; returns the heavier branch."""
    nodes.first_child[node] = n_nodes
    for c in range(options.n_stats):
        nodes.stats[n_nodes, c] = work.left[c]
        nodes.stats[n_nodes + 1, c] = nodes.stats[node, c] - work.left[c]
    make_leaf(nodes, n_nodes)
    make_leaf(nodes, n_nodes + 1)
    on_left = node_weight(options, nodes.stats[n_nodes])
    on_right = node_weight(options, nodes.stats[n_nodes + 1])
    return 1 if on_right > on_left else 0


@inlined
def split_node(columns, sample, options, work, arenas, nodes, entry, n_nodes, n_candidates):
    """Split a waiting node; ``work.open`` lists the children that may be split again."""
    begin = work.frontier[entry, 0]
    end = work.frontier[entry, 1]
    node = work.frontier[entry, 2]
    depth = work.frontier[entry, 3] + 1
    small = small_node(options.max_features, n_candidates)
    middle = partition_node(columns, sample, options, work, arenas, nodes, entry, small)
    heavier = add_children(options, work, nodes, node, n_nodes)
    write_test(columns, work, arenas, nodes, node, entry, heavier)
    label = np.int64(nodes.label[node])
    n_open = np.int64(0)
    opened = 0
    for side in range(1, -1, -1):
        child = n_nodes + side
        first = middle if side else begin
        last = end if side else middle
        describe_node(nodes, child, sample, options, work.rows, first, last, label)
        if may_split(nodes, child, depth, sample, options, work.rows, first, last):
            work.open[n_open, 0] = child
            work.open[n_open, 1] = first
            work.open[n_open, 2] = last
            work.open[n_open, 3] = depth
            copy_marks(work.counts.frontier_constant[entry], work.counts.open_constant[n_open])
            n_open += 1
            if last - first > small:
                opened += 1 + side
    partition_segments(
        columns, options, work, entry, begin, end, opened in (1, 3), opened >= 2, n_candidates
    )
    return n_open


@array_step
def grow_open(
    columns, sample, options, work, arenas, nodes, n_nodes, n_open, n_leaves, n_candidates
):
    """Grow on from the nodes listed in ``work.open``; returns the number of nodes."""
    # Stops if an arena is full (``arenas.used[3]``): the caller enlarges it and starts again.
    waiting = np.int64(0)
    work.counts.delayed[0, 0] = 0
    while True:
        for k in range(n_open):
            waiting = search_node(
                columns, sample, options, work, arenas, nodes, k, waiting, n_candidates
            )
        if waiting == 0 or n_leaves >= options.max_leaves or arenas.used[3] or options.stop[STOP]:
            break
        entry = next_to_split(options, work, waiting)
        n_open = split_node(
            columns, sample, options, work, arenas, nodes, entry, n_nodes, n_candidates
        )
        waiting = drop_entry(work, entry, waiting)
        n_nodes += 2
        n_leaves += 1
    write_thresholds(columns, nodes, work.counts.delayed)
    return n_nodes


@array_step
def open_root(columns, sample, options, work, nodes, n_candidates):
    """Load the rows and make the root; returns the number of open nodes, 0 or 1."""
    # A variable, because constants would compile the functions below once more each.
    zero = np.int64(0)
    m = load_rows(columns, sample, options, work, n_candidates)
    sum_rows(
        options.criterion, sample.labels, sample.weights, sample.packed, sample.moments, work.rows,
        zero, m, nodes.stats[0],
    )  # fmt: skip
    make_leaf(nodes, zero)
    describe_node(nodes, zero, sample, options, work.rows, zero, m, np.int64(-1))
    work.open[0, 0] = 0
    work.open[0, 1] = 0
    work.open[0, 2] = m
    work.open[0, 3] = 0
    clear_marks(work.counts.open_constant[0])
    return np.int64(may_split(nodes, zero, zero, sample, options, work.rows, zero, m))
