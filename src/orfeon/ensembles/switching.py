"""Class-switching ensembles.

Every member is trained on all samples; a fixed fraction of their labels is switched at random to
another class. The members' errors on the training set are then independent, so the vote's training
error is a binomial tail, whatever the data (see :mod:`orfeon.inspection.theory`).

References
----------
Martínez-Muñoz and Suárez (2005). Switching class labels to generate classification ensembles.
Pattern Recognition 38(10), 1483-1494.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from orfeon.calibration.methods import Method
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import ENSEMBLE, ESTIMATOR
from orfeon.ensembles.decision import Combine
from orfeon.ensembles.perturbation import Perturbation
from orfeon.ensembles.switched_labels import SwitchedLabels
from orfeon.ensembles.voting import CLASSIFIER
from orfeon.trees import CARTClassifier
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import Interval
from orfeon.utils.types import Floats


def switch_labels(
    labels: npt.NDArray[np.integer[Any]],
    n_classes: int,
    n_switched: int,
    rng: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Switch the labels of some samples to another class, any of the others equally likely."""
    switched = labels.astype(np.int64)
    rows = rng.permutation(len(labels))[:n_switched]
    switched[rows] = (switched[rows] + rng.integers(1, n_classes, size=n_switched)) % n_classes
    return switched


@saved.attributes(switch_rate_=saved.number())
@documented(
    estimator="an unpruned :class:`orfeon.CARTClassifier`, grown until it errs on no altered label",
    n_estimators="1000",
)
class ClassSwitchingClassifier(SwitchedLabels):
    """Vote of unpruned trees, each trained on labels partly switched at random.

    Parameters
    ----------
    <estimator>
    <n_estimators>
    switch_rate : float, optional
        Fraction of the labels switched for each member; below ``(K - 1) / K`` for K classes.
        By default it follows from ``relative_rate``.
    relative_rate : float, default=0.6
        ``switch_rate`` as a fraction of its upper limit.
    <combine>
    <calibrate>
    <fitting>

    Attributes
    ----------
    switch_rate_ : float
        The rate that was used.
    <members>
    <classes>
    <calibrated>

    Notes
    -----
    Members should memorise the altered labels, as unpruned trees do. The closer the rate is to its
    limit, the more members are needed. Switching moves the class proportions of each member's
    labels towards uniform. Each label still keeps its class with probability ``1 - switch_rate``,
    so where classes are unequal this is better than :class:`FlippingClassifier`, which keeps the
    proportions by changing most labels of a small class.

    Examples
    --------
    >>> from orfeon import ClassSwitchingClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> switching = ClassSwitchingClassifier(random_state=0).fit(X, y)
    >>> round(switching.switch_rate_, 2), switching.score(X, y)
    (0.4, 1.0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **ESTIMATOR,
        **CLASSIFIER,
        "switch_rate": [Interval(Real, 0.0, 1.0, closed="left"), None],
        "relative_rate": [Interval(Real, 0.0, None, closed="left")],
    }

    switch_rate_: float

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 1000,
        *,
        switch_rate: float | None = None,
        relative_rate: float = 0.6,
        combine: Combine = "majority",
        calibrate: Method | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.switch_rate = switch_rate
        self.relative_rate = relative_rate
        self.combine = combine
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _base(self) -> Any:
        return CARTClassifier() if self.estimator is None else clone(self.estimator)

    def _prepare(self, samples: TrainingSet, members: range) -> None:
        n_classes = samples.n_classes
        limit = (n_classes - 1) / n_classes
        if n_classes == 1:
            self.switch_rate_ = 0.0  # there is no other class to switch to
            return
        if self.switch_rate is None:
            if self.relative_rate >= 1:
                raise ValueError(
                    f"relative_rate={self.relative_rate} is not allowed: it must be a fraction of "
                    f"the upper limit of switch_rate, below 1."
                )
            self.switch_rate_ = self.relative_rate * limit
            return
        if self.switch_rate >= limit:
            raise ValueError(
                f"switch_rate={self.switch_rate} is not allowed: with {n_classes} classes it must "
                f"be below (K - 1) / K = {limit:.4g}, where labels carry no information."
            )
        self.switch_rate_ = float(self.switch_rate)

    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        n_switched = round(self.switch_rate_ * len(samples))
        return Perturbation(labels=switch_labels(samples.y, samples.n_classes, n_switched, rng))

    @property
    def _switching(self) -> Floats:
        n_others = self.n_classes_ - 1
        matrix = np.full((self.n_classes_, self.n_classes_), self.switch_rate_ / n_others)
        np.fill_diagonal(matrix, 1.0 - self.switch_rate_)
        return matrix
