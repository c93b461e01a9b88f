"""What AdaBoost.R and AdaBoost.R2 share: boosted regressors that take a weighted median."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.boosting.base import BoostedEnsemble
from orfeon.boosting.weighted_vote import WeightedMedianMixin
from orfeon.trees.cart import CARTRegressor
from orfeon.utils.types import Floats

#: A prediction that is off by less than this share of the largest target is right but for rounding.
ROUNDING = 1e-12
#: The same as a share of the range of the targets.
_OF_RANGE = 1e-9


def without_unit(weights: Floats) -> Floats:
    """Weights on a scale of about one: the unit that they are measured in does not matter."""
    largest = float(weights.max())
    if (weights == largest).all():
        return np.ones(len(weights))
    return np.asarray(np.ldexp(weights, -int(np.frexp(largest)[1])))


def distances(answers: npt.ArrayLike, targets: Floats) -> Floats:
    """How far predictions are from targets; nothing, where rounding explains it."""
    numbers = np.asarray(answers, dtype=np.float64)
    if np.isnan(numbers).any():
        raise ValueError(
            f"estimator predicts NaN for {int(np.isnan(numbers).sum())} of {len(targets)} training "
            "samples; only numbers can be boosted."
        )
    away = np.abs(numbers - targets)
    largest = np.abs(targets).max()
    # Far from 0 the digits that are left must tell targets apart, and are not all taken for noise.
    noise = max(min(ROUNDING * largest, _OF_RANGE * np.ptp(targets)), 4 * np.spacing(largest))
    return np.where(away <= noise, 0.0, away)


class MedianBooster(WeightedMedianMixin, BoostedEnsemble):
    """A boosted regressor whose members are trees of depth three unless others are given."""

    estimator: object

    def _base(self) -> object:
        return CARTRegressor(max_depth=3) if self.estimator is None else self.estimator

    @property
    def betas_(self) -> Floats:
        """Odds of the members' errors, e / (1 - e): votes are the logarithms of 1 / beta."""
        check_is_fitted(self, "members_")
        with np.errstate(divide="ignore"):
            return np.asarray(self.errors_ / (1.0 - self.errors_))
