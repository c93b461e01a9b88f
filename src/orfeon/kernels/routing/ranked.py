"""Rows as ranks among the thresholds of a forest, so that a step takes few instructions.

A number becomes the count of its feature's thresholds below it: it is above a threshold if this
count exceeds that of the threshold. The word of a node is ``child << 32 | (65535 - count) << 16 |
column``, and the word of a number its count, shifted by 16 bits. Their sum carries into the child
where the number is above the threshold, so the next node is the upper half of the sum.

Categories and missing values are the low bits of a row's word, and name a bit in a second word of
the node: the set of those that go to the second child. A category is its code plus 1, a missing
category 0, a missing number 1. At a leaf nothing carries and the set is empty.

It takes a search among the thresholds for each number, so there must be many trees.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.routing.route import (
    add_supports,
    add_votes,
    route_packed,
    route_plain,
    rows_at_once,
    start,
)
from orfeon.utils.jit import array_step, inlined, kernel, with_step

#: Bits of a number's count, above those of the column.
COUNT_SHIFT = np.uint64(16)
#: The count that no number reaches.
NO_COUNT = 0xFFFF
#: Columns that leave room for the low bits of a row's word.
MOST_COLUMNS = 1 << 15
_COLUMN = np.uint64(0xFFFF)
_CHILD_SHIFT = np.uint64(32)


@inlined
def next_number(sets, words, base, node, x, offset):
    """The node after ``node``, where all features are numbers and nothing is missing."""
    word = words[(base >> np.uint64(1)) + node]
    return (word + np.uint64(x[offset + (word & _COLUMN)])) >> _CHILD_SHIFT


@inlined
def next_ranked(sets, words, base, node, x, offset):
    p = base + (node << np.uint64(1))
    word = words[p]
    value = np.uint64(x[offset + (word & _COLUMN)])
    member = (sets[p + np.uint64(1)] >> (value & np.uint64(63))) & np.uint64(1)
    return ((word + value) >> _CHILD_SHIFT) + member


_route_numbers = array_step(with_step(route_plain, "route_numbers", next_plain=next_number))
_route_ranked = array_step(with_step(route_packed, "route_ranked", next_packed=next_ranked))


@array_step
def rank_numbers(X, first, n, j, cuts, begin, n_levels, values, places, rows, column, d, out):
    """Write the words of one column of numbers; ``cuts`` are a power of two less one."""
    # Numbers up to the first threshold, such as zeros, need no search. The others take the same
    # steps, side by side.
    low = cuts[begin]
    m = np.uint64(0)
    for i in range(n):
        value = X[first + i, j]
        out[np.uint64(i) * d + column] = np.uint32(value != value)
        values[m] = value
        rows[m] = i
        m += np.uint64(value > low)
    many = np.int64(m)
    for i in range(many):
        places[np.uint64(i)] = begin
    for level in range(n_levels - 1, -1, -1):
        half = (np.uint64(1) << np.uint64(level)) - np.uint64(1)
        for i in range(many):
            place = places[np.uint64(i)]
            above = np.uint64(cuts[place + half] < values[np.uint64(i)])
            places[np.uint64(i)] = place + (above << np.uint64(level))
    for i in range(many):
        count = places[np.uint64(i)] - np.uint64(begin)
        out[np.uint64(rows[np.uint64(i)]) * d + column] = np.uint32(count << COUNT_SHIFT)


@array_step
def rank_categories(X, first, n, j, column, d, out):
    for i in range(n):
        value = X[first + i, j]
        word = np.uint32(0)
        if value == value:
            word = np.uint32(np.int64(value) + 1)
        out[np.uint64(i) * d + column] = word


@array_step
def route_ranks(words, tree_start, tree, x, d, n, leaves, active):
    """Leaf of each row of a block in one tree: numbers only."""
    first = np.int64(0)
    _route_numbers(words, words, tree_start[tree], x, d, first, first + n, leaves)


@array_step
def route_mixed(words, tree_start, tree, x, d, n, leaves, active):
    """The same with categories and missing values."""
    start(leaves, active, n)
    _route_ranked(words, words, tree_start, tree, x, d, np.int64(0), leaves, active, n)


def _add(words, tree_start, X, features, n_categories, cuts, cut_start, n_levels, label, weights,
         value, pure_label, out):  # fmt: skip
    """Add what the trees predict: weighted votes, or supports if there are no weights."""
    n_rows = X.shape[0]
    n_trees = tree_start.shape[0] - 1
    d = features.shape[0]
    block = rows_at_once(n_rows, (d + 1) // 2, tree_start[n_trees], n_trees)
    x = np.zeros(block * max(1, d), np.uint32)
    values = np.empty(block)
    places = np.empty(block, np.uint64)
    rows = np.empty(block, np.uint32)
    leaves = np.empty(block, np.uint32)
    active = np.empty(block, np.uint32)
    for first in range(0, n_rows, block):
        n = min(block, n_rows - first)
        for column in range(d):
            j = features[column]
            if n_categories[j] > 0:
                rank_categories(X, first, n, j, np.uint64(column), np.uint64(d), x)
            else:
                rank_numbers(
                    X, first, n, j, cuts, cut_start[column], n_levels[column], values, places,
                    rows, np.uint64(column), np.uint64(d), x,
                )  # fmt: skip
        for t in range(n_trees):
            route_ranks(words, tree_start, t, x, np.uint64(d), n, leaves, active)
            root = np.uint64(tree_start[t])
            if weights.shape[0] > 0:
                add_votes(leaves, n, root, label, weights[t], out, first)
            else:
                add_supports(leaves, n, root, value, pure_label, out, first, t)


add_numbers = kernel(with_step(_add, "add_numbers"))
add_mixed = kernel(with_step(_add, "add_mixed", route_ranks=route_mixed))
