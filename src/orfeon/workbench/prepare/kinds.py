"""The kind of a column: numbers, categories, dates, free text, row identifiers or nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from orfeon.utils.text import short, some_of
from orfeon.utils.types import Floats, Integers
from orfeon.workbench.prepare.parsing import (
    as_text,
    comma_style,
    date_format,
    distinct,
    is_date_type,
    is_number_type,
    number_in,
    numbers,
    numbers_among,
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

#: Share of numeric cells from which the remaining strings are treated as missing.
SHARE_OF_NUMBERS = 0.9
#: Share of distinct values from which a column of strings is a row identifier.
SHARE_OF_NAMES = 0.9
#: Mean number of words per cell from which a column is free text.
WORDS_OF_TEXT = 4.0

#: Rows of a long column that are sampled first.
_N_SAMPLED = 100_000

_NAME_OF_IDENTIFIER = re.compile(
    r"(^|[\s_.-])(?i:u?id|ids|uuid|guid|index|rowid|row|nr|no|key|unnamed: ?\d+)$|[a-z]I[dD]$"
)


@dataclass(frozen=True)
class ColumnProfile:
    """Kind and summary statistics of a column.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : str
        "number", "category", "boolean", "date", "text", "identifier", "constant", "empty" or
        "nested" (lists, tables, bytes).
    n_missing, n_distinct : int
        Number of missing cells and of distinct values.
    examples : tuple of str
        A few of its values.
    reason : str
        Why it is of this kind, where that is not obvious.
    date_format : str, optional
        Format of dates that are strings.

    Examples
    --------
    >>> from orfeon.workbench.prepare import ColumnProfile
    >>> ColumnProfile("age", "number", n_missing=2, n_distinct=40, examples=("31",)).kind
    'number'
    """

    name: str
    kind: Kind
    n_missing: int
    n_distinct: int
    examples: tuple[str, ...] = ()
    reason: str = ""
    date_format: str | None = None


def profile_column(name: str, series: Any) -> ColumnProfile:
    """Infer the kind of a column, and summarise it."""
    if is_number_type(series):
        return _profile_numbers(name, numbers(series)[0], series)
    if _is_long_list_of_names(series):
        return _profile_long_list(name, series)
    try:
        codes, values = distinct(series)
    except TypeError:
        return ColumnProfile(name, "nested", 0, 0, reason="its cells contain lists or tables")
    n_present = int(np.count_nonzero(codes >= 0))
    kind, reason, form = _decide(name, series, codes, values, n_present)
    examples = tuple(as_text(value)[:60] for value in values[:5])
    n_missing = len(codes) - n_present
    return ColumnProfile(name, kind, n_missing, len(values), examples, reason, form)


def _is_long_list_of_names(series: Any) -> bool:
    """Whether a sample of a long column has strings that are nearly all distinct."""
    import pandas

    if len(series) <= 2 * _N_SAMPLED or not isinstance(series.dtype, pandas.StringDtype):
        return False
    part = series.iloc[:: len(series) // _N_SAMPLED].dropna()
    some = part.iloc[:2000].tolist()
    return (
        part.nunique() >= SHARE_OF_NAMES * max(len(part), 1)
        and date_format(some) is None
        and sum(number_in(value) is not None for value in some) <= len(some) / 2
    )


def _profile_long_list(name: str, series: Any) -> ColumnProfile:
    """Profile a long column of row identifiers without a list of all of them."""
    n_distinct, n_missing = _n_distinct(series), int(series.isna().sum())
    part = series.iloc[:: len(series) // _N_SAMPLED].dropna()
    _, values = distinct(part)
    share = n_distinct / (len(series) - n_missing)
    kind: Kind = "text" if _is_text(values, share) else "identifier"
    examples = tuple(as_text(value)[:60] for value in values[:5])
    reason = f"{share:.0%} of its values are distinct"
    return ColumnProfile(name, kind, n_missing, n_distinct, examples, reason)


def _n_distinct(series: Any) -> int:
    """Count distinct strings by their 64-bit hashes, some rows at a time."""
    import pandas

    parts = [series.iloc[i : i + _N_SAMPLED].dropna() for i in range(0, len(series), _N_SAMPLED)]
    hashes = [
        pandas.util.hash_array(part.to_numpy(dtype=object), categorize=False) for part in parts
    ]
    return int(np.unique(np.concatenate(hashes)).size)


def _profile_numbers(name: str, found: Floats, series: Any) -> ColumnProfile:
    present = found[~np.isnan(found)]
    n_missing = found.size - present.size
    if not present.size:
        return ColumnProfile(name, "empty", n_missing, 0, reason="it has no values")
    n_distinct = int(series.nunique())
    first = tuple(dict.fromkeys(f"{number:.6g}" for number in present[:50]))
    kind: Kind = "number"
    reason = ""
    if n_distinct == 1 and not n_missing:
        kind, reason = "constant", f"every row has {first[0]}"
    elif not n_missing:
        reason = _reason_for_identifier(name, present, n_distinct)
        kind = "identifier" if reason else "number"
    return ColumnProfile(name, kind, n_missing, n_distinct, first[:5], reason)


def _reason_for_identifier(name: str, present: Floats, n_distinct: int) -> str:
    """Why numbers are row identifiers; empty if they are not."""
    if n_distinct < present.size or n_distinct < 3 or not np.isfinite(present).all():
        return ""
    if not bool((present == np.floor(present)).all()):
        return ""
    if present.max() - present.min() == present.size - 1:
        return "it numbers the rows"
    if _NAME_OF_IDENTIFIER.search(name.strip()):
        return "its name suggests it, and every row has a unique number"
    return ""


def _decide(
    name: str, series: Any, codes: Integers, values: list[Any], n_present: int
) -> tuple[Kind, str, str | None]:
    import pandas
    from pandas.api import types

    if not values or all(isinstance(value, str) and not value.strip() for value in values):
        return "empty", "it has no values", None
    if any(isinstance(value, bytes | complex | tuple | frozenset | dict) for value in values[:50]):
        return "nested", "its cells are neither numbers nor strings", None
    if len(values) == 1 and n_present == len(series):
        return "constant", f"every row has {as_text(values[0])[:60]!r}", None
    if types.is_bool_dtype(series.dtype) or all(isinstance(v, bool | np.bool_) for v in values):
        return "boolean", "", None
    if is_date_type(series):
        return "date", "", None
    if getattr(series.dtype, "kind", "O") == "m":
        return "number", "a duration, in days", None
    coded = isinstance(series.dtype, pandas.CategoricalDtype)
    if coded and is_number_type(series.cat.categories.to_series()):
        return "category", "declared as categorical", None
    form = date_format(values)
    if form is not None:
        return "date", "" if form == "ISO8601" else f"format {form}", form
    return _kind_of_strings(name, codes, values, n_present)


def _kind_of_strings(
    name: str, codes: Integers, values: list[Any], n_present: int
) -> tuple[Kind, str, str | None]:
    some = values[:: max(1, len(values) // 2000)]
    if sum(number_in(value) is not None for value in some) > len(some) / 2:
        found, others = numbers_among(codes, values)
        n_numbers = n_present - sum(others.values())
        commas = comma_style(values)
        if commas == "both":
            others = {as_text(value): 1 for value in values}
            n_numbers = 0
        if not others:
            why = _reason_for_identifier(name, found[codes >= 0], len(values))
            how = {"thousands": "commas separate thousands", "decimals": "commas separate decimals"}
            return ("identifier" if why else "number"), why or how.get(commas, ""), None
        if n_numbers >= SHARE_OF_NUMBERS * n_present and len(values) - len(others) > 20:
            words = some_of((repr(short(other, 40)) for other in others), 4)
            return "number", f"{words} treated as missing", None
    share = len(values) / n_present
    if n_present > 20 and _is_text(some, share):
        return "text", f"long strings, {share:.0%} of them distinct", None
    if share >= SHARE_OF_NAMES and n_present > 20:
        return "identifier", f"{share:.0%} of its values are distinct", None
    if share > 0.5 and n_present > 20 and _NAME_OF_IDENTIFIER.search(name.strip()):
        return "identifier", "its name suggests it, and most of its values are distinct", None
    return "category", "", None


def _is_text(values: list[Any], share: float) -> bool:
    texts = [as_text(value) for value in values]
    n_words = float(np.mean([len(text.split()) for text in texts]))
    n_letters = float(np.mean([len(text) for text in texts]))
    return share > 0.5 and (n_words >= WORDS_OF_TEXT or n_letters > 100)
