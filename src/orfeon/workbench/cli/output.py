"""What commands print: tables for people, JSON for programs, and notes.

Results go to standard output, notes to standard error. On a terminal, Rich draws the tables; in a
pipe, they are plain aligned text of any width.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import sys
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from orfeon.utils.text import aligned


def printable(text: object, longest: int | None = None) -> str:
    r"""Escape control characters in text from users, so that a terminal does not obey them."""
    shown = "".join(
        repr(character)[1:-1]
        if unicodedata.category(character) in ("Cc", "Cf", "Cs")
        else character
        for character in str(text)
    )
    if longest is not None and len(shown) > longest:
        return shown[: longest - 1] + "…"
    return shown


def command_text(arguments: Iterable[str]) -> str:
    """A command line with the passwords in its addresses masked."""
    return shlex.join(["orfeon", *(_without_password(argument) for argument in arguments)])


def _without_password(argument: str) -> str:
    if "://" not in argument:
        return argument
    from orfeon.workbench.store import shown_address

    option, mark, address = argument.partition("=")
    if mark and option.startswith("--") and "://" not in option:
        return f"{option}={shown_address(address)}"
    return shown_address(argument)


def plain_value(value: Any) -> Any:
    """A value that JSON can hold: NumPy numbers become numbers, non-finite ones null."""
    if isinstance(value, Mapping):
        return {str(plain_value(name)): plain_value(item) for name, item in value.items()}
    if hasattr(value, "tolist"):
        return plain_value(value.tolist())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def print_json(document: Any) -> None:
    print(json.dumps(plain_value(document), indent=2, ensure_ascii=False, allow_nan=False))


def is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal that can be drawn on; NO_COLOR only affects colours."""
    if stream is None or getattr(stream, "closed", False) or not stream.isatty():
        return False
    return os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    title: str = "",
    to_the_right: Collection[int] = (),
    highlight: Collection[int] = (),
) -> None:
    """Print a table: drawn on a terminal, plain in a pipe."""
    cells = [[printable(cell) for cell in row] for row in rows]
    if is_terminal(sys.stdout):
        _draw_table(columns, cells, title, to_the_right, highlight)
        return
    if title:
        print(title)
    print(aligned([[printable(name) for name in columns], *cells], to_the_right))


def _draw_table(
    columns: Sequence[str],
    cells: Sequence[Sequence[str]],
    title: str,
    to_the_right: Collection[int],
    highlight: Collection[int],
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD,
        title=Text(title) if title else None,
        title_justify="left",
        pad_edge=False,
    )
    for j, name in enumerate(columns):
        table.add_column(
            Text(printable(name)), justify="right" if j in to_the_right else "left", overflow="fold"
        )
    for i, row in enumerate(cells):
        table.add_row(*map(Text, row), style="bold green" if i in highlight else None)
    Console(file=sys.stdout, highlight=False).print(table)


def print_facts(facts: Mapping[str, object] | Sequence[tuple[str, object]]) -> None:
    """Print names and values, one pair per line."""
    pairs = facts.items() if isinstance(facts, Mapping) else facts
    lines = [[printable(name), printable(fact)] for name, fact in pairs if fact is not None]
    if lines:
        print(aligned(lines))


def say(text: str, *, quiet: bool = False) -> None:
    """Print a note on standard error."""
    if not quiet:
        print(text, file=sys.stderr, flush=True)
