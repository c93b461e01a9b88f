"""Checks of scores and options, with errors that name what is wrong and where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from orfeon.utils.types import Floats

ALTERNATIVES = ("two-sided", "less", "greater")


def numbers(name: str, values: Any, n_dimensions: int) -> Floats:
    """Read finite numbers."""
    try:
        read = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}.") from error
    if read.ndim != n_dimensions:
        raise ValueError(f"{name} must have {n_dimensions} dimension(s), got shape {read.shape}.")
    wrong = np.argwhere(~np.isfinite(read))
    if len(wrong):
        at = tuple(int(place) for place in wrong[0])
        shown = at[0] if len(at) == 1 else at
        raise ValueError(
            f"{name} must hold finite numbers, got {read[at]} at place {shown} (counted from 0)."
        )
    return read


def pairs(first: Any, second: Any, at_least: int) -> tuple[Floats, Floats]:
    """Read the scores of two methods on the same splits or data sets."""
    one, other = numbers("first", first, 1), numbers("second", second, 1)
    if len(one) != len(other):
        raise ValueError(
            f"first and second must have the same length, got {len(one)} and {len(other)}."
        )
    if len(one) < at_least:
        raise ValueError(f"first and second must hold at least {at_least} pairs, got {len(one)}.")
    return one, other


def table(
    scores: Any, names: Sequence[str] | None, decimals: int | None, at_least: int = 1
) -> tuple[Floats, tuple[str, ...]]:
    """Read a table of scores: one row per data set, one column per method."""
    columns = getattr(scores, "columns", None)
    read = _finite_table(scores, names if columns is None or names is not None else list(columns))
    n_datasets, n_methods = read.shape
    if n_methods < 2:
        raise ValueError(
            f"scores must have a column for each of 2 or more methods, got {n_methods}."
        )
    if n_datasets < at_least:
        raise ValueError(
            f"scores must have a row for each of {at_least} or more data sets, got {n_datasets}."
        )
    if names is None:
        names = list(columns) if columns is not None else [str(j) for j in range(n_methods)]
    if decimals is not None:
        read = np.round(read, decimals)
    return read, method_names(names, n_methods)


def _finite_table(scores: Any, names: Sequence[Any] | None) -> Floats:
    try:
        return numbers("scores", scores, 2)
    except ValueError as error:
        read = np.asarray(scores)
        if names is None or "finite" not in str(error) or read.shape[1] != len(names):
            raise
        line, column = np.argwhere(~np.isfinite(read.astype(np.float64)))[0]
        raise ValueError(
            f"scores must hold finite numbers: that of {str(names[column])!r} on data set {line} "
            f"(counted from 0) is {read[line, column]}."
        ) from None


def method_names(names: Sequence[Any], n_methods: int) -> tuple[str, ...]:
    read = tuple(str(name) for name in names)
    if len(read) != n_methods:
        raise ValueError(
            f"names must hold one name for each of {n_methods} methods, got {len(read)}."
        )
    twice = next((name for name in read if read.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"names must differ, got {twice!r} twice.")
    return read


def check_level(alpha: float) -> None:
    """Reject a level of significance outside 0 to 1."""
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha={alpha} is not allowed: it must be between 0 and 1, such as 0.05.")


def check_alternative(alternative: str) -> None:
    """Reject an unknown alternative hypothesis."""
    if alternative not in ALTERNATIVES:
        raise ValueError(
            f'alternative={alternative!r} is not allowed; use "two-sided", "less" or "greater".'
        )
