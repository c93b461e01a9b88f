"""How a column becomes features: learnt once, applied to any later table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from orfeon.errors import UserError
from orfeon.workbench.prepare.parsing import DATE_FORMATS, moments, numbers, words
from orfeon.workbench.prepare.plain_values import are_texts, require

#: What a date becomes.
DATE_PARTS = ("days", "month", "weekday", "hour")
#: A category column keeps so many levels; the others become one.
MAX_LEVELS = 255
#: The level of all values that are too rare to have their own.
OTHER = "(other)"

PlanKind = Literal["number", "category", "date"]


@dataclass(frozen=True)
class ColumnPlan:
    """How a column becomes features."""

    name: str
    kind: PlanKind
    levels: tuple[str, ...] = ()
    has_other: bool = False
    date_format: str | None = None
    parts: tuple[str, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that the column becomes."""
        if self.kind == "date":
            return tuple(f"{self.name} ({part})" for part in self.parts)
        return (self.name,)

    def transform(self, series: Any) -> dict[str, Any]:
        """Turn a column into features."""
        if self.kind == "date":
            return self._dates(series)
        if self.kind == "category":
            return {self.name: self._categories(series)}
        return {self.name: self._numbers(series)}

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values, for a JSON document."""
        return {
            "name": self.name,
            "kind": self.kind,
            "levels": list(self.levels),
            "has_other": self.has_other,
            "date_format": self.date_format,
            "parts": list(self.parts),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ColumnPlan:
        """The plan of plain values; a value that :meth:`to_dict` cannot give is a ValueError."""
        name, kind, has_other = plain["name"], plain["kind"], plain["has_other"]
        levels, form, parts = plain["levels"], plain["date_format"], plain["parts"]
        require(type(name) is str, "name must be a string", name)
        require(
            kind in ("number", "category", "date"),
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
        return cls(name, kind, tuple(levels), has_other, form, tuple(parts))

    def _numbers(self, series: Any) -> Any:
        found, others = numbers(series)
        readable = np.isfinite(found)
        if others and not readable.any():
            word = next(iter(others))
            raise UserError(
                f"The column {self.name!r} must contain numbers, as it did when the model was "
                f"trained; it contains {word[:40]!r}."
            )
        return np.where(readable, found, np.nan)

    def _categories(self, series: Any) -> Any:
        import pandas

        codes, found = words(series)
        place = {level: i for i, level in enumerate(self.levels)}
        unknown = len(self.levels) - 1 if self.has_other else -1
        table = np.array([*(place.get(word, unknown) for word in found), -1], dtype=np.int64)
        return pandas.Categorical.from_codes(table[codes], categories=list(self.levels))

    def _dates(self, series: Any) -> dict[str, Any]:
        when = moments(series, self.date_format)
        if when.isna().all() and series.notna().any():
            raise UserError(
                f"The column {self.name!r} must contain dates, as it did when the model was "
                f"trained; it contains {str(series.dropna().iloc[0])[:40]!r}."
            )
        parts = date_parts(when)
        names = zip(self.parts, self.features, strict=True)
        return {feature: parts[part] for part, feature in names}


def date_parts(when: Any) -> dict[str, Any]:
    """The parts of dates, as numbers."""
    import pandas

    days = (when - pandas.Timestamp("1970-01-01")) / pandas.Timedelta(days=1)
    parts = {
        "days": days,
        "month": when.dt.month,
        "weekday": when.dt.day_of_week,
        "hour": when.dt.hour,
    }
    return {name: part.to_numpy(dtype=np.float64) for name, part in parts.items()}


def plan_column(name: str, series: Any, kind: str, form: str | None) -> ColumnPlan:
    """Learn how a column becomes features."""
    if kind == "number":
        return ColumnPlan(name, "number")
    if kind == "date":
        parts = date_parts(moments(series, form))
        useful = [part for part, values in parts.items() if _varies(values)]
        return ColumnPlan(name, "date", date_format=form, parts=tuple(useful or ["days"]))
    codes, found = words(series)
    if len(found) <= MAX_LEVELS:
        return ColumnPlan(name, "category", levels=tuple(sorted(found)))
    counts = np.bincount(codes[codes >= 0], minlength=len(found))
    kept = np.argsort(-counts, kind="stable")[: MAX_LEVELS - 1]
    other = OTHER
    while other in found:
        other = f"({other})"
    levels = (*sorted(found[i] for i in kept), other)
    return ColumnPlan(name, "category", levels=levels, has_other=True)


def _varies(values: Any) -> bool:
    present = values[~np.isnan(values)]
    return bool(present.size and (present != present[0]).any())
