"""Several binary problems boosted in parallel; each is a row of a code matrix over the classes.

One against the rest and all pairs of classes are such matrices. In each round every problem gets a
binary member of its own; the problems either share one error and one vote, as in AdaBoost.MH, or
are boosted independently.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.boosting.adaboost import TINY
from orfeon.boosting.learners import EstimatorLearner, TreeLearner
from orfeon.boosting.loop import HALF, MemberOutput, RoundResult, Scheme, perfect_vote
from orfeon.boosting.vote_sums import Tally
from orfeon.forest import Forest
from orfeon.members.members import concatenate
from orfeon.utils import saved
from orfeon.utils.types import Floats, Integers


def one_against_rest(n_classes: int) -> Integers:
    """Code matrix with one problem per class."""
    return 2 * np.eye(n_classes, dtype=np.int64) - 1


def all_pairs(n_classes: int) -> Integers:
    """Code matrix with one problem per pair of classes."""
    if n_classes < 2:
        return np.ones((1, n_classes), np.int64)
    pairs = list(combinations(range(n_classes), 2))
    codes = np.zeros((len(pairs), n_classes), np.int64)
    for p, (a, b) in enumerate(pairs):
        codes[p, a], codes[p, b] = -1, 1
    return codes


@saved.attributes(
    rounds=saved.list_of(saved.instance("Forest", "EstimatorMembers"), at_least=1),
    problems=saved.list_of(saved.indices),
    codes=saved.array("i8", 2),
)
@dataclass(frozen=True)
class ProblemMembers:
    """Members with one binary classifier for each of some problems."""

    rounds: Sequence[Any]
    problems: Sequence[Integers]
    codes: Integers

    def __len__(self) -> int:
        return len(self.rounds)

    @property
    def n_classes(self) -> int:
        return int(self.codes.shape[1])

    def outputs(self, X: Any) -> Iterator[npt.NDArray[np.int8]]:
        """Votes of each member on each problem."""
        for classifiers, problems in zip(self.rounds, self.problems, strict=True):
            answers = np.zeros((X.shape[0], len(self.codes)), np.int8)
            answers[:, problems] = 2 * classifiers.votes(X).T - 1
            yield answers

    def votes(self, X: Any) -> npt.NDArray[np.int32]:
        """Most likely class by each member."""
        answers = [np.argmax(one.astype(np.int64) @ self.codes, axis=1) for one in self.outputs(X)]
        return np.asarray(answers, dtype=np.int32)

    def subset(self, chosen: Any) -> ProblemMembers:
        index = np.arange(len(self))[np.asarray(chosen)]
        rounds, problems = [self.rounds[t] for t in index], [self.problems[t] for t in index]
        return ProblemMembers(rounds, problems, self.codes)

    @staticmethod
    def concatenate(parts: Sequence[ProblemMembers]) -> ProblemMembers:
        rounds = [r for part in parts for r in part.rounds]
        problems = [p for part in parts for p in part.problems]
        return ProblemMembers(rounds, problems, parts[0].codes)

    @property
    def forest(self) -> Forest | None:
        """All trees of all members, or None."""
        if not isinstance(self.rounds[0], Forest):
            return None
        return Forest.concatenate(list(self.rounds))


@dataclass(frozen=True)
class ProblemLearner:
    """Trains a binary classifier for each problem that still has weight."""

    learner: TreeLearner | EstimatorLearner
    codes: Integers

    def train(
        self, weights: Floats, labels: npt.NDArray[Any], rng: np.random.Generator
    ) -> ProblemMembers:
        open_problems = np.flatnonzero(weights.any(axis=0))
        trained = [
            self._train_one(
                np.ascontiguousarray(weights[:, p]), np.ascontiguousarray(labels[:, p]), rng
            )
            for p in open_problems
        ]
        return ProblemMembers([concatenate(trained)], [open_problems], self.codes)

    def _train_one(
        self, weights: Floats, labels: npt.NDArray[Any], rng: np.random.Generator
    ) -> Any:
        """Train on one problem, without the samples of other classes."""
        n_present = int(np.count_nonzero(weights))
        return self.learner.train(
            weights, labels, rng, None if n_present == len(weights) else n_present
        )

    def predict_train(self, member: ProblemMembers, what: MemberOutput) -> npt.NDArray[Any]:
        """Votes of a member on each problem."""
        learner = self.learner
        rows = learner.data.X if isinstance(learner, TreeLearner) else learner.X
        return next(member.outputs(rows))


class ProblemScheme(Scheme):
    """AdaBoost's formulas for several binary problems."""

    def __init__(
        self, labels: npt.NDArray[Any], weights: Floats, codes: Integers, *, joint: bool
    ) -> None:
        self.target = codes.T[labels]
        self.joint = joint
        spread = weights[:, None] * np.abs(self.target)
        self._weights: Floats = spread / (spread.sum() if joint else spread.sum(axis=0))
        self.open = np.ones(len(codes), dtype=bool)
        self.total_vote = np.zeros(len(codes))

    @property
    def weights(self) -> Floats:
        """Weights of shape (n_rows, n_problems), 0 for problems that have ended."""
        return self._weights * self.open

    @property
    def labels(self) -> npt.NDArray[Any]:
        """Binary labels of shape (n_rows, n_problems), 0 or 1."""
        return np.asarray(self.target > 0, dtype=np.int64)

    @property
    def stand_in_vote(self) -> Any:
        """A vote of 1 on each problem."""
        return np.ones(len(self.open))

    def evaluate(self, answers: npt.NDArray[Any]) -> RoundResult:
        """Weighted errors and votes, pooled or by problem."""
        errors = (self._weights * (answers * self.target < 0)).sum(axis=0)
        if self.joint:
            errors = np.full(len(errors), errors.sum())
        perfect = self.open & (errors <= 0)
        fails = self.open & (errors >= HALF)
        continues = self.open & ~perfect & ~fails
        votes = np.zeros(len(errors))
        votes[continues] = 0.5 * np.log((1.0 - errors[continues]) / errors[continues])
        votes[perfect] = perfect_vote(self.total_vote[perfect])
        error = float(errors[self.open].mean())
        self.total_vote += votes
        self.open = continues
        kept = bool((votes > 0).any())
        return RoundResult(error, votes, keep=kept, ends=not continues.any())

    def reweigh(
        self, answers: npt.NDArray[Any], result: RoundResult, rng: np.random.Generator
    ) -> None:
        """Multiply by exp(-vote y h), and normalise over all problems or each."""
        present = self._weights > 0
        vote = result.vote * self.open
        weights = self._weights * np.exp(-vote * answers * self.target)
        weights /= weights.sum() if self.joint else weights.sum(axis=0)
        weights[present & (weights < TINY)] = TINY  # from 0 they could not rise again
        self._weights = weights


class ProblemTally(Tally):
    """Weighted sums of votes on each problem, decoded into classes."""

    def __init__(self, n_rows: int, decoding: Integers, *, bounded: bool) -> None:
        super().__init__(n_rows, decoding.shape[1])
        self.bounded = bounded
        self.decoding = decoding.astype(np.float64)
        self.outputs: Floats = np.zeros((n_rows, len(decoding)))
        self.total = np.zeros(len(decoding))

    def add(self, answers: npt.NDArray[Any], vote: Any) -> None:
        self.outputs += answers * vote
        outputs = np.tanh(self.outputs) if self.bounded else self.outputs
        self.sums = outputs @ self.decoding
        self.total = self.total + vote
