"""What AdaBoost.R and AdaBoost.R2 share: boosted regressors that take a weighted median."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.boosting.base import BoostedEnsemble
from orfeon.boosting.deciding import WeightedMedianMixin
from orfeon.boosting.loop import Run
from orfeon.trees.cart import CARTRegressor

Floats = npt.NDArray[np.float64]

#: The least vote of a member without error: ln(1e10) (Webb 2000).
PERFECT = float(np.log(1e10))
#: A prediction that is off by less than this share of the largest target is right but for rounding.
ROUNDING = 1e-12


def perfect_vote(total_vote: float) -> float:
    """The vote of a member without error, which ends the run: it outweighs all others.

    Parameters
    ----------
    total_vote : float
        Sum of the votes of the others.

    Returns
    -------
    float
        Twice that, or more. The formula's would be infinite.

    Examples
    --------
    >>> from orfeon.boosting.regression import perfect_vote
    >>> round(perfect_vote(3.0), 2), perfect_vote(20.0)
    (23.03, 40.0)
    """
    return max(PERFECT, 2.0 * total_vote)


def without_unit(weights: Floats) -> Floats:
    """Weights on a scale of about one: the unit that they are measured in does not matter.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        Weights, all positive.

    Returns
    -------
    ndarray of shape (n_rows,)
        Ones if they are equal, else the weights divided by a power of two, which is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting.regression import without_unit
    >>> without_unit(np.array([0.3, 0.3])), without_unit(np.array([3.0, 8.0]))
    (array([1., 1.]), array([0.1875, 0.5   ]))
    """
    largest = float(weights.max())
    if (weights == largest).all():
        return np.ones(len(weights))
    return np.asarray(np.ldexp(weights, -int(np.frexp(largest)[1])))


def distances(said: npt.ArrayLike, targets: Floats) -> Floats:
    """How far predictions are from targets; nothing, where rounding explains it.

    Parameters
    ----------
    said : array of shape (n_rows,)
        Predictions.
    targets : ndarray of shape (n_rows,)
        Targets.

    Returns
    -------
    ndarray of shape (n_rows,)
        Absolute differences.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting.regression import distances
    >>> distances([0.1 + 0.2, 5.0], np.array([0.3, 7.0]))
    array([0., 2.])
    """
    numbers = np.asarray(said, dtype=np.float64)
    if np.isnan(numbers).any():
        raise ValueError(
            f"estimator predicts NaN for {int(np.isnan(numbers).sum())} of {len(targets)} training "
            "examples; only numbers can be boosted."
        )
    away = np.abs(numbers - targets)
    return np.where(away <= ROUNDING * np.abs(targets).max(), 0.0, away)


class MedianBooster(WeightedMedianMixin, BoostedEnsemble):
    """A boosted regressor whose members are trees of depth three unless others are given."""

    estimator: object

    def _base(self) -> object:
        return CARTRegressor(max_depth=3) if self.estimator is None else self.estimator

    def _explain(self, run: Run) -> str | None:
        words = super()._explain(run)
        alone = len(self.members_) == 1 and self.n_estimators > 1
        if words is None and alone and self.errors_[0] == 0 and np.ptp(run.scheme.labels) > 0:
            return (
                f"{type(self).__name__}: the first member makes no error on the training examples, "
                "so there was nothing to boost and the ensemble is this member alone. Give a "
                "weaker estimator, such as a tree of less depth."
            )
        return words

    @property
    def betas_(self) -> Floats:
        """Odds of the members' errors, e / (1 - e): votes are the logarithms of 1 / beta."""
        check_is_fitted(self, "members_")
        with np.errstate(divide="ignore"):
            return np.asarray(self.errors_ / (1.0 - self.errors_))
