"""Splits on random linear combinations of features (Forest-RC, Breiman 2001)."""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import CATEGORICAL
from orfeon.kernels.cart.search import (
    NO_SPLIT,
    NONE_MISSING,
    PROJECTION,
    keep_subset,
    midpoint,
    next_candidate,
    search_categories,
    search_sorted,
)
from orfeon.kernels.rng import random_unit
from orfeon.utils.jit import step


@step
def value_at(columns, f, row):
    rank = np.int64(columns.ranks[f * columns.n_rows + row])
    if rank == columns.n_values[f]:
        return np.nan
    return columns.values[columns.value_start[f] + rank]


@step
def project(columns, work, first_term, n_terms, row):
    total = 0.0
    for k in range(first_term, first_term + n_terms):
        total += work.term_weight[k] * value_at(columns, work.term_feature[k], row)
    return total


@step
def search_projection(columns, sample, options, work, begin, end, n_terms, best):
    """Best cut of the linear combination under trial: (score, threshold, missing goes, better)."""
    trial = options.n_combined
    n = end - begin
    projected = work.projected
    for i in range(n):
        projected[i] = project(columns, work, trial, n_terms, work.rows[begin + i])
    order = np.argsort(projected[:n])
    buffer = work.segments.shape[0] - columns.n_rows
    segments = work.segments
    rank = np.int64(-1)
    for i in range(n):
        x = projected[order[i]]
        if i == 0 or x != projected[order[i - 1]]:
            if x == x or i == 0 or projected[order[i - 1]] == projected[order[i - 1]]:
                rank += 1
        row = work.rows[begin + order[i]]
        segments[buffer + i] = (segments.dtype.type(rank) << columns.shift) | (
            segments.dtype.type(row)
        )
    last = projected[order[n - 1]]
    missing_rank = rank if last != last else rank + 1
    if (segments[buffer] >> columns.shift) == (segments[buffer + n - 1] >> columns.shift):
        return best, 0.0, np.int64(NONE_MISSING), False
    score, position, goes = search_sorted(
        options.criterion, segments, columns.shift, columns.mask, sample.packed, sample.labels,
        sample.weights, sample.moments, work.left, work.aside, work.total, work.table,
        options.min_leaf, buffer, buffer + n, missing_rank, best,
    )  # fmt: skip
    if position < 0:
        return best, 0.0, np.int64(NONE_MISSING), False
    low = projected[order[position - buffer]]
    high = projected[order[position - buffer + 1]]
    threshold = np.inf if high != high else midpoint(low, high)
    return score, threshold, np.int64(goes), True


@step
def draw_projection(columns, options, work, n_candidates):
    """Draw the features and weights of a linear combination; returns its number of terms."""
    # A categorical feature drawn first is searched alone (returns -1); later ones are left out.
    trial = options.n_combined
    n_terms = 0
    for j in range(min(options.n_combined, n_candidates)):
        f = next_candidate(work.candidates, work.random, j, n_candidates)
        if columns.kind[f] == CATEGORICAL:
            if j == 0:
                return -1
            continue
        work.term_feature[trial + n_terms] = f
        work.term_weight[trial + n_terms] = 2.0 * random_unit(work.random) - 1.0
        n_terms += 1
    return n_terms


@step
def find_oblique(columns, sample, options, work, begin, end, n_candidates):
    """The best cut over ``max_features`` random linear combinations: (score, threshold)."""
    choice = work.choice
    choice[0] = NO_SPLIT
    best = -np.inf
    best_threshold = 0.0
    tries = 0
    # Combinations constant in the node do not count, so that an existing split is found; if every
    # feature is constant there is none, hence the cap.
    for _ in range(options.max_features + 4 * n_candidates):
        n_terms = draw_projection(columns, options, work, n_candidates)
        if n_terms < 0:
            f = work.candidates[0]
            score, n, better = search_categories(
                columns, sample, options, work, f, begin, end, best
            )
            if n < 2:
                continue
            if better:
                best = score
                keep_subset(columns, work, f, n)
        else:
            score, threshold, goes, better = search_projection(
                columns, sample, options, work, begin, end, n_terms, best
            )
            if better:
                best = score
                best_threshold = threshold
                choice[0] = PROJECTION
                choice[1] = n_terms
                choice[3] = goes
                for k in range(n_terms):
                    work.term_feature[k] = work.term_feature[options.n_combined + k]
                    work.term_weight[k] = work.term_weight[options.n_combined + k]
        tries += 1
        if tries >= options.max_features and choice[0] != NO_SPLIT:
            break
    return best, best_threshold
