"""Splits drawn at random from the best ones."""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import CATEGORICAL
from orfeon.kernels.cart.criteria import VARIANCE, split_score
from orfeon.kernels.cart.node_sorting import segment_of, small_node
from orfeon.kernels.cart.search import (
    MISSING_LEFT,
    MISSING_RIGHT,
    NO_SPLIT,
    NONE_MISSING,
    add_row,
    cut_between,
    keep_subset,
    next_candidate,
    search_categories,
)
from orfeon.kernels.rng import random_below
from orfeon.utils.jit import array_step


@array_step
def push_candidate(work, n_kept, n_best, score, f, cut, following, missing_goes):
    """Keep a split if it is among the ``n_best`` best so far; returns how many are kept."""
    slot = n_kept
    if n_kept == n_best:
        slot = 0
        for k in range(1, n_best):
            if work.top_score[k] < work.top_score[slot]:
                slot = k
        if score <= work.top_score[slot]:
            return n_kept
    else:
        n_kept += 1
    work.top_score[slot] = score
    work.top_choice[slot, 0] = f
    work.top_choice[slot, 1] = cut
    work.top_choice[slot, 2] = following
    work.top_choice[slot, 3] = missing_goes
    return n_kept


@array_step
def collect_cuts(columns, sample, options, work, f, first, last, n_kept):
    """Offer every cut of an ordered feature to the list of the best splits."""
    segments = work.segments
    shift = columns.shift
    missing_rank = columns.n_values[f]
    left = work.left
    aside = work.aside
    for c in range(options.n_stats):
        left[c] = 0
        aside[c] = 0
    known = last
    while np.int64(segments[known - 1] >> shift) == missing_rank:
        known -= 1
        row = np.int64(segments[known] & columns.mask)
        add_row(options.criterion, sample.labels, sample.weights, sample.moments, row, aside)
    weight = np.int64(0)
    weight_aside = np.int64(0)
    n_weights = 1 if options.criterion == VARIANCE else options.n_stats
    for c in range(n_weights):
        weight += work.total[c]
        weight_aside += aside[c]
    for i in range(first, last - 1):
        row = np.int64(segments[i] & columns.mask)
        add_row(options.criterion, sample.labels, sample.weights, sample.moments, row, left)
        cut = np.int64(segments[i] >> shift)
        following = np.int64(segments[i + 1] >> shift)
        if cut == following:
            continue
        weight_left = np.int64(0)
        for c in range(n_weights):
            weight_left += left[c]
        goes = np.int64(NONE_MISSING if known == last else MISSING_RIGHT)
        score = -np.inf
        if weight_left >= options.min_leaf and weight - weight_left >= options.min_leaf:
            score = split_score(options.criterion, left, work.total)
        if known < last and i + 1 < known:
            # The missing values take the better side of each cut.
            weight_left += weight_aside
            if weight_left >= options.min_leaf and weight - weight_left >= options.min_leaf:
                for c in range(options.n_stats):
                    left[c] += aside[c]
                other = split_score(options.criterion, left, work.total)
                for c in range(options.n_stats):
                    left[c] -= aside[c]
                if other > score:
                    score = other
                    goes = np.int64(MISSING_LEFT)
        if score > -np.inf:
            n_kept = push_candidate(work, n_kept, options.n_best, score, f, cut, following, goes)
    return n_kept


@array_step
def find_among_best(columns, sample, options, work, begin, end, n_candidates):
    """Draw one of the ``n_best`` best splits (Dietterich and Kong 1995): (score, threshold)."""
    choice = work.choice
    choice[0] = NO_SPLIT
    buffer = work.segments.shape[0] - columns.n_rows
    shift = columns.shift
    small = small_node(options.max_features, n_candidates)
    seen = 0
    kept = np.int64(0)
    for j in range(n_candidates):
        f = next_candidate(work.candidates, work.random, j, n_candidates)
        if columns.kind[f] == CATEGORICAL:
            score, n, better = search_categories(
                columns, sample, options, work, f, begin, end, -np.inf
            )
            if n < 2:
                continue
            if better:
                zero = np.int64(0)
                kept = push_candidate(work, kept, options.n_best, score, f, zero, zero, zero)
        else:
            first, last = segment_of(
                columns.kind[f], columns.segment, work.segments, shift, columns.ranks,
                columns.n_rows, f, columns.n_values[f] + 1, work.rows, begin, end, work.count,
                work.counts.digits, buffer, small,
            )  # fmt: skip
            if (work.segments[first] >> shift) == (work.segments[last - 1] >> shift):
                continue
            kept = collect_cuts(columns, sample, options, work, f, first, last, kept)
        seen += 1
        if seen >= options.max_features and kept > 0:
            break
    if kept == 0:
        return -np.inf, 0.0
    slot = random_below(work.random, kept)
    for k in range(4):
        choice[k] = work.top_choice[slot, k]
    f = choice[0]
    if columns.kind[f] == CATEGORICAL:
        _, n, _ = search_categories(columns, sample, options, work, f, begin, end, -np.inf)
        keep_subset(columns, work, f, n)
        return work.top_score[slot], 0.0
    return work.top_score[slot], cut_between(columns, f, choice[1], choice[2])
