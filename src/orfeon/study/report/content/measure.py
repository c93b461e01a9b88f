"""The measures of a study as the report shows them: shares as percentages, others in their unit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from orfeon.study.report.content_types import Axis, Column
from orfeon.study.workbench.outcome import StudyOutcome
from orfeon.study.workbench.scoring import SHARES
from orfeon.study.workbench.words import interval_text, score_text, shown_decimals
from orfeon.wording import capital


@dataclass(frozen=True)
class Measure:
    """A measure, and with how many digits it is shown.

    Parameters
    ----------
    name : str
        Its name in a study.
    title : str
        What it is called.
    is_share : bool
        Whether it is a share of 1, shown as a percentage.
    decimals : int
        Digits after the point.

    Examples
    --------
    >>> from orfeon.study.report.content.measure import Measure
    >>> error = Measure("error", "error", True, 1)
    >>> error.text(0.1537), error.range_text(0.14, 0.17), error.difference_text(0.021)
    ('15.4%', '14.0% to 17.0%', '2.1 points')
    """

    name: str
    title: str
    is_share: bool
    decimals: int

    @classmethod
    def of(cls, outcome: StudyOutcome, name: str | None = None) -> Measure:
        """A measure of a study.

        Parameters
        ----------
        outcome : StudyOutcome
            The study.
        name : str, optional
            Name of the measure; by default that which counts.

        Returns
        -------
        Measure
            With the digits of :func:`~orfeon.study.workbench.words.shown_decimals`.
        """
        name = outcome.metric if name is None else name
        decimals = shown_decimals(outcome, name)
        return cls(name, outcome.metrics[name], name in SHARES, decimals)

    @property
    def label(self) -> str:
        """Its title with a capital."""
        return capital(self.title)

    def text(self, value: float) -> str:
        """A value in words.

        Parameters
        ----------
        value : float
            The value.

        Returns
        -------
        str
            With its digits; "unknown" for NaN.
        """
        if not math.isfinite(value):
            return "unknown"
        return score_text(value, self.name, self.decimals)

    def range_text(self, low: float, high: float) -> str:
        """An interval in words.

        Parameters
        ----------
        low, high : float
            Its ends. Nothing can be less than perfect, so it starts at 0 at the lowest.

        Returns
        -------
        str
            Both ends.
        """
        return interval_text((low, high), self.name, self.decimals)

    def difference_text(self, difference: float) -> str:
        """A difference in words, without its sign.

        Parameters
        ----------
        difference : float
            The difference.

        Returns
        -------
        str
            In percentage points where values are shares.
        """
        size = abs(difference)
        if self.is_share:
            return f"{100 * size:.{self.decimals}f} points"
        return self.text(size)

    def axis(self, label: str | None = None) -> Axis:
        """An axis of its values.

        Parameters
        ----------
        label : str, optional
            What is written beside it; by default its title.

        Returns
        -------
        Axis
            The axis.
        """
        return Axis(label or self.label, percent=self.is_share)

    def column(self, *, is_estimate: bool = False, note: str = "") -> Column:
        """A column of its values.

        Parameters
        ----------
        is_estimate : bool, default=False
            Whether they have intervals.
        note : str, default=""
            What to know about it.

        Returns
        -------
        Column
            The column.
        """
        if is_estimate:
            return Column(self.label, "estimate", self.decimals, percent=self.is_share, note=note)
        kind: Literal["percent", "number"] = "percent" if self.is_share else "number"
        return Column(self.label, kind, self.decimals, note=note)
