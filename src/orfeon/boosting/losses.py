"""Losses of gradient tree boosting for regression, and their base class.

A loss is a function of the target and one or several scores. It defines the initial constant, the
negative gradient that trees are fitted to, and the values of leaves. Weights count copies.

References
----------
Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of Statistics
29(5), 1189-1232.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from orfeon.kernels.gradient.exact_round import GIVEN, SQUARED_ERROR
from orfeon.utils import saved
from orfeon.utils.types import AnyIntegers, Floats

#: Maximum change of log odds by a Newton step. The third derivative of the log-loss is at most its
#: second, h, so a step d lowers the loss by at least ``g d - h (exp|d| - |d| - 1)``, with g the
#: gradient. Hence no step of this size, times a learning rate of at most 0.1, can raise the loss of
#: two classes.
LARGEST_STEP = float(-np.log(np.finfo(np.float64).eps))


def sums_by_leaf(leaves: AnyIntegers, terms: Floats, n_leaves: int) -> Floats:
    sums = np.bincount(leaves.ravel(), weights=terms.ravel(), minlength=n_leaves)
    return np.asarray(sums, dtype=np.float64)


def weighted_mean(terms: Floats, weights: Floats) -> float:
    """A mean that is exact for equal terms."""
    # Not a dot product, which depends on the number of BLAS threads.
    return float(terms[0] + np.sum(weights * (terms - terms[0])) / weights.sum())


def _ratio(above: Floats, below: Floats) -> Floats:
    """The quotient, or 0 where the divisor is 0."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


@saved.attributes(saved.anything)
class Loss(ABC):
    """A loss; its value is a weighted mean over samples."""

    #: Scores per sample, and trees per round.
    n_scores: int = 1
    #: Whether the residual and the loss of a sample depend on no other sample.
    is_by_row: ClassVar[bool] = True
    #: Whether there are :meth:`row_losses`.
    has_row_losses: ClassVar[bool] = False
    #: Whether second derivatives count as 1, and leaf values are the exact minima.
    has_constant_hessian: ClassVar[bool] = False

    #: Which of the losses that the kernel of a round knows, if any.
    kernel_kind: ClassVar[int] = GIVEN
    #: Whether the value of the loss is known, so that rounds can be compared.
    has_value: bool = True

    def check_target(self, y: npt.NDArray[Any]) -> None:  # noqa: B027  most losses take any number
        """Reject targets that the loss is not defined for."""

    def predictions(self, scores: Floats) -> Floats:
        """Predictions made of scores of shape (n_rows, n_scores)."""
        return scores[:, 0]

    def scores_of(self, predictions: Floats) -> Floats:
        """Scores of shape (n_scores, n_rows) that give these predictions."""
        return np.ascontiguousarray(predictions, dtype=np.float64)[None]

    def measured(self, y: npt.NDArray[Any], weights: Floats) -> Self:
        """The loss with its data-dependent constants set from the training set."""
        return self

    @abstractmethod
    def start(self, y: npt.NDArray[Any], weights: Floats) -> Floats:
        """The constant to start from, of shape (n_scores,)."""

    @abstractmethod
    def value(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> float:
        """Weighted mean loss."""

    def row_losses(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        """Weight times loss of each sample; their sum over that of the weights is the value."""
        raise NotImplementedError(f"{type(self).__name__} has no losses of single samples.")

    @abstractmethod
    def negative_gradient(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        """The residuals that the trees of a round are fitted to."""

    def hessian(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        """Second derivatives of the loss of each sample, of shape (n_scores, n_rows).

        They are not multiplied by the weights, and never negative.
        """
        if self.has_constant_hessian:
            return np.ones((self.n_scores, len(y)))
        raise NotImplementedError(f"{type(self).__name__} has no second derivatives.")

    def derivatives(
        self, y: npt.NDArray[Any], scores: Floats, weights: Floats
    ) -> tuple[Floats, Floats]:
        """The negative gradient and the Hessian's diagonal."""
        return self.negative_gradient(y, scores, weights), self.hessian(y, scores, weights)

    @abstractmethod
    def leaf_values(
        self,
        y: npt.NDArray[Any],
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: AnyIntegers,
        n_leaves: int,
    ) -> Floats:
        """Value of each leaf, before shrinkage."""

    def penalized_leaf_values(
        self,
        y: npt.NDArray[Any],
        scores: Floats,
        weights: Floats,
        leaves: AnyIntegers,
        n_leaves: int,
        l2: float,
        l1: float,
    ) -> Floats | None:
        """Exact minima of the loss and the penalties of Newton trees, where they are known."""
        return None


@dataclass(frozen=True)
class SquaredError(Loss):
    """Half the squared error; leaf values are mean residuals, the exact minimum."""

    kernel_kind: ClassVar[int] = SQUARED_ERROR
    has_constant_hessian: ClassVar[bool] = True

    def start(self, y: Floats, weights: Floats) -> Floats:
        return np.array([weighted_mean(y, weights)])

    def value(self, y: Floats, scores: Floats, weights: Floats) -> float:
        difference = y - scores[0]
        return float(0.5 * np.sum(weights * difference * difference) / weights.sum())

    def negative_gradient(self, y: Floats, scores: Floats, weights: Floats) -> Floats:
        return y - scores

    def leaf_values(
        self,
        y: Floats,
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: AnyIntegers,
        n_leaves: int,
    ) -> Floats:
        total = sums_by_leaf(leaves, residuals[0] * weights, n_leaves)
        return _ratio(total, sums_by_leaf(leaves, weights, n_leaves))


@dataclass(frozen=True)
class QuantileError(Loss):
    """The pinball loss; leaf values are quantiles of the residuals, the exact minimum."""

    has_constant_hessian: ClassVar[bool] = True
    alpha: float = 0.9

    def start(self, y: Floats, weights: Floats) -> Floats:
        return np.array([weighted_quantile(y, weights, self.alpha)])

    def value(self, y: Floats, scores: Floats, weights: Floats) -> float:
        difference = y - scores[0]
        pinball = np.where(
            difference >= 0, self.alpha * difference, (self.alpha - 1.0) * difference
        )
        return float(np.sum(weights * pinball) / weights.sum())

    def negative_gradient(self, y: Floats, scores: Floats, weights: Floats) -> Floats:
        return np.where(y >= scores, self.alpha, self.alpha - 1.0)

    def leaf_values(
        self,
        y: Floats,
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: AnyIntegers,
        n_leaves: int,
    ) -> Floats:
        return grouped_quantiles(y - scores[0], weights, leaves[0], n_leaves, self.alpha)


@dataclass(frozen=True)
class AbsoluteError(Loss):
    """The absolute error; leaf values are (lower) median residuals, the exact minimum."""

    has_constant_hessian: ClassVar[bool] = True

    def start(self, y: Floats, weights: Floats) -> Floats:
        return np.array([weighted_quantile(y, weights, 0.5)])

    def value(self, y: Floats, scores: Floats, weights: Floats) -> float:
        return float(np.sum(weights * np.abs(y - scores[0])) / weights.sum())

    def negative_gradient(self, y: Floats, scores: Floats, weights: Floats) -> Floats:
        return np.sign(y - scores)

    def leaf_values(
        self,
        y: Floats,
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: AnyIntegers,
        n_leaves: int,
    ) -> Floats:
        return grouped_quantiles(y - scores[0], weights, leaves[0], n_leaves, 0.5)


@dataclass(frozen=True)
class HuberError(Loss):
    """Squared error for small residuals, absolute error for large ones.

    Residuals beyond the ``alpha`` quantile of their absolute values are large, by the residuals of
    each round. The value of the loss uses the width of the first round, so that rounds can be
    compared. Leaf values are one step from the median (Friedman 2001), not quite the minimum.
    """

    is_by_row: ClassVar[bool] = False
    has_constant_hessian: ClassVar[bool] = True
    alpha: float = 0.9
    width: float | None = None

    def measured(self, y: Floats, weights: Floats) -> Self:
        difference = y - self.start(y, weights)
        return replace(self, width=weighted_quantile(np.abs(difference), weights, self.alpha))

    def start(self, y: Floats, weights: Floats) -> Floats:
        return np.array([weighted_quantile(y, weights, 0.5)])

    def value(self, y: Floats, scores: Floats, weights: Floats) -> float:
        difference = np.abs(y - scores[0])
        width = self.width
        if width is None:
            width = weighted_quantile(difference, weights, self.alpha)
        small = np.minimum(difference, width)
        return float(np.sum(weights * small * (difference - 0.5 * small)) / weights.sum())

    def negative_gradient(self, y: Floats, scores: Floats, weights: Floats) -> Floats:
        difference = y - scores
        width = weighted_quantile(np.abs(difference[0]), weights, self.alpha)
        return np.clip(difference, -width, width)

    def leaf_values(
        self,
        y: Floats,
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: AnyIntegers,
        n_leaves: int,
    ) -> Floats:
        difference = y - scores[0]
        # The largest clipped residual equals the width of the round.
        width = np.abs(residuals).max()
        median = grouped_quantiles(difference, weights, leaves[0], n_leaves, 0.5)
        deviation = np.clip(difference - median[leaves[0]], -width, width)
        total = sums_by_leaf(leaves, deviation * weights, n_leaves)
        return median + _ratio(total, sums_by_leaf(leaves, weights, n_leaves))


def weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """The least value with at least this share of the weight at or below it."""
    groups = np.zeros(len(values), np.int64)
    return float(grouped_quantiles(values, weights, groups, 1, share)[0])


def grouped_quantiles(
    values: Floats, weights: Floats, groups: AnyIntegers, n_groups: int, share: float
) -> Floats:
    """The weighted quantile of each group, by one sort."""
    # Sorting by value and then, stably, by small integers is faster than sorting by both.
    order = np.argsort(values)
    narrow = groups.astype(np.int16) if n_groups < 1 << 15 else groups
    order = order[np.argsort(narrow[order], kind="stable")]
    # In one running sum, light groups would be lost among heavy ones, so each is scaled to about 1,
    # by powers of two, so that sums of counts stay exact.
    totals = np.bincount(groups, weights=weights, minlength=n_groups)
    weights = np.ldexp(weights, -np.frexp(totals)[1][groups])
    running = np.cumsum(weights[order])
    ends = np.cumsum(np.bincount(groups, minlength=n_groups))
    after = np.concatenate([[0.0], running])[ends]
    before = np.concatenate([[0.0], after[:-1]])
    # Rounding must not skip a value that exactly reaches the share.
    wanted = before + share * (after - before) * (1.0 - 1e-12)
    at = np.minimum(np.searchsorted(running, wanted), len(values) - 1)
    return np.asarray(np.where(totals > 0, values[order][at], 0.0), dtype=np.float64)
