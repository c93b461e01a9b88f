"""Weighted votes, supports and medians of members, added one by one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats, Integers

#: Sums this close, relative to the sum of all votes, are tied: rounding does not decide.
_TIED = 1e-12
#: Votes are counted in steps; their sum is about two to this many steps.
_STEPS = 52
#: Predictions sorted at a time.
_BLOCK = 1 << 22


def with_ties(sums: Floats, total: Any) -> Floats:
    """Set sums that equal the greatest of their row up to rounding to that value."""
    greatest = sums.max(axis=1, keepdims=True)
    return np.where(greatest - sums <= _TIED * float(np.max(total)), greatest, sums)


class Tally(ABC):
    """Combined output of the members so far."""

    def __init__(self, n_rows: int, n_classes: int) -> None:
        self.n_rows = n_rows
        self.sums: Floats = np.zeros((n_rows, n_classes))
        self.total: Any = 0.0

    @abstractmethod
    def add(self, answers: npt.NDArray[Any], vote: Any) -> None:
        """Add the outputs of one more member."""

    def decide(self) -> npt.NDArray[Any]:
        return np.asarray(np.argmax(with_ties(self.sums, self.total), axis=1))


class VoteTally(Tally):
    """Weighted votes for classes."""

    def add(self, answers: npt.NDArray[Any], vote: float) -> None:
        self.sums[np.arange(self.n_rows), answers] += vote
        self.total += vote


class SupportTally(Tally):
    """Weighted sums of class supports."""

    def add(self, answers: npt.NDArray[Any], vote: float) -> None:
        self.sums += vote * answers
        self.total += vote


class MedianTally(Tally):
    """Predictions, of which the weighted median is taken."""

    def __init__(self, n_rows: int, n_classes: int) -> None:
        super().__init__(n_rows, n_classes)
        self._predictions: list[Floats] = []
        self._votes: list[float] = []

    def add(self, answers: npt.NDArray[Any], vote: float) -> None:
        self._predictions.append(np.asarray(answers, dtype=np.float64))
        self._votes.append(vote)
        self.total += vote

    def decide(self) -> npt.NDArray[Any]:
        return weighted_median(np.array(self._predictions), np.array(self._votes))


def weighted_median(predictions: Floats, votes: Floats) -> Floats:
    """The least prediction that has, with those below it, at least half of the votes.

    Boosted regressors decide by it (Freund and Schapire 1997). Votes are counted in steps of about
    2**-52 of their sum, so that sums do not depend on the order of the votes.
    """
    predictions, votes = _check(predictions, votes)
    counted = _in_steps(votes)
    medians = np.empty(predictions.shape[1])
    width = max(1, _BLOCK // len(votes))
    for first in range(0, predictions.shape[1], width):
        some = predictions[:, first : first + width]
        order = np.argsort(some, axis=0, kind="stable")
        medians[first : first + width] = _median_of_sorted(some, order, counted)
    return medians


def staged_weighted_median(predictions: Floats, votes: Floats) -> Iterator[Floats]:
    """Yield the weighted median of the first prediction, of the first two, and so on."""
    predictions, votes = _check(predictions, votes)
    # Sorted once: the members still to come have no votes.
    order = np.argsort(predictions, axis=0, kind="stable")
    counted = np.zeros(len(votes), np.int64)
    for n_members in range(1, len(votes) + 1):
        counted[:n_members] = _in_steps(votes[:n_members])
        yield _median_of_sorted(predictions, order, counted)


def _check(predictions: Floats, votes: Floats) -> tuple[Floats, Floats]:
    predictions = np.asarray(predictions, dtype=np.float64)
    votes = np.asarray(votes, dtype=np.float64)
    if predictions.ndim != 2 or votes.shape != predictions.shape[:1] or not len(votes):
        raise ValueError(
            f"predictions of shape {predictions.shape} and votes of shape {votes.shape} do not "
            "match; (n_members, n_rows) and (n_members,) are expected, for at least one member."
        )
    if not (votes >= 0).all():
        raise ValueError(f"votes must be numbers, and not negative; the least is {votes.min()}.")
    return predictions, votes


def _in_steps(votes: Floats) -> Integers:
    """Votes as whole numbers of steps, so that their sums are exact."""
    if np.isinf(votes).any():
        return np.isinf(votes).astype(np.int64)
    most = float(votes.max())
    if most == 0:
        return np.ones(len(votes), np.int64)
    # A step is a power of two, so that whole votes and halves stay exact.
    exponent = _STEPS - int(np.frexp(most)[1]) - int(np.frexp(float(len(votes)))[1])
    return np.rint(np.ldexp(votes, exponent)).astype(np.int64)


def _median_of_sorted(predictions: Floats, order: Integers, votes: Integers) -> Floats:
    """The weighted median, given the order of the predictions of each row."""
    sums = np.cumsum(votes[order], axis=0)
    place = np.argmax(sums >= (votes.sum() + 1) // 2, axis=0)
    columns = np.arange(predictions.shape[1])
    return np.asarray(predictions[order[place, columns], columns])
