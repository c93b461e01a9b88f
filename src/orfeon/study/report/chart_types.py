"""The charts of a report, as plain data.

All series have a ``name``, a ``group`` (series of one group have one colour, in all charts of the
report; by default the position of the series) and ``hidden`` (at first: the legend shows it).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from orfeon.study.report._checks import (
    Number,
    check_choice,
    check_lengths,
    number,
    numbers,
    set_plain,
)

Scale = Literal["linear", "log"]
Shares = Literal["rows", "none"]


@dataclass(frozen=True)
class Axis:
    """What is measured along an axis.

    Parameters
    ----------
    label : str
        Its name, with the unit where it has one.
    scale : {"linear", "log"}, default="linear"
        How numbers are spread.
    percent : bool, default=False
        The values are shares, shown as percentages.
    decimals : int, optional
        Decimals of single values; by default as many as the spread of the values asks for.
    low, high : float, optional
        The ends; by default they follow from the values.

    Examples
    --------
    >>> from orfeon.study.report.content_types import Axis
    >>> Axis("Error", percent=True, low=0).low
    0.0
    """

    label: str
    scale: Scale = "linear"
    percent: bool = False
    decimals: int | None = None
    low: Number = None
    high: Number = None

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, Scale)
        set_plain(self, low=number("low", self.low), high=number("high", self.high))


# -- series ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Box:
    """Values of one method, drawn as a box with its points.

    Parameters
    ----------
    name : str
        The method.
    values : sequence of float or None
        Its values, one a run.
    labels : sequence of str, optional
        What each value is, such as "repetition 1, fold 3".
    group : int, optional
        Series of one group have one colour.
    hidden : bool, default=False
        Whether it is hidden at first.
    highlight : bool, default=False
        Whether it is the one that the report speaks of.

    Examples
    --------
    >>> from orfeon.study.report.content_types import Box
    >>> Box("bagging", [0.2, float("nan"), 0.25]).values
    (0.2, None, 0.25)
    """

    name: str
    values: Sequence[Number]
    labels: Sequence[str] = ()
    group: int | None = None
    hidden: bool = False
    highlight: bool = False

    def __post_init__(self) -> None:
        set_plain(self, values=numbers("values", self.values), labels=tuple(self.labels))
        check_lengths("values", len(self.values), optional=True, labels=self.labels)


@dataclass(frozen=True)
class Line:
    """A curve, with a band around it where both its ends are given.

    Parameters
    ----------
    name : str
        What it is.
    x, y : sequence of float or None
        Its points, from left to right; where a value is missing the line has a gap.
    low, high : sequence of float or None, optional
        The band.
    group, hidden
        As for all series.

    Examples
    --------
    >>> from orfeon.study.report.content_types import Line
    >>> line = Line.cumulative("bagging", [0.5, -1.0, 0.5, 1.0])
    >>> line.x, line.y
    ((-1.0, 0.5, 1.0), (0.25, 0.75, 1.0))
    """

    name: str
    x: Sequence[Number]
    y: Sequence[Number]
    low: Sequence[Number] = ()
    high: Sequence[Number] = ()
    group: int | None = None
    hidden: bool = False

    def __post_init__(self) -> None:
        for name in ("x", "y", "low", "high"):
            set_plain(self, **{name: numbers(name, getattr(self, name))})
        check_lengths("x", len(self.x), y=self.y)
        check_lengths("x", len(self.x), optional=True, low=self.low)
        check_lengths("low", len(self.low), high=self.high)

    @classmethod
    def cumulative(
        cls, name: str, values: Iterable[Any], *, group: int | None = None, hidden: bool = False
    ) -> Line:
        """The share of the values that is at most x, for a chart of steps.

        Parameters
        ----------
        name : str
            What the values are.
        values : iterable of float or None
            The values, in any order; missing ones do not count.
        group, hidden
            As for all series.

        Returns
        -------
        Line
            One point for each different value.

        Examples
        --------
        >>> from orfeon.study.report.content_types import Line
        >>> Line.cumulative("margins", [1, 1, 0]).y
        (0.3333333333333333, 1.0)
        """
        known = sorted(value for value in numbers("values", values) if value is not None)
        last = {value: (i + 1) / len(known) for i, value in enumerate(known)}
        return cls(name, tuple(last), tuple(last.values()), group=group, hidden=hidden)


@dataclass(frozen=True)
class Points:
    """A cloud of points.

    Parameters
    ----------
    name : str
        What they are.
    x, y : sequence of float or None
        Where they are.
    sizes : sequence of float or None, optional
        A third measure, drawn as area where the chart has an axis ``size``.
    labels : sequence of str, optional
        What each point is.
    group, hidden
        As for all series.

    Examples
    --------
    >>> from orfeon.study.report.content_types import Points
    >>> Points("pairs", [0.1, 0.2], [0.3])
    Traceback (most recent call last):
    ...
    ValueError: y has 1 values and x has 2; as many are needed.
    """

    name: str
    x: Sequence[Number]
    y: Sequence[Number]
    sizes: Sequence[Number] = ()
    labels: Sequence[str] = ()
    group: int | None = None
    hidden: bool = False

    def __post_init__(self) -> None:
        for name in ("x", "y", "sizes"):
            set_plain(self, **{name: numbers(name, getattr(self, name))})
        set_plain(self, labels=tuple(self.labels))
        check_lengths("x", len(self.x), y=self.y)
        check_lengths("x", len(self.x), optional=True, sizes=self.sizes, labels=self.labels)


@dataclass(frozen=True)
class Bars:
    """One bar for each category of a chart, with an interval where both its ends are given.

    Parameters
    ----------
    name : str
        What is measured.
    values : sequence of float or None
        One a category.
    low, high : sequence of float or None, optional
        The intervals.
    group, hidden
        As for all series.

    Examples
    --------
    >>> from orfeon.study.report.content_types import Bars
    >>> Bars("gain", [3, 1]).values
    (3.0, 1.0)
    """

    name: str
    values: Sequence[Number]
    low: Sequence[Number] = ()
    high: Sequence[Number] = ()
    group: int | None = None
    hidden: bool = False

    def __post_init__(self) -> None:
        for name in ("values", "low", "high"):
            set_plain(self, **{name: numbers(name, getattr(self, name))})
        check_lengths("values", len(self.values), optional=True, low=self.low)
        check_lengths("low", len(self.low), high=self.high)


@dataclass(frozen=True)
class Mark:
    """A point that the report speaks of, such as the size that was chosen.

    Parameters
    ----------
    label : str
        What it is, in a few words.
    x, y : float
        Where it is.

    Examples
    --------
    >>> from orfeon.study.report.content_types import Mark
    >>> Mark("chosen: 21 members", 21, 0.153).x
    21.0
    """

    label: str
    x: float
    y: float

    def __post_init__(self) -> None:
        set_plain(self, x=number("x", self.x), y=number("y", self.y))
        if self.x is None or self.y is None:
            raise ValueError(f"x={self.x}, y={self.y} is not a place; both must be finite.")


@dataclass(frozen=True)
class Reference:
    """A level drawn across a chart, such as the error of a guess.

    Parameters
    ----------
    label : str
        What it is.
    value : float
        Where it is, along the axis of values.

    Examples
    --------
    >>> from orfeon.study.report.content_types import Reference
    >>> Reference("always the largest class", 0.33).value
    0.33
    """

    label: str
    value: float

    def __post_init__(self) -> None:
        set_plain(self, value=number("value", self.value))
        if self.value is None:
            raise ValueError("value is not finite; a level needs a number.")


# -- charts ----------------------------------------------------------------------------------------


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
