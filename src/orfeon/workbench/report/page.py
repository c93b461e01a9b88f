"""A report as one HTML file that needs nothing else: no server, no network, no library.

Tables and texts are HTML; charts are drawn by the page's own script from numbers that stand in the
page. Its content policy lets nothing in or out. Without scripts the numbers are read as tables.
"""

from __future__ import annotations

import json
import math
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from orfeon.errors import UserError
from orfeon.utils.atomic_file import atomic_write
from orfeon.workbench.report.blocks import block_html, paragraph_html, paragraphs_html
from orfeon.workbench.report.content_types import Content, Section, Table, Text
from orfeon.workbench.report.payload import chart_payload
from orfeon.workbench.report.texts import escape, script_json
from orfeon.workbench.report.theme import LIGHT, theme_css

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
#: Three rising bars, the last one in the accent: the page's icon and the mark before its name.
_MARK = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" width="16" height="16" '
    'aria-hidden="true"><rect x="1" y="9" width="3.4" height="6" rx="1" fill="{ink}"/>'
    '<rect x="6.3" y="5" width="3.4" height="10" rx="1" fill="{ink}"/>'
    '<rect x="11.6" y="1" width="3.4" height="14" rx="1" fill="{accent}"/></svg>'
)


def write_report(content: Content, path: str | os.PathLike[str]) -> Path:
    """Write a report as one HTML file.

    Parameters
    ----------
    content : Content
        What it says.
    path : path-like
        The file. It is replaced at once, when all is written; its folder is made.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from orfeon.workbench.report import Content, write_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(Content("Iris"), f"{folder}/report.html")
    ...     path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    path = Path(path)
    data = render_report(content).encode("utf-8")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"The report cannot be written to {str(path)!r}: {reason}.") from error
    return path


def render_report(content: Content) -> str:
    """A report as the text of an HTML page.

    Parameters
    ----------
    content : Content
        What it says.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from orfeon.workbench.report import Content, render_report
    >>> "<title>R&amp;D</title>" in render_report(Content("R&D"))
    True
    """
    charts: list[dict[str, Any]] = []
    sections = "".join(_section(section, charts) for section in content.sections)
    assets = files("orfeon.workbench.report") / "assets"
    style = theme_css() + (assets / "report.css").read_text(encoding="utf-8")
    script = (assets / "report.js").read_text(encoding="utf-8")
    icon = _MARK.format(ink=LIGHT["muted"], accent=LIGHT["accent"])
    icon = icon.replace("#", "%23").replace('"', "'").replace("<", "%3C").replace(">", "%3E")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(content.title[:200])}</title>"
        f'<link rel="icon" href="data:image/svg+xml,{icon}">'
        f"<style>\n{style}</style></head>\n<body>"
        '<a class="skip" href="#orfeon-report">Skip to the report</a>\n'
        f"{_bar()}\n<div class='page'>\n{_contents(content)}\n"
        f'<main id="orfeon-report" tabindex="-1">\n{_opening(content)}\n{sections}\n'
        f"{_repeating(content)}\n{_footer(content)}</main>\n</div>\n"
        '<script type="application/json" id="orfeon-charts">'
        f"{script_json(charts)}</script>\n<script>\n{script}</script>\n</body></html>\n"
    )


# -- parts of the page, from top to bottom ---------------------------------------------------------


def _bar() -> str:
    mark = _MARK.format(ink="currentColor", accent="var(--accent)")
    return (
        f'<header class="bar"><span class="brand">{mark} orfeon</span>'
        '<button type="button" class="scripted" data-do="theme">Dark</button></header>'
    )


def _contents(content: Content) -> str:
    entries = [("orfeon-summary", "Summary")]
    entries += [(section.id, section.title) for section in content.sections]
    entries += [("orfeon-repeat", "Repeat this study")] if _can_repeat(content) else []
    items = "".join(
        f'<li><a href="#{name}" dir="auto">{escape(title[:120])}</a></li>'
        for name, title in entries
    )
    return f'<nav class="contents" aria-label="Contents"><ol>{items}</ol></nav>'


def _opening(content: Content) -> str:
    subtitle = paragraph_html(content.subtitle, "subtitle")
    facts = "".join(
        f'<div><dt dir="auto">{escape(name)}</dt><dd dir="auto">{escape(value)}</dd></div>'
        for name, value in content.facts
    )
    # Up to six stand in a row; more in rows of the same length, where there is room.
    columns = math.ceil(len(content.facts) / math.ceil(max(1, len(content.facts)) / 6))
    warnings = "".join(paragraph_html(text, tag="li") for text in content.warnings)
    return (
        '<section class="opening" id="orfeon-summary">'
        f'<h1 dir="auto">{escape(content.title)}</h1>{subtitle if content.subtitle else ""}'
        f'<div class="summary">{paragraphs_html(content.summary)}</div>'
        + (f'<dl class="facts" style="--columns:{columns}">{facts}</dl>' if facts else "")
        + (
            '<aside class="warnings" aria-label="Before you rely on this"><h2>Before you rely on '
            f"this</h2><ul>{warnings}</ul></aside>"
            if warnings
            else ""
        )
        + "<noscript><p class='note'>Scripts are turned off, so charts are not drawn; their "
        "numbers are in the tables.</p></noscript></section>"
    )


def _section(section: Section, charts: list[dict[str, Any]]) -> str:
    blocks = []
    for i, block in enumerate(section.blocks):
        number = None
        if not isinstance(block, Text | Table):
            number = len(charts)
            charts.append(chart_payload(block))
        blocks.append(block_html(block, f"{section.id}-{i + 1}", number))
    return (
        f'<section id="{section.id}"><h2 dir="auto">{escape(section.title)}</h2>'
        f'<div class="text">{paragraphs_html(section.text)}</div>{"".join(blocks)}</section>\n'
    )


def _can_repeat(content: Content) -> bool:
    return bool(content.command or content.configuration or content.versions)


def _repeating(content: Content) -> str:
    if not _can_repeat(content):
        return ""
    parts = []
    if content.command:
        parts.append(_code("Command", content.command))
    if content.configuration:
        text = json.dumps(dict(content.configuration), indent=2, ensure_ascii=False, default=str)
        parts.append(_code("Configuration", text))
    if content.versions:
        rows = "".join(
            f'<div><dt dir="auto">{escape(str(name))}</dt><dd>{escape(str(version))}</dd></div>'
            for name, version in content.versions.items()
        )
        parts.append(
            f'<figure class="block"><figcaption><h3>Versions</h3></figcaption>'
            f'<dl class="versions">{rows}</dl></figure>'
        )
    return f'<section id="orfeon-repeat"><h2>Repeat this study</h2>{"".join(parts)}</section>'


def _code(title: str, text: str) -> str:
    return (
        f'<figure class="block code"><figcaption><h3>{title}</h3></figcaption>'
        f'<pre tabindex="0"><code>{escape(text)}</code></pre><div class="tools scripted">'
        '<button type="button" data-do="copy">Copy</button></div></figure>'
    )


def _footer(content: Content) -> str:
    made = f'<span dir="auto">{escape(content.made)}</span> · ' if content.made else ""
    return f'<footer class="foot">{made}This page is one file and works offline.</footer>'
