"""Predictions of rows that the model was not trained on: from all outer folds, or from one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from orfeon.utils.text import counted
from orfeon.workbench.experiment.out_of_fold import OutOfFold
from orfeon.workbench.experiment.outcome import StudyOutcome


def unseen(outcome: StudyOutcome) -> OutOfFold | None:
    """The predictions in the store; where it has none, those of the models of the first fold."""
    if outcome.out_of_fold is not None:
        return outcome.out_of_fold
    showcase = outcome.showcase
    if showcase is None or outcome.chosen not in showcase.models:
        return None
    model, X = showcase.models[outcome.chosen], showcase.X_test
    rows = np.arange(len(showcase.y_test))
    fold = np.zeros(len(rows), np.int64)
    if outcome.task == "regression":
        y = np.asarray(showcase.y_test, dtype=np.float64)
        predictions = np.asarray(model.predict(X), dtype=np.float64)[:, None]
        return OutOfFold(outcome.chosen, y, predictions, fold, rows)
    codes = codes_of(outcome, showcase.y_test)
    known = codes_of(outcome, model.classes_)
    if (codes < 0).any() or (known < 0).any():
        return None
    predictions = np.zeros((len(rows), len(outcome.classes)))
    predictions[:, known] = model.predict_proba(X)
    return OutOfFold(outcome.chosen, codes, predictions, fold, rows)


def codes_of(outcome: StudyOutcome, labels: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    """The places of labels among the classes of a study, -1 for others."""
    place = {name: code for code, name in enumerate(outcome.classes)}
    return np.array([place.get(str(label), -1) for label in labels], dtype=np.int64)


def source_text(outcome: StudyOutcome, found: OutOfFold) -> str:
    """Whose predictions they are, and of which rows."""
    title = outcome.candidate(found.method).title
    if outcome.out_of_fold is None:
        return f"{title}, on the {counted(len(found.y), 'test row')} of the first outer fold"
    whole = "" if found.method == outcome.chosen else " with all its members"
    return f"{title}{whole}, on the test rows of all {len(np.unique(found.unit))} outer folds"
