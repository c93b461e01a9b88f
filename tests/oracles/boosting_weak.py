"""Weak learners for the boosting oracles: every stump tried, a pool, answers given beforehand.

A weak learner is a function ``weak(weights, labels)`` that gives what it says of every sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

Weak = Callable[[Sequence[Fraction], Sequence[int]], Sequence[int]]


def error_of(
    weights: Sequence[Fraction], labels: Sequence[int], answers: Sequence[int]
) -> Fraction:
    """The weight of the wrong ones.

    Examples
    --------
    >>> error_of([Fraction(1, 4), Fraction(3, 4)], [0, 1], [1, 1])
    Fraction(1, 4)
    """
    return sum(
        (w for w, y, h in zip(weights, labels, answers, strict=True) if h != y), start=Fraction(0)
    )


@dataclass(frozen=True)
class Cut:
    """A stump: feature, threshold, and the label on either side."""

    feature: int
    threshold: Fraction
    left: int
    right: int

    def __call__(self, X: Sequence[Sequence[Fraction | int]]) -> list[int]:
        """What the stump says of each row."""
        return [self.left if x[self.feature] <= self.threshold else self.right for x in X]


def majority(weights: Sequence[Fraction], labels: Sequence[int]) -> int:
    """The label of most weight, the first of those that are tied.

    Examples
    --------
    >>> majority([Fraction(1), Fraction(1), Fraction(2)], [1, 1, 0])
    0
    """
    totals = {
        k: sum((w for w, y in zip(weights, labels, strict=True) if y == k), Fraction(0))
        for k in sorted(set(labels))
    }
    return max(totals, key=lambda k: totals[k])


def gini(weights: Sequence[Fraction], labels: Sequence[int]) -> Fraction:
    """The Gini impurity times the weight.

    Examples
    --------
    >>> gini([Fraction(1), Fraction(3)], [0, 1])
    Fraction(3, 2)
    """
    total = sum(weights, Fraction(0))
    sums = [
        sum((w for w, y in zip(weights, labels, strict=True) if y == k), Fraction(0))
        for k in set(labels)
    ]
    return total - sum(s * s for s in sums) / total


def all_cuts(
    X: Sequence[Sequence[Fraction | int]], weights: Sequence[Fraction], labels: Sequence[int]
) -> list[tuple[Fraction, Fraction, Cut]]:
    """Weighted error, impurity left, and the stump, of every cut between two neighbours.

    Only values of samples with some weight count as neighbours.

    Examples
    --------
    >>> [(error, impurity, cut)] = all_cuts([[1], [2]], [Fraction(1, 4), Fraction(3, 4)], [0, 1])
    >>> error, impurity, cut.threshold, cut.left, cut.right
    (Fraction(0, 1), Fraction(0, 1), Fraction(3, 2), 0, 1)
    """
    present = [i for i, w in enumerate(weights) if w > 0]
    found = []
    for a in range(len(X[0])):
        values = sorted({Fraction(X[i][a]) for i in present})
        for low, high in pairwise(values):
            threshold = (low + high) / 2
            sides = [
                [i for i in present if X[i][a] <= threshold],
                [i for i in present if X[i][a] > threshold],
            ]
            parts = [([weights[i] for i in s], [labels[i] for i in s]) for s in sides]
            cut = Cut(a, threshold, majority(*parts[0]), majority(*parts[1]))
            error = error_of(weights, labels, cut(X))
            found.append((error, gini(*parts[0]) + gini(*parts[1]), cut))
    return found


def best_stump(X: Sequence[Sequence[Fraction | int]], by: str = "error") -> Weak:
    """The weak learner that tries every stump; the best by "error" or "gini", the first if tied.

    Examples
    --------
    >>> best_stump([[1], [2], [3]])([Fraction(1, 3)] * 3, [0, 1, 1])
    [0, 1, 1]
    """

    def weak(weights: Sequence[Fraction], labels: Sequence[int]) -> Sequence[int]:
        cuts = all_cuts(X, weights, labels)
        if not cuts:
            return [majority(weights, labels)] * len(labels)
        return min(cuts, key=lambda c: c[0] if by == "error" else c[1])[2](X)

    return weak


def in_turn(votes: Iterable[Sequence[int]]) -> Weak:
    """The weak learner that has its answers ready.

    Examples
    --------
    >>> weak = in_turn([[0, 1], [1, 1]])
    >>> weak([], []), weak([], [])
    ([0, 1], [1, 1])
    """
    answers = iter(votes)
    return lambda weights, labels: [int(v) for v in next(answers)]


def best_of_pool(pool: Sequence[Sequence[int]]) -> Weak:
    """The weak learner that picks from a given finite pool; the first of the best.

    Examples
    --------
    >>> best_of_pool([[0, 0, 0], [1, 1, 1]])([Fraction(1, 3)] * 3, [0, 1, 1])
    [1, 1, 1]
    """

    def weak(weights: Sequence[Fraction], labels: Sequence[int]) -> Sequence[int]:
        errors = [error_of(weights, labels, h) for h in pool]
        return list(pool[errors.index(min(errors))])

    return weak
