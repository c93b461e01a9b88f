"""Numbers as the page shows them: cells of tables, tables as HTML, and charts as tables.

The table of a chart serves those who cannot see it. It has all numbers while it stays readable, and
a summary otherwise; the CSV file that the page offers has them all.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from orfeon.workbench.report.chart_types import (
    Axis,
    BarChart,
    BoxPlot,
    Chart,
    LineChart,
    Matrix,
    Number,
    ScatterPlot,
    ThresholdChart,
)
from orfeon.workbench.report.content_types import Cell, Column, Table

#: Shown where there is no number.
MISSING = "–"  # noqa: RUF001 (a dash, not a minus)


def shown(value: float | None, decimals: int | None = None, percent: bool = False) -> str:
    """A number as readers see it."""
    if value is None or not math.isfinite(value):
        return MISSING
    number = 100.0 * value if percent else value
    if decimals is None:
        decimals = _free_decimals(number)
    text = f"{abs(number):,.{decimals}f}"
    sign = "\u2212" if number < 0 and any(c in "123456789" for c in text) else ""
    return f"{sign}{text}{'%' if percent else ''}"


def _free_decimals(number: float) -> int:
    if number == int(number):
        return 0
    return min(12, max(0, 2 - math.floor(math.log10(abs(number)))))


def axis_decimals(axis: Axis, values: Iterable[float | None]) -> int | None:
    """Decimals needed to distinguish the values of an axis."""
    if axis.decimals is not None:
        return axis.decimals
    factor = 100.0 if axis.percent else 1.0
    known = [factor * value for value in values if value is not None]
    if not known:
        return 0
    if not axis.percent and all(value == int(value) for value in known):
        return 0
    if axis.scale == "log":
        return None
    spread = (max(known) - min(known)) or abs(known[0]) or 1.0
    return min(12, max(1 if axis.percent else 0, math.ceil(2 - math.log10(spread))))


_LOOKS = {"text": "text", "estimate": "estimates"}


class CellText(NamedTuple):
    """A cell: its class, its numbers for files, its text; of an estimate, also the interval."""

    look: str
    text: str
    values: str = ""
    ends: str = ""
    places: Sequence[str] = ()


def _cells(table: Table) -> list[list[CellText]]:
    spans = [_span(table.rows, j) for j in range(len(table.columns))]
    return [[_cell(*one) for one in zip(table.columns, row, spans, strict=True)]
            for row in table.rows]  # fmt: skip


#: What the template of tables needs besides the table and its label.
HELPERS = {"cells": _cells, "looks": _LOOKS}


def _cell(column: Column, cell: Cell, span: tuple[float, float]) -> CellText:
    look = _LOOKS.get(column.kind, "number")
    if column.kind == "text":
        return CellText(look, "" if cell is None else str(cell))
    percent = column.percent or column.kind == "percent"
    parts: Sequence[Any] = cell if isinstance(cell, tuple) else (cell,)
    texts = [shown(part, column.decimals, percent) for part in parts]
    values = " ".join("" if part is None else repr(part) for part in parts)
    if column.kind == "interval" and None not in parts:
        return CellText(look, f"{texts[0].rstrip('%')}\u202fto\u202f{texts[1]}", values)
    if column.kind == "estimate" and None not in parts:
        ends = f"{texts[1].rstrip('%')} to {texts[2]}"
        return CellText(look, texts[0], values, ends, _places(parts, span))
    return CellText(look, _never_zero(parts[0], column, texts[0]), values)


def _never_zero(value: Number, column: Column, text: str) -> str:
    """A small number is not shown as none: a p-value of 0.0001 is "<0.001"."""
    small = 10.0**-column.decimals
    if value is None or column.kind != "number" or not 0 < value < small / 2:
        return text
    return f"<{shown(small, column.decimals)}"


def _span(rows: Sequence[Sequence[Cell]], j: int) -> tuple[float, float]:
    cells: list[Any] = [row[j] for row in rows if isinstance(row[j], tuple)]
    parts = [part for cell in cells for part in cell if part is not None]
    return (min(parts), max(parts)) if parts else (0.0, 1.0)


def _places(parts: Sequence[float], span: tuple[float, float]) -> list[str]:
    """Where an estimate and its interval are drawn, on a scale that the column shares."""
    low, high = span
    width = (high - low) or 1.0
    return [f"{4 + 92 * (part - low) / width:.1f}" for part in parts]


#: Rows and columns that a reader can still follow.
MOST_ROWS, MOST_COLUMNS = 200, 24


def numbers_table(chart: Chart) -> Table:
    """The numbers of a chart, or what sums them up."""
    if isinstance(chart, BoxPlot):
        return _of_boxes(chart)
    if isinstance(chart, LineChart):
        return _of_lines(chart)
    if isinstance(chart, ScatterPlot):
        return _of_points(chart)
    if isinstance(chart, BarChart):
        return _of_bars(chart)
    if isinstance(chart, ThresholdChart):
        return _of_thresholds(chart)
    return _of_matrix(chart)


def _column(axis: Axis, values: Sequence[Number], name: str = "", extra: int = 0) -> Column:
    decimals = axis_decimals(axis, values)
    decimals = 3 if decimals is None else decimals + extra
    return Column(name or axis.label, "percent" if axis.percent else "number", decimals)


def _quantiles(values: Sequence[Number], at: Sequence[float]) -> list[Number]:
    known = np.array([value for value in values if value is not None])
    return [float(q) for q in np.quantile(known, at)] if len(known) else [None] * len(at)


def _mean(values: Sequence[Number]) -> Number:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _known(values: Sequence[Number]) -> int:
    return sum(value is not None for value in values)


def _left_out(rows: Sequence[Sequence[Cell]], total: int, what: str) -> str:
    if len(rows) >= total:
        return ""
    return f"{len(rows):,} of {total:,} {what} are shown; the CSV file has them all."


# -- one function a kind of chart ------------------------------------------------------------------


def _of_boxes(chart: BoxPlot) -> Table:
    every = [value for box in chart.series for value in box.values]
    names = ("Mean", "Least", "Lower quartile", "Median", "Upper quartile", "Greatest")
    columns = [Column("Series"), Column("Values", "number", 0)]
    columns += [_column(chart.axis, every, name, extra=1) for name in names]
    rows: list[list[Cell]] = [
        [
            box.name,
            _known(box.values),
            _mean(box.values),
            *_quantiles(box.values, (0.0, 0.25, 0.5, 0.75, 1.0)),
        ]
        for box in chart.series[:MOST_ROWS]
    ]
    return Table("", _left_out(rows, len(chart.series), "series"), columns, rows)


def _of_lines(chart: LineChart) -> Table:
    lines = chart.series[: MOST_COLUMNS - 1]
    every = [y for line in chart.series for y in line.y]
    places = sorted({x for line in lines for x in line.x if x is not None})
    kept = places
    if len(places) > MOST_ROWS:
        chosen = np.linspace(0, len(places) - 1, MOST_ROWS).round().astype(int)
        kept = [places[i] for i in chosen]
    columns = [_column(chart.x, places)]
    found: list[list[Cell]] = [list(kept)]
    for line in lines:
        of_line = dict(zip(line.x, line.y, strict=True))
        columns.append(_column(chart.y, every, line.name, extra=1))
        found.append([of_line.get(x) for x in kept])
        if line.low:
            ends = dict(zip(line.x, zip(line.low, line.high, strict=True), strict=True))
            decimals, percent = columns[-1].decimals, chart.y.percent
            columns.append(Column("Interval", "interval", decimals, percent=percent))
            found.append([ends.get(x) for x in kept])
    rows = list(zip(*found, strict=True))
    caption = _left_out(rows, len(places), "points")
    if len(lines) < len(chart.series):
        caption += f" {len(lines)} of {len(chart.series)} series are shown."
    return Table("", caption.strip(), columns, rows)


def _of_points(chart: ScatterPlot) -> Table:
    xs = [x for points in chart.series for x in points.x]
    ys = [y for points in chart.series for y in points.y]
    if len(xs) > MOST_ROWS:
        return _summary_of_points(chart, xs, ys)
    columns = [Column("Series"), Column("Point"), _column(chart.x, xs), _column(chart.y, ys)]
    if chart.size is not None:
        columns.append(_column(chart.size, [s for p in chart.series for s in p.sizes]))
    rows = []
    for points in chart.series:
        for i in range(len(points.x)):
            row: list[Cell] = [points.name, points.labels[i] if points.labels else str(i + 1)]
            row += [points.x[i], points.y[i]]
            if chart.size is not None:
                row.append(points.sizes[i] if points.sizes else None)
            rows.append(row)
    return Table("", "", columns, rows)


def _summary_of_points(chart: ScatterPlot, xs: list[Number], ys: list[Number]) -> Table:
    columns = [Column("Series"), Column("Points", "number", 0)]
    for axis, values in ((chart.x, xs), (chart.y, ys)):
        names = [f"{axis.label}: {part}" for part in ("lower quartile", "median", "upper quartile")]
        columns += [_column(axis, values, name, extra=1) for name in names]
    quartiles = (0.25, 0.5, 0.75)
    rows: list[list[Cell]] = [
        [
            points.name,
            _known(points.x),
            *_quantiles(points.x, quartiles),
            *_quantiles(points.y, quartiles),
        ]
        for points in chart.series[:MOST_ROWS]
    ]
    return Table("", f"A summary of {len(xs):,} points; the CSV file has them all.", columns, rows)


def _of_bars(chart: BarChart) -> Table:
    every = [value for bars in chart.series for value in bars.values]
    columns = [Column("Name")]
    found: list[list[Cell]] = [list(chart.categories[:MOST_ROWS])]
    for bars in chart.series[: MOST_COLUMNS // 2]:
        columns.append(_column(chart.axis, every, bars.name, extra=1))
        found.append(list(bars.values[:MOST_ROWS]))
        if bars.low:
            decimals, percent = columns[-1].decimals, chart.axis.percent
            columns.append(Column("Interval", "interval", decimals, percent=percent))
            ends: list[Cell] = [*zip(bars.low, bars.high, strict=True)]
            found.append(ends[:MOST_ROWS])
    rows = list(zip(*found, strict=True))
    return Table("", _left_out(rows, len(chart.categories), "names"), columns, rows)


def _of_matrix(chart: Matrix) -> Table:
    corner = f"{chart.row_label} \N{RIGHTWARDS ARROW FROM BAR} {chart.column_label}"
    if len(chart.columns) <= MOST_COLUMNS and len(chart.rows) <= MOST_ROWS:
        columns = [Column(name, "number", chart.decimals) for name in chart.columns]
        rows = [[name, *row] for name, row in zip(chart.rows, chart.values, strict=True)]
        return Table("", "", [Column(corner), *columns], rows)
    columns = [Column(chart.row_label), Column(chart.column_label)]
    columns.append(Column("Value", "number", chart.decimals))
    cells = [
        (-value, i, j)
        for i, row in enumerate(chart.values)
        for j, value in enumerate(row)
        if value is not None and not (chart.diagonal and i == j)
    ]
    total = len(chart.rows) * len(chart.columns)
    largest = heapq.nsmallest(MOST_ROWS, cells)
    kept: list[list[Cell]] = [[chart.rows[i], chart.columns[j], -less] for less, i, j in largest]
    return Table("", f"The {len(kept):,} largest of {total:,} cells.", columns, kept)


def _of_thresholds(chart: ThresholdChart) -> Table:
    columns = [Column("Threshold", "number", 4)]
    columns += [
        Column(name, "number", 0)
        for name in ("True positives", "False negatives", "False positives", "True negatives")
    ]
    given = zip(chart.thresholds, chart.true_positives, chart.false_positives, strict=True)
    rows: list[list[Cell]] = [
        [
            threshold, hits, chart.n_positive - (hits or 0),
            alarms, chart.n_negative - (alarms or 0),
        ]
        for threshold, hits, alarms in given
    ]  # fmt: skip
    kept = rows
    if len(rows) > MOST_ROWS:
        places = np.linspace(0, len(rows) - 1, MOST_ROWS).round().astype(int)
        kept = [rows[i] for i in places]
    return Table("", _left_out(kept, len(rows), "thresholds"), columns, kept)
