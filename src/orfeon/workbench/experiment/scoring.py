"""Measures of a study. Lower is better for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.errors import ArgumentError
from orfeon.utils.types import Floats, Integers
from orfeon.workbench.experiment.methods import Task

#: Probabilities are not taken to be smaller than this: one sure mistake would outweigh all else.
_LEAST = 1e-6

#: The measures of each task, the usual one first, and what they are called.
METRICS: dict[str, dict[str, str]] = {
    "classification": {
        "error": "error",
        "balanced_error": "balanced error",
        "log_loss": "log loss",
    },
    "regression": {
        "rmse": "root mean squared error",
        "mae": "mean absolute error",
        "unexplained": "unexplained variance (1 - R²)",
    },
}
#: Measures that are shares of 1, shown as percentages.
SHARES = frozenset({"error", "balanced_error", "unexplained"})


def chosen_metric(name: str | None, task: Task) -> str:
    """The measure that a study chooses by."""
    known = METRICS[task]
    if name is None:
        return next(iter(known))
    if name not in known:
        raise ArgumentError(
            "metric", f"must be one of {', '.join(known)} for {task}; got {name!r}."
        )
    return name


def class_scores(codes: Integers, predicted: Integers, shares: Floats) -> dict[str, float]:
    """Measures of a classifier."""
    wrong = codes != predicted
    n_classes = shares.shape[1]
    in_class = np.bincount(codes, minlength=n_classes)
    wrong_in_class = np.bincount(codes[wrong], minlength=n_classes)
    there = in_class > 0
    answers = np.clip(shares[np.arange(len(codes)), codes], _LEAST, 1.0)
    return {
        "error": float(wrong.mean()),
        "balanced_error": float((wrong_in_class[there] / in_class[there]).mean()),
        "log_loss": float(-np.log(answers).mean()),
    }


def target_scores(y: Floats, predicted: Floats) -> dict[str, float]:
    """Measures of a regressor."""
    residual = y - predicted
    squared = float(residual @ residual)
    around_mean = float(((y - y.mean()) ** 2).sum())
    return {
        "rmse": float(np.sqrt(squared / len(y))),
        "mae": float(np.abs(residual).mean()),
        "unexplained": squared / around_mean if around_mean > 0 else float(squared > 0),
    }


def full_shares(model: Any, X: Any, n_classes: int) -> Floats:
    """Class probabilities with a column for every class, also for those not met in training."""
    found: Floats = model.predict_proba(X)
    if found.shape[1] == n_classes:
        return found
    shares = np.zeros((len(found), n_classes))
    shares[:, np.asarray(model.classes_, dtype=np.int64)] = found
    return shares
