"""Routing of sparse rows: each is written into a vector of zeros, sent down all trees, and erased.

So a row costs its values and its paths, however many features there are. Tests are ordered.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.routing.route import across_plain, add_row
from orfeon.utils.jit import array_step, kernel


@array_step
def across_missing(thresholds, links, missing, tree_start, x, leaves):
    """As ``across_plain`` for a row with missing values."""
    for t in range(tree_start.shape[0] - 1):
        root = np.uint64(tree_start[t])
        node = np.uint64(0)
        while True:
            p = (root + node) << np.uint64(1)
            link = links[p + np.uint64(1)]
            value = x[link & np.uint64(0xFFFFFFFF)]
            child = link >> np.uint64(32)
            if child == node:
                break
            branch = np.uint64(value > thresholds[p])
            node = child + (np.uint64(missing[root + node]) if value != value else branch)
        leaves[t] = node


@array_step
def route_row(thresholds, links, missing, tree_start, starts, columns, values, row, x, leaves):
    """Leaf of one row in each tree; ``x`` is zero before and after."""
    any_missing = False
    for k in range(starts[row], starts[row + 1]):
        value = values[np.uint64(k)]
        x[np.uint64(columns[np.uint64(k)])] = value
        any_missing |= value != value
    if any_missing:
        across_missing(thresholds, links, missing, tree_start, x, leaves)
    else:
        across_plain(thresholds, links, tree_start, x, np.uint64(0), leaves)
    for k in range(starts[row], starts[row + 1]):
        x[np.uint64(columns[np.uint64(k)])] = 0.0


@kernel
def apply_sparse(thresholds, links, missing, tree_start, starts, columns, values, n_features,
                 leaves):  # fmt: skip
    """Leaf of each row in each tree (rows, trees)."""
    x = np.zeros(n_features)
    by_tree = np.empty(tree_start.shape[0] - 1, np.uint32)
    for row in range(starts.shape[0] - 1):
        route_row(
            thresholds, links, missing, tree_start, starts, columns, values, row, x, by_tree
        )  # fmt: skip
        for t in range(by_tree.shape[0]):
            leaves[row, t] = by_tree[t]


@kernel
def add_sparse(thresholds, links, missing, tree_start, starts, columns, values, n_features, label,
               weights, value, pure_label, out):  # fmt: skip
    """As ``add_plain``."""
    x = np.zeros(n_features)
    by_tree = np.empty(tree_start.shape[0] - 1, np.uint32)
    one = np.empty(1, np.uint32)
    for row in range(starts.shape[0] - 1):
        route_row(
            thresholds, links, missing, tree_start, starts, columns, values, row, x, by_tree
        )  # fmt: skip
        add_row(by_tree, tree_start, label, weights, value, pure_label, out, row, one)
