"""Shapley values of trees by their definition: over all subsets of the features."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np

from orfeon.kernels.routing.route import ALL_BRANCHES


def branch_shares(forest, tree, node, value):
    """Share of a row with this value that goes down each branch of a node."""
    base = forest.tree_start[tree]
    at = base + node
    width = int(forest.n_children[at])
    first = base + forest.first_child[at]
    feature = int(forest.feature[at])
    if np.isnan(value):
        branch = int(forest.missing[at])
    elif forest.n_categories[feature] > 0:
        branch = int(forest.branches[int(forest.threshold[at]) + int(value)])
    else:
        branch = int(value > forest.threshold[at])
    if branch == ALL_BRANCHES:
        weights = forest.weights()[first : first + width]
        return weights / weights.sum()
    return np.eye(width)[branch]


def expected(forest, tree, leaf_values, row, known, node=0, other=None):
    """Mean value of a tree when only some features of the row are known.

    A test of an unknown feature follows the training samples, or another row.
    """
    base = forest.tree_start[tree]
    at = base + node
    width = int(forest.n_children[at])
    if width == 0:
        return leaf_values[at]
    first = int(forest.first_child[at])
    feature = int(forest.feature[at])
    if feature in known:
        shares = branch_shares(forest, tree, node, row[feature])
    elif other is not None:
        shares = branch_shares(forest, tree, node, other[feature])
    else:
        weights = forest.weights()[base + first : base + first + width]
        shares = weights / weights.sum() if weights.sum() > 0 else np.full(width, 1 / width)
    return sum(
        share * expected(forest, tree, leaf_values, row, known, first + b, other)
        for b, share in enumerate(shares)
        if share > 0
    )


def games(forest, leaf_values, row, background=None):
    """The value of every subset of the features, summed over the trees."""
    others = [None] if background is None else list(background)
    n = forest.n_features
    return {
        frozenset(known): sum(
            expected(forest, t, leaf_values, row, frozenset(known), other=other)
            for t in range(len(forest))
            for other in others
        )
        / len(others)
        for size in range(n + 1)
        for known in combinations(range(n), size)
    }


def shapley_values(value_of, n):
    """Mean of what each player adds, over all orders of the players."""
    found = []
    for j in range(n):
        total = 0.0
        for known, value in value_of.items():
            if j not in known:
                weight = factorial(len(known)) * factorial(n - len(known) - 1) / factorial(n)
                total = total + weight * (value_of[known | {j}] - value)
        found.append(total)
    return np.array(found)


def interactions(value_of, n):
    """Shapley interaction values; the diagonal holds what is left of each player's own value."""
    shape = (n, n, *np.shape(value_of[frozenset()]))
    found = np.zeros(shape)
    for i, j in combinations(range(n), 2):
        for known, value in value_of.items():
            if i in known or j in known:
                continue
            weight = factorial(len(known)) * factorial(n - len(known) - 2) / factorial(n - 1)
            both = value_of[known | {i, j}] - value_of[known | {i}] - value_of[known | {j}] + value
            found[i, j] += weight / 2 * both
        found[j, i] = found[i, j]
    own = shapley_values(value_of, n)
    for i in range(n):
        found[i, i] = own[i] - (found[i].sum(axis=0) - found[i, i])
    return found
