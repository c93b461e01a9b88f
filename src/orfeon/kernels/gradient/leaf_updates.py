"""What a round does with the leaf of each row: sums by leaf, and new scores."""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import kernel


@kernel
def newton_sums(leaves, residuals, weights, total, curvature):
    """Add weight times residual r, and weight times |r| (1 - |r|), to the sums of its leaf."""
    for k in range(residuals.shape[0]):
        for i in range(residuals.shape[1]):
            row = np.uint64(i)
            leaf = np.uint64(leaves[k, row])
            residual = residuals[k, row]
            size = abs(residual)
            total[leaf] += residual * weights[row]
            curvature[leaf] += size * (1.0 - size) * weights[row]


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
