"""AdaBoost.R: regression as a yes-or-no question about every number.

Targets are scaled to [0, 1]. A prediction h of a sample with target y_i answers, for every y,
whether y is at least y_i: wrongly so between y_i and h. AdaBoost on these questions, where the
question y weighs ``|y - y_i|`` at first, is AdaBoost.R: a sample has a weight for every y, which
:class:`orfeon.boosting.piecewise_linear.PiecewiseLinearWeights` keeps exactly.

References
----------
Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and an
application to boosting. Journal of Computer and System Sciences 55(1), 119-139.
"""

from __future__ import annotations

from math import fsum
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.boosting.adaboost_r2 import MedianBooster, distances, without_unit
from orfeon.boosting.base import AVERAGED, BOOSTED
from orfeon.boosting.learners import Sampling
from orfeon.boosting.loop import HALF, PERFECT, MemberOutput, RoundResult, Scheme, perfect_vote
from orfeon.boosting.piecewise_linear import PiecewiseLinearWeights
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.decision import OWN, Combine
from orfeon.utils import saved
from orfeon.utils.documentation import documented
from orfeon.utils.types import Floats


def squared_error_bound(errors: npt.ArrayLike, votes: npt.ArrayLike, spread: float = 1.0) -> Floats:
    """Bound on the mean squared training error of AdaBoost.R.

    Parameters
    ----------
    errors : array of shape (n_rounds,)
        Error e of each member in its round.
    votes : array of shape (n_rounds,)
        Its vote v, not negative.
    spread : float, default=1.0
        The (weighted) mean of ``(y - min(y))**2 + (max(y) - y)**2``; at most one for targets
        from 0 to 1.

    Returns
    -------
    ndarray of shape (n_rounds,)
        The bound after each round.

    Notes
    -----
    Of the questions that a weighted median answers wrongly, those of one sample weigh half of
    its squared error, and all of its questions half of what the spread is the mean of. So the
    bound of AdaBoost's error, the product of ``e exp(v / 2) + (1 - e) exp(-v / 2)``, bounds the
    mean squared error as a share of the spread. With the votes of AdaBoost.R, ln((1 - e) / e), the
    factors are ``2 sqrt(e (1 - e))``: this is theorem 12 of Freund and Schapire (1997), who use one
    instead of the spread.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting import squared_error_bound
    >>> squared_error_bound([0.1, 0.2], np.log([9, 4])).round(3)
    array([0.6 , 0.48])
    """
    e, v = np.asarray(errors, dtype=np.float64), np.asarray(votes, dtype=np.float64)
    # A member without error outweighs all others.
    factors = np.where(e == 0, 0.0, e * np.exp(v / 2) + (1 - e) * np.exp(-v / 2))
    return np.asarray(spread * np.cumprod(factors))


class AdaBoostRScheme(Scheme):
    """The two formulas of AdaBoost.R."""

    member_output: ClassVar[MemberOutput] = "predictions"

    def __init__(self, targets: Floats, weights: Floats, *, draws: bool = False) -> None:
        self.draws = draws
        self._labels = np.asarray(targets, dtype=np.float64)
        self._low, self._high = float(self._labels.min()), float(self._labels.max())
        self.questions = PiecewiseLinearWeights(self._to_unit(self._labels), without_unit(weights))
        self.total_vote = 0.0

    @property
    def weights(self) -> Floats:
        """The weight of each sample: that of all its questions."""
        return self.questions.mass()

    @property
    def labels(self) -> Floats:
        return self._labels

    def evaluate(self, answers: npt.NDArray[Any]) -> RoundResult:
        """Weight of the questions answered wrongly, and the logarithm of the odds of the others."""
        wrong = self.questions.mass_between(self._points(answers))
        error = fsum(wrong.tolist()) / fsum(self.weights.tolist())
        if error == 0:
            return RoundResult(0.0, float(perfect_vote(self.total_vote, 2 * PERFECT)), ends=True)
        if error >= HALF:  # at one half its vote is 0 and the weights do not change
            return RoundResult(error, 0.0, keep=False, ends=error > 1.0 - HALF or not self.draws)
        vote = float(np.log((1.0 - error) / error))
        self.total_vote += vote
        return RoundResult(error, vote)

    def reweigh(
        self, answers: npt.NDArray[Any], result: RoundResult, rng: np.random.Generator
    ) -> None:
        """Multiply the weights of correct answers by beta, the odds of the error."""
        self.questions.scale_outside(self._points(answers), -result.vote)

    def _to_unit(self, numbers: Floats) -> Floats:
        width = self._high - self._low
        clipped = np.clip(numbers, self._low, self._high)
        return np.asarray((clipped - self._low) / (width if width > 0 else 1.0))

    def _points(self, answers: npt.NDArray[Any]) -> Floats:
        right = distances(answers, self._labels) == 0
        return np.where(right, self.questions.targets, self._to_unit(np.asarray(answers)))


@saved.attributes(target_range_=saved.tuple_of(saved.number()), _spread=saved.number())
@documented(
    estimator="a :class:`orfeon.CARTRegressor` of ``max_depth=3``, as is usual in boosting "
    "for\n        regression",
    n_boosted="50",
)
class AdaBoostRRegressor(MedianBooster):
    """Weighted median of regressors, each focusing on the errors of those before it.

    Parameters
    ----------
    <estimator>
    <n_boosted>
    <sampling>
    <combine_boosted_numbers>
    <stopping>
    <fitting>

    Attributes
    ----------
    <members>
    <boosted>
    betas_ : ndarray of shape (n_members,)
        Odds of the errors, e / (1 - e).
    squared_error_bounds_ : ndarray of shape (n_members,)
        Bound on the mean squared training error after each member, see
        :func:`orfeon.boosting.adaboost_r.squared_error_bound`.
    target_range_ : tuple of float
        The smallest and the largest target of the training samples.

    See Also
    --------
    AdaBoostR2Regressor : A simpler method, with one weight for each sample.

    Notes
    -----
    Targets are scaled to [0, 1] by their range. Predictions outside that range, which a linear
    model may make, are clipped to it, in training and in ``predict``, so the bound holds.
    Predictions that differ from the target by rounding alone are right.

    The run ends when a member's error is above one half; that member is dropped. At exactly one
    half it is kept, without a vote. A member without any error ends the run with a vote that
    outweighs all others, as its infinite vote in the textbook would. A first member that fails is
    kept alone, with a warning.

    Weights concentrate next to the targets, where a member has to be on the right side of each:
    runs of weak members, such as stumps, end soon. Unpruned trees with ``sampling="resample"`` do
    well.

    References
    ----------
    Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and an
    application to boosting. Journal of Computer and System Sciences 55(1), 119-139.

    Examples
    --------
    >>> from orfeon import AdaBoostRRegressor, CARTRegressor
    >>> from orfeon.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> X_test, y_test = make_friedman1(2000, random_state=1)
    >>> boosted = AdaBoostRRegressor(CARTRegressor(), sampling="resample", random_state=0)
    >>> round(boosted.fit(X, y).score(X_test, y_test), 2)
    0.75
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**BOOSTED, **AVERAGED}
    _stronger: ClassVar[str] = 'such as an unpruned tree with sampling="resample"'

    target_range_: tuple[float, float]
    _spread: float

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        sampling: Sampling = "weights",
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
        y = samples.y
        low, high = float(y.min()), float(y.max())
        self.target_range_ = low, high
        self._spread = float(np.average((y - low) ** 2 + (high - y) ** 2, weights=samples.weights))
        return AdaBoostRScheme(y, samples.weights, draws=self.sampling == "resample")

    def _outputs_of(self, members: Any, rows: Any) -> npt.NDArray[Any]:
        return np.asarray(np.clip(super()._outputs_of(members, rows), *self.target_range_))

    @property
    def squared_error_bounds_(self) -> Floats:
        """Bound on the mean squared training error after each member."""
        check_is_fitted(self, "members_")
        return squared_error_bound(self.errors_, self.member_weights_, self._spread)
