"""Predictions of rows in which some features take the values of a grid: rows and grid together.

A test of a feature of the grid divides the points of the grid, whatever the row; another divides
the rows, whatever the point. So a tree is visited once, by all rows and all points, and a leaf
predicts each of its rows at each of its points. Tests with branches that take a row in part are
not for these kernels.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import array_step, kernel, with_step


@array_step
def branch_of_value(value, at, j, threshold, missing, is_categorical, branches):
    """The branch that a value takes at a node."""
    if value != value:
        return np.int64(missing[at])
    if is_categorical[j]:
        return np.int64(branches[np.int64(threshold[at]) + np.int64(value)])
    return np.int64(value > threshold[at])


@array_step
def divide(values, column, index, first, last, branch, at, j, threshold, missing, is_categorical,
           branches):  # fmt: skip
    """Put those of some indices first whose value takes a branch; where the others begin."""
    k = first
    for i in range(first, last):
        one = index[i]
        taken = branch_of_value(
            values[one, column], at, j, threshold, missing, is_categorical, branches
        )
        if taken == branch:
            index[i] = index[k]
            index[k] = one
            k += 1
    return k


@array_step
def add_each(rows, r0, r1, points, g0, g1, weights, values, at, column, out):
    """Add a leaf's values to each of its rows at each of its points."""
    for i in range(r0, r1):
        for g in range(g0, g1):
            for k in range(values.shape[1]):
                out[rows[i], points[g], column + k] += values[at, k]


@array_step
def add_mean(rows, r0, r1, points, g0, g1, weights, values, at, column, out):
    """Add a leaf's values to each of its points, times the weight of its rows."""
    weight = 0.0
    for i in range(r0, r1):
        weight += weights[rows[i]]
    for g in range(g0, g1):
        for k in range(values.shape[1]):
            out[0, points[g], column + k] += weight * values[at, k]


add_step = add_each


def _add_partial(tree_start, feature, threshold, first_child, n_children, missing, is_categorical,
                 branches, values, column, X, chosen, weights, grid, place, out):  # fmt: skip
    """Add the predictions of the rows ``chosen`` at all points of a grid."""
    # ``place`` is the column of the grid for each feature, or -1.
    n_rows = chosen.shape[0]
    n_points = grid.shape[0]
    rows = chosen.copy()
    points = np.arange(n_points)
    size = 64
    stack = np.empty((size, 5), np.int64)
    for t in range(tree_start.shape[0] - 1):
        base = tree_start[t]
        stack[0, 0] = base
        stack[0, 1] = 0
        stack[0, 2] = n_rows
        stack[0, 3] = 0
        stack[0, 4] = n_points
        depth = 1
        while depth > 0:
            depth -= 1
            at = stack[depth, 0]
            r0 = stack[depth, 1]
            r1 = stack[depth, 2]
            g0 = stack[depth, 3]
            g1 = stack[depth, 4]
            width = np.int64(n_children[at])
            if width == 0:
                add_step(rows, r0, r1, points, g0, g1, weights, values, at, column[t], out)
                continue
            if depth + width > size:
                stack = np.concatenate((stack, np.empty((size + width, 5), np.int64)))
                size = stack.shape[0]
            j = np.int64(feature[at])
            child = base + first_child[at]
            is_of_grid = place[j] >= 0
            for b in range(width):
                # The last branch has all that is left.
                r2 = r1
                g2 = g1
                if b < width - 1 and is_of_grid:
                    g2 = divide(
                        grid, place[j], points, g0, g1, b, at, j, threshold, missing,
                        is_categorical, branches,
                    )  # fmt: skip
                elif b < width - 1:
                    r2 = divide(
                        X, j, rows, r0, r1, b, at, j, threshold, missing, is_categorical, branches
                    )
                if r2 > r0 and g2 > g0:
                    stack[depth, 0] = child + b
                    stack[depth, 1] = r0
                    stack[depth, 2] = r2
                    stack[depth, 3] = g0
                    stack[depth, 4] = g2
                    depth += 1
                if is_of_grid:
                    g0 = g2
                else:
                    r0 = r2


add_predictions_at = kernel(with_step(_add_partial, "add_predictions_at", add_step=add_each))
add_means_at = kernel(with_step(_add_partial, "add_means_at", add_step=add_mean))
