"""The figures of Recarey's tables from a model's answers, in percent but for errors of prices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

#: Figures by their measure, by the settings of the cell.
Figures = dict[str, dict[str, float]]
#: The classes of Adult, by the names that the table has for them.
INCOMES = {"<50k": "<=50K", ">50k": ">50K"}


def class_figures(
    predictions: npt.ArrayLike, y: npt.ArrayLike, named: Mapping[str, str] | None = None
) -> Figures:
    """Accuracies, recalls, precisions, F1 and Matthews' coefficient."""
    from sklearn.metrics import matthews_corrcoef, precision_recall_fscore_support

    y, predictions = np.asarray(y), np.asarray(predictions)
    classes = np.unique(np.concatenate([y, predictions]))
    parts = precision_recall_fscore_support(y, predictions, labels=classes, zero_division=0)
    by_class = dict(zip(("precision", "recall", "f1"), parts[:3], strict=True))
    by_class["accuracy"] = by_class["recall"]
    there = parts[3] > 0
    found: Figures = {
        "avg=macro": {name: _percent(np.mean(of[there])) for name, of in by_class.items()},
        "avg=weighted": {
            name: _percent(np.average(of, weights=parts[3])) for name, of in by_class.items()
        },
        "": {"mcc": _percent(matthews_corrcoef(y, predictions))},
    }
    for name, label in (named or {}).items():
        place = np.flatnonzero(classes == label)
        found[f"class={name}"] = {
            metric: _percent(of[place[0]]) if len(place) else 0.0 for metric, of in by_class.items()
        }
    return found


def price_figures(predictions: npt.ArrayLike, y: npt.ArrayLike) -> Figures:
    """Squared and absolute errors, and R2 in percent."""
    y = np.asarray(y, dtype=float)
    errors = np.asarray(predictions, dtype=float) - y
    mse = float(np.mean(errors**2))
    figures = {
        "mse": mse, "rmse": mse**0.5, "mae": float(np.mean(np.abs(errors))),
        "r2": _percent(1 - mse / float(np.var(y))),
    }  # fmt: skip
    return {"": figures}


def _percent(share: Any) -> float:
    return round(100.0 * float(share), 10)
