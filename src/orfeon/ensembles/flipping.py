"""Flipping: labels altered at random without changing the class proportions.

References
----------
Breiman (2000). Randomizing outputs to increase prediction accuracy. Machine Learning 40(3),
229-242.
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
from orfeon.utils.user_warning import warn_user

ROUNDING = 1e-9  # rounding must not put a rate at the limit beyond it


def flip_probabilities(class_shares: Floats, flip_rate: float) -> Floats:
    """Probability that a label of class i becomes one of class j.

    Beyond :func:`largest_flip_rate` the formula gives the smallest class a negative probability to
    stay. Its row is clipped to probabilities: all its labels change.
    """
    w = flip_rate / max(_room(class_shares), np.finfo(np.float64).tiny)
    probabilities = np.tile(w * class_shares, (len(class_shares), 1))
    np.fill_diagonal(probabilities, 1.0 - w * (1.0 - class_shares))
    beyond = probabilities.diagonal() < 0
    beyond |= probabilities.sum(axis=1) > 1.0 + ROUNDING  # 1 - share was rounded to 0
    probabilities[beyond] = probabilities[beyond].clip(0.0)
    probabilities[beyond] /= probabilities[beyond].sum(axis=1, keepdims=True)
    return probabilities


def largest_flip_rate(class_shares: Floats) -> float:
    """Rate at which all labels of the smallest class change: beyond it, shares cannot be kept."""
    return _room(class_shares) / (1.0 - float(class_shares.min()))


def _room(class_shares: Floats) -> float:
    room = 1.0 - float(class_shares @ class_shares)
    if room < ROUNDING:  # one class has nearly all the weight, and the difference is rounding
        pairs = np.outer(class_shares, class_shares)
        room = float(pairs.sum() - np.trace(pairs)) if len(pairs) > 2 else float(2 * pairs[0, -1])
    return room


def flip_labels(
    labels: npt.NDArray[np.integer[Any]], probabilities: Floats, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw each label anew from the probabilities of its class."""
    cumulative = np.cumsum(probabilities, axis=1)[labels]
    place = rng.random(len(labels))
    drawn = (place[:, None] >= cumulative).sum(axis=1)
    return np.asarray(
        np.minimum(drawn, probabilities.shape[1] - 1)
    )  # the last sum may be just below 1


@saved.attributes(flip_rate_=saved.number(), flip_probabilities_=saved.matrix)
@documented(
    estimator="an unpruned :class:`orfeon.CARTClassifier`, grown until it errs on no altered label",
    n_estimators="1000",
)
class FlippingClassifier(SwitchedLabels):
    """Vote of unpruned trees trained on labels flipped at random in fixed class proportions.

    Parameters
    ----------
    <estimator>
    <n_estimators>
    flip_rate : float, optional
        Expected fraction of the labels that change for each member. By default it follows from
        ``relative_rate``.
    relative_rate : float, default=0.6
        ``flip_rate`` as a fraction of ``(K - 1) / K`` for K classes.
    <combine>
    <calibrate>
    <fitting>

    Attributes
    ----------
    flip_rate_ : float
        The rate that was used.
    flip_probabilities_ : ndarray of shape (n_classes, n_classes)
        Probability that a label of one class becomes one of another.
    <members>
    <classes>
    <calibrated>

    Notes
    -----
    With two classes of unequal size the rate should stay below the share of the smaller one: from
    there on, half or more of the labels of that class change, and the vote turns against it. At
    ``(1 - sum(P ** 2)) / (1 - min(P))``, P the class shares, all labels of the smallest class
    change; beyond it they still all change, but the shares can no longer be kept. Both cases raise
    a warning. Where classes are unequal, :class:`ClassSwitchingClassifier` is the better choice.

    Examples
    --------
    >>> from orfeon import FlippingClassifier
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> FlippingClassifier(flip_rate=0.2, random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ENSEMBLE,
        **ESTIMATOR,
        **CLASSIFIER,
        "flip_rate": [Interval(Real, 0.0, 1.0, closed="left"), None],
        "relative_rate": [Interval(Real, 0.0, None, closed="left")],
    }

    flip_rate_: float
    flip_probabilities_: Floats

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 1000,
        *,
        flip_rate: float | None = None,
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
        self.flip_rate = flip_rate
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
        n_classes, shares = samples.n_classes, samples.class_shares
        self.flip_rate_ = self._rate(n_classes)
        if n_classes == 1:
            self.flip_probabilities_ = np.ones((1, 1))
            return
        self.flip_probabilities_ = flip_probabilities(shares, self.flip_rate_)
        smallest, most = float(shares.min()), largest_flip_rate(shares)
        if self.flip_rate_ > most * (1.0 + ROUNDING):
            warn_user(
                f"flip_rate={self.flip_rate_:.4g} is beyond {most:.4g}, where all labels of the "
                f"smallest class ({smallest:.4g} of the samples) change: class proportions are not "
                "kept, and the vote will turn against that class."
            )
        elif n_classes == 2 and self.flip_rate_ >= smallest:
            warn_user(
                f"flip_rate={self.flip_rate_:.4g} is not below the share of the smaller class, "
                f"{smallest:.4g}: half of its labels or more change and the vote will turn against "
                "it."
            )

    def _rate(self, n_classes: int) -> float:
        if n_classes == 1:
            return 0.0
        if self.flip_rate is not None:
            return float(self.flip_rate)
        if self.relative_rate >= 1:
            raise ValueError(
                f"relative_rate={self.relative_rate} is not allowed: it must be a fraction of "
                "(K - 1) / K, below 1."
            )
        return self.relative_rate * (n_classes - 1) / n_classes

    def _perturb(self, samples: TrainingSet, rng: np.random.Generator, member: int) -> Perturbation:
        return Perturbation(labels=flip_labels(samples.y, self.flip_probabilities_, rng))

    @property
    def _switching(self) -> Floats:
        return self.flip_probabilities_
