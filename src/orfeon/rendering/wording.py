"""Conditions, classes and numbers in words.

All renderers use the same :class:`Wording`, so a test reads the same in a text, a rule and a
picture; only the signs differ: ``<=`` in plain text, ``≤`` in drawings.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from orfeon.data.schema import Schema
from orfeon.forest.conditions import Condition, Interval, Missing, Subject, Subset
from orfeon.rendering.numbers import distinct_texts, number_text

#: Joiners inside words of several scripts: invisible, yet part of the spelling.
_JOINERS = "\u200c\u200d"
#: Up to this many categories are named even when the rest are fewer.
_NAMED_RATHER_THAN_EXCLUDED = 3


def clean(text: object) -> str:
    r"""Write a name on one line: line breaks and other control characters as escapes."""
    if isinstance(text, float) and text.is_integer():
        text = int(text)
    return "".join(
        c if c.isprintable() or c in _JOINERS else c.encode("unicode_escape").decode("ascii")
        for c in str(text)
    )


def shortened(text: str, length: int | None) -> str:
    """Cut a text to at most ``length`` characters, with an ellipsis where it was cut."""
    return text if length is None or len(text) <= length else text[: length - 1].rstrip() + "…"


@dataclass(frozen=True)
class Wording:
    """How conditions are worded."""

    schema: Schema
    thresholds: Mapping[tuple[Subject, float], str] | None = None
    decimals: int | None = None
    max_categories: int | None = None
    max_length: int | None = None
    max_terms: int | None = None
    show_missing: bool = False
    signs: bool = False

    def subject(self, subject: Subject) -> str:
        """Write a feature's name, or a linear combination."""
        if len(subject) == 1 and subject[0][1] == 1.0:
            return self._name(subject[0][0])
        text = ""
        for feature, weight in subject[: self.max_terms]:
            size = number_text(abs(weight), digits=3)
            term = self._name(feature) if size == "1" else f"{size} {self._name(feature)}"
            if not text:
                text = f"-{term}" if weight < 0 else term
            else:
                text += f" {'-' if weight < 0 else '+'} {term}"
        if self.max_terms is not None and len(subject) > self.max_terms:
            text += f" + {self._ellipsis} ({len(subject)} terms)"
        return text

    def condition(self, condition: Condition) -> str:
        """Write a whole condition: ``2 < age <= 5``."""
        subject = self.subject(condition.subject)
        words = self._whole(condition)
        if words is not None:
            return f"{subject} {words}"
        if isinstance(condition, Interval):
            low, high = self._bounds(condition)
            before = f"{low} < " if low and high else ""
            after = f" {self._at_most} {high}" if high else f" > {low}"
            return f"{before}{subject}{after}{self._or_missing(condition)}"
        return f"{subject} {self._categories(condition)}{self._or_missing(condition)}"

    def branch(self, condition: Condition) -> str:
        """Write a condition without its subject, to stand on an edge: ``<= 5``."""
        words = self._whole(condition)
        if words is not None:
            return words.removeprefix("is ")
        if isinstance(condition, Interval):
            low, high = self._bounds(condition)
            words = f"{self._at_most} {high}" if high else f"> {low}"
        else:
            words = self._categories(condition)
        return words + self._or_missing(condition)

    def number(self, value: float) -> str:
        """Write a mean or another number that is no threshold."""
        return number_text(value, decimals=self.decimals)

    @property
    def _at_most(self) -> str:
        return "≤" if self.signs else "<="

    @property
    def _ellipsis(self) -> str:
        return "…" if self.signs else "..."

    def _name(self, feature: int) -> str:
        return shortened(clean(self.schema.name(feature)), self.max_length)

    def _whole(self, condition: Condition) -> str | None:
        """Words for a condition that takes all known values or none of them."""
        if condition.accepts_none:
            words = {Missing.NO: "is impossible", Missing.YES: "is missing"}
            return words.get(condition.missing, "is missing (in part)")
        if condition.accepts_all:
            words = {Missing.NO: "is known", Missing.YES: "is anything"}
            return words.get(condition.missing, "is known" + self._or_missing(condition))
        return None

    def _or_missing(self, condition: Condition) -> str:
        if not self.show_missing or condition.missing == Missing.NO:
            return ""
        return " or missing" if condition.missing == Missing.YES else " or missing (in part)"

    def _bounds(self, condition: Interval) -> tuple[str, str]:
        """Texts of the two bounds; an empty one where there is none."""
        texts = self.thresholds or {}
        levels = self._levels(condition)
        return tuple(  # type: ignore[return-value]
            ""
            if math.isinf(bound)
            else _category(levels[min(int(bound), len(levels) - 1)], self.max_length)
            if levels
            else texts.get((condition.subject, bound)) or number_text(bound, decimals=self.decimals)
            for bound in (condition.low, condition.high)
        )

    def _levels(self, condition: Interval) -> tuple[Any, ...] | None:
        """The values of an ordered categorical feature; thresholds are between them."""
        if self.schema.levels is None or len(condition.subject) > 1:
            return None
        return self.schema.levels[condition.subject[0][0]]

    def _categories(self, condition: Subset) -> str:
        """Write the categories that are accepted, or those that are not when they are fewer."""
        categories = self.schema.categories[condition.subject[0][0]]
        if categories is None:
            name = self.schema.name(condition.subject[0][0])
            raise ValueError(f"Feature {name!r} of the schema has no categories.")
        chosen = condition.accepted
        if not chosen:
            return self._listed(categories, condition.shared, False) + " (in part)"
        others = frozenset(range(condition.n_categories)) - chosen
        exclude = len(others) < len(chosen) > _NAMED_RATHER_THAN_EXCLUDED and not condition.shared
        return self._listed(categories, others if exclude else chosen, exclude)

    def _listed(self, categories: tuple[Any, ...], codes: frozenset[int], exclude: bool) -> str:
        names = [_category(categories[c], self.max_length) for c in sorted(codes)]
        if len(names) == 1:
            unequal = "≠" if self.signs else "!="
            return f"{unequal if exclude else '='} {names[0]}"
        if self.max_categories is not None and len(names) > self.max_categories:
            total = len(names)
            names = [*names[: self.max_categories], f"{self._ellipsis} ({total})"]
        return f"{'not in' if exclude else 'in'} {{{', '.join(names)}}}"


def _category(category: object, max_length: int | None) -> str:
    """Write a category's name, quoted where it could be read as several or as none."""
    name = shortened(clean(category), max_length)
    return f"'{name}'" if not name or name != name.strip() or set(name) & set(",{}") else name


def threshold_texts(
    conditions: Iterable[Condition], decimals: int | None = None
) -> dict[tuple[Subject, float], str]:
    """Texts of all thresholds of a tree, each subject's distinct and in order."""
    found: dict[Subject, set[float]] = {}
    for condition in conditions:
        if isinstance(condition, Interval):
            bounds = {b for b in (condition.low, condition.high) if math.isfinite(b)}
            found.setdefault(condition.subject, set()).update(bounds)
    return {
        (subject, value): text
        for subject, values in found.items()
        for value, text in distinct_texts(values, decimals=decimals).items()
    }
