"""Growing a block of trees in one call without the GIL."""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.kernels.cart.among_best import find_among_best
from orfeon.kernels.cart.bounded import MOST_BINS, MOST_FINE
from orfeon.kernels.cart.criteria import GINI_FEW, GINI_TWO, counter_bits
from orfeon.kernels.cart.grow import (
    STOP,
    grow_open,
    make_leaf,
    open_root,
    search_node,
    split_node,
)
from orfeon.kernels.cart.linear import find_linear
from orfeon.kernels.cart.node_sorting import ANY_SIZE, MOST_PAIRS, N_DIGITS, small_node
from orfeon.kernels.cart.oblique import find_oblique
from orfeon.kernels.cart.partition import partition_node
from orfeon.kernels.cart.records import Arenas, Columns, Counts, Nodes, Options, Sample, Work
from orfeon.kernels.cart.search import find_best_ordered
from orfeon.kernels.cart.subsample import find_subsampled
from orfeon.kernels.record import record
from orfeon.kernels.rng import seed_state
from orfeon.utils.jit import array_step, inlined, kernel, large_kernel, step, with_step


@step
def make_work(columns, options, n_candidates, table, max_nodes):
    n_rows = columns.n_rows
    n_features = columns.kind.shape[0]
    small = small_node(options.max_features, n_candidates)
    n_segments = np.int64(0)
    if options.uses_segments and n_rows > small:
        n_segments = columns.records.shape[0]
    elif options.uses_segments:  # a node is sorted between two halves
        n_segments = n_rows + MOST_PAIRS
    widest = 0
    for f in range(n_features):
        if columns.segment[f] < 0:
            widest = max(widest, columns.n_values[f])
    n_counted = n_rows if options.uses_segments else 0
    uses_words = widest > 0 or n_rows <= small
    n_listed = max(n_rows, MOST_FINE) if n_rows <= small and options.uses_segments else 0
    n_marks = (n_features + 63) >> 6
    n_stats = options.n_stats
    n_waiting = max_nodes // 2 + 2
    counts = Counts(
        uses_words,
        np.empty(n_counted, np.uint64),
        np.empty(n_stats, np.int64),
        np.empty(32, np.int64),
        np.empty(n_stats, np.uint32),
        np.empty(n_stats, np.uint32),
        np.empty((widest + 1) * n_stats, np.uint32),
        np.zeros(max(4 * (widest + 1), MOST_BINS), np.uint64),
        np.zeros((widest + 65) >> 6, np.uint64),
        np.empty(n_counted, np.uint32),
        np.empty(MOST_BINS, np.bool_),
        np.empty(MOST_BINS, np.uint32),
        np.empty(MOST_BINS, np.uint32),
        np.zeros(MOST_FINE + 1, np.uint64),
        np.empty(n_listed, np.uint32),
        np.empty(n_listed, np.uint64),
        np.empty(N_DIGITS, np.uint32),
        np.empty(2, np.int64),
        np.zeros(n_marks, np.uint64),
        np.zeros((n_waiting, n_marks), np.uint64),
        np.empty((n_waiting, n_marks), np.uint64),
        np.empty((n_waiting + 1, 3), np.int64),
    )
    return Work(
        np.empty(n_segments + n_rows + MOST_PAIRS, columns.records.dtype),
        np.empty(n_rows + 1, np.uint32),
        np.empty(n_rows + 1, np.uint32),
        np.empty(n_rows, np.uint8),
        np.empty(n_candidates, np.int64),
        np.zeros(n_stats, np.int64),
        np.zeros(n_stats, np.int64),
        np.zeros(n_stats, np.int64),
        np.zeros(widest + 2, np.int64),
        np.zeros(((widest + 1) * (4 if n_stats == 2 else 1), n_stats), np.int64),
        np.empty(widest + 1, np.int64),
        np.empty(widest + 1),
        np.empty(widest + 1, np.uint8),
        np.empty(widest + 1, np.uint8),
        np.empty(n_rows if options.n_combined > 0 else 0),
        np.empty(2 * options.n_combined, np.int64),
        np.empty(2 * options.n_combined),
        np.empty(4, np.int64),
        np.empty(options.n_best),
        np.empty((options.n_best, 4), np.int64),
        np.empty(1, np.uint64),
        np.empty((n_waiting, 4), np.int64),
        np.empty((n_waiting, 8), np.int64),
        np.empty(n_waiting),
        np.empty(n_waiting),
        table,
        counts,
    )


@step
def make_nodes(n, n_stats, regression):
    return Nodes(
        np.empty(n),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.uint16),
        np.empty(n, np.uint16),
        np.empty(n, np.int32),
        np.empty((n, n_stats), np.int64),
        np.empty(n if regression else 0),
    )


@step
def append_nodes(kept, n_kept, nodes, n_nodes, n_left):
    """Append a finished tree to the kept ones, in larger arrays if they are full."""
    # Leaves room for the ``n_left`` trees to come if they are of similar size.
    if n_kept + n_nodes > kept.threshold.shape[0]:
        room = n_kept + n_nodes + max((n_left + n_left // 8) * n_nodes, n_kept // 2)
        larger = make_nodes(room, kept.stats.shape[1], kept.spread.shape[0] > 0)
        copy_nodes(larger, np.int64(0), kept, n_kept)
        kept = larger
    copy_nodes(kept, n_kept, nodes, n_nodes)
    return kept


@step
def copy_nodes(to, at, source, n):
    """Copy ``n`` nodes, element by element: slices cost seconds of compilation."""
    for i in range(n):
        to.threshold[at + i] = source.threshold[i]
        to.feature[at + i] = source.feature[i]
        to.first_child[at + i] = source.first_child[i]
        to.n_children[at + i] = source.n_children[i]
        to.missing[at + i] = source.missing[i]
        to.label[at + i] = source.label[i]
        for c in range(source.stats.shape[1]):
            to.stats[at + i, c] = source.stats[i, c]
        if source.spread.shape[0] > 0:
            to.spread[at + i] = source.spread[i]


@step
def make_arenas(n_branches, n_projections, n_terms):
    return Arenas(
        np.empty(n_branches, np.uint16),
        np.zeros(n_projections + 1, np.int64),
        np.empty(n_terms, np.int32),
        np.empty(n_terms),
        np.zeros(4, np.int64),
    )


@step
def enlarge(arenas, used, work, options):
    """Double the room, keeping the state at the end of the last finished tree."""
    more = np.int64(16) * (options.n_combined + 1)
    larger = make_arenas(
        2 * arenas.branches.shape[0] + 16 * work.key.shape[0],
        2 * arenas.term_start.shape[0] + more,
        2 * arenas.term_weight.shape[0] + more,
    )
    for i in range(used[0]):
        larger.branches[i] = arenas.branches[i]
    for i in range(used[1] + 1):
        larger.term_start[i] = arenas.term_start[i]
    for i in range(used[2]):
        larger.term_feature[i] = arenas.term_feature[i]
        larger.term_weight[i] = arenas.term_weight[i]
    for k in range(3):
        larger.used[k] = used[k]
    return larger


@step
def keep_only(nodes, n_nodes, cut, place):
    """Make leaves of the cut nodes and drop the nodes below, in place; returns how many stay."""
    for node in range(n_nodes):
        place[node] = 0 if node == 0 else -1
    left = 0
    for node in range(n_nodes):
        if place[node] < 0:
            continue
        place[node] = left
        if cut[node]:
            make_leaf(nodes, node)
        for b in range(nodes.n_children[node]):
            place[nodes.first_child[node] + b] = 0
        left += 1
    for node in range(n_nodes):
        at = place[node]
        if at < 0:
            continue
        nodes.threshold[at] = nodes.threshold[node]
        nodes.feature[at] = nodes.feature[node]
        nodes.first_child[at] = place[nodes.first_child[node]]
        nodes.n_children[at] = nodes.n_children[node]
        nodes.missing[at] = nodes.missing[node]
        nodes.label[at] = nodes.label[node]
        for c in range(nodes.stats.shape[1]):
            nodes.stats[at, c] = nodes.stats[node, c]
        if nodes.spread.shape[0] > 0:
            nodes.spread[at] = nodes.spread[node]
    return left


@step
def pack(options, labels, weights, packed):
    """Pack weight and class of each row into one word, for the packed criteria."""
    if options.criterion == GINI_TWO:
        for i in range(weights.shape[0]):
            w = np.uint64(weights[i])
            packed[i] = w | ((w * np.uint64(labels[i])) << np.uint64(32))
    elif options.criterion == GINI_FEW:
        for i in range(weights.shape[0]):
            place = counter_bits(options.n_stats) * np.int64(labels[i])
            packed[i] = (np.uint64(weights[i]) << np.uint64(16)) | np.uint64(place)


@record
class Block:
    """The samples and limits of some trees; one row per tree, or one row for all."""

    labels: Any
    weights: Any
    moments: Any
    targets: Any
    limits: Any  # min_split, min_leaf, tie and criterion of each tree
    min_decrease: Any
    seeds: Any
    candidates: Any


@step
def row_of(array, t):
    return t if array.shape[0] > 1 else 0


@step
def make_options(settings):
    """Options of a block; ``begin_tree`` sets those of each tree."""
    zero = np.int64(0)
    return Options(
        zero, settings[1], settings[2], settings[3], settings[4], zero, zero, -np.inf,
        settings[5], settings[6], settings[7], settings[8], settings[9],
        float(settings[10]) / 1_000_000.0, zero, settings,
    )  # fmt: skip


@step
def begin_tree(block, options, work, t):
    options.min_split = block.limits[t, 0]
    options.min_leaf = block.limits[t, 1]
    options.tie = block.limits[t, 2]
    options.criterion = block.limits[t, 3]
    options.min_decrease = block.min_decrease[t]
    seed_state(work.random, block.seeds[t])


@step
def sample_of(block, t, weights, packed):
    return Sample(
        block.labels[row_of(block.labels, t)],
        weights,
        packed,
        block.moments[row_of(block.moments, t)],
        block.targets[row_of(block.targets, t)],
    )


@step
def list_candidates(block, work, t):
    own = row_of(block.candidates, t)
    for k in range(block.candidates.shape[1]):
        work.candidates[k] = block.candidates[own, k]


@step
def results(starts, kept, arenas):
    return (
        starts, kept.threshold, kept.feature, kept.first_child, kept.n_children, kept.missing,
        kept.label, kept.stats, kept.spread, arenas.branches, arenas.term_start,
        arenas.term_feature, arenas.term_weight, arenas.used,
    )  # fmt: skip


def _grow_block(records, ranks, segment, kind, n_values, value_start, values, shift, mask, n_rows,
                settings, labels, weights, moments, targets, limits, min_decrease, seeds,
                candidates, table):  # fmt: skip
    """Grow ``len(seeds)`` trees; returns their starts, nodes and arenas."""
    columns = Columns(
        records, ranks, segment, kind, n_values, value_start, values, shift, mask, n_rows
    )
    block = Block(labels, weights, moments, targets, limits, min_decrease, seeds, candidates)
    options = make_options(settings)
    n_trees = seeds.shape[0]
    regression = targets.shape[1] > 0
    n_candidates = candidates.shape[1]
    max_nodes = 2 * min(n_rows, options.max_leaves) + 1
    work = make_work(columns, options, n_candidates, table, max_nodes)
    nodes = make_nodes(max_nodes, options.n_stats, regression)
    kept = make_nodes(min(max_nodes * min(n_trees, 4), 1024), options.n_stats, regression)
    arenas = make_arenas(np.int64(0), np.int64(0), np.int64(0))
    before = np.zeros(4, np.int64)
    packed = np.empty(n_rows, np.uint64)
    starts = np.zeros(n_trees + 1, np.int64)
    for t in range(n_trees):
        if settings[STOP]:
            break
        begin_tree(block, options, work, t)
        sample = sample_of(block, t, weights[row_of(weights, t)], packed)
        pack(options, sample.labels, sample.weights, packed)
        for k in range(4):
            before[k] = arenas.used[k]
        state = work.random[0]
        while True:
            work.random[0] = state
            list_candidates(block, work, t)
            n_open = open_root(columns, sample, options, work, nodes, n_candidates)
            n_nodes = grow_open(
                columns, sample, options, work, arenas, nodes, np.int64(1), n_open, np.int64(1),
                n_candidates,
            )  # fmt: skip
            if not arenas.used[3] or settings[STOP]:
                break
            arenas = enlarge(arenas, before, work, options)
        kept = append_nodes(kept, starts[t], nodes, n_nodes, n_trees - 1 - t)
        starts[t + 1] = starts[t] + n_nodes
    return results(starts, kept, arenas)


@array_step
def no_table(work, arenas, n):
    """Replaces ``save_subset`` and ``save_projection`` if there is nothing to store."""
    return np.int64(0)


@array_step
def no_marks(columns, work, arenas, begin, end, f, cut, missing_goes, threshold):
    """Replaces ``mark_sides`` if there are neither categories nor linear combinations."""


@step
def no_larger(arenas, used, work, options):
    """Replaces ``enlarge`` if there is nothing to store."""
    return arenas


def _growing(name, find, compiled=array_step, **steps):
    """``grow_open`` with one way of finding splits and other steps replaced."""
    searching = inlined(with_step(search_node, f"search_node_{name}", find_split=find, **steps))
    partitioning = inlined(with_step(partition_node, f"partition_node_{name}", **steps))
    splitting = inlined(
        with_step(split_node, f"split_node_{name}", partition_node=partitioning, **steps)
    )
    return compiled(
        with_step(grow_open, f"grow_open_{name}", search_node=searching, split_node=splitting)
    )


def _block_kernel(name, find, compiled=array_step, **steps):
    """A block kernel with one way of finding splits and other steps replaced."""
    growing = _growing(name, find, compiled, **steps)
    return kernel(with_step(_grow_block, f"grow_block_{name}", grow_open=growing, **steps))


grow_best = kernel(_grow_block)
#: Without categorical features: a third less to compile before the first tree.
grow_best_ordered = _block_kernel(
    "best_ordered", find_best_ordered, save_subset=no_table, save_projection=no_table,
    mark_sides=no_marks, enlarge=no_larger,
)  # fmt: skip
grow_among_best = _block_kernel("among_best", find_among_best)
#: Linear combinations are sorted in new arrays, so array references must be counted.
grow_oblique = _block_kernel("oblique", find_oblique, compiled=inlined)


@step
def find_sorting(columns, sample, options, work, begin, end, n_candidates):
    """The searches that sort a node's records themselves, in one kernel: (score, threshold)."""
    score, threshold = find_subsampled(columns, sample, options, work, begin, end, n_candidates)
    if options.n_combined > 0:
        return find_linear(
            columns, sample, options, work, begin, end, n_candidates, score, threshold
        )
    return score, threshold


@array_step
def always_small(max_features, n_candidates):
    """Replaces ``small_node`` if there are no presorted records."""
    return np.int64(ANY_SIZE)


grow_open_sorting = _growing("sorting", find_sorting, inlined, small_node=always_small)
#: CART's linear combinations, and nodes searched in some of their samples.
grow_sorting = large_kernel(
    with_step(_grow_block, "grow_block_sorting", grow_open=grow_open_sorting)
)
