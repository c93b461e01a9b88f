"""Numbers and names as the page shows them: rounded, and safe in HTML and in scripts."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterable
from typing import Any

from orfeon.workbench.report.series_types import Axis

#: What stands where there is no number.
MISSING = "–"  # noqa: RUF001 (a dash, not a minus)
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def escape(text: str) -> str:
    """Text that is only text in HTML, in elements and in features."""
    return html.escape(_CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text))


def script_json(data: Any) -> str:
    r"""JSON that can stand inside a script element: nothing in it can end the element."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


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
