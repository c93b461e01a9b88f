"""Adding up the outputs of weighted members, one after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.boosting.weighted_median import weighted_median
from orfeon.utils.types import Floats

#: Sums this close, relative to the sum of all votes, are tied: rounding does not decide.
_TIED = 1e-12


def with_ties(sums: Floats, total: Any) -> Floats:
    """The same sums, those equal to the greatest of their row but for rounding made equal to it."""
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
        """The decision so far."""
        return np.asarray(np.argmax(with_ties(self.sums, self.total), axis=1))


class VoteTally(Tally):
    """Weighted votes for classes."""

    def add(self, answers: npt.NDArray[Any], vote: float) -> None:
        """Add a member's votes."""
        self.sums[np.arange(self.n_rows), answers] += vote
        self.total += vote


class SupportTally(Tally):
    """Weighted sums of class supports."""

    def add(self, answers: npt.NDArray[Any], vote: float) -> None:
        """Add a member's supports."""
        self.sums += vote * answers
        self.total += vote


class MedianTally(Tally):
    """Predictions, of which the weighted median is taken."""

    def __init__(self, n_rows: int, n_classes: int) -> None:
        super().__init__(n_rows, n_classes)
        self._predictions: list[Floats] = []
        self._votes: list[float] = []

    def add(self, answers: npt.NDArray[Any], vote: float) -> None:
        """Add a member's predictions."""
        self._predictions.append(np.asarray(answers, dtype=np.float64))
        self._votes.append(vote)
        self.total += vote

    def decide(self) -> npt.NDArray[Any]:
        """The weighted median so far."""
        return weighted_median(np.array(self._predictions), np.array(self._votes))
