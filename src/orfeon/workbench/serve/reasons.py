"""How far predictions can be trusted: intervals or sets of classes, and decisive features."""

from __future__ import annotations

from typing import Any

import numpy as np

from orfeon.errors import ArgumentError
from orfeon.utils.text import number_text
from orfeon.utils.types import Floats


def interval_columns(model: Any, X: Any, coverage: float) -> dict[str, Any]:
    """Columns that hold the truth with this probability: two ends, or a set of classes."""
    is_classifier = hasattr(model, "classes_")
    what = "predict_set" if is_classifier else "predict_interval"
    if not hasattr(model, what):
        raise ArgumentError(
            "interval",
            f"{type(model).__name__} has no {what}; 'orfeon fit --method random_forest' makes a "
            "model that has, and orfeon.ConformalClassifier or orfeon.ConformalRegressor add it to "
            "any.",
        )
    try:
        found = getattr(model, what)(X, coverage)
    except ValueError as error:
        raise ArgumentError("interval", str(error)) from error
    if not is_classifier:
        return {"low": found[:, 0], "high": found[:, 1]}
    names = [str(label) for label in model.classes_]
    return {"set": ["|".join(np.compress(row, names)) for row in found]}


def reasons(model: Any, X: Any, predicted: Any, n_reasons: int) -> list[str]:
    """For each row the features that speak most for the prediction or against it, with signs.

    For classes the values are those of the predicted class.
    """
    from orfeon.combining.composition import Composition
    from orfeon.inspection import shap_values

    try:
        found = shap_values(model, X)
    except (TypeError, ValueError, NotImplementedError) as error:
        hint = ""
        if isinstance(model, Composition):  # a selection or a stack, which a study delivers
            hint = (
                " 'orfeon study --deployable single --methods random_forest,gradient_boosting' "
                "delivers a model that can be explained."
            )
        raise ArgumentError("explain", f"{error}{hint}") from error
    values = _of_predicted(found, model, predicted)
    order = np.argsort(-np.abs(values), axis=1, kind="stable")[:, :n_reasons]
    return [
        "; ".join(
            f"{found.names[j]}={_shown(found.data[i, j])} ({values[i, j]:+.3g})"
            for j in row
            if values[i, j] != 0
        )
        for i, row in enumerate(order)
    ]


def _of_predicted(found: Any, model: Any, predicted: Any) -> Floats:
    values: Floats = found.values
    if values.ndim == 3:
        codes = np.searchsorted(model.classes_, predicted)
        return np.asarray(values[np.arange(len(values)), :, codes])
    if found.classes is not None:  # one score, for the second of two classes
        sign = np.where(np.asarray(predicted) == model.classes_[-1], 1.0, -1.0)
        return np.asarray(values * sign[:, None])
    return values


def _shown(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return number_text(float(value), grouped=False)
    return str(value)
