"""The content of the report of a study."""

from __future__ import annotations

from datetime import UTC, datetime

from orfeon.utils.text import counted, short
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.report.content.cautions import warnings_of
from orfeon.workbench.report.content.data import data_section
from orfeon.workbench.report.content.ensembles import ensembles_section
from orfeon.workbench.report.content.features import features_section
from orfeon.workbench.report.content.methods import honest_section, methods_section
from orfeon.workbench.report.content.mistakes import mistakes_section
from orfeon.workbench.report.content.pruning import pruning_section
from orfeon.workbench.report.content.summary import facts, summary
from orfeon.workbench.report.content_types import Content


def study_content(outcome: StudyOutcome, *, made: str | None = None) -> Content:
    """Say what a study found.

    Parameters
    ----------
    outcome : StudyOutcome
        What it found.
    made : str, optional
        When the report was made; now by default.

    Returns
    -------
    Content
        Summary, tables and charts, for :func:`orfeon.workbench.report.write_report`.
    """
    sections = [
        methods_section(outcome),
        honest_section(outcome),
        pruning_section(outcome),
        mistakes_section(outcome),
        features_section(outcome),
        ensembles_section(outcome),
        data_section(outcome),
    ]
    if made is None:
        made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    subtitle = (
        f"{outcome.task.capitalize()}, target {short(outcome.target)}: "
        f"{counted(outcome.n_rows, 'row')}, {counted(outcome.n_features, 'feature')}"
    )
    return Content(
        title=short(outcome.name, 120),
        subtitle=subtitle,
        summary=summary(outcome),
        facts=facts(outcome),
        warnings=warnings_of(outcome),
        sections=[section for section in sections if section is not None],
        configuration=dict(outcome.configuration),
        command=outcome.command,
        made=made,
        versions=dict(outcome.versions),
    )
