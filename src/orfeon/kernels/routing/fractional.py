"""Rows that go down several branches, weighted by their shares of the training samples (C4.5)."""

from __future__ import annotations

import numpy as np

from orfeon.kernels.routing.route import ALL_BRANCHES, branch_of
from orfeon.utils.jit import kernel

_ROOT_STACK = 64


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
