"""Measurements, as a table to read and as JSON lines to keep."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from benchmarks.environment import commit, machine, versions
from benchmarks.timing import Timing

Unit = Literal["x", "s", "ms", "GB", "share", "ratio"]

#: With less than this share of a core, other programs used the machine too much for times to mean
#: anything.
_BUSY = 0.85
#: Above it, a contender that should use one thread used more.
_SEVERAL = 1.1


@dataclass(frozen=True)
class Target:
    """What a figure must be.

    Examples
    --------
    >>> target = Target("at least", 12, "x")
    >>> str(target), target.is_met(12.0), target.is_met(11.9)
    ('>= 12x', True, False)
    >>> target = Target("from", 0.8, "ratio", 1.25)
    >>> str(target), target.is_met(0.7), target.is_met(1.0), target.is_met(1.3)
    ('0.8-1.25', False, True, False)
    """

    #: Which side is allowed; ``"from"`` has a limit on both.
    bound: Literal["at least", "at most", "from"]
    #: The limit itself, which is allowed.
    limit: float
    #: Times as fast as the peer, seconds, milliseconds, gigabytes, a share of what the peer needs,
    #: or a ratio of two figures of orfeon's own.
    unit: Unit
    #: The upper limit of ``"from"``.
    upper: float | None = None

    def __post_init__(self) -> None:
        if (self.bound == "from") != (self.upper is not None):
            raise ValueError(f'bound={self.bound!r} and upper={self.upper}: "from" needs both.')

    def is_met(self, figure: float) -> bool:
        """Whether a figure is on the right side."""
        if self.upper is not None:
            return self.limit <= figure <= self.upper
        return figure >= self.limit if self.bound == "at least" else figure <= self.limit

    def __str__(self) -> str:
        if self.upper is not None:
            return f"{self.limit:.3g}-{_with_unit(self.upper, self.unit)}"
        sign = ">=" if self.bound == "at least" else "<="
        return f"{sign} {_with_unit(self.limit, self.unit)}"


@dataclass(frozen=True)
class Measurement:
    """One line of a report: a case, against one peer or alone."""

    #: What was done.
    case: str
    #: Rows and features.
    n: int
    d: int
    #: What was measured, in ``unit``; times as fast as the peer when that is ``"x"``.
    figure: float
    #: Unit of the figure.
    unit: Unit
    #: Seconds of orfeon.
    seconds: float | None = None
    #: Their range over the rounds, as a share of the median.
    spread: float | None = None
    #: Who it is compared with.
    peer: str | None = None
    #: The same of the peer.
    peer_seconds: float | None = None
    peer_spread: float | None = None
    #: What the figure must be.
    target: Target | None = None
    #: What a reader must know.
    notes: Sequence[str] = ()
    #: Further figures, for the JSON line.
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """Times as fast as the peer, where there is one."""
        if self.seconds is None or self.peer_seconds is None:
            return None
        return self.peer_seconds / self.seconds

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None without one."""
        return None if self.target is None else self.target.is_met(self.figure)

    def as_json(self, *, quick: bool, origin: Mapping[str, str] | None = None) -> str:
        """Everything in one line of JSON."""
        target = None if self.target is None else str(self.target)
        record = {
            "case": self.case, "peer": self.peer, "seconds": self.seconds,
            "peer_seconds": self.peer_seconds, "ratio": self.ratio, "figure": self.figure,
            "unit": self.unit, "target": target, "ok": self.is_met, "n": self.n, "d": self.d,
            "spread": self.spread, "peer_spread": self.peer_spread, "notes": list(self.notes),
            "detail": dict(self.detail), "quick": quick, "machine": machine(),
            "versions": versions(), "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": commit(), **(origin or {}),
        }  # fmt: skip
        return json.dumps(record)


def compare(
    case: str,
    shape: tuple[int, int],
    timings: Mapping[str, Timing],
    *,
    targets: Mapping[str, Target] | None = None,
    notes: Mapping[str, Sequence[str]] | None = None,
    threads: int = 1,
    detail: Mapping[str, Any] | None = None,
) -> list[Measurement]:
    """One measurement for each peer of the first contender.

    Examples
    --------
    >>> from benchmarks.timing import Timing
    >>> timings = {"orfeon": Timing((0.1,), 1.0), "peer": Timing((1.4,), 1.0)}
    >>> [line] = compare("sorting", (10, 2), timings, targets={"peer": Target("at least", 12, "x")})
    >>> round(line.figure, 1), line.is_met
    (14.0, True)
    """
    (own, ours), *others = timings.items()
    measurements = []
    for peer, theirs in others:
        answers = [*remarks(own, ours, threads), *remarks(peer, theirs)]
        measurements.append(
            Measurement(
                case, *shape, figure=theirs.seconds / ours.seconds, unit="x",
                seconds=ours.seconds, spread=ours.spread, peer=peer,
                peer_seconds=theirs.seconds, peer_spread=theirs.spread,
                target=(targets or {}).get(peer), notes=[*(notes or {}).get(peer, ()), *answers],
                detail={
                    "rounds": len(ours.rounds), "cores": ours.cores, "peer_cores": theirs.cores,
                    **(detail or {}),
                },
            )
        )  # fmt: skip
    return measurements


def remarks(name: str, timing: Timing, threads: int = 1) -> list[str]:
    """Remarks on the timing of a contender.

    Examples
    --------
    >>> remarks("orfeon", Timing((1.0,), cores=0.5))
    ['orfeon got only 50% of the time of a core: the machine was busy.']
    """
    answers = []
    if timing.factor != 1:
        answers.append(f"{name} did 1/{timing.factor:g} of the work; its time was scaled up.")
    if timing.cores is None:
        return answers
    if timing.cores > threads * _SEVERAL:
        answers.append(f"{name} used {timing.cores:.1f} cores, more than the {threads} requested.")
    if timing.cores < threads * _BUSY:
        share = timing.cores / threads
        answers.append(f"{name} got only {share:.0%} of the time of a core: the machine was busy.")
    return answers


def _with_unit(figure: float, unit: Unit) -> str:
    if unit == "x":
        return f"{figure:.3g}x"
    if unit == "share":
        return f"{100 * figure:.4g}%"
    if unit == "ratio":
        return f"{figure:.3g}"
    return f"{figure:.3g} {unit}"


def seconds_text(seconds: float | None) -> str:
    """A time in the unit that suits it.

    Examples
    --------
    >>> seconds_text(0.001234), seconds_text(12.3), seconds_text(None)
    ('1.23 ms', '12.3 s', '-')
    """
    if seconds is None:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def _spread_text(measurement: Measurement) -> str:
    spreads = [s for s in (measurement.spread, measurement.peer_spread) if s is not None]
    return f"{max(spreads):.0%}" if spreads else ""


class Table:
    """A table whose rows are printed as they come.

    The spread is the larger of the two: the range over the rounds as a share of the median.
    """

    _WIDTHS = (39, 13, 31, 8, 8, 6, 9, 9, 4)
    _TITLES = ("case", "size", "against", "orfeon", "peer", "spread", "measured", "target", "")

    def __init__(self, write: Callable[[str], None] = print) -> None:
        self._write = write
        self._noted: set[str] = set()
        self._write(self._line(self._TITLES))
        self._write("-" * len(self._line(self._TITLES)))

    def _line(self, cells: Sequence[str]) -> str:
        left = [cell.ljust(width) for cell, width in zip(cells[:3], self._WIDTHS, strict=False)]
        right = [cell.rjust(width) for cell, width in zip(cells[3:], self._WIDTHS[3:], strict=True)]
        return " ".join(left + right)

    def add(self, measurement: Measurement) -> None:
        """Print a row, and below it its notes, each once in a table."""
        verdict = {None: "", True: "ok", False: "MISS"}[measurement.is_met]
        self._write(
            self._line(
                (
                    measurement.case,
                    f"{measurement.n} x {measurement.d}",
                    measurement.peer or "-",
                    seconds_text(measurement.seconds),
                    seconds_text(measurement.peer_seconds),
                    _spread_text(measurement),
                    _with_unit(measurement.figure, measurement.unit),
                    "" if measurement.target is None else str(measurement.target),
                    verdict,
                )
            )
        )
        for note in measurement.notes:
            if note not in self._noted:
                for line in textwrap.wrap(note, 110):
                    self._write(f"    {line}")
                self._noted.add(note)
