"""The rules of a class that describe it in the fewest bits.

A set of rules costs the bits that say which rules these are, and those that say which samples are
exceptions: covered but of another class (false positives), or of the class but not covered (false
negatives). With up to ten rules all subsets are tried; with more, rules are added and deleted one
by one from eleven random starts.

References
----------
Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann. Chapter 5.
Quinlan (1995). MDL and categorical theories (continued). ICML, 464-470. (the biased coding)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import gammaln

from orfeon.forest.conditions import Condition, Interval
from orfeon.utils.types import Floats, Integers, Mask

Coding = Literal["biased", "binomial"]

#: Bits of rules count half: many descriptions mean the same rules.
_RULE_SHARE = 0.5
_MOST_TRIED = 10
_N_STARTS = 11
#: Expected numbers of errors this close to none or all are taken as certain.
_CERTAIN = 1e-6
_IMPOSSIBLE = 1e6


def log2_factorial(n: Any) -> Any:
    return gammaln(np.asarray(n, float) + 1.0) / math.log(2.0)


def log2_combinations(n: Any, k: Any) -> Any:
    """Bits to name ``k`` of ``n`` samples."""
    return log2_factorial(n) - log2_factorial(k) - log2_factorial(np.subtract(n, k))


def exception_bits(
    covered: Any, false_positives: Any, false_negatives: Any, total: float, coding: Coding
) -> Any:
    """Bits of the exceptions of a set of rules that covers a weight of ``covered`` of ``total``."""
    outside = total - np.asarray(covered, float)
    if coding == "binomial":
        return log2_combinations(covered, false_positives) + log2_combinations(
            outside, false_negatives
        )
    # Half of the errors are expected on the larger side; on the other, those that are left.
    half = 0.5 * np.add(false_positives, false_negatives)
    is_most = np.asarray(covered, float) > 0.5 * total
    expected_positives = np.where(is_most, half, false_positives)
    expected_negatives = np.where(is_most, false_negatives, half)
    return (
        math.log2(total)
        + _biased(covered, false_positives, expected_positives)
        + _biased(outside, false_negatives, expected_negatives)
    )


def _biased(weight: Any, errors: Any, expected: Any) -> Any:
    """Bits that say which samples are errors, by a code for ``expected`` of them."""
    weight, errors = np.asarray(weight, float), np.asarray(errors, float)
    inside = (expected > _CERTAIN) & (expected < weight - _CERTAIN)
    rate = np.where(inside, expected, 0.5) / np.where(inside, weight, 1.0)
    bits = -errors * np.log2(rate) - (weight - errors) * np.log2(1.0 - rate)
    only = np.where(expected <= _CERTAIN, 0.0, weight)
    return np.where(inside, bits, np.where(errors == only, 0.0, _IMPOSSIBLE))


@dataclass(frozen=True)
class ConditionCosts:
    """Bits of a condition: which feature, and which of its values."""

    feature: float
    value: Floats  # by feature
    n_categories: Integers
    grouped: bool

    @classmethod
    def measure(
        cls, X: Floats, weights: Floats, n_categories: Integers, grouped: bool, redundancy: float
    ) -> ConditionCosts:
        """Costs from the training samples.

        A category costs the entropy of the feature, a threshold half the bits of the number of
        distinct values and one for the side. A feature that has more bits is tested more often, so
        naming a feature costs the entropy of these shares, divided by ``redundancy``.
        """
        value = np.zeros(X.shape[1])
        total = float(weights.sum())
        for f, n in enumerate(n_categories):
            known = ~np.isnan(X[:, f])
            if n > 0:
                codes = X[known, f].astype(np.int64)
                share = np.bincount(codes, weights[known], n) / total
                value[f] = -float(np.sum(share[share > 0] * np.log2(share[share > 0])))
            elif (n_distinct := len(np.unique(X[known, f]))) > 1:
                value[f] = 1.0 + 0.5 * math.log2(n_distinct)
        share = value[value > 0] / max(value.sum(), np.finfo(float).tiny)
        feature = -float(np.sum(share * np.log2(share)))
        return cls(feature / redundancy, value, n_categories, grouped)

    def of_rule(self, conditions: Sequence[Condition]) -> float:
        """Bits of a rule; the order of its conditions does not matter."""
        bits = sum(self.of_condition(c) for c in conditions)
        return bits + math.log2(len(conditions)) - float(log2_factorial(len(conditions)))

    def of_condition(self, condition: Condition) -> float:
        f = condition.subject[0][0]
        if self.grouped and not isinstance(condition, Interval):
            return self.feature + float(self.n_categories[f])
        return self.feature + float(self.value[f])


@dataclass(frozen=True)
class ClassProblem:
    """The choice among the rules of one class, with samples that the same rules cover as one."""

    covers: Mask  # rules by patterns
    right: Floats  # weight of the class in each pattern
    wrong: Floats
    bits: Floats  # of each rule
    uncovered_right: float  # weight of the class that no rule covers
    total: float
    coding: Coding

    @classmethod
    def collect(
        cls, covered: Mask, is_target: Mask, weights: Floats, bits: Floats, coding: Coding
    ) -> ClassProblem:
        """The problem of a class from the samples that each of its rules covers."""
        some = covered.any(axis=0)
        patterns, which = np.unique(
            np.packbits(covered[:, some], axis=0), axis=1, return_inverse=True
        )
        which, n = which.ravel(), patterns.shape[1]
        target = is_target[some]
        right = _sums(which, np.where(target, weights[some], 0.0), n)
        wrong = _sums(which, np.where(target, 0.0, weights[some]), n)
        covers = np.unpackbits(patterns, axis=0, count=len(covered)).astype(bool)
        outside = float(weights[~some & is_target].sum())
        return cls(covers, right, wrong, bits, outside, float(weights.sum()), coding)

    def cost(self, n_rules: Any, rule_bits: Any, right: Any, wrong: Any) -> Any:
        """Bits of sets of rules, by number, summed bits and covered weights."""
        misses = self.right.sum() + self.uncovered_right - right
        exceptions = exception_bits(right + wrong, wrong, misses, self.total, self.coding)
        return _RULE_SHARE * (rule_bits - log2_factorial(n_rules)) + exceptions

    def choose(self, rng: np.random.Generator) -> Mask:
        """The rules to keep."""
        n_rules = len(self.bits)
        if n_rules <= _MOST_TRIED:
            # The first rule changes fastest; the first of equal sets is kept.
            subsets = (np.arange(1 << n_rules)[:, None] >> np.arange(n_rules)) & 1 == 1
            any_covers = subsets.astype(np.float64) @ self.covers > 0
            costs = self.cost(
                subsets.sum(axis=1), subsets @ self.bits, any_covers @ self.right,
                any_covers @ self.wrong,
            )  # fmt: skip
            return np.asarray(subsets[int(np.argmin(costs))])
        best, least = np.zeros(n_rules, bool), math.inf
        for start in range(_N_STARTS):
            subset, cost = self._climb(rng.random(n_rules) < start / (_N_STARTS - 1))
            if cost < least:
                best, least = subset, cost
        return best

    def _climb(self, inside: Mask) -> tuple[Mask, float]:
        """Add or delete the rule that saves most bits, until none does."""
        inside = inside.copy()
        while True:
            times = inside.astype(np.int64) @ self.covers
            now = times > 0
            right, wrong = float(now @ self.right), float(now @ self.wrong)
            cost = float(self.cost(inside.sum(), self.bits @ inside, right, wrong))
            # A rule changes what is covered where no other covers: it comes, or it goes.
            sign = np.where(inside, -1, 1)
            alone = self.covers & (times == np.where(inside, 1, 0)[:, None])
            changed = self.cost(
                inside.sum() + sign, self.bits @ inside + sign * self.bits,
                right + sign * (alone @ self.right), wrong + sign * (alone @ self.wrong),
            )  # fmt: skip
            place = int(np.argmin(changed))
            if not changed[place] < cost:
                return inside, cost
            inside[place] = not inside[place]


def _sums(which: Integers, weights: Floats, n: int) -> Floats:
    """Sum of the weights of each pattern."""
    return np.asarray(np.bincount(which, weights, n), np.float64)
