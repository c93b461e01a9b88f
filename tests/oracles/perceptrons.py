"""Parallel perceptrons as the papers write them: one sample and one perceptron at a time.

Weights are a list of H vectors, inputs are extended vectors (the last one stands for the threshold)
and labels are -1 and +1. Nothing here is fast.

A sample's *push* on a perceptron is the number that multiplies its input in the update: the
update is eta times push times input, so a run is a matter of pushes and their sums.

References
----------
Auer, Burgsteiner and Maass (2008). A learning rule for very simple universal approximators
consisting of a single layer of perceptrons. Neural Networks 21(5), 786-795.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Vector = list[float]
Rows = Sequence[Sequence[float]]


# Inputs


def standardised(train: Rows, rows: Rows, weights: Sequence[float]) -> list[Vector]:
    """Z-scores by the weighted mean and population deviation of each feature of ``train``.

    A feature that does not vary among the training rows of positive weight says 0 of everybody;
    so does a missing value of the sample that misses it.

    Examples
    --------
    >>> standardised([[1.0], [3.0]], [[1.0], [4.0]], [1.0, 1.0])
    [[-1.0], [2.0]]
    """
    scores: list[Vector] = [[] for _ in rows]
    for j in range(len(train[0])):
        known = [
            (row[j], weight)
            for row, weight in zip(train, weights, strict=True)
            if weight > 0 and not math.isnan(row[j])
        ]
        varies = len({value for value, _ in known}) > 1
        total = math.fsum(weight for _, weight in known)
        mean = math.fsum(weight * value for value, weight in known) / total if varies else 0.0
        variance = (
            math.fsum(weight * (value - mean) ** 2 for value, weight in known) / total
            if varies
            else 0.0
        )
        for row, score in zip(rows, scores, strict=True):
            known_here = varies and not math.isnan(row[j])
            score.append((row[j] - mean) / math.sqrt(variance) if known_here else 0.0)
    return scores


def extended(rows: Rows, *, divide: bool = True) -> list[Vector]:
    """Each row with -1 after it, all of it divided by the root of how many inputs that makes.

    Examples
    --------
    >>> extended([[3.0, 4.0, 5.0]])
    [[1.5, 2.0, 2.5, -0.5]]
    """
    whole = [[*row, -1.0] for row in rows]
    return [[x / math.sqrt(len(row)) if divide else x for x in row] for row in whole]


# What perceptrons say


def dot(w: Sequence[float], x: Sequence[float]) -> float:
    """The activation of one perceptron."""
    total: float = 0
    for a, b in zip(w, x, strict=True):
        total += a * b
    return total


def sign(activation: float) -> int:
    """What a perceptron says; one in doubt says +1."""
    return 1 if activation >= 0 else -1


def sum_of_signs(weights: Rows, x: Sequence[float]) -> int:
    """All perceptrons together, each with one vote."""
    return sum(sign(dot(w, x)) for w in weights)


def majority(weights: Rows, x: Sequence[float]) -> int:
    """The vote, +1 where it is even."""
    return sign(sum_of_signs(weights, x))


def squashed(total: float, rho: float) -> float:
    """The sum of signs as a number of [-1, 1]: linear within ``rho`` of 0 and flat beyond.

    Examples
    --------
    >>> [squashed(z, 4) for z in (-5, -4, -1, 2, 7)]
    [-1, -1.0, -0.25, 0.5, 1]
    """
    if total < -rho:
        return -1
    if total > rho:
        return 1
    return total / rho


# The rule


@dataclass(frozen=True)
class Rule:
    """What stays the same over a run.

    Two readings are open. Zero says +1, so of a negative sample it is wrong, but the rule's y w.x
    is not below 0 there: ``blames_zero`` takes it for wrong. Auer's rule pushes perceptrons of a
    wrong vote out of the margin: ``tunes_on_wrong`` counts those when gamma is tuned.
    """

    mu: float = 0.1
    rule: str = "p_delta"
    tune: bool | str = True
    blames_zero: bool = False
    tunes_on_wrong: bool = False


def push(
    activation: float,
    y: int,
    vote: int,
    gamma: float,
    mu: float,
    rule: str,
    blames_zero: bool = False,
) -> float:
    """How a sample moves one perceptron: the multiple of its input that is added."""
    if vote != y:
        if y * activation < 0 or (blames_zero and sign(activation) != y):
            return y
        if rule == "auer" and 0 <= y * activation < gamma:
            return mu * y
        return 0
    if 0 <= activation < gamma:
        return mu
    if -gamma < activation < 0:
        return -mu
    return 0


def margin_push(
    weights: Rows, x: Sequence[float], y: int, gamma: float, rule: Rule | None = None
) -> float:
    """How a sample moves gamma: down when a right vote has an activation within it, else up."""
    right = majority(weights, x) == y
    above = below = 0
    for w in weights:
        activation = dot(w, x)
        if right or (rule is not None and rule.tunes_on_wrong and sign(activation) == y):
            above += 0 <= activation < gamma
            below += -gamma <= activation < 0
    return 0.25 if above + below == 0 else -0.75


def incremental_step(
    weights: Rows,
    gamma: float,
    x: Sequence[float],
    y: int,
    eta: float,
    rule: Rule,
    weight: float = 1,
) -> tuple[list[Vector], float]:
    """One sample of the incremental rule: the vote and the margin are those before it.

    The pull of each vector towards length 1 is part of the sample's update, so its weight
    multiplies that as well.
    """
    vote = majority(weights, x)
    moved = []
    for w in weights:
        pull = -(dot(w, w) - 1)
        shove = push(dot(w, x), y, vote, gamma, rule.mu, rule.rule, rule.blames_zero)
        moved.append([a + weight * eta * (pull * a + shove * b) for a, b in zip(w, x, strict=True)])
    if not rule.tune:
        return moved, gamma
    return moved, max(0, gamma + weight * eta * margin_push(weights, x, y, gamma, rule))


def normalised(w: Sequence[float]) -> Vector:
    """The vector at length 1; that of length 0 as it is."""
    length = math.sqrt(dot(w, w))
    return [a / length for a in w] if length > 0 else list(w)


def batch_sums(
    weights: Rows,
    gamma: float,
    X: Rows,
    y: Sequence[int],
    rule: Rule,
    sample_weight: Sequence[float],
) -> tuple[list[Vector], float]:
    """The weighted pushes of all samples on each vector and on gamma, before any is applied."""
    sums = [[0.0] * len(w) for w in weights]
    margin_sum = 0.0
    for x, label, weight in zip(X, y, sample_weight, strict=True):
        vote = majority(weights, x)
        for w, total in zip(weights, sums, strict=True):
            shove = push(dot(w, x), label, vote, gamma, rule.mu, rule.rule, rule.blames_zero)
            for d, b in enumerate(x):
                total[d] += weight * shove * b
        margin_sum += weight * margin_push(weights, x, label, gamma, rule)
    return sums, margin_sum


def batch_epoch(
    weights: Rows,
    gamma: float,
    X: Rows,
    y: Sequence[int],
    eta: float,
    rule: Rule,
    sample_weight: Sequence[float] | None = None,
) -> tuple[list[Vector], float]:
    """One epoch of batch mode: eta times the sums at the end, then each vector at length 1."""
    sample_weight = [1.0] * len(y) if sample_weight is None else sample_weight
    sums, margin_sum = batch_sums(weights, gamma, X, y, rule, sample_weight)
    moved = [
        normalised([a + eta * b for a, b in zip(w, total, strict=True)])
        for w, total in zip(weights, sums, strict=True)
    ]
    if rule.tune == "mean":
        margin_sum /= math.fsum(sample_weight)
    return moved, max(0, gamma + eta * margin_sum) if rule.tune else gamma


def incremental_epoch(
    weights: Rows,
    gamma: float,
    X: Rows,
    y: Sequence[int],
    eta: float,
    rule: Rule,
    sample_weight: Sequence[float] | None = None,
) -> tuple[list[Vector], float]:
    """All samples, one after the other, in the order given."""
    sample_weight = [1.0] * len(y) if sample_weight is None else sample_weight
    moved = [list(w) for w in weights]
    for x, label, weight in zip(X, y, sample_weight, strict=True):
        moved, gamma = incremental_step(moved, gamma, x, label, eta, rule, weight)
    return moved, gamma


# Whole runs


def error(
    weights: Rows, X: Rows, y: Sequence[int], sample_weight: Sequence[float] | None = None
) -> float:
    """The share of the weight whose vote is wrong."""
    sample_weight = [1.0] * len(y) if sample_weight is None else sample_weight
    wrong = [
        weight
        for x, label, weight in zip(X, y, sample_weight, strict=True)
        if majority(weights, x) != label
    ]
    return math.fsum(wrong) / math.fsum(sample_weight)


def energy(
    weights: Rows,
    gamma: float,
    X: Rows,
    y: Sequence[int],
    rule: Rule,
    sample_weight: Sequence[float] | None = None,
) -> float:
    """J, the function of the weights that the update descends."""
    sample_weight = [1.0] * len(y) if sample_weight is None else sample_weight
    total: float = 0
    for w in weights:
        total += (dot(w, w) - 1) ** 2 / 4
    for x, label, weight in zip(X, y, sample_weight, strict=True):
        right = majority(weights, x) == label
        for w in weights:
            activation = dot(w, x)
            blamed = label * activation < 0 or (rule.blames_zero and sign(activation) != label)
            if not right and blamed:
                total += weight * -label * activation
            elif (right and abs(activation) < gamma) or (
                rule.rule == "auer" and not right and 0 <= label * activation < gamma
            ):
                total += weight * rule.mu * (gamma - abs(activation))
    return total


def energy_gradient(
    weights: Rows,
    gamma: float,
    X: Rows,
    y: Sequence[int],
    rule: Rule,
    sample_weight: Sequence[float] | None = None,
    step: float = 1e-6,
) -> list[Vector]:
    """How J changes with each weight, by central differences."""

    def shifted(h: int, d: int, by: float) -> float:
        copy = [list(w) for w in weights]
        copy[h][d] += by
        return energy(copy, gamma, X, y, rule, sample_weight)

    return [
        [(shifted(h, d, step) - shifted(h, d, -step)) / (2 * step) for d in range(len(w))]
        for h, w in enumerate(weights)
    ]


def next_eta(schedule: str, eta0: float, eta: float, t: int, errors: Sequence[float]) -> float:
    """The learning rate of epoch ``t`` = 1, 2, ..., whose predecessor had ``eta``.

    ``errors`` are those of the weights before each epoch so far, this one's among them.
    """
    if schedule == "constant":
        return eta0
    if schedule == "invscaling":
        return eta0 / math.sqrt(t)
    if len(errors) < 2:
        return eta0
    if math.isclose(errors[-1], errors[-2], abs_tol=1e-12):  # but for rounding
        return eta
    return eta * (1.1 if errors[-1] < errors[-2] else 0.5)


@dataclass
class Run:
    """Where a run ended, and what was true before each of its epochs."""

    weights: list[Vector]
    gamma: float
    errors: list[float] = field(default_factory=list)
    energies: list[float] = field(default_factory=list)
    etas: list[float] = field(default_factory=list)
    gammas: list[float] = field(default_factory=list)


Epoch = Callable[..., tuple[list[Vector], float]]


def run(
    weights: Rows,
    gamma: float,
    X: Rows,
    y: Sequence[int],
    *,
    epochs: int,
    eta0: float = 0.01,
    schedule: str = "invscaling",
    rule: Rule = Rule(),
    sample_weight: Sequence[float] | None = None,
    epoch: Epoch = batch_epoch,
) -> Run:
    """All epochs from given weights."""
    result = Run([list(w) for w in weights], gamma)
    eta = eta0
    for t in range(1, epochs + 1):
        result.errors.append(error(result.weights, X, y, sample_weight))
        result.energies.append(energy(result.weights, result.gamma, X, y, rule, sample_weight))
        eta = next_eta(schedule, eta0, eta, t, result.errors)
        result.etas.append(eta)
        result.gammas.append(result.gamma)
        result.weights, result.gamma = epoch(
            result.weights, result.gamma, X, y, eta, rule, sample_weight
        )
    return result


def incremental_run(
    weights: Rows,
    gamma: float,
    X: Rows,
    y: Sequence[int],
    orders: Sequence[Sequence[int]],
    *,
    eta0: float = 0.01,
    schedule: str = "invscaling",
    rule: Rule = Rule(),
    sample_weight: Sequence[float] | None = None,
) -> Run:
    """Epochs of the incremental rule, each in an order of its own.

    A sample is wrong, and has its energy, as it comes to its turn; the energy of the lengths is
    that at the end of the epoch. The errors that the adaptive rate looks at are those of the two
    epochs before.
    """
    sample_weight = [1.0] * len(y) if sample_weight is None else sample_weight
    result = Run([list(w) for w in weights], gamma)
    eta = eta0
    for t, order in enumerate(orders, start=1):
        eta = next_eta(schedule, eta0, eta, t, result.errors)
        result.etas.append(eta)
        result.gammas.append(result.gamma)
        wrong, felt = [], 0.0
        for i in order:
            its = [X[i]], [y[i]]
            if majority(result.weights, X[i]) != y[i]:
                wrong.append(sample_weight[i])
            felt += energy(result.weights, result.gamma, *its, rule, [sample_weight[i]])
            felt -= energy(result.weights, result.gamma, [], [], rule)
            result.weights, result.gamma = incremental_step(
                result.weights, result.gamma, X[i], y[i], eta, rule, sample_weight[i]
            )
        result.errors.append(math.fsum(wrong) / math.fsum(sample_weight))
        result.energies.append(felt + energy(result.weights, result.gamma, [], [], rule))
    return result


# Categories


def categories(
    margins: Rows, gamma: float, is_positive: Sequence[Any], quasi_noisy: str = "all"
) -> list[str]:
    """The category of each sample from its margins y w.x, one for each perceptron.

    Examples
    --------
    >>> categories([[2, 2, 0], [-2, -2, 0], [0, 2, -2]], 1, [True, True, True])
    ['redundant', 'noisy', 'borderline']
    """
    found = []
    for margin, positive in zip(margins, is_positive, strict=True):
        beyond = sum(m > gamma for m in margin)
        against = sum(m < -gamma for m in margin)
        if 2 * beyond > len(margin):
            found.append("redundant")
        elif 2 * against > len(margin):
            found.append("noisy")
        elif not positive and _misled(margin, quasi_noisy):
            found.append("quasi_noisy")
        else:
            found.append("borderline")
    return found


def _misled(margin: Sequence[float], quasi_noisy: str) -> bool:
    """Whether a negative sample is taken for a positive one by all perceptrons, or by the vote."""
    says = [sign(-m) for m in margin]
    if quasi_noisy == "all":
        return all(s == 1 for s in says)
    return sign(sum(says)) == 1


# Regression


def scaled_targets(y: Sequence[float]) -> Vector:
    """Targets from their least to their greatest as numbers from -1 to 1.

    Examples
    --------
    >>> scaled_targets([3.0, 5.0, 4.5])
    [-1.0, 1.0, 0.5]
    """
    low, high = min(y), max(y)
    return [(2 * v - low - high) / (high - low) for v in y]


def regression_push(
    activation: float, y: float, output: float, gamma: float, mu: float, eps: float
) -> float:
    """How a sample moves one perceptron of a regressor."""
    if output > y + eps and activation >= 0:
        return -1
    if output < y - eps and activation < 0:
        return 1
    if output <= y + eps and 0 <= activation < gamma:
        return mu
    if output >= y - eps and -gamma < activation < 0:
        return -mu
    return 0


def regression_margin_push(
    weights: Rows, x: Sequence[float], y: float, gamma: float, rho: float, eps: float
) -> float:
    """How a sample moves gamma: M+ and M- are of the perceptrons on the side that may stay."""
    output = squashed(sum_of_signs(weights, x), rho)
    inside = 0
    for w in weights:
        activation = dot(w, x)
        inside += output <= y + eps and 0 <= activation < gamma
        inside += output >= y - eps and -gamma <= activation < 0
    return 0.25 if inside == 0 else -0.75


def regression_epoch(
    weights: Rows,
    gamma: float,
    X: Rows,
    y: Sequence[float],
    eta: float,
    *,
    mu: float,
    rho: float,
    eps: float,
    tune: bool = True,
    sample_weight: Sequence[float] | None = None,
) -> tuple[list[Vector], float]:
    """One epoch of batch mode for a regressor, whose targets lie in [-1, 1]."""
    sample_weight = [1.0] * len(y) if sample_weight is None else sample_weight
    sums = [[0.0] * len(w) for w in weights]
    margin_sum = 0.0
    for x, target, weight in zip(X, y, sample_weight, strict=True):
        output = squashed(sum_of_signs(weights, x), rho)
        for w, total in zip(weights, sums, strict=True):
            shove = regression_push(dot(w, x), target, output, gamma, mu, eps)
            for d, b in enumerate(x):
                total[d] += weight * shove * b
        margin_sum += weight * regression_margin_push(weights, x, target, gamma, rho, eps)
    moved = [
        normalised([a + eta * b for a, b in zip(w, total, strict=True)])
        for w, total in zip(weights, sums, strict=True)
    ]
    return moved, max(0, gamma + eta * margin_sum) if tune else gamma
