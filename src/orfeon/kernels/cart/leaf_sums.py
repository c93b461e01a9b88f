"""Node weights and variances of regression trees from their leaves', in one backward pass."""

from __future__ import annotations

from orfeon.utils.jit import kernel


@kernel
def node_weights(tree_start, first_child, n_children, leaf_weight, out):
    leaf = leaf_weight.shape[0]
    for t in range(tree_start.shape[0] - 2, -1, -1):
        base = tree_start[t]
        for at in range(tree_start[t + 1] - 1, base - 1, -1):
            if n_children[at] == 0:
                leaf -= 1
                out[at] = leaf_weight[leaf]
                continue
            child = base + first_child[at]
            total = 0.0
            for c in range(child, child + n_children[at]):
                total += out[c]
            out[at] = total


@kernel
def node_variances(tree_start, first_child, n_children, mean, weight, leaf_variance, out):
    """Variance of each node from its leaves' variances and all weights and means."""
    # Spread within and between the children: all terms are positive, so nothing cancels.
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
                squares = 0.0
                for k in range(mean.shape[1]):
                    difference = mean[c, k] - mean[at, k]
                    squares += difference * difference
                spread += weight[c] * (out[c] + squares)
                total += weight[c]
            out[at] = spread / total if total > 0 else 0.0
