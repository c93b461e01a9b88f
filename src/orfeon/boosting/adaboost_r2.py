"""AdaBoost.R2: boosting for regression with one weight for each sample.

A member's loss on a sample is its distance from the target, divided by the largest such distance
so that it is from 0 to 1. The larger the loss, the less the weight of the sample is reduced.
AdaBoost.R takes its distances and its weighted median from here.

References
----------
Drucker (1997). Improving regressors using boosting techniques. Proceedings of the 14th
International Conference on Machine Learning, 107-115.
"""

from __future__ import annotations

from math import fsum
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.boosting.base import AVERAGED, BOOSTED, BoostedEnsemble
from orfeon.boosting.learners import Sampling
from orfeon.boosting.loop import HALF, PERFECT, MemberOutput, RoundResult, Scheme, perfect_vote
from orfeon.boosting.weighted_vote import WeightedMedianMixin
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.decision import OWN, Combine
from orfeon.trees.cart import CARTRegressor
from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import StrOptions
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


Loss = Literal["linear", "square", "exponential"]


def scaled_losses(away: Floats, loss: Loss = "linear") -> Floats:
    """Losses from 0 to 1: of the distance from the target, as a share of the largest."""
    largest = float(away.max())
    shares = away / largest if largest > 0 else np.zeros(len(away))
    if loss == "linear":
        return np.asarray(shares)
    if loss == "square":
        return np.asarray(shares**2)
    return np.asarray(-np.expm1(-shares))


class AdaBoostR2Scheme(Scheme):
    """The two formulas of AdaBoost.R2."""

    member_output: ClassVar[MemberOutput] = "predictions"

    def __init__(self, targets: Floats, weights: Floats, loss: Loss = "linear") -> None:
        self._labels = np.asarray(targets, dtype=np.float64)
        self._initial = without_unit(weights)
        # Logarithms of what the weights are multiplied by: these do not underflow.
        self._log_factors = np.zeros(len(self._labels))
        self.loss = loss
        self.total_vote = 0.0

    @property
    def weights(self) -> Floats:
        """Weights of the samples, on the scale on which the largest factor so far is one."""
        return np.asarray(self._initial * np.exp(self._log_factors))

    @property
    def labels(self) -> Floats:
        return self._labels

    def evaluate(self, answers: npt.NDArray[Any]) -> RoundResult:
        """Weighted average of the losses, and the logarithm of (1 - average) / average."""
        weights = self.weights
        losses = scaled_losses(distances(answers, self._labels), self.loss)
        average = fsum((weights * losses).tolist()) / fsum(weights.tolist())
        if average == 0:
            return RoundResult(0.0, float(perfect_vote(self.total_vote, 2 * PERFECT)), ends=True)
        if average >= HALF:
            return RoundResult(average, 0.0, keep=False, ends=True)
        vote = float(np.log((1.0 - average) / average))
        self.total_vote += vote
        return RoundResult(average, vote)

    def reweigh(
        self, answers: npt.NDArray[Any], result: RoundResult, rng: np.random.Generator
    ) -> None:
        """Multiply the weight of a sample of loss L by beta to the power of 1 - L."""
        losses = scaled_losses(distances(answers, self._labels), self.loss)
        self._log_factors -= result.vote * (1.0 - losses)
        self._log_factors -= self._log_factors.max()


@documented(
    estimator="a :class:`orfeon.CARTRegressor` of ``max_depth=3``, as is usual in boosting "
    "for\n        regression",
    n_boosted="50",
)
class AdaBoostR2Regressor(MedianBooster):
    """Weighted median of regressors, each focusing on samples that earlier ones predicted badly.

    Parameters
    ----------
    <estimator>
    <n_boosted>
    loss : {"linear", "square", "exponential"}, default="linear"
        Loss of the distance from the target, as a share s of the largest: s, its square, or 1 -
        exp(-s).
    sampling : {"weights", "resample"}, default="resample"
        Whether members are trained with weights, or on bootstrap samples drawn by the weights, as
        in the paper. An estimator that takes no weights always gets a bootstrap sample.
    <combine_boosted_numbers>
    <stopping>
    <fitting>

    Attributes
    ----------
    <members>
    <boosted>
    betas_ : ndarray of shape (n_members,)
        Odds of the errors, e / (1 - e).

    See Also
    --------
    AdaBoostRRegressor : Has a bound on its training error.

    Notes
    -----
    The error of a member is the weighted average of its losses. The run ends when that is one half
    or more; the member is dropped. A member without any error ends the run with a vote that
    outweighs all others. A first member that fails is kept alone, with a warning. Predictions that
    differ from the target by rounding alone are right.

    Losses are shares of the largest, so an outlier makes all others small and attracts the weight.

    References
    ----------
    Drucker (1997). Improving regressors using boosting techniques. Proceedings of the 14th
    International Conference on Machine Learning, 107-115.

    Examples
    --------
    >>> from orfeon import AdaBoostR2Regressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> X_test, y_test = make_friedman1(2000, random_state=1)
    >>> boosted = AdaBoostR2Regressor(random_state=0).fit(X, y)
    >>> round(boosted.score(X_test, y_test), 2)
    0.7
    """

    _reads_sparse: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BOOSTED,
        **AVERAGED,
        "loss": [StrOptions({"linear", "square", "exponential"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        loss: Loss = "linear",
        sampling: Sampling = "resample",
        combine: Combine = OWN,
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
        self.loss = loss
        self.sampling = sampling
        self.combine = combine
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _scheme(self, samples: TrainingSet) -> Scheme:
        return AdaBoostR2Scheme(samples.y, samples.weights, self.loss)
