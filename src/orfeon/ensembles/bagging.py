"""Bagging: members trained on bootstrap samples.

References
----------
Breiman (1996). Bagging predictors. Machine Learning 24(2), 123-140.

Breiman (1999). Pasting small votes for classification in large databases and on-line. Machine
Learning 36(1), 85-103.

Christensen (2003). Balancing bagging. Workshop on Multiple Classifier Systems.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import ENSEMBLE, ESTIMATOR
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.out_of_bag import LEAVING_OUT, Importance, LeavingOut
from orfeon.ensembles.perturbation import (
    Perturbation,
    deal_balanced,
    draw_with_replacement,
    draw_without_replacement,
    sample_size,
)
from orfeon.ensembles.voting import (
    CLASS_WEIGHT,
    CLASSIFIER,
    REGRESSOR,
    AveragingRegressorMixin,
    VotingClassifierMixin,
)
from orfeon.trees import CARTClassifier, CARTRegressor
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval, StrOptions
from orfeon.utils.seeding import Purpose, branch

Bootstrap = bool | Literal["balanced"]

SAMPLING: dict[str, list[Any]] = {
    "bootstrap": ["boolean", StrOptions({"balanced"})],
    "max_samples": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0.0, 1.0, closed="right"),
        None,
    ],
}


@saved.attributes(
    _n_drawn=saved.integer(0),
    _dealt=saved.list_of(saved.array("u4", 2)),
    _batches=saved.optional(saved.list_of(saved.batch)),
)
class Resampling(LeavingOut):
    """An ensemble whose members see random samples, drawn with or without replacement."""

    _draws_by: ClassVar[tuple[str, ...]] = ("bootstrap", "max_samples")
    #: Whether members differ by how often each sample is drawn.
    _draws_samples: ClassVar[bool] = True

    _only_resamples: ClassVar[bool] = True

    bootstrap: Bootstrap
    max_samples: float | None
    _batches: list[range]
    _dealt: list[npt.NDArray[np.uint32]]

    def _only_draws(self, samples: TrainingSet) -> bool:
        everything = sample_size(self.max_samples, len(samples)) == len(samples)
        return bool(self.bootstrap) or not everything

    def _prepare(self, samples: TrainingSet, members: range) -> None:
        self._n_drawn = sample_size(self.max_samples, len(samples))
        if self.bootstrap != "balanced":
            return
        # Members added by a warm start are balanced among themselves.
        key = self._history[-1][1]
        self._batches = [batch for batch, other in self._history if other == key and len(batch)]
        self._dealt = [self._deal(samples, batch) for batch in self._batches]

    def _deal(self, samples: TrainingSet, batch: range) -> npt.NDArray[np.uint32]:
        rng = np.random.default_rng(branch(self._sequence, Purpose.DEALING_SAMPLES, batch.start))
        return deal_balanced(samples, rng, len(batch), self._n_drawn)

    def _finish(self, samples: TrainingSet, seen: npt.NDArray[np.bool_] | None) -> None:
        super()._finish(samples, seen)
        self._dealt = []

    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        return Perturbation(weights=self._draw(samples, rng, member))

    def _draw(
        self, samples: TrainingSet, rng: np.random.Generator, member: int
    ) -> npt.NDArray[Any] | None:
        """How often each sample was drawn for a member."""
        if self.bootstrap == "balanced":
            batch = next(k for k, batch in enumerate(self._batches) if member in batch)
            dealt = self._dealt[batch][member - self._batches[batch].start]
            return np.asarray(dealt, dtype=np.int64)
        if self.bootstrap:
            return draw_with_replacement(samples, rng, self._n_drawn)
        if self._n_drawn == len(samples):
            return None
        return draw_without_replacement(samples, rng, self._n_drawn)


class _Bagging(Resampling):
    """Bagging of any base learner."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **ESTIMATOR,
        **SAMPLING,
        **LEAVING_OUT,
    }

    estimator: Any


@documented(
    estimator="an unpruned :class:`orfeon.CARTClassifier`", n_estimators="100", bootstrap="True"
)
class BaggingClassifier(VotingClassifierMixin, _Bagging):
    """Vote of classifiers trained on bootstrap samples.

    Parameters
    ----------
    <estimator>
    <n_estimators>
    <bootstrap>
    <combine>
    <calibrate>
    <class_weight>
    <leaving_out>
    <fitting>

    Attributes
    ----------
    <members>
    <classes>
    <calibrated>
    <oob_classes>

    Notes
    -----
    Samples are drawn in proportion to their ``sample_weight``. Whole-number weights count copies,
    so a bootstrap sample may hold one of two copies and leave the other out.

    Examples
    --------
    >>> from orfeon import BaggingClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> round(bag.oob_error_, 2)
    0.17
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Bagging._parameter_constraints,
        **CLASSIFIER,
        **CLASS_WEIGHT,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        bootstrap: Bootstrap = True,
        max_samples: float | None = 1.0,
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
        self.bootstrap = bootstrap
        self.max_samples = max_samples
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


@documented(
    estimator="an unpruned :class:`orfeon.CARTRegressor`", n_estimators="100", bootstrap="True"
)
class BaggingRegressor(AveragingRegressorMixin, _Bagging):
    """Mean of regressors trained on bootstrap samples.

    Parameters
    ----------
    <estimator>
    <n_estimators>
    <bootstrap>
    <combine_numbers>
    <leaving_out>
    <quantiles>
    <fitting>

    Attributes
    ----------
    <members>
    <oob_predictions>

    Examples
    --------
    >>> from orfeon import BaggingRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> bag = BaggingRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> round(bag.oob_score_, 2)
    0.7
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_Bagging._parameter_constraints,
        **REGRESSOR,
        "quantiles": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        bootstrap: Bootstrap = True,
        max_samples: float | None = 1.0,
        combine: Combine = "mean",
        oob_score: bool = False,
        importance: Importance = "impurity",
        quantiles: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.combine = combine
        self.oob_score = oob_score
        self.importance = importance
        self.quantiles = quantiles
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTRegressor() if self.estimator is None else clone(self.estimator)
