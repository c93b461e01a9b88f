"""When the members that have not voted cannot, or will hardly, change a decision.

Members vote in order. After some of them, a rule determines which class leads each row and whether
the row is settled. :class:`CertainLead` settles a row when nothing can change it any more. The
others settle it when the whole vote differs with a probability of at most ``doubt``: members are
assumed to be independent draws, with all class shares equally likely before the first vote, so the
votes still to come are Dirichlet-multinomial given those so far.

References
----------
Hernández-Lobato, Martínez-Muñoz and Suárez (2009). Statistical instance-based pruning in ensembles
of independent classifiers. IEEE Transactions on Pattern Analysis and Machine Intelligence 31(2),
364-369.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from orfeon.kernels.ordering import early
from orfeon.utils.types import Floats, Integers

Settled = tuple[Integers, npt.NDArray[np.bool_]]

#: Relative rounding of a probability: one that equals the doubt must count as within it.
_ROUNDING = 1e-9


class StabilityRule(Protocol):
    """Tells which rows the votes of the first members settle."""

    @property
    def first(self) -> int:
        """The minimum number of members that can settle a row."""

    def settled(self, sums: npt.NDArray[Any], n_queried: int) -> Settled:
        """The leading class of each row, and whether the row is settled."""


class CertainLead:
    """Settles a row when the lead exceeds the votes still to come.

    A lead equal to them is enough if the leader wins ties, as the first class does.
    """

    def __init__(self, weights: npt.NDArray[Any], n_classes: int, slack: float = 0.0) -> None:
        # Summed from the end, so that exactly 0 is left after the last.
        self._to_come = np.append(np.cumsum(weights[::-1])[::-1], 0)
        self._n_classes = n_classes
        self._slack = slack

    @property
    def first(self) -> int:
        if self._n_classes == 1:
            return 1
        most = self._to_come[0] - self._to_come  # if all votes so far were for one class
        enough = most > self._to_come + self._slack if self._slack else most >= self._to_come
        return int(np.argmax(enough))

    def settled(self, sums: npt.NDArray[Any], n_queried: int) -> Settled:
        leader = np.argmax(sums, axis=1)
        if self._n_classes == 1:
            return leader, np.ones(len(sums), dtype=bool)
        everyone = np.arange(len(sums))
        others = sums.copy()
        others[everyone, leader] = -1
        # The first of several second ones, which wins ties among them.
        second = np.argmax(others, axis=1)
        gap = sums[everyone, leader] - others[everyone, second]
        needed = self._to_come[n_queried] + self._slack
        if self._slack:
            return leader, gap > needed
        return leader, (gap > needed) | ((gap == needed) & (leader < second))


class TwoClassTable:
    """Settles a vote between two classes by an exact table of the votes needed."""

    def __init__(self, n_members: int, doubt: float) -> None:
        self.needed = np.empty((2, n_members + 1), np.int64)
        for winner, losing in enumerate(((n_members + 1) // 2, n_members // 2 + 1)):
            early.votes_needed(
                _log_factorials(n_members + 1), n_members, losing, doubt * (1 + _ROUNDING),
                self.needed[winner],
            )  # fmt: skip

    @property
    def first(self) -> int:
        enough = self.needed.min(axis=0) <= np.arange(self.needed.shape[1])
        return int(np.argmax(enough))

    def settled(self, sums: npt.NDArray[Any], n_queried: int) -> Settled:
        leader = (sums[:, 1] > sums[:, 0]).astype(np.int64)
        return leader, np.max(sums, axis=1) >= self.needed[leader, n_queried]


class RivalsBound:
    """Settles a vote between several classes by an upper bound.

    The probability that the leader loses is at most the sum of the probabilities that each rival
    overtakes it. For a pair that is at most what it would be if all votes still to come were for
    one of the two: a hypergeometric tail.
    """

    def __init__(self, n_members: int, n_classes: int, doubt: float) -> None:
        self._n_members = n_members
        self._n_classes = n_classes
        self._doubt = doubt * (1 + _ROUNDING)
        self._log_factorials = _log_factorials(n_members + 1)

    @property
    def first(self) -> int:
        agreed = np.zeros((1, self._n_classes), np.int64)
        for n_queried in range(1, self._n_members):
            agreed[0, 0] = n_queried
            if self.settled(agreed, n_queried)[1][0]:
                return n_queried
        return self._n_members

    def settled(self, sums: npt.NDArray[Any], n_queried: int) -> Settled:
        leader, holds = np.empty(len(sums), np.int64), np.empty(len(sums), np.bool_)
        early.leaders_hold(
            self._log_factorials, sums, self._n_members, n_queried, self._doubt, leader, holds
        )
        return leader, holds


def _log_factorials(most: int) -> Floats:
    return np.asarray(gammaln(np.arange(1.0, most + 2)))
