"""The numbers of charts as the page's script reads them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from orfeon.workbench.report.chart_types import BarChart, BoxPlot, Chart, LineChart, ScatterPlot
from orfeon.workbench.report.series_types import Axis
from orfeon.workbench.report.texts import axis_decimals


def chart_payload(chart: Chart) -> dict[str, Any]:
    """A chart as plain data for JSON."""
    data: dict[str, Any] = _plain(chart)
    for name, values in _values_of_axes(chart).items():
        axis: Axis | None = getattr(chart, name)
        if axis is not None:
            data[name]["decimals"] = axis_decimals(axis, values)
    return data


def _values_of_axes(chart: Chart) -> dict[str, list[Any]]:
    if isinstance(chart, BoxPlot | BarChart):
        return {"axis": [value for series in chart.series for value in series.values]}
    if isinstance(chart, LineChart | ScatterPlot):
        found = {
            "x": [x for series in chart.series for x in series.x],
            "y": [y for series in chart.series for y in series.y],
        }
        if isinstance(chart, ScatterPlot):
            found["size"] = [size for series in chart.series for size in series.sizes]
        return found
    return {}


def _plain(part: Any) -> Any:
    if isinstance(part, float):
        short = float(f"{part:.7g}")
        return int(short) if short == int(short) and abs(short) < 1e15 else short
    if isinstance(part, tuple):
        return [_plain(inner) for inner in part]
    if is_dataclass(part):
        return {item.name: _plain(getattr(part, item.name)) for item in fields(part)}
    return part
