"""Our results for a published table, set beside what was published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from orfeon.workbench.reproduction.comparison import (
    Comparison,
    PairedDifference,
    Report,
    paired_difference,
    report_cells,
)
from orfeon.workbench.reproduction.protocols import AS_PUBLISHED, Protocol, find_protocol
from orfeon.workbench.reproduction.published import ERROR, Kept, PublishedCell, config_text
from orfeon.workbench.reproduction.results import (
    METRICS,
    Cell,
    FoldOutcome,
    Record,
    best_size,
)
from orfeon.workbench.reproduction.significance import (
    LEVEL,
    Significance,
    significance_tests,
    significance_text,
)
from orfeon.workbench.reproduction.study import Variant


@dataclass(frozen=True)
class Reproduction:
    """Our results for a published table.

    Parameters
    ----------
    cells : tuple of PublishedCell
        The wanted cells.
    records : tuple of Record
        Our results on each split.
    left_out : tuple of str, optional
        Data sets that a quick run skipped because their files are missing.
    table : str, optional
        The table, by default that of the cells.
    reduced : frozenset of Cell, optional
        Cells with fewer members than published, or smaller grids: they are not comparable.
    variant : Variant, optional
        The form of a study of models side by side.

    Examples
    --------
    >>> from orfeon.workbench import reproduce
    >>> found = reproduce("martinez-3.2", datasets=["waveform"], n_splits=2)
    >>> len(found.comparisons), found.not_run
    (2, [])
    """

    cells: tuple[PublishedCell, ...]
    records: tuple[Record, ...]
    left_out: tuple[str, ...] = ()
    table: str = ""
    reduced: frozenset[Cell] = frozenset()
    variant: Variant = AS_PUBLISHED

    def is_comparable(self, cell: PublishedCell) -> bool:
        """Whether a cell was run with all members.

        Parameters
        ----------
        cell : PublishedCell
            The cell.

        Returns
        -------
        bool
            False in quick runs with fewer members than published, or smaller grids.
        """
        return Cell(cell.table, cell.method, config_text(cell.config)) not in self.reduced

    @property
    def protocol(self) -> Protocol:
        """How the table was made."""
        return find_protocol(self.table or self.cells[0].table, self.variant)

    @cached_property
    def _records_of(self) -> dict[tuple[str, ...], list[Record]]:
        """The records of each cell, in the order of the splits."""
        found: dict[tuple[str, ...], list[Record]] = {}
        for record in sorted(self.records, key=lambda record: record.split):
            found.setdefault(record.key[:4], []).append(record)
        return found

    def _of(self, cell: PublishedCell) -> list[Record]:
        place = (cell.table, cell.dataset, cell.method, config_text(cell.config))
        return self._records_of.get(place, [])

    def kept(self, cell: PublishedCell) -> Kept | None:
        """The size with the lowest mean error over our splits.

        Parameters
        ----------
        cell : PublishedCell
            A cell about the best size.

        Returns
        -------
        Kept or None
            The size; None for a cell that is about one size only.
        """
        curves = [record.curve for record in self._of(cell) if record.curve is not None]
        if not curves:
            return None
        size = best_size(curves)
        return Kept(size, 100.0 * size / len(curves[0]))

    def values(self, cell: PublishedCell) -> dict[int, float]:
        """Our errors or accuracies for a cell, at the best size if the cell is about that.

        Parameters
        ----------
        cell : PublishedCell
            The cell. With another ``metric`` than the published one, accuracies of that kind.

        Returns
        -------
        dict of int to float
            Percent, by the number of the split, or of the repetition if all its folds are there.
        """
        if cell.metric in METRICS and cell.n_folds > 1:
            measure = METRICS[cell.metric]
            return {number: measure(folds) for number, folds in self.outcomes(cell).items()}
        if cell.metric != ERROR:
            return {
                record.split: record.result[cell.metric]
                for record in self._of(cell)
                if isinstance(record.result, Mapping)
            }
        kept = self.kept(cell)
        return {
            record.split: record.error
            if kept is None or record.curve is None
            else record.curve.percent(kept.n_classifiers)
            for record in self._of(cell)
        }

    def outcomes(self, cell: PublishedCell) -> dict[int, list[FoldOutcome]]:
        """What is right on the folds of each repetition.

        Parameters
        ----------
        cell : PublishedCell
            A cell of a cross-validation.

        Returns
        -------
        dict of int to list of FoldOutcome
            By the number of the repetition, of those that are complete.
        """
        found: dict[int, list[FoldOutcome]] = {}
        for record in self._of(cell):
            if record.outcome is not None:
                found.setdefault(record.split // cell.n_folds, []).append(record.outcome)
        return {number: folds for number, folds in found.items() if len(folds) == cell.n_folds}

    @property
    def comparisons(self) -> list[Comparison]:
        """The figures that are compared, ours beside the published: of the cells that were run."""
        if self.protocol.compare is not None:
            return self.protocol.compare(self)
        values = [(cell, list(self.values(cell).values())) for cell in self.cells]
        return [
            Comparison.of(
                cell, ours, self.kept(cell), self.protocol.rule(cell),
                is_comparable=self.is_comparable(cell),
            )
            for cell, ours in values if ours
        ]  # fmt: skip

    @property
    def not_run(self) -> list[PublishedCell]:
        """The cells of methods that were not run, or of pools larger than those that were."""
        return [cell for cell in self.cells if not self.values(cell)]

    def versus(self, method: str) -> list[tuple[PublishedCell, PairedDifference]]:
        """Compare the other methods with one of them, on the same splits.

        Parameters
        ----------
        method : str
            The method to compare with: its cell of the same settings, or the only one it has.

        Returns
        -------
        list of (PublishedCell, PairedDifference)
            The cells, and their errors or accuracies minus those of ``method``.

        Examples
        --------
        >>> from orfeon.workbench import reproduce
        >>> found = reproduce("martinez-3.2", datasets=["waveform"], n_splits=2)
        >>> [(str(cell), difference.n_splits) for cell, difference in found.versus("cart")]
        [('waveform igp_tree', 2)]
        """
        return [
            (cell, paired_difference(self.values(cell), self.values(rival)))
            for cell, rival in self.pairs(method)
        ]

    def pairs(self, method: str) -> list[tuple[PublishedCell, PublishedCell]]:
        """The cells of the other methods, each with the cell of one method that it is paired with.

        Parameters
        ----------
        method : str
            The method to compare with: its cell of the same settings, or the only one it has.

        Returns
        -------
        list of (PublishedCell, PublishedCell)
            Those that have two splits or more in common.
        """
        rivals: dict[tuple[str, str], dict[str, PublishedCell]] = {}
        for cell in self.cells:
            if cell.method == method:
                place = (cell.dataset, cell.metric)
                rivals.setdefault(place, {})[config_text(cell.config)] = cell
        found = []
        for cell in self.cells:
            alike = rivals.get((cell.dataset, cell.metric), {})
            rival = alike.get(config_text(cell.config))
            if rival is None and len(alike) == 1:
                (rival,) = alike.values()
            if cell.method == method or rival is None:
                continue
            if len(self.values(cell).keys() & self.values(rival).keys()) > 1:
                found.append((cell, rival))
        return found

    @cached_property
    def report(self) -> Report:
        """The figures that agree or not, as text and as plain values."""
        if self.protocol.report is not None:
            return self.protocol.report(self)
        return report_cells(self.comparisons)

    @cached_property
    def significance(self) -> list[Significance]:
        """The tests of the table, made on our splits; none where it has none."""
        return significance_tests(self, self.protocol.rivals, LEVEL)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON.

        Returns
        -------
        dict
            The table, how many cells agree, the cells, what was not run and the notes.

        Examples
        --------
        >>> from orfeon.workbench import reproduce
        >>> found = reproduce("martinez-3.2", datasets=["waveform"], n_splits=2).to_dict()
        >>> found["table"], found["n_cells"], found["cells"][0]["method"]
        ('martinez-3.2', 2, 'cart')
        """
        return {
            "table": self.protocol.table,
            "title": self.protocol.title,
            "n_cells": len(self.report.cells),
            "n_comparable": self.report.n_comparable,
            "n_agreeing": self.report.n_agreeing,
            "cells": [dict(cell) for cell in self.report.cells],
            "significance": [test.to_dict() for test in self.significance],
            "not_run": [str(cell) for cell in self.not_run],
            "left_out": list(self.left_out),
            "notes": self._notes(),
        }

    def __str__(self) -> str:
        parts = [self.report.text, *self._notes()]
        if self.report.cells and self.protocol.conclude is not None:
            parts.append(self.protocol.conclude(self))
        if self.significance:
            parts.append(significance_text(self.significance))
        return "\n\n".join(parts)

    def _notes(self) -> list[str]:
        """What is not in the table, and what is in doubt there."""
        notes = []
        if self.not_run:
            methods = sorted({cell.method for cell in self.not_run})
            slow = self.protocol.on_request.intersection(methods)
            when = " They are slow: name them in methods (--methods) to run them."
            when = when if slow else ""
            notes.append(f"Not run: {len(self.not_run)} cells of {', '.join(methods)}.{when}")
        if self.left_out:
            notes.append(f"Skipped, because their data was not found: {', '.join(self.left_out)}.")
        notes += [
            f"In doubt: {cell} is printed as {cell.value}, but {cell.doubt}."
            for cell in self.cells
            if cell.doubt is not None and self.values(cell)
        ]
        return notes
