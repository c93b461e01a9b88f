"""Intervals, quantiles, sets and standard errors as their definitions have them, row by row."""

from __future__ import annotations

import math

import numpy as np


def order_statistic(values, rank):
    """The rank-th smallest, from 1."""
    return sorted(values)[rank - 1]


def jackknife_plus_after_bootstrap(answers, own, out, y, coverage):
    """Kim, Xu and Barber (2020): a loop over rows and samples.

    ``answers`` are those for new rows and ``own`` those for the training samples, members first.
    """
    n = len(y)
    rank = math.ceil((n + 1) * coverage - 1e-9)
    found = []
    for x in range(answers.shape[1]):
        lower, upper = [], []
        for i in range(n):
            members = [t for t in range(len(out)) if out[t, i]]
            error = abs(y[i] - np.mean([own[t, i] for t in members]))
            mean = np.mean([answers[t, x] for t in members])
            lower.append(mean - error)
            upper.append(mean + error)
        found.append((-order_statistic([-v for v in lower], rank), order_statistic(upper, rank)))
    return np.array(found)


def weighted_quantile(weights, y, level):
    """The least target with at least this share of the weight at or below it."""
    total = sum(weights)
    for value in sorted(set(y)):
        if sum(w for w, target in zip(weights, y, strict=True) if target <= value) >= (
            level * total - 1e-10 * total
        ):
            return value
    raise AssertionError


def infinitesimal_jackknife(answers, counts):
    """Wager, Hastie and Efron (2014), eq. 5 and 7, with the drawn counts' own variance."""
    n_members, n_rows = answers.shape
    found = []
    for x in range(n_rows):
        t = answers[:, x] - answers[:, x].mean()
        raw = sum(
            (((counts[:, i] - counts[:, i].mean()) * t).mean()) ** 2 for i in range(counts.shape[1])
        )
        noise = sum(counts[:, i].var() for i in range(counts.shape[1])) * (t**2).mean() / n_members
        found.append(raw - noise)
    return np.array(found)


def adaptive_set(shares, known, classes, coverage):
    """Classes of which those more probable have at most the limit, for one row."""

    def before(row, c):
        order = sorted(range(len(row)), key=lambda k: (-row[k], k))
        return round(sum(row[k] for k in order[: order.index(c)]), 10)

    scores = [before(row, c) for row, c in zip(known, classes, strict=True)]
    limit = order_statistic(scores, math.ceil((len(scores) + 1) * coverage - 1e-9))
    return [before(shares, c) <= limit for c in range(len(shares))]
