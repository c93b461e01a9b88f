"""The numbers of a chart as a table, for those who cannot see it and those who want to know.

Everything is in the table where it stays readable; beyond, a summary is, and the file that the
page offers has all.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

import numpy as np

from orfeon.workbench.report._checks import Number
from orfeon.workbench.report.chart_types import (
    BarChart,
    BoxPlot,
    Chart,
    LineChart,
    Matrix,
    ScatterPlot,
)
from orfeon.workbench.report.content_types import Cell, Column, Table
from orfeon.workbench.report.series_types import Axis
from orfeon.workbench.report.texts import axis_decimals

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
