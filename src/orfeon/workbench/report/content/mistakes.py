"""Where the model errs: confused classes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from orfeon.inspection import classification_summary
from orfeon.utils.text import short
from orfeon.workbench.experiment.outcome import StudyOutcome
from orfeon.workbench.report.content.decision import threshold_chart
from orfeon.workbench.report.content_types import (
    Block,
    Cell,
    Column,
    Matrix,
    Section,
    Table,
)

#: Classes of a matrix that can be read; beyond it the most frequent confusions are listed.
_CLASSES = 30
#: Lines of a table of classes or confusions.
_LINES = 50


def mistakes_section(outcome: StudyOutcome) -> Section | None:
    """Confusion matrix, measures of each class, and thresholds for two classes."""
    counts = outcome.best.confusion
    if counts is None or not np.sum(counts):
        return None
    names = [short(name) for name in outcome.classes]
    text = [
        f"Predictions of {outcome.best.title} on the test rows of all outer folds: "
        f"{int(np.trace(counts)):,} of {int(np.sum(counts)):,} are correct."
        + (" Each row counts once per repetition." if np.sum(counts) > outcome.n_studied else "")
    ]
    first = _matrix(counts, names) if len(names) <= _CLASSES else _confusions(counts, names)
    blocks: list[Block] = [first, _classes(counts, names)]
    threshold = threshold_chart(outcome)
    if threshold is not None:
        blocks.append(threshold)
    return Section("mistakes", "Mistakes", text, blocks)


def _matrix(counts: npt.NDArray[np.int64], names: list[str]) -> Matrix:
    caption = "Rows are true classes, columns predicted ones; the diagonal is correct."
    return Matrix(
        "Confusion matrix", caption, names, names, counts.tolist(), "True class", "Predicted class"
    )


def _confusions(counts: npt.NDArray[np.int64], names: list[str]) -> Table:
    wrong = np.where(np.eye(len(counts), dtype=bool), 0, counts)
    order = np.argsort(-wrong, axis=None, kind="stable")[:_LINES]
    rows: list[list[Cell]] = []
    for place in order:
        i, j = divmod(int(place), len(counts))
        if wrong[i, j]:
            share = float(wrong[i, j] / counts[i].sum())
            rows.append([names[i], names[j], int(wrong[i, j]), share])
    columns = [
        Column("True class"),
        Column("Predicted class"),
        Column("Rows", "number", 0),
        Column("Share of the class", "percent", 1),
    ]
    caption = f"The most frequent confusions among {len(names):,} classes."
    return Table("Confusions", caption, columns, rows, sorted_by=2, descending=True)


def _classes(counts: npt.NDArray[np.int64], names: list[str]) -> Table:
    n = len(counts)
    true, predicted = np.divmod(np.arange(n * n), n)
    found = classification_summary(
        true, predicted, classes=np.arange(n), sample_weight=counts.ravel(), zero_division=np.nan
    )
    order = np.argsort(-found.support, kind="stable")[:_LINES] if n > _LINES else np.arange(n)
    rows: list[list[Cell]] = [
        [names[k], found.support[k], found.recall[k], found.precision[k], found.f1[k]]
        for k in order
    ]
    columns = [
        Column("Class"),
        Column("Rows", "number", 0),
        Column("Recall", "percent", 1, note="share of the class that is predicted correctly"),
        Column(
            "Precision", "percent", 1, note="share of the predictions of the class that are correct"
        ),
        Column("F1", "percent", 1, note="harmonic mean of recall and precision"),
    ]
    caption = f"The largest {_LINES} of {n:,} classes." if n > _LINES else ""
    return Table("Per class", caption, columns, rows)
