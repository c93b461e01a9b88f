"""Nodes and rows in a form in which all common tests cost the same few instructions.

A row is one word a column, for the features that the forest tests. A number becomes the integer of
the same order, a category its code plus 1, a missing value 0. The threshold of a node is such an
integer too, or the set of categories that go to the second child, as bits; its bit 0 is for
missing values. Where missing numbers go to the second child, 1 is subtracted from both sides of
the comparison, which makes the missing value the largest of all.

Tests of more than two branches, of more than 63 categories and of projections are odd.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.routing.route import (
    ALL_BRANCHES,
    CATEGORICAL,
    COLUMN_SHIFT,
    FEW_ROWS,
    MISSING_SHIFT,
    ODD,
    across_packed,
    add_row,
    add_supports,
    add_votes,
    branch_of,
    route_packed,
    rows_at_once,
    start,
)
from orfeon.utils.jit import array_step, inlined, kernel

#: Categories that a set of bits has room for.
MOST_CATEGORIES = 63
#: Columns that a link can name.
MOST_COLUMNS = 65_536
#: A row that goes down every branch reaches no single leaf.
NO_LEAF = 0xFFFFFFFF

_SIGN = np.uint64(1 << 63)
_NEVER = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def ordinal(bits):
    """The bits of a float as an integer: larger floats have larger ones."""
    return ~bits if bits >= _SIGN else bits | _SIGN


@array_step
def is_odd(at, j, words, n_children, missing, n_categories, branches, column_of):
    if j < 0 or column_of[j] < 0 or n_children[at] != 2:
        return True
    n = n_categories[j]
    if n > MOST_CATEGORIES:
        return True
    if n > 0:
        table = np.int64(words.view(np.float64)[2 * at])
        for c in range(table, table + n):
            if branches[c] == ALL_BRANCHES:
                return True
    return False


@array_step
def members(table, n, missing, branches):
    """The categories that go to the second child, as bits; bit 0 for a missing one."""
    found = np.uint64(missing == 1)
    for c in range(n):
        found |= np.uint64(branches[table + c]) << np.uint64(c + 1)
    return found


@kernel
def pack_nodes(words, tree_start, n_children, missing, n_categories, branches, column_of, packed):
    """Fill ``packed`` and the columns of the features; returns whether some test is odd."""
    # ``words`` views the nodes: the bits of the threshold, then ``child << 32 | feature``.
    n_nodes = n_children.shape[0]
    low = np.uint64(0xFFFFFFFF)
    column_of[:] = -1
    for at in range(n_nodes):
        j = np.int64(np.int32(words[2 * at + 1] & low))
        if n_children[at] > 0 and j >= 0:
            column_of[j] = 0
    n_columns = 0
    for j in range(column_of.shape[0]):
        if column_of[j] == 0 and n_columns < MOST_COLUMNS:
            column_of[j] = n_columns
            n_columns += 1
        else:
            column_of[j] = -1
    has_odd = False
    thresholds = words.view(np.float64)
    tree = 0
    for at in range(n_nodes):
        while at >= tree_start[tree + 1]:
            tree += 1
        link = words[2 * at + 1]
        j = np.int64(np.int32(link & low))
        child = link >> np.uint64(32)
        if n_children[at] == 0:
            packed[2 * at] = _NEVER
            packed[2 * at + 1] = child
        elif is_odd(at, j, words, n_children, missing, n_categories, branches, column_of):
            # It waits for a step of its own: a leaf to all others.
            has_odd = True
            packed[2 * at] = _NEVER
            packed[2 * at + 1] = ODD | np.uint64(at - tree_start[tree])
        else:
            link = child | np.uint64(column_of[j]) << COLUMN_SHIFT
            if n_categories[j] > 0:
                table = np.int64(thresholds[2 * at])
                packed[2 * at] = members(table, n_categories[j], missing[at], branches)
                packed[2 * at + 1] = link | CATEGORICAL
            else:
                is_second = np.uint64(missing[at] == 1)
                bits = words[2 * at]
                bits = np.uint64(0) if bits == _SIGN else bits  # -0.0 is 0.0
                packed[2 * at] = ordinal(bits) - is_second
                packed[2 * at + 1] = link | is_second << MISSING_SHIFT
    return has_odd


@array_step
def pack_rows(X, bits, first, n, features, n_categories, row_step, column_step, out):
    """Fill ``out`` with the words of some rows."""
    for i in range(n):
        for c in range(features.shape[0]):
            j = features[c]
            value = X[first + i, j]
            word = np.uint64(0)
            if value == value:
                if n_categories[j] > 0:
                    word = np.uint64(np.int64(value) + 1)
                else:
                    word = ordinal(bits[first + i, j])
            out[i * row_step + c * column_step] = word


@kernel
def first_unknown_code(X, features, n_categories):
    """The first entry, counted row by row, that is no category's code; -1 if there is none."""
    n = features.shape[0]
    for i in range(X.shape[0]):
        for k in range(n):
            value = X[i, features[k]]
            if value < 0 or value >= n_categories[k]:
                return i * n + k
    return -1


@array_step
def take_odd_steps(packed, root, first, n_rows, X, leaves, active, first_child, tests):
    """Move rows that wait at odd nodes; ``active`` gets those that arrive at others.

    Returns their number. Rows that go down every branch get ``NO_LEAF``.
    """
    n_active = 0
    for i in range(n_rows):
        node = np.int64(leaves[i])
        if node == NO_LEAF or not packed[2 * (root + node) + 1] & ODD:
            continue
        while node != NO_LEAF and packed[2 * (root + node) + 1] & ODD:
            branch = branch_of(root + node, X, first + i, *tests)
            node = NO_LEAF if branch == ALL_BRANCHES else first_child[root + node] + branch
        leaves[i] = node
        if node != NO_LEAF:
            active[n_active] = i
            n_active += 1
    return n_active


@array_step
def route_tree(packed, has_odd, tree_start, tree, x, d, first, n, X, tests, first_child, leaves,
               active, split):  # fmt: skip
    """Leaf of each row of a block in one tree; ``split`` marks rows without a single one."""
    start(leaves, active, n)
    route_packed(packed, packed, tree_start, tree, x, d, 0, leaves, active, n)
    if not has_odd:
        return
    while True:
        n_active = take_odd_steps(
            packed, tree_start[tree], first, n, X, leaves, active, first_child, tests
        )
        if n_active == 0:
            break
        route_packed(packed, packed, tree_start, tree, x, d, 0, leaves, active, n_active)
    for i in range(n):
        if leaves[i] == NO_LEAF:
            leaves[i] = 0
            split[first + i] = True


@kernel
def apply_packed(
    packed, has_odd, tree_start, X, features, n_categories, first_child, tests, leaves, split
):
    """Leaf of each row in each tree (rows, trees)."""
    n_rows = X.shape[0]
    n_trees = tree_start.shape[0] - 1
    d = features.shape[0]
    bits = X.view(np.uint64)
    block = rows_at_once(n_rows, d, tree_start[n_trees], n_trees)
    x = np.zeros(block * max(1, d), np.uint64)
    buffer = np.empty(block, np.uint32)
    active = np.empty(block, np.uint32)
    for first in range(0, n_rows, block):
        n = min(block, n_rows - first)
        pack_rows(X, bits, first, n, features, n_categories, d, 1, x)
        for t in range(n_trees):
            route_tree(
                packed, has_odd, tree_start, t, x, np.uint64(d), first, n, X, tests, first_child,
                buffer, active, split,
            )  # fmt: skip
            for i in range(n):
                leaves[first + i, t] = buffer[i]


@kernel
def add_packed(packed, has_odd, tree_start, X, features, n_categories, first_child, tests,
               label, weights, value, pure_label, out, split):  # fmt: skip
    """Add what the trees predict: weighted votes, or supports if there are no weights."""
    n_rows = X.shape[0]
    n_trees = tree_start.shape[0] - 1
    d = features.shape[0]
    bits = X.view(np.uint64)
    block = rows_at_once(n_rows, d, tree_start[n_trees], n_trees)
    x = np.zeros(block * max(1, d), np.uint64)
    if n_rows < FEW_ROWS and not has_odd:
        by_tree = np.empty(n_trees, np.uint32)
        one = np.empty(1, np.uint32)
        for row in range(n_rows):
            pack_rows(X, bits, row, 1, features, n_categories, d, 1, x)
            across_packed(packed, packed, tree_start, x, np.uint64(0), by_tree)
            add_row(by_tree, tree_start, label, weights, value, pure_label, out, row, one)
        return
    buffer = np.empty(block, np.uint32)
    active = np.empty(block, np.uint32)
    for first in range(0, n_rows, block):
        n = min(block, n_rows - first)
        pack_rows(X, bits, first, n, features, n_categories, d, 1, x)
        for t in range(n_trees):
            route_tree(
                packed, has_odd, tree_start, t, x, np.uint64(d), first, n, X, tests, first_child,
                buffer, active, split,
            )  # fmt: skip
            root = np.uint64(tree_start[t])
            if weights.shape[0] > 0:
                add_votes(buffer, n, root, label, weights[t], out, first)
            else:
                add_supports(buffer, n, root, value, pure_label, out, first, t)
