"""Checks of the options that all renderers share."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_option(name: str, value: Any, smallest: int = 0, largest: int | None = None) -> None:
    """Refuse an option that is neither ``None`` nor an integer of its range."""
    if value is None:
        return
    integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    number = int(value) if integer else smallest - 1
    if smallest <= number <= (number if largest is None else largest):
        return
    upwards = f"from {smallest}" if largest is None else f"from {smallest} to {largest}"
    raise ValueError(f"{name}={value!r} is not allowed: give None or an integer {upwards}.")
