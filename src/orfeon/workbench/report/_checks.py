"""What the parts of a report are made of, checked and made plain when they are built."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, get_args

Number = float | None


def numbers(name: str, values: Iterable[Any]) -> tuple[Number, ...]:
    """Values as plain numbers; what is missing or not finite is None."""
    return tuple(_number(f"{name}[{i}]", value) for i, value in enumerate(values))


def number(name: str, value: Any) -> Any:
    """A value as a plain number, None if missing or not finite."""
    return _number(name, value)


def _number(name: str, value: Any) -> Number:
    if value is None:
        return None
    try:
        plain = None if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError):
        plain = None
    if plain is None:
        shown = repr(value)[:60]
        raise TypeError(f"{name}={shown} is not a number; numbers and None are allowed.")
    return plain if math.isfinite(plain) else None


def set_plain(part: Any, **values: Any) -> None:
    """Set fields of a frozen part while it is being built."""
    for name, value in values.items():
        object.__setattr__(part, name, value)


def check_lengths(name: str, length: int, *, optional: bool = False, **others: Any) -> None:
    """Refuse sequences that are not as long as the first."""
    for other, values in others.items():
        if len(values) != length and not (optional and len(values) == 0):
            raise ValueError(
                f"{other} has {len(values)} values and {name} has {length}; they must match."
            )


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Refuse what is not one of the values of a Literal type."""
    allowed = get_args(choices)
    if value not in allowed:
        listed = ", ".join(map(repr, allowed))
        raise ValueError(f"{name}={value!r} is not allowed; use one of {listed}.")
