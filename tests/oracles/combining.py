"""From votes to a decision, one row and one member at a time.

``votes`` is what T members say of one row: class codes, ``None`` for a member that says nothing.
``supports`` is a list of K numbers a member, or ``None``. Where the numbers are fractions, so is
what comes back. Ties: the lowest class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Number = Any  # a whole number, a fraction or a float
Votes = Sequence[int | None]
Supports = Sequence[Sequence[Number] | None]


# -- votes -----------------------------------------------------------------------------------------


def first_largest(scores: Sequence[Number]) -> int:
    """The place of the largest number, the first of those that are tied.

    Examples
    --------
    >>> first_largest([1, 3, 3])
    1
    """
    best = 0
    for k in range(len(scores)):
        if scores[k] > scores[best]:
            best = k
    return best


def shares(scores: Sequence[Number]) -> list[Number]:
    """Scores divided by their sum; all alike if the sum is nothing.

    Examples
    --------
    >>> shares([Fraction(1), Fraction(3)]), shares([0, 0])
    ([Fraction(1, 4), Fraction(3, 4)], [Fraction(1, 2), Fraction(1, 2)])
    """
    total = sum(scores)
    if total == 0:
        return [Fraction(1, len(scores)) for _ in scores]
    return [score / total for score in scores]


def tally(
    votes: Votes, n_classes: int, member_weights: Sequence[Number] | None = None
) -> list[Number]:
    """The number, or the weight, of the votes for each class.

    Examples
    --------
    >>> tally([2, 0, None, 2], 3), tally([2, 0, None, 2], 3, [1, 5, 9, 2])
    ([1, 0, 2], [5, 0, 3])
    """
    counts: list[Number] = [0] * n_classes
    for t, vote in enumerate(votes):
        if vote is not None:
            counts[vote] += 1 if member_weights is None else member_weights[t]
    return counts


def plurality(votes: Votes, n_classes: int, member_weights: Any = None) -> int:
    """The class of most votes.

    Examples
    --------
    >>> plurality([2, 1, 1, 2, 0], 3), plurality([None, None], 3)
    (1, 0)
    """
    return first_largest(tally(votes, n_classes, member_weights))


def strict_majority(votes: Votes, n_classes: int, member_weights: Any = None) -> int | None:
    """The class of more than half of the votes cast; None where no class has it.

    Examples
    --------
    >>> strict_majority([1, 1, 0, None], 2), strict_majority([1, 1, 0, 2], 3)
    (1, None)
    """
    counts = tally(votes, n_classes, member_weights)
    for k in range(n_classes):
        if 2 * counts[k] > sum(counts):
            return k
    return None


def majority(votes: Votes, n_classes: int, member_weights: Any = None) -> int:
    """The class of more than half of the votes, or else of most.

    Examples
    --------
    >>> majority([0, 1, 1], 2), majority([2, 2, 1, 0], 3)
    (1, 2)
    """
    winner = strict_majority(votes, n_classes, member_weights)
    return plurality(votes, n_classes, member_weights) if winner is None else winner


def smoothed_rate(hits: Number, total: Number, added: Number, n_outcomes: int) -> Fraction:
    """A rate with ``added`` imagined cases of each of the possible outcomes (Laplace).

    Examples
    --------
    >>> smoothed_rate(3, 4, 1, 2), smoothed_rate(0, 0, Fraction(1, 2), 2)
    (Fraction(2, 3), Fraction(1, 2))
    """
    return (Fraction(hits) + Fraction(added)) / (Fraction(total) + n_outcomes * Fraction(added))


def hits(answers: Votes, y: Sequence[int], weights: Sequence[Number]) -> tuple[Number, Number]:
    """The weight of the samples on which a member is right, and of those on which it votes.

    Examples
    --------
    >>> hits([0, 1, None, 1], [0, 0, 1, 1], [1, 2, 5, 3])
    (Fraction(4, 1), Fraction(6, 1))
    """
    right, cast = Fraction(0), Fraction(0)
    for vote, label, weight in zip(answers, y, weights, strict=True):
        if vote is not None:
            cast += weight
            right += weight if vote == label else 0
    return right, cast


def log_odds(accuracy: Number, n_classes: int = 2) -> float:
    """The best weight of an independent member, whose errors fall on any other class alike.

    The right class gains ``log p``, every other ``log (1 - p) / (K - 1)``: the difference counts.

    Examples
    --------
    >>> two, three = log_odds(Fraction(3, 4)), log_odds(Fraction(1, 2), 3)
    >>> round(math.exp(two), 9), round(math.exp(three), 9)
    (3.0, 2.0)
    """
    return math.log(accuracy) - math.log((1 - Fraction(accuracy)) / (n_classes - 1))


# -- supports --------------------------------------------------------------------------------------


def answered(values: Sequence[Any]) -> list[Any]:
    """What is there, without the members that say nothing.

    Examples
    --------
    >>> answered([3, None, 1])
    [3, 1]
    """
    return [value for value in values if value is not None]


def mean(values: Sequence[Number], weights: Sequence[Number] | None = None) -> Number:
    """The weighted mean of numbers.

    Examples
    --------
    >>> mean([Fraction(1), Fraction(4)]), mean([Fraction(1), Fraction(4)], [2, 1])
    (Fraction(5, 2), Fraction(2, 1))
    """
    weights = [1] * len(values) if weights is None else weights
    above, below = Fraction(0), Fraction(0)
    for value, weight in zip(values, weights, strict=True):
        above += weight * value
        below += weight
    return above / below


def median(values: Sequence[Number]) -> Number:
    """The middle number, or the mean of the two in the middle.

    Examples
    --------
    >>> median([9, 1, 4]), median([Fraction(9), Fraction(1), Fraction(4), Fraction(2)])
    (4, Fraction(3, 1))
    """
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def trimmed_mean(values: Sequence[Number], share: Number) -> Number:
    """The mean without the whole number of values, up to ``share``, at each end.

    Examples
    --------
    >>> trimmed_mean([Fraction(v) for v in (0, 1, 2, 9)], Fraction(1, 4))
    Fraction(3, 2)
    >>> trimmed_mean([Fraction(0), Fraction(9)], Fraction(1, 4))
    Fraction(9, 2)
    """
    cut = math.floor(Fraction(share) * len(values))
    return mean(sorted(values)[cut : len(values) - cut])


def soft(
    supports: Supports, n_classes: int, member_weights: Sequence[Number] | None = None
) -> list[Number]:
    """Weighted mean of the supports.

    Examples
    --------
    >>> rows = [[Fraction(1, 2), Fraction(1, 2)], None, [Fraction(0), Fraction(1)]]
    >>> soft(rows, 2), soft(rows, 2, [3, 7, 1])
    ([Fraction(1, 4), Fraction(3, 4)], [Fraction(3, 8), Fraction(5, 8)])
    """
    sums: list[Number] = [Fraction(0)] * n_classes
    for t, row in enumerate(supports):
        for k in range(n_classes):
            if row is not None:
                sums[k] += row[k] * (1 if member_weights is None else member_weights[t])
    return shares(sums)


def shares_or_mean(scores: Sequence[Number], supports: Supports, n_classes: int) -> list[Number]:
    """Shares of the scores; classes tied for the first place part theirs by their mean supports.

    Examples
    --------
    >>> rows = [[1, 0], [0, 1], [0, 1]]
    >>> shares_or_mean([0, 0], rows, 2), shares_or_mean([Fraction(1), Fraction(1)], rows, 2)
    ([Fraction(1, 3), Fraction(2, 3)], [Fraction(1, 3), Fraction(2, 3)])
    >>> shares_or_mean([Fraction(1), 0], rows, 2)
    [Fraction(1, 1), Fraction(0, 1)]
    """
    found = shares(scores)
    tied = [k for k in range(n_classes) if found[k] == max(found)]
    means = soft(supports, n_classes)
    of_means = sum(means[k] for k in tied)
    if len(tied) > 1 and of_means > 0:
        together = sum(found[k] for k in tied)
        for k in tied:
            found[k] = together * Fraction(means[k]) / of_means
    return found


def class_by_class(
    supports: Supports, n_classes: int, rule: Callable[[list[Number]], Number]
) -> list[Number]:
    """The shares that a rule (max, min, median, mean...) gives over the members of each class.

    Examples
    --------
    >>> rows = [[Fraction(1, 2), Fraction(1, 2)], None, [Fraction(1, 4), Fraction(3, 4)]]
    >>> class_by_class(rows, 2, max), class_by_class(rows, 2, min)
    ([Fraction(2, 5), Fraction(3, 5)], [Fraction(1, 3), Fraction(2, 3)])
    """
    rows = answered(supports)
    scores = [rule([row[k] for row in rows]) if rows else 0 for k in range(n_classes)]
    return shares_or_mean(scores, supports, n_classes)


def product(
    supports: Supports,
    n_classes: int,
    floor: Number = 0,
    priors: Sequence[Number] | None = None,
) -> list[Number]:
    """Product of the supports, each at least ``floor``, over the prior to the power R - 1.

    Examples
    --------
    >>> rows = [[Fraction(1, 2), Fraction(1, 2)], None, [Fraction(1, 3), Fraction(2, 3)]]
    >>> product(rows, 2)
    [Fraction(1, 3), Fraction(2, 3)]
    >>> product(rows, 2, priors=[Fraction(1, 4), Fraction(3, 4)])
    [Fraction(3, 5), Fraction(2, 5)]
    """
    rows = answered(supports)
    scores: list[Number] = [Fraction(1)] * n_classes
    for k in range(n_classes):
        for r, row in enumerate(rows):
            scores[k] *= max(row[k], floor)
            if priors is not None and r > 0:
                scores[k] /= priors[k]
    return shares(scores) if sum(scores) else soft(supports, n_classes)


# -- naive Bayes and model averaging ---------------------------------------------------------------


def confusion(
    answers: Votes, y: Sequence[int], n_classes: int, weights: Sequence[Number]
) -> list[list[Number]]:
    """The weight of the samples of each class (row) that a member gives each class (column).

    Examples
    --------
    >>> confusion([0, 1, None, 1], [0, 0, 1, 1], 2, [1, 2, 5, 3])
    [[1, 2], [0, 3]]
    """
    counts: list[list[Number]] = [[0] * n_classes for _ in range(n_classes)]
    for vote, label, weight in zip(answers, y, weights, strict=True):
        if vote is not None:
            counts[label][vote] += weight
    return counts


def naive_bayes(
    votes: Votes,
    confusions: Sequence[Sequence[Sequence[Number]]],
    priors: Sequence[Number],
    smoothing: Number,
) -> list[Number]:
    """P(k) times the product of P(vote | k), from smoothed confusion matrices, as shares.

    Examples
    --------
    >>> tables, even = [[[3, 1], [1, 3]], [[2, 2], [0, 4]]], [Fraction(1, 2)] * 2
    >>> naive_bayes([0, 1], tables, even, 0)  # 3/4 x 2/4 against 1/4 x 4/4
    [Fraction(3, 5), Fraction(2, 5)]
    >>> naive_bayes([0, 1], tables, even, 1)  # 4/6 x 3/6 against 2/6 x 5/6
    [Fraction(6, 11), Fraction(5, 11)]
    """
    scores = list(priors)
    for vote, table in zip(votes, confusions, strict=True):
        if vote is not None:
            for k, row in enumerate(table):
                scores[k] *= smoothed_rate(row[vote], sum(row), smoothing, len(row))
    return shares(scores)


def likelihood(
    supports: Supports, y: Sequence[int], counts: Sequence[int], floor: Number
) -> Number:
    """The product of what a member gives to the true classes, each at least ``floor``.

    Examples
    --------
    >>> rows = [[Fraction(1, 2), Fraction(1, 2)], [Fraction(3, 4), Fraction(1, 4)], None]
    >>> likelihood(rows, [0, 1, 0], [1, 2, 1], 0)  # 1/2 x 1/4 x 1/4
    Fraction(1, 32)
    """
    value: Number = Fraction(1)
    for row, label, count in zip(supports, y, counts, strict=True):
        for _ in range(count):
            if row is not None:
                value *= max(row[label], floor)
    return value


def posterior(
    likelihoods: Sequence[Number], priors: Sequence[Number] | None = None
) -> list[Number]:
    """What the members are worth: prior times likelihood, as shares.

    Examples
    --------
    >>> posterior([Fraction(1, 4), Fraction(3, 16)]), posterior([Fraction(1, 4), 0], [1, 9])
    ([Fraction(4, 7), Fraction(3, 7)], [Fraction(1, 1), Fraction(0, 1)])
    """
    priors = [1] * len(likelihoods) if priors is None else priors
    return shares([Fraction(p) * v for p, v in zip(priors, likelihoods, strict=True)])


def gaussian_log_likelihood(residuals: Sequence[Number], counts: Sequence[Number]) -> float:
    """Log-likelihood of normal residuals whose variance is their own mean square.

    Examples
    --------
    >>> value = gaussian_log_likelihood([1, -1], [1, 1])  # two densities 1 / sqrt(2 pi e)
    >>> round(value, 6) == round(-math.log(2 * math.pi) - 1, 6)
    True
    """
    variance = mean([Fraction(r) ** 2 for r in residuals], counts)
    value = 0.0
    for residual, count in zip(residuals, counts, strict=True):
        density = math.exp(-residual * residual / (2 * variance)) / math.sqrt(
            2 * math.pi * float(variance)
        )
        value += count * math.log(density)
    return value


def average_of_models(
    predictions: Sequence[Number], variances: Sequence[Number], weights: Sequence[Number]
) -> tuple[Number, Number]:
    """Mean and variance of the mixture of the members' normal distributions.

    Examples
    --------
    >>> average_of_models([0, 4], [1, 1], [Fraction(3, 4), Fraction(1, 4)])  # 1 + 3 between them
    (Fraction(1, 1), Fraction(4, 1))
    """
    centre = mean(predictions, weights)
    spread = Fraction(0)
    for value, variance, weight in zip(predictions, variances, weights, strict=True):
        spread += weight * (variance + (value - centre) ** 2)
    return centre, spread / sum(weights)
