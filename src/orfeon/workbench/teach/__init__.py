"""The interactive page for lessons: ensembles of small trees that react to sliders, offline."""

from orfeon.workbench.teach.page import render_lesson, write_lesson

__all__ = ["render_lesson", "write_lesson"]
