"""Reports of studies: their content, and the HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orfeon.utils.lazy import lazy_names

#: Public names and the modules they live in; imported on first use.
_HOMES = {
    "Content": "content_types",
    "Section": "content_types",
    "render_report": "page",
    "write_report": "page",
}

if TYPE_CHECKING:
    from orfeon.workbench.report.content_types import Content, Section
    from orfeon.workbench.report.page import render_report, write_report

__all__ = ["Content", "Section", "render_report", "write_report"]

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
