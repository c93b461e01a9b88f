"""CART's deterministic search for linear combinations (Breiman et al. 1984, section 5.2).

The search starts at the best cut of one feature and changes one coefficient after the other, each
to the best value, until a round over all features gains little. Then the features that matter least
are deleted, and the others are searched again. It uses the ordered features, centred at their
median and divided by their interquartile range, of the samples in which none is missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.data.sorting import CATEGORICAL
from orfeon.kernels.cart.criteria import VARIANCE, decrease, is_better, split_score
from orfeon.kernels.cart.oblique import search_projection, value_at
from orfeon.kernels.cart.search import NO_SPLIT, PROJECTION, add_row, midpoint
from orfeon.kernels.record import record
from orfeon.utils.jit import step

#: A round must gain this share of the decrease to be followed by another.
_LEAST_GAIN = 0.01
_MAX_ROUNDS = 50


@record
class Combination:
    """A linear combination under search, and the samples and features it is searched in."""

    rows: Any  # the complete samples
    features: Any
    scale: Any
    z: Any  # features by samples, standardised
    total: Any  # statistics of the samples
    left: Any
    value: Any  # of the combination, for each sample
    ratio: Any
    coefficient: Any
    is_used: Any
    cut: float
    score: float


@step
def weight_of(criterion, stats):
    weight = np.int64(0)
    for c in range(1 if criterion == VARIANCE else stats.shape[0]):
        weight += stats[c]
    return weight


@step
def value_above(z, order, rows, weights, below):
    """The first value, in their order, up to which the samples weigh more than ``below``."""
    reached = np.int64(0)
    for i in order:
        reached += weights[rows[i]]
        if reached > below:
            return z[i]
    return z[order[-1]]


@step
def standardise(columns, weights, total, f, rows, z):
    """Fill ``z`` with a feature, centred and scaled; returns its scale, 0 if it is constant."""
    # The quartiles are those of the weights: a sample of weight 2 is two samples.
    n = rows.shape[0]
    for i in range(n):
        z[i] = value_at(columns, f, rows[i])
    order = np.argsort(z)
    quarter = value_above(z, order, rows, weights, total // 4)
    scale = value_above(z, order, rows, weights, total - (total + 3) // 4) - quarter
    if scale == 0.0:
        scale = z[order[n - 1]] - z[order[0]]
    if scale == 0.0 or not np.isfinite(scale):
        return 0.0
    median = value_above(z, order, rows, weights, total // 2)
    for i in range(n):
        z[i] = (z[i] - median) / scale
    return scale


@step
def begin_search(columns, sample, options, work, begin, end, n_candidates):
    """The complete samples and the ordered features that vary in them."""
    features = np.sort(work.candidates[:n_candidates])
    rows = np.empty(end - begin, np.int64)
    n = 0
    for i in range(begin, end):
        row = np.int64(work.rows[i])
        complete = True
        for f in features:
            if columns.kind[f] != CATEGORICAL:
                rank = np.int64(columns.ranks[f * columns.n_rows + row])
                complete = complete and rank < columns.n_values[f]
        if complete:
            rows[n] = row
            n += 1
    rows = rows[:n]
    total = np.zeros(options.n_stats, np.int64)
    for i in range(n):
        add_row(options.criterion, sample.labels, sample.weights, sample.moments, rows[i], total)
    weight = weight_of(options.criterion, total)
    z = np.empty((n_candidates, n))
    scale = np.empty(n_candidates)
    p = 0
    for f in features:
        if columns.kind[f] == CATEGORICAL or n < 2:
            continue
        scale[p] = standardise(columns, sample.weights, weight, f, rows, z[p])
        if scale[p] > 0.0:
            features[p] = f
            p += 1
    return Combination(
        rows, features[:p], scale[:p], z, total, np.zeros(options.n_stats, np.int64), np.zeros(n),
        np.zeros(n), np.zeros(p), np.ones(p, np.bool_), 0.0, -np.inf,
    )  # fmt: skip


@step
def best_cut(sample, options, combination, value):
    """The best cut of some values: (score, cut); -inf if there is none."""
    criterion = options.criterion
    total = combination.total
    left = combination.left
    weight = weight_of(criterion, total)
    for c in range(left.shape[0]):
        left[c] = 0
    order = np.argsort(value)
    best = -np.inf
    cut = 0.0
    for k in range(order.shape[0] - 1):
        row = combination.rows[order[k]]
        add_row(criterion, sample.labels, sample.weights, sample.moments, row, left)
        low = value[order[k]]
        high = value[order[k + 1]]
        if low == high:
            continue
        weight_left = weight_of(criterion, left)
        if weight_left < options.min_leaf or weight - weight_left < options.min_leaf:
            continue
        score = split_score(criterion, left, total)
        if is_better(criterion, score, best, weight):
            best = score
            cut = midpoint(low, high)
    return best, cut


@step
def best_change(sample, options, combination, z, shift, best):
    """The best delta for the test ``value - delta * (z + shift) <= cut``: (score, delta)."""
    # As delta grows, a sample crosses the cut once, at (value - cut) / (z + shift).
    criterion = options.criterion
    total = combination.total
    left = combination.left
    ratio = combination.ratio
    weight = weight_of(criterion, total)
    for c in range(left.shape[0]):
        left[c] = 0
    for i in range(z.shape[0]):
        above = combination.value[i] - combination.cut
        slope = z[i] + shift
        ratio[i] = above / slope if slope != 0.0 else np.inf
        if slope < 0.0 or (slope == 0.0 and above <= 0.0):
            row = combination.rows[i]
            add_row(criterion, sample.labels, sample.weights, sample.moments, row, left)
    order = np.argsort(ratio)
    found = 0.0
    for k in range(order.shape[0] - 1):
        i = order[k]
        if not np.isfinite(ratio[order[k + 1]]):
            break
        row = combination.rows[i]
        sign = 1 if z[i] + shift > 0.0 else -1
        if criterion == VARIANCE:
            left[0] += sign * sample.weights[row]
            left[1] += sign * sample.moments[row]
        else:
            left[np.int64(sample.labels[row])] += sign * sample.weights[row]
        if ratio[i] == ratio[order[k + 1]] or not np.isfinite(ratio[i]):
            continue
        weight_left = weight_of(criterion, left)
        if weight_left < options.min_leaf or weight - weight_left < options.min_leaf:
            continue
        score = split_score(criterion, left, total)
        if is_better(criterion, score, best, weight):
            best = score
            found = midpoint(ratio[i], ratio[order[k + 1]])
    return best, found


@step
def climb(sample, options, combination):
    """Change the coefficients in turn until a round gains little."""
    value = combination.value
    for _ in range(_MAX_ROUNDS):
        before = decrease(options.criterion, combination.score, combination.total)
        for j in range(combination.features.shape[0]):
            if not combination.is_used[j]:
                continue
            z = combination.z[j]
            delta = 0.0
            shift = 0.0
            for tried in (-0.25, 0.0, 0.25):
                score, change = best_change(
                    sample, options, combination, z, tried, combination.score
                )
                if change != 0.0:
                    combination.score = score
                    delta = change
                    shift = tried
            if delta == 0.0:
                continue
            combination.coefficient[j] -= delta
            combination.cut += delta * shift
            for i in range(value.shape[0]):
                value[i] -= delta * z[i]
        combination.score, combination.cut = best_cut(sample, options, combination, value)
        after = decrease(options.criterion, combination.score, combination.total)
        if not after - before > _LEAST_GAIN * after:
            break


@step
def delete_features(sample, options, combination):
    """Delete the least important features one by one; returns whether any was deleted."""
    value = combination.value
    without = np.empty(value.shape[0])
    deleted = False
    while True:
        whole = decrease(options.criterion, combination.score, combination.total)
        least = -1
        highest = -np.inf
        lowest = np.inf
        n_used = 0
        for j in range(combination.features.shape[0]):
            if not combination.is_used[j]:
                continue
            n_used += 1
            for i in range(value.shape[0]):
                without[i] = value[i] - combination.coefficient[j] * combination.z[j, i]
            score, _ = best_cut(sample, options, combination, without)
            left = 0.0
            if score > -np.inf:
                left = decrease(options.criterion, score, combination.total)
            if left > highest:
                highest = left
                least = j
            lowest = min(lowest, left)
        if n_used < 2 or whole - highest > options.deletion * (whole - lowest):
            return deleted
        for i in range(value.shape[0]):
            value[i] -= combination.coefficient[least] * combination.z[least, i]
        combination.coefficient[least] = 0.0
        combination.is_used[least] = False
        combination.score, combination.cut = best_cut(sample, options, combination, value)
        deleted = True


@step
def start_at_best_feature(sample, options, combination):
    for j in range(combination.features.shape[0]):
        score, cut = best_cut(sample, options, combination, combination.z[j])
        if score > combination.score:
            combination.score = score
            combination.cut = cut
            for i in range(combination.value.shape[0]):
                combination.value[i] = combination.z[j, i]
            for k in range(combination.features.shape[0]):
                combination.coefficient[k] = 1.0 if k == j else 0.0


@step
def find_linear(columns, sample, options, work, begin, end, n_candidates, best, threshold):
    """The best split, found before, or a linear combination if that is better."""
    if work.choice[0] == NO_SPLIT:
        return best, threshold
    combination = begin_search(columns, sample, options, work, begin, end, n_candidates)
    if combination.features.shape[0] < 2:
        return best, threshold
    start_at_best_feature(sample, options, combination)
    if combination.score == -np.inf:
        return best, threshold
    while True:
        climb(sample, options, combination)
        if not delete_features(sample, options, combination):
            break
    trial = options.n_combined
    n_terms = 0
    for j in range(combination.features.shape[0]):
        if combination.coefficient[j] != 0.0:
            work.term_feature[trial + n_terms] = combination.features[j]
            work.term_weight[trial + n_terms] = combination.coefficient[j] / combination.scale[j]
            n_terms += 1
    score, cut, goes, better = search_projection(
        columns, sample, options, work, begin, end, n_terms, best
    )
    if n_terms < 2 or not better:
        return best, threshold
    work.choice[0] = PROJECTION
    work.choice[1] = n_terms
    work.choice[3] = goes
    for k in range(n_terms):
        work.term_feature[k] = work.term_feature[trial + k]
        work.term_weight[k] = work.term_weight[trial + k]
    return score, cut
