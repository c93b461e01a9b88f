"""Decide only where the risk of a wrong decision is small.

Rows are accepted if the share of the predicted class is at least a threshold: the lowest one found
by bisection at which the error among accepted training samples, predicted by members that did not
see them, is at most the stated risk with a given confidence. The bound of that error is Clopper and
Pearson's, at a significance divided by the number of bisections (Geifman and El-Yaniv 2017).

References
----------
Geifman and El-Yaniv (2017). Selective classification for deep neural networks. Advances in Neural
Information Processing Systems 30.

Clopper and Pearson (1934). The use of confidence or fiducial limits illustrated in the case of the
binomial. Biometrika 26(4), 404-413.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from orfeon.utils.types import Floats, Mask


def risk_bound(n_wrong: float, n_accepted: float, significance: float) -> float:
    """Upper bound of a binomial rate by Clopper and Pearson."""
    if n_wrong >= n_accepted:
        return 1.0
    return float(beta.ppf(1.0 - significance, n_wrong + 1.0, n_accepted - n_wrong))


def confidence_threshold(
    confidences: Floats, is_wrong: Mask, weights: Floats, max_risk: float, confidence: float
) -> float:
    """The lowest threshold found whose accepted samples have a bound within ``max_risk``."""
    # Rounded as the shares of new rows are, so that equal shares are equal.
    levels, level = np.unique(confidences, return_inverse=True)
    n_at = np.bincount(level, weights=weights)
    wrong_at = np.bincount(level, weights=weights * is_wrong)
    n_accepted = np.cumsum(n_at[::-1])[::-1]
    n_wrong = np.cumsum(wrong_at[::-1])[::-1]
    n_tests = max(1, int(np.ceil(np.log2(len(levels) + 1))))
    significance = (1.0 - confidence) / n_tests
    low, high, found = 0, len(levels) - 1, None
    least = 1.0
    for _ in range(n_tests):
        middle = (low + high) // 2
        bound = risk_bound(n_wrong[middle], n_accepted[middle], significance)
        least = min(least, bound)
        if bound <= max_risk:
            found, high = middle, middle - 1
        else:
            low = middle + 1
        if low > high:
            break
    if found is None:
        raise ValueError(
            f"max_risk={max_risk:g} cannot be reached with confidence={confidence:g}: by "
            f"{n_accepted[0]:,.6g} samples with out-of-bag predictions, the lowest bound of the "
            f"error among confident ones is {least:.3g}; raise max_risk, lower confidence, or "
            "train on more samples."
        )
    return float(levels[found])


def confidences_of(shares: Floats) -> Floats:
    """The share of the most probable class, rounded so that equal shares are equal."""
    return np.asarray(np.round(shares.max(axis=1), 10))
