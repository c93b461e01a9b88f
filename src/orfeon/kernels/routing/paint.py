"""Painting the votes of axis-parallel trees on a grid of points, leaf by leaf.

A leaf of a tree over two ordered features covers a rectangle of points. Four corners of a
difference array represent it, so a leaf costs the same at any size and a subtree without points
costs nothing. Cumulative sums along both axes then give the votes.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import array_step, kernel


@array_step
def first_above(coordinates, first, last, threshold):
    """First index from ``first`` to ``last`` whose coordinate goes to the second child."""
    while first < last:
        middle = (first + last) >> 1
        if coordinates[middle] > threshold:
            last = middle
        else:
            first = middle + 1
    return first


@array_step
def paint_tree(thresholds, links, root, label, vote, x, y, stack, corners):
    """Add one tree's vote to the corners of its leaves' rectangles."""
    # ``stack`` holds subtrees still to paint, as (node, x from, x to, y from, y to). Each split
    # that pushes one leaves fewer columns or rows, so columns + rows entries are enough.
    n_classes = corners.shape[0]
    stack[0, 0] = 0
    stack[0, 1] = 0
    stack[0, 2] = x.shape[0]
    stack[0, 3] = 0
    stack[0, 4] = y.shape[0]
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth, 0]
        left = stack[depth, 1]
        right = stack[depth, 2]
        bottom = stack[depth, 3]
        top = stack[depth, 4]
        while True:
            at = root + node
            link = links[2 * at + 1]
            child = np.int64(link >> np.uint64(32))
            if child == node:
                break
            if np.int64(link & np.uint64(0xFFFFFFFF)) == 0:
                cut = first_above(x, left, right, thresholds[2 * at])
                node = child
                if cut == left:
                    node = child + 1
                elif cut < right:
                    stack[depth, 0] = child + 1
                    stack[depth, 1] = cut
                    stack[depth, 2] = right
                    stack[depth, 3] = bottom
                    stack[depth, 4] = top
                    depth += 1
                    right = cut
            else:
                cut = first_above(y, bottom, top, thresholds[2 * at])
                node = child
                if cut == bottom:
                    node = child + 1
                elif cut < top:
                    stack[depth, 0] = child + 1
                    stack[depth, 1] = left
                    stack[depth, 2] = right
                    stack[depth, 3] = cut
                    stack[depth, 4] = top
                    depth += 1
                    top = cut
        code = label[root + node]
        if code < n_classes:
            corners[code, bottom, left] += vote
            corners[code, bottom, right] -= vote
            corners[code, top, left] -= vote
            corners[code, top, right] += vote


@kernel
def paint_votes(thresholds, links, tree_start, label, votes, x, y, corners):
    """Add the votes of trees to ``corners`` (classes, rows + 1, columns + 1)."""
    # Nodes are as in ``route_block``, with ordered tests on features 0 and 1. ``x`` and ``y`` are
    # the ascending coordinates of columns and rows. Classes beyond ``corners`` are skipped.
    stack = np.empty((x.shape[0] + y.shape[0], 5), np.int64)
    for t in range(tree_start.shape[0] - 1):
        paint_tree(thresholds, links, tree_start[t], label, votes[t], x, y, stack, corners)
