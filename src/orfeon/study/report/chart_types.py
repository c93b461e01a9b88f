"""The charts of a report, as plain data; their axes and series are in ``series_types``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from orfeon.study.report._checks import Number, check_choice, numbers, set_plain
from orfeon.study.report.series_types import Axis, Bars, Box, Line, Mark, Points, Reference

Shares = Literal["rows", "none"]


@dataclass(frozen=True)
class BoxPlot:
    """Boxes with their points, one under the other, names on the left.

    Parameters
    ----------
    title, caption : str
        What is seen, and what to see in it.
    axis : Axis
        Of the values.
    series : sequence of Box
        From top to bottom.
    references : sequence of Reference, optional
        Levels to compare with.

    Examples
    --------
    >>> from orfeon.study.report.content_types import Axis, Box, BoxPlot
    >>> BoxPlot("Errors", "", Axis("Error"), [Box("bagging", [0.1, 0.2])]).kind
    'boxes'
    """

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
    """Curves with bands, or steps of cumulative distributions.

    Parameters
    ----------
    title, caption : str
        What is seen, and what to see in it.
    x, y : Axis
        The axes.
    series : sequence of Line
        The curves.
    marks : sequence of Mark, optional
        Points that the report speaks of.
    references : sequence of Reference, optional
        Levels of y to compare with.
    steps : bool, default=False
        Whether values hold from a point to the next one on its right.

    Examples
    --------
    >>> from orfeon.study.report.content_types import Axis, Line, LineChart
    >>> margins = [Line.cumulative("bagging", [-0.2, 0.4, 0.9])]
    >>> LineChart("Margins", "", Axis("Margin"), Axis("Share"), margins, steps=True).kind
    'lines'
    """

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
    """Clouds of points, from a few with names to many thousands.

    Parameters
    ----------
    title, caption : str
        What is seen, and what to see in it.
    x, y : Axis
        The axes.
    series : sequence of Points
        The clouds.
    size : Axis, optional
        What the sizes of points mean; without, all are alike.
    show_labels : bool, default=False
        Whether the labels stand beside the points, where they fit.
    frontier : bool, default=False
        Whether to join the points that no other beats on both axes (less is better).
    marks : sequence of Mark, optional
        Points that the report speaks of.

    Examples
    --------
    >>> from orfeon.study.report.content_types import Axis, Points, ScatterPlot
    >>> pairs = [Points("bagging", [0.4, 0.5], [0.2, 0.3])]
    >>> ScatterPlot("Kappa and error", "", Axis("Kappa"), Axis("Error"), pairs).kind
    'points'
    """

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
    """Bars one under the other, names on the left.

    Parameters
    ----------
    title, caption : str
        What is seen, and what to see in it.
    axis : Axis
        Of the values.
    categories : sequence of str
        What has bars, from top to bottom.
    series : sequence of Bars
        One bar each for every category.

    Examples
    --------
    >>> from orfeon.study.report.content_types import Axis, BarChart, Bars
    >>> BarChart("Importances", "", Axis("Gain"), ["age"], [Bars("gain", [1, 2])])
    Traceback (most recent call last):
    ...
    ValueError: series[0].values has 2 values and categories has 1; as many are needed.
    """

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
                    f"{len(self.categories)}; as many are needed."
                )


@dataclass(frozen=True)
class Matrix:
    """Counts or values of pairs, such as a confusion matrix.

    Parameters
    ----------
    title, caption : str
        What is seen, and what to see in it.
    rows, columns : sequence of str
        Names.
    values : sequence of sequence of float or None
        One sequence a row.
    row_label, column_label : str
        What rows and columns are, such as "true class" and "predicted class".
    shares : {"rows", "none"}, default="rows"
        Whether the values are counts that can be seen as shares of their row.
    diagonal : bool, default=True
        Whether the diagonal is the good part, with a colour of its own.
    decimals : int, default=0
        Decimals of the values.

    Examples
    --------
    >>> from orfeon.study.report.content_types import Matrix
    >>> Matrix("Confusion", "", ["a", "b"], ["a", "b"], [[3, 1], [0, 4]], "true", "said").values
    ((3.0, 1.0), (0.0, 4.0))
    """

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
                "as many as rows and columns have names."
            )


Chart = BoxPlot | LineChart | ScatterPlot | BarChart | Matrix
