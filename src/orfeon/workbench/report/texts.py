"""Numbers as the page shows them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from orfeon.workbench.report.series_types import Axis

#: Shown where there is no number.
MISSING = "–"  # noqa: RUF001 (a dash, not a minus)


def shown(value: float | None, decimals: int | None = None, percent: bool = False) -> str:
    """A number as readers see it."""
    if value is None or not math.isfinite(value):
        return MISSING
    number = 100.0 * value if percent else value
    if decimals is None:
        decimals = _free_decimals(number)
    text = f"{abs(number):,.{decimals}f}"
    sign = "\u2212" if number < 0 and any(c in "123456789" for c in text) else ""
    return f"{sign}{text}{'%' if percent else ''}"


def _free_decimals(number: float) -> int:
    if number == int(number):
        return 0
    return min(12, max(0, 2 - math.floor(math.log10(abs(number)))))


def axis_decimals(axis: Axis, values: Iterable[float | None]) -> int | None:
    """How many decimals tell the values of an axis apart."""
    if axis.decimals is not None:
        return axis.decimals
    factor = 100.0 if axis.percent else 1.0
    known = [factor * value for value in values if value is not None]
    if not known:
        return 0
    if not axis.percent and all(value == int(value) for value in known):
        return 0
    if axis.scale == "log":
        return None
    spread = (max(known) - min(known)) or abs(known[0]) or 1.0
    return min(12, max(1 if axis.percent else 0, math.ceil(2 - math.log10(spread))))
