"""How errors in the estimated probability of a class affect the decision, by Friedman.

A classifier of two classes estimates f(x), the probability of the second class, by g(x), and
predicts that class if g is above 1/2. Its error is

    P(wrong) = |2 f - 1| P(decision is not that of the Bayes rule) + min(f, 1 - f)

and its reducible part depends on g only through the probability that it falls on the wrong side of
1/2. With the boundary bias b = sign(1/2 - f) (E g - 1/2), negative if the mean estimate is on the
right side, that probability is about Phi(b / sd(g)) for nearly normal g. So bias and variance of
the estimate multiply instead of adding: variance is harmful where the boundary bias is negative,
and a large bias of the estimate does no harm as long as the boundary bias stays negative.

References
----------
Friedman (1997). On bias, variance, 0/1-loss, and the curse-of-dimensionality. Data Mining and
Knowledge Discovery 1(1), 55-77.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from orfeon.inspection.bias_variance.parts import read_repeated_votes, weighted_mean
from orfeon.inspection.reading import read_weights
from orfeon.utils.types import Floats


@dataclass(frozen=True, eq=False)
class FriedmanBiasVariance:
    """Bias and variance of an estimated probability, and their effect on the decision.

    Parameters
    ----------
    point_error : ndarray of shape (n_points,)
        Mean error of the decision at each point.
    point_noise : ndarray of shape (n_points,)
        Error of the Bayes rule, min(f, 1 - f).
    stakes : ndarray of shape (n_points,)
        ``|2 f - 1|``: what a decision against the Bayes rule costs.
    boundary_error : ndarray of shape (n_points,)
        Share of the trainings whose decision is not that of the Bayes rule.
    normal_boundary_error : ndarray of shape (n_points,)
        The same if the estimate were normal, with its mean and variance.
    boundary_bias : ndarray of shape (n_points,)
        By how much the mean estimate is on the wrong side of 1/2; negative on the right side.
    estimate_bias : ndarray of shape (n_points,)
        Mean estimate minus the probability f.
    estimate_variance : ndarray of shape (n_points,)
        Variance of the estimate over trainings.
    weights : ndarray of shape (n_points,)
        Weights of the points.
    n_trainings : int
        Number of trainings.

    Examples
    --------
    >>> from orfeon.inspection import friedman_decomposition
    >>> parts = friedman_decomposition([[0.7, 0.2], [0.4, 0.4]], posterior=[[0.3, 0.7], [1, 0]])
    >>> parts.boundary_error, parts.boundary_bias.round(2)
    (array([0.5, 0. ]), array([-0.05, -0.2 ]))
    """

    point_error: Floats
    point_noise: Floats
    stakes: Floats
    boundary_error: Floats
    normal_boundary_error: Floats
    boundary_bias: Floats
    estimate_bias: Floats
    estimate_variance: Floats
    weights: Floats
    n_trainings: int

    @property
    def error(self) -> float:
        """Mean error of the decision: the noise and the reducible error together."""
        return weighted_mean(self.point_error, self.weights)

    @property
    def noise(self) -> float:
        """Error of the Bayes rule."""
        return weighted_mean(self.point_noise, self.weights)

    @property
    def reducible_error(self) -> float:
        """The error above that of the Bayes rule."""
        return weighted_mean(self.stakes * self.boundary_error, self.weights)

    @property
    def squared_bias(self) -> float:
        """Mean squared bias of the estimate."""
        return weighted_mean(self.estimate_bias**2, self.weights)

    @property
    def variance(self) -> float:
        """Mean variance of the estimate."""
        return weighted_mean(self.estimate_variance, self.weights)

    def __str__(self) -> str:
        return (
            f"error {self.error:.4f} = reducible {self.reducible_error:.4f} + noise "
            f"{self.noise:.4f} (friedman, {self.n_trainings} trainings); of the estimate: squared "
            f"bias {self.squared_bias:.4f}, variance {self.variance:.4f}"
        )


def friedman_decomposition(
    estimates: Any,
    y: Any = None,
    *,
    posterior: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> FriedmanBiasVariance:
    """Bias and variance of an estimated class probability and of its decision, by Friedman (1997).

    Parameters
    ----------
    estimates : array of shape (n_trainings, n_points) or (n_trainings, n_points, 2)
        Estimated probability of the second class after each training, or of both classes.
    y : array of shape (n_points,), optional
        Labels of two classes, taken as certain.
    posterior : array of shape (n_points, 2), optional
        Probability of each class at each point, instead of ``y``.
    classes : array of shape (2,), optional
        The labels; by default those of ``y``, sorted, or 0 and 1.
    sample_weight : array of shape (n_points,), optional
        Weights of the points: 0 leaves a point out, 2 counts it twice.

    Returns
    -------
    FriedmanBiasVariance
        At each point and on average.

    Notes
    -----
    At an estimate of 1/2 the first class is predicted, as by orfeon's estimators; the paper
    predicts the second. Where the classes are equally probable nothing is at stake.

    Examples
    --------
    >>> from orfeon.inspection import friedman_decomposition
    >>> parts = friedman_decomposition([[0.7, 0.2], [0.4, 0.4]], posterior=[[0.3, 0.7], [1, 0]])
    >>> print(parts)
    error 0.2500 = reducible 0.1000 + noise 0.1500 (friedman, 2 trainings); of the estimate:
    squared bias 0.0563, variance 0.0162
    """
    answers = _second_class(estimates)
    labels = _two_classes(y, classes)
    decided = labels[(answers > 0.5).astype(np.int64)]
    votes = read_repeated_votes(decided, y, posterior, labels, sample_weight)
    answers = answers[:, read_weights(sample_weight, answers.shape[1]) > 0]
    second, shares = votes.y_true[:, 1], votes.shares
    mean, variance = answers.mean(axis=0), answers.var(axis=0)
    best = (second > 0.5).astype(np.int64)
    boundary = np.sign(0.5 - second) * (mean - 0.5)
    return FriedmanBiasVariance(
        point_error=1.0 - (votes.y_true * shares).sum(axis=1),
        point_noise=1.0 - votes.y_true.max(axis=1),
        stakes=np.abs(2.0 * second - 1.0),
        boundary_error=1.0 - shares[np.arange(len(best)), best],
        normal_boundary_error=_normal_chance(boundary, variance, mean, best),
        boundary_bias=boundary,
        estimate_bias=mean - second,
        estimate_variance=variance,
        weights=votes.weights,
        n_trainings=votes.n_trainings,
    )


def _normal_chance(
    boundary: Floats, variance: Floats, mean: Floats, best: npt.NDArray[np.int64]
) -> Floats:
    """Probability that a normal estimate is on the wrong side; without variance, 0 or 1."""
    wrong = ((mean > 0.5).astype(np.int64) != best).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(variance > 0, ndtr(boundary / np.sqrt(variance)), wrong))


def _second_class(estimates: Any) -> Floats:
    answers = np.asarray(estimates, dtype=np.float64)
    if answers.ndim == 3 and answers.shape[2] == 2:
        answers = answers[:, :, 1]
    if answers.ndim != 2 or not answers.size:
        raise ValueError(
            f"estimates has shape {answers.shape}; (n_trainings, n_points) or (n_trainings, "
            "n_points, 2) is expected, as the decomposition is for two classes."
        )
    if not ((answers >= 0) & (answers <= 1)).all():
        strange = answers[~((answers >= 0) & (answers <= 1))][0]
        raise ValueError(f"estimates has {strange}; they are probabilities, from 0 to 1.")
    return answers


def _two_classes(y: Any, classes: Any) -> npt.NDArray[Any]:
    if classes is None:
        found = np.unique(np.asarray(y)) if y is not None else np.arange(2)
        if len(found) == 1 and found[0] in (0, 1):
            return np.arange(2)
    else:
        found = np.asarray(classes)
    if found.shape != (2,):
        raise ValueError(
            f"classes={found.tolist()[:10]} is not allowed: the decomposition is for two classes."
        )
    return found
