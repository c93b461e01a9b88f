"""How good the predictions of rows are that the model was not trained on."""

from __future__ import annotations

import numpy as np

from orfeon.inspection import interval_coverage, reliability_curve
from orfeon.uncertainty.ranks import upper_bound
from orfeon.utils.text import capital, number_text, short
from orfeon.utils.types import Floats, Integers
from orfeon.workbench.experiment.metrics import METRICS, Metric
from orfeon.workbench.experiment.out_of_fold import OutOfFold
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.report.content.methods import Measure
from orfeon.workbench.report.content.unseen import source_text, unseen
from orfeon.workbench.report.content_types import (
    Axis,
    BarChart,
    Bars,
    Block,
    Cell,
    Column,
    Line,
    LineChart,
    Points,
    ScatterPlot,
    Section,
    Table,
)
from orfeon.workbench.report.tables import MISSING

#: Classes with curves of their own, points of a curve, and points of a cloud.
_CLASSES, _STEPS, _POINTS = 6, 150, 1500
#: Groups of a reliability curve and of intervals, and the share that intervals should hold.
_BINS, _GROUPS, _COVERAGE = 10, 5, 0.9


def predictions_section(outcome: StudyOutcome) -> Section | None:
    """All measures; ROC, precision-recall and reliability; or residuals and intervals."""
    found = unseen(outcome)
    if found is None or not np.isfinite(found.predictions).all():
        return None
    blocks: list[Block] = [measures_table(outcome, found)]
    blocks += _of_classes(outcome, found) if outcome.task == "classification" else _of_numbers(
        outcome, found
    )  # fmt: skip
    text = [f"{capital(source_text(outcome, found))}."]
    return Section("predictions", "Predictions", text, blocks)


def measures_table(outcome: StudyOutcome, found: OutOfFold) -> Table:
    """Every metric as the mean over the folds, as the table of candidates has it.

    Where folds picked other candidates, the expected figures of the summary stand beside.
    """
    rows: list[list[Cell]] = []
    folds, is_other = list(found.folds()), False
    for name, metric in METRICS[outcome.task].items():
        expected = None
        if name in outcome.metrics and outcome.out_of_fold is not None:
            measure = Measure.of(outcome, name)
            values = _natural(metric, outcome.candidate(found.method).scores[name])
            honest = float(_natural(metric, outcome.honest.scores[name]).mean())
            expected = measure.text(honest)
            is_other |= expected != measure.text(float(values.mean()))
        else:
            measure = _measure(outcome, name)
            values = np.array([metric.of(answers) for answers in folds])
        if np.isfinite(values).all():
            ends = [measure.text(float(one)) for one in (values.mean(), values.min(), values.max())]
            rows.append([capital(metric.title), expected or MISSING, *ends])
    columns = [Column("Measure"), *map(Column, ("Expected", "Mean over the folds", "Lowest"))]
    columns.append(Column("Highest"))
    caption = "Expected: the mean of what the folds picked without their own rows."
    if is_other:
        return Table("Measures", caption, columns, rows)
    del columns[1]
    return Table("Measures", "", columns, [[row[0], *row[2:]] for row in rows])


def _natural(metric: Metric, losses: Floats) -> Floats:
    """Values of a metric from its losses."""
    return np.asarray(1.0 - losses if metric.is_better_high else losses)


def _measure(outcome: StudyOutcome, name: str) -> Measure:
    """How a metric is written that the study does not show."""
    metric = METRICS[outcome.task][name]
    decimals = 1 if metric.is_share else 3
    if outcome.task == "regression" and not metric.is_share:
        decimals = Measure.of(outcome, "rmse").decimals
    return Measure(name, metric.title, metric.is_share, decimals)


# -- classes ---------------------------------------------------------------------------------------


def _of_classes(outcome: StudyOutcome, found: OutOfFold) -> list[Block]:
    counts = np.bincount(found.y, minlength=len(outcome.classes))
    able = [int(k) for k in np.argsort(-counts, kind="stable") if 0 < counts[k] < len(found.y)]
    shown = sorted(able[:_CLASSES])
    if len(outcome.classes) == 2:
        shown = [k for k in shown if k == 1]
    charts: list[Block] = []
    if shown:
        charts += [_roc(outcome, found, shown), _precision(outcome, found, shown, counts)]
    return [*charts, _reliability(outcome, found)]


def _against(outcome: StudyOutcome, shown: list[int]) -> str:
    if len(outcome.classes) == 2:
        return f"Positive is “{short(outcome.classes[1], 40)}”. "
    least = " of the largest classes" if len(shown) < len(outcome.classes) else ""
    return f"One curve for each{least}, against the rest. "


def _roc(outcome: StudyOutcome, found: OutOfFold, shown: list[int]) -> LineChart:
    from sklearn.metrics import roc_curve

    series = []
    for k in shown:
        alarms, hits, _ = roc_curve(found.y == k, found.predictions[:, k])
        at = thinned(len(alarms), _STEPS)
        series.append(
            Line(
                short(outcome.classes[k], 40),
                alarms[at].tolist(),
                hits[at].tolist(),
                group=k if len(shown) > 1 else 0,
            )
        )
    caption = f"{_against(outcome, shown)}Folds are pooled; their mean AUC is among the measures."
    chance = Line("chance", (0.0, 1.0), (0.0, 1.0))
    axes = (
        Axis("False positive rate", percent=True, low=0.0, high=1.0),
        Axis("True positive rate (recall)", percent=True, low=0.0, high=1.0),
    )
    return LineChart("ROC curve", caption, *axes, series, guides=[chance], narrow=True)


def _precision(
    outcome: StudyOutcome, found: OutOfFold, shown: list[int], counts: Integers
) -> LineChart:
    from sklearn.metrics import precision_recall_curve

    series, guides = [], []
    for k in shown:
        precision, recall, _ = precision_recall_curve(found.y == k, found.predictions[:, k])
        at = thinned(len(recall), _STEPS)
        x, y = recall[::-1][at].tolist(), precision[::-1][at].tolist()
        series.append(Line(short(outcome.classes[k], 40), x, y, group=k if len(shown) > 1 else 0))
        if len(shown) == 1:
            share = float(counts[k] / len(found.y))
            guides.append(Line("chance", (0.0, 1.0), (share, share)))
    axes = (
        Axis("Recall", percent=True, low=0.0, high=1.0),
        Axis("Precision", percent=True, low=0.0, high=1.0),
    )
    title = "Precision and recall"
    return LineChart(
        title, _against(outcome, shown).strip(), *axes, series, guides=guides, narrow=True
    )


def _reliability(outcome: StudyOutcome, found: OutOfFold) -> LineChart:
    classes = np.arange(len(outcome.classes))
    curve = reliability_curve(found.y, found.predictions, classes=classes, n_bins=_BINS)
    what = "of the predicted class"
    if len(classes) == 2:
        what = f"of “{short(outcome.classes[1], 40)}”"
    caption = (
        f"Probabilities {what} in {_BINS} groups of equally many rows, and how often they come "
        f"true. Calibration error: {100 * curve.calibration_error:.1f} points."
    )
    line = Line("groups", curve.probability.tolist(), curve.frequency.tolist(), group=0)
    ends = Line("calibrated", (0.0, 1.0), (0.0, 1.0))
    axes = (
        Axis("Predicted probability", percent=True, low=0.0, high=1.0),
        Axis("Observed frequency", percent=True, low=0.0, high=1.0),
    )
    return LineChart("Calibration", caption, *axes, [line], guides=[ends], narrow=True)


# -- numbers ---------------------------------------------------------------------------------------


def _of_numbers(outcome: StudyOutcome, found: OutOfFold) -> list[Block]:
    true, predicted = found.y.astype(np.float64), found.predictions[:, 0]
    intervals = cross_intervals(found, _COVERAGE)
    taken = np.arange(len(true))
    if len(true) > _POINTS:
        taken = np.sort(np.random.default_rng(outcome.seed).permutation(len(true))[:_POINTS])
    drawn = f"{_POINTS:,} of {len(true):,} rows. " if len(true) > _POINTS else ""
    target = short(outcome.target, 40)
    ends = (float(predicted.min()), float(predicted.max()))
    x, residuals = predicted[taken].tolist(), predicted - true
    steps = np.sort(np.abs(residuals))
    at = thinned(len(steps), 2 * _STEPS)
    charts: list[Block] = [
        ScatterPlot(
            "Predicted against true", f"{drawn}The closer to the line, the better.",
            Axis(f"Predicted {target}"), Axis(f"True {target}"),
            [Points("rows", x, true[taken].tolist(), group=0)],
            guides=[Line("equal", ends, ends)], narrow=True,
        ),
        ScatterPlot(
            "Residuals",
            f"{drawn}Predicted minus true. A bend is structure that was not learnt; in a funnel "
            "some predictions are less certain than others.",
            Axis(f"Predicted {target}"), Axis("Residual"),
            [Points("rows", x, residuals[taken].tolist(), group=0)],
            guides=[Line("", ends, (0.0, 0.0))], narrow=True,
        ),
        LineChart(
            "Absolute errors", "Share of rows whose prediction is off by at most this much.",
            Axis("Absolute residual", low=0.0), Axis("Share of rows", percent=True, low=0.0),
            [Line("rows", steps[at].tolist(), ((at + 1) / len(steps)).tolist(), group=0)],
            steps=True, narrow=True,
        ),
    ]  # fmt: skip
    if intervals is not None:
        charts.append(_coverage(true, intervals))
    return charts


def cross_intervals(found: OutOfFold, coverage: float) -> Floats | None:
    """Intervals around predictions, as wide as the errors on rows of other folds ask for."""
    errors = np.abs(found.y - found.predictions[:, 0])
    half = np.empty(len(errors))
    for unit in np.unique(found.unit):
        own = found.unit == unit
        others = errors[~np.isin(found.rows, found.rows[own])]
        try:
            half[own] = upper_bound(others, np.ones(len(others)), coverage)
        except ValueError:  # too few rows for this coverage
            return None
    return np.column_stack([found.predictions[:, 0] - half, found.predictions[:, 0] + half])


def _coverage(true: Floats, intervals: Floats) -> BarChart:
    found = interval_coverage(true, intervals, n_bins=_GROUPS)
    names = [
        f"{number_text(low)} to {number_text(high)}"
        for low, high in zip(found.edges[:-1], found.edges[1:], strict=True)
    ]
    caption = (
        f"Prediction ± {number_text(found.width / 2)} on average, from the errors on rows of other "
        f"folds, should hold {_COVERAGE:.0%} of the true values and holds "
        f"{100 * found.coverage:.1f}%. Bars below it: predictions of this size need wider "
        "intervals."
    )
    axis = Axis("Share of true values inside", percent=True, low=0.0, high=1.0)
    bars = [Bars("inside", found.bin_coverage.tolist(), group=0)]
    title = "Prediction intervals by predicted value"
    return BarChart(title, caption, axis, names, bars, narrow=True)


def thinned(n: int, most: int) -> Integers:
    """Places of at most so many points, the first and the last among them."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))
