"""Scores of a fitted model on labelled rows, with bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.errors import ArgumentError, UserError
from orfeon.utils.text import nearest_names
from orfeon.utils.types import Floats
from orfeon.workbench.experiment.metrics import METRICS, Answers
from orfeon.workbench.experiment.row_columns import read_weights
from orfeon.workbench.prepare import Prepared

_SAMPLES = 500
#: Values drawn for the bootstrap at most: large tables have narrow intervals anyway.
_MOST_DRAWN = 20_000_000

#: A value and the ends of its 95% interval.
Scored = tuple[float, float, float]


@dataclass(frozen=True)
class TestScores:
    """Scores of the final model on rows that the study did not use."""

    __test__ = False  # the name looks like a test to pytest

    name: str
    n_rows: int
    scores: Mapping[str, Scored] = field(hash=False)
    n_unknown: int = 0
    n_seen: int = 0


@dataclass(frozen=True, eq=False)
class TestRows:
    """Labelled rows that wait for the final model."""

    __test__ = False

    name: str
    X: Any
    y: npt.NDArray[Any]
    task: str
    weights: Floats | None
    n_seen: int

    @classmethod
    def read(cls, frame: Any, name: str, prepared: Prepared, weights: str | None) -> TestRows:
        """Check the rows before the study begins."""
        target = prepared.preparation.target
        if target not in frame.columns:
            raise ArgumentError(
                "test",
                f"must have the target {target!r}{nearest_names(target, map(str, frame.columns))}.",
            )
        frame = frame[frame[target].notna()]
        given = None if weights is None else read_weights(frame, weights)
        if given is not None:
            frame, given = frame[given > 0], given[given > 0]
        X, y = prepared.preparation.transform_labelled(frame)
        if len(X) != len(frame):  # the target of some rows cannot be read
            raise ArgumentError(
                "test", f"must have a target that can be read in every row: {name}."
            )
        return cls(name, X, y, prepared.task, given, n_seen_before(X, prepared.X))

    def notes(self) -> list[str]:
        """Whether the rows are as new as they should be."""
        if not self.n_seen:
            return []
        return [
            f"{self.n_seen:,} of the {len(self.X):,} rows of {self.name} equal a training row in "
            "all features: if they are the same cases, its scores are too optimistic."
        ]

    def score(self, model: Any) -> TestScores:
        """Scores of the final model."""
        answers, n_unknown = model_answers(model, self.X, self.y, self.task, self.weights)
        found = scores_with_intervals(answers, self.task)
        return TestScores(self.name, len(answers.y), found, n_unknown, self.n_seen)


def model_answers(
    model: Any, X: Any, y: npt.NDArray[Any], task: str, weights: Floats | None = None
) -> tuple[Answers, int]:
    """Predictions beside the truth, and how many rows are left out, as their class is unknown."""
    predicted = np.asarray(model.predict(X))
    if task == "regression":
        values = predicted.astype(np.float64)
        return Answers(np.asarray(y, dtype=np.float64), values, values, weights), 0
    classes = model.classes_
    codes = {label: code for code, label in enumerate(classes.tolist())}
    own = np.array([codes.get(label, -1) for label in np.asarray(y).tolist()])
    answered = np.array([codes[label] for label in predicted.tolist()])
    shares = np.eye(len(classes))[answered]
    if hasattr(model, "predict_proba"):
        shares = np.asarray(model.predict_proba(X))
    there = np.flatnonzero(own >= 0)
    if not len(there):
        raise UserError(
            f"No row has a class that the model knows: {', '.join(map(str, classes[:10]))}."
        )
    return Answers(own, answered, shares, weights).take(there), len(own) - len(there)


def scores_with_intervals(answers: Answers, task: str, seed: int = 0) -> dict[str, Scored]:
    """Each metric with the ends of its 95% bootstrap interval."""
    rng = np.random.default_rng(seed)
    n_rows = len(answers.y)
    n_samples = max(50, min(_SAMPLES, _MOST_DRAWN // n_rows))
    drawn = [answers.take(rng.integers(0, n_rows, n_rows)) for _ in range(n_samples)]
    found = {}
    for name, metric in METRICS[task].items():
        values = np.array([metric.of(sample) for sample in drawn])
        values = values[np.isfinite(values)]
        low, high = np.quantile(values, [0.025, 0.975]) if len(values) else (math.nan, math.nan)
        found[name] = (metric.of(answers), float(low), float(high))
    return found


def n_seen_before(X: Any, X_train: Any) -> int:
    """Number of rows that equal a training row in all features."""
    import pandas

    old, new = (pandas.util.hash_pandas_object(one, index=False) for one in (X_train, X))
    return int(new.isin(set(old)).sum())
