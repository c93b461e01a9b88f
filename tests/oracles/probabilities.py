"""Slow, obvious versions of smoothing, of the inverse of switched labels, and of calibration."""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate, special

from orfeon.ensembles.voting import VotingClassifierMixin


def smoothed(fitted, shares, n_members=None):
    """What an ensemble that is not calibrated makes of its shares: one row after the other."""
    n_members = len(fitted.members_) if n_members is None else n_members
    own_softmax = getattr(fitted, "confidence", "") == "log_odds" and fitted.combine == "own"
    given = fitted.get_params().get("combine")
    is_vote = isinstance(fitted, VotingClassifierMixin)
    of_others = is_vote and given == "soft" and hasattr(fitted.members_, "estimators")
    matrix = switching_of(fitted)
    if fitted.n_classes_ == 1 or own_softmax or (of_others and matrix is None):
        return np.asarray(shares)
    added = 0.0 if of_others else 0.5  # probabilities of others are no counts of votes
    rows = np.asarray(shares).tolist()
    return np.array([smoothed_row(row, n_members, matrix, added) for row in rows])


def switching_of(fitted):
    """Probabilities that labels of a class become those of another, None if none is switched."""
    if fitted.get_params().get("combine") not in ("majority", "plurality", "soft"):
        return None
    if hasattr(fitted, "flip_probabilities_"):
        return fitted.flip_probabilities_
    if not hasattr(fitted, "switch_rate_"):
        return None
    n, rate = fitted.n_classes_, fitted.switch_rate_
    return np.array([[1 - rate if i == j else rate / (n - 1) for j in range(n)] for i in range(n)])


def smoothed_row(row, n_members, matrix=None, added=0.5):
    n_classes, found = len(row), list(row)
    if matrix is None:
        found = [(n_members * share + added / n_classes) / (n_members + added) for share in found]
    else:
        found = [unswitched(share, n_members, matrix, k) for k, share in enumerate(row)]
        found = [share / sum(found) for share in found]
    winner = row.index(max(row))
    if found.index(max(found)) != winner:
        above = [k for k in range(n_classes) if found[k] >= found[winner]]
        level = sum(found[k] for k in above) / len(above)
        for k in above:
            found[k] = level
        found[winner] = level + level * 2**-52
    return found


def mean_by_quadrature(votes, n_members, own, other, a, b):
    """Mean of p, a priori of a beta distribution, by adaptive quadrature; votes may be parts."""

    def height(rate):
        return special.xlogy(votes, rate) + special.xlog1py(n_members - votes, -rate)

    def likely(p, power):
        return p**power * math.exp(height(own * p + other * (1 - p)) - height(votes / n_members))

    sums = [
        integrate.quad(likely, 0, 1, (power,), weight="alg", wvar=(a - 1, b - 1), limit=400,
                       epsabs=0, epsrel=1e-10)[0]
        for power in (0, 1)
    ]  # fmt: skip
    return sums[1] / sums[0]


def unswitched(share, n_members, matrix, k, prior=0.1):
    """Mean probability of class k, of which so many members' votes are a share."""
    n_classes = len(matrix)
    votes = share * n_members
    low = min(max(int(np.floor(votes + 1e-9)), 0), n_members)
    if abs(votes - low) > 1e-6:  # shares of supports, between two numbers of votes
        ends = [unswitched(v / n_members, n_members, matrix, k, prior) for v in (low, low + 1)]
        return ends[0] + (votes - low) * (ends[1] - ends[0])
    own = float(matrix[k, k])
    other = float(sum(matrix[i, k] for i in range(n_classes) if i != k) / (n_classes - 1))
    a, b = prior / n_classes, prior * (n_classes - 1) / n_classes
    fewest, most = sorted([own * n_members, other * n_members])
    if not fewest <= low <= most:  # all votes beyond these count as less than one
        nearest = min(max(low, fewest), most)
        counted = nearest + (low - nearest) / n_members
        return mean_by_quadrature(counted, n_members, own, other, a, b)
    # A vote is for the class with probability own p + other (1 - p): the likelihood is a sum of
    # powers of p and 1 - p, each of which has a beta function as its mean.
    yes = [math.comb(low, i) * own**i * other ** (low - i) for i in range(low + 1)]
    rest = n_members - low
    no = [math.comb(rest, j) * (1 - own) ** j * (1 - other) ** (rest - j) for j in range(rest + 1)]
    total = mean = 0.0
    for m, power in enumerate(np.convolve(yes, no)):
        size = power * math.exp(
            math.lgamma(a + m) + math.lgamma(b + n_members - m) - math.lgamma(a + b + n_members)
        )
        total += size
        mean += size * (a + m) / (a + b + n_members)
    return mean / total


def on_simplex(values):
    """The nearest shares, by halving the interval of the threshold."""
    low, high = min(values) - 1.0, max(values)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(max(v - middle, 0) for v in values) > 1 else (low, middle)
    return [max(v - high, 0.0) for v in values]


def isotonic(scores, labels, weights):
    """Isotonic probabilities at the different scores: the largest mean from the left of the least.

    The probability at a score is the maximum over all starts up to it of the minimum over all ends
    from it on of the mean label.
    """
    values = sorted(set(scores))
    groups = [
        [(y, w) for s, y, w in zip(scores, labels, weights, strict=True) if s == value]
        for value in values
    ]

    def mean(first, last):
        some = [pair for group in groups[first : last + 1] for pair in group]
        return sum(y * w for y, w in some) / sum(w for _, w in some)

    n = len(values)
    found = [max(min(mean(a, b) for b in range(k, n)) for a in range(k + 1)) for k in range(n)]
    return values, found


def venn_abers(scores, labels, weights, new):
    """p0 and p1 of a new score: isotonic probabilities with the new sample as of either class."""
    pair = []
    for label in (0, 1):
        values, found = isotonic([*scores, new], [*labels, label], [*weights, 1.0])
        pair.append(found[values.index(new)])
    return tuple(pair)


def log_loss(probabilities, codes, weights=None):
    weights = [1.0] * len(codes) if weights is None else weights
    total = sum(
        -w * math.log(row[y]) for row, y, w in zip(probabilities, codes, weights, strict=True)
    )
    return total / sum(weights)
