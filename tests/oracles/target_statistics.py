"""Ordered target statistics as a loop over the samples before each one."""

from __future__ import annotations

import math


def ordered_statistics(levels, targets, weights, order, strength):
    """The statistic of each sample; ``order`` names samples, of which copies count as one.

    A missing level is NaN, and all missing levels are one.
    """
    total = math.fsum(weights)
    prior = math.fsum(w * y for w, y in zip(weights, targets, strict=True)) / total
    found = [math.nan] * len(levels)
    for place, i in enumerate(order):
        before = [j for j in order[:place] if same_level(levels[j], levels[i])]
        found[i] = shrunken_mean(
            [targets[j] for j in before], [weights[j] for j in before], prior, strength
        )
    return found


def statistics_of_all(levels, targets, weights, asked, strength):
    """The statistics of rows to predict."""
    total = math.fsum(weights)
    prior = math.fsum(w * y for w, y in zip(weights, targets, strict=True)) / total
    found = []
    for level in asked:
        own = [j for j in range(len(levels)) if same_level(levels[j], level)]
        found.append(
            shrunken_mean([targets[j] for j in own], [weights[j] for j in own], prior, strength)
        )
    return found


def shrunken_mean(targets, weights, prior, strength):
    total = math.fsum(w * y for w, y in zip(weights, targets, strict=True))
    return (total + prior * strength) / (math.fsum(weights) + strength)


def same_level(one, other):
    return one == other or (one != one and other != other)
