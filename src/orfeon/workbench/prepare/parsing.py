"""Parse the cells of a column as numbers, strings or dates."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from orfeon.utils.types import Floats, Integers

#: Date formats in the order in which they are tried; the first that parses every cell is used.
DATE_FORMATS = (
    "ISO8601",
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%d/%m/%Y",
    "%d/%m/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
_DAY_OF_NANOSECONDS = 86_400 * 10**9


def is_number_type(series: Any) -> bool:
    """Whether a column holds real numbers; booleans are none."""
    from pandas.api import types

    dtype = series.dtype
    return bool(
        types.is_numeric_dtype(dtype)
        and not types.is_bool_dtype(dtype)
        and not types.is_complex_dtype(dtype)
    )


def is_date_type(series: Any) -> bool:
    """Whether a column holds dates or periods."""
    import pandas

    dtype = series.dtype
    if isinstance(dtype, pandas.PeriodDtype) or getattr(dtype, "kind", "O") == "M":
        return True
    values = series.dropna().head(20)
    return series.dtype == object and len(values) > 0 and all(map(_is_date, values))


def _is_date(value: Any) -> bool:
    import datetime

    return isinstance(value, datetime.date | np.datetime64)


def as_text(value: Any) -> str:
    """A value as a string; integers have no decimals."""
    if isinstance(value, str):
        return _writable(value.strip())
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating | Decimal):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return _writable(str(value))


def _writable(text: str) -> str:
    """A string that UTF-8 can encode: lone surrogates, from broken files, are replaced."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def strings(series: Any) -> tuple[Integers, list[str]]:
    """The code of each row, -1 if it is missing, and the distinct strings of a column."""
    codes, values = distinct(series)
    position: dict[str, int] = {}
    place = np.full(len(values) + 1, -1, dtype=np.int64)  # the code -1 indexes the last entry
    for i, value in enumerate(values):
        text = as_text(value)
        if text:
            place[i] = position.setdefault(text, len(position))
    return place[codes], list(position)


def distinct(series: Any) -> tuple[Integers, list[Any]]:
    """The code of each row, -1 if it is missing, and the distinct values of a column."""
    import pandas

    if isinstance(series.dtype, pandas.CategoricalDtype):
        inner, used = pandas.factorize(series.cat.codes.to_numpy())
        categories = series.cat.categories.tolist()
        missing = np.flatnonzero(used == -1)
        values = [categories[code] for code in used if code >= 0]
        codes = inner.astype(np.int64)
        if missing.size:
            codes = np.where(codes == missing[0], -1, codes - (codes > missing[0]))
        return codes, values
    codes, found = pandas.factorize(series)
    return codes.astype(np.int64, copy=False), found.tolist()


def numbers(series: Any) -> tuple[Floats, dict[str, int]]:
    """The numbers of a column, and counts of the strings that are not numbers."""
    if is_number_type(series):
        with np.errstate(over="ignore"):
            return series.to_numpy(dtype=np.float64, na_value=np.nan), {}
    if getattr(series.dtype, "kind", "O") == "m":
        days = series.to_numpy(dtype="timedelta64[ns]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64) / _DAY_OF_NANOSECONDS), {}
    return numbers_among(*distinct(series))


def numbers_among(codes: Integers, values: list[Any]) -> tuple[Floats, dict[str, int]]:
    """The numbers of a column given by codes and distinct values."""
    found = [number_in(value) for value in values]
    table = np.array([*(np.nan if x is None else x for x in found), np.nan])
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    others: dict[str, int] = {}
    for value, number, count in zip(values, found, counts, strict=True):
        if number is None and as_text(value):
            others[as_text(value)] = others.get(as_text(value), 0) + int(count)
    return table[codes], others


def number_in(value: Any) -> float | None:
    """The number that a value is or spells, None if it is not a number."""
    if isinstance(value, str):
        # float() would also parse "1_000", "nan" and "infinity".
        if "_" in value or not any(map(str.isdigit, value)):
            return None
        value = value.strip().strip("$€£¥%").strip()
        if "," in value:
            if _THOUSANDS.fullmatch(value):
                value = value.replace(",", "")
            elif _DECIMAL_COMMA.fullmatch(value):
                value = value.replace(",", ".")
    elif not isinstance(value, Real | Decimal | np.bool_):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except ValueError:
        return None


def comma_style(values: list[Any]) -> str:
    """What commas separate in strings of numbers: "thousands", "decimals", "both" or ""."""
    texts = [value.strip().strip("$€£¥%").strip() for value in values if isinstance(value, str)]
    styles = {bool(_THOUSANDS.fullmatch(text)) for text in texts if "," in text}
    if len(styles) == 2:
        return "both"
    return "" if not styles else "thousands" if styles.pop() else "decimals"


def date_format(values: list[Any]) -> str | None:
    """The date format that parses all strings, None if there is none."""
    import pandas

    some = values[:: max(1, len(values) // 500)]
    few = [value.strip() for value in some if isinstance(value, str) and value.strip()]
    if not few or len(few) < len(some) or not all(map(_could_be_a_date, few)):
        return None
    sample = pandas.Series(few, dtype=object)
    for form in DATE_FORMATS:
        try:
            parsed = pandas.to_datetime(sample, format=form, errors="coerce", utc=True)
        except (ValueError, OverflowError):
            continue
        if parsed.notna().all():
            return form
    return None


def _could_be_a_date(text: str) -> bool:
    """Whether a string has enough digits for a date, and is not a number."""
    n_digits = sum(map(str.isdigit, text))
    return 8 <= len(text) <= 40 and n_digits >= 5 and not text.replace(".", "", 1).isdigit()


def timestamps(series: Any, form: str | None) -> Any:
    """The timestamps of a column of dates, without a time zone; NaT where parsing fails."""
    import pandas

    if isinstance(series.dtype, pandas.PeriodDtype):
        series = series.dt.to_timestamp()
    if isinstance(series.dtype, pandas.CategoricalDtype):
        series = series.astype(object)
    if getattr(series.dtype, "kind", "O") == "M":
        form = None
    try:
        parsed = pandas.to_datetime(series, format=form, errors="coerce", utc=True)
    except (ValueError, OverflowError, TypeError):
        parsed = pandas.Series(pandas.NaT, index=series.index).dt.tz_localize("UTC")
    return parsed.dt.tz_localize(None)
