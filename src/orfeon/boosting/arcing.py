"""Arc-x4: weights that grow with the fourth power of how often a sample was misclassified.

References
----------
Breiman (1998). Arcing classifiers. Annals of Statistics 26(3), 801-849.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.boosting.base import BOOSTED, VOTED, BoostedEnsemble
from orfeon.boosting.learners import Sampling
from orfeon.boosting.loop import RoundResult, Scheme
from orfeon.boosting.weighted_vote import WeightedVoteMixin
from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.decision import OWN, Combine
from orfeon.trees.cart import CARTClassifier
from orfeon.utils.documentation import documented
from orfeon.utils.types import Floats


class ArcX4Scheme(Scheme):
    """The formulas of arc-x4: equal votes, and weights of 1 + m**4."""

    def __init__(self, labels: npt.NDArray[Any], weights: Floats) -> None:
        self._labels = labels
        self.initial = np.asarray(weights / weights.sum())
        self.n_wrong = np.zeros(len(labels), np.int64)

    @property
    def weights(self) -> Floats:
        """Weights of the samples, which sum to 1."""
        weights = self.initial * (1.0 + self.n_wrong.astype(np.float64) ** 4)
        return np.asarray(weights / weights.sum())

    @property
    def labels(self) -> npt.NDArray[Any]:
        """Class codes."""
        return self._labels

    def evaluate(self, answers: npt.NDArray[Any]) -> RoundResult:
        """Weighted error, and the same vote for every member."""
        return RoundResult(float(self.weights[answers != self.labels].sum()), 1.0)

    def reweigh(
        self, answers: npt.NDArray[Any], result: RoundResult, rng: np.random.Generator
    ) -> None:
        """Count what the member got wrong."""
        self.n_wrong += answers != self.labels


@documented(estimator="an unpruned :class:`orfeon.CARTClassifier`", n_estimators="50")
class ArcX4Classifier(WeightedVoteMixin, BoostedEnsemble):
    """Vote of classifiers, each with more weight on samples that earlier ones often misclassified.

    Parameters
    ----------
    <estimator>
    <n_estimators>
    sampling : {"weights", "resample"}, default="resample"
        Whether members are trained on bootstrap samples drawn by the weights, as Breiman does, or
        with the weights themselves. An estimator that takes no weights always gets a bootstrap
        sample.
    <combine_boosted>
    <calibrate_boosted>
    <stopping>
    <fitting>

    Attributes
    ----------
    <members>
    <boosted>
    <classes>
    <calibrated>

    Notes
    -----
    The weight of a sample is proportional to 1 + m**4, where m counts the members that got it
    wrong, and all members have the same vote. With ``sampling="weights"`` and trees that make no
    error on the training samples, all members are the same tree.

    Examples
    --------
    >>> from orfeon import ArcX4Classifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> round(ArcX4Classifier(random_state=0).fit(X, y).score(X_test, y_test), 2)
    0.81
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**BOOSTED, **VOTED}

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        sampling: Sampling = "resample",
        combine: Combine = OWN,
        calibrate: Method | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 0.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sampling = sampling
        self.combine = combine
        self.calibrate = calibrate
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTClassifier() if self.estimator is None else self.estimator

    def _scheme(self, samples: TrainingSet) -> Scheme:
        return ArcX4Scheme(samples.y, samples.weights)
