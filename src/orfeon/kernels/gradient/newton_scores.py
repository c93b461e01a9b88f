"""How good a split of a Newton tree is, and the values of its leaves.

A node has the sums of its samples' negative gradients (its *moment*) and second derivatives (its
*hessian*), both times the weights. A leaf of value v changes the loss, up to third order and with
penalties, by half of ``(hessian + l2) v^2 - 2 moment v + 2 l1 |v|``. A score is minus that sum over
both sides, at the best values; it is compared with the node's own.

References
----------
Chen and Guestrin (2016). XGBoost: a scalable tree boosting system. Knowledge Discovery and Data
Mining, 785-794.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.record import record
from orfeon.utils.jit import array_step

#: A score must exceed the best one by more than the rounding of the comparison.
TIED = 1e-15
#: The share of a node's score that a gain must exceed: less may be rounding.
LEAST_GAIN = 1e-10
#: In place of a score: the cut is not allowed.
NOT_ALLOWED = -np.inf


@record
class Rule:
    """Penalties and limits, in the units of a tree's sums."""

    l2: float
    l1: float
    min_hessian: int  # of a leaf
    min_leaf: int  # weight of a leaf
    min_split: int
    min_gain: float
    cat_smooth: float
    max_onehot: int  # the most categories that are each compared with all others
    max_depth: int
    max_leaves: int
    max_features: int
    is_plain: int  # neither l1 nor bounds of values
    has_signs: int  # whether some features are monotone
    interactions: int  # how paths limit the features of a node
    is_symmetric: int  # whether all nodes of a level have the same test


@array_step
def soft(moment, l1):
    """The moment, nearer to zero by ``l1``."""
    return max(moment - l1, 0.0) + min(moment + l1, 0.0)


@array_step
def best_value(rule, moment, hessian, low, high):
    """The best value of a leaf between two bounds; 0 without curvature."""
    curvature = hessian + rule.l2
    value = soft(moment, rule.l1) / curvature if curvature > 0.0 else 0.0
    return min(max(value, low), high)


@array_step
def score_at(rule, moment, hessian, value):
    return 2.0 * (moment * value - rule.l1 * abs(value)) - (hessian + rule.l2) * value * value


@array_step
def own_score(rule, moment, hessian, low, high):
    """Score of a node that is not split."""
    return score_at(rule, moment, hessian, best_value(rule, moment, hessian, low, high))


@array_step
def least_score(rule, moment, hessian, low, high):
    """The score that a split must exceed."""
    score = own_score(rule, moment, hessian, low, high)
    return score + max(rule.min_gain, LEAST_GAIN * abs(score))


@array_step
def score_of(rule, moment_left, hessian_left, moment, hessian, sign, low, high):
    """Score of a split by the sums on the left and of the node; -inf if values are out of order."""
    moment_right = moment - moment_left
    hessian_right = hessian - hessian_left
    if rule.is_plain:
        left = hessian_left + rule.l2
        right = hessian_right + rule.l2
        crossed = moment_left * moment_left * right + moment_right * moment_right * left
        return crossed / (left * right)
    on_left = best_value(rule, moment_left, hessian_left, low, high)
    on_right = best_value(rule, moment_right, hessian_right, low, high)
    if sign * (on_right - on_left) < 0.0:
        return NOT_ALLOWED
    return score_at(rule, moment_left, hessian_left, on_left) + score_at(
        rule, moment_right, hessian_right, on_right
    )


@array_step
def bar_above(best):
    """What a score must exceed to be better than ``best``."""
    return best + TIED * abs(best)


@array_step
def write_bounds(rule, bounds, node, first_child, sign, left, right):
    """Write the bounds of two children, whose values are between those of their parent."""
    # ``left`` and ``right`` are the values of the children. A monotone split keeps everything below
    # on its side of the middle.
    for child in range(first_child, first_child + 2):
        bounds[child, 0] = bounds[node, 0]
        bounds[child, 1] = bounds[node, 1]
    if sign != 0:
        middle = 0.5 * (left + right)
        upper = first_child if sign > 0 else first_child + 1
        bounds[upper, 1] = middle
        bounds[2 * first_child + 1 - upper, 0] = middle
