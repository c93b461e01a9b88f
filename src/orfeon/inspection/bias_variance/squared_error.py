"""Bias and variance of squared error: E (y - G)^2 = variance + bias^2 + noise.

The bias is that of the mean prediction, the variance that of the predictions about it, and the
noise the variance of y about the regression function.

References
----------
Geman, Bienenstock and Doursat (1992). Neural networks and the bias/variance dilemma. Neural
Computation 4(1), 1-58.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite, column_or_1d

from orfeon.inspection._reading import read_weights
from orfeon.inspection.bias_variance.parts import (
    BiasVariance,
    Floats,
    Parts,
    check_points,
    check_predictions,
    corrected,
)


class Numbers(NamedTuple):
    """Predictions of a learner trained many times, and the truth, as numbers."""

    #: Predictions after each training, of shape (n_trainings, n_points).
    said: Floats
    #: Targets, or the regression function.
    truth: Floats
    #: Variance of the noise at each point.
    noise: Floats
    #: Weights of the points.
    weights: Floats

    @property
    def n_trainings(self) -> int:
        """How often the learner was trained."""
        return int(self.said.shape[0])


def read_numbers(predictions: Any, y: Any, noise: Any, sample_weight: Any) -> Numbers:
    """Read what a learner predicts after each of several trainings, and the truth."""
    said = np.asarray(predictions, dtype=np.float64)
    check_predictions(said)
    if y is None:
        raise ValueError("y is missing: give the targets, or the regression function.")
    truth = np.asarray(column_or_1d(y), dtype=np.float64)
    assert_all_finite(truth, input_name="y")
    check_points("y", len(truth), said.shape[1])
    variance = np.asarray(noise, dtype=np.float64)
    if (
        variance.shape not in ((), truth.shape)
        or not (np.isfinite(variance) & (variance >= 0)).all()
    ):
        raise ValueError(
            f"noise={noise!r} is not allowed: it is a variance, 0 or more, for all points or for "
            f"each of the {len(truth)}."
        )
    weights = read_weights(sample_weight, len(truth))
    counts = weights > 0
    everywhere = np.broadcast_to(variance, truth.shape)
    return Numbers(said[:, counts], truth[counts], everywhere[counts], weights[counts])


def squared_error_parts(
    truth: Floats,
    noise: Floats,
    mean: Floats,
    variance: Floats,
    n_trainings: int,
    unbiased: bool = False,
) -> Parts:
    """The parts at each point, from the moments of the predictions."""
    bias = (mean - truth) ** 2
    error = bias + variance + noise
    if unbiased:
        bias, variance = corrected(bias, variance, n_trainings)
    return Parts(error, bias, variance, noise)


def squared_error_decomposition(
    predictions: Any,
    y: Any,
    *,
    noise: Any = 0.0,
    sample_weight: Any = None,
    unbiased: bool = False,
) -> BiasVariance:
    """Squared bias, variance and noise of the mean squared error.

    Parameters
    ----------
    predictions : array of shape (n_trainings, n_points)
        Numbers predicted after each training.
    y : array of shape (n_points,)
        Targets, taken for the truth: their noise is then part of the bias. Or the regression
        function, where it is known.
    noise : float or array of shape (n_points,), default=0.0
        With a known regression function: variance of the noise about it.
    sample_weight : array of shape (n_points,), optional
        Weights of the points: 0 is the same as leaving one out, 2 as giving it twice.
    unbiased : bool, default=False
        Whether bias and variance are estimated without bias. The mean of n trainings makes the
        squared bias too large by ``variance / n``, and the variance about it is too small by as
        much; the correction moves it back. A corrected bias may be below 0. Needs two trainings.

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
    mean: npt.NDArray[Any] = read.said.mean(axis=0)
    parts = squared_error_parts(
        read.truth, read.noise, mean, read.said.var(axis=0), read.n_trainings, unbiased
    )
    error = ((read.said - read.truth) ** 2).mean(axis=0) + read.noise
    return BiasVariance("squared_error", error, *parts[1:], mean, read.weights, read.n_trainings)
