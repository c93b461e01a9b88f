"""When our figure agrees with the published one: a rule for each kind of figure.

Rules are fixed before anything is run, the same for all cells of a kind.
"""

from __future__ import annotations

import abc
import typing
from dataclasses import dataclass

if typing.TYPE_CHECKING:
    from orfeon.workbench.reproduction.comparison import Comparison

#: Percentage points by which two means may always differ.
LEAST_TOLERANCE = 1.0
#: Far below any printed digit: a difference of exactly the tolerance agrees despite rounding.
_ROUNDING = 1e-9


class Rule(typing.Protocol):
    """Says whether our figure agrees with the published one."""

    @property
    def decimals(self) -> int:
        """How many decimals the figures are shown with."""

    @property
    def sentence(self) -> str:
        """The rule in words."""

    def agrees(self, ours: Comparison) -> bool:
        """Whether our figure agrees."""

    def tolerance_text(self, ours: Comparison) -> str:
        """By how much the figures may differ, in a word."""


class Difference(abc.ABC):
    """Two figures agree when they differ by no more than a tolerance; part of several rules."""

    decimals: int

    @abc.abstractmethod
    def tolerance(self, ours: Comparison) -> float:
        """By how much the figures may differ."""

    def agrees(self, ours: Comparison) -> bool:
        """Whether our figure agrees."""
        return abs(ours.difference) <= self.tolerance(ours) + _ROUNDING

    def tolerance_text(self, ours: Comparison) -> str:
        """By how much the figures may differ."""
        return f"{self.tolerance(ours):.{self.decimals}f}"


@dataclass(frozen=True)
class Points(Difference):
    """Two means agree within a percentage point or two standard errors of their difference."""

    decimals: int = 1

    @property
    def sentence(self) -> str:
        """The rule in words."""
        return "A mean agrees within one point or two standard errors of the difference."

    def tolerance(self, ours: Comparison) -> float:
        """By how much the figures may differ."""
        return ours.tolerance


@dataclass(frozen=True)
class Within(Difference):
    """Two figures agree when they differ by no more than a fixed number."""

    most: float
    sentence: str
    decimals: int = 0

    def tolerance(self, ours: Comparison) -> float:
        """By how much the figures may differ."""
        return self.most


@dataclass(frozen=True)
class Factor:
    """Two positive figures agree when neither is more than so many times the other."""

    most: float
    sentence: str
    decimals: int = 2

    def agrees(self, ours: Comparison) -> bool:
        """Whether our figure agrees."""
        larger = max(ours.mean, ours.published.value)
        smaller = min(ours.mean, ours.published.value)
        return 0 < larger <= self.most * smaller + _ROUNDING

    def tolerance_text(self, ours: Comparison) -> str:
        """By how much the figures may differ."""
        return f"x{self.most:g}"


POINTS = Points()
