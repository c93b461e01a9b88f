"""What a reproduction says: a text for people, and the judged figures for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orfeon.workbench.reproduction.comparison import Comparison, comparison_table, summary
from orfeon.workbench.reproduction.rules import POINTS


@dataclass(frozen=True)
class Report:
    """A text, and a line of plain values for each figure that agrees or not."""

    text: str
    cells: tuple[Mapping[str, Any], ...]

    @property
    def n_agreeing(self) -> int:
        """How many figures agree."""
        return sum(bool(cell["agrees"]) for cell in self.cells)


def report_cells(comparisons: Sequence[Comparison]) -> Report:
    """Report figures that are compared one by one."""
    rules = dict.fromkeys(comparison.rule for comparison in comparisons)
    sentences = [rule.sentence for rule in rules if rule != POINTS]
    text = "\n\n".join(
        [comparison_table(comparisons), "\n".join([*sentences, summary(comparisons)])]
    )
    return Report(text, tuple(comparison.to_dict() for comparison in comparisons))
