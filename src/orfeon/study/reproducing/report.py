"""What a reproduction says: a text for people, and the judged figures for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orfeon.study.reproducing.comparison import Comparison, comparison_table, summary
from orfeon.study.reproducing.rules import POINTS


@dataclass(frozen=True)
class Report:
    """A text, and a line of plain values for each figure that agrees or not.

    Parameters
    ----------
    text : str
        The table and how many of its figures agree.
    cells : tuple of mapping
        Plain JSON; ``"agrees"`` says whether a figure does.

    Examples
    --------
    >>> from orfeon.study.reproducing.report import Report
    >>> Report("", ({"agrees": True}, {"agrees": False})).n_agreeing
    1
    """

    text: str
    cells: tuple[Mapping[str, Any], ...]

    @property
    def n_agreeing(self) -> int:
        """How many figures agree."""
        return sum(bool(cell["agrees"]) for cell in self.cells)


def report_cells(comparisons: Sequence[Comparison]) -> Report:
    """Report figures that are compared one by one.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Ours beside the published.

    Returns
    -------
    Report
        The table, and a line for each comparison. Rules other than that of errors and accuracies
        are told.

    Examples
    --------
    >>> from orfeon.study import Comparison
    >>> from orfeon.study.reproducing import PublishedCell
    >>> from orfeon.study.reproducing.report import report_cells
    >>> cell = PublishedCell("martinez-3.2", "sonar", "cart", {}, 30.1, 4.0, 50)
    >>> report = report_cells([Comparison(cell, 29.7, 4.4, 50)])
    >>> report.n_agreeing, report.text.splitlines()[-1]
    (1, '1 of 1 cells agree.')
    """
    rules = dict.fromkeys(comparison.rule for comparison in comparisons)
    sentences = [rule.sentence for rule in rules if rule != POINTS]
    text = "\n\n".join(
        [comparison_table(comparisons), "\n".join([*sentences, summary(comparisons)])]
    )
    return Report(text, tuple(comparison.to_dict() for comparison in comparisons))
