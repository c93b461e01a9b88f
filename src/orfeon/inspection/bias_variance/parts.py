"""What every decomposition of the error starts from and returns: shares of votes, and parts.

A learner is trained repeatedly, each time on another sample. At a point x the classes have shares
``q_k`` among its predictions and true probabilities ``p_k``. If these are unknown, the label is
taken as certain: its class has probability 1, and there is no noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite, column_or_1d

from orfeon.inspection.reading import read_weights
from orfeon.utils.types import Floats, Integers

#: How far from 1 the probabilities of the classes may sum.
_SLACK = 1e-6
#: The parts of an error, in the order in which they are reported.
PARTS = ("error", "bias", "variance", "noise")


class Parts(NamedTuple):
    """Error at each point, and its bias, variance and noise, which add up to it."""

    error: Floats
    bias: Floats
    variance: Floats
    noise: Floats


class Votes(NamedTuple):
    """Predictions of a learner trained many times, and the true probabilities, as class codes."""

    #: Class predicted after each training, of shape (n_trainings, n_points).
    codes: Integers
    #: Probability of each class, of shape (n_points, n_classes).
    y_true: Floats
    #: The labels of the codes.
    classes: npt.NDArray[Any]
    #: Weights of the points.
    weights: Floats

    @property
    def n_trainings(self) -> int:
        return int(self.codes.shape[0])

    @property
    def shares(self) -> Floats:
        """Share of each class among the predictions, of shape (n_points, n_classes)."""
        n_points, n_classes = self.y_true.shape
        cells = self.codes + n_classes * np.arange(n_points)
        counts = np.bincount(cells.ravel(), minlength=n_points * n_classes)
        return np.asarray(counts.reshape(n_points, n_classes) / self.n_trainings)

    @property
    def central(self) -> npt.NDArray[Any]:
        """The class predicted most often at each point."""
        return np.asarray(self.classes[np.argmax(self.shares, axis=1)])


@dataclass(frozen=True, eq=False)
class BiasVariance:
    """Mean error of a learner over trainings and points, and its parts.

    Parameters
    ----------
    definition : str
        The definition of bias and variance.
    point_error : ndarray of shape (n_points,)
        Mean error at each point.
    point_bias, point_variance, point_noise : ndarray of shape (n_points,)
        Its parts, which add up to it.
    central : ndarray of shape (n_points,)
        The central prediction: the class predicted most often, the first if tied; in regression the
        mean.
    weights : ndarray of shape (n_points,)
        Weights of the points.
    n_trainings : int
        Number of trainings.

    Examples
    --------
    >>> from orfeon.inspection import kohavi_wolpert_decomposition
    >>> parts = kohavi_wolpert_decomposition([[0, 1], [0, 0], [1, 1], [0, 1]], [0, 1])
    >>> print(parts)
    error 0.2500 = bias 0.0625 + variance 0.1875 + noise 0.0000 (kohavi_wolpert, 4 trainings)
    """

    definition: str
    point_error: Floats
    point_bias: Floats
    point_variance: Floats
    point_noise: Floats
    central: npt.NDArray[Any]
    weights: Floats
    n_trainings: int

    @property
    def error(self) -> float:
        """Mean error: zero-one loss, or mean squared error."""
        return self.mean(self.point_error)

    @property
    def bias(self) -> float:
        """Error due to the central prediction; in regression the squared bias."""
        return self.mean(self.point_bias)

    @property
    def variance(self) -> float:
        """Error added, or avoided, because predictions differ between trainings."""
        return self.mean(self.point_variance)

    @property
    def noise(self) -> float:
        """Error that no prediction avoids."""
        return self.mean(self.point_noise)

    def mean(self, values: npt.ArrayLike) -> float:
        """Weighted mean of some values over the points."""
        return weighted_mean(values, self.weights)

    def __str__(self) -> str:
        return (
            f"error {self.error:.4f} = bias {self.bias:.4f} + variance {self.variance:.4f} "
            f"+ noise {self.noise:.4f} ({self.definition}, {self.n_trainings} trainings)"
        )


def parts_of_votes(
    definition: str, parts: Parts, votes: Votes
) -> tuple[str, Floats, Floats, Floats, Floats, npt.NDArray[Any], Floats, int]:
    """The fields of :class:`BiasVariance`, in their order."""
    return definition, *parts, votes.central, votes.weights, votes.n_trainings


def weighted_mean(values: npt.ArrayLike, weights: Floats) -> float:
    """Weighted mean over points."""
    products = np.asarray(values, dtype=np.float64) * weights
    return math.fsum(products.tolist()) / math.fsum(weights.tolist())


def read_repeated_votes(
    predictions: Any,
    y: Any = None,
    posterior: Any = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> Votes:
    """Read the predictions after each training, and the labels or probabilities."""
    answers = np.asarray(predictions)
    check_predictions(answers)
    if (y is None) == (posterior is None):
        given = "neither is" if y is None else "both are"
        raise ValueError(
            f"y and posterior: {given} given; give the labels y, or posterior where the "
            "probabilities of the classes are known."
        )
    y_true: npt.NDArray[Any]
    if posterior is None:
        labels = column_or_1d(y)
        assert_all_finite(labels, input_name="y")
        check_points("y", len(labels), answers.shape[1])
        found = _classes(classes, np.unique(np.append(np.unique(answers), np.unique(labels))), None)
        y_true = np.eye(len(found))[_codes("y", labels, found)]
    else:
        y_true = _read_posterior(posterior, answers.shape[1])
        found = _classes(classes, np.unique(answers), y_true.shape[1])
    weights = read_weights(sample_weight, answers.shape[1])
    counts = weights > 0
    codes = _codes("predictions", answers, found)
    return Votes(codes[:, counts], y_true[counts], found, weights[counts])


def check_predictions(predictions: npt.NDArray[Any]) -> None:
    if predictions.ndim != 2 or not predictions.size:
        raise ValueError(
            f"predictions has shape {predictions.shape}; a row for each training and a column for "
            "each point are expected, at least one of both."
        )
    assert_all_finite(predictions, input_name="predictions")


def check_points(name: str, found: int, n_points: int) -> None:
    if found != n_points:
        raise ValueError(
            f"predictions has {n_points} columns and {name} has {found} rows; one for each point "
            "is expected."
        )


def corrected(bias: Floats, variance: Floats, n_trainings: int) -> tuple[Floats, Floats]:
    """Squared bias and variance, corrected for the number of trainings.

    The mean of n trainings deviates from that of all by ``variance / n`` in mean square, so the
    squared bias is too large by that, and the variance about it too small.
    """
    if n_trainings < 2:
        raise ValueError(f"unbiased=True needs two trainings or more, got {n_trainings}.")
    excess = variance / (n_trainings - 1)
    return bias - excess, variance + excess


def no_correction(definition: str, unbiased: bool) -> None:
    """Refuse to correct parts without a known unbiased estimate."""
    if unbiased:
        raise ValueError(
            f"unbiased=True is not allowed with definition={definition!r}: its bias is that of the "
            "class predicted most often, for which no unbiased estimate is known. Use more "
            "trainings, or 'kohavi_wolpert' or 'squared_error'."
        )


def _read_posterior(posterior: Any, n_points: int) -> Floats:
    y_true = np.asarray(posterior, dtype=np.float64)
    if y_true.ndim != 2 or y_true.shape[1] < 2:
        raise ValueError(
            f"posterior has shape {y_true.shape}; a row for each point and a column for each of "
            "two or more classes are expected."
        )
    check_points("posterior", len(y_true), n_points)
    sums = y_true.sum(axis=1)
    strange = ~((y_true >= 0).all(axis=1) & (np.abs(sums - 1.0) <= _SLACK))
    if strange.any():
        first = int(np.flatnonzero(strange)[0])
        raise ValueError(
            f"posterior has {y_true[first].tolist()} in row {first}; probabilities are 0 or more "
            "and sum to 1."
        )
    return np.asarray(y_true / sums[:, None])


def _classes(given: Any, found: npt.NDArray[Any], n_columns: int | None) -> npt.NDArray[Any]:
    """The labels of the codes, in the order of the columns of the posterior."""
    if given is not None:
        classes = column_or_1d(given)
        if len(np.unique(classes)) != len(classes):
            raise ValueError(f"classes={classes.tolist()} has a label more than once.")
        if n_columns not in (None, len(classes)):
            raise ValueError(
                f"classes has {len(classes)} labels and posterior {n_columns} columns; one for "
                "each class is expected."
            )
        return np.asarray(classes)
    if n_columns is None:
        return found
    if found.dtype.kind in "iub" and found.min() >= 0 and found.max() < n_columns:
        return np.arange(n_columns)
    if len(found) == n_columns:
        return found
    raise ValueError(
        f"posterior has {n_columns} columns and predictions the labels {found.tolist()[:10]}; "
        "give the label of each column with classes=."
    )


def _codes(name: str, labels: npt.NDArray[Any], classes: npt.NDArray[Any]) -> Integers:
    order = np.argsort(classes, kind="stable")
    at = np.minimum(np.searchsorted(classes[order], labels), len(classes) - 1)
    codes = np.asarray(order[at], dtype=np.int64)
    strange = classes[codes] != labels
    if strange.any():
        raise ValueError(
            f"{name} has {labels[strange].tolist()[0]!r}, which is not among the classes "
            f"{classes.tolist()[:10]}."
        )
    return codes
