"""The axes and the series of charts, as plain data.

All series have a ``name``, a ``group`` (series of one group have one colour, in all charts of the
report; by default the position of the series) and ``hidden`` (at first: the legend shows it).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from orfeon.workbench.report._checks import (
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
    """What is measured along an axis."""

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
    """Values of one method, drawn as a box with its points."""

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
    """A cloud of points."""

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
    """A point that the report speaks of, such as the size that was chosen."""

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
