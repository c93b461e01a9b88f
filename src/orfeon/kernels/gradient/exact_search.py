"""The best split of a node of a Newton tree, over every threshold.

Continuous features are scanned in sorted order; features of few values and categories by sums over
their codes. All sums are integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.data.sorting import CATEGORICAL, SORTED
from orfeon.kernels.cart.choice import (
    ABSENT,
    MISSING_LEFT,
    MISSING_RIGHT,
    NO_SPLIT,
    NONE_MISSING,
)
from orfeon.kernels.cart.node_sorting import sort_by_rank
from orfeon.kernels.cart.search import keep_cut, next_candidate
from orfeon.kernels.cart.subset import sort_by_key
from orfeon.kernels.gradient.interactions import has_feature
from orfeon.kernels.gradient.newton_scores import bar_above, least_score, score_of
from orfeon.kernels.record import record
from orfeon.utils.jit import array_step

#: Places of the sums of a node or a code.
HESSIAN, MOMENT, WEIGHT = 0, 1, 2


@record
class Work:
    """Scratch of one thread."""

    segments: Any  # records of every sorted feature, grouped by node, then a buffer
    rows: Any  # grouped by node
    spare_rows: Any
    goes_left: Any
    candidates: Any  # features the tree may use, shuffled at every node
    cells: Any  # int64 (codes, 3), zero between searches
    present: Any
    key: Any
    chosen: Any  # side of each category by the best subset so far
    total: Any  # of the node under search
    left: Any
    aside: Any  # sums of the missing values
    choice: Any  # feature, cut, next, missing goes left
    digits: Any
    random: Any
    allowed: Any  # features that the node may use, a bit each
    open: Any  # node, begin, end and depth of the nodes to search
    frontier: Any  # begin, end, node, depth and choice of the nodes searched
    gain: Any
    branches: Any  # branch tables
    used: Any  # how many of them, and whether they did not fit
    sums: Any  # of the scores of all nodes of a level, by split
    level: Any  # float64 (n, 4); of each node of a level


@array_step
def add_row(pairs, weights, row, stats):
    at = np.uint64(row) << np.uint64(1)
    stats[MOMENT] += pairs[at]
    stats[HESSIAN] += pairs[at + np.uint64(1)]
    stats[WEIGHT] += weights[np.uint64(row)]


@array_step
def clear(stats):
    for c in range(stats.shape[0]):
        stats[c] = 0


@array_step
def scan_plain(records, begin, end, shift, mask, pairs, left, total, l2, least, best):
    """The best cut without limits on values and weights: (score, position)."""
    one = np.uint64(1)
    moment_left = left[MOMENT]
    hessian_left = left[HESSIAN]
    moment = total[MOMENT]
    hessian = total[HESSIAN]
    most = hessian - least
    bar = bar_above(best)
    position = np.int64(-1)
    current = records[begin]
    for i in range(begin, end - 1):
        at = np.uint64(current & mask) << one
        moment_left += pairs[at]
        hessian_left += pairs[at + one]
        following = records[np.uint64(i + 1)]
        if (following >> shift) != (current >> shift):
            on_left = float(moment_left)
            on_right = float(moment - moment_left)
            below_left = float(hessian_left) + l2
            below_right = float(hessian - hessian_left) + l2
            crossed = on_left * on_left * below_right + on_right * on_right * below_left
            shares = below_left * below_right
            if crossed > bar * shares and hessian_left >= least and hessian_left <= most:
                best = crossed / shares
                bar = bar_above(best)
                position = i
        current = following
    return best, position


@array_step
def scan_counted(records, begin, end, shift, mask, pairs, weights, left, total, l2, least, fewest,
                 best):  # fmt: skip
    """``scan_plain`` with a minimum weight of both sides."""
    one = np.uint64(1)
    moment_left = left[MOMENT]
    hessian_left = left[HESSIAN]
    weight_left = left[WEIGHT]
    moment = total[MOMENT]
    hessian = total[HESSIAN]
    most = hessian - least
    heaviest = total[WEIGHT] - fewest
    bar = bar_above(best)
    position = np.int64(-1)
    current = records[begin]
    for i in range(begin, end - 1):
        row = np.uint64(current & mask)
        at = row << one
        moment_left += pairs[at]
        hessian_left += pairs[at + one]
        weight_left += weights[row]
        following = records[np.uint64(i + 1)]
        if (following >> shift) != (current >> shift):
            if weight_left >= fewest and weight_left <= heaviest:
                on_left = float(moment_left)
                on_right = float(moment - moment_left)
                below_left = float(hessian_left) + l2
                below_right = float(hessian - hessian_left) + l2
                crossed = on_left * on_left * below_right + on_right * on_right * below_left
                shares = below_left * below_right
                if crossed > bar * shares and hessian_left >= least and hessian_left <= most:
                    best = crossed / shares
                    bar = bar_above(best)
                    position = i
        current = following
    return best, position


@array_step
def is_large_enough(rule, left, total):
    """Whether both sides of a cut hold enough."""
    least = rule.min_hessian
    few = rule.min_leaf
    return (
        left[HESSIAN] >= least
        and total[HESSIAN] - left[HESSIAN] >= least
        and left[WEIGHT] >= few
        and total[WEIGHT] - left[WEIGHT] >= few
    )


@array_step
def score_sums(rule, left, total, sign, low, high):
    return score_of(
        rule, float(left[MOMENT]), float(left[HESSIAN]), float(total[MOMENT]),
        float(total[HESSIAN]), sign, low, high,
    )  # fmt: skip


@array_step
def scan_limited(rule, records, begin, end, shift, mask, pairs, weights, left, total, sign, low,
                 high, best):  # fmt: skip
    """``scan_plain`` with limits on values and weights."""
    position = np.int64(-1)
    current = records[begin]
    for i in range(begin, end - 1):
        add_row(pairs, weights, current & mask, left)
        following = records[np.uint64(i + 1)]
        if (following >> shift) != (current >> shift) and is_large_enough(rule, left, total):
            score = score_sums(rule, left, total, sign, low, high)
            if score > bar_above(best):
                best = score
                position = i
        current = following
    return best, position


@array_step
def search_sorted(columns, rule, sample, work, f, first, last, sign, low, high, best):
    """Best cut of sorted records: its score; keeps a better one."""
    segments = work.segments
    shift = columns.shift
    missing_rank = columns.n_values[f]
    known = last
    clear(work.aside)
    while np.int64(segments[known - 1] >> shift) == missing_rank:
        known -= 1
        add_row(sample.pairs, sample.weights, segments[known] & columns.mask, work.aside)
    clear(work.left)
    goes = np.int64(NONE_MISSING if known == last else MISSING_RIGHT)
    # First with missing values on the right, where their records are, then on the left.
    for side in range(1 if known == last else 2):
        if side == 1:
            for c in range(3):
                work.left[c] = work.aside[c]
            last = known
        if rule.is_plain and rule.min_leaf > 1:
            best, found = scan_counted(
                segments, first, last, shift, columns.mask, sample.pairs, sample.weights,
                work.left, work.total, rule.l2, rule.min_hessian, rule.min_leaf, best,
            )  # fmt: skip
        elif rule.is_plain:
            best, found = scan_plain(
                segments, first, last, shift, columns.mask, sample.pairs, work.left, work.total,
                rule.l2, rule.min_hessian, best,
            )  # fmt: skip
        else:
            best, found = scan_limited(
                rule, segments, first, last, shift, columns.mask, sample.pairs, sample.weights,
                work.left, work.total, sign, low, high, best,
            )  # fmt: skip
        if found >= 0:
            cut = np.int64(segments[found] >> shift)
            following = np.int64(segments[found + 1] >> shift)
            keep_cut(work.choice, f, cut, following, np.int64(MISSING_LEFT) if side == 1 else goes)
    return best


@array_step
def fill_cells(columns, sample, work, f, begin, end):
    """Add the sums of a node's rows by code; returns how many codes are present, in any order."""
    base = np.uint64(f * columns.n_rows)
    n = np.int64(0)
    for i in range(begin, end):
        row = work.rows[np.uint64(i)]
        code = np.int64(columns.ranks[base + np.uint64(row)])
        if work.cells[code, HESSIAN] == 0:
            work.present[n] = code
            work.key[code] = float(code)
            n += 1
        add_row(sample.pairs, sample.weights, row, work.cells[code])
    return n


@array_step
def fill_all_cells(columns, rule, sample, work, f, begin, end):
    """``fill_cells`` of an ordered feature with fewer values than the node has rows."""
    # The codes come in order, so they need no sorting. The weight of a code is 1 where it does not
    # matter.
    base = np.uint64(f * columns.n_rows)
    one = np.uint64(1)
    cells = work.cells
    pairs = sample.pairs
    is_counted = rule.min_leaf > 1
    if is_counted:
        for i in range(begin, end):
            row = work.rows[np.uint64(i)]
            code = np.int64(columns.ranks[base + np.uint64(row)])
            add_row(pairs, sample.weights, row, cells[code])
    else:
        for i in range(begin, end):
            row = np.uint64(work.rows[np.uint64(i)])
            code = np.uint64(columns.ranks[base + row])
            cells[code, MOMENT] += pairs[row << one]
            cells[code, HESSIAN] += pairs[(row << one) + one]
    n = np.int64(0)
    for code in range(columns.n_values[f] + 1):
        if cells[code, HESSIAN] != 0:
            if not is_counted:
                cells[code, WEIGHT] = 1
            work.present[n] = code
            work.key[code] = float(code)
            n += 1
    return n


@array_step
def scan_codes(rule, work, n, sign, low, high, best):
    """Best prefix of the first ``n`` codes of ``present``, after ``left``: (score, its last)."""
    position = np.int64(-1)
    for i in range(n):
        for c in range(3):
            work.left[c] += work.cells[work.present[i], c]
        if is_large_enough(rule, work.left, work.total):
            score = score_sums(rule, work.left, work.total, sign, low, high)
            if score > bar_above(best):
                best = score
                position = i
    return best, position


@array_step
def search_values(columns, rule, work, f, n, sign, low, high, best):
    """Best cut between the values of a feature, by their sums: its score; keeps a better one."""
    sort_by_key(work.present, n, work.key)
    has_missing = work.present[n - 1] == columns.n_values[f]
    clear(work.left)
    best, position = scan_codes(rule, work, n - 1, sign, low, high, best)
    goes = np.int64(MISSING_RIGHT if has_missing else NONE_MISSING)
    if has_missing:
        for c in range(3):
            work.left[c] = work.cells[columns.n_values[f], c]
        best, found = scan_codes(rule, work, n - 2, sign, low, high, best)
        if found >= 0:
            position = found
            goes = np.int64(MISSING_LEFT)
    if position >= 0:
        keep_cut(work.choice, f, work.present[position], work.present[position + 1], goes)
    return best


@array_step
def keep_subset(columns, work, f, n, first, last):
    """Keep a split that sends the codes ``first`` to ``last`` of ``present`` to the left."""
    missing = columns.n_values[f]
    for code in range(missing + 1):
        work.chosen[code] = ABSENT
    for i in range(n):
        work.chosen[work.present[i]] = 1 if first <= i <= last else 0
    goes = np.int64(work.chosen[missing])
    keep_cut(work.choice, f, np.int64(0), np.int64(0), goes if goes != ABSENT else NONE_MISSING)


@array_step
def search_categories(columns, rule, work, f, n, low, high, best):
    """Best subset of the categories; missing values are one of them."""
    # Few categories: one of them against all others. Else the prefixes by moment / hessian, where
    # ``cat_smooth`` keeps light categories from the ends.
    sort_by_key(work.present, n, work.key)  # by code, not by row
    if n <= rule.max_onehot:
        position = np.int64(-1)
        for i in range(n):
            clear(work.left)
            for c in range(3):
                work.left[c] = work.cells[work.present[i], c]
            if is_large_enough(rule, work.left, work.total):
                score = score_sums(rule, work.left, work.total, np.int64(0), low, high)
                if score > bar_above(best):
                    best = score
                    position = i
        if position >= 0:
            keep_subset(columns, work, f, n, position, position)
        return best
    for i in range(n):
        code = work.present[i]
        below = float(work.cells[code, HESSIAN]) + rule.cat_smooth
        work.key[code] = float(work.cells[code, MOMENT]) / below
    sort_by_key(work.present, n, work.key)
    clear(work.left)
    best, position = scan_codes(rule, work, n - 1, np.int64(0), low, high, best)
    if position >= 0:
        keep_subset(columns, work, f, n, np.int64(0), position)
    return best


@array_step
def first_record(columns, work, f, begin, end, small):
    """Where the node's sorted records of a feature begin."""
    if end - begin > small:
        return columns.segment[f] * columns.n_rows + begin
    return sort_by_rank(
        work.segments, columns.shift, columns.ranks, np.uint64(f * columns.n_rows), np.uint64(1),
        work.rows, begin, end, work.digits,
    )  # fmt: skip


@array_step
def find_best(columns, rule, sample, work, signs, begin, end, low, high, small):
    """The best split over ``max_features`` features that vary in the node: (score, least)."""
    total = work.total
    work.choice[0] = NO_SPLIT
    least = least_score(rule, float(total[MOMENT]), float(total[HESSIAN]), low, high)
    best = least
    seen = 0
    n_candidates = work.candidates.shape[0]
    for j in range(n_candidates):
        f = next_candidate(work.candidates, work.random, j, n_candidates)
        if not has_feature(work.allowed, f):
            continue
        sign = signs[f]
        if columns.kind[f] == SORTED:
            first = first_record(columns, work, f, begin, end, small)
            last = first + end - begin
            ahead = work.segments[first] >> columns.shift
            if ahead == (work.segments[last - 1] >> columns.shift):
                continue
            best = search_sorted(columns, rule, sample, work, f, first, last, sign, low, high, best)
        else:
            if columns.kind[f] != CATEGORICAL and columns.n_values[f] < end - begin:
                n = fill_all_cells(columns, rule, sample, work, f, begin, end)
            else:
                n = fill_cells(columns, sample, work, f, begin, end)
            if n > 1 and columns.kind[f] == CATEGORICAL:
                best = search_categories(columns, rule, work, f, n, low, high, best)
            elif n > 1:
                best = search_values(columns, rule, work, f, n, sign, low, high, best)
            for i in range(n):
                clear(work.cells[work.present[i]])
            if n < 2:
                continue
        seen += 1
        if seen >= rule.max_features and work.choice[0] != NO_SPLIT:
            break
    return best
