"""The charts of a report as plain data: axes, series and charts, checked when they are built.

All series have a ``name``, a ``group`` (series of one group share a colour in all charts of the
report; default: the position of the series) and ``hidden`` (hidden until the legend shows it).
``narrow`` charts stand beside each other where the page is wide enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

Number = float | None


def numbers(name: str, values: Iterable[Any]) -> tuple[Number, ...]:
    """Values as plain numbers; what is missing or not finite is None."""
    return tuple(_number(f"{name}[{i}]", value) for i, value in enumerate(values))


def number(name: str, value: Any) -> Any:
    """A value as a plain number, None if missing or not finite."""
    return _number(name, value)


def _number(name: str, value: Any) -> Number:
    if value is None:
        return None
    try:
        plain = None if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError):
        plain = None
    if plain is None:
        shown = repr(value)[:60]
        raise TypeError(f"{name}={shown} is not a number; numbers and None are allowed.")
    return plain if math.isfinite(plain) else None


def set_plain(part: Any, **values: Any) -> None:
    """Set fields of a frozen part while it is being built."""
    for name, value in values.items():
        object.__setattr__(part, name, value)


def check_lengths(name: str, length: int, *, optional: bool = False, **others: Any) -> None:
    """Refuse sequences that are not as long as the first."""
    for other, values in others.items():
        if len(values) != length and not (optional and len(values) == 0):
            raise ValueError(
                f"{other} has {len(values)} values and {name} has {length}; they must match."
            )


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Refuse what is not one of the values of a Literal type."""
    allowed = get_args(choices)
    if value not in allowed:
        listed = ", ".join(map(repr, allowed))
        raise ValueError(f"{name}={value!r} is not allowed; use one of {listed}.")


Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class Axis:
    """What is measured along an axis."""

    label: str
    scale: Scale = "linear"
    percent: bool = False
    decimals: int | None = None
    low: Number = None
    high: Number = None
    is_year: bool = False

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, Scale)
        set_plain(self, low=number("low", self.low), high=number("high", self.high))


@dataclass(frozen=True)
class Box:
    """Values of one method, drawn as a box with its points.

    With ``tones`` between 0 and 1 there is no box, and the points have colours from low to high.
    """

    name: str
    values: Sequence[Number]
    labels: Sequence[str] = ()
    group: int | None = None
    hidden: bool = False
    highlight: bool = False
    tones: Sequence[Number] = ()

    def __post_init__(self) -> None:
        set_plain(self, values=numbers("values", self.values), labels=tuple(self.labels))
        set_plain(self, tones=numbers("tones", self.tones))
        given = {"labels": self.labels, "tones": self.tones}
        check_lengths("values", len(self.values), optional=True, **given)


@dataclass(frozen=True)
class Line:
    """A curve, with a band around it where both its ends are given."""

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
        """The share of the values that is at most x, for a chart of steps."""
        known = sorted(value for value in numbers("values", values) if value is not None)
        last = {value: (i + 1) / len(known) for i, value in enumerate(known)}
        return cls(name, tuple(last), tuple(last.values()), group=group, hidden=hidden)


@dataclass(frozen=True)
class Points:
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
    """One bar for each category of a chart, with an interval where both its ends are given."""

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
    """A point that the report mentions, such as the chosen size."""

    label: str
    x: float
    y: float

    def __post_init__(self) -> None:
        set_plain(self, x=number("x", self.x), y=number("y", self.y))
        if self.x is None or self.y is None:
            raise ValueError(f"x={self.x}, y={self.y} is not a point; both must be finite.")


@dataclass(frozen=True)
class Reference:
    """A level drawn across a chart, such as the error of a guess."""

    label: str
    value: float

    def __post_init__(self) -> None:
        set_plain(self, value=number("value", self.value))
        if self.value is None:
            raise ValueError("value is not finite; a level needs a number.")


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
    """Curves with bands, or steps of cumulative distributions.

    ``guides`` are curves to compare with, drawn faintly behind.
    """

    title: str
    caption: str
    x: Axis
    y: Axis
    series: Sequence[Line]
    marks: Sequence[Mark] = ()
    references: Sequence[Reference] = ()
    steps: bool = False
    guides: Sequence[Line] = ()
    narrow: bool = False
    kind: Literal["lines"] = "lines"

    def __post_init__(self) -> None:
        set_plain(self, series=tuple(self.series), marks=tuple(self.marks))
        set_plain(self, references=tuple(self.references), guides=tuple(self.guides))


@dataclass(frozen=True)
class ScatterPlot:
    """Clouds of points, from a few with names to many thousands, and guides behind them."""

    title: str
    caption: str
    x: Axis
    y: Axis
    series: Sequence[Points]
    size: Axis | None = None
    show_labels: bool = False
    frontier: bool = False
    marks: Sequence[Mark] = ()
    guides: Sequence[Line] = ()
    narrow: bool = False
    kind: Literal["points"] = "points"

    def __post_init__(self) -> None:
        set_plain(self, series=tuple(self.series), marks=tuple(self.marks))
        set_plain(self, guides=tuple(self.guides))


@dataclass(frozen=True)
class BarChart:
    """Bars one under the other, names on the left."""

    title: str
    caption: str
    axis: Axis
    categories: Sequence[str]
    series: Sequence[Bars]
    narrow: bool = False
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


@dataclass(frozen=True)
class ThresholdChart:
    """The confusion matrix of two classes for every threshold, with sliders for it and for costs.

    Rows whose probability is at least the threshold are predicted positive. Counts are given for
    each threshold.
    """

    title: str
    caption: str
    negative: str
    positive: str
    thresholds: Sequence[Number]
    false_positives: Sequence[Number]
    true_positives: Sequence[Number]
    n_negative: int
    n_positive: int
    kind: Literal["threshold"] = "threshold"

    def __post_init__(self) -> None:
        for name in ("thresholds", "false_positives", "true_positives"):
            set_plain(self, **{name: numbers(name, getattr(self, name))})
        check_lengths(
            "thresholds", len(self.thresholds), false_positives=self.false_positives,
            true_positives=self.true_positives,
        )  # fmt: skip


Chart = BoxPlot | LineChart | ScatterPlot | BarChart | Matrix | ThresholdChart
