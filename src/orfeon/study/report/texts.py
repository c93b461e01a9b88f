"""Numbers and names as the page shows them: rounded, and safe in HTML and in scripts."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterable
from typing import Any

from orfeon.study.report.series_types import Axis

#: What stands where there is no number.
MISSING = "–"  # noqa: RUF001 (a dash, not a minus)
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def escape(text: str) -> str:
    """Text that is only text in HTML, in elements and in attributes.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The text escaped; control characters and halves of pairs are replaced.

    Examples
    --------
    >>> from orfeon.study.report.texts import escape
    >>> escape('</td><b title="x">')
    '&lt;/td&gt;&lt;b title=&quot;x&quot;&gt;'
    """
    return html.escape(_CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text))


def script_json(data: Any) -> str:
    r"""JSON that can stand inside a script element: nothing in it can end the element.

    Parameters
    ----------
    data : object
        Plain data without NaN.

    Returns
    -------
    str
        The JSON, in ASCII.

    Examples
    --------
    >>> from orfeon.study.report.texts import script_json
    >>> script_json({"name": "</script><!--"})
    '{"name":"\\u003c/script\\u003e\\u003c!--"}'
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def shown(value: float | None, decimals: int | None = None, percent: bool = False) -> str:
    """A number as readers see it.

    Parameters
    ----------
    value : float or None
        The number.
    decimals : int, optional
        Decimals; without, three digits that count, and whole numbers as they are.
    percent : bool, default=False
        Whether it is a share to be shown as a percentage.

    Returns
    -------
    str
        The number with a true minus, and narrow spaces from 10 000 on; a dash if there is none.

    Examples
    --------
    >>> from orfeon.study.report.texts import shown
    >>> shown(0.1536, 1, percent=True), shown(None), shown(0.00123456), shown(21.0)
    ('15.4%', '–', '0.00123', '21')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    number = 100.0 * value if percent else value
    if decimals is None:
        decimals = _free_decimals(number)
    text = f"{abs(number):,.{decimals}f}"
    whole, point, rest = text.partition(".")
    whole = whole.replace(",", "\u202f" if len(whole) > 5 else "")
    sign = "\u2212" if number < 0 and any(c in "123456789" for c in text) else ""
    return f"{sign}{whole}{point}{rest}{'%' if percent else ''}"


def _free_decimals(number: float) -> int:
    if number == int(number):
        return 0
    return min(12, max(0, 2 - math.floor(math.log10(abs(number)))))


def axis_decimals(axis: Axis, values: Iterable[float | None]) -> int | None:
    """How many decimals tell the values of an axis apart.

    Parameters
    ----------
    axis : Axis
        The axis; what it says itself goes first.
    values : iterable of float or None
        What is shown along it.

    Returns
    -------
    int or None
        Decimals; None where digits that count say more, on a logarithmic axis.

    Examples
    --------
    >>> from orfeon.study.report.content_types import Axis
    >>> from orfeon.study.report.texts import axis_decimals
    >>> axis_decimals(Axis("error", percent=True), [0.1, 0.25]), axis_decimals(Axis("n"), [1, 99])
    (1, 0)
    """
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
