"""Parting the rows of a node, and the sorted records of its attributes, between its children."""

from __future__ import annotations

import numpy as np

from orfeon.kernels.criteria import VARIANCE
from orfeon.kernels.jit import array_step, step
from orfeon.kernels.search import MISSING_LEFT, PROJECTION
from orfeon.table import CATEGORICAL, SORTED


@step
def mark_sides(columns, work, arenas, begin, end, f, cut, missing_goes, threshold):
    """Decide for each row of a node whether it goes left."""
    rows = work.rows
    goes_left = work.goes_left
    missing_left = np.uint8(missing_goes == MISSING_LEFT)
    if f == PROJECTION:
        for i in range(begin, end):
            row = np.int64(rows[i])
            total = 0.0
            for k in range(arenas.term_start[cut], arenas.term_start[cut + 1]):
                j = arenas.term_attribute[k]
                rank = np.int64(columns.ranks[j * columns.n_rows + row])
                x = np.nan
                if rank < columns.n_values[j]:
                    x = columns.values[columns.value_start[j] + rank]
                total += arenas.term_weight[k] * x
            goes_left[row] = missing_left if total != total else np.uint8(total <= threshold)
        return
    ranks = columns.ranks
    base = np.uint64(f * columns.n_rows)
    missing_rank = columns.n_values[f]
    if columns.kind[f] == CATEGORICAL:
        for i in range(begin, end):
            rank = np.int64(ranks[base + np.uint64(rows[i])])
            if rank == missing_rank:
                goes_left[rows[i]] = missing_left
            else:
                goes_left[rows[i]] = np.uint8(arenas.branches[cut + rank] == 0)
        return
    if missing_goes != MISSING_LEFT:
        for i in range(begin, end):
            row = rows[i]
            goes_left[row] = np.uint8(np.int64(ranks[base + np.uint64(row)]) <= cut)
        return
    for i in range(begin, end):
        row = rows[i]
        rank = np.int64(ranks[base + np.uint64(row)])
        goes_left[row] = np.uint8(rank <= cut or rank == missing_rank)


@step
def part_rows(sample, options, work, begin, end):
    """Move the rows that go left to the front, sum their statistics; returns the boundary."""
    rows = work.rows
    spare = work.spare_rows
    goes_left = work.goes_left
    left = work.left
    for c in range(options.n_stats):
        left[c] = 0
    put = np.uint64(begin)
    aside = np.uint64(0)
    if options.criterion == VARIANCE:
        for i in range(begin, end):
            row = rows[i]
            side = np.uint64(goes_left[row])
            if side:
                left[0] += sample.weights[row]
                left[1] += sample.moments[row]
            rows[put] = row
            spare[aside] = row
            put += side
            aside += np.uint64(1) - side
    else:
        for i in range(begin, end):
            row = rows[i]
            side = np.uint64(goes_left[row])
            left[np.uint64(sample.labels[row])] += sample.weights[row] * np.int64(side)
            rows[put] = row
            spare[aside] = row
            put += side
            aside += np.uint64(1) - side
    for i in range(np.int64(aside)):
        rows[put + np.uint64(i)] = spare[i]
    return np.int64(put)


@array_step
def part_both(segments, begin, end, buffer, mask, goes_left):
    """Stable partition of one attribute's segment: left part, then right part."""
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
def part_left(segments, begin, end, mask, goes_left):
    """The left part alone, when the right child needs no records."""
    put = np.uint64(begin)
    for i in range(begin, end):
        record = segments[np.uint64(i)]
        segments[put] = record
        put += np.uint64(goes_left[record & mask])


@array_step
def part_right(segments, begin, end, mask, goes_left):
    """The right part alone, filled from the end."""
    put = np.uint64(end - 1)
    for i in range(end - 1, begin - 1, -1):
        record = segments[np.uint64(i)]
        segments[put] = record
        put -= np.uint64(1) - np.uint64(goes_left[record & mask])


@step
def part_segments(columns, options, work, begin, end, open_left, open_right, n_candidates):
    """Partition the records of every sorted attribute for the children that will be searched."""
    if not options.uses_segments or not (open_left or open_right):
        return
    segments = work.segments
    buffer = segments.shape[0] - columns.n_rows
    for a in range(n_candidates):
        f = work.candidates[a]
        if columns.kind[f] != SORTED:
            continue
        base = columns.segment[f] * columns.n_rows
        if open_left and open_right:
            part_both(segments, base + begin, base + end, buffer, columns.mask, work.goes_left)
        elif open_left:
            part_left(segments, base + begin, base + end, columns.mask, work.goes_left)
        else:
            part_right(segments, base + begin, base + end, columns.mask, work.goes_left)
