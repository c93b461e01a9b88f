"""The tasks that threads share while one tree is grown, and their parts.

A node is searched by blocks of eight features; the rows of a large node are read and moved, and
those of the finished tree described, by parts of the rows or of the nodes. No part writes what
another reads, and all sums are integers, so the number of threads changes nothing.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.histogram.bins import PER_WORD
from orfeon.kernels.histogram.leaves import describe_leaf, route_rows
from orfeon.kernels.histogram.nodes import FROM_PARENT, FROM_ROWS
from orfeon.kernels.histogram.splits import AHEAD, add_rows, best_score, subtract
from orfeon.kernels.histogram.threads import (
    CLOSED,
    DONE,
    atomic_add,
    atomic_load,
    claim,
    n_homes,
    pause,
    prefetch,
    publish,
)
from orfeon.utils.jit import array_step, inlined, loop_step

#: Kinds of tasks.
SEARCH, GATHER, SET_ASIDE, MOVE, DESCRIBE, ROUTE = range(6)
#: Places in a task; END is also the number of nodes to describe, SIZE the rows of a part.
KIND, BEGIN, END, FEATURE, MIDDLE, SIZE = range(6)
#: Minimum number of rows of a part, and maximum number of parts for each thread.
CHUNK = 1024
_MOST_PARTS = 3
#: Parts into which the leaves are dealt.
_LEAF_PARTS = 64


@inlined
def fill_block(bins, search, work, block, begin, end, start):
    first = PER_WORD * block
    n_rows = np.uint64(bins.n_rows)
    base = np.uint64(block) * n_rows
    for plane in range(1 + search.is_wide):
        to = start + plane * search.length
        for i in range(
            to + np.int64(bins.offset[first]), to + np.int64(bins.offset[first + PER_WORD])
        ):
            search.histograms[np.uint64(i)] = 0
        add_rows(
            bins.codes, base, work.rows, work.ordered, np.uint64(plane) * n_rows, begin, end,
            search.histograms, np.uint64(to), bins.offset, first,
        )  # fmt: skip


@array_step
def search_block(bins, search, work, block):
    if not work.block_used[block]:
        return
    first = PER_WORD * block
    size = search.length * (1 + search.is_wide)
    job = work.job
    for side in range(2):
        if job[side, 5] == FROM_ROWS:
            fill_block(bins, search, work, block, job[side, 1], job[side, 2], job[side, 4] * size)
    for side in range(2):
        if job[side, 5] == FROM_PARENT:
            for plane in range(1 + search.is_wide):
                at = plane * search.length
                subtract(
                    search.histograms, job[side, 4] * size + at + np.int64(bins.offset[first]),
                    job[side, 4] * size + at + np.int64(bins.offset[first + PER_WORD]),
                    job[1 - side, 4] * size + at + np.int64(bins.offset[first]),
                )  # fmt: skip
    if job[0, 6]:  # few features are drawn: score them on demand
        return
    for side in range(2):
        if job[side, 0] >= 0:
            for f in range(first, min(first + PER_WORD, bins.n_bins.shape[0])):
                if not work.is_candidate[f]:
                    continue
                work.scores[side, f] = best_score(bins, search, side, job[side, 4] * size, f)


@loop_step
def gather_values(rows, values, ordered, begin, end, at):
    for i in range(begin, end):
        ordered[at + np.uint64(i)] = values[at + np.uint64(rows[np.uint64(i)])]


@loop_step
def partition_rows(codes, base, shift, goes_left, rows, spare, begin, end):
    """Move the rows that go left to the front, keeping their order; returns the boundary."""
    put = np.uint64(begin)
    aside = np.uint64(0)
    byte = np.uint64(255)
    for i in range(begin, end):
        prefetch(codes, base + np.uint64(rows[np.uint64(i + AHEAD)]))
        row = rows[np.uint64(i)]
        side = np.uint64(goes_left[(codes[base + np.uint64(row)] >> shift) & byte])
        rows[put] = row
        spare[aside] = row
        put += side
        aside += np.uint64(1) - side
    for i in range(np.int64(aside)):
        rows[put + np.uint64(i)] = spare[np.uint64(i)]
    return np.int64(put)


@loop_step
def set_aside(codes, base, shift, goes_left, rows, spare, begin, end):
    """Copy the rows that go left to the front of ``spare``, the others reversed to its back."""
    first = np.uint64(begin)
    last = np.uint64(end - 1)
    byte = np.uint64(255)
    for i in range(begin, end):
        prefetch(codes, base + np.uint64(rows[np.uint64(i + AHEAD)]))
        row = rows[np.uint64(i)]
        side = np.uint64(goes_left[(codes[base + np.uint64(row)] >> shift) & byte])
        spare[first] = row
        spare[last] = row
        first += side
        last -= np.uint64(1) - side
    return np.int64(first) - begin


@loop_step
def move_rows(rows, spare, begin, end, n_left, to_left, to_right):
    """Copy back what was set aside, to both children, in the original order."""
    for i in range(n_left):
        rows[np.uint64(to_left + i)] = spare[np.uint64(begin + i)]
    for i in range(end - begin - n_left):
        rows[np.uint64(to_right + i)] = spare[np.uint64(end - 1 - i)]


@array_step
def do_rows(bins, search, work, tree, residuals, part):
    """A part of a task over rows."""
    task = work.task
    start = task[BEGIN]
    begin = start + part * task[SIZE]
    end = min(begin + task[SIZE], task[END])
    if task[KIND] == GATHER:
        for plane in range(1 + search.is_wide):
            at = np.uint64(plane * bins.n_rows)
            gather_values(work.rows, work.values, work.ordered, begin, end, at)
    elif task[KIND] == SET_ASIDE:
        f = task[FEATURE]
        work.counts[part] = set_aside(
            bins.codes, np.uint64(f // PER_WORD * bins.n_rows), np.uint64(8 * (f % PER_WORD)),
            work.goes_left, work.rows, work.spare_rows, begin, end,
        )  # fmt: skip
    elif task[KIND] == MOVE:
        before = work.counts[part]
        move_rows(
            work.rows, work.spare_rows, begin, end, work.counts[part + 1] - before,
            start + before, task[MIDDLE] + begin - start - before,
        )  # fmt: skip
    else:
        route_rows(bins, tree, residuals, begin, end)


@array_step
def do_part(bins, search, work, tree, residuals, part):
    kind = work.task[KIND]
    if kind == SEARCH:
        search_block(bins, search, work, part)
    elif kind == DESCRIBE:
        for node in range(part, work.task[END], _LEAF_PARTS):
            if tree.n_children[node] == 0:
                describe_leaf(search, work, tree, node, residuals)
    else:
        do_rows(bins, search, work, tree, residuals, part)


@array_step
def share(bins, search, work, tree, residuals, kind, n_parts):
    """Do all parts of a task, with the help of other threads if there are several parts."""
    work.task[KIND] = kind
    board = work.board
    if board.shape[0] == 0 or n_parts == 1:
        for part in range(n_parts):
            do_part(bins, search, work, tree, residuals, part)
        return
    publish(board, n_parts)
    part = claim(board, np.int64(0))
    while part >= 0:
        do_part(bins, search, work, tree, residuals, part)
        atomic_add(board, DONE, np.int64(1))
        part = claim(board, np.int64(0))
    while atomic_load(board, DONE) < n_parts:
        pause()


@array_step
def share_rows(bins, search, work, tree, residuals, kind, begin, end):
    """Do a task over rows, in parts of the same size; returns how many."""
    work.task[BEGIN] = begin
    work.task[END] = end
    size = end - begin
    if work.board.shape[0]:
        most = _MOST_PARTS * n_homes(work.board)
        size = max((size + most - 1) // most, np.int64(CHUNK))
    work.task[SIZE] = size
    n_parts = (end - begin + size - 1) // size
    share(bins, search, work, tree, residuals, kind, n_parts)
    return n_parts


@array_step
def partition(bins, search, work, tree, residuals, f, begin, end):
    """Partition the rows of a node by ``work.goes_left``; returns the boundary."""
    if work.board.shape[0] == 0 or end - begin <= 2 * CHUNK:
        return partition_rows(
            bins.codes, np.uint64(f // PER_WORD * bins.n_rows), np.uint64(8 * (f % PER_WORD)),
            work.goes_left, work.rows, work.spare_rows, begin, end,
        )  # fmt: skip
    work.task[FEATURE] = f
    n_parts = share_rows(bins, search, work, tree, residuals, np.int64(SET_ASIDE), begin, end)
    before = np.int64(0)
    for part in range(n_parts):
        n_left = work.counts[part]
        work.counts[part] = before
        before += n_left
    work.counts[n_parts] = before
    work.task[MIDDLE] = begin + before
    share_rows(bins, search, work, tree, residuals, np.int64(MOVE), begin, end)
    return begin + before


@array_step
def share_leaves(bins, search, work, tree, residuals, n_nodes):
    """Describe all leaves, and find the leaf of each row that the tree was not grown from."""
    work.task[END] = n_nodes
    share(bins, search, work, tree, residuals, np.int64(DESCRIBE), np.int64(_LEAF_PARTS))
    if residuals.n_present < bins.n_rows:
        share_rows(
            bins, search, work, tree, residuals, np.int64(ROUTE), np.int64(0),
            np.int64(bins.n_rows),
        )  # fmt: skip


@array_step
def help_search(bins, search, work, tree, residuals, thread, n_idle):
    """Do parts until the tree is finished, or until ``n_idle`` polls in a row without work."""
    board = work.board
    idle = 0
    while idle < n_idle:
        part = claim(board, thread)
        if part >= 0:
            idle = 0
            do_part(bins, search, work, tree, residuals, part)
            atomic_add(board, DONE, np.int64(1))
        elif atomic_load(board, CLOSED):
            break
        else:
            idle += 1
            pause()
