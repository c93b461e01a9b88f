"""Splits chosen at random: among the best ones, or by a random cut of each candidate attribute."""

from __future__ import annotations

import numpy as np

from orfeon.kernels.criteria import VARIANCE, split_score
from orfeon.kernels.jit import step
from orfeon.kernels.rng import random_below, random_unit
from orfeon.kernels.search import (
    MISSING_LEFT,
    MISSING_RIGHT,
    NO_SPLIT,
    NONE_MISSING,
    add_row,
    cut_between,
    fill_histogram,
    keep_subset,
    midpoint,
    next_candidate,
    search_categories,
    segment_of,
)
from orfeon.table import CATEGORICAL


@step
def push_candidate(work, n_kept, n_best, score, f, cut, following, missing_goes):
    """Keep a split if it is among the best ``n_best`` so far; returns how many are kept."""
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


@step
def collect_cuts(columns, sample, options, work, f, first, last, n_kept):
    """Offer every cut of an ordered attribute to the list of the best splits."""
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


@step
def find_among_best(columns, sample, options, work, begin, end, n_candidates):
    """One of the ``n_best`` best splits at random (Dietterich and Kong 1995): (score, threshold).

    Every cut of an ordered attribute counts, and the best subset of a categorical one.
    """
    choice = work.choice
    choice[0] = NO_SPLIT
    buffer = work.segments.shape[0] - columns.n_rows
    shift = columns.shift
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
                buffer,
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


@step
def random_categories(columns, work, n):
    """A random proper subset of the ``n`` present categories, in ``trial``."""
    for i in range(n - 1, 0, -1):
        q = random_below(work.random, i + 1)
        work.present[i], work.present[q] = work.present[q], work.present[i]
    size = 1 + random_below(work.random, n - 1)
    for i in range(n):
        work.trial[work.present[i]] = 1 if i < size else 0


@step
def random_threshold(columns, work, f, begin, end):
    """A threshold uniform between the node's extremes: (threshold, rank, missing goes, varies)."""
    base = np.uint64(f * columns.n_rows)
    missing_rank = columns.n_values[f]
    low = missing_rank
    high = np.int64(-1)
    any_missing = False
    for i in range(begin, end):
        rank = np.int64(columns.ranks[base + np.uint64(work.rows[i])])
        if rank == missing_rank:
            any_missing = True
        else:
            low = min(low, rank)
            high = max(high, rank)
    goes = np.int64(NONE_MISSING)
    if any_missing:
        goes = random_below(work.random, 2)
    if high <= low:
        # One known value at most: the only split left sets the missing apart from it.
        return np.inf, low, np.int64(MISSING_RIGHT), any_missing and high == low
    start = columns.value_start[f]
    smallest = columns.values[start + low]
    largest = columns.values[start + high]
    threshold = smallest + random_unit(work.random) * (largest - smallest)
    if threshold >= largest or not threshold >= smallest:
        threshold = midpoint(smallest, largest)
    while high - low > 1:
        middle = (low + high) // 2
        if columns.values[start + middle] <= threshold:
            low = middle
        else:
            high = middle
    return threshold, low, goes, True


@step
def left_statistics(columns, sample, options, work, f, begin, end, cut, goes):
    """Fill ``left`` for a cut, or for the categories under trial; returns (left, whole) weight."""
    base = np.uint64(f * columns.n_rows)
    missing_rank = columns.n_values[f]
    left = work.left
    for c in range(options.n_stats):
        left[c] = 0
    weight_left = np.int64(0)
    weight = np.int64(0)
    for i in range(begin, end):
        row = np.int64(work.rows[i])
        rank = np.int64(columns.ranks[base + np.uint64(row)])
        if columns.kind[f] == CATEGORICAL:
            to_left = work.trial[rank] == 1
        elif rank == missing_rank:
            to_left = goes == MISSING_LEFT
        else:
            to_left = rank <= cut
        weight += sample.weights[row]
        if to_left:
            weight_left += sample.weights[row]
            add_row(options.criterion, sample.labels, sample.weights, sample.moments, row, left)
    return weight_left, weight


@step
def find_random(columns, sample, options, work, begin, end, n_candidates):
    """The best of one random cut for each of ``max_features`` attributes: (score, threshold)."""
    choice = work.choice
    choice[0] = NO_SPLIT
    best = -np.inf
    best_threshold = 0.0
    seen = 0
    for j in range(n_candidates):
        f = next_candidate(work.candidates, work.random, j, n_candidates)
        threshold = 0.0
        cut = np.int64(0)
        goes = np.int64(NONE_MISSING)
        n = 0
        if columns.kind[f] == CATEGORICAL:
            n = fill_histogram(columns, sample, options, work, f, begin, end)
            if n < 2:
                continue
            random_categories(columns, work, n)
        else:
            threshold, cut, goes, varies = random_threshold(columns, work, f, begin, end)
            if not varies:
                continue
        seen += 1
        weight_left, weight = left_statistics(
            columns, sample, options, work, f, begin, end, cut, goes
        )
        if weight_left >= options.min_leaf and weight - weight_left >= options.min_leaf:
            score = split_score(options.criterion, work.left, work.total)
            if score > best:
                best = score
                best_threshold = threshold
                choice[1] = cut
                if n > 0:
                    keep_subset(columns, work, f, n)
                else:
                    choice[0] = f
                    choice[3] = goes
        if seen >= options.max_features and choice[0] != NO_SPLIT:
            break
    return best, best_threshold
