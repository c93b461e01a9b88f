"""Text that is safe to print: no control characters, no passwords."""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Iterable


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
