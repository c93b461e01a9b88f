"""Ordered members: errors by size, and what fewer members cost and save."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from orfeon.utils.text import capital
from orfeon.utils.types import Floats
from orfeon.workbench.experiment.outcome import Candidate, FoldCurves, StudyOutcome
from orfeon.workbench.experiment.verdict import compared, groups_of, has_failed
from orfeon.workbench.report.content.methods import Measure
from orfeon.workbench.report.content_types import (
    Axis,
    Cell,
    Column,
    Line,
    LineChart,
    Mark,
    Points,
    Reference,
    ScatterPlot,
    Section,
    Table,
)

#: Points of a curve; more cannot be seen.
_POINTS = 300


def pruning_section(outcome: StudyOutcome) -> Section | None:
    """Error curves, the trade-off of size, error and time, and what pruning does in numbers."""
    pruned = [c for c in outcome.candidates if c.keep is not None]
    if not outcome.curves and not pruned:
        return None
    text = [
        "Members put in a good order: the first few often have as low an error as all of them, and "
        "the others can be dropped."
    ]
    curves = sorted(outcome.curves, key=lambda curves: curves.method != outcome.best.method)
    blocks = [_curves(outcome, its) for its in curves]
    table = [_table(outcome, pruned)] if pruned else []
    return Section("pruning", "Pruning", text, [*blocks, *_trade_off(outcome), *table])


def _curves(outcome: StudyOutcome, curves: FoldCurves) -> LineChart:
    axis, (random, ordered) = _error_axis(outcome, curves)
    shown = _thinned(len(curves.sizes))
    sizes = np.asarray(curves.sizes)
    series = [
        Line("ordered", sizes[shown].tolist(), ordered[shown].tolist(), group=0),
        Line("as trained", sizes[shown].tolist(), random[shown].tolist(), group=1),
    ]
    marks = [
        Mark(f"{100 * c.keep:g}%: {at + 1} members", float(sizes[at]), float(ordered[at]))
        for c in outcome.candidates
        if c.method == curves.method and c.keep is not None
        for at in [_place(c.keep, len(sizes))]
        if math.isfinite(ordered[at])
    ]
    least = int(np.nanargmin(ordered))
    size = "all" if least == len(sizes) - 1 else f"{sizes[least]:,} of {len(sizes):,}"
    caption = (
        "Mean over the outer folds, on rows not used for training. The ordered curve is lowest "
        f"with {size} members, visible only in hindsight."
    )
    whole = Reference("all members", float(random[-1]))
    members = Axis("Members", scale="log" if len(sizes) >= _POINTS else "linear", decimals=0)
    title = f"{capital(curves.title)}: error by number of members"
    return LineChart(title, caption, members, axis, series, marks, [whole], narrow=True)


def _error_axis(outcome: StudyOutcome, curves: FoldCurves) -> tuple[Axis, tuple[Floats, Floats]]:
    both = (np.asarray(curves.random, float), np.asarray(curves.ordered, float))
    if outcome.task == "classification":
        return Axis("Error", percent=True), both
    # Curves are of squared errors: their root has the unit of the target.
    random, ordered = (np.sqrt(curve) for curve in both)
    return Axis("Root mean squared error"), (random, ordered)


def _thinned(n: int) -> npt.NDArray[np.int64]:
    """Places of the points that are drawn: all, or ever fewer towards the end."""
    if n <= _POINTS:
        return np.arange(n)
    return np.unique(np.round(np.geomspace(1, n, _POINTS)).astype(np.int64)) - 1


def _place(keep: float, n: int) -> int:
    """Where the last kept member is."""
    return min(max(round(keep * n), 1), n) - 1


def _trade_off(outcome: StudyOutcome) -> list[ScatterPlot]:
    measure, groups = Measure.of(outcome), groups_of(outcome)
    able = [
        candidate
        for candidate in outcome.candidates
        if not has_failed(candidate, outcome.metric)
        and math.isfinite(candidate.nodes)
        and candidate.nodes > 0
    ]
    if len(able) < 2:
        return []
    series = []
    for method in dict.fromkeys(candidate.method for candidate in able):
        own = sorted((c for c in able if c.method == method), key=lambda c: c.nodes)
        series.append(
            Points(
                _whole_title(own), [c.nodes for c in own],
                [c.mean(outcome.metric) for c in own],
                [1000.0 * c.predict_seconds for c in own], [c.title for c in own],
                groups[method],
            )
        )  # fmt: skip
    caption = (
        "Bottom left is best: small models with low errors. The area of a point is the time to "
        "predict 1,000 rows; the line joins the models that no other beats on both axes."
    )
    return [
        ScatterPlot(
            "Size, error and prediction time", caption,
            Axis("Nodes in all trees", scale="log", decimals=0), measure.axis(), series,
            size=Axis("Time to predict 1,000 rows, ms"), show_labels=True, frontier=True,
        )
    ]  # fmt: skip


def _whole_title(candidates: list[Candidate]) -> str:
    """The name of a method, whose pruned variants are named after it."""
    return min((candidate.title for candidate in candidates), key=len).partition(", pruned to")[0]


def _table(outcome: StudyOutcome, pruned: list[Candidate]) -> Table:
    measure = Measure.of(outcome)
    points = "Difference, points" if measure.is_share else "Difference"
    columns = [
        Column("Pruned"),
        Column("Members", "number", 0),
        Column("Nodes", "number", 0),
        measure.column(),
        Column(
            points, "estimate", measure.decimals,
            note="from the full ensemble, with its 95% interval; negative is better",
        ),
        Column("p", "number", 3, note="corrected resampled t-test"),
        Column("Times smaller", "number", 1),
        Column("Times faster", "number", 1, note="to predict"),
    ]  # fmt: skip
    unit = 100.0 if measure.is_share else 1.0
    rows: list[list[Cell]] = []
    for part in pruned:
        whole = outcome.candidate(part.method)
        found = compared(outcome, part, whole)
        rows.append(
            [
                part.title, part.members, part.nodes, part.mean(outcome.metric),
                None if found is None else tuple(unit * value for value in found[:3]),
                None if found is None else found[3],
                _ratio(whole.nodes, part.nodes),
                _ratio(whole.predict_seconds, part.predict_seconds),
            ]
        )  # fmt: skip
    chosen = [i for i, part in enumerate(pruned) if part.name == outcome.chosen]
    caption = "Each pruned ensemble compared with the full one."
    return Table("Effect of pruning", caption, columns, rows, chosen, sorted_by=3)


def _ratio(whole: float, part: float) -> float | None:
    return whole / part if part and math.isfinite(whole) and math.isfinite(part) else None
