"""Words of messages: names nearest to one not known, lists, tables, times, sizes, p-values."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from inspect import cleandoc
from textwrap import dedent

#: Letters of a name in a sentence, beyond which it is cut.
_LONGEST = 60


# -- names -----------------------------------------------------------------------------------------


def nearest(name: object, names: Iterable[object], n: int = 3) -> list[str]:
    """The names nearest to one that is not known.

    Parameters
    ----------
    name : object
        The name given; its ``str`` is taken.
    names : iterable of object
        Those that are known.
    n : int, default=3
        How many are offered at most.

    Returns
    -------
    list of str
        The nearest first. Those that differ in capitals only, where there are any.

    Examples
    --------
    >>> from orfeon.wording import nearest
    >>> nearest("clas", ["outlook", "Class", "glass"])
    ['Class', 'glass']
    >>> nearest("CLASS", ["outlook", "Class", "glass"])
    ['Class']
    """
    from difflib import get_close_matches

    known: dict[str, dict[str, None]] = {}
    for other in map(str, names):
        known.setdefault(other.casefold(), {})[other] = None
    wanted = str(name).casefold()
    near = [wanted] if wanted in known else get_close_matches(wanted, list(known), n=n)
    return [other for folded in near for other in known[folded]][:n]


def nearest_names(name: object, names: Iterable[object], n: int = 3) -> str:
    """What to add to a message that a name is not known, before its full stop.

    Parameters
    ----------
    name : object
        The name given.
    names : iterable of object
        Those that are known.
    n : int, default=3
        How many are offered at most.

    Returns
    -------
    str
        In parentheses, with a blank before; empty when none is near.

    Examples
    --------
    >>> from orfeon.wording import nearest_names
    >>> nearest_names("baging", ["bagging", "boosting", "stacking"])
    " (did you mean 'bagging'?)"
    >>> nearest_names("xyz", ["bagging", "boosting"])
    ''
    """
    near = nearest(name, names, n)
    return f" (did you mean {listed(map(repr, near), 'or')}?)" if near else ""


def did_you_mean(near: Iterable[str]) -> str:
    """What to add to a message that a name is not known, after its full stop.

    Parameters
    ----------
    near : iterable of str
        What to offer, as it is to be shown.

    Returns
    -------
    str
        A question, with a blank before; empty when there is nothing to offer.

    Examples
    --------
    >>> from orfeon.wording import did_you_mean
    >>> did_you_mean(["sales.csv", "sales.parquet"])
    ' Did you mean sales.csv or sales.parquet?'
    """
    offered = listed(near, "or")
    return f" Did you mean {offered}?" if offered else ""


def short(text: object, longest: int = _LONGEST) -> str:
    """A name or a message that fits into a sentence.

    Parameters
    ----------
    text : object
        Its ``str`` is taken.
    longest : int, default=60
        Letters beyond which it is cut.

    Returns
    -------
    str
        In one line.

    Examples
    --------
    >>> from orfeon.wording import short
    >>> short("a rather long name of a column", 15)
    'a rather long…'
    """
    line = " ".join(str(text).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


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
    >>> from orfeon.wording import capital
    >>> capital("bagging of CART trees")
    'Bagging of CART trees'
    """
    return text[:1].upper() + text[1:]


# -- lists -----------------------------------------------------------------------------------------


def listed(words: Iterable[str], last: str = "and") -> str:
    """Words as a list in a sentence, all of them as they are.

    Parameters
    ----------
    words : iterable of str
        The words.
    last : str, default="and"
        What stands before the last one.

    Returns
    -------
    str
        Empty if there are none.

    Examples
    --------
    >>> from orfeon.wording import listed
    >>> listed(["fit", "predict", "prune"])
    'fit, predict and prune'
    """
    every = list(words)
    if len(every) < 2:
        return "".join(every)
    return f"{', '.join(every[:-1])} {last} {every[-1]}"


def some_of(names: Iterable[object], most: int = 6) -> str:
    """Names as a list in a sentence: not more of them, and none longer, than a reader wants.

    Parameters
    ----------
    names : iterable of object
        The names.
    most : int, default=6
        Beyond as many the others are counted; a single other one is named.

    Returns
    -------
    str
        Empty if there are none.

    Examples
    --------
    >>> from orfeon.wording import some_of
    >>> some_of("abc", most=2), some_of("abcdefgh", most=3)
    ('a, b and c', 'a, b, c and 5 more')
    """
    every = [short(name) for name in names]
    if len(every) > most + 1:
        every = [*every[:most], f"{len(every) - most} more"]
    return listed(every)


def clauses(texts: Iterable[str], most: int = 6) -> str:
    """Texts with commas of their own as a list in a sentence.

    Parameters
    ----------
    texts : iterable of str
        The texts.
    most : int, default=6
        Beyond as many the others are counted.

    Returns
    -------
    str
        Empty if there are none.

    Examples
    --------
    >>> from orfeon.wording import clauses
    >>> clauses(["depth was 3, now 4", "rows were 9, now 8", "seed was 0, now 1"], most=2)
    'depth was 3, now 4; rows were 9, now 8; and 1 more'
    """
    every = list(texts)
    if len(every) > most:
        every = [*every[:most], f"and {len(every) - most} more"]
    return "; ".join(every)


def aligned(lines: Sequence[Sequence[str]], to_the_right: Collection[int] = ()) -> str:
    """Set cells in columns.

    Parameters
    ----------
    lines : sequence of sequence of str
        The cells of each line, as many in each.
    to_the_right : collection of int, optional
        The columns that are set to the right.

    Returns
    -------
    str
        The lines, two spaces between the columns, whatever the script of the cells.

    Examples
    --------
    >>> from orfeon.wording import aligned
    >>> print(aligned([["size", "error"], ["9", "12.5"], ["99", "8.0"]], to_the_right={0}))
    size  error
       9  12.5
      99  8.0
    """
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    texts = []
    for line in lines:
        cells = []
        for j, (cell, width) in enumerate(zip(line, widths, strict=True)):
            gap = " " * (width - _width(cell))
            cells.append(gap + cell if j in to_the_right else cell + gap)
        texts.append("  ".join(cells).rstrip())
    return "\n".join(texts)


def _width(text: str) -> int:
    """Cells of a terminal: two for wide characters, none for accents that stand by themselves."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


# -- numbers ---------------------------------------------------------------------------------------


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
    >>> from orfeon.wording import counted
    >>> counted(1, "class", "classes"), counted(12345, "row")
    ('1 class', '12,345 rows')
    """
    rounded = round(number)
    return f"{rounded:,} {one if rounded == 1 else many or one + 's'}"


def duration_text(seconds: float) -> str:
    """A time as people say it.

    Parameters
    ----------
    seconds : float
        The time.

    Returns
    -------
    str
        In units that suit it; "unknown" for NaN.

    Examples
    --------
    >>> from orfeon.wording import duration_text
    >>> [duration_text(s) for s in (0.0042, 1.25, 75, 3720)]
    ['4.2 ms', '1.2 s', '1 min 15 s', '1 h 02 min']
    """
    if math.isnan(seconds):
        return "unknown"
    if seconds < 0.9995:
        return f"{1000 * seconds:.2g} ms" if seconds < 0.0995 else f"{1000 * seconds:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def clock_text(seconds: float) -> str:
    """A time as a clock shows it.

    Parameters
    ----------
    seconds : float
        The time; below 0 it is 0.

    Returns
    -------
    str
        Minutes and seconds, with hours before them where there are any.

    Examples
    --------
    >>> from orfeon.wording import clock_text
    >>> clock_text(75), clock_text(3675)
    ('1:15', '1:01:15')
    """
    whole = max(0, round(seconds))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def size_text(n_bytes: float) -> str:
    """Bytes as people say them.

    Parameters
    ----------
    n_bytes : float
        How many.

    Returns
    -------
    str
        In a unit that suits them.

    Examples
    --------
    >>> from orfeon.wording import size_text
    >>> [size_text(n) for n in (812, 20_480, 3_500_000)]
    ['812 bytes', '20.5 kB', '3.5 MB']
    """
    if n_bytes < 1000:
        return f"{n_bytes:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        n_bytes /= 1000
        if n_bytes < 999.95:
            return f"{n_bytes:.1f} {unit}"
    return f"{n_bytes / 1000:.1f} TB"


def p_value_text(p_value: float) -> str:
    """A p-value as it is printed.

    Parameters
    ----------
    p_value : float
        The p-value.

    Returns
    -------
    str
        With the sign before it.

    Examples
    --------
    >>> from orfeon.wording import p_value_text
    >>> p_value_text(0.0412), p_value_text(2e-7)
    ('p = 0.041', 'p < 0.001')
    """
    if math.isnan(p_value):
        return "p unknown"
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def filled_docstring(text: str | None, shared: Mapping[str, str]) -> str:
    r"""A docstring whose lines ``<name>`` are replaced by texts that several classes share.

    Python 3.13 takes the indentation of docstrings away, earlier releases keep it; what is given
    back has none.

    Parameters
    ----------
    text : str or None
        The docstring.
    shared : mapping of str to str
        The texts, indented in any way, by name.

    Returns
    -------
    str
        The docstring, filled in.

    Examples
    --------
    >>> from orfeon.wording import filled_docstring
    >>> shared = {"seed": "    seed : int\n        A number."}
    >>> print(filled_docstring("Bag.\n\n    <seed>", shared))
    Bag.
    <BLANKLINE>
    seed : int
        A number.
    """
    filled = cleandoc(text or "")
    for name, words in shared.items():
        filled = filled.replace(f"<{name}>", dedent(words.strip("\n")))
    return filled
