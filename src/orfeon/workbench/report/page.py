"""A report as one HTML file that works offline: no server, no network, no library.

Tables and texts are HTML; the page's own script draws the charts from numbers in the page. Its
content security policy allows no requests. Without scripts, readers see the numbers as tables.
"""

from __future__ import annotations

import json
import os
from dataclasses import fields, is_dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from orfeon.rendering.pages import render, write_page
from orfeon.workbench.report.chart_types import (
    Axis,
    BarChart,
    BoxPlot,
    Chart,
    LineChart,
    ScatterPlot,
)
from orfeon.workbench.report.content_types import Content, Table, Text
from orfeon.workbench.report.tables import HELPERS, axis_decimals, numbers_table
from orfeon.workbench.report.theme import LIGHT, theme_css


def write_report(content: Content, path: str | os.PathLike[str]) -> Path:
    """Write a report as one HTML file.

    Parameters
    ----------
    content : Content
        Content of the report.
    path : path-like
        The file. It is replaced in one step once it is complete; missing folders are created.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from orfeon.workbench.report import Content, write_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(Content("Iris"), f"{folder}/report.html")
    ...     path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    return write_page(path, render_report(content), "report")


def render_report(content: Content) -> str:
    """Render a report as the text of an HTML page.

    Parameters
    ----------
    content : Content
        Content of the report.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from orfeon.workbench.report import Content, render_report
    >>> "<title>R&amp;D</title>" in render_report(Content("R&D"))
    True
    """
    assets = files("orfeon.workbench.report") / "assets"
    blocks = [block for section in content.sections for block in section.blocks]
    return render(
        "orfeon.workbench.report",
        "report.html",
        content=content,
        configuration=json.dumps(
            dict(content.configuration), indent=2, ensure_ascii=False, default=str
        ),
        charts=[chart_payload(block) for block in blocks if not isinstance(block, Text | Table)],
        numbers_table=numbers_table,
        light=LIGHT,
        style=theme_css() + (assets / "report.css").read_text(encoding="utf-8"),
        script=(assets / "report.js").read_text(encoding="utf-8"),
        **HELPERS,
    )


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
