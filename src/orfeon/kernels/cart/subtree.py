"""Subtrees in the cache: the rows of a small node of a large table, as a table of their own.

Below the top of a tree, the rows of a node are far apart in a large table, and every node would
wait for memory again. So once a node is small, the ranks, labels and weights of its rows are copied
side by side, and all nodes below it read the copy. Rows keep their order, so the trees are the
same.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.grow import NO_LIMIT
from orfeon.kernels.cart.node_sorting import small_node
from orfeon.kernels.cart.records import Columns, Sample, Subtable
from orfeon.utils.jit import array_step, step

#: The most rows of a copy. Not a power of two: columns must not compete for places in the cache.
MOST_ROWS = 4112
#: The least rows: fewer are read too rarely.
LEAST_ROWS = 32
#: The most features: of more, most are never read.
MOST_FEATURES = 32
#: Rows are copied in groups, which stay in the cache while they are turned into columns.
_GROUP = 16


@step
def make_subtable(columns, options, n_candidates):
    """Room for a copy; none where small nodes read the table itself."""
    width = columns.kind.shape[0]
    has_rows = columns.ranks.shape[0] > width * columns.n_rows  # ranks row after row, too
    room = np.int64(0)
    if (
        has_rows and width <= MOST_FEATURES and options.max_leaves >= NO_LIMIT
        and small_node(options.max_features, n_candidates) > 0
    ):  # fmt: skip
        room = min(np.int64(MOST_ROWS), columns.n_rows)
    return Subtable(
        Columns(
            columns.records, np.empty(width * room, columns.ranks.dtype), columns.segment,
            columns.kind, columns.n_values, columns.value_start, columns.values, columns.shift,
            columns.mask, room,
        ),
        Sample(
            np.empty(room, np.uint16), np.empty(room, np.int64), np.empty(room, np.uint64),
            np.empty(room, np.int64), np.empty(room),
        ),
    )  # fmt: skip


@array_step
def copy_ranks(ranks, n_rows, width, rows, begin, end, near, room):
    """Copy the ranks of a node's rows from the table by row to columns."""
    for first in range(begin, end, _GROUP):
        last = min(first + _GROUP, end)
        for f in range(width):
            base = np.uint64(width * n_rows + f)
            put = np.uint64(f * room + first - begin)
            for i in range(first, last):
                near[put] = ranks[base + np.uint64(width) * np.uint64(rows[np.uint64(i)])]
                put += np.uint64(1)


@array_step
def copy_of_rows(source, rows, begin, end, near):
    """Copy what a node's rows have in an array of the table's rows, if it is not empty."""
    if source.shape[0] == 0:
        return
    first = np.uint64(begin)
    for i in range(end - begin):
        near[np.uint64(i)] = source[rows[first + np.uint64(i)]]


@array_step
def enter_subtree(columns, sample, work, entry, waiting, outside):
    """Copy the rows of a small node that is split next: how many entries wait outside its subtree.

    -1 if the node belongs to no copy. Entries are split last in, first out, so a subtree is
    finished before the next one begins.
    """
    if 0 <= outside < waiting:
        return outside
    begin = work.frontier[entry, 0]
    end = work.frontier[entry, 1]
    room = work.subtable.columns.n_rows
    if end - begin > room or end - begin < LEAST_ROWS:
        return np.int64(-1)
    rows = work.rows
    near = work.subtable.sample
    copy_ranks(
        columns.ranks, columns.n_rows, columns.kind.shape[0], rows, begin, end,
        work.subtable.columns.ranks, room,
    )  # fmt: skip
    copy_of_rows(sample.labels, rows, begin, end, near.labels)
    copy_of_rows(sample.weights, rows, begin, end, near.weights)
    copy_of_rows(sample.packed, rows, begin, end, near.packed)
    copy_of_rows(sample.moments, rows, begin, end, near.moments)
    copy_of_rows(sample.targets, rows, begin, end, near.targets)
    for i in range(end - begin):
        rows[np.uint64(begin + i)] = i
    return np.int64(waiting - 1)


@array_step
def columns_of(columns, work, outside):
    """The columns that the rows of the node to be split refer to."""
    if outside >= 0:
        return work.subtable.columns
    return columns


@array_step
def sample_of_rows(sample, work, outside):
    """The same for the samples."""
    if outside >= 0:
        return work.subtable.sample
    return sample
