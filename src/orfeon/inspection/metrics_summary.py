"""The usual measures of predictions in one table: for classes, and for numbers.

They are scikit-learn's, and the geometric mean of :mod:`orfeon.imbalance`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    matthews_corrcoef,
    mean_absolute_error,
    mean_squared_error,
    precision_recall_fscore_support,
    r2_score,
    roc_auc_score,
)
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_consistent_length

from orfeon.imbalance.metrics import ZeroDivision, geometric_mean
from orfeon.inspection.reading import read_weights
from orfeon.utils.types import Floats

#: Measures that each class has, and their means.
_OF_CLASSES = ("precision", "recall", "f1", "f_beta", "auc")


@dataclass(frozen=True, eq=False)
class ClassificationSummary:
    """Measures of predicted classes.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The classes.
    confusion : ndarray of shape (n_classes, n_classes)
        Weight of the samples of each class (rows) predicted as each class (columns).
    accuracy : float
        Share of correct predictions.
    precision, recall, f1, f_beta : ndarray of shape (n_classes,)
        Of each class against all others.
    beta : float
        How many times as important recall is as precision in ``f_beta``.
    matthews : float
        Matthews' correlation coefficient, for any number of classes.
    geometric_mean : float
        The geometric mean g of the recalls of the classes that occur or are predicted.
    auc : ndarray of shape (n_classes,)
        Area under the ROC curve of each class against all others; NaN without scores, and for a
        class with no samples or with all of them.

    Examples
    --------
    >>> from orfeon.inspection import classification_summary
    >>> found = classification_summary(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    >>> found.macro("recall"), round(found.matthews, 3)
    (0.75, 0.577)
    """

    classes: npt.NDArray[Any]
    confusion: Floats
    accuracy: float
    precision: Floats
    recall: Floats
    f1: Floats
    f_beta: Floats
    beta: float
    matthews: float
    geometric_mean: float
    auc: Floats

    @property
    def error(self) -> float:
        """Share of wrong predictions."""
        return 1.0 - self.accuracy

    @property
    def support(self) -> Floats:
        """Weight of the samples of each class."""
        return np.asarray(self.confusion.sum(axis=1), dtype=np.float64)

    def macro(self, measure: str) -> float:
        """Unweighted mean of a measure, such as "f1", over the classes where it is defined."""
        return self._mean(measure, np.ones(len(self.classes)))

    def weighted(self, measure: str) -> float:
        """Mean of a measure over the classes where it is defined, weighted by their support."""
        return self._mean(measure, self.support)

    def _mean(self, measure: str, weights: Floats) -> float:
        if measure not in _OF_CLASSES:
            raise ValueError(
                f"measure={measure!r} is not allowed; use one of {', '.join(_OF_CLASSES)}."
            )
        values = getattr(self, measure)
        known = ~np.isnan(values) & (weights > 0)
        return float(np.average(values[known], weights=weights[known])) if known.any() else np.nan

    def as_dict(self) -> dict[str, float]:
        """The measures that are numbers by name, such as "accuracy" and "macro f1"."""
        found = {
            "accuracy": self.accuracy, "error": self.error, "matthews": self.matthews,
            "geometric mean": self.geometric_mean,
        }  # fmt: skip
        for measure in _OF_CLASSES:
            found[f"macro {measure}"] = self.macro(measure)
            found[f"weighted {measure}"] = self.weighted(measure)
        return found

    def __str__(self) -> str:
        names = [str(label) for label in self.classes]
        width = max(8, *(len(name) for name in names))
        f_beta = f"F{self.beta:g}"
        heads = ["precision", "recall", "F1", *([f_beta] if self.beta != 1 else []), "AUC"]
        shown = [m for m in _OF_CLASSES if m != "f_beta" or self.beta != 1]
        if np.isnan(self.auc).all():
            heads, shown = heads[:-1], shown[:-1]
        rows = [" " * width + "".join(f"{head:>11}" for head in [*heads, "weight"])]
        for place, name in enumerate(names):
            rows.append(_row(name, width, [getattr(self, m)[place] for m in shown]))
            rows[-1] += f"{self.support[place]:>11g}"
        rows.append(_row("macro", width, [self.macro(m) for m in shown]))
        rows.append(_row("weighted", width, [self.weighted(m) for m in shown]))
        rows.append(
            f"accuracy {self.accuracy:.4f}, Matthews {self.matthews:.4f}, geometric mean "
            f"{self.geometric_mean:.4f}"
        )
        return "\n".join(rows)


def _row(name: str, width: int, values: list[float]) -> str:
    return f"{name:<{width}}" + "".join(f"{value:>11.4f}" for value in values)


def classification_summary(
    y_true: Any,
    y_pred: Any,
    y_score: Any = None,
    *,
    beta: float = 1.0,
    classes: Any = None,
    sample_weight: Any = None,
    zero_division: ZeroDivision = "warn",
) -> ClassificationSummary:
    """The usual measures of predicted classes.

    Parameters
    ----------
    y_true : array of shape (n_rows,)
        The classes.
    y_pred : array of shape (n_rows,)
        The predicted classes.
    y_score : array of shape (n_rows,) or (n_rows, n_classes), optional
        Scores of the second of two classes, or of each class, for the areas under the curves;
        higher is more likely.
    beta : float, default=1.0
        How many times as important recall is as precision in ``f_beta``.
    classes : array of shape (n_classes,), optional
        All classes, in the order of the columns of ``y_score``; by default those found, sorted.
    sample_weight : array of shape (n_rows,), optional
        Sample weights: 0 leaves a sample out, 2 counts it twice.
    zero_division : {"warn", 0.0, 1.0, numpy.nan}, default="warn"
        Value of 0/0, such as the precision of a class that is never predicted: a number, or 0 with
        a warning.

    Returns
    -------
    ClassificationSummary
        The measures; prints as a table.

    Examples
    --------
    >>> from orfeon.inspection import classification_summary
    >>> y = ["ill", "ill", "well", "well", "well"]
    >>> predicted = ["ill", "well", "well", "well", "well"]
    >>> print(classification_summary(y, predicted, [0.2, 0.6, 0.7, 0.9, 0.8]))
              precision     recall         F1        AUC     weight
    ill          1.0000     0.5000     0.6667     1.0000          2
    well         0.7500     1.0000     0.8571     1.0000          3
    macro        0.8750     0.7500     0.7619     1.0000
    weighted     0.8500     0.8000     0.7810     1.0000
    accuracy 0.8000, Matthews 0.6124, geometric mean 0.7071
    """
    true, predicted, weights, counts = _read(y_true, y_pred, sample_weight)
    found = np.asarray(unique_labels(true, predicted)) if classes is None else np.asarray(classes)
    strange = set(np.append(true, predicted).tolist()) - set(found.tolist())
    if strange:
        raise ValueError(
            f"classes={found.tolist()} lacks {strange.pop()!r}, which is in y_true or y_pred."
        )
    given: dict[str, Any] = {"labels": found, "sample_weight": weights}
    precision, recall, f1, _ = precision_recall_fscore_support(
        true, predicted, average=None, zero_division=zero_division, **given
    )
    # Do not warn twice about the same 0/0.
    quiet = 0.0 if zero_division == "warn" else zero_division
    f_beta = precision_recall_fscore_support(
        true, predicted, beta=beta, average=None, zero_division=quiet, **given
    )[2]
    scores = None if y_score is None else _read_scores(y_score, len(counts), len(found))[counts]
    return ClassificationSummary(
        classes=found,
        confusion=np.asarray(_quietly(confusion_matrix, true, predicted, **given), np.float64),
        accuracy=float(accuracy_score(true, predicted, sample_weight=weights)),
        precision=precision,
        recall=recall,
        f1=f1,
        f_beta=f_beta,
        beta=float(beta),
        matthews=float(_quietly(matthews_corrcoef, true, predicted, sample_weight=weights)),
        geometric_mean=geometric_mean(true, predicted, sample_weight=weights, zero_division=quiet),
        auc=_areas(true, scores, weights, found),
    )


@dataclass(frozen=True)
class RegressionSummary:
    """Measures of predicted numbers.

    Parameters
    ----------
    mean_squared_error : float
        MSE.
    root_mean_squared_error : float
        Its root, in the units of the targets.
    mean_absolute_error : float
        MAE.
    r2 : float
        Share of the variance of the targets that is explained; NaN for one sample.

    Examples
    --------
    >>> from orfeon.inspection import regression_summary
    >>> print(regression_summary([1.0, 2.0, 3.0], [1.0, 2.0, 4.0]))
    MSE 0.3333, RMSE 0.5774, MAE 0.3333, R2 0.5000
    """

    mean_squared_error: float
    root_mean_squared_error: float
    mean_absolute_error: float
    r2: float

    def as_dict(self) -> dict[str, float]:
        """The measures by name."""
        return {
            "mean squared error": self.mean_squared_error,
            "root mean squared error": self.root_mean_squared_error,
            "mean absolute error": self.mean_absolute_error,
            "r2": self.r2,
        }

    def __str__(self) -> str:
        return (
            f"MSE {self.mean_squared_error:.4f}, RMSE {self.root_mean_squared_error:.4f}, MAE "
            f"{self.mean_absolute_error:.4f}, R2 {self.r2:.4f}"
        )


def regression_summary(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> RegressionSummary:
    """The usual measures of predicted numbers.

    Parameters
    ----------
    y_true : array of shape (n_rows,)
        The targets.
    y_pred : array of shape (n_rows,)
        The predicted numbers.
    sample_weight : array of shape (n_rows,), optional
        Sample weights: 0 leaves a sample out, 2 counts it twice.

    Returns
    -------
    RegressionSummary
        The measures.

    Examples
    --------
    >>> from orfeon.inspection import regression_summary
    >>> regression_summary([1.0, 2.0], [2.0, 2.0]).mean_absolute_error
    0.5
    """
    true, predicted, weights, _ = _read(y_true, y_pred, sample_weight)
    squared = float(mean_squared_error(true, predicted, sample_weight=weights))
    absolute = float(mean_absolute_error(true, predicted, sample_weight=weights))
    r2 = float(r2_score(true, predicted, sample_weight=weights)) if len(true) > 1 else np.nan
    return RegressionSummary(squared, float(np.sqrt(squared)), absolute, r2)


def _read(
    y_true: Any, y_pred: Any, sample_weight: Any
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Floats, npt.NDArray[np.bool_]]:
    """Labels, predictions and weights of the rows that count, and which these are."""
    check_consistent_length(y_true, y_pred)
    true, predicted = column_or_1d(y_true), column_or_1d(y_pred)
    for values, name in ((true, "y_true"), (predicted, "y_pred")):
        assert_all_finite(values, input_name=name)
    if not len(true):
        raise ValueError("y_true is empty; give at least one sample.")
    weights = read_weights(sample_weight, len(true))
    counts = weights > 0
    return true[counts], predicted[counts], weights[counts], counts


def _quietly(score: Any, *labels: npt.NDArray[Any], **given: Any) -> Any:
    """A measure of labels, without a warning if they are all of one class."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A single label was found", UserWarning)
        return score(*labels, **given)


def _read_scores(y_score: Any, n_rows: int, n_classes: int) -> Floats:
    scores = np.asarray(y_score, dtype=np.float64)
    if scores.ndim == 1 and n_classes == 2:
        scores = np.column_stack([-scores, scores])
    if scores.shape != (n_rows, n_classes):
        raise ValueError(
            f"y_score has shape {scores.shape}; ({n_rows}, {n_classes}) is expected, a column per "
            "class, or one score per row with two classes."
        )
    assert_all_finite(scores, input_name="y_score")
    return scores


def _areas(
    true: npt.NDArray[Any], scores: Floats | None, weights: Floats, classes: npt.NDArray[Any]
) -> Floats:
    """Area under the curve of each class against all others."""
    areas = np.full(len(classes), np.nan)
    if scores is None:
        return areas
    for place, label in enumerate(classes):
        is_of = true == label
        if is_of.any() and not is_of.all():
            areas[place] = roc_auc_score(is_of, scores[:, place], sample_weight=weights)
    return areas
