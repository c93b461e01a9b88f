"""Growing a block of trees from sparse columns."""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.grow import grow_open, open_root, search_node, split_node
from orfeon.kernels.cart.grow_batch import _grow_block, no_larger, no_table
from orfeon.kernels.cart.node_sorting import MOST_PAIRS
from orfeon.kernels.cart.partition import partition_rows, sum_rows
from orfeon.kernels.cart.records import Counts, Work
from orfeon.kernels.cart.search import MISSING_LEFT
from orfeon.kernels.cart.sparse_search import find_sparse, gather
from orfeon.utils.jit import array_step, inlined, kernel, step, with_step


@step
def make_sparse_work(columns, options, n_candidates, table, max_nodes):
    """As ``make_work``: ``near`` says where each row is, ``seen`` which features a node has."""
    n_rows = columns.n_rows
    n_marks = (columns.kind.shape[0] + 63) >> 6
    n_stats = options.n_stats
    n_waiting = max_nodes // 2 + 2
    counts = Counts(
        False,
        np.empty(0, np.uint64),
        np.empty(n_stats, np.int64),
        np.empty(32, np.int64),
        np.empty(n_stats, np.uint32),
        np.empty(n_stats, np.uint32),
        np.empty(0, np.uint32),
        np.empty(0, np.uint64),
        np.zeros(n_marks, np.uint64),
        np.zeros(n_rows, np.uint32),
        np.empty(0, np.bool_),
        np.empty(0, np.uint32),
        np.empty(0, np.uint32),
        np.empty(0, np.uint64),
        np.empty(0, np.uint32),
        np.empty(0, np.uint64),
        np.empty(0, np.uint32),
        np.empty(2, np.int64),
        np.zeros(n_marks, np.uint64),
        np.zeros((2, n_marks), np.uint64),
        np.empty((n_waiting, n_marks), np.uint64),  # pages never written take no memory
        np.empty((n_waiting + 1, 3), np.int64),
    )
    return Work(
        np.empty(n_rows + 2 * MOST_PAIRS, columns.records.dtype),
        np.empty(n_rows + 1, np.uint32),
        np.empty(n_rows + 1, np.uint32),
        np.empty(n_rows, np.uint8),
        np.empty(n_candidates, np.int64),
        np.zeros(n_stats, np.int64),
        np.zeros(n_stats, np.int64),
        np.zeros(n_stats, np.int64),
        np.empty(0, np.int64),
        np.zeros((1, n_stats), np.int64),
        np.empty(0, np.int64),
        np.empty(0),
        np.empty(0, np.uint8),
        np.empty(0, np.uint8),
        np.empty(0),
        np.empty(0, np.int64),
        np.empty(0),
        np.empty(4, np.int64),
        np.empty(0),
        np.empty((0, 4), np.int64),
        np.empty(1, np.uint64),
        np.empty((n_waiting, 4), np.int64),
        np.empty((n_waiting, 8), np.int64),
        np.empty(n_waiting),
        np.empty(n_waiting),
        table,
        counts,
    )


@array_step
def load_present(columns, sample, options, work, n_candidates):
    """List the rows of positive weight; returns their number."""
    m = np.int64(0)
    for i in range(columns.n_rows):
        work.rows[m] = i
        m += np.int64(sample.weights[i] != 0)
    return m


@array_step
def mark_sparse_sides(segments, first, m, shift, mask, zeros_left, cut, beyond, rows, begin, end,
                      goes_left):  # fmt: skip
    """Mark the rows that go left: by their rank, or as the zeros do."""
    for i in range(begin, end):
        goes_left[rows[np.uint64(i)]] = zeros_left
    for k in range(first, first + m):
        record = segments[np.uint64(k)]
        rank = np.int64(record >> shift)
        goes_left[record & mask] = np.uint8(rank <= cut) | np.uint8(rank == beyond)


@inlined
def partition_sparse(columns, sample, options, work, arenas, nodes, entry, small):
    """As ``partition_node``."""
    begin = work.frontier[entry, 0]
    end = work.frontier[entry, 1]
    node = work.frontier[entry, 2]
    f = work.frontier[entry, 4]
    cut = work.frontier[entry, 5]
    goes = work.frontier[entry, 7]
    beyond = columns.n_values[f] if goes == MISSING_LEFT else cut
    first, m = gather(columns, work.segments, work.counts.near, work.rows, f, begin, end)
    mark_sparse_sides(
        work.segments, first, m, columns.shift, columns.mask,
        np.uint8(np.int64(columns.ranks[f]) <= cut), cut, beyond, work.rows, begin, end,
        work.goes_left,
    )  # fmt: skip
    middle = partition_rows(work.rows, work.spare_rows, work.goes_left, begin, end)
    # Sum the smaller side; the other is the node minus it.
    is_left = middle - begin <= end - middle
    sum_rows(
        options.criterion, sample.labels, sample.weights, sample.packed, sample.moments, work.rows,
        begin if is_left else middle, middle if is_left else end, work.left,
    )  # fmt: skip
    if not is_left:
        for c in range(options.n_stats):
            work.left[c] = nodes.stats[node, c] - work.left[c]
    return middle


@array_step
def no_segments(columns, options, work, entry, begin, end, open_left, open_right, n_candidates):
    """Replaces ``partition_segments``: there are none."""


_searching = inlined(
    with_step(
        search_node, "search_node_sparse", find_split=find_sparse, save_subset=no_table,
        save_projection=no_table,
    )
)  # fmt: skip
_splitting = inlined(
    with_step(
        split_node, "split_node_sparse", partition_node=partition_sparse,
        partition_segments=no_segments,
    )
)  # fmt: skip
_growing = array_step(
    with_step(grow_open, "grow_open_sparse", search_node=_searching, split_node=_splitting)
)
_opening = array_step(with_step(open_root, "open_root_sparse", load_rows=load_present))
#: ``grow_best`` for sparse columns.
grow_sparse = kernel(
    with_step(
        _grow_block, "grow_block_sparse", grow_open=_growing, open_root=_opening,
        make_work=make_sparse_work, enlarge=no_larger,
    )
)  # fmt: skip
