"""The columns of a table: numbers, or categories as codes.

This file reads NumPy arrays and Python objects; :mod:`orfeon.data.frames` reads data frames.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class NumberColumn:
    label: str
    values: npt.NDArray[Any]
    missing: npt.NDArray[np.bool_] | None = None

    @property
    def is_categorical(self) -> bool:
        return False

    @property
    def has_order(self) -> bool:
        return False

    def numbers(self) -> npt.NDArray[np.float64]:
        """The column as floats, NaN where missing."""
        with np.errstate(over="ignore"):  # too large: infinite
            numbers = self.values.astype(np.float64, copy=self.missing is not None)
        if self.missing is not None:
            numbers[self.missing] = np.nan
        return numbers

    def coded(self) -> tuple[npt.NDArray[np.integer[Any]], list[Any]]:
        """Code of each value (-1: missing), and the distinct values."""
        values = self.values
        if values.dtype.kind == "f":
            values = self.numbers()
        distinct, codes = np.unique(values, return_inverse=True)
        codes = codes.reshape(-1).astype(np.int64)
        if values.dtype.kind == "f":
            codes[np.isnan(values)] = -1
            if np.isinf(distinct).any():
                raise infinity_error(self.label)
        elif self.missing is not None:
            codes[self.missing] = -1
        return codes, distinct.tolist()


@dataclass(frozen=True)
class CodedColumn:
    """A column of categories, stored as positions in a list of distinct values."""

    label: str
    codes: npt.NDArray[np.integer[Any]]
    values: list[Any]
    #: Whether the values are in an order that matters, the lowest first.
    has_order: bool = False

    def __post_init__(self) -> None:
        plain = self.values
        if set(map(type, plain)) != {str}:
            plain = [_plain_category(value, self.label) for value in plain]
        object.__setattr__(self, "values", plain)

    @property
    def is_categorical(self) -> bool:
        return not self.has_order

    def numbers(self) -> npt.NDArray[np.float64]:
        """The column as floats, NaN where missing; strings are an error."""
        strings = [value for value in self.values if isinstance(value, str)]
        if strings:
            raise ValueError(
                f"{self.label} is ordered but holds strings (could not convert string to float: "
                f"{strings[0]!r}). Only numbers are allowed in an ordered feature: convert it, "
                "or make it categorical with categorical_features."
            )
        known: npt.NDArray[np.float64] = np.array([*self.values, np.nan], dtype=np.float64)
        return np.take(known, self.codes)

    def coded(self) -> tuple[npt.NDArray[np.integer[Any]], list[Any]]:
        """Codes, and the values they stand for."""
        return self.codes, self.values


Column = NumberColumn | CodedColumn


def read_array(values: npt.NDArray[Any], label: str) -> Column:
    kind = values.dtype.kind
    if kind in "biuf":
        return NumberColumn(label, values)
    if kind in "OUT":
        return read_objects(values.tolist(), label)
    raise dtype_error(label, values.dtype, complex_numbers=kind == "c", dates=kind in "mM")


def read_objects(items: list[Any], label: str) -> Column:
    """Read a column of Python objects: numbers if all are, otherwise categories."""
    types = set(map(type, items)) - {type(None)}
    for kind in types:
        if issubclass(kind, complex | np.complexfloating):
            raise dtype_error(label, kind.__name__, complex_numbers=True)
        if not _is_value(kind) and kind.__name__ not in _MISSING_TYPES:
            raise _object_error(kind, label)
    if any(issubclass(kind, str | bool | np.bool_) for kind in types):
        return _code_objects(items, types, label)
    return _number_objects(items, types, label)


def _number_objects(items: list[Any], types: set[type], label: str) -> NumberColumn:
    numbers = {kind for kind in types if kind.__name__ not in _MISSING_TYPES}
    if numbers and all(issubclass(kind, Integral) for kind in numbers):
        missing = np.fromiter(map(_is_missing, items), dtype=bool, count=len(items))
        known = [0 if gone else x for x, gone in zip(items, missing, strict=True)]
        try:
            return NumberColumn(label, np.array(known, dtype=np.int64), missing)
        except OverflowError:
            pass  # too large for 64 bits, perhaps not for a float
    if len(numbers) < len(types):
        items = [None if _is_missing(x) else x for x in items]
    try:
        return NumberColumn(label, np.array(items, dtype=np.float64))  # None becomes NaN
    except OverflowError as error:
        raise infinity_error(label) from error


def _code_objects(items: list[Any], types: set[type], label: str) -> CodedColumn:
    keys = items
    booleans = {kind for kind in types if issubclass(kind, bool | np.bool_)}
    if booleans and len(types) > len(booleans):  # in Python True == 1
        keys = [(bool, x) if isinstance(x, bool | np.bool_) else x for x in items]
    code: dict[Any, int] = {}
    values: list[Any] = []
    for key in dict.fromkeys(keys):
        value = key[1] if isinstance(key, tuple) else key
        if _is_missing(value):
            code[key] = -1
        else:
            code[key] = len(values)
            values.append(value)
    codes = np.fromiter(map(code.__getitem__, keys), dtype=np.int64, count=len(keys))
    return CodedColumn(label, codes, values)


#: Types of pandas' missing values, by name so that pandas is not imported.
_MISSING_TYPES = ("NAType", "NaTType")


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in _MISSING_TYPES or bool(value != value)


def _is_value(kind: type) -> bool:
    return issubclass(kind, str | bool | np.bool_ | Real | Decimal)


def _plain_category(value: Any, label: str) -> str | bool | int | float:
    """A category as a plain Python object, which a saved model can hold."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if not isinstance(value, Real | Decimal):
        raise _object_error(type(value), label)
    try:
        number = float(value)
    except OverflowError as error:
        raise infinity_error(label) from error
    if math.isinf(number):
        raise infinity_error(label)
    return int(value) if isinstance(value, Integral) else number


def _object_error(kind: type, label: str) -> TypeError:
    return TypeError(
        f"{label} holds a value of type {kind.__name__!r}: the argument must be a string, a number "
        "or a boolean. Convert such values, for instance with str()."
    )


def dtype_error(
    label: str, dtype: Any, *, complex_numbers: bool = False, dates: bool = False
) -> ValueError | TypeError:
    """The error for a column that is neither numbers nor categories."""
    if complex_numbers:
        return ValueError(f"Complex data not supported: {label} has dtype {dtype}.")
    if dates:
        return TypeError(
            f"{label} holds dates or durations (dtype {dtype}): turn them into numbers first, for "
            "instance the days since a date."
        )
    return TypeError(f"{label} has dtype {dtype}; numbers, strings and booleans are allowed.")


def infinity_error(where: str) -> ValueError:
    """The error for an infinite value."""
    return ValueError(
        f"Input X contains infinity or a value too large for dtype('float64') in {where}. Finite "
        "numbers and NaN (missing) are allowed."
    )
