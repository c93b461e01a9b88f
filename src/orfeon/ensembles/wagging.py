"""Wagging: every member sees all samples, with random weights.

References
----------
Bauer and Kohavi (1999). An empirical comparison of voting classification algorithms: bagging,
boosting, and variants. Machine Learning 36(1), 105-139.

Webb (2000). MultiBoosting: a technique for combining boosting and wagging. Machine Learning 40(2),
159-196.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import clone

from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import ENSEMBLE, ESTIMATOR
from orfeon.ensembles.class_sampling import DrawsByClass, draw_by_class
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.out_of_bag import LEAVING_OUT, Importance
from orfeon.ensembles.perturbation import Perturbation
from orfeon.ensembles.voting import (
    CLASS_WEIGHT,
    CLASSIFIER,
    REGRESSOR,
    AveragingRegressorMixin,
    VotingClassifierMixin,
)
from orfeon.trees import CARTClassifier, CARTRegressor
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions
from orfeon.utils.types import Floats

Noise = Literal["gaussian", "poisson"]


def gaussian_weights(n: int, scale: float, rng: np.random.Generator) -> Floats:
    """Weights of mean 1 with Gaussian noise, the negative ones clipped to 0."""
    while True:
        weights: Floats = np.maximum(1.0 + scale * rng.standard_normal(n), 0.0)
        if weights.any():
            return weights


def poisson_weights(n: int, rng: np.random.Generator) -> Floats:
    """Weights of the continuous Poisson distribution: -log(u / 1000) for whole u from 1 to 999."""
    return np.asarray(-np.log(rng.integers(1, 1000, size=n) / 1000.0))


class _Wagging(DrawsByClass):
    """Wagging of any base learner that takes weights."""

    _needs_weights: ClassVar[bool] = True
    _draws_by: ClassVar[tuple[str, ...]] = ("noise", "scale")
    _reads_sparse: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **ESTIMATOR,
        **LEAVING_OUT,
        "noise": [StrOptions({"gaussian", "poisson"})],
        "scale": [Interval(Real, 0.0, None, closed="neither")],
    }

    estimator: Any
    noise: Noise
    scale: float

    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        while True:
            if self.noise == "poisson":
                weights = poisson_weights(len(samples), rng)
            else:
                weights = gaussian_weights(len(samples), self.scale, rng)
            drawn = draw_by_class(samples, rng)
            weights = weights * (samples.weights if drawn is None else drawn)
            if weights.any():
                return Perturbation(weights=weights)


@documented(estimator="an unpruned :class:`orfeon.CARTClassifier`", n_estimators="100")
class WaggingClassifier(VotingClassifierMixin, _Wagging):
    """Vote of classifiers trained on randomly weighted samples.

    Parameters
    ----------
    <estimator>
    <n_estimators>
    noise : {"gaussian", "poisson"}, default="gaussian"
        Weights of mean 1 with Gaussian noise, negative ones clipped to 0, so that some samples are
        left out; or weights of the continuous Poisson (exponential) distribution, which leave none.
    scale : float, default=2.0
        Standard deviation of the Gaussian noise.
    <combine>
    <calibrate>
    <class_weight_drawn>
    <leaving_out>
    <fitting>

    Attributes
    ----------
    <members>
    <classes>
    <calibrated>
    <oob_classes>

    Examples
    --------
    >>> from orfeon import WaggingClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> wag = WaggingClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> round(wag.oob_error_, 2)
    0.18
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Wagging._parameter_constraints,
        **CLASSIFIER,
        **CLASS_WEIGHT,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        noise: Noise = "gaussian",
        scale: float = 2.0,
        combine: Combine = "majority",
        calibrate: Method | None = None,
        class_weight: Any = None,
        oob_score: bool = False,
        importance: Importance = "impurity",
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.noise = noise
        self.scale = scale
        self.combine = combine
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.oob_score = oob_score
        self.importance = importance
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTClassifier() if self.estimator is None else clone(self.estimator)


@documented(estimator="an unpruned :class:`orfeon.CARTRegressor`", n_estimators="100")
class WaggingRegressor(AveragingRegressorMixin, _Wagging):
    """Mean of regressors trained on randomly weighted samples.

    Parameters
    ----------
    <estimator>
    <n_estimators>
    noise : {"gaussian", "poisson"}, default="gaussian"
        Weights of mean 1 with Gaussian noise, negative ones clipped to 0, so that some samples are
        left out; or weights of the continuous Poisson (exponential) distribution, which leave none.
    scale : float, default=2.0
        Standard deviation of the Gaussian noise.
    <combine_numbers>
    <leaving_out>
    <fitting>

    Attributes
    ----------
    <members>
    <oob_predictions>

    Examples
    --------
    >>> from orfeon import WaggingRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> wag = WaggingRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> round(wag.oob_score_, 2)
    0.69
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Wagging._parameter_constraints,
        **REGRESSOR,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        noise: Noise = "gaussian",
        scale: float = 2.0,
        combine: Combine = "mean",
        oob_score: bool = False,
        importance: Importance = "impurity",
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.noise = noise
        self.scale = scale
        self.combine = combine
        self.oob_score = oob_score
        self.importance = importance
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTRegressor() if self.estimator is None else clone(self.estimator)
