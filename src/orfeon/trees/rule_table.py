"""Ordered rules in flat arrays, and one rule as a value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from orfeon.forest.conditions import Condition, Conditions, Interval, Subset, covered, narrowed
from orfeon.utils import saved
from orfeon.utils.types import Floats, Integers, Mask


def merged(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """One condition for each feature: ``x > 2`` and ``x <= 5`` are ``2 < x <= 5``."""
    held: Conditions = {}
    for condition in conditions:
        held = narrowed(held, condition)
    return tuple(held.values())


@dataclass(frozen=True)
class ClassRule:
    """A rule of a classifier: if all conditions hold, then this class.

    Parameters
    ----------
    conditions : tuple of Interval or Subset
        Conditions on a row, one for each feature; a missing value satisfies none.
    prediction : int
        Code of the class.
    coverage : float
        Share of the training weight that satisfies the conditions.
    confidence : float
        Share of that weight that is of the class.
    error : float
        Pessimistic error rate.

    Examples
    --------
    >>> from orfeon import C45RulesClassifier
    >>> X, y = [[1.0], [2.0], [3.0], [5.0], [6.0], [7.0]], ["a", "a", "a", "b", "b", "b"]
    >>> rule = C45RulesClassifier().fit(X, y).rules_[0]
    >>> rule.conditions[0].high, rule.prediction, rule.coverage, rule.confidence
    (3.0, 0, 0.5, 1.0)
    """

    conditions: tuple[Condition, ...]
    prediction: int
    coverage: float
    confidence: float
    error: float

    def covers(self, X: Floats) -> Mask:
        """Which rows satisfy the rule.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Rows encoded by the schema; NaN is a missing value.

        Returns
        -------
        ndarray of shape (n_rows,)
            Whether all conditions hold.
        """
        return covered(self.conditions, X)


@saved.attributes(
    label=saved.indices,
    coverage=saved.array("f8", 1, finite=True, low=0.0),
    confidence=saved.array("f8", 1, finite=True, low=0.0),
    error=saved.array("f8", 1, finite=True, low=0.0),
    start=saved.indices,
    feature=saved.indices,
    low=saved.floats,
    high=saved.floats,
    table=saved.array("i8", 1, low=-1),
    accepted=saved.array("?", 1),
)
@dataclass(frozen=True, eq=False)
class RuleTable:
    """Rules in the order in which they are tried.

    The conditions of rule r are those from ``start[r]`` to ``start[r + 1]``. A condition on an
    ordered feature has bounds, and ``table`` -1; one on a categorical feature has the place in
    ``accepted`` where its categories begin.
    """

    label: Integers
    coverage: Floats
    confidence: Floats
    error: Floats
    start: Integers
    feature: Integers
    low: Floats
    high: Floats
    table: Integers
    accepted: Mask

    def __len__(self) -> int:
        return len(self.label)

    @classmethod
    def pack(cls, rules: Sequence[ClassRule]) -> RuleTable:
        """The arrays of some rules."""
        conditions = [c for rule in rules for c in rule.conditions]
        tables = [
            _categories(c) if isinstance(c, Subset) else np.zeros(0, bool) for c in conditions
        ]
        ends = np.cumsum([len(one) for one in tables], dtype=np.int64)
        begins = ends - np.array([len(one) for one in tables], np.int64)
        is_subset = np.array([isinstance(c, Subset) for c in conditions], bool)
        bounds = [
            (c.low, c.high) if isinstance(c, Interval) else (-np.inf, np.inf) for c in conditions
        ]
        low, high = np.array(bounds, np.float64).reshape(-1, 2).T
        return cls(
            label=np.array([rule.prediction for rule in rules], np.int64),
            coverage=np.array([rule.coverage for rule in rules], np.float64),
            confidence=np.array([rule.confidence for rule in rules], np.float64),
            error=np.array([rule.error for rule in rules], np.float64),
            start=np.cumsum([0, *(len(rule.conditions) for rule in rules)], dtype=np.int64),
            feature=np.array([c.subject[0][0] for c in conditions], np.int64),
            low=low.copy(),
            high=high.copy(),
            table=np.where(is_subset, begins, -1),
            accepted=np.concatenate([np.zeros(0, bool), *tables]),
        )

    def unpack(self, n_categories: Integers) -> Iterator[ClassRule]:
        """The rules, of a table of features with so many categories (0: ordered)."""
        for r in range(len(self)):
            conditions = tuple(
                self._condition(k, int(n_categories[self.feature[k]]))
                for k in range(self.start[r], self.start[r + 1])
            )
            yield ClassRule(
                conditions, int(self.label[r]), float(self.coverage[r]),
                float(self.confidence[r]), float(self.error[r]),
            )  # fmt: skip

    def _condition(self, k: int, n_categories: int) -> Condition:
        subject = ((int(self.feature[k]), 1.0),)
        begin = int(self.table[k])
        if begin < 0:
            return Interval(subject, float(self.low[k]), float(self.high[k]))
        accepted = np.flatnonzero(self.accepted[begin : begin + n_categories])
        return Subset(subject, n_categories, frozenset(accepted.tolist()))

    def covers(self, X: Floats, n_categories: Integers) -> Mask:
        """Which rules cover which encoded rows: an array of shape (n_rules, n_rows)."""
        rules = [rule.covers(X) for rule in self.unpack(n_categories)]
        return np.array(rules, dtype=bool).reshape(len(self), len(X))


def _categories(condition: Subset) -> Mask:
    table = np.zeros(condition.n_categories, bool)
    table[sorted(condition.accepted)] = True
    return table
