"""Class shares of members that were trained on labels switched at random, as of the true labels.

If a label of class i becomes one of class j with probability P[i, j], members that reproduce such
labels vote in shares q = P' p where classes have probabilities p. So p is the inverse of P' times
q, moved to the nearest shares that are not negative. The inverse enlarges the deviations of a vote
of T members by 1 / d, d the least eigenvalue of P: they count as T d^2 members without noise.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.types import Floats

#: A smaller eigenvalue leaves nothing but noise: shares are not changed then.
_LEAST = 1e-6


def least_eigenvalue(switching: Floats) -> float:
    """The factor by which a vote is flattened the most."""
    return float(np.abs(np.linalg.eigvals(switching)).min())


def inverse_of(switching: Floats) -> Floats | None:
    """The inverse, None where nothing but noise would be left."""
    if least_eigenvalue(switching) < _LEAST:
        return None
    return np.asarray(np.linalg.inv(switching))


def without_noise(shares: Floats, switching: Floats) -> Floats:
    """Shares of the votes as of labels that were not switched."""
    inverse = inverse_of(switching)
    if inverse is None:
        return shares
    found = np.zeros_like(shares)
    for column, of_class in zip(shares.T, inverse, strict=True):
        found += column[:, None] * of_class
    return nearest_shares(found)


def nearest_shares(values: Floats) -> Floats:
    """The nearest rows without negative values that sum to 1, by Euclidean distance.

    They are the values minus a threshold, or 0 (Duchi and others 2008), so the order of the classes
    stays.
    """
    descending = -np.sort(-values, axis=1)
    excess = np.cumsum(descending, axis=1) - 1.0
    size = np.arange(1, values.shape[1] + 1)
    n_positive = np.maximum((descending * size > excess).sum(axis=1), 1)
    threshold = excess[np.arange(len(values)), n_positive - 1] / n_positive
    return np.asarray(np.maximum(values - threshold[:, None], 0.0))
