"""Numbers, times and names as they are said in a report."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

#: Letters of a name in a sentence, beyond which it is cut.
_LONGEST = 60


def short(name: Any, longest: int = _LONGEST) -> str:
    """A name that fits into a sentence.

    Parameters
    ----------
    name : object
        The name.
    longest : int, default=60
        Letters beyond which it is cut.

    Returns
    -------
    str
        The name, in one line.

    Examples
    --------
    >>> from orfeon.study.report.content.words import short
    >>> short("a rather long name of a column", 15)
    'a rather long…'
    """
    text = " ".join(str(name).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def capital(text: str) -> str:
    """A text that begins with a capital.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    str
        The rest as it was.

    Examples
    --------
    >>> from orfeon.study.report.content.words import capital
    >>> capital("bagging of CART trees")
    'Bagging of CART trees'
    """
    return text[:1].upper() + text[1:]


def listed(names: Iterable[str], most: int = 6) -> str:
    """Names in a row, the last joined by "and".

    Parameters
    ----------
    names : iterable of str
        The names.
    most : int, default=6
        Beyond as many the others are counted.

    Returns
    -------
    str
        For a sentence.

    Examples
    --------
    >>> from orfeon.study.report.content.words import listed
    >>> listed(["a", "b", "c"]), listed("abcdefgh", most=3)
    ('a, b and c', 'a, b, c and 5 more')
    """
    known = [short(name) for name in names]
    if len(known) > most + 1:
        known = [*known[:most], f"{len(known) - most} more"]
    return known[0] if len(known) == 1 else ", ".join(known[:-1]) + " and " + known[-1]


def counted(number: float, one: str, many: str | None = None) -> str:
    """A number with what it counts.

    Parameters
    ----------
    number : float
        How many.
    one, many : str
        What is counted, one of it and several; by default with an s.

    Returns
    -------
    str
        For a sentence.

    Examples
    --------
    >>> from orfeon.study.report.content.words import counted
    >>> counted(1, "class", "classes"), counted(12345, "row")
    ('1 class', '12,345 rows')
    """
    rounded = round(number)
    return f"{rounded:,} {one if rounded == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """A time in a unit that suits it.

    Parameters
    ----------
    seconds : float
        The time.

    Returns
    -------
    str
        With its unit; "unknown" for NaN.

    Examples
    --------
    >>> from orfeon.study.report.content.words import duration
    >>> duration(0.0042), duration(2.5), duration(150), duration(7300)
    ('4.2 ms', '2.5 s', '2 min 30 s', '2 h 1 min')
    """
    if math.isnan(seconds):
        return "unknown"
    if seconds < 0.9995:
        return f"{1000 * seconds:.2g} ms" if seconds < 0.0995 else f"{1000 * seconds:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def p_value_text(p_value: float) -> str:
    """A p-value as it is said.

    Parameters
    ----------
    p_value : float
        The p-value.

    Returns
    -------
    str
        With its sign.

    Examples
    --------
    >>> from orfeon.study.report.content.words import p_value_text
    >>> p_value_text(0.0312), p_value_text(1e-5)
    ('p = 0.03', 'p < 0.001')
    """
    if p_value < 0.001:
        return "p < 0.001"
    return f"p = {p_value:.3f}" if p_value < 0.01 else f"p = {p_value:.2f}"
