"""What a column is: numbers, categories, dates, free text, a name of the row, or nothing at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from orfeon.study.preparation.cells import (
    as_text,
    date_format,
    distinct,
    is_date_type,
    is_number_type,
    numbers,
)

Kind = Literal[
    "number",
    "category",
    "boolean",
    "date",
    "text",
    "identifier",
    "constant",
    "empty",
    "nested",
]

#: Share of the cells that must be numbers for the other words to be taken as missing.
SHARE_OF_NUMBERS = 0.9
#: A column of words is one of names when this share of them occurs only once.
SHARE_OF_NAMES = 0.9
#: So many words a cell, on average, make a text.
WORDS_OF_TEXT = 4.0

_NAME_OF_IDENTIFIER = re.compile(
    r"(^|[\s_.-])(id|ids|uuid|guid|index|rowid|row|nr|no|key|unnamed: ?\d+)$", re.IGNORECASE
)


@dataclass(frozen=True)
class ColumnKind:
    """What a column is, and why.

    Examples
    --------
    >>> ColumnKind("date", "written as %d.%m.%Y", date_format="%d.%m.%Y").kind
    'date'
    """

    kind: Kind
    reason: str = ""
    date_format: str | None = None
    n_missing: int = 0
    n_distinct: int = 0
    examples: tuple[str, ...] = ()


def column_kind(name: str, series: Any) -> ColumnKind:
    """Find out what a column is.

    Parameters
    ----------
    name : str
        Its name: ``id`` and the like say that its values name the rows.
    series : pandas.Series
        Its values.

    Returns
    -------
    ColumnKind
        The kind, with a reason where it is not plain.

    Examples
    --------
    >>> import pandas
    >>> column_kind("sex", pandas.Series(["f", "m", "f", None])).kind
    'category'
    >>> column_kind("customer_id", pandas.Series([17, 4, 92, 33])).kind
    'identifier'
    """
    try:
        codes, values = distinct(series)
    except TypeError:
        return ColumnKind("nested", "its cells hold lists or tables")
    facts = {
        "n_missing": int(np.count_nonzero(codes < 0)),
        "n_distinct": len(values),
        "examples": tuple(as_text(value)[:60] for value in values[:5]),
    }
    kind, reason, form = _decide(name, series, values, len(codes) - facts["n_missing"])  # type: ignore[operator]
    return ColumnKind(kind, reason, form, **facts)  # type: ignore[arg-type]


def _decide(
    name: str, series: Any, values: list[Any], n_present: int
) -> tuple[Kind, str, str | None]:
    from pandas.api import types

    if not values or all(isinstance(value, str) and not value.strip() for value in values):
        return "empty", "it has no value", None
    if any(isinstance(value, bytes | complex | tuple | frozenset | dict) for value in values[:50]):
        return "nested", "its cells are neither numbers nor words", None
    if len(values) == 1 and n_present == len(series):
        return "constant", f"every row has {as_text(values[0])[:60]!r}", None
    if types.is_bool_dtype(series.dtype) or all(isinstance(v, bool | np.bool_) for v in values):
        return "boolean", "", None
    if is_date_type(series):
        return "date", "", None
    if is_number_type(series) or getattr(series.dtype, "kind", "O") == "m":
        return _kind_of_numbers(name, series, values, n_present)
    declared = isinstance(series.dtype, types.CategoricalDtype) and bool(
        is_number_type(series.cat.categories.to_series())
    )
    if declared:
        return "category", "declared as such", None
    return _kind_of_words(name, series, values, n_present)


def _kind_of_numbers(
    name: str, series: Any, values: list[Any], n_present: int
) -> tuple[Kind, str, str | None]:
    found, _ = numbers(series)
    if len(values) == n_present == len(series) and n_present > 2:
        whole = np.isfinite(found).all() and bool((found == np.floor(found)).all())
        if whole and found.max() - found.min() == n_present - 1:
            return "identifier", "it counts the rows", None
        if whole and _NAME_OF_IDENTIFIER.search(name.strip()):
            return "identifier", "its name says so, and every row has its own number", None
    return "number", "", None


def _kind_of_words(
    name: str, series: Any, values: list[Any], n_present: int
) -> tuple[Kind, str, str | None]:
    form = date_format(values)
    if form is not None:
        return "date", "" if form == "ISO8601" else f"written as {form}", form
    _, others = numbers(series)
    n_numbers = n_present - sum(others.values())
    if n_numbers and not others:
        return _kind_of_numbers(name, series, values, n_present)
    if n_numbers >= SHARE_OF_NUMBERS * n_present and len(values) - len(others) > 20:
        return "number", f"{_some(list(others))} taken as missing", None
    texts = [as_text(value) for value in values[:1000]]
    n_words = float(np.mean([len(text.split()) for text in texts]))
    n_letters = float(np.mean([len(text) for text in texts]))
    share = len(values) / n_present
    if share > 0.5 and n_present > 20 and (n_words >= WORDS_OF_TEXT or n_letters > 100):
        return "text", f"{n_words:.0f} words a cell, {share:.0%} of them different", None
    if share >= SHARE_OF_NAMES and n_present > 20:
        return "identifier", f"{share:.0%} of its values are different", None
    if share > 0.5 and n_present > 20 and _NAME_OF_IDENTIFIER.search(name.strip()):
        return "identifier", "its name says so, and most of its values are different", None
    return "category", "", None


def _some(items: list[str], at_most: int = 4) -> str:
    shown = ", ".join(repr(item[:40]) for item in items[:at_most])
    return shown if len(items) <= at_most else f"{shown} and {len(items) - at_most} more"
