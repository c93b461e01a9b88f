"""The columns that a model takes, and how a cell of a request becomes a number.

A cell is what a JSON document can hold: a number, a word, true, false or null. What a cell becomes
depends on nothing but the cell, never on other rows.
"""

from __future__ import annotations

import datetime
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from orfeon.datasets.dialect import MISSING_WORDS
from orfeon.utils.types import Floats
from orfeon.workbench.prepare.columns import ColumnPlan, date_parts
from orfeon.workbench.prepare.parsing import DATE_FORMATS, as_text, moments, number_in
from orfeon.workbench.serve.errors import RequestError, shown

Category = str | bool | int | float

_LARGEST = float(np.finfo(np.float64).max)
_MISSING = frozenset(("", *MISSING_WORDS))
_TRUTHS = {"true": True, "false": False}
_LETTERS = {
    "%Y": "YYYY", "%m": "MM", "%d": "DD", "%H": "hh", "%M": "mm", "%S": "ss",
    "%b": "Mon", "%B": "Month",
}  # fmt: skip
#: Days from 1970 to years that are written with four digits.
_FAR_DAYS = 350_000
#: Letters of a date, blanks around it included.
_LONGEST_DATE = 100
_PLAIN_NUMBERS = frozenset((int, float, type(None)))


def wrong_value(name: str, row: int, value: Any, needed: str) -> RequestError:
    """The error of a cell that is not what its column needs."""
    return RequestError(
        422,
        "wrong_value",
        f"Row {row}, column {shown(name)}: {shown(value)} is not allowed; it needs {needed}.",
        row=row,
        column=name,
    )


class InputColumn(ABC):
    """A column that requests must have."""

    #: What it holds: "number", "category", "date" or "any".
    kind: ClassVar[str]
    #: How many features of the model it becomes.
    width = 1

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def read(self, cell: Any, row: int) -> float | tuple[float, ...]:
        """The number that a cell becomes, NaN where it is missing; several for dates."""

    def read_all(self, cells: Sequence[Any]) -> list[Floats]:
        """An array for each feature that the column becomes."""
        return [np.array([self.read(cell, row) for row, cell in enumerate(cells)], np.float64)]

    def cell(self, word: str, row: int) -> Any:
        """The cell that a word in a text file stands for."""
        word = word.strip()
        return None if word in _MISSING else word

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """The JSON schema of a cell."""

    def facts(self) -> dict[str, Any]:
        """What clients are told of the column."""
        return {"name": self.name, "kind": self.kind}

    def example(self, middle: float) -> Any:
        """A cell to show what is meant; ``middle`` is a usual number, or NaN."""
        return 0.0 if math.isnan(middle) else middle


class NumberInput(InputColumn):
    """A column of finite numbers."""

    kind = "number"
    _NEEDED = "a finite number, or null where it is missing"

    def read(self, cell: Any, row: int) -> float:
        """The number itself."""
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
        raise wrong_value(self.name, row, cell, self._NEEDED)

    def read_all(self, cells: Sequence[Any]) -> list[Floats]:
        """The numbers."""
        if _PLAIN_NUMBERS.issuperset(map(type, cells)):
            try:
                numbers = np.array(cells, dtype=np.float64)
            except OverflowError:
                return super().read_all(cells)
            if not np.isinf(numbers).any():
                return [numbers]
        return super().read_all(cells)

    def cell(self, word: str, row: int) -> float | None:
        """The number that a word spells."""
        word = word.strip()
        if word in _MISSING:
            return None
        number = number_in(word)
        if number is None:
            raise wrong_value(self.name, row, word, "a number, or nothing where it is missing")
        return number

    def schema(self) -> dict[str, Any]:
        """A number or null."""
        return {"type": ["number", "null"], "minimum": -_LARGEST, "maximum": _LARGEST}


class CategoryInput(InputColumn):
    """A column of categories, of which some are known to the model."""

    kind = "category"
    _NEEDED = "a word, a number, true, false, or null where it is missing"

    def __init__(self, name: str, categories: Sequence[Category]) -> None:
        super().__init__(name)
        self.categories = tuple(categories)

    def check(self, cell: Any, row: int) -> None:
        """Refuse what is no category."""
        if not isinstance(cell, str | bool | int | float):
            raise wrong_value(self.name, row, cell, self._NEEDED)
        if isinstance(cell, float) and not math.isfinite(cell):
            raise wrong_value(self.name, row, cell, self._NEEDED)

    def schema(self) -> dict[str, Any]:
        """A word, a number, a boolean or null; others than those known count as missing."""
        known = ", ".join(str(category) for category in self.categories[:20])
        more = ", ..." if len(self.categories) > 20 else ""
        return {
            "type": ["string", "number", "boolean", "null"],
            "minimum": -_LARGEST,
            "maximum": _LARGEST,
            "description": f"Categories: {known}{more}. Others count as missing.",
        }

    def example(self, middle: float) -> Any:
        """The first category."""
        return self.categories[0] if self.categories else None

    def facts(self) -> dict[str, Any]:
        """With the categories."""
        return {**super().facts(), "categories": list(self.categories)}


class WordInput(CategoryInput):
    """Categories of a table that was prepared: all of them are words, and so is every cell."""

    def __init__(self, plan: ColumnPlan, codes: Sequence[float]) -> None:
        named = plan.levels[:-1] if plan.has_other else plan.levels
        super().__init__(plan.name, named)
        self._codes = dict(zip(plan.levels, codes, strict=True))
        self._others = codes[-1] if plan.has_other else math.nan

    def read(self, cell: Any, row: int) -> float:
        """The code of the word."""
        if cell is None:
            return math.nan
        if type(cell) is str:
            found = self._codes.get(cell)
            if found is not None:
                return found
        self.check(cell, row)
        word = as_text(cell)
        return self._codes.get(word, self._others) if word else math.nan


class ValueInput(CategoryInput):
    """Categories as they were given to the model: words, numbers and booleans."""

    def __init__(self, name: str, categories: Sequence[Category]) -> None:
        super().__init__(name, categories)
        others = {isinstance(each, bool) for each in categories if not isinstance(each, str)}
        self._tells_truths = len(others) == 2
        self._codes = {self._key(each): float(code) for code, each in enumerate(self.categories)}

    def _key(self, value: Category) -> Any:
        """Python takes True for 1; so does the model, unless training saw both."""
        return (bool, value) if self._tells_truths and isinstance(value, bool) else value

    def read(self, cell: Any, row: int) -> float:
        """The code of the category."""
        if cell is None:
            return math.nan
        self.check(cell, row)
        return self._codes.get(self._key(cell), math.nan)

    def cell(self, word: str, row: int) -> Any:
        """The category that a word stands for: itself, a number or a boolean."""
        word = word.strip()
        if word in self._codes:
            return word
        if word in _MISSING:
            return None
        if word.lower() in _TRUTHS:
            return _TRUTHS[word.lower()]
        number = number_in(word)
        return word if number is None or math.isinf(number) else number


class DateInput(InputColumn):
    """A column of dates, of which the model takes parts."""

    kind = "date"

    def __init__(self, plan: ColumnPlan) -> None:
        super().__init__(plan.name)
        self._plan = plan
        self.width = len(plan.parts)
        form = plan.date_format
        self.format = form if form in DATE_FORMATS and form != "ISO8601" else None

    @property
    def written(self) -> str:
        """How dates are written, for people."""
        if self.format is None:
            return "YYYY-MM-DD or YYYY-MM-DDThh:mm:ss"
        text = self.format
        for sign, letters in _LETTERS.items():
            text = text.replace(sign, letters)
        return text

    @property
    def _needed(self) -> str:
        return f"a date, written as {self.written}, or null where it is missing"

    def read(self, cell: Any, row: int) -> tuple[float, ...]:
        """The parts of the date."""
        return tuple(float(part[0]) for part in self._read(([cell]), row))

    def read_all(self, cells: Sequence[Any]) -> list[Floats]:
        """The parts of the dates."""
        return self._read(cells, 0)

    def _read(self, cells: Sequence[Any], first: int) -> list[Floats]:
        import pandas

        for row, cell in enumerate(cells, first):
            if cell is not None and (type(cell) is not str or len(cell) > _LONGEST_DATE):
                raise wrong_value(self.name, row, cell, self._needed)
        words = pandas.Series([cell.strip() if cell else None for cell in cells], dtype=object)
        when = moments(words, self._plan.date_format or "ISO8601")
        lost = np.flatnonzero(when.isna().to_numpy() & words.notna().to_numpy())
        if len(lost):
            raise wrong_value(self.name, first + int(lost[0]), cells[lost[0]], self._needed)
        parts = date_parts(when)
        return [parts[name] for name in self._plan.parts]

    def schema(self) -> dict[str, Any]:
        """A word or null."""
        return {"type": ["string", "null"], "description": f"It is {self._needed}."}

    def example(self, middle: float) -> str:
        """A day; ``middle`` counts days since 1970 where the model takes them first."""
        day = datetime.date(2024, 2, 29)
        if self._plan.parts[:1] == ("days",) and abs(middle) < _FAR_DAYS:
            day = datetime.date(1970, 1, 1) + datetime.timedelta(days=int(middle))
        return day.strftime(self.format) if self.format else day.isoformat()

    def facts(self) -> dict[str, Any]:
        """With the way they are written."""
        form = self.format or "ISO 8601"
        return {**super().facts(), "format": form, "written": self.written}


class AnyInput(InputColumn):
    """A column of a model that does not say what it takes: cells are handed over as they are."""

    kind = "any"

    def read(self, cell: Any, row: int) -> float:
        """Nothing: such columns go to the model as tables."""
        raise NotImplementedError("a column of any kind has no numbers of its own")

    def check(self, cells: Sequence[Any]) -> None:
        """Refuse what is neither a word, a number, a boolean nor missing."""
        for row, cell in enumerate(cells):
            is_wrong = cell is not None and not isinstance(cell, str | bool | int | float)
            is_number = isinstance(cell, int | float)
            if is_wrong or (is_number and not -_LARGEST <= cell <= _LARGEST):
                raise wrong_value(
                    self.name, row, cell, "a finite number, a word, true, false or null"
                )

    def cell(self, word: str, row: int) -> Any:
        """A number where it spells one, else a boolean or the word."""
        word = word.strip()
        if word in _MISSING:
            return None
        if word.lower() in _TRUTHS:
            return _TRUTHS[word.lower()]
        number = number_in(word)
        return word if number is None else number

    def schema(self) -> dict[str, Any]:
        """A word, a number, a boolean or null."""
        return {
            "type": ["string", "number", "boolean", "null"],
            "minimum": -_LARGEST,
            "maximum": _LARGEST,
        }
