"""Weak learners that say what they are told to, for the library's boosters, and keep a record.

:class:`ScriptedLearner` goes into the loop itself, :class:`ScriptedClassifier` into an estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from orfeon.boosting.loop import Run, boost


class EndOfScriptError(Exception):
    """All answers were given."""


@dataclass
class ScriptedLearner:
    """Says one row of the script after the other; keeps what it was given each time."""

    script: Sequence[npt.NDArray[Any]]
    weights: list[npt.NDArray[np.float64]] = field(default_factory=list)
    labels: list[npt.NDArray[Any]] = field(default_factory=list)
    generators: list[np.random.Generator] = field(default_factory=list)

    def train(
        self, weights: npt.NDArray[np.float64], labels: npt.NDArray[Any], rng: np.random.Generator
    ) -> int:
        """The number of the next row."""
        if len(self.weights) == len(self.script):
            raise EndOfScriptError
        self.weights.append(weights.copy())
        self.labels.append(labels.copy())
        self.generators.append(deepcopy(rng))  # what the scheme draws from after this round
        return len(self.weights) - 1

    def predict_train(self, member: int, what: str) -> npt.NDArray[Any]:
        """What the script has in that row."""
        return np.asarray(self.script[member])


def play(
    scheme: Any, script: Sequence[Any], seed: int = 0
) -> tuple[Run, ScriptedLearner, list[Any]]:
    """Run the loop until it ends or the script does: the run, the learner, the rounds kept.

    Examples
    --------
    >>> from orfeon.boosting.adaboost import AdaBoostScheme
    >>> scheme = AdaBoostScheme(np.array([0, 1, 1, 1]), np.ones(4), 2)
    >>> run, learner, kept = play(scheme, [np.ones(4, int), np.array([0, 1, 1, 0])])
    >>> [result.error for result in run.results], len(kept), run.ended
    ([0.25, 0.16666666666666666], 2, False)
    """
    run, learner, kept = Run(scheme), ScriptedLearner(script), []
    rounds = boost(run, learner, np.random.SeedSequence(seed))
    while True:
        try:
            kept.append(next(rounds))
        except (StopIteration, EndOfScriptError):
            return run, learner, kept


@dataclass
class Script:
    """What each member says, and what each was trained with; the first feature is the row."""

    answers: Sequence[Sequence[int]] | Callable[[int], Sequence[int]]
    n_rows: int
    weights: list[npt.NDArray[np.float64]] = field(default_factory=list)

    def __deepcopy__(self, memo: Any) -> Self:
        """The same script in every clone."""
        return self


class ScriptedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Takes the next answer of the script; only the first feature, the row's number, is read."""

    def __init__(self, script: Script | None = None) -> None:
        self.script = script

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Note the weights, and take the next answer."""
        assert self.script is not None
        given = np.zeros(self.script.n_rows)
        np.add.at(given, X[:, 0].astype(int), 1.0 if sample_weight is None else sample_weight)
        turn = len(self.script.weights)
        self.script.weights.append(given / given.sum())
        answers = self.script.answers
        self.answer_ = np.asarray(answers(turn) if callable(answers) else answers[turn])
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The answer to these rows."""
        return np.asarray(self.answer_[X[:, 0].astype(int)])
