"""The content of a report as plain data: no HTML, no colours.

A :class:`Content` has sections, a section has blocks: texts, tables and charts (see
:mod:`orfeon.workbench.report.chart_types`; all their names can be imported from here). Charts hold
their numbers; the page draws them, sets the numbers beside them as a table, and escapes every name.

Shares are given as shares (0.125) and shown as percentages where a column or an axis says so.
What is missing is None (or NaN): it is left out of charts, and is a dash in tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from orfeon.workbench.report.chart_types import (
    Axis,
    BarChart,
    Bars,
    Box,
    BoxPlot,
    Chart,
    Line,
    LineChart,
    Mark,
    Matrix,
    Number,
    Points,
    Reference,
    ScatterPlot,
    ThresholdChart,
    check_choice,
    numbers,
    set_plain,
)

__all__ = [
    "Axis",
    "BarChart",
    "Bars",
    "Block",
    "Box",
    "BoxPlot",
    "Cell",
    "Chart",
    "Column",
    "Content",
    "Line",
    "LineChart",
    "Mark",
    "Matrix",
    "Points",
    "Reference",
    "ScatterPlot",
    "Section",
    "Table",
    "Text",
    "ThresholdChart",
]

ColumnKind = Literal["text", "number", "percent", "interval", "estimate"]
Cell = str | float | int | Sequence[Number] | None


@dataclass(frozen=True)
class Column:
    name: str
    kind: ColumnKind = "text"
    decimals: int = 2
    percent: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, ColumnKind)


@dataclass(frozen=True)
class Table:
    """A table that readers can sort and take away."""

    title: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    highlight: Sequence[int] = ()
    sorted_by: int | None = None
    descending: bool = False
    kind: Literal["table"] = "table"

    def __post_init__(self) -> None:
        set_plain(self, columns=tuple(self.columns), highlight=tuple(self.highlight))
        for i, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"rows[{i}] has {len(row)} cells and there are {len(self.columns)} columns; "
                    "they must match."
                )
        rows = tuple(
            tuple(_plain(cell, column, i) for cell, column in zip(row, self.columns, strict=True))
            for i, row in enumerate(self.rows)
        )
        set_plain(self, rows=rows)


def _plain(cell: Any, column: Column, row: int) -> Cell:
    name = f"rows[{row}], column {column.name[:40]!r}: cell"
    if cell is None:
        return None
    if column.kind == "text":
        return str(cell)
    if column.kind in ("number", "percent"):
        return numbers(name, [cell])[0]
    length = 2 if column.kind == "interval" else 3
    parts = None if isinstance(cell, str) or not hasattr(cell, "__len__") else tuple(cell)
    if parts is None or len(parts) != length:
        shown = repr(cell)[:60]
        raise ValueError(f"{name}={shown} is not allowed; use {length} numbers, or None.")
    return numbers(name, parts)


@dataclass(frozen=True)
class Text:
    """Paragraphs between other blocks."""

    paragraphs: Sequence[str]
    kind: Literal["text"] = "text"

    def __post_init__(self) -> None:
        set_plain(self, paragraphs=tuple(self.paragraphs))


Block = Text | Table | Chart


@dataclass(frozen=True)
class Section:
    """A part of a report, with its own entry in the table of contents.

    Parameters
    ----------
    id : str
        Its address in the page: letters, digits, ``-`` and ``_``; different for each section.
    title : str
        Its heading.
    text : sequence of str, optional
        Paragraphs before the blocks.
    blocks : sequence of Block, optional
        Texts, tables and charts.

    Examples
    --------
    >>> from orfeon.workbench.report import Section
    >>> Section("error curves", "Curves")
    Traceback (most recent call last):
    ...
    ValueError: id='error curves' is not allowed; use letters, digits, - and _.
    """

    id: str
    title: str
    text: Sequence[str] = ()
    blocks: Sequence[Block] = ()

    def __post_init__(self) -> None:
        if not self.id.isascii() or not self.id.replace("-", "").replace("_", "").isalnum():
            raise ValueError(f"id={self.id!r} is not allowed; use letters, digits, - and _.")
        set_plain(self, text=tuple(self.text), blocks=tuple(self.blocks))


@dataclass(frozen=True)
class Content:
    """The content of a report.

    Parameters
    ----------
    title : str
        What was studied.
    subtitle : str, default=""
        How, in a line.
    summary : sequence of str, optional
        The result in a few sentences; the first paragraph is set larger.
    facts : sequence of (str, str), optional
        Key figures: names and short values.
    warnings : sequence of str, optional
        What the reader must know before relying on it.
    sections : sequence of Section, optional
        The parts.
    configuration : mapping, optional
        Everything needed to repeat it, as plain data.
    command : str, default=""
        The command that repeats it.
    made : str, default=""
        When, and where.
    versions : mapping of str to str, optional
        Versions of what it was made with.

    Examples
    --------
    >>> from orfeon.workbench.report import Content, Section
    >>> content = Content("Iris", sections=[Section("methods", "Methods")])
    >>> [section.title for section in content.sections]
    ['Methods']
    """

    title: str
    subtitle: str = ""
    summary: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    warnings: Sequence[str] = ()
    sections: Sequence[Section] = ()
    configuration: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""
    made: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        set_plain(self, summary=tuple(self.summary), warnings=tuple(self.warnings))
        set_plain(self, facts=tuple((str(a), str(b)) for a, b in self.facts))
        set_plain(self, sections=tuple(self.sections))
        ids = [section.id for section in self.sections]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise ValueError(f"sections have the id {twice[0]!r} twice; each needs its own.")
