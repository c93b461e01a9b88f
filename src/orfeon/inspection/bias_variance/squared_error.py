"""Bias and variance of squared error."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite, column_or_1d

from orfeon.inspection.bias_variance.parts import (
    BiasVariance,
    Parts,
    check_points,
    check_predictions,
    corrected,
)
from orfeon.inspection.documentation import documented
from orfeon.inspection.reading import read_weights
from orfeon.utils.types import Floats


class Numbers(NamedTuple):
    """Predictions of a learner trained many times, and the targets, as numbers."""

    #: Predictions after each training, of shape (n_trainings, n_points).
    answers: Floats
    #: Targets, or the regression function.
    y_true: Floats
    #: Variance of the noise at each point.
    noise: Floats
    #: Weights of the points.
    weights: Floats

    @property
    def n_trainings(self) -> int:
        return int(self.answers.shape[0])


def read_numbers(predictions: Any, y: Any, noise: Any, sample_weight: Any) -> Numbers:
    answers = np.asarray(predictions, dtype=np.float64)
    check_predictions(answers)
    if y is None:
        raise ValueError("y is missing: give the targets, or the regression function.")
    y_true = np.asarray(column_or_1d(y), dtype=np.float64)
    assert_all_finite(y_true, input_name="y")
    check_points("y", len(y_true), answers.shape[1])
    variance = np.asarray(noise, dtype=np.float64)
    if (
        variance.shape not in ((), y_true.shape)
        or not (np.isfinite(variance) & (variance >= 0)).all()
    ):
        raise ValueError(
            f"noise={noise!r} is not allowed: it must be a variance, 0 or more, for all points or "
            f"for each of the {len(y_true)}."
        )
    weights = read_weights(sample_weight, len(y_true))
    counts = weights > 0
    everywhere = np.broadcast_to(variance, y_true.shape)
    return Numbers(answers[:, counts], y_true[counts], everywhere[counts], weights[counts])


def squared_error_parts(
    y_true: Floats,
    noise: Floats,
    mean: Floats,
    variance: Floats,
    n_trainings: int,
    unbiased: bool = False,
) -> Parts:
    bias = (mean - y_true) ** 2
    error = bias + variance + noise
    if unbiased:
        bias, variance = corrected(bias, variance, n_trainings)
    return Parts(error, bias, variance, noise)


@documented()
def squared_error_decomposition(
    predictions: Any,
    y: Any,
    *,
    noise: Any = 0.0,
    sample_weight: Any = None,
    unbiased: bool = False,
) -> BiasVariance:
    """Squared bias, variance and noise, which add up to the mean squared error E (y - G)^2.

    The bias is that of the mean prediction, the variance that of the predictions about it, and the
    noise the variance of y about the regression function.

    Parameters
    ----------
    predictions : array of shape (n_trainings, n_points)
        Numbers predicted after each training.
    y : array of shape (n_points,)
        Targets, taken as certain: their noise is then part of the bias. Or the regression function,
        if known.
    noise : float or array of shape (n_points,), default=0.0
        With a known regression function: variance of the noise about it.
    sample_weight : array of shape (n_points,), optional
        Weights of the points: 0 leaves a point out, 2 counts it twice.
    <unbiased>

    Returns
    -------
    BiasVariance
        The parts, which add up to the error; ``bias`` is the squared bias.

    Examples
    --------
    >>> from orfeon.inspection import squared_error_decomposition
    >>> parts = squared_error_decomposition([[1.0, 5.0], [3.0, 5.0]], [2.0, 4.0])
    >>> print(parts)
    error 1.0000 = bias 0.5000 + variance 0.5000 + noise 0.0000 (squared_error, 2 trainings)
    """
    read = read_numbers(predictions, y, noise, sample_weight)
    mean: npt.NDArray[Any] = read.answers.mean(axis=0)
    parts = squared_error_parts(
        read.y_true, read.noise, mean, read.answers.var(axis=0), read.n_trainings, unbiased
    )
    error = ((read.answers - read.y_true) ** 2).mean(axis=0) + read.noise
    return BiasVariance("squared_error", error, *parts[1:], mean, read.weights, read.n_trainings)
