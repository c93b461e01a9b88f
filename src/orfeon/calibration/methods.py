"""Calibration methods by name, and how well they do on samples that they did not see."""

from __future__ import annotations

from typing import Literal

import numpy as np

from orfeon.calibration.binary import (
    BetaCalibrator,
    BinaryCalibrator,
    IsotonicCalibrator,
    SigmoidCalibrator,
)
from orfeon.calibration.calibrator import Calibrator
from orfeon.calibration.one_against_rest import OneAgainstRest
from orfeon.calibration.samples import ScoredSamples
from orfeon.calibration.softmax import SoftmaxCalibrator
from orfeon.calibration.venn_abers import VennAbersCalibrator
from orfeon.utils.types import Floats, Integers

Method = Literal["sigmoid", "isotonic", "beta", "venn_abers", "auto"]

_BINARY: dict[str, type[BinaryCalibrator]] = {
    kind.name: kind
    for kind in (SigmoidCalibrator, BetaCalibrator, IsotonicCalibrator, VennAbersCalibrator)
}
#: Names of the methods; "auto" is one of the others.
METHODS = ("sigmoid", "isotonic", "beta", "venn_abers", "auto")


def learn(samples: ScoredSamples, method: str) -> Calibrator:
    """Learn a calibrator of two or more classes; "auto" takes the best on folds of the samples."""
    if method == "auto":
        method = best_method(samples)
    if samples.n_classes > 2 and method == "sigmoid":
        return SoftmaxCalibrator.learn_scaling(samples)
    if samples.n_classes > 2 and method == "beta":
        return SoftmaxCalibrator.learn_matrix(samples)
    return OneAgainstRest.learn(samples, _BINARY[method])


def best_method(samples: ScoredSamples) -> str:
    """The method with the lowest log loss on folds, each calibrated by the others."""
    if (samples.fold == samples.fold[0]).all():
        return "sigmoid"
    losses = {name: cross_fitted_log_loss(samples, name) for name in _BINARY}
    return min(losses, key=losses.__getitem__)


def learn_without_folds(samples: ScoredSamples, method: str) -> dict[int, Calibrator]:
    """For each fold, the calibrator of all others; none if there is only one fold."""
    folds = np.unique(samples.fold).tolist()
    if len(folds) < 2:
        return {}
    return {fold: learn(samples.take(samples.fold != fold), method) for fold in folds}


def cross_fitted(calibrators: dict[int, Calibrator], shares: Floats, fold: Integers) -> Floats:
    """Probabilities of samples by calibrators that did not see their fold, NaN without one."""
    found = np.full(shares.shape, np.nan)
    for number, calibrator in calibrators.items():
        rows = np.flatnonzero((fold == number) & ~np.isnan(shares[:, 0]))
        found[rows] = calibrator.probabilities(shares[rows])
    return found


def cross_fitted_log_loss(
    samples: ScoredSamples, method: str, calibrators: dict[int, Calibrator] | None = None
) -> float:
    """Log loss of samples by calibrators that did not see their fold; NaN with one fold."""
    if calibrators is None:
        calibrators = learn_without_folds(samples, method)
    if not calibrators:
        return float("nan")
    return samples.mean_log_loss(cross_fitted(calibrators, samples.shares, samples.fold))
