"""What the cells of a column say: as numbers, as words, as days."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

#: Formats of dates, tried in this order; the first that reads every cell is the column's.
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
    """Whether a column's type is one of real numbers (booleans are not).

    Parameters
    ----------
    series : pandas.Series
        The column.

    Returns
    -------
    bool
        Whether it is.

    Examples
    --------
    >>> import pandas
    >>> is_number_type(pandas.Series([1, 2])), is_number_type(pandas.Series([True]))
    (True, False)
    """
    from pandas.api import types

    dtype = series.dtype
    return bool(
        types.is_numeric_dtype(dtype)
        and not types.is_bool_dtype(dtype)
        and not types.is_complex_dtype(dtype)
    )


def is_date_type(series: Any) -> bool:
    """Whether a column's type is one of dates or of months, quarters and the like.

    Parameters
    ----------
    series : pandas.Series
        The column.

    Returns
    -------
    bool
        Whether it is.

    Examples
    --------
    >>> import pandas
    >>> is_date_type(pandas.to_datetime(pandas.Series(["2024-02-29"])))
    True
    """
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
    """A value as the word that stands for it; whole numbers have no decimals.

    Parameters
    ----------
    value : object
        Any plain value.

    Returns
    -------
    str
        The word, without blanks around it.

    Examples
    --------
    >>> as_text(" blue "), as_text(3.0), as_text(True), as_text(0.5)
    ('blue', '3', 'True', '0.5')
    """
    if isinstance(value, str):
        return _writable(value.strip())
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating | Decimal):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return _writable(str(value))


def _writable(word: str) -> str:
    """A word that can be written as UTF-8: halves of letters, of broken files, cannot."""
    if word.isascii():
        return word
    try:
        word.encode()
    except UnicodeEncodeError:
        return word.encode("utf-8", "replace").decode()
    return word


def words(series: Any) -> tuple[Codes, list[str]]:
    """The different words of a column, and which one each row has.

    Parameters
    ----------
    series : pandas.Series
        The column; its values are plain (no lists or tables).

    Returns
    -------
    codes : ndarray of shape (n_rows,)
        Position of each row's word, -1 where it is missing or empty.
    words : list of str
        The different words, in the order in which they come.

    Examples
    --------
    >>> import pandas
    >>> codes, found = words(pandas.Series(["b", "a", None, "b "]))
    >>> codes, found
    (array([ 0,  1, -1,  0]), ['b', 'a'])
    """
    codes, values = distinct(series)
    position: dict[str, int] = {}
    place = np.full(len(values) + 1, -1, dtype=np.int64)  # the code -1 takes the last
    for i, value in enumerate(values):
        word = as_text(value)
        if word:
            place[i] = position.setdefault(word, len(position))
    return place[codes], list(position)


def distinct(series: Any) -> tuple[Codes, list[Any]]:
    """The different values of a column, and which one each row has.

    Parameters
    ----------
    series : pandas.Series
        The column.

    Returns
    -------
    codes : ndarray of shape (n_rows,)
        Position of each row's value, -1 where it is missing.
    values : list
        The different values that occur, in the order in which they come.

    Examples
    --------
    >>> import pandas
    >>> codes, values = distinct(pandas.Series([2.5, None, 1.0, 2.5]))
    >>> codes, values
    (array([ 0, -1,  1,  0]), [2.5, 1.0])
    """
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
    """The numbers of a column, and the words among them that are none.

    Parameters
    ----------
    series : pandas.Series
        The column.

    Returns
    -------
    numbers : ndarray of shape (n_rows,)
        NaN where the cell is missing, is no number, or is too large for one.
    others : dict of str to int
        Words that are no numbers, and how often each occurs.

    Examples
    --------
    >>> import pandas
    >>> numbers(pandas.Series(["1.5", "unknown", "2"]))
    (array([1.5, nan, 2. ]), {'unknown': 1})
    """
    if is_number_type(series):
        with np.errstate(over="ignore"):
            return series.to_numpy(dtype=np.float64, na_value=np.nan), {}
    if getattr(series.dtype, "kind", "O") == "m":
        days = series.to_numpy(dtype="timedelta64[ns]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64) / _DAY_OF_NANOSECONDS), {}
    return numbers_among(*distinct(series))


def numbers_among(codes: Codes, values: list[Any]) -> tuple[Floats, dict[str, int]]:
    """The numbers of a column of which the different values are known.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        Position of each row's value, -1 where it is missing.
    values : list
        The different values.

    Returns
    -------
    numbers : ndarray of shape (n_rows,)
        As of :func:`numbers`.
    others : dict of str to int
        As of :func:`numbers`.

    Examples
    --------
    >>> numbers_among(np.array([0, 1, -1]), ["7", "none"])
    (array([ 7., nan, nan]), {'none': 1})
    """
    found = [number_in(value) for value in values]
    table = np.array([*(np.nan if x is None else x for x in found), np.nan])
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    others: dict[str, int] = {}
    for value, number, count in zip(values, found, counts, strict=True):
        if number is None and as_text(value):
            others[as_text(value)] = others.get(as_text(value), 0) + int(count)
    return table[codes], others


def number_in(value: Any) -> float | None:
    """The number that a value is or spells.

    Parameters
    ----------
    value : object
        A number or a word. Words may have a currency or a percent sign, and commas between
        thousands, or one comma for the decimal point.

    Returns
    -------
    float or None
        None when it is no number; infinite when it is too large.

    Examples
    --------
    >>> [number_in(word) for word in (" 1e3 ", "12,5", "1,234,567.5", "$ 3", "45 %")]
    [1000.0, 12.5, 1234567.5, 3.0, 45.0]
    >>> [number_in(word) for word in ("1_000", "nan", "1,2,3")]
    [None, None, None]
    """
    if isinstance(value, str):
        # Python reads 1_000 and words such as "nan" and "infinity": they are no measurements.
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
    """What commas mean in words that are numbers.

    Parameters
    ----------
    values : list
        Different values of a column.

    Returns
    -------
    str
        "thousands", "decimals", "both" when some words allow only one and some only the other,
        or "" when there are no commas.

    Examples
    --------
    >>> comma_style(["1,200", "900"]), comma_style(["1,25"]), comma_style(["1,200", "1,25"])
    ('thousands', 'decimals', 'both')
    """
    words = [value.strip().strip("$€£¥%").strip() for value in values if isinstance(value, str)]
    with_commas = [word for word in words if "," in word]
    styles = {bool(_THOUSANDS.fullmatch(word)) for word in with_commas}
    if len(styles) == 2:
        return "both"
    return "" if not styles else "thousands" if styles.pop() else "decimals"


def date_format(values: list[Any]) -> str | None:
    """The format of dates in which all words are written.

    Parameters
    ----------
    values : list
        Different values of a column.

    Returns
    -------
    str or None
        One of ``DATE_FORMATS``, or None when they are no dates.

    Examples
    --------
    >>> date_format(["2024-02-29", "2024-03-01T12:00:00"]), date_format(["29/02/2024"])
    ('ISO8601', '%d/%m/%Y')
    >>> date_format(["12", "13"]) is None
    True
    """
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


def _could_be_a_date(word: str) -> bool:
    """Whether a word has a year, a month and a day with something between them."""
    n_digits = sum(map(str.isdigit, word))
    return 8 <= len(word) <= 40 and n_digits >= 5 and not word.replace(".", "", 1).isdigit()


def moments(series: Any, form: str | None) -> Any:
    """The moments in time of a column of dates.

    Parameters
    ----------
    series : pandas.Series
        Dates, or words of dates.
    form : str or None
        Their format, when they are words.

    Returns
    -------
    pandas.Series
        Moments without time zone (those with one are in UTC); NaT where there is no date.

    Examples
    --------
    >>> import pandas
    >>> moments(pandas.Series(["29.02.2024", "?"]), "%d.%m.%Y").dt.day.tolist()
    [29.0, nan]
    """
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
