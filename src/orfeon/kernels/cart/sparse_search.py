"""Exact search over sparse columns: a node costs the values of its candidates that are not zero.

A column holds its values other than zero, sorted once. The zeros of a node are one block, whose
statistics are those of the node minus those of the other values: a scan passes over it in one step.
The splits are those of the dense table, to the last bit.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.constant_features import is_marked, mark_feature
from orfeon.kernels.cart.criteria import (
    ENTROPY,
    ENTROPY_TABLE,
    ERROR,
    GINI,
    GINI_PAIR,
    GINI_TWO,
    VARIANCE,
    best_of_two,
    best_possible,
    n_log_n,
    split_score,
)
from orfeon.kernels.cart.node_sorting import order_by_pairs
from orfeon.kernels.cart.scan import TIED
from orfeon.kernels.cart.search import (
    LATER,
    MISSING_LEFT,
    MISSING_RIGHT,
    NO_SPLIT,
    NONE_MISSING,
    add_row,
    keep_cut,
    next_candidate,
    search_sorted,
)
from orfeon.utils.jit import array_step, inlined, merged_step

#: Nodes up to this size look their rows up in long columns, instead of reading the columns.
FEW_ROWS = 64
#: Nodes of up to so many values mark the features that are zero in all their rows.
MOST_MARKED = 1 << 14
#: With fewer candidates marking gains nothing.
FEWEST_MARKED = 256
#: Scores by running sums of many classes, and logarithms, are better by more than this.
_NEARLY_TIED = 1.0 + 1e-12


@array_step
def note_places(rows, begin, end, place):
    """Note where the rows of a node are."""
    for i in range(begin, end):
        place[rows[np.uint64(i)]] = i


@array_step
def gather_column(records, start, stop, mask, rows, begin, end, place, out):
    """Copy the records of a node's rows from a column, in their order; returns how many."""
    m = np.uint64(0)
    size = np.uint64(end - begin)
    for i in range(start, stop):
        record = records[np.uint64(i)]
        row = record & mask
        at = np.int64(place[row])
        out[m] = record
        m += np.uint64((np.uint64(at - begin) < size) & (rows[np.uint64(at)] == row))
    return np.int64(m)


@array_step
def gather_rows(by_row, n_features, n_rows, n_records, shift, f, rows, begin, end, out):
    """The same from the rows, whose features are ascending; the records are not sorted."""
    m = np.uint64(0)
    features = n_features + n_rows + 1
    for i in range(begin, end):
        row = np.int64(rows[np.uint64(i)])
        low = np.int64(by_row[np.uint64(n_features + row)])
        size = np.int64(by_row[np.uint64(n_features + row + 1)]) - low
        last = low + size
        while size > 0:
            half = size >> np.int64(1)
            below = np.int64(by_row[np.uint64(features + low + half)]) < f
            low = low + half + 1 if below else low
            size = size - half - 1 if below else half
        if low < last and np.int64(by_row[np.uint64(features + low)]) == f:
            rank = by_row[np.uint64(features + n_records + low)]
            out[m] = (out.dtype.type(rank) << shift) | out.dtype.type(row)
            m += np.uint64(1)
    return np.int64(m)


@array_step
def gather(columns, segments, place, rows, f, begin, end):
    """Records of a node's rows in a column, by rank: where they begin, and how many."""
    start = columns.segment[f]
    stop = columns.segment[f + 1]
    n = end - begin
    first = np.int64(0)
    if n <= FEW_ROWS and 8 * n < stop - start:
        m = gather_rows(
            columns.ranks, np.int64(columns.kind.shape[0]), columns.n_rows,
            np.int64(columns.records.shape[0]), columns.shift, f, rows, begin, end, segments,
        )  # fmt: skip
        order_by_pairs(segments, first, m, m)
        first = m
    else:
        m = gather_column(
            columns.records, start, stop, columns.mask, rows, begin, end, place, segments
        )
    return first, m


@array_step
def mark_zeros(by_row, n_features, n_rows, rows, begin, end, touched, constant):
    """Mark the features that are zero in all rows of a small node as constant."""
    total = np.int64(0)
    for i in range(begin, end):
        at = np.uint64(n_features + np.int64(rows[np.uint64(i)]))
        total += np.int64(by_row[at + np.uint64(1)]) - np.int64(by_row[at])
        if total > MOST_MARKED:
            return
    for k in range(touched.shape[0]):
        touched[k] = 0
    features = np.uint64(n_features + n_rows + 1)
    for i in range(begin, end):
        at = np.uint64(n_features + np.int64(rows[np.uint64(i)]))
        for k in range(np.int64(by_row[at]), np.int64(by_row[at + np.uint64(1)])):
            f = np.uint64(by_row[features + np.uint64(k)])
            touched[f >> np.uint64(6)] |= np.uint64(1) << (f & np.uint64(63))
    for k in range(touched.shape[0]):
        constant[k] |= ~touched[k]


@merged_step
def better_cut(criterion, left, total, weight_left, weight, sum_left, squares_left, rest, running,
               tolerance, best, lowest, uneven, is_first):  # fmt: skip
    """Whether a cut is better: (found, best score, lowest score as good, how uneven it is)."""
    # The scores are those of :mod:`orfeon.kernels.cart.scan`.
    found = False
    whole = float(weight)
    on_left = float(weight_left)
    shares = on_left * float(weight - weight_left)
    if criterion == VARIANCE or criterion == GINI_PAIR:
        on_right = float(total[1] - sum_left)
        crossed = float(sum_left) * float(sum_left) * float(weight - weight_left)
        crossed += on_right * on_right * on_left
        if crossed > best * TIED * shares:
            best = crossed / shares
            found = True
    elif criterion == GINI_TWO:
        excess = float(left[1]) * whole - on_left * float(total[1])
        if excess * excess > best * TIED * shares:
            best = excess * excess / shares
            found = True
    elif criterion == ENTROPY or criterion == ENTROPY_TABLE:
        score = running - n_log_n(on_left) - n_log_n(float(weight - weight_left))
        if score > best + tolerance:
            best = score
            found = True
    elif criterion == ERROR:
        score = split_score(np.int64(ERROR), left, total)
        distance = abs(2 * weight_left - weight)
        found = score > best * _NEARLY_TIED or (
            not is_first and score >= lowest and distance < uneven
        )
        if found:
            if score > best * _NEARLY_TIED:
                lowest = score * (2.0 - _NEARLY_TIED)
            best = max(best, score)
            uneven = distance
    else:
        crossed = squares_left * whole + on_left * rest
        nearly = TIED if criterion < GINI else _NEARLY_TIED
        if crossed > best * nearly * shares:
            score = crossed / shares
            if criterion == GINI:
                score = split_score(np.int64(GINI), left, total)
            if score > best * nearly:
                best = score
                found = True
    return found, best, lowest, uneven


@array_step
def scan_around_zeros(criterion, segments, first, m, zero_rank, shift, mask, labels, weights,
                      moments, left, zeros, total, table, min_leaf, best):  # fmt: skip
    """Best cut of sorted records and a block of zeros: (score, ranks beside the cut or -1)."""
    # ``left`` is where a scan starts from.
    by_sums = criterion == VARIANCE or criterion == GINI_PAIR
    by_logarithms = criterion == ENTROPY or criterion == ENTROPY_TABLE
    squares_left = 0.0
    rest = 0.0
    running = 0.0
    sum_left = left[1]
    weight_left = np.int64(0)
    weight = np.int64(0)
    zero_weight = np.int64(0)
    if criterion == VARIANCE:
        weight_left, weight, zero_weight = left[0], total[0], zeros[0]
    else:
        for c in range(total.shape[0]):
            weight_left += left[c]
            weight += total[c]
            zero_weight += zeros[c]
            squares_left += float(left[c]) * float(left[c])
            rest += float(total[c]) * float(total[c] - 2 * left[c])
            if by_logarithms:
                running += n_log_n(float(left[c])) + n_log_n(float(total[c] - left[c]))
    tolerance = 1e-12 * n_log_n(float(weight))
    most = weight - min_leaf
    lowest = best
    uneven = weight
    cut = np.int64(-1)
    following = np.int64(-1)
    previous = np.int64(-1)
    k = np.int64(0)
    waits = True  # the block of zeros
    while k < m or waits:
        rank = np.int64(zero_rank)
        if k < m:
            record = segments[np.uint64(first + k)]
            rank = np.int64(record >> shift)
        is_block = waits and (k == m or rank > np.int64(zero_rank))
        if is_block:
            rank = np.int64(zero_rank)
        if previous >= 0 and rank != previous and weight_left >= min_leaf and weight_left <= most:
            found, best, lowest, uneven = better_cut(
                criterion, left, total, weight_left, weight, sum_left, squares_left, rest, running,
                tolerance, best, lowest, uneven, cut < 0,
            )  # fmt: skip
            if found:
                cut = previous
                following = rank
        previous = rank
        if is_block:
            waits = False
            weight_left += zero_weight
            if by_sums:
                sum_left += zeros[1]
                continue
            for c in range(total.shape[0]):
                w = zeros[c]
                here = left[c]
                left[c] = here + w
                squares_left += float(w) * float(2 * here + w)
                rest -= 2.0 * float(w) * float(total[c])
                if by_logarithms:
                    running += n_log_n(float(here + w)) - n_log_n(float(here))
                    running += n_log_n(float(total[c] - here - w))
                    running -= n_log_n(float(total[c] - here))
            continue
        k += 1
        row = record & mask
        w = weights[row]
        weight_left += w
        if by_sums:
            sum_left += moments[row]
            continue
        c = np.uint64(labels[row])
        here = left[c]
        left[c] = here + w
        squares_left += float(w) * float(2 * here + w)
        rest -= 2.0 * float(w) * float(total[c])
        if by_logarithms:
            running += n_log_n(float(here + w)) - n_log_n(float(here))
            running += n_log_n(float(total[c] - here - w)) - n_log_n(float(total[c] - here))
    return best, cut, following


@array_step
def search_entries(criterion, segments, first, m, n, zero_rank, missing_rank, shift, mask, packed,
                   labels, weights, moments, left, aside, zeros, total, table, min_leaf,
                   best):  # fmt: skip
    """Best cut of a column: (varies, score, ranks beside the cut or -1, missing goes)."""
    cut = np.int64(-1)
    following = np.int64(-1)
    goes = np.int64(NONE_MISSING)
    last = first + m
    if m == 0:
        return False, best, cut, following, goes
    if m == n:
        if (segments[np.uint64(first)] >> shift) == (segments[np.uint64(last - 1)] >> shift):
            return False, best, cut, following, goes
        best, position, goes = search_sorted(
            criterion, segments, shift, mask, packed, labels, weights, moments, left, aside, total,
            table, min_leaf, first, last, missing_rank, best,
        )  # fmt: skip
        if position >= 0:
            cut = np.int64(segments[np.uint64(position)] >> shift)
            following = np.int64(segments[np.uint64(position + 1)] >> shift)
        return True, best, cut, following, goes
    known = m
    for c in range(total.shape[0]):
        left[c] = 0
        aside[c] = 0
        zeros[c] = total[c]
    while known > 0 and np.int64(segments[np.uint64(first + known - 1)] >> shift) == missing_rank:
        known -= 1
        row = np.int64(segments[np.uint64(first + known)] & mask)
        add_row(criterion, labels, weights, moments, row, aside)
    for k in range(known):
        row = np.int64(segments[np.uint64(first + k)] & mask)
        add_row(criterion, labels, weights, moments, row, left)
    for c in range(total.shape[0]):
        zeros[c] -= left[c] + aside[c]
    # First with missing values on the right, where their records are, then on the left.
    for side in range(1 if known == m else 2):
        for c in range(total.shape[0]):
            left[c] = aside[c] if side == 1 else 0
        best, before, after = scan_around_zeros(
            criterion, segments, first, known if side == 1 else m, zero_rank, shift, mask, labels,
            weights, moments, left, zeros, total, table, min_leaf, best,
        )  # fmt: skip
        if before >= 0:
            cut = before
            following = after
            goes = np.int64(MISSING_LEFT if side == 1 else MISSING_RIGHT)
    if known == m:
        goes = np.int64(NONE_MISSING)
    return True, best, cut, following, goes


@inlined
def find_sparse(columns, sample, options, work, begin, end, n_candidates):
    """``find_best`` over sparse columns: (score, ``LATER``)."""
    criterion = options.criterion
    max_features = options.max_features
    candidates = work.candidates
    total = work.total
    constant = work.counts.constant
    choice = work.choice
    rows = work.rows
    place = work.counts.near
    choice[0] = NO_SPLIT
    best = -np.inf
    if criterion == VARIANCE:
        bound = best_of_two(
            sample.targets, sample.weights, sample.moments, rows, begin, end, work.left, total
        )
    else:
        bound = best_possible(criterion, total)
    note_places(rows, begin, end, place)
    if n_candidates >= FEWEST_MARKED:
        mark_zeros(
            columns.ranks, np.int64(columns.kind.shape[0]), columns.n_rows, rows, begin, end,
            work.counts.seen, constant,
        )  # fmt: skip
    seen = 0
    for j in range(n_candidates):
        if options.in_order:
            f = candidates[j]
        else:
            f = next_candidate(candidates, work.random, j, n_candidates)
        if is_marked(constant, f):
            continue
        first, m = gather(columns, work.segments, place, rows, f, begin, end)
        varies, best, cut, following, goes = search_entries(
            criterion, work.segments, first, m, end - begin, np.int64(columns.ranks[f]),
            columns.n_values[f], columns.shift, columns.mask, sample.packed, sample.labels,
            sample.weights, sample.moments, work.left, work.aside, work.histogram[0], total,
            work.table, options.min_leaf, best,
        )  # fmt: skip
        if not varies:
            mark_feature(constant, f)
            continue
        if cut >= 0:
            keep_cut(choice, f, cut, following, goes)
        seen += 1
        if best >= bound or (seen >= max_features and choice[0] != NO_SPLIT):
            break
    return best, LATER
