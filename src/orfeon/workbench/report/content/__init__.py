"""The report of a study: from its outcome to texts, tables and charts."""

from __future__ import annotations

from orfeon.workbench.report.content.study import study_content, warnings_of

__all__ = ["study_content", "warnings_of"]
