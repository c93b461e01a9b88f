"""Put the interactive page for lessons on the site, in each language."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from orfeon.workbench.teach import write_lesson

PAGES = {"en": "lesson.html", "es": "leccion.html"}


def write_pages(app: Sphinx, error: Exception | None) -> None:
    """Write the page in each language."""
    if error is None and app.builder.format == "html":
        for language, name in PAGES.items():
            write_lesson(Path(app.outdir) / name, language)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it."""
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
