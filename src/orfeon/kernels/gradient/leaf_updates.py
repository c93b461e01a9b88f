"""What a round does with the leaf of each row: sums by leaf, and new scores."""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import kernel


@kernel
def newton_steps(leaves, residuals, weights, n_leaves, largest):
    """The sum of weight times residual r of each leaf over that of weight times |r| (1 - |r|).

    It is at most ``largest``, also where the second sum is zero.
    """
    total = np.zeros(n_leaves)
    curvature = np.zeros(n_leaves)
    for k in range(residuals.shape[0]):
        for i in range(residuals.shape[1]):
            row = np.uint64(i)
            leaf = np.uint64(leaves[k, row])
            residual = residuals[k, row]
            size = abs(residual)
            total[leaf] += residual * weights[row]
            curvature[leaf] += size * (1.0 - size) * weights[row]
    for i in range(n_leaves):
        leaf = np.uint64(i)
        if abs(total[leaf]) < largest * curvature[leaf]:
            total[leaf] /= curvature[leaf]
        elif total[leaf] == total[leaf]:
            total[leaf] = largest * (np.float64(total[leaf] > 0.0) - np.float64(total[leaf] < 0.0))
    return total


@kernel
def weighted_sums(leaves, gradients, hessians, weights, moment, curvature):
    """Add weight times negative gradient, and weight times hessian, to the sums of its leaf."""
    for k in range(gradients.shape[0]):
        for i in range(gradients.shape[1]):
            row = np.uint64(i)
            leaf = np.uint64(leaves[k, row])
            moment[leaf] += gradients[k, row] * weights[row]
            curvature[leaf] += hessians[k, row] * weights[row]


@kernel
def add_values(leaves, values, begin, end, scores):
    """Add the value of its leaf to each score of some rows."""
    for k in range(scores.shape[0]):
        for i in range(begin, end):
            row = np.uint64(i)
            scores[k, row] += values[np.uint64(leaves[k, row])]
