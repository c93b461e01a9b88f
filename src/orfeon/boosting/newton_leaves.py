"""Leaf values of Newton trees.

The value of a leaf is the moment of its samples over their hessian plus ``l2``; ``l1`` takes its
share from the moment first. Losses that count every second derivative as 1 keep the exact minimum
of the leaf, in the same proportion to it as for the squared error.

References
----------
Chen and Guestrin (2016). XGBoost: a scalable tree boosting system. Knowledge Discovery and Data
Mining, 785-794.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.boosting.losses import LARGEST_STEP, Loss
from orfeon.growth.newton import Newton
from orfeon.kernels.gradient import leaf_updates
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import AnyIntegers, Floats


def newton_leaf_values(
    loss: Loss,
    newton: Newton,
    y: npt.NDArray[Any],
    scores: Floats,
    weights: Floats,
    gradients: Floats,
    hessians: Floats,
    leaves: AnyIntegers,
    bounds: Floats | None,
    n_leaves: int,
) -> Floats:
    """Value of each leaf, before shrinkage, within its bounds."""
    moment, hessian = np.zeros((2, n_leaves))
    leaf_updates.weighted_sums(leaves, gradients, hessians, kernel_view(weights), moment, hessian)
    soft = np.sign(moment) * np.maximum(np.abs(moment) - newton.l1, 0.0)
    penalized = loss.penalized_leaf_values(
        y, scores, weights, leaves, n_leaves, newton.l2, newton.l1
    )
    if loss.has_constant_hessian:
        exact = loss.leaf_values(y, scores, weights, gradients, leaves, n_leaves)
        ones = np.ones(n_leaves)
        kept = np.divide(soft, moment, out=ones.copy(), where=moment != 0.0)
        if newton.l1 > 0.0:
            kept[moment == 0.0] = 0.0
        shrunk = np.divide(hessian, hessian + newton.l2, out=ones, where=hessian > 0.0)
        values = exact * kept * shrunk
    elif penalized is not None:
        values = penalized
    else:
        below = hessian + newton.l2
        far = np.abs(soft) >= LARGEST_STEP * below
        values = np.divide(soft, below, out=np.zeros_like(soft), where=~far)
        values = np.where(far, np.sign(soft) * LARGEST_STEP, values)
    return values if bounds is None else np.asarray(np.clip(values, bounds[:, 0], bounds[:, 1]))
