"""The measures of a study as the report shows them: shares as percentages, others in their unit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from orfeon.utils.text import capital
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.experiment.scoring import SHARES
from orfeon.workbench.experiment.words import interval_text, score_text, shown_decimals
from orfeon.workbench.report.content_types import Axis, Column


@dataclass(frozen=True)
class Measure:
    """A measure, and with how many digits it is shown."""

    name: str
    title: str
    is_share: bool
    decimals: int

    @classmethod
    def of(cls, outcome: StudyOutcome, name: str | None = None) -> Measure:
        """A measure of a study."""
        name = outcome.metric if name is None else name
        decimals = shown_decimals(outcome, name)
        return cls(name, outcome.metrics[name], name in SHARES, decimals)

    @property
    def label(self) -> str:
        """Its title with a capital."""
        return capital(self.title)

    def text(self, value: float) -> str:
        """A value in words."""
        if not math.isfinite(value):
            return "unknown"
        return score_text(value, self.name, self.decimals)

    def range_text(self, low: float, high: float) -> str:
        """An interval in words."""
        return interval_text((low, high), self.name, self.decimals)

    def difference_text(self, difference: float) -> str:
        """A difference in words, without its sign."""
        size = abs(difference)
        if self.is_share:
            return f"{100 * size:.{self.decimals}f} points"
        return self.text(size)

    def axis(self, label: str | None = None) -> Axis:
        """An axis of its values."""
        return Axis(label or self.label, percent=self.is_share)

    def column(self, *, is_estimate: bool = False, note: str = "") -> Column:
        """A column of its values."""
        if is_estimate:
            return Column(self.label, "estimate", self.decimals, percent=self.is_share, note=note)
        kind: Literal["percent", "number"] = "percent" if self.is_share else "number"
        return Column(self.label, kind, self.decimals, note=note)
