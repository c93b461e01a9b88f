"""Readers that turn cells of a request into numbers, one for each kind of column.

A cell is a JSON value: a number, a string, true, false or null. The result depends on the cell
alone, never on other rows.
"""

from __future__ import annotations

import datetime
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from orfeon.datasets.dialect import MISSING_WORDS
from orfeon.utils.types import Floats
from orfeon.workbench.prepare.columns import Category, InputColumn, date_parts
from orfeon.workbench.prepare.parsing import DATE_FORMATS, as_text, number_in, timestamps
from orfeon.workbench.serve.errors import RequestError, shown

_LARGEST = float(np.finfo(np.float64).max)
_MISSING = frozenset(("", *MISSING_WORDS))
_BOOLEANS = {"true": True, "false": False}
_LETTERS = {
    "%Y": "YYYY", "%m": "MM", "%d": "DD", "%H": "hh", "%M": "mm", "%S": "ss",
    "%b": "Mon", "%B": "Month",
}  # fmt: skip
#: Days from 1970 to the last year of four digits, less a margin.
_FAR_DAYS = 350_000
#: Characters of a date, including blanks around it.
_LONGEST_DATE = 100
_PLAIN_NUMBERS = frozenset((int, float, type(None)))
_ANYTHING = ["string", "number", "boolean", "null"]


def wrong_value(name: str, row: int, value: Any, needed: str) -> RequestError:
    """The error of a cell that its column does not allow."""
    return RequestError(
        422,
        "wrong_value",
        f"Row {row}, column {shown(name)}: {shown(value)} is not allowed; it needs {needed}.",
        row=row,
        column=name,
    )


class ColumnReader(ABC):
    """Reads the cells of a column."""

    def __init__(self, column: InputColumn) -> None:
        self.column = column
        self.name = column.name
        self.kind = column.kind
        #: Number of features that the column becomes.
        self.width = len(column.features)

    @abstractmethod
    def read(self, cell: Any, row: int) -> float | tuple[float, ...]:
        """The number of a cell, NaN if it is missing; several numbers for a date."""

    def read_all(self, cells: Sequence[Any]) -> list[Floats]:
        """One array per feature."""
        return [np.array([self.read(cell, row) for row, cell in enumerate(cells)], np.float64)]

    def cell(self, word: str, row: int) -> Any:
        """The cell of a string in CSV."""
        word = word.strip()
        return None if word in _MISSING else word

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """The JSON schema of a cell."""

    def facts(self) -> dict[str, Any]:
        """The column as ``/model`` describes it."""
        return {"name": self.name, "kind": self.kind}

    def example(self, middle: float) -> Any:
        """A cell for examples; ``middle`` is a typical number, or NaN."""
        return 0.0 if math.isnan(middle) else middle


class NumberReader(ColumnReader):
    """Reads finite numbers."""

    def read(self, cell: Any, row: int) -> float:
        kind = type(cell)
        if kind is float and -_LARGEST <= cell <= _LARGEST:
            return float(cell)
        if cell is None:
            return math.nan
        if kind is int:
            try:
                return float(cell)
            except OverflowError:
                pass
        raise wrong_value(self.name, row, cell, "a finite number, or null where it is missing")

    def read_all(self, cells: Sequence[Any]) -> list[Floats]:
        if _PLAIN_NUMBERS.issuperset(map(type, cells)):
            try:
                numbers = np.array(cells, dtype=np.float64)
            except OverflowError:
                return super().read_all(cells)
            if not np.isinf(numbers).any():
                return [numbers]
        return super().read_all(cells)

    def cell(self, word: str, row: int) -> float | None:
        word = word.strip()
        if word in _MISSING:
            return None
        number = number_in(word)
        if number is None:
            raise wrong_value(self.name, row, word, "a number, or nothing where it is missing")
        return number

    def schema(self) -> dict[str, Any]:
        return {"type": ["number", "null"], "minimum": -_LARGEST, "maximum": _LARGEST}


class CategoryReader(ColumnReader):
    """Reads categories as they were passed to the model: strings, numbers and booleans."""

    def __init__(self, column: InputColumn) -> None:
        super().__init__(column)
        others = {isinstance(each, bool) for each in column.categories if not isinstance(each, str)}
        self._is_strict = len(others) == 2
        self._codes = {self._key(each): float(i) for i, each in enumerate(column.categories)}

    def _key(self, value: Category) -> Any:
        """In Python True equals 1; so it does for the model, unless training saw both."""
        return (bool, value) if self._is_strict and isinstance(value, bool) else value

    def read(self, cell: Any, row: int) -> float:
        if cell is None:
            return math.nan
        self.check(cell, row)
        return self._codes.get(self._key(cell), math.nan)

    def check(self, cell: Any, row: int) -> None:
        """Reject what cannot be a category."""
        is_category = isinstance(cell, str | bool | int | float)
        if not is_category or (isinstance(cell, float) and not math.isfinite(cell)):
            needed = "a string, a number, true, false, or null where it is missing"
            raise wrong_value(self.name, row, cell, needed)

    def cell(self, word: str, row: int) -> Any:
        word = word.strip()
        return word if word in self._codes else _value(word, infinite=False)

    def schema(self) -> dict[str, Any]:
        """A string, a number, a boolean or null; unknown categories count as missing."""
        known = self.facts()["categories"]
        more = ", ..." if len(known) > 20 else ""
        return {
            "type": _ANYTHING,
            "minimum": -_LARGEST,
            "maximum": _LARGEST,
            "description": f"Categories: {', '.join(map(str, known[:20]))}{more}. "
            "Others count as missing.",
        }

    def facts(self) -> dict[str, Any]:
        """With the categories, except the one for all rare values."""
        named = self.column.categories[:-1] if self.column.has_other else self.column.categories
        return {**super().facts(), "categories": list(named)}

    def example(self, middle: float) -> Any:
        return next(iter(self.facts()["categories"]), None)


class WordReader(CategoryReader):
    """Reads categories of a prepared table, in which every category is a string."""

    def __init__(self, column: InputColumn, codes: Sequence[float]) -> None:
        super().__init__(column)
        self._codes = dict(zip(column.categories, codes, strict=True))
        self._other = codes[-1] if column.has_other else math.nan

    def read(self, cell: Any, row: int) -> float:
        if cell is None:
            return math.nan
        if type(cell) is str:
            found = self._codes.get(cell)
            if found is not None:
                return found
        self.check(cell, row)
        word = as_text(cell)
        return self._codes.get(word, self._other) if word else math.nan

    def cell(self, word: str, row: int) -> Any:
        return ColumnReader.cell(self, word, row)


class DateReader(ColumnReader):
    """Reads dates, of which the model takes parts."""

    def __init__(self, column: InputColumn) -> None:
        super().__init__(column)
        form = column.date_format
        self.format = form if form in DATE_FORMATS and form != "ISO8601" else None

    @property
    def written(self) -> str:
        """The format of dates, for people."""
        if self.format is None:
            return "YYYY-MM-DD or YYYY-MM-DDThh:mm:ss"
        text = self.format
        for sign, letters in _LETTERS.items():
            text = text.replace(sign, letters)
        return text

    @property
    def _needed(self) -> str:
        return f"a date in the format {self.written}, or null where it is missing"

    def read(self, cell: Any, row: int) -> tuple[float, ...]:
        return tuple(float(part[0]) for part in self._read([cell], row))

    def read_all(self, cells: Sequence[Any]) -> list[Floats]:
        return self._read(cells, 0)

    def _read(self, cells: Sequence[Any], first: int) -> list[Floats]:
        import pandas

        for row, cell in enumerate(cells, first):
            if cell is not None and (type(cell) is not str or len(cell) > _LONGEST_DATE):
                raise wrong_value(self.name, row, cell, self._needed)
        words = pandas.Series([cell.strip() if cell else None for cell in cells], dtype=object)
        when = timestamps(words, self.column.date_format or "ISO8601")
        lost = np.flatnonzero(when.isna().to_numpy() & words.notna().to_numpy())
        if len(lost):
            raise wrong_value(self.name, first + int(lost[0]), cells[lost[0]], self._needed)
        parts = date_parts(when)
        return [parts[name] for name in self.column.parts]

    def schema(self) -> dict[str, Any]:
        return {"type": ["string", "null"], "description": f"It is {self._needed}."}

    def facts(self) -> dict[str, Any]:
        form = self.format or "ISO 8601"
        return {**super().facts(), "format": form, "written": self.written}

    def example(self, middle: float) -> str:
        """A day; ``middle`` counts days since 1970 where the model takes them first."""
        day = datetime.date(2024, 2, 29)
        if self.column.parts[:1] == ("days",) and abs(middle) < _FAR_DAYS:
            day = datetime.date(1970, 1, 1) + datetime.timedelta(days=int(middle))
        return day.strftime(self.format) if self.format else day.isoformat()


class AnyReader(ColumnReader):
    """Passes cells unchanged to a model without a schema."""

    def read(self, cell: Any, row: int) -> float:
        raise NotImplementedError("columns without a schema are not encoded")

    def check(self, cells: Sequence[Any]) -> None:
        """Reject what is not a string, a finite number, a boolean or missing."""
        for row, cell in enumerate(cells):
            is_wrong = cell is not None and not isinstance(cell, str | bool | int | float)
            is_number = isinstance(cell, int | float)
            if is_wrong or (is_number and not -_LARGEST <= cell <= _LARGEST):
                raise wrong_value(
                    self.name, row, cell, "a finite number, a string, true, false or null"
                )

    def cell(self, word: str, row: int) -> Any:
        return _value(word.strip(), infinite=True)

    def schema(self) -> dict[str, Any]:
        return {"type": _ANYTHING, "minimum": -_LARGEST, "maximum": _LARGEST}


def _value(word: str, *, infinite: bool) -> Any:
    """The missing value, boolean or number that a string spells, else the string."""
    if word in _MISSING:
        return None
    if word.lower() in _BOOLEANS:
        return _BOOLEANS[word.lower()]
    number = number_in(word)
    return word if number is None or (math.isinf(number) and not infinite) else number
