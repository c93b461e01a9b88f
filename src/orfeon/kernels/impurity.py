"""Variances of the nodes of regression trees, from those of their leaves."""

from __future__ import annotations

import numpy as np

from orfeon.kernels.jit import kernel


@kernel
def variances(tree_start, first_child, n_children, mean, weight, leaf_variance, out):
    """Variance of each node, from the weights and means of all and the variances of the leaves.

    Children come after their parents, so one backward pass adds them up. All terms are positive:
    the spread of a node is that of its children plus that between them, so nothing cancels.
    """
    leaf = leaf_variance.shape[0]
    for t in range(tree_start.shape[0] - 2, -1, -1):
        base = tree_start[t]
        for at in range(tree_start[t + 1] - 1, base - 1, -1):
            if n_children[at] == 0:
                leaf -= 1
                out[at] = leaf_variance[leaf]
                continue
            child = base + first_child[at]
            total = 0.0
            spread = 0.0
            for c in range(child, child + n_children[at]):
                gap = mean[c, 0] - mean[at, 0]
                spread += weight[c] * (out[c] + gap * gap)
                total += weight[c]
            out[at] = spread / total if total > 0 else 0.0
    return np.int64(leaf)
