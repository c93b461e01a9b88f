"""What is in the data, and what was done to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orfeon.utils.text import counted, short
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.report.content_types import (
    Axis,
    BarChart,
    Bars,
    Block,
    Cell,
    Column,
    Section,
    Table,
    Text,
)

#: Columns that are listed, and classes that have bars.
_COLUMNS, _CLASSES = 300, 30


#: How a note on columns that are not used begins.
EXCLUDED = "Excluded "


def data_section(
    outcome: StudyOutcome, left_out: str = "", *, shown: Sequence[str] = ()
) -> Section:
    """The columns of the table, the classes, and the notes that are not shown above."""
    profile = outcome.profile
    text = [
        f"The table has {counted(profile.n_rows, 'row')} and "
        f"{counted(len(profile.columns), 'column')}; {counted(outcome.n_rows, 'row')} and "
        f"{counted(outcome.n_features, 'feature')} are used."
    ]
    blocks: list[Block] = []
    notes = [note for note in outcome.notes if note not in shown and not note.startswith(EXCLUDED)]
    if left_out or notes:
        blocks.append(Text([*filter(None, [left_out]), *notes]))
    if outcome.task == "classification" and profile.class_shares:
        blocks.append(_classes(profile))
    blocks.append(_columns(outcome))
    return Section("data", "Data", text, blocks)


def _classes(profile: Any) -> BarChart:
    names = list(profile.class_shares)[:_CLASSES]
    shares = [profile.class_shares[name] for name in names]
    more = len(profile.class_shares) > _CLASSES
    caption = f"The {_CLASSES} most frequent classes." if more else "Share of rows in each class."
    bars = [Bars("share", shares, group=0)]
    axis = Axis("Share of rows", percent=True, low=0.0)
    return BarChart("Classes", caption, axis, [short(name) for name in names], bars)


def _columns(outcome: StudyOutcome) -> Table:
    profile = outcome.profile
    used = set(outcome.preparation.columns)
    rows: list[list[Cell]] = [
        [
            short(column.name), column.kind, _use(column, outcome.target, used),
            column.n_missing / max(profile.n_rows, 1), column.n_distinct,
            short(", ".join(map(_example, column.examples)), 80),
        ]
        for column in profile.columns[:_COLUMNS]
    ]  # fmt: skip
    columns = [
        Column("Column"),
        Column("Kind"),
        Column("Use"),
        Column("Missing", "percent", 1),
        Column("Values", "number", 0, note="distinct values"),
        Column("Examples"),
    ]
    n = len(profile.columns)
    caption = f"The first {_COLUMNS} of {n:,} columns." if n > _COLUMNS else ""
    target = [i for i, c in enumerate(profile.columns[:_COLUMNS]) if c.name == outcome.target]
    return Table("Columns", caption, columns, rows, target)


def _example(text: str) -> str:
    """A short form of a value: numbers lose insignificant digits."""
    if len(text) > 8 and "." in text:
        try:
            return f"{float(text):.4g}"
        except ValueError:
            pass
    return short(text, 25)


def _use(column: Any, target: str, used: set[str]) -> str:
    if column.name == target:
        return "target"
    if column.name in used:
        return "feature"
    return "excluded"
