"""The model card: what the model is, what it is for, and how far it can be trusted."""

from __future__ import annotations

import math
import re
from collections import Counter

from orfeon.utils.text import counted, duration_text, short, some_of
from orfeon.workbench.experiment.evaluation import model_size
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.experiment.verdict import verdict
from orfeon.workbench.report.content.methods import Measure
from orfeon.workbench.report.content_types import Cell, Column, Section, Table

#: The note on a model that could not be trained on all rows in time.
_FEWER = re.compile(r"The final model is trained on ([\d,]+) of ")
_KINDS = {"number": "numeric", "category": "categorical", "date": "date"}


def card_section(outcome: StudyOutcome, warnings: list[str], made: str) -> Section:
    """Facts about the model, one in a line."""
    measure, honest = Measure.of(outcome), outcome.honest
    size = model_size(outcome.model)
    parts = [counted(size["members"] or 1, "member")]
    if size["nodes"]:
        parts.append(counted(size["nodes"], "node"))
    kinds = Counter(column.kind for column in outcome.preparation.columns_used)
    columns = ", ".join(f"{count:,} {_KINDS[kind]}" for kind, count in kinds.items())
    expected = measure.text(honest.mean(outcome.metric))
    if all(map(math.isfinite, honest.interval)):
        expected += f" (95% interval {measure.range_text(*honest.interval)})"
    predicts = f"the number {short(outcome.target, 60)}"
    if outcome.classes:
        predicts = f"{short(outcome.target, 60)}: one of {some_of(outcome.classes, most=8)}"
    fewer = [found[1] for note in outcome.notes if (found := _FEWER.match(note))]
    n_rows = fewer[0] if fewer else f"{outcome.n_rows:,}"
    rows: list[list[Cell]] = [
        ["Predicts", predicts],
        ["Model", verdict(outcome).model.partition(" Judged ")[0].removeprefix("The model is ")],
        ["Size", ", ".join(parts)],
        *_decision_rows(outcome),
        ["Trained on", f"{n_rows} rows of {short(outcome.name, 60)}, {made}"],
        ["Columns", columns],
        [f"Expected {measure.title}", expected],
        ["Predicting 1,000 rows", duration_text(outcome.best.predict_seconds)],
        ["Seed", str(outcome.seed)],
        ["Data and plan", f"{outcome.configuration['data']}, {outcome.configuration['digest']}"],
        ["Valid for", "rows collected in the same way; the figures do not cover other sources "
         "or later times"],
        ["Known limits", " ".join(warnings) or "none found"],
    ]  # fmt: skip
    return Section("card", "Model card", [], [
        Table("Facts", "", [Column("Fact"), Column("Value")], rows)
    ])  # fmt: skip


def _decision_rows(outcome: StudyOutcome) -> list[list[Cell]]:
    """How it decides by costs, if it does."""
    decision = outcome.decision
    if decision is None:
        return []
    if decision.threshold is None:
        return [["Decides for", "the class with the lowest expected cost"]]
    return [
        ["Decides for", f"{decision.positive} at a probability of {decision.threshold:.3g} or more"]
    ]
