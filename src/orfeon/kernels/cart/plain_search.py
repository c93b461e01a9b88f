"""A plain search of splits, for trees that score or judge cuts in a way of their own.

Every candidate is sorted and scanned, or cut at random. A use replaces the steps that know its
statistics: ``search_feature``, ``scan_side``, ``judge_cut`` and ``add_row``. Sparse columns also
replace ``begin_node``.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.constant_features import is_marked, mark_feature
from orfeon.kernels.cart.node_sorting import small_node
from orfeon.kernels.cart.random_cuts import random_threshold
from orfeon.kernels.cart.search import (
    LATER,
    MISSING_LEFT,
    MISSING_RIGHT,
    NO_SPLIT,
    NONE_MISSING,
    add_row,
    first_record,
    keep_cut,
    next_candidate,
)
from orfeon.kernels.rng import random_below
from orfeon.utils.jit import array_step, inlined


@array_step
def begin_node(columns, work, begin, end, n_candidates):
    """What is done once for a node: nothing, where features are presorted."""


@array_step
def search_feature(columns, sample, options, work, f, begin, end, small, best, threshold):
    """Search a feature: (varies, score, threshold); keeps a better split."""
    return False, best, threshold


@array_step
def scan_side(columns, sample, options, work, f, begin, first, last, best):
    """Best cut of sorted records from ``work.left`` on: (score, position or -1)."""
    return best, np.int64(-1)


@array_step
def judge_cut(columns, options, work, f, begin, best):
    """Score of the cut whose left side is ``work.left``, and whether it is allowed and better."""
    return best, False


@inlined
def visit_candidates(columns, sample, options, work, begin, end, n_candidates):
    """Replaces ``find_best``: (score, threshold or ``LATER``)."""
    choice = work.choice
    choice[0] = NO_SPLIT
    constant = work.counts.constant
    small = small_node(options.max_features, n_candidates)
    best = -np.inf
    threshold = LATER
    seen = 0
    begin_node(columns, work, begin, end, n_candidates)
    for j in range(n_candidates):
        if options.in_order:
            f = work.candidates[j]
        else:
            f = next_candidate(work.candidates, work.random, j, n_candidates)
        if is_marked(constant, f):
            continue
        varies, best, threshold = search_feature(
            columns, sample, options, work, f, begin, end, small, best, threshold
        )
        if not varies:
            mark_feature(constant, f)
            continue
        seen += 1
        if seen >= options.max_features and choice[0] != NO_SPLIT:
            break
    return best, threshold


@array_step
def search_sorted(columns, sample, options, work, f, begin, first, last, best):
    """Best cut of sorted records: (varies, score), with missing values on either side."""
    segments = work.segments
    shift = columns.shift
    missing_rank = columns.n_values[f]
    if (segments[first] >> shift) == (segments[last - 1] >> shift):
        return False, best
    left = work.left
    aside = work.aside
    known = last
    for c in range(left.shape[0]):
        left[c] = 0
        aside[c] = 0
    while known > first and np.int64(segments[known - 1] >> shift) == missing_rank:
        known -= 1
        row = np.int64(segments[known] & columns.mask)
        add_row(options.criterion, sample.labels, sample.weights, sample.moments, row, aside)
    for side in range(1 if known == last else 2):
        if side == 1:
            for c in range(left.shape[0]):
                left[c] = aside[c]
        best, position = scan_side(
            columns, sample, options, work, f, begin, first, known if side == 1 else last, best
        )
        if position >= 0:
            goes = np.int64(MISSING_LEFT if side == 1 else MISSING_RIGHT)
            if known == last:
                goes = np.int64(NONE_MISSING)
            keep_cut(
                work.choice, f, np.int64(segments[position] >> shift),
                np.int64(segments[position + 1] >> shift), goes,
            )  # fmt: skip
    return True, best


@array_step
def search_ordered(columns, sample, options, work, f, begin, end, small, best):
    """Best cut of an ordered feature: (varies, score)."""
    first = first_record(columns, work, f, begin, end, small)
    return search_sorted(columns, sample, options, work, f, begin, first, first + end - begin, best)


@array_step
def cut_ordered(columns, sample, options, work, f, begin, end, best, threshold):
    """One random cut of an ordered feature: (varies, score, threshold); keeps a better one."""
    base = np.uint64(f * columns.n_rows)
    missing_rank = columns.n_values[f]
    low = missing_rank
    high = np.int64(-1)
    n_missing = np.int64(0)
    for i in range(begin, end):
        rank = np.int64(columns.ranks[base + np.uint64(work.rows[i])])
        if rank == missing_rank:
            n_missing += 1
        else:
            low = min(low, rank)
            high = max(high, rank)
    goes = np.int64(NONE_MISSING)
    if n_missing > 0:
        goes = random_below(work.random, np.int64(2))
    at = np.inf
    cut = high
    if low < high:
        values = columns.values
        start = columns.value_start[f]
        at = random_threshold(work.random, values[start + low], values[start + high])
        cut = low
        while values[start + cut + 1] <= at:
            cut += 1
    elif n_missing == 0 or n_missing == end - begin:
        return False, best, threshold
    else:
        goes = np.int64(MISSING_RIGHT)
    left = work.left
    for c in range(left.shape[0]):
        left[c] = 0
    for i in range(begin, end):
        row = np.int64(work.rows[i])
        rank = np.int64(columns.ranks[base + np.uint64(row)])
        if rank <= cut or (rank == missing_rank and goes == MISSING_LEFT):
            add_row(options.criterion, sample.labels, sample.weights, sample.moments, row, left)
    score, is_kept = judge_cut(columns, options, work, f, begin, best)
    if is_kept:
        keep_cut(work.choice, f, cut, cut, goes)
        return True, score, at
    return True, best, threshold
