"""Losses of gradient tree boosting for classification, and class probabilities.

References
----------
Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals of Statistics
29(5), 1189-1232.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit, log_softmax, softmax

from orfeon.boosting.losses import LARGEST_STEP, Loss, sums_by_leaf, weighted_mean
from orfeon.kernels.gradient import leaf_updates, log_loss
from orfeon.kernels.gradient import softmax as softmax_kernels
from orfeon.kernels.gradient.exact_round import LOG_LOSS, MULTINOMIAL
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import AnyIntegers, Floats

#: Exponents are clipped to this, so that sums of exponentials stay finite.
_LARGEST_EXPONENT = 300.0


class ClassLoss(Loss):
    """A loss of class codes, whose scores define class probabilities."""

    @abstractmethod
    def log_probabilities(self, scores: Floats) -> Floats: ...

    @abstractmethod
    def probabilities(self, scores: Floats) -> Floats: ...


def _log_odds(y: npt.NDArray[Any], weights: Floats) -> float:
    share = weighted_mean((y > 0).astype(np.float64), weights)
    least = np.finfo(np.float64).eps
    share = min(max(share, least), 1.0 - least)
    return float(np.log(share) - np.log1p(-share))


@dataclass(frozen=True)
class LogLoss(ClassLoss):
    """Minus the log-likelihood of two classes; the score is the log odds of the second.

    Leaf values are one Newton step (Friedman 2001), of at most ``LARGEST_STEP``.
    """

    kernel_kind: ClassVar[int] = LOG_LOSS
    has_row_losses: ClassVar[bool] = True

    def start(self, y: npt.NDArray[Any], weights: Floats) -> Floats:
        return np.array([_log_odds(y, weights)])

    def value(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> float:
        return float(self.row_losses(y, scores, weights).sum() / weights.sum())

    def row_losses(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        losses = np.empty(len(y))
        log_loss.log_losses(kernel_view(y), kernel_view(scores[0]), kernel_view(weights), losses)
        return losses

    def negative_gradient(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        residuals = np.empty(scores.shape)
        log_loss.negative_gradient(kernel_view(y), kernel_view(scores[0]), residuals[0])
        return residuals

    def hessian(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        return self.derivatives(y, scores, weights)[1]

    def derivatives(
        self, y: npt.NDArray[Any], scores: Floats, weights: Floats
    ) -> tuple[Floats, Floats]:
        residuals, curvature = np.empty(scores.shape), np.empty(scores.shape)
        log_loss.derivatives(kernel_view(y), kernel_view(scores[0]), residuals[0], curvature[0])
        return residuals, curvature

    def leaf_values(
        self,
        y: npt.NDArray[Any],
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: AnyIntegers,
        n_leaves: int,
    ) -> Floats:
        return _newton_steps(residuals, weights, leaves, n_leaves)

    def log_probabilities(self, scores: Floats) -> Floats:
        return np.asarray(log_expit(np.hstack([-scores, scores])))

    def probabilities(self, scores: Floats) -> Floats:
        return np.asarray(expit(np.hstack([-scores, scores])))


def _newton_steps(residuals: Floats, weights: Floats, leaves: AnyIntegers, n_leaves: int) -> Floats:
    """A Newton step for each leaf, of at most ``LARGEST_STEP``, even without curvature."""
    steps: Floats = leaf_updates.newton_steps(
        leaves, residuals, kernel_view(weights), n_leaves, LARGEST_STEP
    )
    return steps


@dataclass(frozen=True)
class MultinomialLoss(ClassLoss):
    """Minus the log-likelihood of several classes, one score each.

    Leaf values are one Newton step with the diagonal of the Hessian (Friedman 2001), of at most
    ``LARGEST_STEP``. The diagonal, p (1 - p), counts K / (K - 1) times, as in Friedman's leaf
    values.
    """

    kernel_kind: ClassVar[int] = MULTINOMIAL
    has_row_losses: ClassVar[bool] = True
    n_classes: int

    @property
    def n_scores(self) -> int:  # type: ignore[override]
        return self.n_classes

    def start(self, y: npt.NDArray[Any], weights: Floats) -> Floats:
        share = np.bincount(y, weights=weights, minlength=self.n_classes) / weights.sum()
        logarithm = np.log(np.maximum(share, np.finfo(np.float64).eps))
        return np.asarray(logarithm - logarithm.mean())

    def value(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> float:
        return float(self.row_losses(y, scores, weights).sum() / weights.sum())

    def row_losses(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        losses, scratch = np.empty(len(y)), np.empty(scores.shape)
        scores = kernel_view(np.ascontiguousarray(scores))
        highest, total = np.empty((2, len(y)))
        softmax_kernels.log_losses(
            kernel_view(y), scores, kernel_view(weights), scratch, highest, total, losses
        )
        return losses

    def negative_gradient(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        return self.derivatives(y, scores, weights)[0]

    def hessian(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        return self.derivatives(y, scores, weights)[1]

    def derivatives(
        self, y: npt.NDArray[Any], scores: Floats, weights: Floats
    ) -> tuple[Floats, Floats]:
        # A score moves K / (K - 1) times as far against the mean of all scores as alone.
        scale = self.n_classes / max(self.n_classes - 1, 1)
        residuals, curvature = np.empty(scores.shape), np.empty(scores.shape)
        scores = kernel_view(np.ascontiguousarray(scores))
        highest, total = np.empty((2, len(y)))
        softmax_kernels.derivatives(
            kernel_view(y), scores, scale, residuals, curvature, highest, total
        )
        return residuals, curvature

    def leaf_values(
        self,
        y: npt.NDArray[Any],
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: AnyIntegers,
        n_leaves: int,
    ) -> Floats:
        steps = _newton_steps(residuals, weights, leaves, n_leaves)
        return (self.n_classes - 1) / self.n_classes * steps

    def log_probabilities(self, scores: Floats) -> Floats:
        return np.asarray(log_softmax(scores, axis=1))

    def probabilities(self, scores: Floats) -> Floats:
        return np.asarray(softmax(scores, axis=1))


@dataclass(frozen=True)
class ExponentialLoss(ClassLoss):
    """The loss of AdaBoost, exp(-y F) with y = -1 or 1; the score F is half the log odds.

    The value of a leaf is the exact minimum, half the log ratio of the exponential weights of its
    classes. For a leaf of one class, which has no minimum, it is ``log(1 + 2 W) / 2``, with W the
    weight in samples: about as if half a sample of the other class were there.
    """

    def start(self, y: npt.NDArray[Any], weights: Floats) -> Floats:
        return np.array([0.5 * _log_odds(y, weights)])

    def value(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> float:
        return float(np.sum(weights * _exponentials(y, scores)[0]) / weights.sum())

    def negative_gradient(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        size = _exponentials(y, scores)
        return np.where(y > 0, size, -size)

    def hessian(self, y: npt.NDArray[Any], scores: Floats, weights: Floats) -> Floats:
        return _exponentials(y, scores)

    def leaf_values(
        self,
        y: npt.NDArray[Any],
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: AnyIntegers,
        n_leaves: int,
    ) -> Floats:
        pull = residuals[0] * weights
        up = sums_by_leaf(leaves, np.maximum(pull, 0.0), n_leaves)
        down = sums_by_leaf(leaves, np.maximum(-pull, 0.0), n_leaves)
        both = (up > 0) & (down > 0)
        exact = 0.5 * (np.log(up, where=both, out=up.copy()) - np.log(down, where=both, out=down))
        samples = sums_by_leaf(leaves, weights, n_leaves)
        alone = 0.5 * np.log1p(2.0 * samples) * np.where(up > 0, 1.0, -1.0)
        return np.where(both, exact, np.where(samples > 0, alone, 0.0))

    def log_probabilities(self, scores: Floats) -> Floats:
        return np.asarray(log_expit(2.0 * np.hstack([-scores, scores])))

    def probabilities(self, scores: Floats) -> Floats:
        return np.asarray(expit(2.0 * np.hstack([-scores, scores])))


def _exponentials(y: npt.NDArray[Any], scores: Floats) -> Floats:
    margin = np.where(y > 0, scores, -scores)
    return np.asarray(np.exp(np.clip(-margin, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)))
