"""Checks of plain values that come from a file: anybody may have written them."""

from __future__ import annotations

from typing import Any

from orfeon.utils.text import short


def require(condition: Any, rule: str, value: Any) -> None:
    """Raise a ValueError that names the rule and the value, unless the condition holds."""
    if not condition:
        raise ValueError(f"{rule}; got {short(repr(value))}")


def are_texts(values: Any) -> bool:
    """Whether a value is a list of different texts that can be written."""
    if type(values) is not list or any(type(one) is not str for one in values):
        return False
    try:
        "\n".join(values).encode()  # halves of letters cannot be
    except UnicodeEncodeError:
        return False
    return len(set(values)) == len(values)
