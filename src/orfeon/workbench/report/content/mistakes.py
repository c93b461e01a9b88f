"""Where the model errs: confused classes, or residuals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from orfeon.inspection import classification_summary, regression_summary
from orfeon.utils.text import capital, counted, short
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.report.content_types import (
    Axis,
    Cell,
    Column,
    Line,
    LineChart,
    Matrix,
    Points,
    ScatterPlot,
    Section,
    Table,
)

#: Classes of a matrix that can be read; beyond it the most frequent confusions are listed.
_CLASSES = 30
#: Lines of a table of classes or confusions, and points of a cloud.
_LINES, _POINTS = 50, 2000


def mistakes_section(outcome: StudyOutcome) -> Section | None:
    """Confusion matrix and measures of each class, or residuals."""
    if outcome.task == "regression":
        return _residuals(outcome)
    counts = outcome.best.confusion
    if counts is None or not np.sum(counts):
        return None
    names = [short(name) for name in outcome.classes]
    text = [
        f"Predictions of {outcome.best.title} on the test rows of all outer folds: "
        f"{int(np.trace(counts)):,} of {int(np.sum(counts)):,} are correct. Each row counts once "
        "per repetition."
    ]
    first = _matrix(counts, names) if len(names) <= _CLASSES else _confusions(counts, names)
    return Section("mistakes", "Mistakes", text, [first, _classes(counts, names)])


def _matrix(counts: npt.NDArray[np.int64], names: list[str]) -> Matrix:
    caption = "Rows are true classes, columns predicted ones; the diagonal is correct."
    return Matrix(
        "Confusion matrix", caption, names, names, counts.tolist(), "True class", "Predicted class"
    )


def _confusions(counts: npt.NDArray[np.int64], names: list[str]) -> Table:
    wrong = np.where(np.eye(len(counts), dtype=bool), 0, counts)
    order = np.argsort(-wrong, axis=None, kind="stable")[:_LINES]
    rows: list[list[Cell]] = []
    for place in order:
        i, j = divmod(int(place), len(counts))
        if wrong[i, j]:
            share = float(wrong[i, j] / counts[i].sum())
            rows.append([names[i], names[j], int(wrong[i, j]), share])
    columns = [
        Column("True class"),
        Column("Predicted class"),
        Column("Rows", "number", 0),
        Column("Share of the class", "percent", 1),
    ]
    caption = f"The most frequent confusions among {len(names):,} classes."
    return Table("Confusions", caption, columns, rows, sorted_by=2, descending=True)


def _classes(counts: npt.NDArray[np.int64], names: list[str]) -> Table:
    n = len(counts)
    true, predicted = np.divmod(np.arange(n * n), n)
    found = classification_summary(
        true, predicted, classes=np.arange(n), sample_weight=counts.ravel(), zero_division=np.nan
    )
    order = np.argsort(-found.support, kind="stable")[:_LINES] if n > _LINES else np.arange(n)
    rows: list[list[Cell]] = [
        [names[k], found.support[k], found.recall[k], found.precision[k], found.f1[k]]
        for k in order
    ]
    columns = [
        Column("Class"),
        Column("Rows", "number", 0),
        Column("Recall", "percent", 1, note="share of the class that is predicted correctly"),
        Column(
            "Precision", "percent", 1, note="share of the predictions of the class that are correct"
        ),
        Column("F1", "percent", 1, note="harmonic mean of recall and precision"),
    ]
    caption = f"The largest {_LINES} of {n:,} classes." if n > _LINES else ""
    return Table("Per class", caption, columns, rows)


def _residuals(outcome: StudyOutcome) -> Section | None:
    showcase = outcome.showcase
    if showcase is None or outcome.chosen not in showcase.models:
        return None
    true = np.asarray(showcase.y_test, dtype=float)
    predicted = np.asarray(showcase.models[outcome.chosen].predict(showcase.X_test), dtype=float)
    found = regression_summary(true, predicted)
    rows: list[list[Cell]] = [
        ["Root mean squared error", found.root_mean_squared_error],
        ["Mean absolute error", found.mean_absolute_error],
        ["Median absolute error", float(np.median(np.abs(predicted - true)))],
        ["Mean residual", float(np.mean(predicted - true))],
        ["Explained variance, R²", found.r2],
    ]
    columns = [Column("Measure"), Column("Value", "number", 4)]
    caption = "Residuals are predicted minus true values."
    table = Table("Error measures", caption, columns, rows)
    text = [
        f"{capital(outcome.best.title)} on the {counted(len(true), 'test row')} of one outer fold."
    ]
    return Section("mistakes", "Mistakes", text, [*_clouds(outcome, true, predicted), table])


def _clouds(
    outcome: StudyOutcome, true: npt.NDArray[np.float64], predicted: npt.NDArray[np.float64]
) -> list[ScatterPlot | LineChart]:
    target, residuals = short(outcome.target, 40), predicted - true
    taken = np.arange(len(true))
    if len(true) > _POINTS:
        taken = np.sort(np.random.default_rng(outcome.seed).permutation(len(true))[:_POINTS])
    drawn = (
        f" A sample of {_POINTS:,} of {len(true):,} rows is drawn." if len(true) > _POINTS else ""
    )
    x = predicted[taken].tolist()
    steps = np.sort(np.abs(residuals))
    shares = np.arange(1, len(steps) + 1) / len(steps)
    shown = np.unique(np.linspace(0, len(steps) - 1, 400).round().astype(int))
    return [
        ScatterPlot(
            "Predicted against true",
            "One point per row: the closer the two values, the better." + drawn,
            Axis(f"Predicted {target}"), Axis(f"True {target}"),
            [Points("rows", x, true[taken].tolist(), group=0)],
        ),
        ScatterPlot(
            "Residuals",
            "Predicted minus true. A slope or a bend is structure that the model has not learned; "
            "a funnel means that it is more accurate for some values than for others." + drawn,
            Axis(f"Predicted {target}"), Axis("Residual"),
            [Points("rows", x, residuals[taken].tolist(), group=0)],
        ),
        LineChart(
            "Absolute errors",
            "Share of rows whose prediction is off by at most this much.",
            Axis("Absolute residual", low=0.0), Axis("Share of rows", percent=True, low=0.0),
            [Line("rows", steps[shown].tolist(), shares[shown].tolist(), group=0)], steps=True,
        ),
    ]  # fmt: skip
