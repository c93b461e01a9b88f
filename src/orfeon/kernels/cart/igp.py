"""Iterative growing and pruning (Gelfand, Ravishankar and Delp 1991).

The tree is grown on one half of the samples and pruned on the other, then grown on from its leaves
with the halves exchanged, and so on until its size stays the same: the pruned trees are nested, so
equal size means equal tree. The proof requires that a node keeps the label of its creation.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import CATEGORICAL
from orfeon.kernels.cart.constant_features import clear_marks
from orfeon.kernels.cart.grow import (
    STOP,
    group_by_leaf,
    grow_open,
    make_leaf,
    may_split,
    open_root,
)
from orfeon.kernels.cart.grow_batch import (
    Block,
    append_nodes,
    begin_tree,
    enlarge,
    keep_only,
    list_candidates,
    make_arenas,
    make_nodes,
    make_options,
    make_work,
    pack,
    results,
    row_of,
    sample_of,
)
from orfeon.kernels.cart.partition import sum_rows
from orfeon.kernels.cart.prune import reduced_error_cuts
from orfeon.kernels.cart.records import Columns
from orfeon.kernels.routing.route import branch_of
from orfeon.utils.jit import kernel, step


@step
def send_down(nodes, arenas, is_categorical, X, i, labels, weight, error):
    """Leaf of a row; adds its weight to the error of the nodes on its path with a wrong label."""
    node = np.int64(0)
    while True:
        if nodes.label[node] != labels[i]:
            error[node] += weight
        if nodes.n_children[node] == 0:
            return node
        branch = branch_of(
            node, X, i, nodes.feature, nodes.threshold, nodes.missing, is_categorical,
            arenas.branches, arenas.term_start, arenas.term_feature, arenas.term_weight,
        )  # fmt: skip
        node = nodes.first_child[node] + branch


@step
def open_leaves(columns, sample, options, work, nodes, n_nodes, depth, leaf_of_row, leaf_begin,
                own_stats, n_candidates):  # fmt: skip
    """List the leaves that the growing half can split; returns how many."""
    # While growing, leaves hold the statistics of the growing half; ``own_stats`` keeps their own.
    group_by_leaf(columns, sample, options, work, n_candidates, leaf_of_row, n_nodes, leaf_begin)
    n_open = np.int64(0)
    for node in range(n_nodes):
        for c in range(options.n_stats):
            own_stats[node, c] = nodes.stats[node, c]
        if nodes.n_children[node] > 0:
            for b in range(nodes.n_children[node]):
                depth[nodes.first_child[node] + b] = depth[node] + 1
            continue
        begin = leaf_begin[node]
        end = leaf_begin[node + 1]
        if end - begin < 2:
            continue
        sum_rows(
            options.criterion, sample.labels, sample.weights, sample.packed, sample.moments,
            work.rows, begin, end, nodes.stats[node],
        )  # fmt: skip
        if may_split(nodes, node, depth[node], sample, options, work.rows, begin, end):
            work.open[n_open, 0] = node
            work.open[n_open, 1] = begin
            work.open[n_open, 2] = end
            work.open[n_open, 3] = depth[node]
            clear_marks(work.counts.open_constant[n_open])
            n_open += 1
    return n_open


@step
def restore_leaves(nodes, n_nodes, own_stats, place):
    """Restore the statistics of the old leaves that are leaves again."""
    # ``place`` is where pruning left each node, -1 if it was dropped.
    for node in range(n_nodes):
        at = place[node]
        if at >= 0 and nodes.n_children[at] == 0:
            for c in range(own_stats.shape[1]):
                nodes.stats[at, c] = own_stats[node, c]


@step
def prune_with_half(nodes, n_nodes, arenas, is_categorical, X, labels, weights, half, other, tie,
                    error, below, cut, place):  # fmt: skip
    """Reduced-error pruning with the half ``other``; returns the number of nodes left."""
    for node in range(n_nodes):
        error[node] = 0.0
    for i in range(X.shape[0]):
        if half[i] == other and weights[i] > 0:
            send_down(nodes, arenas, is_categorical, X, i, labels, float(weights[i]), error)
    reduced_error_cuts(nodes.first_child, nodes.n_children, error, n_nodes, float(tie), cut, below)
    return keep_only(nodes, n_nodes, cut, place)


@step
def load_half(nodes, arenas, is_categorical, X, labels, weights, half, growing, regrowing,
              half_weights, leaf_of_row, error):  # fmt: skip
    """Weights of the growing half, and the leaf of each of its rows when regrowing."""
    for i in range(X.shape[0]):
        half_weights[i] = weights[i] if half[i] == growing else 0
        if half_weights[i] > 0 and regrowing:
            leaf_of_row[i] = send_down(nodes, arenas, is_categorical, X, i, labels, 0.0, error)


@step
def undo_growth(nodes, size, own_stats):
    """Make leaves again of the nodes split before the arena was full."""
    for node in range(size):
        if nodes.n_children[node] > 0 and nodes.first_child[node] >= size:
            make_leaf(nodes, node)
        if nodes.n_children[node] == 0:
            for c in range(own_stats.shape[1]):
                nodes.stats[node, c] = own_stats[node, c]


@kernel
def grow_igp(records, ranks, segment, kind, n_values, value_start, values, shift, mask, n_rows,
             settings, labels, weights, moments, targets, limits, min_decrease, seeds, candidates,
             table, X, halves, max_rounds):  # fmt: skip
    """Grow ``len(seeds)`` trees; ``halves`` (one row per tree) is 1 or 2 for each sample."""
    # Also returns each tree's number of rounds; ``max_rounds`` + 1 if it did not converge.
    columns = Columns(
        records, ranks, segment, kind, n_values, value_start, values, shift, mask, n_rows
    )
    block = Block(labels, weights, moments, targets, limits, min_decrease, seeds, candidates)
    options = make_options(settings)
    n_trees = seeds.shape[0]
    n_candidates = candidates.shape[1]
    regression = targets.shape[1] > 0
    max_nodes = 4 * n_rows + 8  # nodes left by one half's pruning, plus those the other half adds
    work = make_work(columns, options, n_candidates, table, max_nodes)
    nodes = make_nodes(max_nodes, options.n_stats, regression)
    kept = make_nodes(np.int64(1024), options.n_stats, regression)
    arenas = make_arenas(np.int64(0), np.int64(0), np.int64(0))
    before = np.zeros(4, np.int64)
    packed = np.empty(n_rows, np.uint64)
    half_weights = np.empty(n_rows, np.int64)
    is_categorical = kind == CATEGORICAL
    starts = np.zeros(n_trees + 1, np.int64)
    rounds = np.zeros(n_trees, np.int64)
    error = np.empty(max_nodes)
    below = np.empty(max_nodes)
    cut = np.empty(max_nodes, np.bool_)
    place = np.empty(max_nodes, np.int64)
    depth = np.zeros(max_nodes, np.int64)
    leaf_of_row = np.zeros(n_rows, np.int64)
    leaf_begin = np.empty(max_nodes + 1, np.int64)
    own_stats = np.empty((max_nodes, options.n_stats), np.int64)
    for t in range(n_trees):
        if settings[STOP]:
            break
        begin_tree(block, options, work, t)
        own_weights = weights[row_of(weights, t)]
        half = halves[row_of(halves, t)]
        sample = sample_of(block, t, half_weights, packed)
        n_nodes = np.int64(1)
        done = False
        while not done:
            growing = 1 if rounds[t] % 2 == 0 else 2
            load_half(
                nodes, arenas, is_categorical, X, sample.labels, own_weights, half, growing,
                rounds[t] > 0, half_weights, leaf_of_row, error,
            )  # fmt: skip
            pack(options, sample.labels, half_weights, packed)
            for k in range(4):
                before[k] = arenas.used[k]
            size = n_nodes
            state = work.random[0]
            while True:
                work.random[0] = state
                list_candidates(block, work, t)
                if rounds[t] == 0:
                    n_open = open_root(columns, sample, options, work, nodes, n_candidates)
                    for c in range(options.n_stats):
                        own_stats[0, c] = nodes.stats[0, c]
                else:
                    n_open = open_leaves(
                        columns, sample, options, work, nodes, size, depth, leaf_of_row,
                        leaf_begin, own_stats, n_candidates,
                    )  # fmt: skip
                n_nodes = grow_open(
                    columns, sample, options, work, arenas, nodes, size, n_open, (size + 1) // 2,
                    n_candidates,
                )  # fmt: skip
                if not arenas.used[3] or settings[STOP]:
                    break
                undo_growth(nodes, size, own_stats)
                arenas = enlarge(arenas, before, work, options)
            n_nodes = prune_with_half(
                nodes, n_nodes, arenas, is_categorical, X, sample.labels, own_weights, half,
                3 - growing, options.tie, error, below, cut, place,
            )  # fmt: skip
            restore_leaves(nodes, size, own_stats, place)
            rounds[t] += 1
            done = (rounds[t] > 1 and n_nodes == size) or rounds[t] > max_rounds
            done = done or settings[STOP] != 0
        kept = append_nodes(kept, starts[t], nodes, n_nodes, n_trees - 1 - t)
        starts[t + 1] = starts[t] + n_nodes
    return results(starts, kept, arenas), rounds
