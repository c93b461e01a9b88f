"""When our figure agrees with the published one: a rule for each kind of figure.

Rules are fixed before anything is run, the same for all cells of a kind. The part ``rules`` of a
TOML file names them and the cells they are for.
"""

from __future__ import annotations

import abc
import math
import typing
from dataclasses import dataclass
from typing import Any

if typing.TYPE_CHECKING:
    from orfeon.workbench.reproduction.comparison import Comparison

#: Percentage points by which two means may always differ.
LEAST_TOLERANCE = 1.0
#: Far below any printed digit: a difference of exactly the tolerance agrees despite rounding.
_ROUNDING = 1e-9


class Rule(typing.Protocol):
    """Decides whether our figure agrees with the published one."""

    @property
    def decimals(self) -> int:
        """How many decimals the figures are shown with."""

    @property
    def sentence(self) -> str:
        """The rule in words."""

    def agrees(self, ours: Comparison) -> bool:
        """Whether our figure agrees."""

    def tolerance_text(self, ours: Comparison) -> str:
        """The tolerance as it is printed."""


class Difference(abc.ABC):
    """Two figures agree when they differ by no more than a tolerance; part of several rules."""

    decimals: int

    @abc.abstractmethod
    def tolerance(self, ours: Comparison) -> float:
        """By how much the figures may differ."""

    def agrees(self, ours: Comparison) -> bool:
        return abs(ours.difference) <= self.tolerance(ours) + _ROUNDING

    def tolerance_text(self, ours: Comparison) -> str:
        return f"{self.tolerance(ours):.{self.decimals}f}"


@dataclass(frozen=True)
class Points(Difference):
    """Two means agree within a percentage point or two standard errors of their difference."""

    decimals: int = 1

    @property
    def sentence(self) -> str:
        return "A mean agrees within one point or two standard errors of the difference."

    def tolerance(self, ours: Comparison) -> float:
        return ours.tolerance


@dataclass(frozen=True)
class Within(Difference):
    """Two figures agree when they differ by no more than a fixed number."""

    most: float
    sentence: str
    decimals: int = 0

    def tolerance(self, ours: Comparison) -> float:
        return self.most


@dataclass(frozen=True)
class Factor:
    """Two positive figures agree when neither is more than so many times the other."""

    most: float
    sentence: str
    decimals: int = 2

    def agrees(self, ours: Comparison) -> bool:
        larger = max(ours.mean, ours.published.value)
        smaller = min(ours.mean, ours.published.value)
        return 0 < larger <= self.most * smaller + _ROUNDING

    def tolerance_text(self, ours: Comparison) -> str:
        return f"x{self.most:g}"


@dataclass(frozen=True)
class ShareOfSamples(Difference):
    """Two shares agree within a point or two standard errors of a share of the test samples."""

    n_samples: int
    what: str
    decimals: int = 1

    @property
    def sentence(self) -> str:
        return (
            f"Figures of {self.what} agree within one point or two standard errors of a share of "
            f"{self.n_samples:,} samples."
        )

    def tolerance(self, ours: Comparison) -> float:
        share = min(max(ours.published.value / 100, 0.0), 1.0)
        return max(LEAST_TOLERANCE, 200 * math.sqrt(share * (1 - share) / self.n_samples))


@dataclass(frozen=True)
class PartOfPublished(Difference):
    """Two errors agree when they differ by no more than a part of the published one."""

    part: float
    what: str
    decimals: int = 0

    @property
    def sentence(self) -> str:
        return f"{self.what} agree within {self.part:.0%} of the published figure."

    def tolerance(self, ours: Comparison) -> float:
        return self.part * ours.published.value

    def tolerance_text(self, ours: Comparison) -> str:
        return f"{self.part:.0%}"


POINTS = Points()
#: The kinds of rules in TOML files.
KINDS: dict[str, type[Any]] = {
    "within": Within,
    "factor": Factor,
    "share of samples": ShareOfSamples,
    "part of published": PartOfPublished,
}
