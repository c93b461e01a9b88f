"""The interactive page as one HTML file that works offline.

The page grows its trees itself: ``assets/ensembles.js`` holds the methods, as pure functions that
the tests compare with orfeon, ``assets/lesson.js`` the page.
"""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from orfeon.rendering.pages import render, write_page
from orfeon.workbench.report.theme import theme_css
from orfeon.workbench.teach.texts import TEXTS


def write_lesson(path: str | os.PathLike[str], language: str = "en") -> Path:
    """Write the page as one HTML file.

    Parameters
    ----------
    path : path-like
        The file. It is replaced in one step once it is complete; missing folders are created.
    language : {"en", "es"}, default="en"
        Language of the page.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from orfeon.workbench.teach import write_lesson
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_lesson(f"{folder}/lesson.html")
    ...     path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    return write_page(path, render_lesson(language), "page")


def render_lesson(language: str = "en") -> str:
    """Render the page as the text of an HTML file.

    Parameters
    ----------
    language : {"en", "es"}, default="en"
        Language of the page.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from orfeon.workbench.teach import render_lesson
    >>> '<html lang="es">' in render_lesson("es")
    True
    """
    if language not in TEXTS:
        allowed = ", ".join(map(repr, TEXTS))
        raise ValueError(f"language={language!r} is not allowed; use one of {allowed}.")
    assets = files("orfeon.workbench.teach") / "assets"
    read = {
        name: (assets / name).read_text(encoding="utf-8")
        for name in ("lesson.css", "ensembles.js", "lesson.js")
    }
    return render(
        "orfeon.workbench.teach",
        "lesson.html",
        language=language,
        texts=TEXTS[language],
        style=theme_css() + read["lesson.css"],
        script=read["ensembles.js"] + read["lesson.js"],
    )
