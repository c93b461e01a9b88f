"""When figures of one split agree: shares of test samples, and errors of prices.

Both sides rest on a single random split, so that the published figure itself has the error of a
share of the test set.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orfeon.workbench.reproduction.published import PublishedCell
from orfeon.workbench.reproduction.rules import LEAST_TOLERANCE, Difference, Rule, Within

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.comparison import Comparison


@dataclass(frozen=True)
class ShareOfTests(Difference):
    """Two shares agree within a point or two standard errors of a share of the test samples."""

    n_samples: int
    what: str
    decimals: int = 1

    @property
    def sentence(self) -> str:
        """The rule in words."""
        return (
            f"Figures of {self.what} agree within one point or two standard errors of a share of "
            f"{self.n_samples:,} samples."
        )

    def tolerance(self, ours: Comparison) -> float:
        """By how much the figures may differ."""
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
        """The rule in words."""
        return f"{self.what} agree within {self.part:.0%} of the published figure."

    def tolerance(self, ours: Comparison) -> float:
        """By how much the figures may differ."""
        return self.part * ours.published.value

    def tolerance_text(self, ours: Comparison) -> str:
        """By how much the figures may differ."""
        return f"{self.part:.0%}"


#: A fifth of the 42256 rows, of which 24.6% are of the class of large incomes.
_ALL_ADULTS = ShareOfTests(8451, "all test samples")
_LOW_INCOMES = ShareOfTests(6372, "the class <50k")
_HIGH_INCOMES = ShareOfTests(2079, "the class >50k")
_IMAGES = ShareOfTests(1000, "all test images")
# Squared errors of prices have heavy tails: on 3031 cars two standard errors of the difference of
# two mean squared errors are about a fifth of them, and those of roots and means half of that.
_SQUARED = PartOfPublished(0.2, "Mean squared errors")
_PLAIN = PartOfPublished(0.1, "Root mean squared errors and mean absolute errors")
_DETERMINATION = Within(2.0, "R2, in percent, agrees within two points.", decimals=1)


def recarey_rule(cell: PublishedCell) -> Rule:
    """The rule of a cell of the three studies."""
    by_metric: dict[str, Rule] = {
        "mse": _SQUARED, "rmse": _PLAIN, "mae": _PLAIN, "r2": _DETERMINATION,
    }  # fmt: skip
    if cell.metric in by_metric:
        return by_metric[cell.metric]
    if cell.dataset == "mnist":
        return _IMAGES
    by_class: dict[str, Rule] = {"<50k": _LOW_INCOMES, ">50k": _HIGH_INCOMES}
    return by_class.get(cell.config.get("class", ""), _ALL_ADULTS)
