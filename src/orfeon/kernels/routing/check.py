"""Whether arrays from a file describe trees, so that the other kernels stay within their bounds."""

from __future__ import annotations

import numpy as np

from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.jit import kernel


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
