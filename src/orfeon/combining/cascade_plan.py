"""What a cascade of increasing cost would do to samples: who answers, what is lost and paid.

How sure a classifier is becomes the probability that it is right, by isotonic regression. That of
a sample is learnt from the others, so that what is found at a threshold is about confidences that
were not fitted to it.

References
----------
Zadrozny and Elkan (2002). Transforming classifier scores into accurate multiclass probability
estimates. KDD 2002, 694-699.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import IsotonicRegression

from orfeon.combining.out_of_fold import Split
from orfeon.utils.types import Floats, Integers, Mask


def calibrate(sureness: Floats, right: Mask, weights: Floats) -> Any:
    """Learn how often a classifier is right when it is so sure."""
    return IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(
        np.append(sureness, sureness.max()), np.append(right, False), np.append(weights, 1.0)
    )


def calibrate_by_others(
    sureness: Floats, right: Mask, weights: Floats, splits: Sequence[Split]
) -> Floats:
    """How often a classifier is right when it is so sure, as the other folds tell."""
    confidence = np.ones(len(sureness))
    for _, test in splits:
        others = np.ones(len(sureness), dtype=bool)
        others[test] = False
        calibrator = calibrate(sureness[others], right[others], weights[others])
        confidence[test] = calibrator.predict(sureness[test])
    return confidence


@dataclass(frozen=True, eq=False)
class Prospect:
    """What a cascade would do to samples, at any threshold."""

    confidence: Floats
    right: Mask
    weights: Floats

    @property
    def _surest(self) -> Floats:
        """The greatest confidence of each level and those before it."""
        return np.maximum.accumulate(self.confidence, axis=0)

    def means(self, values: npt.NDArray[Any], thresholds: Floats) -> Floats:
        """Weighted means of what the level that answers has, at some thresholds."""
        weighted = self.weights * values
        sums = np.full(len(thresholds), weighted[-1].sum())
        for level, surest in enumerate(self._surest):
            # What is sure enough by then does not come to the next level.
            sums += _sum_from(surest, weighted[level] - weighted[level + 1], thresholds)
        return np.asarray(sums / self.weights.sum())

    def losses(self, thresholds: Floats) -> tuple[Floats, Floats]:
        """Accuracy that is lost against the last level, at some thresholds."""
        lost = 1.0 * self.right[-1] - self.right
        losses = self.means(lost, thresholds)
        variances = np.maximum(self.means(lost**2, thresholds) - losses**2, 0.0)
        return losses, np.sqrt(variances / self.weights.sum())

    def least_threshold(self, max_loss: float) -> float:
        """The least threshold at which the loss and its standard error are no more than allowed."""
        candidates = np.unique(np.append(self.confidence, [0.0, 1.0]))
        losses, errors = self.losses(candidates)
        allowed = losses + errors <= max_loss + 1e-12
        allowed[-1] = True
        return float(candidates[np.argmax(allowed)])

    def levels(self, threshold: float) -> Integers:
        """The level that answers each sample."""
        return np.asarray((self._surest < threshold).sum(axis=0))

    def answered(self, threshold: float) -> Floats:
        """Weighted share of the samples that each level answers."""
        sums = np.bincount(self.levels(threshold), self.weights, minlength=len(self.right))
        return np.asarray(sums / self.weights.sum())

    def queried(self, threshold: float) -> Floats:
        """Weighted share of the samples that each level is asked about."""
        return np.cumsum(self.answered(threshold)[::-1])[::-1]

    def of(self, levels: Sequence[int]) -> Prospect:
        """The same of some of the levels only."""
        kept = list(levels)
        return Prospect(self.confidence[kept[:-1]], self.right[kept], self.weights)


@dataclass(frozen=True)
class Plan:
    """Which levels of a cascade are asked, and from which confidence on they answer."""

    levels: tuple[int, ...]
    threshold: float
    not_paid: tuple[int, ...] = ()


def make_plan(
    prospect: Prospect,
    highest: Sequence[float],
    *,
    max_loss: float,
    confidence: float | None = None,
    costs: Floats | None = None,
) -> Plan:
    """The cheapest cascade that is allowed."""

    def settle(levels: tuple[int, ...]) -> Plan:
        while True:
            threshold = 1.0  # where none but the last is left
            if confidence is not None:
                threshold = confidence
            elif len(levels) > 1:
                threshold = prospect.of(levels).least_threshold(max_loss)
            able = tuple(one for one in levels[:-1] if highest[one] >= threshold)
            if able == levels[:-1]:
                return Plan(levels, threshold)
            levels = (*able, levels[-1])

    def cost(plan: Plan) -> float:
        queried = prospect.of(plan.levels).queried(plan.threshold)
        return float(queried @ np.asarray(costs)[list(plan.levels)])

    plan, not_paid = settle(tuple(range(len(prospect.right)))), set[int]()
    if costs is None or confidence is not None:
        return plan
    while cost(plan) > costs[-1] * (1 + 1e-12):
        fewer = [
            settle(tuple(level for level in plan.levels if level != out))
            for out in plan.levels[:-1]
        ]
        best = min(fewer, key=cost)
        answered = prospect.of(plan.levels).answered(plan.threshold)
        not_paid |= {
            level
            for level, share in zip(plan.levels, answered, strict=True)
            if share > 0 and level not in best.levels
        }
        plan = best
    return Plan(plan.levels, plan.threshold, tuple(sorted(not_paid)))


def _sum_from(values: Floats, weights: Floats, thresholds: Floats) -> Floats:
    """Sums of the weights of values that reach each threshold."""
    order = np.argsort(values, kind="stable")
    sums = np.append(np.cumsum(weights[order][::-1])[::-1], 0.0)
    return sums[np.searchsorted(values[order], thresholds)]
