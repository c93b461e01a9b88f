"""Words of messages: the names nearest to one that is not known, lists, text safe to print."""

from __future__ import annotations

import difflib
import shlex
import unicodedata
from collections.abc import Iterable


def nearest_names(name: str, names: Iterable[str], n: int = 3) -> str:
    """What to add to a message that a name is not known.

    Parameters
    ----------
    name : str
        The name given.
    names : iterable of str
        Those that are known.
    n : int, default=3
        How many are offered at most.

    Returns
    -------
    str
        In parentheses, with a blank before; empty when none is near.

    Examples
    --------
    >>> from orfeon.cli.words import nearest_names
    >>> nearest_names("baging", ["bagging", "boosting", "stacking"])
    " (did you mean 'bagging'?)"
    >>> nearest_names("xyz", ["bagging", "boosting"])
    ''
    """
    known = {other.casefold(): other for other in map(str, names)}
    near = difflib.get_close_matches(str(name).casefold(), list(known), n=n)
    if not near:
        return ""
    return f" (did you mean {listed([repr(known[key]) for key in near], 'or')}?)"


def listed(words: Iterable[str], last: str = "and") -> str:
    """Words as a list in a sentence.

    Parameters
    ----------
    words : iterable of str
    last : str, default="and"
        What stands before the last one.

    Returns
    -------
    str

    Examples
    --------
    >>> from orfeon.cli.words import listed
    >>> listed(["fit", "predict", "prune"])
    'fit, predict and prune'
    """
    all_words = list(words)
    if len(all_words) < 2:
        return "".join(all_words)
    return f"{', '.join(all_words[:-1])} {last} {all_words[-1]}"


def printable(text: object, longest: int | None = None) -> str:
    r"""Text of users that does nothing to a terminal: control characters are shown, not obeyed.

    Parameters
    ----------
    text : object
        Its ``str`` is taken.
    longest : int, optional
        Cut after so many characters, with an ellipsis.

    Returns
    -------
    str

    Examples
    --------
    >>> from orfeon.cli.words import printable
    >>> print(printable("a\x1b[31mred"))
    a\x1b[31mred
    >>> printable("a long name", longest=6)
    'a lon…'
    """
    shown = "".join(
        repr(character)[1:-1]
        if unicodedata.category(character) in ("Cc", "Cf", "Cs")
        else character
        for character in str(text)
    )
    if longest is not None and len(shown) > longest:
        return shown[: longest - 1] + "…"
    return shown


def duration_text(seconds: float) -> str:
    """Seconds as people say them.

    Parameters
    ----------
    seconds : float

    Returns
    -------
    str

    Examples
    --------
    >>> from orfeon.cli.words import duration_text
    >>> [duration_text(s) for s in (0.0042, 1.25, 75, 3720)]
    ['4.2 ms', '1.2 s', '1 min 15 s', '1 h 02 min']
    """
    if seconds < 1:
        return f"{seconds * 1000:.2g} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def size_text(n_bytes: float) -> str:
    """Bytes as people say them.

    Parameters
    ----------
    n_bytes : float

    Returns
    -------
    str

    Examples
    --------
    >>> from orfeon.cli.words import size_text
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


def command_text(arguments: Iterable[str]) -> str:
    """A command as it may be shown to others: passwords in addresses are starred.

    Parameters
    ----------
    arguments : iterable of str
        What followed the name of the program.

    Returns
    -------
    str
        To be pasted into a shell.

    Examples
    --------
    >>> from orfeon.cli.words import command_text
    >>> command_text(["study", "my data.csv", "--store", "postgresql://ada:secret@host/results"])
    "orfeon study 'my data.csv' --store 'postgresql://ada:***@host/results'"
    """
    return shlex.join(["orfeon", *(_without_password(argument) for argument in arguments)])


def _without_password(argument: str) -> str:
    if "://" not in argument:
        return argument
    from orfeon.study.store import shown_address

    option, mark, address = argument.partition("=")
    if mark and option.startswith("--") and "://" not in option:
        return f"{option}={shown_address(address)}"
    return shown_address(argument)
