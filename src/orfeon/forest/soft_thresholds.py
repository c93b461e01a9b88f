"""Soft thresholds: near a cut a row goes down both branches, in shares.

The interval around a cut reaches to where moving the cut would cost one standard error more
training errors. Across it the share of the left branch falls from 1 to 1/2 at the cut, and on to 0.

References
----------
Carter and Catlett (1987). Assessing credit card applications using machine learning. IEEE Expert
2(3), 71-79.
Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann. Chapter 8.
"""

from __future__ import annotations

import math

import numpy as np

from orfeon.forest.forest import Forest
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.types import Floats, Integers


def hard_bounds(forest: Forest) -> Floats:
    """Intervals without width; those of other tests than cuts are 0."""
    is_cut = (forest.n_children > 0) & (forest.n_categories[forest.feature] == 0)
    return np.repeat(np.where(is_cut, forest.threshold, 0.0)[:, None], 2, axis=1)


def soft_bounds(forest: Forest, X: Floats, y: Integers, weights: Floats) -> Floats:
    """Lower and upper end of the interval of each cut of a tree, from its training samples.

    Samples with a missing value do not count at the tests that need it, nor below.
    """
    hard = hard_bounds(forest)
    bounds = hard.copy()
    pending = [(0, np.flatnonzero(weights > 0))]
    while pending:
        node, rows = pending.pop()
        width, feature = int(forest.n_children[node]), int(forest.feature[node])
        if width == 0 or len(rows) == 0:
            continue
        rows = rows[~np.isnan(X[rows, feature])]
        first = int(forest.first_child[node])
        if forest.n_categories[feature] == 0 and len(rows):
            left, right = (
                np.where(_classes(forest, hard, X[rows], child) != y[rows], weights[rows], 0.0)
                for child in (first, first + 1)
            )
            bounds[node] = interval(X[rows, feature], left, right, weights[rows], hard[node, 0])
        branch = _branches(forest, X[rows], node)
        pending.extend((first + b, rows[branch == b]) for b in range(width))
    return bounds


def interval(
    values: Floats, wrong_left: Floats, wrong_right: Floats, weights: Floats, cut: float
) -> tuple[float, float]:
    """The interval around a cut, from the errors of each sample on both sides."""
    total = float(weights.sum())
    base = float(np.where(values <= cut, wrong_left, wrong_right).sum())
    limit = base + math.sqrt((base + 0.5) * (total - base + 0.5) / (total + 1.0))
    distinct, which = np.unique(values, return_inverse=True)
    change = np.bincount(which.ravel(), weights=wrong_left - wrong_right)
    errors = float(wrong_right.sum()) + np.cumsum(change)  # if the cut were at that value
    lower, upper = min(cut, float(distinct[0])), max(cut, float(distinct[-1]))
    before, after, over = distinct[:-1], distinct[1:], errors > limit
    enters = np.flatnonzero(over[:-1] & ~over[1:] & (after <= cut))
    if len(enters):
        k = enters[0]
        share = (limit - errors[k + 1]) / (errors[k] - errors[k + 1])
        lower = float(after[k] - (after[k] - before[k]) * share)
    leaves = np.flatnonzero(~over[:-1] & over[1:] & (after > cut))
    if len(leaves):
        k = leaves[-1]
        share = (limit - errors[k]) / (errors[k + 1] - errors[k])
        upper = max(cut, float(before[k] + (after[k] - before[k]) * share))
    return lower, upper


def left_share(values: Floats, lower: float, cut: float, upper: float) -> Floats:
    """The share of each row that goes to the left of a cut."""
    below = 1.0 - 0.5 * (values - lower) / (cut - lower if cut > lower else 1.0)
    above = 0.5 - 0.5 * (values - cut) / (upper - cut if upper > cut else 1.0)
    soft = np.where(values <= cut, below, above)
    return np.where(values <= lower, 1.0, np.where(values >= upper, 0.0, soft))


def soft_supports(forest: Forest, bounds: Floats, X: Floats, root: int = 0) -> Floats:
    """Class shares of each row, summed over the leaves it reaches in part below a node."""
    supports = np.zeros((len(X), forest.n_classes))
    leaf_shares, node_weights = forest._shares(), forest.weights()
    pending = [(root, np.arange(len(X)), np.ones(len(X)))]
    while pending:
        node, rows, share = pending.pop()
        width, first = int(forest.n_children[node]), int(forest.first_child[node])
        if width == 0:
            supports[rows] += share[:, None] * leaf_shares[node]
            continue
        feature = int(forest.feature[node])
        branch = _branches(forest, X[rows], node)
        parts = (branch == np.arange(width)[:, None]).astype(np.float64)
        if forest.n_categories[feature] == 0:
            known = ~np.isnan(X[rows, feature])
            lower, upper = bounds[node]
            cut = float(forest.threshold[node])
            left = left_share(X[rows[known], feature], lower, cut, upper)
            parts[0, known], parts[1, known] = left, 1.0 - left
        below = node_weights[first : first + width]
        parts[:, branch == ALL_BRANCHES] = (below / below.sum())[:, None]
        for b in range(width):
            inside = parts[b] > 0
            pending.append((first + b, rows[inside], (share * parts[b])[inside]))
    return supports


def _classes(forest: Forest, bounds: Floats, X: Floats, root: int) -> Integers:
    return np.asarray(np.argmax(soft_supports(forest, bounds, X, root), axis=1))


def _branches(forest: Forest, X: Floats, node: int) -> Integers:
    """The branch that each row takes at a node; ``ALL_BRANCHES`` for all."""
    values = X[:, int(forest.feature[node])]
    unknown = np.isnan(values)
    threshold = float(forest.threshold[node])
    if forest.n_categories[int(forest.feature[node])] > 0:
        codes = np.where(unknown, 0.0, values).astype(np.int64)
        branch = forest.branches[int(threshold) + codes].astype(np.int64)
    else:
        branch = (values > threshold).astype(np.int64)
    return np.where(unknown, int(forest.missing[node]), branch)
