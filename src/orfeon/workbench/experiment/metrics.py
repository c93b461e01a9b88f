"""Metrics of classifiers and regressors, by the names that users type.

Studies minimise, so each metric has a loss: itself, or one minus itself where higher is better.
Metrics of one class against the rest (AUC, average precision, F1) are those of the second of two
classes, and the mean over the classes of several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats, Integers

#: Probabilities are not taken to be smaller than this: one sure mistake would outweigh all else.
LEAST = 1e-6


@dataclass(frozen=True)
class Answers:
    """Predictions beside the truth: class codes and probabilities, or numbers; and weights."""

    y: npt.NDArray[Any]
    predicted: npt.NDArray[Any]
    shares: Floats
    weights: Floats | None = None

    @property
    def counted(self) -> Floats:
        """The weights, summing to 1."""
        weights = np.ones(len(self.y)) if self.weights is None else self.weights
        return np.asarray(weights / weights.sum())

    def mean(self, values: npt.NDArray[Any]) -> float:
        """The weighted mean of a value for each row."""
        if self.weights is None:
            return float(np.mean(values))
        return float(np.average(values, weights=self.weights))

    def take(self, rows: Integers) -> Answers:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return Answers(self.y[rows], self.predicted[rows], self.shares[rows], weights)


@dataclass(frozen=True)
class Metric:
    """A metric: what it is called, its values, and which of them are good."""

    title: str
    of: Callable[[Answers], float]
    is_better_high: bool = False
    is_share: bool = False
    #: Whether every study shows it; others are shown where they are chosen.
    is_usual: bool = False

    @property
    def loss_title(self) -> str:
        """What its loss is called."""
        return f"1 - {self.title}" if self.is_better_high else self.title

    def loss(self, answers: Answers) -> float:
        """Lower is better."""
        value = self.of(answers)
        return 1.0 - value if self.is_better_high else value


# -- classes ---------------------------------------------------------------------------------------


def _error(answers: Answers) -> float:
    return answers.mean(answers.y != answers.predicted)


def _balanced_error(answers: Answers) -> float:
    codes, n_classes = _codes(answers), answers.shares.shape[1]
    weights = np.ones(len(codes)) if answers.weights is None else answers.weights
    wrong = np.bincount(codes, weights * (answers.y != answers.predicted), n_classes)
    whole = np.bincount(codes, weights, n_classes)
    return float((wrong[whole > 0] / whole[whole > 0]).mean())


def _log_loss(answers: Answers) -> float:
    own = answers.shares[np.arange(len(answers.y)), _codes(answers)]
    return answers.mean(-np.log(np.clip(own, LEAST, 1.0)))


def _brier(answers: Answers) -> float:
    """Sum over the classes, for two classes half of it, as it is usually printed."""
    squares = (answers.shares - np.eye(answers.shares.shape[1])[_codes(answers)]) ** 2
    whole = answers.mean(squares.sum(axis=1))
    return whole / 2 if answers.shares.shape[1] == 2 else whole


def _codes(answers: Answers) -> npt.NDArray[np.int64]:
    return answers.y.astype(np.int64)


def _against_rest(
    of: Callable[[npt.NDArray[np.bool_], Floats, Floats], float],
) -> Callable[[Answers], float]:
    """The metric of the second class, or the mean over several; NaN if there is just one."""

    def mean(answers: Answers) -> float:
        codes, n_classes = _codes(answers), answers.shares.shape[1]
        among = [1] if n_classes == 2 else range(n_classes)
        present = [k for k in among if 0 < np.count_nonzero(codes == k) < len(codes)]
        found = [of(codes == k, answers.shares[:, k], answers.counted) for k in present]
        return float(np.mean(found)) if found else float("nan")

    return mean


def _by_value(own: npt.NDArray[np.bool_], share: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Weight of the rows of the class and of the others at each value, in increasing order."""
    values, place = np.unique(share, return_inverse=True)
    inside, outside = (np.bincount(place, weights * one, len(values)) for one in (own, ~own))
    return np.asarray(inside, dtype=np.float64), np.asarray(outside, dtype=np.float64)


def _auc(own: npt.NDArray[np.bool_], share: Floats, weights: Floats) -> float:
    """Share of the pairs of a row of the class and another in the right order; ties are half."""
    inside, outside = _by_value(own, share, weights)
    pairs = inside @ (np.cumsum(outside) - outside / 2)
    return float(pairs / (inside.sum() * outside.sum()))


def _average_precision(own: npt.NDArray[np.bool_], share: Floats, weights: Floats) -> float:
    """Mean precision at the rows of the class, from the highest value on."""
    inside, outside = (part[::-1] for part in _by_value(own, share, weights))
    hits = np.cumsum(inside)
    taken = hits + np.cumsum(outside)
    precision = np.divide(hits, taken, out=np.zeros_like(hits), where=taken > 0)
    return float(inside @ precision / inside.sum())


def _f1(answers: Answers) -> float:
    codes, predicted, weights = _codes(answers), answers.predicted, answers.counted
    n_classes = answers.shares.shape[1]
    found = []
    for k in [1] if n_classes == 2 else range(n_classes):
        both = weights @ ((codes == k) & (predicted == k))
        either = weights @ (codes == k).astype(float) + weights @ (predicted == k).astype(float)
        if either > 0:
            found.append(2 * both / either)
    return float(np.mean(found)) if found else float("nan")


def _mcc(answers: Answers) -> float:
    """Correlation of true and predicted classes (Gorodkin 2004); 0 if either is always the same."""
    n_classes = answers.shares.shape[1]
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (_codes(answers), answers.predicted), answers.counted)
    true, predicted = counts.sum(axis=1), counts.sum(axis=0)
    spread = (1.0 - true @ true) * (1.0 - predicted @ predicted)
    return float((np.trace(counts) - true @ predicted) / np.sqrt(spread)) if spread > 1e-12 else 0.0


# -- numbers ---------------------------------------------------------------------------------------


def _residuals(answers: Answers) -> Floats:
    y, predicted = (np.asarray(one, dtype=np.float64) for one in (answers.y, answers.predicted))
    return np.asarray(y - predicted)


def _rmse(answers: Answers) -> float:
    return float(np.sqrt(answers.mean(_residuals(answers) ** 2)))


def _mae(answers: Answers) -> float:
    return answers.mean(np.abs(_residuals(answers)))


def _unexplained(answers: Answers) -> float:
    y = np.asarray(answers.y, dtype=np.float64)
    squared = answers.mean(_residuals(answers) ** 2)
    around_mean = answers.mean((y - answers.mean(y)) ** 2)
    return squared / around_mean if around_mean > 0 else float(squared > 0)


def _mape(answers: Answers) -> float:
    size = np.maximum(np.abs(np.asarray(answers.y, dtype=np.float64)), np.finfo(np.float64).eps)
    return answers.mean(np.abs(_residuals(answers)) / size)


def _median_error(answers: Answers) -> float:
    size = np.abs(_residuals(answers))
    order = np.argsort(size, kind="stable")
    reached = int(np.searchsorted(np.cumsum(answers.counted[order]), 0.5))
    return float(size[order[min(reached, len(size) - 1)]])


CLASS_METRICS: Mapping[str, Metric] = {
    "error": Metric("error", _error, is_share=True, is_usual=True),
    "balanced_error": Metric("balanced error", _balanced_error, is_share=True, is_usual=True),
    "log_loss": Metric("log loss", _log_loss, is_usual=True),
    "brier": Metric("Brier score", _brier),
    "auc": Metric("AUC", _against_rest(_auc), is_better_high=True),
    "average_precision": Metric(
        "average precision", _against_rest(_average_precision), is_better_high=True
    ),
    "f1": Metric("F1", _f1, is_better_high=True),
    "mcc": Metric("MCC", _mcc, is_better_high=True),
}
TARGET_METRICS: Mapping[str, Metric] = {
    "rmse": Metric("root mean squared error", _rmse, is_usual=True),
    "mae": Metric("mean absolute error", _mae, is_usual=True),
    "unexplained": Metric(
        "unexplained variance (1 - R²)", _unexplained, is_share=True, is_usual=True
    ),
    "mape": Metric("mean absolute percentage error", _mape, is_share=True),
    "median_error": Metric("median absolute error", _median_error),
}
#: The metrics of each task; the first is the default.
METRICS: Mapping[str, Mapping[str, Metric]] = {
    "classification": CLASS_METRICS,
    "regression": TARGET_METRICS,
}


def shown_metrics(task: str, chosen: str) -> dict[str, str]:
    """The metrics that a study shows, by name, with what their losses are called."""
    return {
        name: metric.loss_title
        for name, metric in METRICS[task].items()
        if metric.is_usual or name == chosen
    }


def losses(answers: Answers, task: str, chosen: str) -> dict[str, float]:
    """The losses of these metrics; lower is better."""
    known = METRICS[task]
    return {name: known[name].loss(answers) for name in shown_metrics(task, chosen)}
