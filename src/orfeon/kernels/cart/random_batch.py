"""Growing a block of trees of random cuts in one call without the GIL."""

from __future__ import annotations

import numpy as np

from orfeon.data.coding import CATEGORY_CODES
from orfeon.kernels.cart.grow import STOP
from orfeon.kernels.cart.grow_batch import copy_nodes, make_arenas, results, row_of
from orfeon.kernels.cart.random_cuts import LIGHT, make_items
from orfeon.kernels.cart.random_growth import grow_cuts
from orfeon.kernels.cart.random_records import (
    N_FIELDS,
    Cells,
    Features,
    Frontier,
    Limits,
    Sample,
    Scratch,
    Tree,
)
from orfeon.kernels.cart.records import Nodes
from orfeon.kernels.rng import seed_state
from orfeon.utils.jit import array_step, kernel, step


@step
def enlarge_branches(arenas, used, widest):
    """Double the room for branch tables, keeping those of the finished trees."""
    larger = make_arenas(
        2 * arenas.branches.shape[0] + 16 * widest, arenas.term_start.shape[0] - 1, np.int64(0)
    )
    for i in range(used):
        larger.branches[i] = arenas.branches[i]
    larger.used[0] = used
    return larger


@array_step
def are_light(weights):
    largest = np.int64(0)
    for row in range(weights.shape[0]):
        largest = max(largest, weights[row])
    return largest < LIGHT


@step
def make_scratch(n_rows, n_stats, n_candidates, n_words, widest):
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
        np.zeros(widest + 1, np.uint8),
        np.empty(widest + 2, np.int64),
        np.empty(widest + 1, np.uint8),
        np.empty(widest + 1, np.int64),
        np.empty(widest + 1, np.uint8),
        np.empty(7, np.int64),
        np.empty(1, np.uint64),
    )


@step
def make_nodes_of(n, n_stats, stats_type, regression):
    return Nodes(
        np.empty(n),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.uint16),
        np.empty(n, np.uint16),
        np.empty(n, np.int32),
        np.empty((n, n_stats), stats_type.dtype),
        np.empty(n if regression else 0),
    )


@step
def make_room(nodes, n_nodes, n_last, n_left, most, stats_type):
    """Make room for one more tree of up to ``most`` nodes, and for ``n_left`` like the last one."""
    # Pages never written take no memory.
    if n_nodes + most <= nodes.threshold.shape[0]:
        return nodes
    room = n_nodes + (n_left + n_left // 8) * n_last + most
    larger = make_nodes_of(room, nodes.stats.shape[1], stats_type, nodes.spread.shape[0] > 0)
    copy_nodes(larger, np.int64(0), nodes, n_nodes)
    return larger


@step
def tree_at(nodes, first, arenas):
    """The nodes from one on, for a tree that begins there."""
    return Tree(
        nodes.threshold[first:], nodes.feature[first:], nodes.first_child[first:],
        nodes.n_children[first:], nodes.missing[first:], nodes.label[first:], nodes.stats[first:],
        nodes.spread[first:] if nodes.spread.shape[0] > 0 else nodes.spread, arenas.branches,
        arenas.used,
    )  # fmt: skip


@step
def make_frontier(n_waiting, n_stats, n_words):
    return Frontier(
        np.empty((2, 4), np.int64),
        np.empty(n_words, np.uint64),
        np.empty((n_waiting, N_FIELDS), np.int64),
        np.empty(n_waiting),
        np.empty(n_waiting),
        np.empty((n_waiting, n_stats), np.int64),
        np.empty((n_waiting, n_words), np.uint64),
    )


@step
def widest_category(kind, n_values):
    widest = np.int64(0)
    for f in range(kind.shape[0]):
        if kind[f] >= CATEGORY_CODES:
            widest = max(widest, n_values[f])
    return widest


@kernel
def grow_random(rows, codes, keys, kind, start, n_values, values, value_start, slices,
                slices_per_unit, settings, labels, weights, moments, targets, limits, min_decrease,
                seeds, candidates, stats_type):  # fmt: skip
    """Grow ``len(seeds)`` trees; returns their starts, nodes and arenas."""
    # ``stats_type`` is an empty array of the type of the nodes' statistics.
    features = Features(
        rows, codes, keys, kind, start, n_values, values, value_start, slices, slices_per_unit
    )
    n_stats = settings[1]
    max_leaves = settings[4]
    n_trees = seeds.shape[0]
    n_rows = weights.shape[1]
    n_candidates = candidates.shape[1]
    regression = targets.shape[1] > 0
    max_nodes = 2 * min(n_rows, max_leaves) + 1
    n_words = kind.shape[0] // 64 + 1
    widest = widest_category(kind, n_values)
    nodes = make_nodes_of(max_nodes, n_stats, stats_type, regression)
    n_nodes = np.int64(0)
    arenas = make_arenas(np.int64(0), np.int64(0), np.int64(0))
    starts = np.zeros(n_trees + 1, np.int64)
    scratch = make_scratch(n_rows, n_stats, n_candidates, n_words, widest)
    frontier = make_frontier(max_nodes // 2 + 2, n_stats, n_words)
    cells = Cells(np.empty(2 * n_rows, np.int64), np.empty(2 * n_rows, np.uint8))
    for t in range(n_trees):
        if settings[STOP]:
            break
        own_weights = weights[row_of(weights, t)]
        light = are_light(own_weights)
        sample = Sample(
            labels[row_of(labels, t)], own_weights, moments[row_of(moments, t)],
            targets[row_of(targets, t)], light,
        )  # fmt: skip
        options = Limits(
            limits[t, 3], settings[3], max_leaves, settings[5], limits[t, 0], limits[t, 1],
            min_decrease[t], limits[t, 2], settings,
        )  # fmt: skip
        before = arenas.used[0]
        nodes = make_room(nodes, starts[t], n_nodes, n_trees - t, max_nodes, stats_type)
        while True:
            seed_state(scratch.random, seeds[t])
            own = row_of(candidates, t)
            for k in range(n_candidates):
                scratch.candidates[k] = candidates[own, k]
            m = make_items(sample.labels, own_weights, light, scratch.items)
            tree = tree_at(nodes, starts[t], arenas)
            n_nodes = grow_cuts(features, sample, options, scratch, cells, frontier, tree, m)
            if not arenas.used[3] or settings[STOP]:
                break
            arenas = enlarge_branches(arenas, before, widest)
        starts[t + 1] = starts[t] + n_nodes
    return results(starts, nodes, arenas)
