"""What a study knows of its model from rows that were not used to train it, and when it ran what.

Everything here is read from the store: the predictions of the outer folds, and the times of runs.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats, Integers
from orfeon.workbench.experiment.choice import Evidence
from orfeon.workbench.experiment.evaluation import RunKey, unpacked
from orfeon.workbench.experiment.methods import SELECTION
from orfeon.workbench.experiment.metrics import Answers
from orfeon.workbench.experiment.plan import Folding
from orfeon.workbench.experiment.selection import Mean
from orfeon.workbench.store import RunRow


@dataclass(frozen=True)
class OutOfFold:
    """Predictions of a method for the test rows of outer folds, beside the truth.

    A row comes once per repetition. ``y`` holds class codes or numbers, ``predictions`` a column
    for each class or one for numbers, ``unit`` the outer fold and ``rows`` the place in the table.
    """

    method: str
    y: npt.NDArray[Any]
    predictions: Floats
    unit: Integers
    rows: Integers

    @property
    def is_classification(self) -> bool:
        return self.y.dtype.kind in "iu"

    @property
    def predicted(self) -> npt.NDArray[Any]:
        """Class codes or numbers."""
        if self.is_classification:
            return np.asarray(self.predictions.argmax(axis=1))
        return np.asarray(self.predictions[:, 0])

    @property
    def answers(self) -> Answers:
        """All rows, as metrics take them."""
        return Answers(self.y, self.predicted, self.predictions)

    def folds(self) -> Iterator[Answers]:
        """The rows of each outer fold."""
        for unit in np.unique(self.unit):
            yield self.answers.take(np.flatnonzero(self.unit == unit))


def out_of_fold(evidence: Evidence, folding: Folding, method: str) -> OutOfFold | None:
    """The stored predictions of a method on all outer folds, or None if some are missing."""
    found = []
    for unit in evidence.units:
        result = evidence.outer[unit, method]
        mean = Mean.of(result) if method == SELECTION else Mean({method: 1.0})
        stored = {
            name: unpacked(evidence.outer[unit, name]["predictions"])
            for name in mean.weights
            if "predictions" in evidence.outer[unit, name]
        }
        if not stored or len(stored) < len(mean.weights):
            return None
        found.append(mean(stored))
    tests = [folding.outer(unit).test for unit in evidence.units]
    rows = np.concatenate(tests)
    units = np.repeat(evidence.units, [len(test) for test in tests])
    y = folding.y[rows]
    if evidence.plan.task == "classification":
        y = y.astype(np.int64)
    return OutOfFold(method, y, np.concatenate(found), units, rows)


@dataclass(frozen=True)
class Trial:
    """One run: what was fitted, when it ended in seconds of work, and how it scored."""

    method: str
    phase: str
    label: str
    end: float
    seconds: float
    score: float | None


def trials(rows: Iterable[tuple[str, RunRow]], metric: str) -> tuple[Trial, ...]:
    """The runs in the order in which they ended; pauses between them are left out of the time."""
    timed = []
    for phase, row in rows:
        end = datetime.fromisoformat(row.finished).timestamp()
        timed.append((end - row.seconds, end, phase, row))
    timed.sort(key=lambda one: (one[1], one[3].key))
    busy = _merged([(start, end) for start, end, _, _ in timed])
    starts = [first for first, _ in busy]
    before = [0.0, *itertools.accumulate(last - first for first, last in busy)]
    found = []
    for _, end, phase, row in timed:
        key = RunKey.read(row.key)
        score = row.result.get("scores", {}).get(key.method, {}).get(metric)
        inner = "" if key.inner is None else f", inner fold {key.inner + 1}"
        label = f"outer fold {key.unit + 1}{inner}"
        at = max(bisect.bisect_right(starts, end) - 1, 0)
        spent = before[at] + min(busy[at][1], end) - busy[at][0]
        found.append(Trial(key.method, phase, label, spent, row.seconds, score))
    return tuple(found)


def _merged(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Spans of time joined where they overlap."""
    found: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found
