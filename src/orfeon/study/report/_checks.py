"""What the parts of a report are made of, checked and made plain when they are built."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, get_args

Number = float | None


def numbers(name: str, values: Iterable[Any]) -> tuple[Number, ...]:
    """Values as plain numbers; what is missing or not finite is None.

    Parameters
    ----------
    name : str
        What they are called, for the error.
    values : iterable of float or None
        The values; NumPy's kinds of numbers are fine.

    Returns
    -------
    tuple of float or None
        As many numbers.

    Examples
    --------
    >>> from orfeon.study.report._checks import numbers
    >>> numbers("y", [1, float("nan"), None, float("inf")])
    (1.0, None, None, None)
    >>> numbers("y", ["high"])
    Traceback (most recent call last):
    ...
    TypeError: y[0]='high' is not a number; numbers and None are allowed.
    """
    return tuple(_number(f"{name}[{i}]", value) for i, value in enumerate(values))


def number(name: str, value: Any) -> Any:
    """A value as a plain number, None if missing or not finite.

    Parameters
    ----------
    name : str
        What it is called, for the error.
    value : float or None
        The value.

    Returns
    -------
    float or None
        The number.

    Examples
    --------
    >>> from orfeon.study.report._checks import number
    >>> number("low", 2), number("low", float("-inf"))
    (2.0, None)
    """
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
    """Set fields of a frozen part while it is being built.

    Parameters
    ----------
    part : dataclass instance
        The part.
    **values : object
        Its fields, made plain.

    Examples
    --------
    >>> from orfeon.study.report._checks import set_plain
    >>> from orfeon.study.report.content_types import Text
    >>> text = Text(["One."])
    >>> set_plain(text, paragraphs=("Two.",))
    >>> text
    Text(paragraphs=('Two.',), kind='text')
    """
    for name, value in values.items():
        object.__setattr__(part, name, value)


def check_lengths(name: str, length: int, *, optional: bool = False, **others: Any) -> None:
    """Refuse sequences that are not as long as the first.

    Parameters
    ----------
    name : str
        What the first is called.
    length : int
        How long it is.
    optional : bool, default=False
        Whether the others may be empty.
    **others : sequence
        The others, by their names.

    Examples
    --------
    >>> from orfeon.study.report._checks import check_lengths
    >>> check_lengths("x", 3, optional=True, low=())
    >>> check_lengths("x", 3, y=(1, 2))
    Traceback (most recent call last):
    ...
    ValueError: y has 2 values and x has 3; as many are needed.
    """
    for other, values in others.items():
        if len(values) != length and not (optional and len(values) == 0):
            raise ValueError(
                f"{other} has {len(values)} values and {name} has {length}; as many are needed."
            )


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Refuse what is not one of the values of a Literal type.

    Parameters
    ----------
    name : str
        What the value is called.
    value : object
        The value.
    choices : Literal type
        What is allowed.

    Examples
    --------
    >>> from typing import Literal
    >>> from orfeon.study.report._checks import check_choice
    >>> check_choice("scale", "square", Literal["linear", "log"])
    Traceback (most recent call last):
    ...
    ValueError: scale='square' is not allowed; use one of 'linear', 'log'.
    """
    allowed = get_args(choices)
    if value not in allowed:
        listed = ", ".join(map(repr, allowed))
        raise ValueError(f"{name}={value!r} is not allowed; use one of {listed}.")
