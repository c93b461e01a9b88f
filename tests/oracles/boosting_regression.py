"""AdaBoost.R and AdaBoost.R2 from their definitions, in fractions where they are fractions.

The weight of a sample under AdaBoost.R is a function of y. Here it is a list of pieces (begin,
end, factor); its integrals, errors and factors are rational numbers, and so there is no rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

HALF = Fraction(1, 2)


@dataclass
class OneSample:
    """The weight of one sample as a function of y on [0, 1]."""

    target: Fraction
    pieces: list[tuple[Fraction, Fraction, Fraction]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pieces = [
            (Fraction(0), self.target, Fraction(1)),
            (self.target, Fraction(1), Fraction(1)),
        ]

    def integral(self, begin: Fraction, end: Fraction) -> Fraction:
        """The integral of the weight from ``begin`` to ``end``."""
        total = Fraction(0)
        for low, high, factor in self.pieces:
            a, b = max(low, begin), min(high, end)
            if a < b:  # |y - target| is linear between a and b
                total += factor * (b - a) * (abs(a - self.target) + abs(b - self.target)) / 2
        return total

    def multiply_outside(self, point: Fraction, beta: Fraction) -> None:
        """Multiply the weight by beta where y is not between the target and a point."""
        low, high = min(point, self.target), max(point, self.target)
        new = []
        for begin, end, factor in self.pieces:
            for a, b in pairwise(sorted({begin, end, min(max(point, begin), end)})):
                inside = low <= a and b <= high
                new.append((a, b, factor if inside else factor * beta))
        self.pieces = new


@dataclass
class AdaBoostR:
    """AdaBoost.R, told in turn what its members predict for the training samples."""

    targets: Sequence[Fraction]
    weights: Sequence[Fraction]
    errors: list[Fraction] = field(default_factory=list)
    betas: list[Fraction] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.samples = [OneSample(target) for target in self.targets]

    def masses(self) -> list[Fraction]:
        """The share of each sample in the weight."""
        whole = [
            weight * sample.integral(Fraction(0), Fraction(1))
            for weight, sample in zip(self.weights, self.samples, strict=True)
        ]
        return [one / sum(whole) for one in whole]

    def error(self, answers: Sequence[Fraction]) -> Fraction:
        """The weight between targets and predictions, as a share of all."""
        wrong, whole = Fraction(0), Fraction(0)
        for weight, sample, point in zip(self.weights, self.samples, answers, strict=True):
            ends = sorted([sample.target, point])
            wrong += weight * sample.integral(ends[0], ends[1])
            whole += weight * sample.integral(Fraction(0), Fraction(1))
        return wrong / whole

    def predict_train(self, answers: Sequence[Fraction]) -> bool:
        """One round; whether there is another."""
        error = self.error(answers)
        self.errors.append(error)
        if error > HALF or error == 0:
            return False
        beta = error / (1 - error)
        self.betas.append(beta)
        for sample, point in zip(self.samples, answers, strict=True):
            sample.multiply_outside(point, beta)
        return True


def median(predictions: Sequence[float], votes: Sequence[Fraction]) -> float:
    """The least y for which the votes of the predictions up to y are half of all or more."""
    for y in sorted(predictions):
        for_less = [v for p, v in zip(predictions, votes, strict=True) if p <= y]
        if sum(for_less) >= HALF * sum(votes):
            return y
    raise AssertionError("the largest prediction has all the votes")


def scaled_losses(y: Sequence[float], answers: Sequence[float], loss: str) -> list[float]:
    """Losses of Drucker (1997), from 0 to 1; the largest linear one is 1."""
    distances = [abs(a - b) for a, b in zip(answers, y, strict=True)]
    shares = [distance / max(distances) for distance in distances]
    if loss == "linear":
        return shares
    if loss == "square":
        return [share**2 for share in shares]
    return [1 - math.exp(-share) for share in shares]


def adaboost_r2(
    y: Sequence[float], rounds: Sequence[Sequence[float]], weights: Sequence[float], loss: str
) -> tuple[list[float], list[float], list[list[float]]]:
    """Average losses, betas, and the distributions before each round, of AdaBoost.R2.

    It ends with the first average loss of 1/2 or more, which has no beta.
    """
    averages: list[float] = []
    betas: list[float] = []
    distributions = [[w / math.fsum(weights) for w in weights]]
    for answers in rounds:
        losses = scaled_losses(y, answers, loss)
        average = math.fsum(p * one for p, one in zip(distributions[-1], losses, strict=True))
        averages.append(average)
        if average >= 0.5:
            break
        beta = average / (1 - average)
        betas.append(beta)
        new = [p * beta ** (1 - one) for p, one in zip(distributions[-1], losses, strict=True)]
        distributions.append([w / math.fsum(new) for w in new])
    return averages, betas, distributions
