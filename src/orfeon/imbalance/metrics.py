"""Measures that an unbalanced sample does not flatter.

A classifier that never says "positive" is right 99 times in 100 where one sample in 100 is
positive. The measures here look at the classes one by one: the accuracy on the positive samples
(acc+), on the negative ones (acc-), their geometric mean g, and the mean sqrt(p r) of precision and
recall. What scikit-learn has (recall, precision, F) is taken from there.

All of them have the same three words:

``pos_label``
    The positive class. By default the minority of ``y_true``: the class of least weight, and of
    those that are tied the last in sorted order, which is 1 in {0, 1}. The minority of a few
    samples need not be that of all, so name the class where scores are compared between samples.
``sample_weight``
    Sample weights: 0 leaves the sample out, 2 counts it twice.
``zero_division``
    What a score is that is 0/0, as in a sample without positive samples: a number, NaN, or "warn",
    which is 0 with an :class:`sklearn.exceptions.UndefinedMetricWarning`. So it is in scikit-learn.

Where ``y_true`` has samples of one class only and ``pos_label`` is not given, nothing says which
class that is. It is taken for the negative one, with a warning.

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

from orfeon.utils.scikit_learn import _check_sample_weight
from orfeon.utils.types import Floats, Mask
from orfeon.utils.user_warning import warn_user

ZeroDivision = float | Literal["warn"]


def minority_class(y: Any, sample_weight: Any = None) -> Any:
    """The class of least weight: the positive one by default.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Classes.
    sample_weight : array of shape (n_rows,), optional
        Weights; the rows of weight 0 do not count as rows.

    Returns
    -------
    label
        The minority; of classes that are tied, the last in sorted order.

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


def positive_accuracy(
    y_true: Any,
    y_pred: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    """Share of the positive samples that are recognised: acc+, the recall of the positive class.

    Parameters
    ----------
    y_true : array of shape (n_rows,)
        The classes.
    y_pred : array of shape (n_rows,)
        The classes predicted.
    pos_label : label, optional
        The positive class; by default the minority of ``y_true``.
    sample_weight : array of shape (n_rows,), optional
        Weights.
    zero_division : {"warn", 0.0, 1.0, numpy.nan}, default="warn"
        The score where there are no positive samples.

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
    zero_division = _judge_positive(split, pos_label, zero_division)
    return _of_one(recall_score, split, True, zero_division)


def negative_accuracy(
    y_true: Any,
    y_pred: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    """Share of the negative samples that are not taken for positive: acc-, the specificity.

    Parameters
    ----------
    y_true : array of shape (n_rows,)
        The classes.
    y_pred : array of shape (n_rows,)
        The classes predicted. All that are not positive are negative: of several of them, to take
        one for another is no error here.
    pos_label : label, optional
        The positive class; by default the minority of ``y_true``.
    sample_weight : array of shape (n_rows,), optional
        Weights.
    zero_division : {"warn", 0.0, 1.0, numpy.nan}, default="warn"
        The score where there are no negative samples.

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


def geometric_mean(
    y_true: Any,
    y_pred: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    """Geometric mean of the accuracies on the classes: g = sqrt(acc+ acc-) for two of them.

    Parameters
    ----------
    y_true : array of shape (n_rows,)
        The classes.
    y_pred : array of shape (n_rows,)
        The classes predicted.
    pos_label : label, optional
        A class that takes part even if neither ``y_true`` nor ``y_pred`` has it. The mean itself
        knows no positive class.
    sample_weight : array of shape (n_rows,), optional
        Weights.
    zero_division : {"warn", 0.0, 1.0, numpy.nan}, default="warn"
        The accuracy on a class without samples; NaN leaves it out of the mean.

    Returns
    -------
    float
        From 0 to 1. For K classes it is the K-th root of the product of their recalls. The classes
        are those of ``y_true``, ``y_pred`` and ``pos_label``.

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
        zero_division = _judge_positive(named, pos_label, zero_division)
    if len(classes) <= 2:  # of a class alone, the other one is not known and has no samples
        second = classes[-1]
        split = _Split(true == second, predicted == second, weights, classes)
        true, predicted, weights = _cells(split)
        classes = np.array([False, True])
    recalls = recall_score(
        true, predicted, labels=classes, average=None, sample_weight=weights,
        zero_division=zero_division,
    )  # fmt: skip
    recalls = recalls[~np.isnan(recalls)]
    # The root comes first, so that the product of hundreds of recalls does not vanish.
    return float(np.prod(recalls ** (1 / len(recalls)))) if len(recalls) else np.nan


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
    y_true : array of shape (n_rows,)
        The classes.
    y_pred : array of shape (n_rows,)
        The classes predicted.
    pos_label : label, optional
        The positive class; by default the minority of ``y_true``.
    sample_weight : array of shape (n_rows,), optional
        Weights.
    zero_division : {"warn", 0.0, 1.0, numpy.nan}, default="warn"
        The score where no sample is positive and none is predicted to be. Where only one of
        precision and recall is 0/0, the other is 0, and so is the mean.

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
    zero_division = _judge_positive(split, pos_label, zero_division)
    precision = _of_one(precision_score, split, True, np.nan)
    recall = _of_one(recall_score, split, True, np.nan)
    if np.isnan(precision) and np.isnan(recall):
        return _undefined(
            "No sample is positive and none is predicted to be, so sqrt(p r) is 0/0", zero_division
        )
    return 0.0 if np.isnan(precision) or np.isnan(recall) else float(np.sqrt(precision * recall))


def f_beta(
    y_true: Any,
    y_pred: Any,
    *,
    beta: float = 1.0,
    pos_label: Any = None,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> float:
    """scikit-learn's :func:`sklearn.metrics.fbeta_score` of the positive class.

    Parameters
    ----------
    y_true : array of shape (n_rows,)
        The classes.
    y_pred : array of shape (n_rows,)
        The classes predicted.
    beta : float, default=1.0
        How many times as much recall matters as precision.
    pos_label : label, optional
        The positive class; by default the minority of ``y_true``. That, and several negative
        classes, is all that this function adds.
    sample_weight : array of shape (n_rows,), optional
        Weights.
    zero_division : {"warn", 0.0, 1.0, numpy.nan}, default="warn"
        The score where no sample is positive and none is predicted to be.

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
    zero_division = _judge_positive(split, pos_label, zero_division)
    return _of_one(fbeta_score, split, True, zero_division, beta=beta)


# -- reading ---------------------------------------------------------------------------------------


class _Split(NamedTuple):
    """Which samples are positive, which are predicted to be, their weights; all classes."""

    true: Mask
    predicted: Mask
    weights: Floats
    classes: npt.NDArray[Any]


def _read(
    y_true: Any, y_pred: Any, sample_weight: Any
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Floats]:
    """The classes, those predicted and the weights of the rows that count."""
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
    """All the classes there are, sorted; refuses what are no classes, and mixed kinds of them."""
    named = () if pos_label is None else ([pos_label],)
    return np.asarray(unique_labels(true, predicted, *named))


def _shares(true: npt.NDArray[Any], weights: Floats) -> tuple[npt.NDArray[Any], Floats]:
    """The classes of some samples, and the weight of each."""
    classes, codes = np.unique(true, return_inverse=True)
    return classes, np.asarray(np.bincount(codes, weights=weights), dtype=np.float64)


def least_weighty(share: Floats) -> int:
    """The class of least weight; of classes that are tied, the last."""
    return int(np.flatnonzero(share == share.min())[-1])


def _split(
    y_true: Any, y_pred: Any, pos_label: Any, sample_weight: Any, zero_division: ZeroDivision
) -> _Split:
    """Tell positive samples from negative ones."""
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
            f"All samples are of the class {true.tolist()[0]!r} and pos_label is None: it is "
            "taken for the negative class. Give pos_label to say which class is positive.",
            UndefinedMetricWarning,
        )
    return _Split(true != negative, predicted != negative, weights, classes)


def _judge_positive(split: _Split, pos_label: Any, zero_division: ZeroDivision) -> ZeroDivision:
    """Warn of a positive class that is nowhere, once; then what is 0/0 is known to be 0."""
    if pos_label is None or zero_division != "warn" or (split.true | split.predicted).any():
        return zero_division
    there = split.classes[split.classes != pos_label].tolist()
    shown = f"{there[:10]}{' and more' if len(there) > 10 else ''}"
    warn_user(
        f"pos_label={pos_label!r} is neither in y_true nor in y_pred, whose classes are {shown}: "
        "the score is 0/0, and is set to 0.0. Use zero_division to say what it should be.",
        UndefinedMetricWarning,
    )
    return 0.0


def _cells(split: _Split) -> tuple[Mask, Mask, Floats]:
    """The same samples as four weighted ones, which scikit-learn has checked in no time."""
    weights = np.bincount(2 * split.true + split.predicted, weights=split.weights, minlength=4)
    predicted = np.array([False, True])
    return np.repeat(predicted, 2), np.tile(predicted, 2), np.asarray(weights, np.float64)


def _of_one(
    score: Any, split: _Split, positive: bool, zero_division: ZeroDivision, **more: Any
) -> float:
    """scikit-learn's score of one side alone, which need not have any sample."""
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
        f"{why}; it is set to 0.0. Use zero_division to say what it should be.",
        UndefinedMetricWarning,
    )
    return 0.0
