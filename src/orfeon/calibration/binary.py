"""Calibrators of two classes: from the share of the second one to its probability.

Each is learnt from shares, 0 or 1 as labels, and weights. None of them reverses the order of two
samples, and none ever gives exactly 0 or 1.

References
----------
Platt (1999). Probabilistic outputs for support vector machines and comparisons to regularized
likelihood methods. Advances in Large Margin Classifiers, 61-74.

Zadrozny and Elkan (2002). Transforming classifier scores into accurate multiclass probability
estimates. KDD, 694-699.

Kull, Silva Filho and Flach (2017). Beta calibration: a well-founded and easily implemented
improvement on logistic calibration for binary classifiers. AISTATS, 623-631.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.isotonic import isotonic_regression

from orfeon.calibration.logistic import fit_logistic
from orfeon.calibration.samples import log_odds, log_shares
from orfeon.utils import saved
from orfeon.utils.types import Floats

#: Probabilities closer to 0 or 1 than this are moved there: logarithms stay finite.
_LEAST = 1e-12


class BinaryCalibrator(ABC):
    """From the share of a class to its probability."""

    #: The name of the method.
    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def learn(cls, shares: Floats, labels: Floats, weights: Floats) -> Self:
        """The calibrator of some samples, whose labels are 0 or 1."""

    @abstractmethod
    def probability(self, shares: Floats) -> Floats:
        """Probability of the class."""


def platt_targets(labels: Floats, weights: Floats) -> Floats:
    """Labels as Platt softens them: with one more sample of each class, half certain."""
    positive = float(weights @ labels)
    negative = float(weights @ (1.0 - labels))
    return np.where(labels > 0, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))


@saved.attributes(slope=saved.number(), intercept=saved.number())
@dataclass(frozen=True)
class SigmoidCalibrator(BinaryCalibrator):
    """Platt's sigmoid of the log odds of the share; slope 1 and intercept 0 change nothing."""

    slope: float
    intercept: float

    name: ClassVar[str] = "sigmoid"

    @classmethod
    def learn(cls, shares: Floats, labels: Floats, weights: Floats) -> Self:
        inputs = np.column_stack([log_odds(shares), np.ones(len(shares))])
        targets = platt_targets(labels, weights)
        slope, intercept = fit_logistic(inputs, targets, weights, np.array([1.0, 0.0]), 1)
        return cls(float(slope), float(intercept))

    def probability(self, shares: Floats) -> Floats:
        return _inside(expit(self.slope * log_odds(shares) + self.intercept))


@saved.attributes(slope=saved.number(), opposite_slope=saved.number(), intercept=saved.number())
@dataclass(frozen=True)
class BetaCalibrator(BinaryCalibrator):
    """Beta calibration: log odds ``a log s - b log(1 - s) + c`` of a share s, with a, b >= 0."""

    slope: float
    opposite_slope: float
    intercept: float

    name: ClassVar[str] = "beta"

    @classmethod
    def learn(cls, shares: Floats, labels: Floats, weights: Floats) -> Self:
        targets = platt_targets(labels, weights)
        start = np.array([1.0, 1.0, 0.0])
        found = fit_logistic(_beta_inputs(shares), targets, weights, start, 2)
        return cls(*(float(one) for one in found))

    def probability(self, shares: Floats) -> Floats:
        scores = self.slope * log_shares(shares) - self.opposite_slope * log_shares(1.0 - shares)
        return _inside(expit(scores + self.intercept))


def _beta_inputs(shares: Floats) -> Floats:
    return np.column_stack([log_shares(shares), -log_shares(1.0 - shares), np.ones(len(shares))])


@saved.attributes(shares=saved.finite_floats, probabilities=saved.finite_floats)
@dataclass(frozen=True, eq=False)
class IsotonicCalibrator(BinaryCalibrator):
    """A step function that rises with the share; between its steps it is a line.

    Two samples are added against its ends, a positive one of the least share and a negative one of
    the greatest, so that a few equal labels at an end do not become a probability of 0 or 1.
    """

    shares: Floats
    probabilities: Floats

    name: ClassVar[str] = "isotonic"

    @classmethod
    def learn(cls, shares: Floats, labels: Floats, weights: Floats) -> Self:
        values, total, positive = group(shares, labels, weights)
        total[0] += 1.0
        positive[0] += 1.0
        total[-1] += 1.0
        fitted = isotonic_regression(positive / total, sample_weight=total)
        # Only the two ends of each step are needed.
        inner = (fitted[1:-1] == fitted[:-2]) & (fitted[1:-1] == fitted[2:])
        kept = np.concatenate([[True], ~inner, [True]]) if len(fitted) > 1 else np.ones(1, bool)
        return cls(values[kept], np.asarray(fitted[kept], dtype=np.float64))

    def probability(self, shares: Floats) -> Floats:
        return _inside(np.interp(shares, self.shares, self.probabilities))


def group(shares: Floats, labels: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """The different shares, ascending, with the weight of all samples and of the positive ones."""
    values, which = np.unique(shares, return_inverse=True)
    total = np.bincount(which, weights=weights, minlength=len(values))
    positive = np.bincount(which, weights=weights * labels, minlength=len(values))
    return values, np.asarray(total, np.float64), np.asarray(positive, np.float64)


def _inside(probabilities: Floats) -> Floats:
    return np.clip(probabilities, _LEAST, 1.0 - _LEAST)
