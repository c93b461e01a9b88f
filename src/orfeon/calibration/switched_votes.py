"""Mean class shares given the votes of members that were trained on switched labels.

If a label of class i becomes one of class j with probability P[i, j], members that reproduce such
labels vote for class j with probability q = o + (d - o) p, where p is the probability of j, d is
P[j, j], and o is P[i, j] of the other classes i. Solving for p (:mod:`.label_noise`) enlarges the
chance of T votes by 1 / (d - o), and what falls below 0 is moved there: with many classes, much of
the shares is chance. Here p is the mean given the votes: T of them, of which a share is for j, and
a prior that puts most of its weight on probabilities near 0 and 1. Then the classes' shares are
made to sum to 1. Calibrators learn from the solution, which they bend as it suits the samples.

No p has a share beyond o and d but by chance: where leaves are coarse, members vote for the most
frequent label, and not as the labels are. Such votes are no surer than p = 0 or 1 would make them,
so all those beyond count as less than one.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import roots_jacobi

from orfeon.rules.shares import row_sums
from orfeon.utils.types import Floats

#: Samples that the prior counts for, the same for each class: a beta distribution of each share.
#: On 15 real tables, with 100 to 1,000 members, 0.05 and this had the lowest log loss of seven.
PRIOR = 0.1
#: A smaller difference leaves nothing but noise: shares are not changed then.
_LEAST = 1e-6
#: Points of quadrature, which is exact for fewer than twice as many votes.
_POINTS = 128
#: The most shares of votes between which means are interpolated.
_MOST_SHARES = 256


def mean_given_votes(shares: Floats, switching: Floats, n_members: float | Floats) -> Floats:
    """Class shares as of labels that were not switched; none is 0 or 1.

    Shares of votes of so many members, or of so many for each row, that do nothing but guess stay
    as they are.
    """
    if is_noise(switching):
        return shares
    if np.ndim(n_members):
        each = np.asarray(n_members, dtype=np.float64)
        found = np.empty_like(shares)
        for n in np.unique(each).tolist():
            found[each == n] = mean_given_votes(shares[each == n], switching, float(n))
        return found
    tables = mean_shares(switching, float(np.asarray(n_members)))
    found = np.column_stack(
        [np.interp(column, *table) for column, table in zip(shares.T, tables, strict=True)]
    )
    return np.asarray(found / row_sums(found)[:, None])


def is_noise(switching: Floats) -> bool:
    """Whether labels say nothing of some class."""
    return any(abs(own - other) < _LEAST for other, own in _rates(switching))


def mean_shares(switching: Floats, n_members: float) -> list[tuple[Floats, Floats]]:
    """For each class, ascending shares of votes, and its mean probability given each of them."""
    n_classes = len(switching)
    return [_mean_shares(other, own, n_members, n_classes) for other, own in _rates(switching)]


def _rates(switching: Floats) -> list[tuple[float, float]]:
    """For each class, the probability that another's label becomes its own, or its own stays."""
    own = np.diagonal(switching)
    others = (switching.sum(axis=0) - own) / max(len(switching) - 1, 1)
    return [(float(other), float(one)) for other, one in zip(others, own, strict=True)]


@lru_cache(maxsize=4096)
def _mean_shares(
    other: float, own: float, n_members: float, n_classes: int
) -> tuple[Floats, Floats]:
    weight, middle = _prior(n_classes)
    shares = np.linspace(0.0, 1.0, int(min(max(np.ceil(n_members), 1.0), _MOST_SHARES)) + 1)
    counted = np.clip(shares, min(other, own), max(other, own))
    counted += (shares - counted) / n_members
    rate = np.clip(other + (own - other) * middle, 1e-300, 1.0 - 2.0**-53)
    log_odds = np.log(rate) - np.log1p(-rate)
    likely = n_members * (counted[:, None] * log_odds + np.log1p(-rate))
    likely = weight * np.exp(likely - likely.max(axis=1, keepdims=True))
    return shares, np.asarray((likely * middle).sum(axis=1) / likely.sum(axis=1))


@lru_cache(maxsize=64)
def _prior(n_classes: int) -> tuple[Floats, Floats]:
    """Weights and points of the prior's Gauss quadrature."""
    a, b = PRIOR / n_classes, PRIOR * (n_classes - 1) / n_classes
    points, weight = roots_jacobi(_POINTS, b - 1.0, a - 1.0)
    return np.asarray(weight), np.asarray((points + 1.0) / 2.0)
