"""MultiBoosting: boosted committees, each started from random weights.

References
----------
Webb (2000). MultiBoosting: a technique for combining boosting and wagging. Machine Learning
40(2), 159-196.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.boosting.adaboost import AdaBoostScheme
from orfeon.boosting.base import BOOSTED, VOTED, BoostedEnsemble
from orfeon.boosting.learners import Sampling
from orfeon.boosting.loop import RoundResult, Scheme
from orfeon.boosting.weighted_vote import WeightedVoteMixin
from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.decision import OWN, Combine
from orfeon.ensembles.wagging import poisson_weights
from orfeon.trees.c45 import C45Classifier
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval
from orfeon.utils.types import Floats


def committee_ends(n_members: int, n_committees: int | None = None) -> npt.NDArray[np.int64]:
    """Number of members after which each committee but the last ends."""
    many = int(np.sqrt(n_members)) if n_committees is None else n_committees
    steps = np.arange(1, many, dtype=np.int64)
    return np.asarray(-((-steps * n_members) // many))


class MultiBoostScheme(AdaBoostScheme):
    """AdaBoost's formulas, with new random weights for each committee."""

    def __init__(
        self,
        labels: npt.NDArray[Any],
        weights: Floats,
        n_classes: int,
        ends: npt.NDArray[np.int64],
        min_weight: float = 1e-8,
    ) -> None:
        super().__init__(labels, weights, n_classes, "restart", min_weight)
        self.ends = ends.tolist()
        self.n_members = 0

    def begin(self, rng: np.random.Generator) -> None:
        self._begin_anew(rng)

    def _begin_anew(self, rng: np.random.Generator) -> None:
        self._settle(self.initial * poisson_weights(len(self.initial), rng))

    def reweigh(
        self, answers: npt.NDArray[Any], result: RoundResult, rng: np.random.Generator
    ) -> None:
        """Reweight as AdaBoost does, or draw weights if a committee ends or a member fails."""
        self.n_members += result.keep
        failed = not result.keep or result.error == 0
        if failed or (self.ends and self.n_members >= self.ends[0]):
            self.ends = self.ends[1:]  # the committee that begins runs to the end of the next one
            self._begin_anew(rng)
        else:
            super().reweigh(answers, result, rng)


@documented(estimator="a pruned :class:`orfeon.C45Classifier`", n_estimators="100")
class MultiBoostClassifier(WeightedVoteMixin, BoostedEnsemble):
    """Weighted vote of boosted committees, each started from random weights.

    Boosting lowers bias and variance, wagging (random weights) lowers variance. Together they are
    less sensitive to noise than boosting alone. ``n_estimators`` counts the members of all
    committees.

    Parameters
    ----------
    <estimator>
    <n_estimators>
    n_committees : int, optional
        Number of committees; by default the square root of ``n_estimators``, rounded down.
    <sampling>
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
    The random weights follow the continuous Poisson distribution. A committee ends early when a
    member errs on half of the weight (it is dropped) or on nothing (it is kept, with the vote of an
    error of 1e-10); the next one then starts. With trees that make no training error, such as
    unpruned ones, only wagging remains. A ``warm_start`` extends the last committee of the first
    fit.

    Examples
    --------
    >>> from orfeon import MultiBoostClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(2000, random_state=1)
    >>> round(MultiBoostClassifier(random_state=0).fit(X, y).score(X_test, y_test), 2)
    0.81
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BOOSTED,
        **VOTED,
        "n_committees": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        n_committees: int | None = None,
        sampling: Sampling = "weights",
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
        self.n_committees = n_committees
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
        return C45Classifier() if self.estimator is None else self.estimator

    def _scheme(self, samples: TrainingSet) -> Scheme:
        many = self.n_committees
        if many is not None and many > self.n_estimators:
            raise ValueError(
                f"n_committees={many} is more than n_estimators={self.n_estimators}; a committee "
                "has at least one member."
            )
        ends = committee_ends(self.n_estimators, many)
        return MultiBoostScheme(samples.y, samples.weights, max(2, samples.n_classes), ends)
