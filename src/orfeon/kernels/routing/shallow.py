"""Shallow trees: all their tests on many rows at once, one test after the other.

A tree of depth three has seven tests at most. To make all of them costs less than to follow three
links, because rows are compared side by side, column by column, in vector registers. The tests of a
tree are numbered as in a heap: the children of test k are 2k + 1 and 2k + 2. Below a leaf there are
none, and every row goes to the first child.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.routing.packed import pack_rows
from orfeon.kernels.routing.route import (
    CATEGORICAL,
    CHILD,
    COLUMN_SHIFT,
    MISSING_SHIFT,
    add_supports,
    add_votes,
)
from orfeon.utils.jit import kernel, step

#: Rows that are compared at once: their columns stay in the fastest cache.
_ROWS = 1024
#: Words between columns beyond their rows, so that columns do not share places in the cache.
_GAP = 8
#: A link that stands for no test.
_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def pack_heaps(packed, tree_start, depth, tests, reached):
    """Fill ``tests`` (two words each) and ``reached``, the leaves; no tree is deeper."""
    n_tests = (1 << depth) - 1
    place = np.zeros(2 * n_tests + 1, np.int64)
    for t in range(tree_start.shape[0] - 1):
        root = tree_start[t]
        place[0] = 0
        for k in range(n_tests):
            node = place[k]
            at = 2 * (root + node)
            child = np.int64(packed[at + 1] & CHILD)
            is_leaf = child == node
            to = 2 * (t * n_tests + k)
            tests[to] = packed[at]
            tests[to + 1] = _NONE if is_leaf else packed[at + 1]
            place[2 * k + 1] = child
            place[2 * k + 2] = child if is_leaf else child + 1
        for k in range(n_tests + 1):
            reached[t * (n_tests + 1) + k] = place[n_tests + k]


@step
def compare(link, threshold, column, chosen):
    """Whether each row goes to the second child of one test."""
    n = chosen.shape[0]
    if link == _NONE:
        for i in range(n):
            chosen[i] = 0
    elif link & CATEGORICAL:
        for i in range(n):
            chosen[i] = np.uint8(threshold >> (column[i] & np.uint64(63)) & np.uint64(1))
    else:
        less = (link >> MISSING_SHIFT) & np.uint64(1)
        for i in range(n):
            chosen[i] = np.uint8(column[i] - less > threshold)


@step
def select(chosen, first, second, bit):
    """Replace the choice at a test by the number of the leaf below it."""
    for i in range(chosen.shape[0]):
        chosen[i] = second[i] | bit if chosen[i] else first[i]


@step
def route_heap(depth, tests, x, n, chosen):
    """Number of the leaf of each row of a block, in ``chosen[0]``; ``x`` is (columns, rows)."""
    for k in range((1 << depth) - 1):
        link = tests[2 * k + 1]
        column = 0 if link == _NONE else np.int64(link >> COLUMN_SHIFT)
        compare(link, tests[2 * k], x[column, :n], chosen[k, :n])
    for level in range(depth - 2, -1, -1):
        bit = np.uint8(1 << (depth - 1 - level))
        for k in range((1 << level) - 1, (2 << level) - 1):
            select(chosen[k, :n], chosen[2 * k + 1, :n], chosen[2 * k + 2, :n], bit)


@step
def add_scores(chosen, n, scores, out, first, column):
    for i in range(n):
        out[np.uint64(first + i), column] += scores[chosen[i]]


@step
def columns_of(n_columns, n_rows):
    """Room for the columns of a block of rows, and the same words one after the other."""
    words = np.zeros(max(1, n_columns) * (n_rows + _GAP), np.uint64)
    return words.reshape(max(1, n_columns), n_rows + _GAP), words


@kernel
def apply_shallow(depth, tests, reached, tree_start, X, features, n_categories, leaves):
    """Leaf of each row in each tree (rows, trees)."""
    n_rows = X.shape[0]
    n_tests = (1 << depth) - 1
    bits = X.view(np.uint64)
    block = min(n_rows, _ROWS)
    x, words = columns_of(features.shape[0], block)
    chosen = np.zeros((n_tests, block), np.uint8)
    for first in range(0, n_rows, block):
        n = min(block, n_rows - first)
        pack_rows(X, bits, first, n, features, n_categories, 1, block + _GAP, words)
        for t in range(tree_start.shape[0] - 1):
            at = t * (n_tests + 1)
            route_heap(depth, tests[2 * t * n_tests :], x, n, chosen)
            for i in range(n):
                leaves[first + i, t] = reached[at + chosen[0, i]]


@kernel
def add_shallow(depth, tests, reached, tree_start, X, features, n_categories, label, weights, value,
                pure_label, out):  # fmt: skip
    """Add what the trees predict: weighted votes, or supports if there are no weights."""
    n_rows = X.shape[0]
    n_tests = (1 << depth) - 1
    bits = X.view(np.uint64)
    block = min(n_rows, _ROWS)
    x, words = columns_of(features.shape[0], block)
    chosen = np.zeros((n_tests, block), np.uint8)
    buffer = np.empty(block, np.uint32)
    scores = np.empty(n_tests + 1)
    is_score = weights.shape[0] == 0 and pure_label.shape[0] == 0 and value.shape[1] == 1
    for first in range(0, n_rows, block):
        n = min(block, n_rows - first)
        pack_rows(X, bits, first, n, features, n_categories, 1, block + _GAP, words)
        for t in range(tree_start.shape[0] - 1):
            at = t * (n_tests + 1)
            route_heap(depth, tests[2 * t * n_tests :], x, n, chosen)
            root = np.uint64(tree_start[t])
            if is_score:
                for k in range(n_tests + 1):
                    scores[k] = value[root + np.uint64(reached[at + k]), 0]
                add_scores(chosen[0], n, scores, out, first, np.uint64(t % out.shape[1]))
                continue
            for i in range(n):
                buffer[i] = reached[at + chosen[0, i]]
            if weights.shape[0] > 0:
                add_votes(buffer, n, root, label, weights[t], out, first)
            else:
                add_supports(buffer, n, root, value, pure_label, out, first, t)
