"""The charts of a report, as plain data; their axes and series are in ``series_types``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from orfeon.workbench.report._checks import Number, check_choice, numbers, set_plain
from orfeon.workbench.report.series_types import Axis, Bars, Box, Line, Mark, Points, Reference

Shares = Literal["rows", "none"]


@dataclass(frozen=True)
class BoxPlot:
    """Boxes with their points, one under the other, names on the left."""

    title: str
    caption: str
    axis: Axis
    series: Sequence[Box]
    references: Sequence[Reference] = ()
    kind: Literal["boxes"] = "boxes"

    def __post_init__(self) -> None:
        set_plain(self, series=tuple(self.series), references=tuple(self.references))


@dataclass(frozen=True)
class LineChart:
    """Curves with bands, or steps of cumulative distributions."""

    title: str
    caption: str
    x: Axis
    y: Axis
    series: Sequence[Line]
    marks: Sequence[Mark] = ()
    references: Sequence[Reference] = ()
    steps: bool = False
    kind: Literal["lines"] = "lines"

    def __post_init__(self) -> None:
        set_plain(self, series=tuple(self.series), marks=tuple(self.marks))
        set_plain(self, references=tuple(self.references))


@dataclass(frozen=True)
class ScatterPlot:
    """Clouds of points, from a few with names to many thousands."""

    title: str
    caption: str
    x: Axis
    y: Axis
    series: Sequence[Points]
    size: Axis | None = None
    show_labels: bool = False
    frontier: bool = False
    marks: Sequence[Mark] = ()
    kind: Literal["points"] = "points"

    def __post_init__(self) -> None:
        set_plain(self, series=tuple(self.series), marks=tuple(self.marks))


@dataclass(frozen=True)
class BarChart:
    """Bars one under the other, names on the left."""

    title: str
    caption: str
    axis: Axis
    categories: Sequence[str]
    series: Sequence[Bars]
    kind: Literal["bars"] = "bars"

    def __post_init__(self) -> None:
        set_plain(self, categories=tuple(self.categories), series=tuple(self.series))
        for i, bars in enumerate(self.series):
            if len(bars.values) != len(self.categories):
                raise ValueError(
                    f"series[{i}].values has {len(bars.values)} values and categories has "
                    f"{len(self.categories)}; they must match."
                )


@dataclass(frozen=True)
class Matrix:
    """Counts or values of pairs, such as a confusion matrix."""

    title: str
    caption: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[Number]]
    row_label: str
    column_label: str
    shares: Shares = "rows"
    diagonal: bool = True
    decimals: int = 0
    kind: Literal["matrix"] = "matrix"

    def __post_init__(self) -> None:
        check_choice("shares", self.shares, Shares)
        set_plain(self, rows=tuple(self.rows), columns=tuple(self.columns))
        plain = tuple(numbers(f"values[{i}]", row) for i, row in enumerate(self.values))
        set_plain(self, values=plain)
        if len(plain) != len(self.rows) or any(len(row) != len(self.columns) for row in plain):
            raise ValueError(
                f"values must have {len(self.rows)} rows of {len(self.columns)} values, "
                "one for each name in rows and columns."
            )


Chart = BoxPlot | LineChart | ScatterPlot | BarChart | Matrix
