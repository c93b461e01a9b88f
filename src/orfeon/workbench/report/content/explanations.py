"""What the model does with its features: Shapley values, and the effect of single features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from orfeon.combining.ensemble_selection import EnsembleSelection
from orfeon.inspection import ShapleyValues, shap_values
from orfeon.utils.text import number_text, short
from orfeon.utils.types import Floats, Integers
from orfeon.workbench.experiment.evaluation import model_size, take_rows
from orfeon.workbench.experiment.methods import METHODS
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.report.content.unseen import codes_of
from orfeon.workbench.report.content_types import (
    Axis,
    BarChart,
    Bars,
    Box,
    BoxPlot,
    Chart,
    Line,
    LineChart,
    Points,
    ScatterPlot,
)

#: Features with Shapley values, and with curves of their own.
_SHOWN, _EFFECTS = 10, 3
#: Whole numbers of this size are years, which have no comma.
_YEARS = (1500, 2200)
#: Rows that are explained at most and at least, and nodes times rows.
_ROWS, _FEWEST, _WORK = 250, 15, 8_000_000
#: Rows and values of an effect, and classes with curves.
_MEAN_ROWS, _VALUES, _CLASSES = 100, 20, 6
#: Nodes times predicted rows that effects may take.
_EFFECT_WORK = 400_000_000


class Explained(NamedTuple):
    """Shapley values, and whose they are."""

    values: ShapleyValues
    of: str
    X: Any


def explained(outcome: StudyOutcome) -> Explained | None:
    """Shapley values of the chosen model on test rows of the first fold.

    A weighted mean that is no sum over trees is explained by the heaviest of its models that is.
    """
    showcase = outcome.showcase
    if showcase is None or outcome.chosen not in showcase.models:
        return None
    model = showcase.models[outcome.chosen]
    candidates = [(outcome.best.title, model)]
    if isinstance(model, EnsembleSelection):
        by_weight = sorted(outcome.weights.items(), key=lambda item: -item[1])
        candidates += [
            (f"{METHODS[name].title}, {100 * weight:.0f}% of the weight", one)
            for name, weight in by_weight
            if (one := model.named_estimators_.get(name, "drop")) != "drop"
        ]
    for title, one in candidates:
        nodes = model_size(one)["nodes"] or 1
        n_rows = min(_ROWS, _WORK // nodes, len(showcase.y_test))
        if n_rows < _FEWEST:
            continue
        X = _some_rows(outcome, showcase.X_test, n_rows)
        try:
            return Explained(shap_values(one, X), title, X)
        except (TypeError, ValueError, NotImplementedError):
            continue
    return None


def _some_rows(outcome: StudyOutcome, X: Any, n_rows: int) -> Any:
    """Rows drawn at random, in their order."""
    drawn = np.random.default_rng(outcome.seed).permutation(len(X))[:n_rows]
    return take_rows(X, np.sort(drawn))


def _is_of_several(found: Explained) -> bool:
    return found.values.n_outputs > 2


def _towards(found: Explained) -> Floats:
    """The values for numbers or for the second of two classes, of shape (n_rows, n_features)."""
    values = found.values.values
    return np.asarray(values[:, :, 1] if values.ndim == 3 else values)


def by_size(found: Explained) -> Integers:
    """The features from the largest to the smallest mean absolute value, over all outputs."""
    size = np.abs(found.values.values).mean(axis=0)
    return np.argsort(-size.reshape(len(size), -1).sum(axis=1), kind="stable")


def shapley_chart(found: Explained) -> Chart:
    """A beeswarm of the values; for several classes bars of their mean sizes."""
    if _is_of_several(found):
        return _mean_sizes(found)
    values, what, classes = _towards(found), found.values.what, found.values.classes
    towards = "" if classes is None else f" towards “{short(classes[-1], 40)}”"
    series = [
        Box(
            short(found.values.names[j], 40), values[:, j].tolist(),
            [f"{short(found.values.names[j], 30)} = {_text(x)}" for x in column_of(found.X, j)],
            group=0, tones=_tones(column_of(found.X, j)),
        )
        for j in by_size(found)[:_SHOWN]
    ]  # fmt: skip
    caption = (
        f"One point per row and feature: what it adds to the {what}{towards} ({found.of}; "
        f"{len(values):,} rows not trained on). Orange is a high value of the feature, blue a low "
        "one, grey a category."
    )
    return BoxPlot("Shapley values", caption, Axis(f"Change of the {what}"), series)


def dependence_chart(found: Explained, j: int) -> Chart | None:
    """The Shapley values of a numeric feature by its values."""
    column = column_of(found.X, j)
    if column.dtype.kind != "f" or _is_of_several(found):
        return None
    name, values = short(found.values.names[j], 40), _towards(found)
    return ScatterPlot(
        f"Shapley values of {name}", "One point per row.", _axis(name, column),
        Axis(f"Change of the {found.values.what}"),
        [Points("rows", column.tolist(), values[:, j].tolist(), group=0)], narrow=True,
    )  # fmt: skip


def _mean_sizes(found: Explained) -> BarChart:
    size, order = np.abs(found.values.values).mean(axis=0), by_size(found)[:_SHOWN]
    assert found.values.classes is not None
    series = [
        Bars(short(name, 40), size[order, k].tolist(), group=k)
        for k, name in enumerate(found.values.classes[:_CLASSES])
    ]
    what = found.values.what
    caption = (
        f"Mean absolute change of the {what} of each class ({found.of}; "
        f"{len(found.values):,} rows not trained on)."
    )
    names = [short(found.values.names[j], 40) for j in order]
    return BarChart("Shapley values", caption, Axis(f"Mean change of the {what}"), names, series)


def _text(value: Any) -> str:
    return number_text(value, grouped=False) if isinstance(value, float) else short(value, 40)


def _axis(name: str, column: Any) -> Axis:
    """The axis of a numeric feature."""
    known = column[np.isfinite(column)]
    are_years = len(known) > 0 and bool(
        (known == np.rint(known)).all() and known.min() >= _YEARS[0] and known.max() <= _YEARS[1]
    )
    return Axis(name, is_year=are_years)


def _tones(column: Any) -> list[float | None]:
    """Ranks between 0 and 1; none for categories."""
    if column.dtype.kind != "f":
        return [None] * len(column)
    from scipy.stats import rankdata

    known = np.isfinite(column)
    tones = np.full(len(column), np.nan)
    if known.any():
        ranks = rankdata(column[known])
        tones[known] = (ranks - 0.5) / len(ranks)
    return [float(tone) if np.isfinite(tone) else None for tone in tones]


def column_of(X: Any, j: int) -> Any:
    """A feature as numbers or as objects."""
    if not hasattr(X, "iloc"):
        return np.asarray(X[:, j], dtype=np.float64)
    column = X.iloc[:, j]
    if column.dtype.kind in "fiub":
        return column.to_numpy(dtype=np.float64)
    return column.to_numpy(dtype=object)


# -- effects ---------------------------------------------------------------------------------------


def effect_charts(
    outcome: StudyOutcome, features: Integers, found: Explained | None
) -> list[Chart]:
    """For each feature its Shapley values, and the partial dependence of the whole model."""
    showcase = outcome.showcase
    if showcase is None or outcome.chosen not in showcase.models:
        return []
    model = showcase.models[outcome.chosen]
    n_rows = min(_MEAN_ROWS, len(showcase.y_test))
    nodes = model_size(model)["nodes"] or 1
    if nodes * n_rows * _VALUES > _EFFECT_WORK:
        n_rows = max(_FEWEST, _EFFECT_WORK // (nodes * _VALUES))
    X = _some_rows(outcome, showcase.X_test, n_rows)
    charts = []
    for j in map(int, features[:_EFFECTS]):
        charts.append(None if found is None else dependence_chart(found, j))
        charts.append(_effect(outcome, model, X, j))
    return [chart for chart in charts if chart is not None]


def _effect(outcome: StudyOutcome, model: Any, X: Any, j: int) -> Chart | None:
    name = str(X.columns[j]) if hasattr(X, "columns") else f"feature {j}"
    grid = grid_of(column_of(X, j))
    if len(grid) < 2 or (outcome.classes and (codes_of(outcome, model.classes_) < 0).any()):
        return None
    means = effect(outcome, model, X, j, grid)
    shown = range(means.shape[1])
    if len(outcome.classes) == 2:
        shown = range(1, 2)
    titles = [short(one, 40) for one in outcome.classes] or [short(outcome.target, 40)]
    label = "Mean probability" if outcome.classes else "Mean prediction"
    axis = Axis(label, percent=bool(outcome.classes))
    title = f"Effect of {short(name, 40)}"
    caption = f"{label} when all of {len(X):,} rows not trained on have this value."
    some = [k for k in shown if k < _CLASSES]
    if isinstance(grid[0], float):
        series = [
            Line(titles[k], grid, means[:, k].tolist(), group=k if len(some) > 1 else 0)
            for k in some
        ]
        return LineChart(
            title, caption, _axis(short(name, 40), column_of(X, j)), axis, series, narrow=True
        )
    bars = [Bars(titles[k], means[:, k].tolist(), group=k if len(some) > 1 else 0) for k in some]
    names = [short(value, 40) for value in grid]
    return BarChart(title, caption, axis, names, bars, narrow=True)


def grid_of(column: Any) -> list[Any]:
    """Quantiles of numbers, or the most frequent categories."""
    if column.dtype.kind == "f":
        known = column[np.isfinite(column)]
        if not len(known):
            return []
        numbers: list[Any] = np.unique(
            np.quantile(known, np.linspace(0.02, 0.98, _VALUES))
        ).tolist()
        return numbers
    values = [value for value in column if value is not None and value == value]
    names, counts = np.unique(np.array(values, dtype=object).astype(str), return_counts=True)
    kept = set(names[np.argsort(-counts, kind="stable")[:_VALUES]].tolist())
    return sorted({value for value in values if str(value) in kept}, key=str)


def effect(outcome: StudyOutcome, model: Any, X: Any, j: int, grid: list[Any]) -> Floats:
    """Mean predictions over the rows with each value, of shape (n_values, n_outputs)."""
    # All values in one call: many small ones would cost more than the predictions.
    n = len(X)
    changed = take_rows(X, np.tile(np.arange(n), len(grid)))
    values = np.repeat(np.array(grid, dtype=object), n)
    if hasattr(X, "iloc"):
        import pandas

        name = X.columns[j]
        changed = changed.reset_index(drop=True)
        changed[name] = pandas.Series(values).astype(X[name].dtype)
    else:
        changed[:, j] = values.astype(np.float64)
    if not outcome.classes:
        found = np.asarray(model.predict(changed), dtype=np.float64)[:, None]
    else:
        known = codes_of(outcome, model.classes_)
        found = np.zeros((len(changed), len(outcome.classes)))
        found[:, known] = model.predict_proba(changed)
    return np.asarray(found.reshape(len(grid), n, -1).mean(axis=1))
