"""What was tried, and when."""

from __future__ import annotations

from typing import Any

from orfeon.utils.text import capital
from orfeon.workbench.experiment.methods import BASELINE, METHODS
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.experiment.verdict import groups_of
from orfeon.workbench.report.content.methods import Measure
from orfeon.workbench.report.content_types import (
    Axis,
    Column,
    Points,
    ScatterPlot,
    Section,
    Table,
)

#: Runs that are drawn; of more, every second, third, ...
_RUNS = 1500


def history_section(outcome: StudyOutcome) -> Section | None:
    """Every run by the time at which it ended, and the time that each method took."""
    if not outcome.trials:
        return None
    measure, groups = Measure.of(outcome), groups_of(outcome)
    shown = outcome.trials[:: -(-len(outcome.trials) // _RUNS)]
    methods = dict.fromkeys(trial.method for trial in outcome.trials)
    others = [name for name in methods if name not in groups]
    numbers = {**groups, **{name: len(groups) + i for i, name in enumerate(others)}}
    series: list[Points] = []
    rows: list[list[Any]] = []
    for name in methods:
        own = [trial for trial in shown if trial.method == name]
        series.append(
            Points(
                METHODS[name].title, [trial.end for trial in own], [trial.score for trial in own],
                labels=[", ".join(filter(None, (trial.phase, trial.label))) for trial in own],
                group=numbers[name], hidden=name == BASELINE and len(methods) > 1,
            )
        )  # fmt: skip
        every = [trial for trial in outcome.trials if trial.method == name]
        known = [trial.score for trial in every if trial.score is not None]
        row = [
            METHODS[name].title, len(every), sum(trial.seconds for trial in every),
            min(known, default=None), max(known, default=None),
        ]  # fmt: skip
        rows.append(row)
    rows.sort(key=lambda row: -row[2])
    screened = any(trial.phase for trial in outcome.trials)
    caption = "One point per run, when it ended; pauses between calls are left out." + (
        " All methods were screened on a sample of the rows first." if screened else ""
    )
    chart = ScatterPlot(
        f"{measure.label} of every run", caption, Axis("Seconds since the start", low=0.0),
        measure.axis(), series,
    )  # fmt: skip
    columns = [
        Column("Method"), Column("Runs", "number", 0), Column("Seconds", "number", 2),
        Column(f"Lowest {measure.title}", measure.column().kind, measure.decimals),
        Column(f"Highest {measure.title}", measure.column().kind, measure.decimals),
    ]  # fmt: skip
    table = Table("Time of the methods", "", columns, rows, sorted_by=2, descending=True)
    return Section("history", capital("what was tried"), [], [chart, table])
