"""Partitioning the rows and sorted records of a node between its children."""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import CATEGORICAL, SORTED
from orfeon.kernels.cart.constant_features import is_marked
from orfeon.kernels.cart.criteria import GINI_TWO, VARIANCE
from orfeon.kernels.cart.search import MISSING_LEFT, PROJECTION, place_of
from orfeon.utils.jit import array_step, inlined


@array_step
def mark_sides(columns, work, arenas, begin, end, f, cut, missing_goes, threshold):
    """Mark the rows that go left, by linear combination or by category."""
    rows = work.rows
    goes_left = work.goes_left
    missing_left = np.uint8(missing_goes == MISSING_LEFT)
    if f == PROJECTION:
        for i in range(begin, end):
            row = np.int64(rows[i])
            total = 0.0
            for k in range(arenas.term_start[cut], arenas.term_start[cut + 1]):
                j = arenas.term_feature[k]
                rank = np.int64(columns.ranks[j * columns.n_rows + row])
                x = np.nan
                if rank < columns.n_values[j]:
                    x = columns.values[columns.value_start[j] + rank]
                total += arenas.term_weight[k] * x
            goes_left[row] = missing_left if total != total else np.uint8(total <= threshold)
        return
    ranks = columns.ranks
    base = np.uint64(f * columns.n_rows)
    for i in range(begin, end):
        rank = np.int64(ranks[base + np.uint64(rows[i])])
        if rank == columns.n_values[f]:
            goes_left[rows[i]] = missing_left
        else:
            goes_left[rows[i]] = np.uint8(arenas.branches[cut + rank] == 0)


@array_step
def partition_by_code(ranks, base, stride, n_categories, branches, start, missing_left, rows,
                      spare, begin, end):  # fmt: skip
    """Partition the rows of a node by category; returns the boundary."""
    put = np.uint64(begin)
    aside = np.uint64(0)
    one = np.uint64(1)
    few = n_categories < 64
    left = np.uint64(0)
    if few:  # a bit each: no table has to be read
        for code in range(n_categories):
            left |= np.uint64(branches[np.uint64(start + code)] == 0) << np.uint64(code)
        left |= np.uint64(missing_left) << np.uint64(n_categories)
    for i in range(begin, end):
        row = rows[np.uint64(i)]
        code = np.int64(ranks[base + stride * np.uint64(row)])
        if few:
            side = (left >> np.uint64(code)) & one
        else:
            side = np.uint64(missing_left)
            if code != n_categories:
                side = np.uint64(branches[np.uint64(start + code)] == 0)
        rows[put] = row
        spare[aside] = row
        put += side
        aside += np.uint64(1) - side
    for i in range(np.int64(aside)):
        rows[put + np.uint64(i)] = spare[np.uint64(i)]
    return np.int64(put)


@array_step
def mark_ranks(ranks, base, cut, beyond, rows, goes_left, begin, end):
    """Mark the rows to go left: ranks up to ``cut``, and the rank ``beyond``."""
    for i in range(begin, end):
        row = np.uint64(rows[np.uint64(i)])
        rank = np.int64(ranks[base + row])
        goes_left[row] = np.uint8(rank <= cut) | np.uint8(rank == beyond)


@array_step
def mark_records(segments, first, last, shift, mask, cut, beyond, goes_left):
    """Like ``mark_ranks``, from the sorted records, which are read in sequence."""
    for i in range(first, last):
        record = segments[np.uint64(i)]
        rank = np.int64(record >> shift)
        goes_left[record & mask] = np.uint8(rank <= cut) | np.uint8(rank == beyond)


@array_step
def partition_rows(rows, spare, goes_left, begin, end):
    """Move the rows that go left to the front; returns the boundary."""
    put = np.uint64(begin)
    aside = np.uint64(0)
    for i in range(begin, end):
        row = rows[np.uint64(i)]
        side = np.uint64(goes_left[np.uint64(row)])
        rows[put] = row
        spare[aside] = row
        put += side
        aside += np.uint64(1) - side
    for i in range(np.int64(aside)):
        rows[put + np.uint64(i)] = spare[i]
    return np.int64(put)


@array_step
def partition_by_rank(ranks, base, stride, cut, beyond, rows, spare, begin, end):
    """``mark_ranks`` and ``partition_rows`` in one pass, for nodes without sorted records."""
    put = np.uint64(begin)
    aside = np.uint64(0)
    for i in range(begin, end):
        row = rows[np.uint64(i)]
        rank = np.int64(ranks[base + stride * np.uint64(row)])
        side = np.uint64(rank <= cut) | np.uint64(rank == beyond)
        rows[put] = row
        spare[aside] = row
        put += side
        aside += np.uint64(1) - side
    for i in range(np.int64(aside)):
        rows[put + np.uint64(i)] = spare[np.uint64(i)]
    return np.int64(put)


@array_step
def sum_rows(criterion, labels, weights, packed, moments, rows, begin, end, stats):
    if criterion == GINI_TWO:  # in a register: a class after the other would wait for its sum
        words = np.uint64(0)
        for i in range(begin, end):
            words += packed[rows[np.uint64(i)]]
        stats[1] = np.int64(words >> np.uint64(32))
        stats[0] = np.int64(words & np.uint64(0xFFFFFFFF)) - stats[1]
        return
    for c in range(stats.shape[0]):
        stats[c] = 0
    for i in range(begin, end):
        row = rows[np.uint64(i)]
        if criterion == VARIANCE:
            stats[0] += weights[row]
            stats[1] += moments[row]
        else:
            stats[np.uint64(labels[row])] += weights[row]


@inlined
def partition_node(columns, sample, options, work, arenas, nodes, entry, small):
    """Partition the rows of a waiting node; returns the boundary."""
    # Fills ``work.goes_left`` by row and ``work.left`` with the statistics of the left side.
    begin = work.frontier[entry, 0]
    end = work.frontier[entry, 1]
    node = work.frontier[entry, 2]
    f = work.frontier[entry, 4]
    cut = work.frontier[entry, 5]
    goes = work.frontier[entry, 7]
    base, stride = place_of(f, columns.ranks, columns.n_rows, columns.kind.shape[0], end - begin)
    has_segments = options.uses_segments and end - begin > small and columns.records.shape[0] > 0
    if f != PROJECTION and columns.kind[f] == CATEGORICAL and not has_segments:
        middle = partition_by_code(
            columns.ranks, base, stride, columns.n_values[f], arenas.branches, cut,
            goes == MISSING_LEFT, work.rows, work.spare_rows, begin, end,
        )  # fmt: skip
    elif f == PROJECTION or columns.kind[f] == CATEGORICAL:
        mark_sides(columns, work, arenas, begin, end, f, cut, goes, work.frontier_threshold[entry])
        middle = partition_rows(work.rows, work.spare_rows, work.goes_left, begin, end)
    elif not has_segments:
        beyond = columns.n_values[f] if goes == MISSING_LEFT else cut
        middle = partition_by_rank(
            columns.ranks, base, stride, cut, beyond, work.rows, work.spare_rows, begin, end
        )  # fmt: skip
    else:
        beyond = columns.n_values[f] if goes == MISSING_LEFT else cut
        if columns.kind[f] == SORTED:
            first = columns.segment[f] * columns.n_rows
            mark_records(
                work.segments, first + begin, first + end, columns.shift, columns.mask, cut,
                beyond, work.goes_left,
            )  # fmt: skip
        else:
            mark_ranks(
                columns.ranks, np.uint64(f * columns.n_rows), cut, beyond, work.rows,
                work.goes_left, begin, end,
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
def partition_both(segments, begin, end, buffer, mask, goes_left):
    """Stable partition of one feature's segment: left part, then right part."""
    put = np.uint64(begin)
    aside = np.uint64(buffer)
    for i in range(begin, end):
        record = segments[np.uint64(i)]
        side = np.uint64(goes_left[record & mask])
        segments[put] = record
        segments[aside] = record
        put += side
        aside += np.uint64(1) - side
    for i in range(buffer, np.int64(aside)):
        segments[put] = segments[np.uint64(i)]
        put += np.uint64(1)


@array_step
def keep_left(segments, begin, end, mask, goes_left):
    """Keep the left part alone, when the right child needs no records."""
    put = np.uint64(begin)
    for i in range(begin, end):
        record = segments[np.uint64(i)]
        segments[put] = record
        put += np.uint64(goes_left[record & mask])


@array_step
def keep_right(segments, begin, end, mask, goes_left):
    """Keep the right part alone, filled from the end."""
    put = np.uint64(end - 1)
    for i in range(end - 1, begin - 1, -1):
        record = segments[np.uint64(i)]
        segments[put] = record
        put -= np.uint64(1) - np.uint64(goes_left[record & mask])


@inlined
def partition_segments(columns, options, work, entry, begin, end, open_left, open_right,
                       n_candidates):  # fmt: skip
    """Partition the records of every sorted feature for the children that will be searched."""
    if not options.uses_segments or not (open_left or open_right):
        return
    segments = work.segments
    buffer = segments.shape[0] - columns.n_rows
    for a in range(n_candidates):
        f = work.candidates[a]
        if columns.kind[f] != SORTED or is_marked(work.counts.frontier_constant[entry], f):
            continue
        base = columns.segment[f] * columns.n_rows
        if open_left and open_right:
            partition_both(segments, base + begin, base + end, buffer, columns.mask, work.goes_left)
        elif open_left:
            keep_left(segments, base + begin, base + end, columns.mask, work.goes_left)
        else:
            keep_right(segments, base + begin, base + end, columns.mask, work.goes_left)
