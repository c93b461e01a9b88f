"""What a branch of a tree accepts, as a value that can be intersected and checked.

A condition is about one feature or one linear combination. It knows which values it accepts, and
whether it takes missing ones. Conditions on the same subject met along a
path are intersected, which leaves only the tightest bounds: ``x > 2``, ``x <= 9`` and ``x <= 5``
are ``2 < x <= 5``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeAlias

import numpy as np

from orfeon.forest import Forest
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.types import Floats, Mask

#: What a condition is about: (feature, weight) pairs; a single feature has weight 1.
Subject: TypeAlias = tuple[tuple[int, float], ...]


class Missing(IntEnum):
    """Whether a branch takes a missing value: no, a share of it (C4.5), or the whole."""

    NO = 0
    PART = 1
    YES = 2


@dataclass(frozen=True)
class Interval:
    """Accepts ``low < value <= high`` of an ordered feature or of a linear combination."""

    subject: Subject
    low: float = -math.inf
    high: float = math.inf
    missing: Missing = Missing.NO

    @property
    def accepts_none(self) -> bool:
        """Whether no known value is accepted."""
        return self.low >= self.high

    @property
    def accepts_all(self) -> bool:
        """Whether every known value is accepted."""
        return self.low == -math.inf and self.high == math.inf

    def meet(self, other: Condition) -> Interval:
        """Return the condition that holds when both do."""
        if not isinstance(other, Interval) or other.subject != self.subject:
            raise ValueError(f"{other} is not about {self.subject}: only equal subjects can meet.")
        return replace(
            self,
            low=max(self.low, other.low),
            high=min(self.high, other.high),
            missing=min(self.missing, other.missing),
        )

    def covers(self, X: Floats) -> Mask:
        """Which encoded rows satisfy it; a missing value taken in part counts."""
        value = np.zeros(len(X))
        for feature, weight in self.subject:
            value += weight * X[:, feature]
        unknown = np.isnan(value)
        inside = (value > self.low) & (value <= self.high)
        return np.asarray(np.where(unknown, self.missing > Missing.NO, inside), dtype=bool)


@dataclass(frozen=True)
class Subset:
    """Accepts some of the categories of a feature."""

    subject: Subject
    n_categories: int
    accepted: frozenset[int]
    shared: frozenset[int] = frozenset()
    missing: Missing = Missing.NO

    @property
    def accepts_none(self) -> bool:
        """Whether no category is accepted, not even in part."""
        return not self.accepted and not self.shared

    @property
    def accepts_all(self) -> bool:
        """Whether every category is accepted whole."""
        return len(self.accepted) == self.n_categories

    def meet(self, other: Condition) -> Subset:
        """Return the condition that holds when both do."""
        if not isinstance(other, Subset) or other.subject != self.subject:
            raise ValueError(f"{other} is not about {self.subject}: only equal subjects can meet.")
        accepted = self.accepted & other.accepted
        either = (self.accepted | self.shared) & (other.accepted | other.shared)
        return replace(
            self,
            accepted=accepted,
            shared=either - accepted,
            missing=min(self.missing, other.missing),
        )

    def covers(self, X: Floats) -> Mask:
        """Which encoded rows satisfy it; a category or a missing value taken in part counts."""
        code = X[:, self.subject[0][0]]
        inside = np.isin(code, sorted(self.accepted | self.shared))
        return np.asarray(np.where(np.isnan(code), self.missing > Missing.NO, inside), dtype=bool)


Condition: TypeAlias = Interval | Subset
Conditions: TypeAlias = dict[tuple[type[Condition], Subject], Condition]


def branch_conditions(forest: Forest, node: int) -> tuple[Condition, ...]:
    feature = int(forest.feature[node])
    threshold = float(forest.threshold[node])
    width = int(forest.n_children[node])
    target = int(forest.missing[node])
    missing = [
        Missing.PART if target == ALL_BRANCHES else Missing(2 * (target == b)) for b in range(width)
    ]
    if feature >= 0 and forest.n_categories[feature] > 0:
        n_categories = int(forest.n_categories[feature])
        table = forest.branches[int(threshold) :][:n_categories]
        shared = frozenset(np.flatnonzero(table == ALL_BRANCHES).tolist())
        return tuple(
            Subset(
                ((feature, 1.0),),
                n_categories,
                frozenset(np.flatnonzero(table == b).tolist()),
                shared,
                missing[b],
            )
            for b in range(width)
        )
    subject = _subject(forest, feature)
    return (
        Interval(subject, high=threshold, missing=missing[0]),
        Interval(subject, low=threshold, missing=missing[1]),
    )


def covered(conditions: Iterable[Condition], X: Floats) -> Mask:
    """Which encoded rows satisfy all conditions."""
    inside = np.ones(len(X), dtype=bool)
    for condition in conditions:
        inside &= condition.covers(X)
    return inside


def _subject(forest: Forest, feature: int) -> Subject:
    if feature >= 0:
        return ((feature, 1.0),)
    start, features, weights = forest.projections
    terms = slice(int(start[-1 - feature]), int(start[-feature]))
    return tuple(zip(features[terms].tolist(), weights[terms].tolist(), strict=True))


def narrowed(held: Conditions, condition: Condition) -> Conditions:
    """Add a test to a path: one condition for each subject, in order of appearance."""
    key = (type(condition), condition.subject)
    known = held.get(key)
    return {**held, key: condition if known is None else known.meet(condition)}
