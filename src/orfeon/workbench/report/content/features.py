"""What the model draws from each feature."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from orfeon.inspection import Importances, importances
from orfeon.utils.text import counted
from orfeon.workbench.experiment.outcome import Showcase, StudyOutcome
from orfeon.workbench.report.content_types import Axis, BarChart, Bars, Section

#: Features that are shown.
_SHOWN = 20
#: Shuffles of each feature, and limits of all predictions and of all rows predicted for them.
_REPEATS, _PREDICTIONS, _ROWS = 10, 1000, 300_000
#: Rows below which shuffling says nothing.
_FEWEST = 20


def features_section(outcome: StudyOutcome) -> Section | None:
    """Importances of the features, by shuffling them and by the splits of trees."""
    showcase = outcome.showcase
    if showcase is None or outcome.chosen not in showcase.models:
        return None
    model = showcase.models[outcome.chosen]
    charts = []
    shuffled = _shuffled(model, showcase, outcome.seed)
    if shuffled is not None:
        charts.append(_chart(shuffled, len(showcase.y_test)))
    split = _by_splits(model)
    if split is not None:
        charts.append(_chart(split, 0))
    if not charts:
        return None
    text = [
        f"How much {outcome.best.title} relies on each feature. Correlated features share "
        "importance: each looks dispensable while the others are there."
    ]
    return Section("features", "Features", text, charts)


def _shuffled(model: Any, showcase: Showcase, seed: int) -> Importances | None:
    n_rows, n_features = np.shape(showcase.X_test)
    repeats = min(_REPEATS, _PREDICTIONS // n_features, _ROWS // max(n_features * n_rows, 1))
    if n_rows < _FEWEST or n_features > _PREDICTIONS:
        return None
    X, y = showcase.X_test, showcase.y_test
    if repeats < 2:
        # Fewer rows instead of one shuffle, of which nothing is known.
        repeats = 2 if 2 * n_features <= _PREDICTIONS else 1
        n_taken = max(_FEWEST, min(n_rows, _ROWS // (repeats * n_features)))
        taken = np.sort(np.random.default_rng(seed).permutation(n_rows)[:n_taken])
        X, y = (X.iloc[taken] if hasattr(X, "iloc") else X[taken]), y[taken]
    try:
        return importances(
            model, X, y, kind="permutation", on="train", n_repeats=repeats, random_state=seed
        )
    except (TypeError, ValueError):
        return None


def _by_splits(model: Any) -> Importances | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = importances(model)
    except (TypeError, ValueError):
        return None
    return found if np.isfinite(found.mean).all() else None


def _chart(found: Importances, n_rows: int) -> BarChart:
    order = np.argsort(-found.mean, kind="stable")[:_SHOWN]
    mean, error = found.mean[order], found.standard_error[order]
    is_known = np.isfinite(error)
    low = np.where(is_known, mean - 2 * error, np.nan).tolist() if is_known.any() else ()
    high = np.where(is_known, mean + 2 * error, np.nan).tolist() if is_known.any() else ()
    names = [found.names[j] for j in order]
    hidden = len(found.mean) - len(order)
    rest = f" Not shown: {counted(hidden, 'less important feature')}." if hidden else ""
    if found.kind == "permutation":
        unit = "mean squared error" if found.is_regression else "error"
        title = "Permutation importance"
        caption = (
            f"Increase in {unit} on {n_rows:,} rows not used for training when the values of the "
            f"feature are shuffled; intervals are two standard errors over shuffles.{rest}"
        )
        axis = Axis(f"Increase in {unit}", percent=not found.is_regression)
        bars = Bars("increase", mean.tolist(), low, high, group=0)
    else:
        title = "Impurity-based importance"
        caption = (
            "Share of the decrease in impurity at the splits of the trees, on the training rows; "
            f"features with many values look more important than they are.{rest}"
        )
        axis = Axis("Share of the decrease", percent=True)
        bars = Bars("share", mean.tolist(), low, high, group=0)
    return BarChart(title, caption, axis, names, [bars])
