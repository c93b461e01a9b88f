"""Weighted quantiles of the training targets in the leaves that rows reach."""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import kernel


@kernel
def leaf_quantiles(leaves, taken, start, ranks, shares, targets, levels, found):
    """Quantiles of the training targets, weighted by the leaves that each row reaches.

    Entries ``start[leaf]`` to ``start[leaf + 1]`` of ``ranks`` and ``shares`` are the samples in a
    leaf: their positions among the sorted ``targets``, and their shares of its weight. Trees
    whose bit in ``taken`` is 0 are left out; rows without any weight get NaN.
    """
    n_rows, n_trees = leaves.shape
    weights = np.zeros(len(targets))
    touched = np.empty(len(targets), np.int64)
    for row in range(n_rows):
        n_touched, total = 0, 0.0
        for t in range(n_trees):
            if (taken[row, t >> 3] >> (t & 7)) & 1:
                leaf = leaves[row, t]
                for entry in range(start[leaf], start[leaf + 1]):
                    rank = ranks[entry]
                    if weights[rank] == 0.0:
                        touched[n_touched] = rank
                        n_touched += 1
                    weights[rank] += shares[entry]
                    total += shares[entry]
        if 8 * n_touched > len(targets):  # in order without sorting
            n_touched = 0
            for rank in range(len(targets)):
                if weights[rank] > 0.0:
                    touched[n_touched] = rank
                    n_touched += 1
        else:
            touched[:n_touched].sort()
        running, k = 0.0, 0
        for at in range(n_touched):
            running += weights[touched[at]]
            # Rounding must not skip a value that exactly reaches the level.
            while k < len(levels) and running >= levels[k] * total - 1e-10 * total:
                found[row, k] = targets[touched[at]]
                k += 1
            weights[touched[at]] = 0.0
        while k < len(levels):
            found[row, k] = targets[touched[n_touched - 1]] if n_touched else np.nan
            k += 1
