"""The one loop of all boosters: train, weigh, reweigh.

A booster is a :class:`Scheme`: sample weights and two formulas. The first computes the error and
vote of a member from its output on the training samples, the second the weights of the next round.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from orfeon.ensembles.perturbation import member_generator
from orfeon.utils.seeding import Purpose, branch
from orfeon.utils.types import Floats

MemberOutput = Literal["votes", "supports", "predictions", "activations"]

#: An error of one half, with room for rounding.
HALF = 0.5 - 1e-10
#: Failed members in a row after which a run with restarts ends.
MOST_FAILURES = 100
#: Ensembles that end by themselves with less than this share of the members requested warn.
LEAST_SHARE = 0.5


#: Odds of being right that a member without error has at least (Webb 2000), and its vote.
PERFECT_ODDS = 1e10
PERFECT = float(0.5 * np.log(PERFECT_ODDS))


def perfect_vote(total_vote: Any, least: float = PERFECT) -> Any:
    """The vote of a member without error, with which a run ends: it outweighs all others."""
    return np.maximum(least, 2 * np.asarray(total_vote))


class RoundResult(NamedTuple):
    """Error and vote of a member, whether to keep it, and whether the run ends."""

    error: float
    vote: Any
    keep: bool = True
    ends: bool = False


class Scheme(ABC):
    """The two formulas of a booster, and the weights they act on."""

    #: The output of members that the formulas use: class codes of shape (n_rows,), class supports
    #: of shape (n_rows, n_classes), predicted numbers of shape (n_rows,), or activations and margin
    #: of parallel perceptrons.
    member_output: ClassVar[MemberOutput] = "votes"

    @property
    @abstractmethod
    def weights(self) -> Floats:
        """Sample weights for the next member, on any scale."""

    @property
    @abstractmethod
    def labels(self) -> npt.NDArray[Any]:
        """Labels for the next member."""

    @abstractmethod
    def evaluate(self, answers: npt.NDArray[Any]) -> RoundResult:
        """The first formula: error and vote of a member."""

    @abstractmethod
    def reweigh(
        self, answers: npt.NDArray[Any], result: RoundResult, rng: np.random.Generator
    ) -> None:
        """The second formula: the weights of the next round."""

    @property
    def stand_in_vote(self) -> Any:
        """Vote of the only member, if it is no better than chance."""
        return 1.0

    def begin(self, rng: np.random.Generator) -> None:  # noqa: B027  most schemes do nothing
        """Prepare the first round."""


class Learner(Protocol):
    """Trains members and computes their output on the training samples."""

    def train(self, weights: Floats, labels: npt.NDArray[Any], rng: np.random.Generator) -> Any:
        """Train one member, as ``Members`` of length one."""

    def predict_train(self, member: Any, what: MemberOutput) -> npt.NDArray[Any]:
        """Output of a member on the training samples."""


class Round(NamedTuple):
    member: Any
    result: RoundResult


@dataclass
class Run:
    """State of a run, from which a warm start continues."""

    scheme: Scheme
    attempts: int = 0
    n_kept: int = 0
    n_failed: int = 0
    ended: bool = False
    results: list[RoundResult] = field(default_factory=list)
    #: The out-of-bag vote so far, if it decides when to stop.
    out_of_bag: Any = None

    @property
    def has_failed(self) -> bool:
        """Whether no member was good enough, so that the last one was kept instead."""
        return self.n_kept > 0 and not any(result.keep for result in self.results)

    @property
    def gave_up(self) -> bool:
        """Whether the run ended because too many members in a row failed."""
        return self.n_failed >= MOST_FAILURES


class _Generators:
    """One generator, moved to a separate stretch for each attempt.

    Creating one per attempt would take as long as growing a stump.
    """

    def __init__(self, sequence: np.random.SeedSequence) -> None:
        self._bits = np.random.PCG64(branch(sequence, Purpose.ATTEMPTS))
        self._start = self._bits.state
        self._generator = np.random.Generator(self._bits)

    def of_attempt(self, attempt: int) -> np.random.Generator:
        """The generator at the start of the attempt's stretch of 2**64 draws."""
        self._bits.state = self._start
        self._bits.advance(attempt << 64)
        return self._generator


def boost(run: Run, learner: Learner, sequence: np.random.SeedSequence) -> Iterator[Round]:
    """Yield rounds until the run ends."""
    scheme = run.scheme
    generators = _Generators(sequence)
    if run.attempts == 0:
        scheme.begin(member_generator(sequence, Purpose.FIRST_WEIGHTS))
    while not run.ended:
        rng = generators.of_attempt(run.attempts)
        member = learner.train(scheme.weights, scheme.labels, rng)
        answers = learner.predict_train(member, scheme.member_output)
        result = scheme.evaluate(answers)
        run.attempts += 1
        run.n_failed = 0 if result.keep else run.n_failed + 1
        run.ended = result.ends or run.gave_up
        run.results.append(result)
        if not run.ended:
            scheme.reweigh(answers, result, rng)
        if result.keep:
            run.n_kept += 1
            yield Round(member, result)
        elif run.ended and run.n_kept == 0:
            run.n_kept = 1
            yield Round(member, result._replace(vote=scheme.stand_in_vote))
