"""Texts, tables and charts as HTML; of a chart, the place where the script draws it."""

from __future__ import annotations

from collections.abc import Iterable

from orfeon.workbench.report.alternatives import numbers_table
from orfeon.workbench.report.chart_types import Chart
from orfeon.workbench.report.content_types import Block, Table, Text
from orfeon.workbench.report.tables import table_html
from orfeon.workbench.report.texts import escape

#: Letters of a text beyond which it is not a paragraph any more.
_LONG = 1500
#: How to read a chart, where its shape does not say it.
_READING = {
    "boxes": "Dots are single runs. The box spans the middle half, its line is the median and the "
    "diamond the mean; whiskers reach the farthest run within 1.5 box lengths.",
    "matrix": "Each row adds up to all samples of its class; colour shows the share of the row.",
}


def paragraphs_html(paragraphs: Iterable[str]) -> str:
    """Paragraphs of plain text."""
    return "".join(paragraph_html(text) for text in paragraphs)


def paragraph_html(text: str, look: str = "", tag: str = "p") -> str:
    """A paragraph of plain text; what is longer than a page scrolls in a box of its own."""
    looks = " ".join(name for name in (look, "long" if len(text) > _LONG else "") if name)
    named = f' class="{looks}"' if looks else ""
    return f'<{tag}{named} dir="auto">{escape(text)}</{tag}>'


def block_html(block: Block, name: str, chart: int | None = None) -> str:
    """A text, a table or the place of a chart."""
    if isinstance(block, Text):
        return f'<div class="text">{paragraphs_html(block.paragraphs)}</div>'
    if isinstance(block, Table):
        return _table(block, name)
    return _chart(block, name, chart)


def _caption(title: str, caption: str, name: str) -> str:
    more = paragraph_html(caption, "caption") if caption else ""
    return f'<figcaption><h3 id="{name}-title" dir="auto">{escape(title)}</h3>{more}</figcaption>'


def _table(table: Table, name: str) -> str:
    return (
        f'<figure class="block table" id="{name}" aria-labelledby="{name}-title">'
        f"{_caption(table.title, table.caption, name)}"
        f"{table_html(table, table.title or 'Table')}"
        '<div class="tools scripted"><button type="button" data-do="csv">Download CSV</button>'
        "</div></figure>"
    )


def _chart(chart: Chart, name: str, number: int | None) -> str:
    table = numbers_table(chart)
    reading = _READING.get(chart.kind, "") if _has_reading(chart) else ""
    note = f'<p class="caption">{escape(table.caption)}</p>' if table.caption else ""
    return (
        f'<figure class="block chart {chart.kind}" id="{name}" data-chart="{number}" '
        f'aria-labelledby="{name}-title">'
        f"{_caption(chart.title, chart.caption, name)}"
        '<div class="legend scripted"></div><div class="plot scripted"></div>'
        + (f'<p class="reading scripted">{reading}</p>' if reading else "")
        + '<div class="tools scripted"><button type="button" data-do="numbers" '
        f'aria-expanded="true" aria-controls="{name}-numbers">Numbers</button>'
        '<button type="button" data-do="csv">Download CSV</button></div>'
        f'<div class="numbers" id="{name}-numbers">{note}'
        f"{table_html(table, f'Numbers: {chart.title}')}</div></figure>"
    )


def _has_reading(chart: Chart) -> bool:
    if chart.kind == "matrix":
        return chart.shares == "rows"
    return chart.kind == "boxes" and bool(chart.series)
