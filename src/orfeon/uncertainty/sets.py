"""Sets of classes that hold the true one with a given probability.

Classes are taken from the most probable down until the samples that the members did not see say
that it is enough: a class is in the set if the probability of those above it is at most a
threshold, which is a quantile of the same numbers of the training samples (Romano, Sesia and
Candès 2020). The most probable class is always in. Ties make such sets cover more than asked for;
with a random share of the class's own probability added they cover exactly that, and may be empty.

References
----------
Romano, Sesia and Candès (2020). Classification with valid and adaptive coverage. Advances in
Neural Information Processing Systems 33.

Angelopoulos, Bates, Malik and Jordan (2021). Uncertainty sets for image classifiers using conformal
prediction. International Conference on Learning Representations.
"""

from __future__ import annotations

import numpy as np

from orfeon.uncertainty.ranks import upper_bound
from orfeon.utils.types import Floats, Integers, Mask

#: Sums of shares are compared after rounding to so many digits: equal shares must tie.
_DIGITS = 10


def class_scores(shares: Floats, penalty: float = 0.0, part: Floats | None = None) -> Floats:
    """Probability of all classes that are more probable, of each row and class."""
    order = np.argsort(-shares, axis=1, kind="stable")
    ordered = np.take_along_axis(shares, order, axis=1)
    before = np.cumsum(ordered, axis=1) - ordered
    before += penalty * np.arange(shares.shape[1])
    if part is not None:
        before += part[:, None] * ordered
    scores = np.empty_like(shares)
    np.put_along_axis(scores, order, before, axis=1)
    return np.round(scores, _DIGITS)


def score_limits(
    scores: Floats, classes: Integers, weights: Floats, coverage: float, *, by_class: bool
) -> Floats:
    """The largest score in a set, for each class."""
    n_classes = scores.shape[1]
    own = scores[np.arange(len(classes)), classes]
    if not by_class:
        return np.full(n_classes, upper_bound(own, weights, coverage))
    limits = np.full(n_classes, np.inf)
    for code in range(n_classes):
        mine = classes == code
        if np.ceil((weights[mine].sum() + 1.0) * coverage - 1e-9) <= weights[mine].sum():
            limits[code] = upper_bound(own[mine], weights[mine], coverage)
    return limits


def sets_of(scores: Floats, limits: Floats) -> Mask:
    """The classes whose score is within their limit, of shape (n_rows, n_classes)."""
    return np.asarray(scores <= limits)
