"""The leaf that each training row reaches in trees grown a moment ago.

Trees of a round route the rows that they are grown from once. To pack their nodes as
:mod:`orfeon.kernels.routing` does would take longer than to route few rows.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import kernel


@kernel
def training_leaves(
    starts, threshold, feature, first_child, missing, branches, n_categories, X, leaves
):
    """Fill ``leaves`` (trees, rows); tests have two branches, and categories are known."""
    # All rows take a step, then the next: no step waits for that of another row. A leaf is its own
    # first child.
    for t in range(starts.shape[0] - 1):
        root = np.uint64(starts[t])
        own = leaves[t]
        for i in range(X.shape[0]):
            own[np.uint64(i)] = 0
        moves = True
        while moves:
            moves = False
            for i in range(X.shape[0]):
                row = np.uint64(i)
                node = root + np.uint64(own[row])
                child = first_child[node]
                if child == own[row]:
                    continue
                f = np.uint64(feature[node])
                x = X[row, f]
                branch = np.int64(x > threshold[node])
                if x != x:
                    branch = np.int64(missing[node])
                elif n_categories[f] > 0:
                    branch = np.int64(branches[np.uint64(threshold[node] + x)])
                own[row] = child + branch
                moves = True
