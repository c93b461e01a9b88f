"""The sections about the models themselves: members of the ensembles, and features."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from orfeon.inspection import Importances, importances, kappa_error, margins
from orfeon.utils.text import counted, some_of
from orfeon.workbench.experiment.outcome import Showcase, StudyOutcome
from orfeon.workbench.experiment.verdict import groups_of
from orfeon.workbench.report.content.explanations import (
    by_size,
    effect_charts,
    explained,
    shapley_chart,
)
from orfeon.workbench.report.content_types import (
    Axis,
    BarChart,
    Bars,
    Chart,
    Line,
    LineChart,
    Mark,
    Points,
    ScatterPlot,
    Section,
)

#: Pairs of members of a cloud, and steps of a distribution.
_PAIRS, _STEPS = 600, 400


def ensembles_section(outcome: StudyOutcome) -> Section | None:
    """Kappa-error clouds and margins, on rows that the models have not seen."""
    showcase = outcome.showcase
    if showcase is None or outcome.task != "classification":
        return None
    # Rows of a class that no member was trained on say nothing about the members.
    known = np.isin(showcase.y_test, np.unique(showcase.y_train))
    if not known.all():
        X = showcase.X_test
        rows = X.loc[known] if hasattr(X, "loc") else X[known]
        showcase = replace(showcase, X_test=rows, y_test=showcase.y_test[known])
    named = _named(outcome, showcase)
    blocks = [*_clouds(outcome.seed, showcase, named), *_margins(showcase, named)]
    if not blocks:
        return None
    text = ["Members that err on different rows correct each other. From the first outer fold."]
    return Section("ensembles", "Inside the ensembles", text, blocks)


def _named(outcome: StudyOutcome, showcase: Showcase) -> dict[str, tuple[str, int]]:
    """Titles and colours of the models; a part of an ensemble has another than the whole."""
    groups = groups_of(outcome)
    named: dict[str, tuple[str, int]] = {}
    for name in showcase.models:
        candidate = outcome.candidate(name)
        taken = {group for _, group in named.values()}
        group = groups[candidate.method]
        if group in taken:
            group = next(number for number in range(len(taken) + 1) if number not in taken)
        named[name] = (candidate.title, group)
    return named


def _looked_at(showcase: Showcase, look: Callable[[Any], Any]) -> tuple[dict[str, Any], list[str]]:
    """What is seen in each model, and the names of those whose members have no votes."""
    found, without = {}, []
    for name, model in showcase.models.items():
        try:
            found[name] = look(model)
        except (TypeError, ValueError):
            without.append(name)
    return found, without


def _without_text(without: list[str], named: dict[str, tuple[str, int]]) -> str:
    if not without:
        return ""
    verb = "has" if len(without) == 1 else "have"
    return f" Not shown: {some_of(named[name][0] for name in without)}, which {verb} no votes."


def _clouds(seed: int, showcase: Showcase, named: dict[str, tuple[str, int]]) -> list[Chart]:
    def look(model: Any) -> Any:
        return kappa_error(
            model, showcase.X_test, showcase.y_test, max_pairs=_PAIRS, random_state=seed
        )

    found, without = _looked_at(showcase, look)
    clouds = {name: cloud for name, cloud in found.items() if len(cloud)}
    if not clouds:
        return []
    series = [
        Points(named[name][0], cloud.kappa.tolist(), cloud.error.tolist(), group=named[name][1])
        for name, cloud in clouds.items()
    ]
    marks = [
        Mark(f"{named[name][0]}, mean", *cloud.centroid)
        for name, cloud in clouds.items()
        if np.isfinite(cloud.centroid).all()
    ]
    caption = (
        "One point per pair of members: their mean error and their kappa, the agreement beyond "
        "chance. Low is accurate, left is diverse; an ensemble gains from both. At most "
        f"{_PAIRS} pairs per ensemble are drawn.{_without_text(without, named)}"
    )
    axes = Axis("Kappa, agreement of the pair"), Axis("Mean error of the pair", percent=True)
    title = "Agreement and error of the members"
    return [ScatterPlot(title, caption, *axes, series, marks=marks)]


def _margins(showcase: Showcase, named: dict[str, tuple[str, int]]) -> list[Chart]:
    found, without = _looked_at(
        showcase, lambda model: margins(model, showcase.X_test, showcase.y_test)
    )
    series = []
    for name, its in found.items():
        values, shares = its.steps()
        if not len(values):
            continue
        shown = np.unique(np.linspace(0, len(values) - 1, _STEPS).round().astype(int))
        title, group = named[name]
        series.append(Line(title, values[shown].tolist(), shares[shown].tolist(), group=group))
    if not series:
        return []
    caption = (
        "Share of rows whose margin (votes for the class minus those for its strongest rival) is "
        "at most this. At 0 it is the error of the vote; further right is more confident."
        f"{_without_text(without, named)}"
    )
    margin, share = Axis("Margin", low=-1.0, high=1.0), Axis("Share of rows", percent=True, low=0.0)
    return [LineChart("Vote margins", caption, margin, share, series, steps=True)]


#: Features that are shown.
_SHOWN = 20
#: Shuffles of each feature, and limits of all predictions and of all rows predicted for them.
_REPEATS, _PREDICTIONS, _ROWS = 5, 1000, 150_000
#: Seconds that all predictions for them may take; slower models are not shuffled.
_SECONDS = 8.0
#: Rows below which shuffling says nothing.
_FEWEST = 20


def features_section(outcome: StudyOutcome) -> Section | None:
    """Importances of the features, by shuffling them and by the splits of trees."""
    showcase = outcome.showcase
    if showcase is None or outcome.chosen not in showcase.models:
        return None
    model = showcase.models[outcome.chosen]
    charts: list[Chart] = []
    shuffled = _shuffled(model, showcase, outcome.seed)
    if shuffled is not None:
        charts.append(_chart(shuffled, len(showcase.y_test)))
    split = _by_splits(model)
    if split is not None:
        charts.append(_chart(split, 0))
    found = explained(outcome)
    if found is not None:
        charts.append(shapley_chart(found))
        charts += effect_charts(outcome, by_size(found), found)
    elif shuffled is not None:
        charts += effect_charts(outcome, np.argsort(-shuffled.mean, kind="stable"), None)
    if not charts:
        return None
    text = [
        f"How much {outcome.best.title} relies on each feature, and what it does with it. "
        "Correlated features share importance: each looks dispensable while the others are there."
    ]
    return Section("features", "Features", text, charts)


def _shuffled(model: Any, showcase: Showcase, seed: int) -> Importances | None:
    n_rows, n_features = np.shape(showcase.X_test)
    if n_rows < _FEWEST:
        return None
    start = time.perf_counter()
    model.predict(showcase.X_test)
    n_affordable = _SECONDS / max(time.perf_counter() - start, 1e-9)
    most = int(min(_PREDICTIONS, n_affordable))
    repeats = min(_REPEATS, most // n_features, _ROWS // max(n_features * n_rows, 1))
    if n_features > most:
        return None
    X, y = showcase.X_test, showcase.y_test
    if repeats < 2:
        # Fewer rows instead of one shuffle, of which nothing is known.
        repeats = 2 if 2 * n_features <= most else 1
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
