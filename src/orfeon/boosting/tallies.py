"""Adding up what weighted members say, member after member."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.boosting.weighted_median import weighted_median

Floats = npt.NDArray[np.float64]


#: Sums this close, relative to the sum of all votes, are tied: rounding does not decide.
_TIED = 1e-12


def with_ties(sums: Floats, total: Any) -> Floats:
    """The same sums, those equal to the greatest of their row but for rounding made equal to it.

    Parameters
    ----------
    sums : ndarray of shape (n_rows, n_classes)
        Sums of votes.
    total : float or ndarray
        Sum of all votes.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Sums.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting.tallies import with_ties
    >>> np.argmax(with_ties(np.array([[0.1 + 0.2, 0.30000000000000010]]), 0.6))
    np.int64(0)
    """
    greatest = sums.max(axis=1, keepdims=True)
    return np.where(greatest - sums <= _TIED * float(np.max(total)), greatest, sums)


class Tally(ABC):
    """What the members heard so far say together.

    Parameters
    ----------
    n_rows : int
        Number of examples.
    n_classes : int
        Number of classes, 0 in regression.
    """

    def __init__(self, n_rows: int, n_classes: int) -> None:
        self.n_rows = n_rows
        self.sums: Floats = np.zeros((n_rows, n_classes))
        self.total: Any = 0.0

    @abstractmethod
    def add(self, said: npt.NDArray[Any], vote: Any) -> None:
        """Hear one more member.

        Parameters
        ----------
        said : ndarray
            What it says of the examples.
        vote : float or ndarray
            The weight of its vote; one for each problem where members answer several.
        """

    def decide(self) -> npt.NDArray[Any]:
        """The decision so far.

        Returns
        -------
        ndarray of shape (n_rows,)
            Class codes, the first of those that are tied; or numbers.
        """
        return np.asarray(np.argmax(with_ties(self.sums, self.total), axis=1))


class VoteTally(Tally):
    """Weighted votes for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting.tallies import VoteTally
    >>> tally = VoteTally(2, 2)
    >>> tally.add(np.array([0, 1]), 0.5)
    >>> tally.add(np.array([1, 1]), 0.75)
    >>> tally.sums, tally.decide()
    (array([[0.5 , 0.75],
           [0.  , 1.25]]), array([1, 1]))
    """

    def add(self, said: npt.NDArray[Any], vote: float) -> None:
        """Add a member's votes.

        Parameters
        ----------
        said : ndarray of shape (n_rows,)
            Class codes.
        vote : float
            The weight of its vote.
        """
        self.sums[np.arange(self.n_rows), said] += vote
        self.total += vote


class SupportTally(Tally):
    """Weighted sums of class supports.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting.tallies import SupportTally
    >>> tally = SupportTally(1, 2)
    >>> tally.add(np.array([[0.25, 0.75]]), 2.0)
    >>> tally.sums
    array([[0.5, 1.5]])
    """

    def add(self, said: npt.NDArray[Any], vote: float) -> None:
        """Add a member's supports.

        Parameters
        ----------
        said : ndarray of shape (n_rows, n_classes)
            Supports.
        vote : float
            The weight of its vote.
        """
        self.sums += vote * said
        self.total += vote


class MedianTally(Tally):
    """Predictions, of which the weighted median is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting.tallies import MedianTally
    >>> tally = MedianTally(1, 0)
    >>> for number, vote in ((1.0, 1.0), (5.0, 3.0), (2.0, 1.0)):
    ...     tally.add(np.array([number]), vote)
    >>> tally.decide()
    array([5.])
    """

    def __init__(self, n_rows: int, n_classes: int) -> None:
        super().__init__(n_rows, n_classes)
        self._said: list[Floats] = []
        self._votes: list[float] = []

    def add(self, said: npt.NDArray[Any], vote: float) -> None:
        """Hear a member's predictions.

        Parameters
        ----------
        said : ndarray of shape (n_rows,)
            Predictions.
        vote : float
            The weight of its vote.
        """
        self._said.append(np.asarray(said, dtype=np.float64))
        self._votes.append(vote)
        self.total += vote

    def decide(self) -> npt.NDArray[Any]:
        """The weighted median so far.

        Returns
        -------
        ndarray of shape (n_rows,)
            Numbers.
        """
        return weighted_median(np.array(self._said), np.array(self._votes))
