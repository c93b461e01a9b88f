"""Routing of rows to leaves, for all tests and with missing values.

Node indices are relative to their tree; children of a node are adjacent, so one index names them.
A node is two words: its threshold, and a link of its feature and its first child. A leaf is its
own first child, and its test never chooses the second: the step ``node = child + test`` stays
there, and the inner loop needs no test for leaves. Several rows travel at once, so that their loads
overlap.

The test at a node is one of:

* ordered feature: ``x <= threshold`` goes to the first child;
* categorical feature: the branch is ``branches[threshold + code]``;
* feature ``-1 - p``: projection ``p``, a linear combination of features, ``<= threshold``.

A missing value goes to branch ``missing``, or, if that is ``ALL_BRANCHES``, down all of them,
weighted by their share of the training samples (C4.5).

Where all tests are ordered and nothing is missing, nodes and rows are used as they are (*plain*).
Otherwise both are packed (:mod:`orfeon.kernels.routing.packed`). Packed nodes whose test has no
such form are *odd*: rows wait there as at a leaf, and take their steps one by one.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import array_step, inlined, kernel, step, with_step

#: A missing value goes down every branch.
ALL_BRANCHES = 65_535
# The link of a packed node: first child, three flags, column.
CHILD = np.uint64(0xFFFFFFFF)
MISSING_SHIFT = np.uint64(32)
CATEGORICAL = np.uint64(1 << 33)
ODD = np.uint64(1 << 34)
COLUMN_SHIFT = np.uint64(48)

#: Fewer rows travel one by one, through several trees at once.
FEW_ROWS = 8
#: Paths of smaller trees are short.
_FEW_NODES = 256
#: Bytes of rows that are routed through a tree before the next tree's turn, at least; a larger tree
#: is fetched for more rows.
_LEAST_BLOCK = 1 << 18
_ROWS_PER_TREE = 12  # bytes of rows in a block for each byte of a tree
_MOST_ROWS = 32_768


@inlined
def next_plain(thresholds, links, base, node, x, offset):
    """The node after ``node``: its first child, or the one behind it."""
    p = base + (node << np.uint64(1))
    link = links[p + np.uint64(1)]
    child = link >> np.uint64(32)
    return child + np.uint64(x[offset + (link & CHILD)] > thresholds[p])


@inlined
def next_packed(thresholds, links, base, node, x, offset):
    p = base + (node << np.uint64(1))
    link = links[p + np.uint64(1)]
    threshold = thresholds[p]
    value = x[offset + (link >> COLUMN_SHIFT)]
    # Missing is 0; less 1 it is the largest number.
    is_missing_second = (link >> MISSING_SHIFT) & np.uint64(1)
    above = np.uint64(value - is_missing_second > threshold)
    member = (threshold >> (value & np.uint64(63))) & np.uint64(1)
    return (link & CHILD) + (member if link & CATEGORICAL else above)


@array_step
def route_plain(thresholds, links, root, x, d, first, last, leaves):
    """Leaf of each row from ``first`` to ``last`` in one tree; ordered tests, no missing values."""
    # ``thresholds`` and ``links`` view the nodes as float64 and uint64 words: word 2n is the
    # threshold, word 2n + 1 is ``child << 32 | feature``. ``x`` holds the rows one after the other;
    # ``leaves`` starts at ``first``. Twelve rows travel at once, until the last has arrived: until
    # the sum of their nodes stays, since children come after their parents. A comparison for each
    # row would be a branch for each row, and often mispredicted.
    base = np.uint64(root) << np.uint64(1)
    together = first + ((last - first) // 12) * 12
    for i in range(first, together, 12):
        o0 = np.uint64(i) * d
        o1 = o0 + d
        o2 = o1 + d
        o3 = o2 + d
        o4 = o3 + d
        o5 = o4 + d
        o6 = o5 + d
        o7 = o6 + d
        o8 = o7 + d
        o9 = o8 + d
        o10 = o9 + d
        o11 = o10 + d
        n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = n8 = n9 = n10 = n11 = np.uint64(0)
        before = np.uint64(0)
        while True:
            n0 = next_plain(thresholds, links, base, n0, x, o0)
            n1 = next_plain(thresholds, links, base, n1, x, o1)
            n2 = next_plain(thresholds, links, base, n2, x, o2)
            n3 = next_plain(thresholds, links, base, n3, x, o3)
            n4 = next_plain(thresholds, links, base, n4, x, o4)
            n5 = next_plain(thresholds, links, base, n5, x, o5)
            n6 = next_plain(thresholds, links, base, n6, x, o6)
            n7 = next_plain(thresholds, links, base, n7, x, o7)
            n8 = next_plain(thresholds, links, base, n8, x, o8)
            n9 = next_plain(thresholds, links, base, n9, x, o9)
            n10 = next_plain(thresholds, links, base, n10, x, o10)
            n11 = next_plain(thresholds, links, base, n11, x, o11)
            total = n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7 + n8 + n9 + n10 + n11
            if total == before:
                break
            before = total
        at = np.uint64(i - first)
        leaves[at] = n0
        leaves[at + np.uint64(1)] = n1
        leaves[at + np.uint64(2)] = n2
        leaves[at + np.uint64(3)] = n3
        leaves[at + np.uint64(4)] = n4
        leaves[at + np.uint64(5)] = n5
        leaves[at + np.uint64(6)] = n6
        leaves[at + np.uint64(7)] = n7
        leaves[at + np.uint64(8)] = n8
        leaves[at + np.uint64(9)] = n9
        leaves[at + np.uint64(10)] = n10
        leaves[at + np.uint64(11)] = n11
    for i in range(together, last):
        offset = np.uint64(i) * d
        node = np.uint64(0)
        while True:
            child = next_plain(thresholds, links, base, node, x, offset)
            if child == node:
                break
            node = child
        leaves[i - first] = node


@array_step
def route_packed(thresholds, links, tree_start, tree, x, d, first, leaves, active, n_active):
    """Move rows from the nodes ``leaves`` on to leaves of one tree; packed nodes and rows."""
    # A step takes longer than in ``route_plain``, so none is taken in vain: rows that have arrived
    # leave after a few steps, and eight of the others travel on.
    # ``active`` holds the rows to move, relative to ``first``; it is overwritten. ``x`` holds the
    # rows one after the other.
    one = np.uint64(1)
    base = np.uint64(tree_start[tree]) << one
    n_steps = 3 if tree_start[tree + 1] - tree_start[tree] < _FEW_NODES else 6
    origin = np.uint64(first) * d
    while n_active >= 8:
        n_kept = np.uint64(0)
        full = np.uint64((n_active // 8) * 8)
        j = np.uint64(0)
        while j < full:
            r0 = np.uint64(active[j])
            r1 = np.uint64(active[j + one])
            r2 = np.uint64(active[j + np.uint64(2)])
            r3 = np.uint64(active[j + np.uint64(3)])
            r4 = np.uint64(active[j + np.uint64(4)])
            r5 = np.uint64(active[j + np.uint64(5)])
            r6 = np.uint64(active[j + np.uint64(6)])
            r7 = np.uint64(active[j + np.uint64(7)])
            o0 = origin + r0 * d
            o1 = origin + r1 * d
            o2 = origin + r2 * d
            o3 = origin + r3 * d
            o4 = origin + r4 * d
            o5 = origin + r5 * d
            o6 = origin + r6 * d
            o7 = origin + r7 * d
            n0 = np.uint64(leaves[r0])
            n1 = np.uint64(leaves[r1])
            n2 = np.uint64(leaves[r2])
            n3 = np.uint64(leaves[r3])
            n4 = np.uint64(leaves[r4])
            n5 = np.uint64(leaves[r5])
            n6 = np.uint64(leaves[r6])
            n7 = np.uint64(leaves[r7])
            p0 = p1 = p2 = p3 = p4 = p5 = p6 = p7 = np.uint64(0)
            for _ in range(n_steps):
                p0, p1, p2, p3, p4, p5, p6, p7 = n0, n1, n2, n3, n4, n5, n6, n7
                n0 = next_packed(thresholds, links, base, n0, x, o0)
                n1 = next_packed(thresholds, links, base, n1, x, o1)
                n2 = next_packed(thresholds, links, base, n2, x, o2)
                n3 = next_packed(thresholds, links, base, n3, x, o3)
                n4 = next_packed(thresholds, links, base, n4, x, o4)
                n5 = next_packed(thresholds, links, base, n5, x, o5)
                n6 = next_packed(thresholds, links, base, n6, x, o6)
                n7 = next_packed(thresholds, links, base, n7, x, o7)
            # Rows that still move are kept, without a branch that could be mispredicted.
            leaves[r0] = n0
            active[n_kept] = r0
            n_kept += np.uint64(n0 != p0)
            leaves[r1] = n1
            active[n_kept] = r1
            n_kept += np.uint64(n1 != p1)
            leaves[r2] = n2
            active[n_kept] = r2
            n_kept += np.uint64(n2 != p2)
            leaves[r3] = n3
            active[n_kept] = r3
            n_kept += np.uint64(n3 != p3)
            leaves[r4] = n4
            active[n_kept] = r4
            n_kept += np.uint64(n4 != p4)
            leaves[r5] = n5
            active[n_kept] = r5
            n_kept += np.uint64(n5 != p5)
            leaves[r6] = n6
            active[n_kept] = r6
            n_kept += np.uint64(n6 != p6)
            leaves[r7] = n7
            active[n_kept] = r7
            n_kept += np.uint64(n7 != p7)
            j += np.uint64(8)
        while j < np.uint64(n_active):
            active[n_kept] = active[j]
            n_kept += one
            j += one
        n_active = np.int64(n_kept)
    for i in range(n_active):
        row = np.uint64(active[i])
        offset = origin + row * d
        node = np.uint64(leaves[row])
        while True:
            child = next_packed(thresholds, links, base, node, x, offset)
            if child == node:
                break
            node = child
        leaves[row] = node


next_node = next_plain


def _across(thresholds, links, tree_start, x, row, leaves):
    """Leaf of one row in each tree: eight trees at once take the place of eight rows."""
    one = np.uint64(1)
    n_trees = tree_start.shape[0] - 1
    together = (n_trees // 8) * 8
    for t in range(0, together, 8):
        b0 = np.uint64(tree_start[t]) << one
        b1 = np.uint64(tree_start[t + 1]) << one
        b2 = np.uint64(tree_start[t + 2]) << one
        b3 = np.uint64(tree_start[t + 3]) << one
        b4 = np.uint64(tree_start[t + 4]) << one
        b5 = np.uint64(tree_start[t + 5]) << one
        b6 = np.uint64(tree_start[t + 6]) << one
        b7 = np.uint64(tree_start[t + 7]) << one
        n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = before = np.uint64(0)
        while True:
            n0 = next_node(thresholds, links, b0, n0, x, row)
            n1 = next_node(thresholds, links, b1, n1, x, row)
            n2 = next_node(thresholds, links, b2, n2, x, row)
            n3 = next_node(thresholds, links, b3, n3, x, row)
            n4 = next_node(thresholds, links, b4, n4, x, row)
            n5 = next_node(thresholds, links, b5, n5, x, row)
            n6 = next_node(thresholds, links, b6, n6, x, row)
            n7 = next_node(thresholds, links, b7, n7, x, row)
            total = n0 + n1 + n2 + n3 + n4 + n5 + n6 + n7
            if total == before:
                break
            before = total
        leaves[t] = n0
        leaves[t + 1] = n1
        leaves[t + 2] = n2
        leaves[t + 3] = n3
        leaves[t + 4] = n4
        leaves[t + 5] = n5
        leaves[t + 6] = n6
        leaves[t + 7] = n7
    for t in range(together, n_trees):
        base = np.uint64(tree_start[t]) << one
        node = np.uint64(0)
        while True:
            child = next_node(thresholds, links, base, node, x, row)
            if child == node:
                break
            node = child
        leaves[t] = node


across_plain = array_step(with_step(_across, "across_plain", next_node=next_plain))
across_packed = array_step(with_step(_across, "across_packed", next_node=next_packed))


@step
def branch_of(node, x, row, feature, threshold, missing, is_categorical, branches,
              projection_start, projection_feature, projection_weight):  # fmt: skip
    """The branch a row takes at an inner node; ``ALL_BRANCHES`` for all of them."""
    j = feature[node]
    if j < 0:
        p = -1 - j
        total = 0.0
        for k in range(projection_start[p], projection_start[p + 1]):
            total += projection_weight[k] * x[row, projection_feature[k]]
        if total != total:
            return np.int64(missing[node])
        return np.int64(total > threshold[node])
    value = x[row, j]
    if value != value:
        return np.int64(missing[node])
    if is_categorical[j]:
        return np.int64(branches[np.int64(threshold[node]) + np.int64(value)])
    return np.int64(value > threshold[node])


@array_step
def start(leaves, active, n_rows):
    """All rows are at the root."""
    for i in range(n_rows):
        leaves[i] = 0
        active[i] = i


@array_step
def rows_at_once(n_rows, d, n_nodes, n_trees):
    """Rows per tree before the next tree's turn."""
    # Rows stay in the cache where trees are small; large trees are not fetched too often.
    n_bytes = max(_LEAST_BLOCK, _ROWS_PER_TREE * 16 * n_nodes // max(1, n_trees))
    return max(1, min(n_rows, _MOST_ROWS, max(64, n_bytes // (8 * max(1, d)))))


@array_step
def add_supports(leaves, n, root, value, pure_label, out, first, tree):
    """Add the class shares of the leaves reached in one tree; values if ``pure_label`` is empty."""
    if pure_label.shape[0] == 0 and value.shape[1] > 1:  # a value for each score
        for i in range(n):
            at = root + np.uint64(leaves[i])
            for c in range(value.shape[1]):
                out[first + i, c] += value[at, c]
        return
    if pure_label.shape[0] == 0:
        # Trees of several scores take turns.
        column = np.uint64(tree % out.shape[1])
        for i in range(n):
            out[np.uint64(first + i), column] += value[root + np.uint64(leaves[i]), 0]
        return
    # In unpruned forests nearly every leaf is pure: one class gets everything.
    for i in range(n):
        at = root + np.uint64(leaves[i])
        label = pure_label[at]
        if label >= 0:
            out[np.uint64(first + i), np.uint64(label)] += 1.0
        else:
            total = 0.0
            for c in range(value.shape[1]):
                total += value[at, c]
            if total > 0.0:
                for c in range(value.shape[1]):
                    out[first + i, c] += value[at, c] / total


@array_step
def add_votes(leaves, n, root, label, weight, out, first):
    """Add the weight of one tree to the classes that it votes for."""
    for i in range(n):
        at = root + np.uint64(leaves[i])
        out[np.uint64(first + i), np.uint64(label[at])] += weight


@array_step
def add_row(by_tree, tree_start, label, weights, value, pure_label, out, row, one):
    """Add what the trees predict for one row; ``one`` has room for a leaf."""
    for t in range(tree_start.shape[0] - 1):
        one[0] = by_tree[t]
        root = np.uint64(tree_start[t])
        if weights.shape[0] > 0:
            add_votes(one, 1, root, label, weights[t], out, row)
        else:
            add_supports(one, 1, root, value, pure_label, out, row, t)


@kernel
def apply_plain(thresholds, links, tree_start, X, leaves):
    """Leaf of each row in each tree (rows, trees)."""
    n_rows = X.shape[0]
    n_trees = tree_start.shape[0] - 1
    x = X.ravel()
    block = rows_at_once(n_rows, X.shape[1], tree_start[n_trees], n_trees)
    buffer = np.empty(block, np.uint32)
    for first in range(0, n_rows, block):
        n = min(block, n_rows - first)
        for t in range(n_trees):
            route_plain(
                thresholds, links, tree_start[t], x, np.uint64(X.shape[1]), first, first + n, buffer
            )
            for i in range(n):
                leaves[first + i, t] = buffer[i]


@kernel
def add_plain(thresholds, links, tree_start, X, label, weights, value, pure_label, out):
    """Add what the trees predict: weighted votes, or supports if there are no weights."""
    n_rows = X.shape[0]
    n_trees = tree_start.shape[0] - 1
    x = X.ravel()
    if n_rows < FEW_ROWS:
        by_tree = np.empty(n_trees, np.uint32)
        one = np.empty(1, np.uint32)
        for row in range(n_rows):
            offset = np.uint64(row * X.shape[1])
            across_plain(thresholds, links, tree_start, x, offset, by_tree)
            add_row(by_tree, tree_start, label, weights, value, pure_label, out, row, one)
        return
    block = rows_at_once(n_rows, X.shape[1], tree_start[n_trees], n_trees)
    buffer = np.empty(block, np.uint32)
    for first in range(0, n_rows, block):
        n = min(block, n_rows - first)
        for t in range(n_trees):
            route_plain(
                thresholds, links, tree_start[t], x, np.uint64(X.shape[1]), first, first + n, buffer
            )
            root = np.uint64(tree_start[t])
            if weights.shape[0] > 0:
                add_votes(buffer, n, root, label, weights[t], out, first)
            else:
                add_supports(buffer, n, root, value, pure_label, out, first, t)
