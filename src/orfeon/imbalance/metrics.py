"""Metrics for imbalanced classes.

Where one sample in 100 is positive, never predicting "positive" is 99% accurate. These metrics look
at each class separately: the accuracy on positive samples (acc+), on negative samples (acc-), their
geometric mean g, and the geometric mean sqrt(p r) of precision and recall. Recall, precision and F
come from scikit-learn.

All of them share three parameters:

``pos_label``
    The positive class. By default the minority of ``y_true``: the class of lowest weight, on ties
    the last in sorted order (1 in {0, 1}). Subsets may have different minorities, so name the class
    when you compare scores between them.
``sample_weight``
    Sample weights: 0 leaves the sample out, 2 counts it twice.
``zero_division``
    Value of a score that is 0/0, as without positive samples: a number, NaN, or "warn", which is 0
    with an :class:`sklearn.exceptions.UndefinedMetricWarning`, as in scikit-learn.

If ``y_true`` has one class only and ``pos_label`` is not given, that class is taken as negative,
with a warning.

References
----------
Kubat and Matwin (1997). Addressing the curse of imbalanced training sets: one-sided selection.
Proceedings of the 14th International Conference on Machine Learning, 179-186.

Kubat, Holte and Matwin (1998). Machine learning for the detection of oil spills in satellite radar
images. Machine Learning 30(2-3), 195-215.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import fbeta_score, precision_score, recall_score
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import unique_labels

from orfeon.utils.documentation import documented
from orfeon.utils.scikit_learn import _check_sample_weight
from orfeon.utils.types import Floats, Mask
from orfeon.utils.user_warning import warn_user

ZeroDivision = float | Literal["warn"]

_TEXTS = {
    "labels": """
    y_true : array of shape (n_rows,)
        The true classes.
    y_pred : array of shape (n_rows,)
        The predicted classes.
""",
    "pos_label": """
    pos_label : label, optional
        The positive class; by default the minority of ``y_true``.
""",
    "sample_weight": """
    sample_weight : array of shape (n_rows,), optional
        Sample weights.
""",
}


def minority_class(y: Any, sample_weight: Any = None) -> Any:
    """Class with the lowest weight, the positive class by default.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Classes.
    sample_weight : array of shape (n_rows,), optional
        Sample weights.

    Returns
    -------
    label
        The minority; if tied, the last in sorted order.

    Examples
    --------
    >>> from orfeon.imbalance import minority_class
    >>> str(minority_class(["ill", "well", "well"])), int(minority_class([0, 1, 1, 0]))
    ('ill', 1)
    """
    labels, _, weights = _read(y, y, sample_weight)
    _classes(labels, labels, None)
    classes, share = _shares(labels, weights)
    return classes[least_weighty(share)]


@documented(_TEXTS)
def positive_accuracy(
    y_true: Any,
    y_pred: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    """Accuracy on the positive samples, acc+: the recall of the positive class.

    Parameters
    ----------
    <labels>
    <pos_label>
    <sample_weight>
    zero_division : {"warn", 0.0, 1.0, numpy.nan}, default="warn"
        The score if there are no positive samples.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from orfeon.imbalance import positive_accuracy
    >>> positive_accuracy([1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1])
    0.5
    """
    split = _split(y_true, y_pred, pos_label, sample_weight, zero_division)
    zero_division = _check_positive(split, pos_label, zero_division)
    return _of_one(recall_score, split, True, zero_division)


@documented(_TEXTS)
def negative_accuracy(
    y_true: Any,
    y_pred: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    """Share of negative samples not predicted as positive, acc-: the specificity.

    Parameters
    ----------
    y_true : array of shape (n_rows,)
        The true classes.
    y_pred : array of shape (n_rows,)
        The predicted classes. All classes but the positive one are negative; confusing them with
        each other does not count as an error.
    <pos_label>
    <sample_weight>
    zero_division : {"warn", 0.0, 1.0, numpy.nan}, default="warn"
        The score if there are no negative samples.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from orfeon.imbalance import negative_accuracy
    >>> negative_accuracy([1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1])
    0.75
    """
    split = _split(y_true, y_pred, pos_label, sample_weight, zero_division)
    return _of_one(recall_score, split, False, zero_division)


@documented(_TEXTS)
def geometric_mean(
    y_true: Any,
    y_pred: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    """Geometric mean of the class accuracies: g = sqrt(acc+ acc-) for two classes.

    Parameters
    ----------
    <labels>
    pos_label : label, optional
        A class to include even if neither ``y_true`` nor ``y_pred`` has it; otherwise it does not
        matter.
    <sample_weight>
    zero_division : {"warn", 0.0, 1.0, numpy.nan}, default="warn"
        The accuracy on a class without samples; NaN leaves it out of the mean.

    Returns
    -------
    float
        From 0 to 1: with K classes (those of ``y_true``, ``y_pred`` and ``pos_label``), the K-th
        root of the product of their recalls.

    Examples
    --------
    >>> from orfeon.imbalance import geometric_mean
    >>> round(geometric_mean([1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1]), 4)  # sqrt(1/2 * 3/4)
    0.6124
    """
    true, predicted, weights = _read(y_true, y_pred, sample_weight)
    classes = _classes(true, predicted, pos_label)
    if pos_label is not None:
        named = _Split(true == pos_label, predicted == pos_label, weights, classes)
        zero_division = _check_positive(named, pos_label, zero_division)
    if len(classes) <= 2:
        second = classes[-1]
        split = _Split(true == second, predicted == second, weights, classes)
        true, predicted, weights = _cells(split)
        classes = np.array([False, True])
    recalls = recall_score(
        true, predicted, labels=classes, average=None, sample_weight=weights,
        zero_division=zero_division,
    )  # fmt: skip
    recalls = recalls[~np.isnan(recalls)]
    # Taking roots first keeps the product of hundreds of recalls from underflowing.
    return float(np.prod(recalls ** (1 / len(recalls)))) if len(recalls) else np.nan


@documented(_TEXTS)
def precision_recall_mean(
    y_true: Any,
    y_pred: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    """Geometric mean sqrt(p r) of precision and recall of the positive class.

    Parameters
    ----------
    <labels>
    <pos_label>
    <sample_weight>
    zero_division : {"warn", 0.0, 1.0, numpy.nan}, default="warn"
        The score if no sample is positive and none is predicted positive. If only one of precision
        and recall is 0/0, the mean is 0.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from orfeon.imbalance import precision_recall_mean
    >>> precision_recall_mean([1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1])
    0.5
    """
    split = _split(y_true, y_pred, pos_label, sample_weight, zero_division)
    zero_division = _check_positive(split, pos_label, zero_division)
    precision = _of_one(precision_score, split, True, np.nan)
    recall = _of_one(recall_score, split, True, np.nan)
    if np.isnan(precision) and np.isnan(recall):
        return _undefined(
            "No sample is positive or predicted positive, so sqrt(p r) is 0/0", zero_division
        )
    return 0.0 if np.isnan(precision) or np.isnan(recall) else float(np.sqrt(precision * recall))


@documented(_TEXTS)
def f_beta(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float = 1.0,
    pos_label: Any = None,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    """F-beta score of the positive class, by default the minority.

    The same as :func:`sklearn.metrics.fbeta_score`, but for several negative classes too.

    Parameters
    ----------
    <labels>
    beta : float, default=1.0
        Weight of recall relative to precision.
    <pos_label>
    <sample_weight>
    zero_division : {"warn", 0.0, 1.0, numpy.nan}, default="warn"
        The score if no sample is positive and none is predicted positive.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from orfeon.imbalance import f_beta
    >>> round(f_beta(["ill", "ill", "well", "well", "well"], ["ill"] + 4 * ["well"], beta=2), 4)
    0.5556
    """
    split = _split(y_true, y_pred, pos_label, sample_weight, zero_division)
    zero_division = _check_positive(split, pos_label, zero_division)
    return _of_one(fbeta_score, split, True, zero_division, beta=beta)


# -- reading ---------------------------------------------------------------------------------------


class _Split(NamedTuple):
    """Masks of positive and predicted positive samples, their weights, and all classes."""

    true: Mask
    predicted: Mask
    weights: Floats
    classes: npt.NDArray[Any]


def _read(
    y_true: Any, y_pred: Any, sample_weight: Any
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Floats]:
    """True and predicted classes and weights, without the rows of weight 0."""
    check_consistent_length(y_true, y_pred)
    true, predicted = column_or_1d(y_true), column_or_1d(y_pred)
    for labels, name in ((true, "y_true"), (predicted, "y_pred")):
        assert_all_finite(labels, input_name=name)
    if not len(true):
        raise ValueError("y_true has no values; a score needs at least one sample.")
    weights = _check_sample_weight(
        sample_weight, np.empty((len(true), 1)), dtype=np.float64, ensure_non_negative=True
    )
    count = weights > 0
    if not count.any():
        raise ValueError(
            "sample_weight is zero for every sample; at least one weight must be positive."
        )
    return true[count], predicted[count], weights[count]


def _classes(
    true: npt.NDArray[Any], predicted: npt.NDArray[Any], pos_label: Any
) -> npt.NDArray[Any]:
    """All classes, sorted; raises if they are not class labels or of mixed types."""
    named = () if pos_label is None else ([pos_label],)
    return np.asarray(unique_labels(true, predicted, *named))


def _shares(true: npt.NDArray[Any], weights: Floats) -> tuple[npt.NDArray[Any], Floats]:
    classes, codes = np.unique(true, return_inverse=True)
    return classes, np.asarray(np.bincount(codes, weights=weights), dtype=np.float64)


def least_weighty(share: Floats) -> int:
    """Index of the class with the lowest weight; on ties the last."""
    return int(np.flatnonzero(share == share.min())[-1])


def _split(
    y_true: Any, y_pred: Any, pos_label: Any, sample_weight: Any, zero_division: ZeroDivision
) -> _Split:
    true, predicted, weights = _read(y_true, y_pred, sample_weight)
    classes = _classes(true, predicted, pos_label)
    if pos_label is not None:
        return _Split(true == pos_label, predicted == pos_label, weights, classes)
    there, share = _shares(true, weights)
    if len(there) > 1:
        positive = there[least_weighty(share)]
        return _Split(true == positive, predicted == positive, weights, classes)
    negative = true[0]
    if zero_division == "warn":
        warn_user(
            f"All samples are of class {true.tolist()[0]!r} and pos_label is None, so it is taken "
            "as the negative class. Give pos_label to name the positive class.",
            UndefinedMetricWarning,
        )
    return _Split(true != negative, predicted != negative, weights, classes)


def _check_positive(split: _Split, pos_label: Any, zero_division: ZeroDivision) -> ZeroDivision:
    """Warn once if ``pos_label`` does not occur; the score is then 0 without further warnings."""
    if pos_label is None or zero_division != "warn" or (split.true | split.predicted).any():
        return zero_division
    there = split.classes[split.classes != pos_label].tolist()
    shown = f"{there[:10]}{' and more' if len(there) > 10 else ''}"
    warn_user(
        f"pos_label={pos_label!r} is neither in y_true nor in y_pred, whose classes are {shown}: "
        "the score is 0/0 and is set to 0.0. Use zero_division to set another value.",
        UndefinedMetricWarning,
    )
    return 0.0


def _cells(split: _Split) -> tuple[Mask, Mask, Floats]:
    """The four cells of the confusion matrix as weighted samples, which are fast to validate."""
    weights = np.bincount(2 * split.true + split.predicted, weights=split.weights, minlength=4)
    predicted = np.array([False, True])
    return np.repeat(predicted, 2), np.tile(predicted, 2), np.asarray(weights, np.float64)


def _of_one(
    score: Any, split: _Split, positive: bool, zero_division: ZeroDivision, **more: Any
) -> float:
    """scikit-learn's score of the positive or the negative side."""
    true, predicted, weights = _cells(split)
    (value,) = score(
        true, predicted, labels=[positive], average=None, sample_weight=weights,
        zero_division=zero_division, **more,
    )  # fmt: skip
    return float(value)


def _undefined(why: str, zero_division: ZeroDivision) -> float:
    if zero_division != "warn":
        return float(zero_division)
    warn_user(
        f"{why}; it is set to 0.0. Use zero_division to set another value.",
        UndefinedMetricWarning,
    )
    return 0.0
