"""The cells of tables as text, and tables as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from orfeon.rendering.pages import render
from orfeon.workbench.report._checks import Number
from orfeon.workbench.report.content_types import Cell, Column, Table
from orfeon.workbench.report.texts import shown

_LOOKS = {"text": "text", "estimate": "estimates"}


class CellText(NamedTuple):
    """A cell: its class, its numbers for files, its text; of an estimate, also the interval."""

    look: str
    text: str
    values: str = ""
    ends: str = ""
    places: Sequence[str] = ()


def table_html(table: Table, label: str) -> str:
    """A table in a box in which it can scroll."""
    return render("orfeon.workbench.report", "table.html", table=table, label=label, **HELPERS)


def _cells(table: Table) -> list[list[CellText]]:
    spans = [_span(table.rows, j) for j in range(len(table.columns))]
    return [[_cell(*one) for one in zip(table.columns, row, spans, strict=True)]
            for row in table.rows]  # fmt: skip


#: What the template of tables needs besides the table and its label.
HELPERS = {"cells": _cells, "looks": _LOOKS}


def _cell(column: Column, cell: Cell, span: tuple[float, float]) -> CellText:
    look = _LOOKS.get(column.kind, "number")
    if column.kind == "text":
        return CellText(look, "" if cell is None else str(cell))
    percent = column.percent or column.kind == "percent"
    parts: Sequence[Any] = cell if isinstance(cell, tuple) else (cell,)
    texts = [shown(part, column.decimals, percent) for part in parts]
    values = " ".join("" if part is None else repr(part) for part in parts)
    if column.kind == "interval" and None not in parts:
        return CellText(look, f"{texts[0].rstrip('%')}\u202fto\u202f{texts[1]}", values)
    if column.kind == "estimate" and None not in parts:
        ends = f"{texts[1].rstrip('%')} to {texts[2]}"
        return CellText(look, texts[0], values, ends, _places(parts, span))
    return CellText(look, _never_zero(parts[0], column, texts[0]), values)


def _never_zero(value: Number, column: Column, text: str) -> str:
    """A small number is not shown as none: a p-value of 0.0001 is "<0.001"."""
    small = 10.0**-column.decimals
    if value is None or column.kind != "number" or not 0 < value < small / 2:
        return text
    return f"<{shown(small, column.decimals)}"


def _span(rows: Sequence[Sequence[Cell]], j: int) -> tuple[float, float]:
    cells: list[Any] = [row[j] for row in rows if isinstance(row[j], tuple)]
    parts = [part for cell in cells for part in cell if part is not None]
    return (min(parts), max(parts)) if parts else (0.0, 1.0)


def _places(parts: Sequence[float], span: tuple[float, float]) -> list[str]:
    """Where an estimate and its interval are drawn, on a scale that the column shares."""
    low, high = span
    width = (high - low) or 1.0
    return [f"{4 + 92 * (part - low) / width:.1f}" for part in parts]
