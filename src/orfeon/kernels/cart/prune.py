"""Pruning: which nodes of a grown tree become leaves. Parents come before their children."""

from __future__ import annotations

import numpy as np

from orfeon.kernels.routing.route import branch_of
from orfeon.utils.jit import kernel, step


@step
def subtree_sums(first_child, n_children, risk, n_nodes, subtree_risk, n_leaves):
    for node in range(n_nodes - 1, -1, -1):
        if n_children[node] == 0:
            subtree_risk[node] = risk[node]
            n_leaves[node] = 1
            continue
        subtree_risk[node] = 0.0
        n_leaves[node] = 0
        for b in range(n_children[node]):
            child = first_child[node] + b
            subtree_risk[node] += subtree_risk[child]
            n_leaves[node] += n_leaves[child]


@step
def sift_down(heap, key, i, size):
    item = heap[i]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and key[heap[child + 1]] < key[heap[child]]:
            child += 1
        if key[heap[child]] >= key[item]:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = item


@kernel
def weakest_links(first_child, n_children, risk, n_nodes, node_alpha, alphas, risks, leaves):
    """The cost-complexity sequence (Breiman et al. 1984, chapter 3); returns its length.

    ``node_alpha`` receives the alpha at which each node becomes a leaf (+inf for leaves and for
    nodes that vanish with an ancestor). ``alphas``, ``risks`` and ``leaves`` receive the
    breakpoints, from 0 on, with risk and leaves of the smallest tree optimal there. Links equal up
    to rounding are cut together.
    """
    # Cutting the weakest link can only strengthen its ancestors', so the keys of the heap are lower
    # bounds: a link is recomputed when it comes up, and goes back if it grew (a lazy heap).
    subtree_risk = np.empty(n_nodes)
    n_leaves = np.empty(n_nodes, np.int64)
    subtree_sums(first_child, n_children, risk, n_nodes, subtree_risk, n_leaves)
    parent = np.full(n_nodes, -1)
    link = np.empty(n_nodes)
    gone = np.zeros(n_nodes, np.bool_)
    stack = np.empty(n_nodes, np.int64)
    heap = np.empty(n_nodes, np.int64)
    root = np.int64(0)
    size = np.int64(0)
    for node in range(n_nodes):
        node_alpha[node] = np.inf
        for b in range(n_children[node]):
            parent[first_child[node] + b] = node
        if n_children[node] > 0:
            link[node] = (risk[node] - subtree_risk[node]) / (n_leaves[node] - 1)
            heap[size] = node
            size += 1
    for i in range(size // 2, -1, -1):
        sift_down(heap, link, i, size)
    alphas[0] = 0.0
    step = 0
    tolerance = 1e-13 * risk[0]
    while size > 0:
        node = heap[0]
        if not gone[node]:
            fresh = (risk[node] - subtree_risk[node]) / (n_leaves[node] - 1)
            if fresh > link[node]:
                link[node] = fresh
                sift_down(heap, link, root, size)
                continue
            if fresh > alphas[step] + tolerance:
                risks[step] = subtree_risk[0]
                leaves[step] = n_leaves[0]
                step += 1
                alphas[step] = fresh
            node_alpha[node] = alphas[step]
            mark_subtree(first_child, n_children, node, gone, stack)
            more_risk = risk[node] - subtree_risk[node]
            fewer = n_leaves[node] - 1
            at = node
            while at >= 0:
                subtree_risk[at] += more_risk
                n_leaves[at] -= fewer
                at = parent[at]
        size -= 1
        heap[0] = heap[size]
        sift_down(heap, link, root, size)
    risks[step] = subtree_risk[0]
    leaves[step] = n_leaves[0]
    return step + 1


@step
def mark_subtree(first_child, n_children, node, marked, stack):
    stack[0] = node
    depth = 1
    while depth > 0:
        depth -= 1
        at = stack[depth]
        marked[at] = True
        for b in range(n_children[at]):
            stack[depth] = first_child[at] + b
            depth += 1


@kernel
def reduced_error_cuts(first_child, n_children, error, n_nodes, tolerance, cut, subtree_error):
    """Reduced-error pruning, bottom up: cut a node whose leaves err no less than itself."""
    # ``error``: pruning weight that each node's label gets wrong; within ``tolerance`` is equal.
    for node in range(n_nodes - 1, -1, -1):
        cut[node] = False
        if n_children[node] == 0:
            subtree_error[node] = error[node]
            continue
        total = 0.0
        for b in range(n_children[node]):
            total += subtree_error[first_child[node] + b]
        if total >= error[node] - tolerance:
            cut[node] = True
            total = error[node]
        subtree_error[node] = total


@kernel
def reachable(tree_start, first_child, n_children, cut, keep):
    """Mark the nodes left when the cut ones become leaves."""
    for t in range(tree_start.shape[0] - 1):
        base = tree_start[t]
        for node in range(tree_start[t + 1] - base):
            keep[base + node] = node == 0
        for node in range(tree_start[t + 1] - base):
            at = base + node
            if keep[at] and not cut[at]:
                for b in range(n_children[at]):
                    keep[base + first_child[at] + b] = True


@kernel
def errors_on_path(feature, threshold, first_child, n_children, missing, label, is_categorical,
                   branches, projection_start, projection_feature, projection_weight,
                   X, y, weights, error):  # fmt: skip
    """Add to ``error`` the weight of the rows through each node that its label gets wrong."""
    for i in range(X.shape[0]):
        if weights[i] == 0.0:
            continue
        node = 0
        while True:
            if label[node] != y[i]:
                error[node] += weights[i]
            if n_children[node] == 0:
                break
            branch = branch_of(
                node, X, i, feature, threshold, missing, is_categorical, branches,
                projection_start, projection_feature, projection_weight,
            )  # fmt: skip
            node = first_child[node] + branch
