"""Tables as HTML: they need no script to be read, only to be sorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orfeon.workbench.report._checks import Number
from orfeon.workbench.report.content_types import Cell, Column, Table
from orfeon.workbench.report.texts import escape, shown

#: Tables with more rows scroll in a box of their own height.
_TALL = 25
#: Tables with more columns are set closer.
_WIDE = 7
#: Letters of a text of which all is shown at once; of longer ones three lines are.
_LONG = 60


def table_html(table: Table, label: str) -> str:
    """A table in a box in which it can scroll."""
    heads = "".join(_head(table, j) for j in range(len(table.columns)))
    spans = [_span(table.rows, j) for j in range(len(table.columns))]
    rows = "".join(
        _row(table.columns, row, spans, highlight=i in table.highlight)
        for i, row in enumerate(table.rows)
    )
    wide = ' class="wide"' if len(table.columns) > _WIDE else ""
    tall = " tall" if len(table.rows) > _TALL else ""
    empty = "" if table.rows else '<p class="empty">Nothing to show.</p>'
    return (
        f'<div class="scroll{tall}" role="region" tabindex="0" aria-label="{escape(label)}">'
        f"<table{wide}><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{empty}"
    )


def _head(table: Table, j: int) -> str:
    column = table.columns[j]
    kind = {"text": "text", "estimate": "estimates"}.get(column.kind, "number")
    order = ""
    if table.sorted_by == j:
        order = f' aria-sort="{"descending" if table.descending else "ascending"}"'
    note = f' title="{escape(column.note)}"' if column.note else ""
    return (
        f'<th scope="col" class="{kind}"{order}{note}>'
        f'<span class="head" dir="auto">{_clamped(column.name)}</span></th>'
    )


def _row(
    columns: Sequence[Column],
    row: Sequence[Cell],
    spans: Sequence[tuple[float, float]],
    *,
    highlight: bool,
) -> str:
    cells = "".join(
        _cell(column, cell, span, first=j == 0)
        for j, (column, cell, span) in enumerate(zip(columns, row, spans, strict=True))
    )
    look = ' class="highlight"' if highlight else ""
    return f"<tr{look}>{cells}</tr>"


def _cell(column: Column, cell: Cell, span: tuple[float, float], *, first: bool) -> str:
    tag = 'th scope="row"' if first else "td"
    close = tag.split()[0]
    if column.kind == "text":
        text = "" if cell is None else str(cell)
        return f'<{tag} class="text"><span dir="auto">{_clamped(text)}</span></{close}>'
    percent = column.percent or column.kind == "percent"
    parts: Sequence[Number] = cell if isinstance(cell, tuple) else (cell,)
    texts = [shown(part, column.decimals, percent) for part in parts]
    values = " ".join("" if part is None else repr(part) for part in parts)
    if column.kind == "interval" and None not in parts:
        inner = f"{texts[0].rstrip('%')}\u202fto\u202f{texts[1]}"
    elif column.kind == "estimate" and None not in parts:
        ends = f"{texts[1].rstrip('%')} to {texts[2]}"
        inner = (
            f'<span class="estimate"><b>{texts[0]}</b><span class="unseen">, </span>'
            f'<span class="ends">{_whisker(parts, span)}<span>{ends}</span></span></span>'
        )
    else:
        inner = _never_zero(parts[0], column, texts[0])
    look = "estimates" if column.kind == "estimate" else "number"
    return f'<{tag} class="{look}" data-value="{values}">{inner}</{close}>'


def _never_zero(value: Number, column: Column, text: str) -> str:
    """A small number is not shown as none: a p-value of 0.0001 is "<0.001"."""
    small = 10.0**-column.decimals
    if value is None or column.kind != "number" or not 0 < value < small / 2:
        return text
    return f"&lt;{shown(small, column.decimals)}"


def _span(rows: Sequence[Sequence[Cell]], j: int) -> tuple[float, float]:
    parts = [part for row in rows if isinstance(row[j], tuple) for part in _known(row[j])]
    return (min(parts), max(parts)) if parts else (0.0, 1.0)


def _known(cell: Any) -> list[float]:
    return [part for part in cell if part is not None]


def _whisker(parts: Sequence[Number], span: tuple[float, float]) -> str:
    """A small picture of an estimate and its interval, on a scale that the column shares."""
    low, high = span
    width = (high - low) or 1.0
    value, left, right = (4 + 92 * ((part or 0.0) - low) / width for part in parts)
    return (
        '<svg class="whisker" viewBox="0 0 100 12" width="100" height="12" aria-hidden="true">'
        f'<path d="M{left:.1f} 6H{right:.1f}M{left:.1f} 3.5v5M{right:.1f} 3.5v5"/>'
        f'<circle cx="{value:.1f}" cy="6" r="3"/></svg>'
    )


def _clamped(text: str) -> str:
    if len(text) <= _LONG:
        return escape(text)
    return f'<span class="clamp" title="{escape(text[:300])}">{escape(text)}</span>'
