"""The losses of gradient tree boosting: what to start from, what to fit, and what a leaf says.

A loss is a function of the target and of one or several scores. It gives the constant to start
from, the negative gradient that trees are fitted to, and the value of each leaf once its samples
are known. Weights count copies everywhere.

References
----------
Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of Statistics
29(5), 1189-1232.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from orfeon.utils import saved
from orfeon.utils.types import Floats

Integers = npt.NDArray[np.integer[Any]]


def sums_by_leaf(leaves: Integers, terms: Floats, n_leaves: int) -> Floats:
    """Sum some terms leaf by leaf."""
    sums = np.bincount(leaves.ravel(), weights=terms.ravel(), minlength=n_leaves)
    return np.asarray(sums, dtype=np.float64)


def weighted_mean(terms: Floats, weights: Floats) -> float:
    """A mean that is exact for equal terms."""
    # Summed by NumPy: a product of vectors would depend on the threads of the linear algebra.
    return float(terms[0] + np.sum(weights * (terms - terms[0])) / weights.sum())


def _ratio(above: Floats, below: Floats) -> Floats:
    """A quotient, 0 where there is nothing to divide by."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


@saved.attributes(saved.anything)
class Loss(ABC):
    """A loss, weighted mean over samples of a function of target and scores."""

    #: Scores of a sample, and so trees in a round.
    n_scores: int = 1

    def measured(self, y: npt.NDArray[Any], weights: Floats) -> Self:
        """The loss with what it takes from the training set settled."""
        return self

    @abstractmethod
    def start(self, y: npt.NDArray[Any], weights: Floats) -> Floats:
        """The constant of least loss."""

    @abstractmethod
    def value(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> float:
        """Weighted mean loss."""

    @abstractmethod
    def negative_gradient(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        """What the trees of a round are fitted to."""

    @abstractmethod
    def leaf_values(
        self,
        y: npt.NDArray[Any],
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: Integers,
        n_leaves: int,
    ) -> Floats:
        """What each leaf adds to the scores of its samples, before shrinkage."""


@dataclass(frozen=True)
class SquaredError(Loss):
    """Half the squared error. A leaf says the mean residual, which is exact."""

    def start(self, y: Floats, weights: Floats) -> Floats:
        """The mean."""
        return np.array([weighted_mean(y, weights)])

    def value(self, y: Floats, scores: Floats, weights: Floats) -> float:
        """Half the mean squared error."""
        gap = y - scores[0]
        return float(0.5 * np.sum(weights * gap * gap) / weights.sum())

    def negative_gradient(self, y: Floats, scores: Floats, weights: Floats) -> Floats:
        """The residual."""
        return y - scores

    def leaf_values(
        self,
        y: Floats,
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: Integers,
        n_leaves: int,
    ) -> Floats:
        """The mean residual: the exact minimum."""
        total = sums_by_leaf(leaves, residuals[0] * weights, n_leaves)
        return _ratio(total, sums_by_leaf(leaves, weights, n_leaves))


@dataclass(frozen=True)
class QuantileError(Loss):
    """The pinball loss, whose minimum is a quantile; at 1/2 it is half the absolute error.

    A leaf says the quantile of its samples' residuals, which is exact.
    """

    alpha: float = 0.9

    def start(self, y: Floats, weights: Floats) -> Floats:
        """The quantile of the targets."""
        return np.array([weighted_quantile(y, weights, self.alpha)])

    def value(self, y: Floats, scores: Floats, weights: Floats) -> float:
        """The mean pinball loss."""
        gap = y - scores[0]
        pinball = np.where(gap >= 0, self.alpha * gap, (self.alpha - 1.0) * gap)
        return float(np.sum(weights * pinball) / weights.sum())

    def negative_gradient(self, y: Floats, scores: Floats, weights: Floats) -> Floats:
        """How steep the loss is on the side that the target is on."""
        return np.where(y >= scores, self.alpha, self.alpha - 1.0)

    def leaf_values(
        self,
        y: Floats,
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: Integers,
        n_leaves: int,
    ) -> Floats:
        """The quantile of what is left of the targets: the exact minimum."""
        return grouped_quantiles(y - scores[0], weights, leaves[0], n_leaves, self.alpha)


@dataclass(frozen=True)
class AbsoluteError(Loss):
    """The absolute error. A leaf says the (lower) median residual, which is exact."""

    def start(self, y: Floats, weights: Floats) -> Floats:
        """The median."""
        return np.array([weighted_quantile(y, weights, 0.5)])

    def value(self, y: Floats, scores: Floats, weights: Floats) -> float:
        """The mean absolute error."""
        return float(np.sum(weights * np.abs(y - scores[0])) / weights.sum())

    def negative_gradient(self, y: Floats, scores: Floats, weights: Floats) -> Floats:
        """The sign of the residual."""
        return np.sign(y - scores)

    def leaf_values(
        self,
        y: Floats,
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: Integers,
        n_leaves: int,
    ) -> Floats:
        """The median of what is left of the targets: the exact minimum."""
        return grouped_quantiles(y - scores[0], weights, leaves[0], n_leaves, 0.5)


@dataclass(frozen=True)
class HuberError(Loss):
    """Squared error for small residuals, absolute error for large ones.

    What is large is asked anew each round: beyond the ``alpha`` quantile of the absolute residuals.
    The loss itself is measured with the width of the first round, so that rounds can be compared.
    A leaf says the median and one step from it, as Friedman (2001) has it: not quite the minimum.
    """

    alpha: float = 0.9
    width: float | None = None

    def measured(self, y: Floats, weights: Floats) -> Self:
        """The loss with the width of the first round."""
        gap = y - self.start(y, weights)
        return replace(self, width=weighted_quantile(np.abs(gap), weights, self.alpha))

    def start(self, y: Floats, weights: Floats) -> Floats:
        """The median, which Friedman (2001) starts from."""
        return np.array([weighted_quantile(y, weights, 0.5)])

    def value(self, y: Floats, scores: Floats, weights: Floats) -> float:
        """The mean loss."""
        gap = np.abs(y - scores[0])
        width = self.width
        if width is None:
            width = weighted_quantile(gap, weights, self.alpha)
        small = np.minimum(gap, width)
        return float(np.sum(weights * small * (gap - 0.5 * small)) / weights.sum())

    def negative_gradient(self, y: Floats, scores: Floats, weights: Floats) -> Floats:
        """The residual, cut at the width of this round."""
        gap = y - scores
        width = weighted_quantile(np.abs(gap[0]), weights, self.alpha)
        return np.clip(gap, -width, width)

    def leaf_values(
        self,
        y: Floats,
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: Integers,
        n_leaves: int,
    ) -> Floats:
        """The median, and the mean of the cut deviations from it: one step, not the minimum."""
        gap = y - scores[0]
        # The width is one of the absolute residuals, so the largest of the cut ones is it.
        width = np.abs(residuals).max()
        median = grouped_quantiles(gap, weights, leaves[0], n_leaves, 0.5)
        deviation = np.clip(gap - median[leaves[0]], -width, width)
        total = sums_by_leaf(leaves, deviation * weights, n_leaves)
        return median + _ratio(total, sums_by_leaf(leaves, weights, n_leaves))


def weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """The least value with at least this share of the weight at or below it."""
    groups = np.zeros(len(values), np.int64)
    return float(grouped_quantiles(values, weights, groups, 1, share)[0])


def grouped_quantiles(
    values: Floats, weights: Floats, groups: Integers, n_groups: int, share: float
) -> Floats:
    """The weighted quantile of each group, all with one sort."""
    # Sorting by value and then, stably, by small integers is faster than sorting by both.
    order = np.argsort(values)
    narrow = groups.astype(np.int16) if n_groups < 1 << 15 else groups
    order = order[np.argsort(narrow[order], kind="stable")]
    # One running sum over all groups: each weighs about 1 in it, or light ones would be lost among
    # heavy ones. By powers of two, so that sums of counts stay exact.
    totals = np.bincount(groups, weights=weights, minlength=n_groups)
    weights = np.ldexp(weights, -np.frexp(totals)[1][groups])
    running = np.cumsum(weights[order])
    ends = np.cumsum(np.bincount(groups, minlength=n_groups))
    after = np.concatenate([[0.0], running])[ends]
    before = np.concatenate([[0.0], after[:-1]])
    # Rounding of the share must not skip a value that just reaches it.
    wanted = before + share * (after - before) * (1.0 - 1e-12)
    at = np.minimum(np.searchsorted(running, wanted), len(values) - 1)
    return np.asarray(np.where(totals > 0, values[order][at], 0.0), dtype=np.float64)
