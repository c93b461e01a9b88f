"""Checks of the options that all renderers share."""

from __future__ import annotations

from numbers import Integral


def check_option(name: str, value: object, smallest: int = 0, largest: int | None = None) -> None:
    """Refuse an option that is neither ``None`` nor an integer of its range.

    Parameters
    ----------
    name : str
        The option's name, for the message.
    value : object
        What was given.
    smallest, largest : int
        The range; ``None`` for no largest.

    Examples
    --------
    >>> check_option("max_depth", 3)
    >>> check_option("max_depth", -1)
    Traceback (most recent call last):
    ...
    ValueError: max_depth=-1 is not allowed: give None or an integer from 0.
    """
    if value is None:
        return
    integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not integer or value < smallest or (largest is not None and value > largest):  # type: ignore[operator]
        upwards = f"from {smallest}" if largest is None else f"from {smallest} to {largest}"
        raise ValueError(f"{name}={value!r} is not allowed: give None or an integer {upwards}.")
