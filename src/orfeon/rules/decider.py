"""Deciders: from the votes of all members, or of one member after the other, to a decision."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, repeat
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from orfeon.rules.answers import Reads, read_predictions, read_supports, read_votes
from orfeon.utils.types import Floats

Task = Literal["classification", "regression", "both"]


class Decider(ABC):
    """A fitted rule: turns the votes, supports or predictions of members into a decision.

    Its fields are arrays, numbers and strings.

    Examples
    --------
    >>> from orfeon.combining import Majority
    >>> decider = Majority().learn(None, None, n_classes=3)
    >>> decider.shares([[0, 2], [0, -1], [1, 2], [0, -1]], n_classes=3)
    array([[0.75, 0.25, 0.  ],
           [0.  , 0.  , 1.  ]])
    """

    #: What it reads from classifiers; from regressors it reads predictions.
    reads: ClassVar[Reads]
    #: What it can decide.
    task: ClassVar[Task]

    @property
    def n_members(self) -> int | None:
        """How many members it is for; None when for any number."""
        return None

    def shares(self, answers: Any, n_classes: int) -> Floats:
        """Share of each class; the decision is the largest, the first of those tied.

        Parameters
        ----------
        answers : array of shape (n_members, n_rows) or (n_members, n_rows, n_classes)
            Votes, -1 where a member does not vote; or supports, NaN for all classes where a member
            has none.
        n_classes : int
            Number of classes.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares that are not negative and sum to 1 in each row.
        """
        return self._decide(self._read(answers, n_classes), n_classes)

    def predict(self, answers: Any) -> Floats:
        """Combined predictions.

        Parameters
        ----------
        answers : array of shape (n_members, n_rows)
            Predictions, NaN where a member has none.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions; NaN where no member has one.
        """
        return self._decide(self._read_numbers(answers), 0)[:, 0]

    def staged_shares(self, answers: Any, n_classes: int) -> Iterator[Floats]:
        """:meth:`shares` of the first member, of the first two, and so on.

        Parameters
        ----------
        answers, n_classes
            As for :meth:`shares`.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
            Shares.
        """
        yield from self._decide_in_stages([self._read(answers, n_classes)], n_classes)

    def staged_predict(self, answers: Any) -> Iterator[Floats]:
        """:meth:`predict` of the first member, of the first two, and so on.

        Parameters
        ----------
        answers : array of shape (n_members, n_rows)
            Predictions, NaN where a member has none.

        Yields
        ------
        ndarray of shape (n_rows,)
            Predictions.
        """
        for decided in self._decide_in_stages([self._read_numbers(answers)], 0):
            yield decided[:, 0]

    def decide(self, answers: npt.NDArray[Any], n_classes: int) -> Floats:
        """:meth:`shares` or :meth:`predict` without any checks, for members of orfeon.

        Parameters
        ----------
        answers : ndarray of shape (n_members, n_rows) or (n_members, n_rows, n_classes)
            Votes as integers from -1 on; or float64 supports; or float64 predictions in
            regression. All the members that the decider is for.
        n_classes : int
            Number of classes, 0 in regression.

        Returns
        -------
        ndarray of shape (n_rows, n_classes) or (n_rows,)
            Shares, or numbers.
        """
        if n_classes == 0:
            return self._decide(answers[:, :, None], 0)[:, 0]
        return self._decide(answers, n_classes)

    def decide_in_stages(
        self, parts: Iterable[npt.NDArray[Any]], n_classes: int
    ) -> Iterator[Floats]:
        """:meth:`decide` of the first member, of the first two, and so on.

        Parameters
        ----------
        parts : iterable of ndarray
            Answers as for :meth:`decide`, of the first few members, of the next few, and so on;
            parts are read one at a time.
        n_classes : int
            Number of classes, 0 in regression.

        Yields
        ------
        ndarray of shape (n_rows, n_classes) or (n_rows,)
            Shares, or numbers.
        """
        if n_classes:
            yield from self._decide_in_stages(parts, n_classes)
        else:
            for decided in self._decide_in_stages((part[:, :, None] for part in parts), 0):
                yield decided[:, 0]

    def subset(self, indices: Any) -> Decider:
        """The decider of some of the members.

        Parameters
        ----------
        indices : sequence of int, or mask
            Which members, in the order in which their answers will come.

        Returns
        -------
        Decider
            With what was learnt about these members.
        """
        return self

    @abstractmethod
    def _decide(self, answers: npt.NDArray[Any], n_classes: int) -> Floats:
        """Shares of the classes, or predictions in one column in regression."""

    @abstractmethod
    def _decide_in_stages(
        self, parts: Iterable[npt.NDArray[Any]], n_classes: int
    ) -> Iterator[Floats]:
        """The same for the first member, the first two, and so on; members come in parts."""

    def _read(self, answers: Any, n_classes: int) -> npt.NDArray[Any]:
        if self.task == "regression":
            raise ValueError(
                f"{type(self).__name__} predicts numbers; it has no shares of classes."
            )
        check_n_classes(n_classes, fewest=1)
        read = read_votes if self.reads == "votes" else read_supports
        return read(answers, n_classes, self.n_members)

    def _read_numbers(self, answers: Any) -> Floats:
        if self.task == "classification":
            raise ValueError(f"{type(self).__name__} decides classes; it cannot predict numbers.")
        return read_predictions(answers, self.n_members)[:, :, None]


class RunningDecider(Decider):
    """A decider that adds one member after the other, and can decide after each."""

    @abstractmethod
    def _stages(
        self, answered: Iterator[npt.NDArray[Any]], shape: tuple[int, ...], n_classes: int
    ) -> Iterator[Callable[[], Floats]]:
        """A function for the decision of the members so far, after each; valid until the next.

        The votes of each member have the given shape.
        """

    def _decide(self, answers: npt.NDArray[Any], n_classes: int) -> Floats:
        for last in self._stages(iter(answers), answers.shape[1:], n_classes):
            conclude = last
        return conclude()

    def _decide_in_stages(
        self, parts: Iterable[npt.NDArray[Any]], n_classes: int
    ) -> Iterator[Floats]:
        coming = iter(parts)
        first = next(coming)
        answered = chain.from_iterable(chain([first], coming))
        for conclude in self._stages(answered, first.shape[1:], n_classes):
            yield conclude()


@dataclass(frozen=True, eq=False)
class WeightedMembers(RunningDecider):
    """A decider of members that all count the same, or each as much as its weight."""

    weights: Floats | None = None

    @property
    def n_members(self) -> int | None:
        """How many members it is for; None when for any number."""
        return None if self.weights is None else len(self.weights)

    def subset(self, indices: Any) -> Self:
        """The decider of some of the members."""
        if self.weights is None:
            return self
        return replace(self, weights=self.weights[members_at(indices, len(self.weights))])

    def _with_weights(self, answered: Iterator[npt.NDArray[Any]]) -> Iterator[tuple[Any, float]]:
        """The votes of each member, and its weight."""
        if self.weights is None:
            return zip(answered, repeat(1.0), strict=False)
        return zip(answered, self.weights.tolist(), strict=True)


def check_n_classes(n_classes: Any, fewest: int) -> None:
    """Reject an invalid number of classes."""
    if isinstance(n_classes, bool) or not isinstance(n_classes, Integral) or n_classes < fewest:
        also = ", or 0 in regression" if fewest == 0 else ""
        raise ValueError(f"n_classes={n_classes!r} is not allowed; use 1 or more{also}.")


def members_at(indices: Any, n_members: int) -> npt.NDArray[np.int64]:
    """Indices of some of the members."""
    index = np.asarray(indices)
    if index.dtype == bool and index.shape == (n_members,):
        index = np.flatnonzero(index)
    is_list = index.ndim == 1 and len(index) > 0 and index.dtype.kind in "iu"
    if not is_list or index.min() < 0 or index.max() >= n_members:
        raise ValueError(
            f"indices={indices!r} is not allowed; use whole numbers from 0 to {n_members - 1}, at "
            "least one, or a mask."
        )
    return index.astype(np.int64)
