"""What a report says of a study: from its outcome to texts, tables and charts."""

from __future__ import annotations

from orfeon.workbench.report.content.cautions import warnings_of
from orfeon.workbench.report.content.study import study_content

__all__ = ["study_content", "warnings_of"]
