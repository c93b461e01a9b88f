"""Split criteria: how good it is to send some of a node's samples left and the others right.

Weights are integers: counts, or fixed-point numbers if fractional (see :mod:`orfeon.growth`). Their
sums are exact in any order of the rows, and the right child is the node minus the left without
rounding. A *score* orders the splits of one node; ``decrease`` turns it into the weighted impurity
decrease. ``stats`` are class weights, or in regression (weight, moment), where the moment is the
fixed-point sum of weight times centred target.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import array_step

#: Gini of two classes with any weights, as the variance of their codes; of two with packed counts;
#: of up to four with packed counters; of any number; entropy from a table of n log2 n, and with
#: logarithms; variance; classification error.
GINI_PAIR, GINI_TWO, GINI_FEW, GINI, ENTROPY_TABLE, ENTROPY, VARIANCE = -1, 0, 1, 2, 3, 4, 5
ERROR = 6


@array_step
def counter_bits(n_stats):
    """Bits per class if the counters share a word; 0 if there are too many classes."""
    if n_stats > 32:
        return np.int64(0)
    return min(np.int64(64) // n_stats, np.int64(62))


@array_step
def n_log_n(n):
    return n * np.log2(n) if n > 0.0 else 0.0


@array_step
def split_score(criterion, left, total):
    """Score of a split from the statistics of its left side; larger is better."""
    if criterion == VARIANCE:
        weight_left = float(left[0])
        weight_right = float(total[0] - left[0])
        sum_left = float(left[1])
        sum_right = float(total[1] - left[1])
        return sum_left * sum_left / weight_left + sum_right * sum_right / weight_right
    weight = np.int64(0)
    weight_left = np.int64(0)
    for c in range(total.shape[0]):
        weight += total[c]
        weight_left += left[c]
    if criterion == GINI_PAIR:
        on_left = float(left[1])
        on_right = float(total[1] - left[1])
        return on_left * on_left / float(weight_left) + on_right * on_right / float(
            weight - weight_left
        )
    if criterion == GINI_TWO:
        excess = float(left[1]) * float(weight) - float(weight_left) * float(total[1])
        return excess * excess / (float(weight_left) * float(weight - weight_left))
    if criterion <= GINI:
        squares_left = 0.0
        squares_right = 0.0
        for c in range(total.shape[0]):
            on_left = float(left[c])
            on_right = float(total[c] - left[c])
            squares_left += on_left * on_left
            squares_right += on_right * on_right
        return squares_left / float(weight_left) + squares_right / float(weight - weight_left)
    if criterion == ERROR:  # the weight that the majorities of both sides get right
        right_left = np.int64(0)
        right_right = np.int64(0)
        for c in range(total.shape[0]):
            right_left = max(right_left, left[c])
            right_right = max(right_right, total[c] - left[c])
        return float(right_left + right_right)
    score = -n_log_n(float(weight_left)) - n_log_n(float(weight - weight_left))
    for c in range(total.shape[0]):
        score += n_log_n(float(left[c])) + n_log_n(float(total[c] - left[c]))
    return score


@array_step
def decrease(criterion, score, total):
    """Weight times impurity decrease of a split, in units of the integer weights."""
    if criterion == VARIANCE:
        return score - float(total[1]) * float(total[1]) / float(total[0])
    weight = 0.0
    squares = 0.0
    logarithms = 0.0
    majority = 0.0
    for c in range(total.shape[0]):
        weight += float(total[c])
        squares += float(total[c]) * float(total[c])
        majority = max(majority, float(total[c]))
    if criterion == GINI_PAIR:
        return 2.0 * (score - float(total[1]) * float(total[1]) / weight)
    if criterion == GINI_TWO:
        return 2.0 * score / weight
    if criterion <= GINI:
        return score - squares / weight
    if criterion == ERROR:
        return score - majority
    for c in range(total.shape[0]):
        logarithms += n_log_n(float(total[c]))
    return score - logarithms + n_log_n(weight)


@array_step
def is_better(criterion, score, best, weight):
    """Whether a score beats the best one by more than rounding."""
    if criterion == ENTROPY_TABLE or criterion == ENTROPY:
        return score > best + 1e-12 * n_log_n(float(weight))
    return score > best * (1.0 + 1e-15)


@array_step
def best_possible(criterion, total):
    """A score that no split can beat, so that the search may stop there; +inf if unknown."""
    # Two classes: both children pure. Three: one class is split off. More are not worth bounding.
    present = 0
    a = 0.0
    b = 0.0
    c = 0.0
    if criterion >= ENTROPY_TABLE:
        return np.inf
    for k in range(total.shape[0]):
        if total[k] > 0:
            present += 1
            a, b, c = b, c, float(total[k])
    if criterion == GINI_TWO:
        return b * c * (1.0 - 1e-10)
    best = np.inf
    whole = a + b + c
    unsplit = (a * a + b * b + c * c) / whole
    if criterion == GINI_PAIR:
        best = float(total[1])
        unsplit = best * best / whole
    elif present == 2:
        best = whole
    elif present == 3:
        one = a + (b * b + c * c) / (b + c)
        two = b + (a * a + c * c) / (a + c)
        three = c + (a * a + b * b) / (a + b)
        best = max(one, max(two, three))
    # Slightly less, but more than the node has without a split.
    return best - 1e-10 * (best - unsplit)


@array_step
def best_of_two(targets, weights, moments, rows, begin, end, left, total):
    """Score of separating the only two targets of a node; +inf if there are more."""
    one = targets[rows[begin]]
    other = one
    for c in range(2):
        left[c] = 0
    for i in range(begin, end):
        row = rows[np.uint64(i)]
        target = targets[row]
        if target == one:
            left[0] += weights[row]
            left[1] += moments[row]
        elif other == one:
            other = target
        elif target != other:
            return np.inf
    return split_score(np.int64(VARIANCE), left, total)
