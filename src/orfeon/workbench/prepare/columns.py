"""The description of a column: learnt in training, saved in model files, used on new data.

The commands and the service check columns of new data by it alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from orfeon.errors import UserError
from orfeon.utils.text import short
from orfeon.workbench.prepare.parsing import DATE_FORMATS, numbers, strings, timestamps

#: Features of a date.
DATE_PARTS = ("days", "month", "weekday", "hour")
#: Most categories of a column; rarer values share the last one.
MAX_CATEGORIES = 255
#: The category of all rare values.
OTHER = "(other)"
#: Kinds of prepared columns; a model without a preparation may have columns of "any" kind.
KINDS = ("number", "category", "date")

Category = str | bool | int | float


@dataclass(frozen=True)
class InputColumn:
    """A column that a model needs, and how it becomes features.

    With ``has_other`` the last category is that of all other values.
    """

    name: str
    kind: Literal["number", "category", "date", "any"]
    categories: tuple[Category, ...] = ()
    has_other: bool = False
    date_format: str | None = None
    parts: tuple[str, ...] = ()
    #: The median, or the most frequent category: what an example row has.
    typical: float | str | None = None

    @property
    def features(self) -> tuple[str, ...]:
        if self.kind == "date":
            return tuple(f"{self.name} ({part})" for part in self.parts)
        return (self.name,)

    def transform(self, series: Any) -> dict[str, Any]:
        """The features of a column, by name."""
        if self.kind == "date":
            return self._dates(series)
        if self.kind == "category":
            return {self.name: self._categories(series)}
        return {self.name: self._numbers(series)}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; as in model files of 0.1, categories are called levels."""
        return {
            "name": self.name,
            "kind": self.kind,
            "levels": list(self.categories),
            "has_other": self.has_other,
            "date_format": self.date_format,
            "parts": list(self.parts),
            "typical": self.typical,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> InputColumn:
        """The column of plain values; raises ValueError unless :meth:`to_dict` can return them."""
        name, kind, has_other = plain["name"], plain["kind"], plain["has_other"]
        levels, form, parts = plain["levels"], plain["date_format"], plain["parts"]
        require(type(name) is str, "name must be a string", name)
        require(
            kind in KINDS,
            f"{name!r}: kind must be 'number', 'category' or 'date'",
            kind,
        )
        require(are_texts(levels), f"{name!r}: levels must be distinct strings", levels)
        require(
            type(has_other) is bool and (levels or not has_other),
            f"{name!r}: has_other must be a boolean, and false without levels",
            has_other,
        )
        require(
            form is None or (type(form) is str and form in DATE_FORMATS),
            f"{name!r}: date_format must be null or a known format, such as {DATE_FORMATS[0]}",
            form,
        )
        require(
            are_texts(parts) and set(parts) <= set(DATE_PARTS),
            f"{name!r}: parts must be distinct values among {', '.join(DATE_PARTS)}",
            parts,
        )
        require(
            bool(parts) == (kind == "date"),
            f"{name!r}: dates need parts and nothing else has any",
            parts,
        )
        typical: Any = plain.get("typical")  # files of 0.1 have none
        is_number = type(typical) in (int, float) and math.isfinite(typical)
        allowed = is_number if kind == "number" else kind == "category" and typical in levels
        require(
            typical is None or allowed,
            f"{name!r}: typical must be null, a finite number, or one of the levels",
            typical,
        )
        return cls(name, kind, tuple(levels), has_other, form, tuple(parts), typical)

    def _numbers(self, series: Any) -> Any:
        found, others = numbers(series)
        readable = np.isfinite(found)
        if others and not readable.any():
            value = next(iter(others))
            raise UserError(
                f"The column {self.name!r} must contain numbers, as it did when the model was "
                f"trained; it contains {value[:40]!r}."
            )
        return np.where(readable, found, np.nan)

    def _categories(self, series: Any) -> Any:
        import pandas

        codes, found = strings(series)
        place = {category: i for i, category in enumerate(self.categories)}
        unknown = len(self.categories) - 1 if self.has_other else -1
        table = np.array([*(place.get(one, unknown) for one in found), -1], dtype=np.int64)
        return pandas.Categorical.from_codes(table[codes], categories=list(self.categories))

    def _dates(self, series: Any) -> dict[str, Any]:
        when = timestamps(series, self.date_format)
        if when.isna().all() and series.notna().any():
            raise UserError(
                f"The column {self.name!r} must contain dates, as it did when the model was "
                f"trained; it contains {str(series.dropna().iloc[0])[:40]!r}."
            )
        parts = date_parts(when)
        names = zip(self.parts, self.features, strict=True)
        return {feature: parts[part] for part, feature in names}


def date_parts(when: Any) -> dict[str, Any]:
    import pandas

    days = (when - pandas.Timestamp("1970-01-01")) / pandas.Timedelta(days=1)
    parts = {
        "days": days,
        "month": when.dt.month,
        "weekday": when.dt.day_of_week,
        "hour": when.dt.hour,
    }
    return {name: part.to_numpy(dtype=np.float64) for name, part in parts.items()}


def learn_column(name: str, series: Any, kind: str, form: str | None) -> InputColumn:
    """Learn how a column becomes features."""
    if kind == "number":
        return InputColumn(name, "number", typical=_median(numbers(series)[0]))
    if kind == "date":
        parts = date_parts(timestamps(series, form))
        useful = [part for part, values in parts.items() if _varies(values)]
        return InputColumn(name, "date", date_format=form, parts=tuple(useful or ["days"]))
    codes, found = strings(series)
    counts = np.bincount(codes[codes >= 0], minlength=len(found))
    typical = found[int(counts.argmax())] if len(found) else None
    if len(found) <= MAX_CATEGORIES:
        return InputColumn(name, "category", tuple(sorted(found)), typical=typical)
    kept = np.argsort(-counts, kind="stable")[: MAX_CATEGORIES - 1]
    other = OTHER
    while other in found:
        other = f"({other})"
    named = (*sorted(found[i] for i in kept), other)
    return InputColumn(name, "category", named, has_other=True, typical=typical)


def _median(values: Any) -> float | None:
    """The median of the finite values with four digits, as few as an example needs."""
    finite = values[np.isfinite(values)]
    return float(f"{np.median(finite):.4g}") if len(finite) else None


def require(condition: Any, rule: str, value: Any) -> None:
    """Raise a ValueError with the rule and the value unless a condition holds."""
    if not condition:
        raise ValueError(f"{rule}; got {short(repr(value))}")


def are_texts(values: Any) -> bool:
    """Whether a value is a list of distinct strings that UTF-8 can encode."""
    if type(values) is not list or any(type(one) is not str for one in values):
        return False
    try:
        "\n".join(values).encode()  # lone surrogates cannot be encoded
    except UnicodeEncodeError:
        return False
    return len(set(values)) == len(values)


def _varies(values: Any) -> bool:
    present = values[~np.isnan(values)]
    return bool(present.size and (present != present[0]).any())
