"""The axes and the series of charts, as plain data.

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
