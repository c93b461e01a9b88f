"""Routing samples down the trees of a forest.

A node is (threshold, feature, first child). A leaf is its own first child with threshold +inf and
feature 0: the step ``node = child + (x > threshold)`` stays there, and the inner loop needs no test
for leaves. Several rows travel at once, so that their loads overlap.

The test at a node is one of:

* ordered feature: ``x <= threshold`` goes to the first child;
* categorical feature: the branch is ``branches[threshold + code]``;
* feature ``-1 - p``: projection ``p``, a linear combination of features, ``<= threshold``.

A missing value goes to branch ``missing``, or, if that is ``ALL_BRANCHES``, down all of them,
weighted by their share of the training samples (C4.5).
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import array_step, kernel, step

#: A missing value goes down every branch.
ALL_BRANCHES = 65_535

#: Rows per tree before the next tree's turn: a large tree is fetched once for many rows.
ROWS_AT_ONCE = 16_384

_ROOT_STACK = 64


@array_step
def route_block(thresholds, links, root, x, d, first, last, leaves):
    """Leaf of each row from ``first`` to ``last`` in one tree; ordered tests, no missing values."""
    # ``thresholds`` and ``links`` view the nodes as float64 and uint64 words: word 2n is the
    # threshold, word 2n + 1 is ``child << 32 | feature``. ``x`` holds the rows one after the other;
    # ``leaves`` starts at ``first``. Twelve rows travel at once, to keep as many loads in flight.
    two = np.uint64(2)
    one = np.uint64(1)
    high = np.uint64(32)
    low = np.uint64(0xFFFFFFFF)
    base = two * np.uint64(root)
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
        while True:
            p = base + two * n0
            a = links[p + one]
            m0 = (a >> high) + np.uint64(x[o0 + (a & low)] > thresholds[p])
            p = base + two * n1
            a = links[p + one]
            m1 = (a >> high) + np.uint64(x[o1 + (a & low)] > thresholds[p])
            p = base + two * n2
            a = links[p + one]
            m2 = (a >> high) + np.uint64(x[o2 + (a & low)] > thresholds[p])
            p = base + two * n3
            a = links[p + one]
            m3 = (a >> high) + np.uint64(x[o3 + (a & low)] > thresholds[p])
            p = base + two * n4
            a = links[p + one]
            m4 = (a >> high) + np.uint64(x[o4 + (a & low)] > thresholds[p])
            p = base + two * n5
            a = links[p + one]
            m5 = (a >> high) + np.uint64(x[o5 + (a & low)] > thresholds[p])
            p = base + two * n6
            a = links[p + one]
            m6 = (a >> high) + np.uint64(x[o6 + (a & low)] > thresholds[p])
            p = base + two * n7
            a = links[p + one]
            m7 = (a >> high) + np.uint64(x[o7 + (a & low)] > thresholds[p])
            p = base + two * n8
            a = links[p + one]
            m8 = (a >> high) + np.uint64(x[o8 + (a & low)] > thresholds[p])
            p = base + two * n9
            a = links[p + one]
            m9 = (a >> high) + np.uint64(x[o9 + (a & low)] > thresholds[p])
            p = base + two * n10
            a = links[p + one]
            m10 = (a >> high) + np.uint64(x[o10 + (a & low)] > thresholds[p])
            p = base + two * n11
            a = links[p + one]
            m11 = (a >> high) + np.uint64(x[o11 + (a & low)] > thresholds[p])
            moved = (m0 ^ n0) | (m1 ^ n1) | (m2 ^ n2) | (m3 ^ n3) | (m4 ^ n4) | (m5 ^ n5)
            moved |= (m6 ^ n6) | (m7 ^ n7) | (m8 ^ n8) | (m9 ^ n9) | (m10 ^ n10) | (m11 ^ n11)
            n0, n1, n2, n3, n4, n5 = m0, m1, m2, m3, m4, m5
            n6, n7, n8, n9, n10, n11 = m6, m7, m8, m9, m10, m11
            if moved == np.uint64(0):
                break
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
            p = base + two * node
            a = links[p + one]
            child = (a >> high) + np.uint64(x[offset + (a & low)] > thresholds[p])
            if child == node:
                break
            node = child
        leaves[i - first] = node


@kernel
def apply_ordered(thresholds, links, tree_start, X, leaves):
    """Leaf of each row in each tree (rows, trees); ordered tests, no missing values."""
    n_rows = X.shape[0]
    x = X.ravel()
    d = np.uint64(X.shape[1])
    buffer = np.empty(ROWS_AT_ONCE, np.uint32)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, n_rows)
        for t in range(tree_start.shape[0] - 1):
            route_block(thresholds, links, tree_start[t], x, d, first, last, buffer)
            for i in range(first, last):
                leaves[i, t] = buffer[i - first]


@array_step
def add_supports(leaves, n, root, value, pure_label, out, first):
    """Add the class shares of the leaves reached in one tree; values if ``pure_label`` is empty."""
    # In unpruned forests nearly every leaf is pure: one class gets everything.
    if pure_label.shape[0] == 0:
        for i in range(n):
            out[first + i, 0] += value[root + np.uint64(leaves[i]), 0]
        return
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


@kernel
def sum_supports_ordered(thresholds, links, tree_start, X, value, pure_label, out):
    """``apply_ordered`` and ``sum_supports`` in one pass."""
    # Rows go in large blocks, tree by tree, so that a tree stays in the cache.
    n_rows = X.shape[0]
    x = X.ravel()
    d = np.uint64(X.shape[1])
    buffer = np.empty(ROWS_AT_ONCE, np.uint32)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, n_rows)
        for t in range(tree_start.shape[0] - 1):
            route_block(thresholds, links, tree_start[t], x, d, first, last, buffer)
            root = np.uint64(tree_start[t])
            add_supports(buffer, last - first, root, value, pure_label, out, first)


@kernel
def count_votes_ordered(thresholds, links, tree_start, X, label, out):
    """``apply_ordered`` and ``count_votes`` in one pass."""
    n_rows = X.shape[0]
    x = X.ravel()
    d = np.uint64(X.shape[1])
    buffer = np.empty(ROWS_AT_ONCE, np.uint32)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, n_rows)
        for t in range(tree_start.shape[0] - 1):
            route_block(thresholds, links, tree_start[t], x, d, first, last, buffer)
            root = np.uint64(tree_start[t])
            for i in range(first, last):
                at = root + np.uint64(buffer[i - first])
                out[i, np.uint64(label[at])] += 1


@kernel
def weigh_votes_ordered(thresholds, links, tree_start, X, label, weights, out):
    """Like ``count_votes_ordered``, with one weight per tree."""
    n_rows = X.shape[0]
    x = X.ravel()
    d = np.uint64(X.shape[1])
    buffer = np.empty(ROWS_AT_ONCE, np.uint32)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE, n_rows)
        for t in range(tree_start.shape[0] - 1):
            route_block(thresholds, links, tree_start[t], x, d, first, last, buffer)
            root = np.uint64(tree_start[t])
            for i in range(first, last):
                at = root + np.uint64(buffer[i - first])
                out[i, np.uint64(label[at])] += weights[t]


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


@kernel
def apply_general(feature, threshold, first_child, missing, is_categorical, branches,
                  projection_start, projection_feature, projection_weight,
                  tree_start, X, leaves):  # fmt: skip
    """Leaf of each row in each tree, for any test; no row may go down several branches."""
    for t in range(tree_start.shape[0] - 1):
        base = tree_start[t]
        for i in range(X.shape[0]):
            node = 0
            while first_child[base + node] != node:
                branch = branch_of(
                    base + node, X, i, feature, threshold, missing, is_categorical, branches,
                    projection_start, projection_feature, projection_weight,
                )  # fmt: skip
                node = first_child[base + node] + branch
            leaves[i, t] = node


@kernel
def supports_fractional(feature, threshold, first_child, n_children, missing, node_weight, value,
                        is_categorical, branches,
                        projection_start, projection_feature, projection_weight,
                        tree, tree_start, X, supports):  # fmt: skip
    """Class supports of each row in one tree when missing values go down every branch."""
    # ``value`` holds normalised supports; those of the leaves are weighted by the branches taken.
    base = tree_start[tree]
    stack = np.empty(_ROOT_STACK, np.int64)
    share = np.empty(_ROOT_STACK)
    for i in range(X.shape[0]):
        supports[i, :] = 0.0
        stack[0] = 0
        share[0] = 1.0
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            weight = share[depth]
            at = base + node
            if first_child[at] == node:
                for c in range(value.shape[1]):
                    supports[i, c] += weight * value[at, c]
                continue
            branch = branch_of(
                at, X, i, feature, threshold, missing, is_categorical, branches,
                projection_start, projection_feature, projection_weight,
            )  # fmt: skip
            child = first_child[at]
            if branch < ALL_BRANCHES:
                stack[depth] = child + branch
                share[depth] = weight
                depth += 1
                continue
            total = 0.0
            for b in range(n_children[at]):
                total += node_weight[base + child + b]
            if depth + n_children[at] > stack.shape[0]:
                stack = np.concatenate((stack, np.empty(stack.shape[0] + n_children[at], np.int64)))
                share = np.concatenate((share, np.empty(share.shape[0] + n_children[at])))
            for b in range(n_children[at]):
                part = node_weight[base + child + b]
                if part > 0:
                    stack[depth] = child + b
                    share[depth] = weight * part / total
                    depth += 1


@kernel
def sum_supports(leaves, tree_start, value, pure_label, out):
    """Add the supports of the leaves reached (trees, rows), tree by tree."""
    for t in range(leaves.shape[0]):
        root = np.uint64(tree_start[t])
        add_supports(leaves[t], leaves.shape[1], root, value, pure_label, out, np.int64(0))


@kernel
def count_votes(leaves, tree_start, label, out):
    for i in range(leaves.shape[0]):
        for t in range(leaves.shape[1]):
            out[i, label[tree_start[t] + np.int64(leaves[i, t])]] += 1


@kernel
def check_nodes(tree_start, feature, threshold, first_child, n_children, missing, label,
                n_classes, n_categories, n_projections, branches):  # fmt: skip
    """0 if the arrays describe valid trees, otherwise 1 + the first offending node."""
    for t in range(tree_start.shape[0] - 1):
        base = tree_start[t]
        n_nodes = tree_start[t + 1] - base
        seen = 1  # children are numbered in the order their parents were split: no gap, no overlap
        covered = np.zeros(n_nodes, np.bool_)
        covered[0] = True
        for node in range(n_nodes):
            at = base + node
            if n_classes > 0 and (label[at] < 0 or label[at] >= n_classes):
                return at + 1
            if n_children[at] == 0:
                if first_child[at] != node or threshold[at] != np.inf or feature[at] != 0:
                    return at + 1
                continue
            j = feature[at]
            child = first_child[at]
            width = np.int64(n_children[at])
            if child <= node or child + width > n_nodes or width < 2:
                return at + 1
            if missing[at] != ALL_BRANCHES and missing[at] >= width:
                return at + 1
            for b in range(width):
                if covered[child + b]:
                    return at + 1
                covered[child + b] = True
            seen += width
            if j >= n_categories.shape[0] or j < -n_projections:
                return at + 1
            if threshold[at] != threshold[at]:
                return at + 1
            if j >= 0 and n_categories[j] > 0:
                start = np.int64(threshold[at])
                if (
                    threshold[at] != start
                    or start < 0
                    or start + n_categories[j] > branches.shape[0]
                ):
                    return at + 1
                for c in range(start, start + n_categories[j]):
                    if branches[c] >= width and branches[c] != ALL_BRANCHES:
                        return at + 1
            elif width != 2:
                return at + 1
        if seen != n_nodes:
            return base + 1
    return 0
