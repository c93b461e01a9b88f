"""The deviances of Poisson, gamma and Tweedie distributions, whose score is the log of the mean.

The variance of a target is proportional to a power of its mean: 1 is Poisson (counts), 2 gamma
(positive amounts), and between them is a sum of a random number of such amounts, which may be 0.

References
----------
Jørgensen (1997). The theory of dispersion models. Chapman and Hall.

Yang, Qian and Zou (2018). Insurance premium prediction via gradient tree-boosted Tweedie compound
Poisson models. Journal of Business & Economic Statistics 36(3), 456-470.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from orfeon.boosting.losses import Loss, sums_by_leaf, weighted_mean
from orfeon.utils.types import AnyIntegers, Floats

#: Logs of means are clipped to this in exponents, so that sums of them stay finite.
_LARGEST_LOG = 350.0
#: Halvings of the interval in which the value of a leaf is.
_HALVINGS = 60
#: The log of a mean of 0.
_LEAST_LOG = float(np.log(np.finfo(np.float64).eps))


@dataclass(frozen=True)
class TweedieDeviance(Loss):
    """Half of the deviance of a Tweedie distribution.

    The value of a leaf is the exact minimum, the log of the ratio of two sums. For a leaf whose
    targets are all 0, which has no minimum, it is ``-log(1 + 2 W)``, with W the weight in samples:
    as if half a sample with the mean so far were there.
    """

    power: float

    def check_target(self, y: Floats) -> None:
        least, names = float(y.min()), {1.0: '"poisson"', 2.0: '"gamma"'}
        name = names.get(self.power, '"tweedie"')
        if self.power == 2.0 and least <= 0:
            raise ValueError(
                f"loss={name} needs targets above 0, but the smallest value of y is {least:g}; "
                'loss="tweedie" also takes targets of 0.'
            )
        if least < 0:
            raise ValueError(
                f"loss={name} needs targets of 0 or more, but the smallest value of y is {least:g}."
            )

    def start(self, y: Floats, weights: Floats) -> Floats:
        mean = weighted_mean(y, weights)
        return np.array([np.log(mean) if mean > 0 else _LEAST_LOG])

    def value(self, y: Floats, scores: Floats, weights: Floats) -> float:
        log_mean = _clipped(scores[0])
        return float(np.sum(weights * self._half_deviance(y, log_mean)) / weights.sum())

    def _half_deviance(self, y: Floats, log_mean: Floats) -> Floats:
        p = self.power
        if p == 1.0:
            return np.asarray(xlogy(y, y) - y - y * log_mean + np.exp(log_mean))
        if p == 2.0:
            return np.asarray(y * np.exp(-log_mean) - 1.0 - np.log(y) + log_mean)
        pull, push = self._terms(y, log_mean)
        return y ** (2.0 - p) / ((1.0 - p) * (2.0 - p)) - pull / (1.0 - p) + push / (2.0 - p)

    def _terms(self, y: Floats, log_mean: Floats) -> tuple[Floats, Floats]:
        """What pulls the mean up and down; the gradient is their difference."""
        p = self.power
        pull = y if p == 1.0 else y * np.exp((1.0 - p) * log_mean)
        push = np.ones(len(y)) if p == 2.0 else np.exp((2.0 - p) * log_mean)
        return pull, push

    def negative_gradient(self, y: Floats, scores: Floats, weights: Floats) -> Floats:
        pull, push = self._terms(y, _clipped(scores[0]))
        return np.asarray(pull - push)[None]

    def hessian(self, y: Floats, scores: Floats, weights: Floats) -> Floats:
        return self.derivatives(y, scores, weights)[1]

    def derivatives(self, y: Floats, scores: Floats, weights: Floats) -> tuple[Floats, Floats]:
        pull, push = self._terms(y, _clipped(scores[0]))
        curvature = (self.power - 1.0) * pull + (2.0 - self.power) * push
        return np.asarray(pull - push)[None], np.asarray(curvature)[None]

    def leaf_values(
        self,
        y: Floats,
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: AnyIntegers,
        n_leaves: int,
    ) -> Floats:
        return self._minima(y, scores, weights, leaves, n_leaves)[0]

    def _minima(
        self, y: Floats, scores: Floats, weights: Floats, leaves: AnyIntegers, n_leaves: int
    ) -> tuple[Floats, Floats, Floats]:
        """The minimum of each leaf, and the sums that pull its mean up and down."""
        pull, push = self._terms(y, _clipped(scores[0]))
        up = sums_by_leaf(leaves, pull * weights, n_leaves)
        down = sums_by_leaf(leaves, push * weights, n_leaves)
        samples = sums_by_leaf(leaves, weights, n_leaves)
        both = (up > 0) & (down > 0)
        exact = np.log(up, where=both, out=np.zeros(n_leaves))
        exact -= np.log(down, where=both, out=np.zeros(n_leaves))
        return np.where(both, exact, -np.log1p(2.0 * samples)), up, down

    def penalized_leaf_values(
        self,
        y: Floats,
        scores: Floats,
        weights: Floats,
        leaves: AnyIntegers,
        n_leaves: int,
        l2: float,
        l1: float,
    ) -> Floats:
        """Minima with penalties: a Newton step of an exponential goes much too far upwards."""
        exact, up, down = self._minima(y, scores, weights, leaves, n_leaves)
        if l2 == 0.0 and l1 == 0.0:
            return exact
        towards = np.where(np.abs(up - down) > l1, np.sign(exact), 0.0)
        near, far = np.zeros(n_leaves), exact.copy()
        for _ in range(_HALVINGS):  # the minimum is between no change and that without penalties
            middle = 0.5 * (near + far)
            slope = down * np.exp((2.0 - self.power) * middle) + l2 * middle + l1 * towards
            is_beyond = towards * (slope - up * np.exp((1.0 - self.power) * middle)) > 0
            near, far = np.where(is_beyond, near, middle), np.where(is_beyond, middle, far)
        return np.where(towards == 0.0, 0.0, 0.5 * (near + far))

    def predictions(self, scores: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(scores[:, 0]))

    def scores_of(self, predictions: Floats) -> Floats:
        return np.log(np.maximum(predictions, np.finfo(np.float64).tiny))[None]


def _clipped(log_mean: Floats) -> Floats:
    return np.clip(log_mean, -_LARGEST_LOG, _LARGEST_LOG)
