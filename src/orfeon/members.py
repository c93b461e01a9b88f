"""What an ensemble is made of, and all that the rest of the library asks of it.

Members answer ``len``, ``votes``, ``supports`` and ``subset``. Trees are members as a
:class:`orfeon.forest.Forest`; any other estimators as :class:`EstimatorMembers`; committees, whose
trees vote among themselves first, as :class:`CommitteeMembers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, overload

import numpy as np
import numpy.typing as npt

from orfeon.forest import Forest
from orfeon.tabular import class_codes

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


class Members(Protocol):
    """What ordering, combining and inspection ask of the members of an ensemble."""

    n_classes: int

    def __len__(self) -> int:
        """How many there are."""

    def votes(self, X: Any) -> Codes:
        """Class code that each member votes for, of shape (n_members, n_rows)."""

    def supports(self, X: Any) -> Floats:
        """What each member says, of shape (n_members, n_rows, n_outputs)."""

    def count_votes(self, X: Any) -> npt.NDArray[np.int64]:
        """Votes for each class, of shape (n_rows, n_classes)."""

    def mean_supports(self, X: Any) -> Floats:
        """Supports averaged over the members, of shape (n_rows, n_outputs)."""

    def subset(self, chosen: Any) -> Members:
        """Some of the members."""


class FromEach(ABC):
    """Sums over members of what each says."""

    n_classes: int

    @abstractmethod
    def votes(self, X: Any) -> Codes:
        """Class code that each member votes for."""

    @abstractmethod
    def supports(self, X: Any) -> Floats:
        """What each member says."""

    def count_votes(self, X: Any) -> npt.NDArray[np.int64]:
        """How many members vote for each class.

        Parameters
        ----------
        X : array of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Vote counts.
        """
        votes = self.votes(X)
        counts = np.zeros((votes.shape[1], self.n_classes), np.int64)
        for one in votes:
            counts[np.arange(votes.shape[1]), one] += 1
        return counts

    def mean_supports(self, X: Any) -> Floats:
        """Supports averaged over the members.

        Parameters
        ----------
        X : array of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
            Mean class shares, or the mean prediction.
        """
        said = self.supports(X)
        total = np.zeros(said.shape[1:])
        for one in said:  # in this order: a row alone then has the same bits as among others
            total += one
        return total / len(said)


@dataclass(frozen=True)
class EstimatorMembers(FromEach):
    """Fitted estimators of any kind.

    Parameters
    ----------
    estimators : sequence of estimators
        Classifiers fitted to class codes, or regressors.
    n_classes : int
        Number of classes, 0 in regression.
    attributes : sequence of ndarray, optional
        Columns that each of them was trained on; all by default.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from orfeon.members import EstimatorMembers
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> members = EstimatorMembers([GaussianNB().fit(X, y)], n_classes=2)
    >>> members.votes(X)
    array([[0, 0, 1, 1]], dtype=int32)
    """

    estimators: Sequence[Any]
    n_classes: int
    attributes: Sequence[npt.NDArray[np.int64]] | None = None

    def __len__(self) -> int:
        return len(self.estimators)

    def _columns(self, member: int, X: Any) -> Any:
        if self.attributes is None:
            return X
        from sklearn.utils import _safe_indexing

        return _safe_indexing(X, self.attributes[member], axis=1)

    def votes(self, X: Any) -> Codes:
        """Class code that each member votes for.

        Parameters
        ----------
        X : array of shape (n_rows, n_attributes)
            Rows, as the estimators take them.

        Returns
        -------
        ndarray of shape (n_members, n_rows)
            Class codes.
        """
        said = [e.predict(self._columns(t, X)) for t, e in enumerate(self.estimators)]
        return np.asarray(said, dtype=np.int32)

    def supports(self, X: Any) -> Floats:
        """What each member says: class probabilities, its vote if it has none, or its prediction.

        Parameters
        ----------
        X : array of shape (n_rows, n_attributes)
            Rows, as the estimators take them.

        Returns
        -------
        ndarray of shape (n_members, n_rows, n_outputs)
            Supports.
        """
        said = [self._support(t, X) for t in range(len(self))]
        return np.asarray(said)

    def _support(self, member: int, X: Any) -> Floats:
        estimator, X = self.estimators[member], self._columns(member, X)
        if self.n_classes == 0:
            return np.asarray(estimator.predict(X), dtype=np.float64)[:, None]
        return class_supports(estimator, X, np.arange(self.n_classes))

    def subset(self, chosen: Sequence[int] | npt.NDArray[np.integer[Any]]) -> EstimatorMembers:
        """Some of the members.

        Parameters
        ----------
        chosen : sequence of int, or mask
            Which.

        Returns
        -------
        EstimatorMembers
            These, in the order given.
        """
        index = np.arange(len(self))[np.asarray(chosen)]
        attributes = None if self.attributes is None else [self.attributes[t] for t in index]
        return EstimatorMembers([self.estimators[t] for t in index], self.n_classes, attributes)

    @staticmethod
    def concatenate(parts: Sequence[EstimatorMembers]) -> EstimatorMembers:
        """The members of several, in order.

        Parameters
        ----------
        parts : sequence of EstimatorMembers
            Members of the same problem.

        Returns
        -------
        EstimatorMembers
            All of them.
        """
        estimators = [e for part in parts for e in part.estimators]
        attributes = None
        if parts[0].attributes is not None:
            attributes = [a for part in parts for a in part.attributes or ()]
        return EstimatorMembers(estimators, parts[0].n_classes, attributes)


@dataclass(frozen=True)
class CommitteeMembers(FromEach):
    """Committees of trees; each committee votes first and then has one vote.

    Parameters
    ----------
    committees : sequence of Forest
        The committees.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import CARTClassifier
    >>> from orfeon.members import CommitteeMembers
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> forest = CARTClassifier().fit(X, [0, 0, 1]).forest_
    >>> CommitteeMembers([forest, forest]).votes(X)
    array([[0, 0, 1],
           [0, 0, 1]], dtype=int32)
    """

    committees: Sequence[Forest]

    @property
    def n_classes(self) -> int:  # type: ignore[override]
        """Number of classes."""
        return self.committees[0].n_classes

    def __len__(self) -> int:
        return len(self.committees)

    def votes(self, X: Floats) -> Codes:
        """Class that each committee decides for.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_attributes)
            Encoded rows.

        Returns
        -------
        ndarray of shape (n_committees, n_rows)
            Class codes; a tie within a committee takes the first class.
        """
        return np.asarray([c.predict(X) for c in self.committees], dtype=np.int32)

    def supports(self, X: Floats) -> Floats:
        """Share of each committee's trees that vote for each class.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_attributes)
            Encoded rows.

        Returns
        -------
        ndarray of shape (n_committees, n_rows, n_classes)
            Vote shares.
        """
        return np.asarray([c.count_votes(X) / len(c) for c in self.committees])

    def subset(self, chosen: Sequence[int] | npt.NDArray[np.integer[Any]]) -> CommitteeMembers:
        """Some of the committees.

        Parameters
        ----------
        chosen : sequence of int, or mask
            Which.

        Returns
        -------
        CommitteeMembers
            These, in the order given.
        """
        index = np.arange(len(self))[np.asarray(chosen)]
        return CommitteeMembers([self.committees[c] for c in index])

    @staticmethod
    def concatenate(parts: Sequence[CommitteeMembers]) -> CommitteeMembers:
        """The committees of several, in order.

        Parameters
        ----------
        parts : sequence of CommitteeMembers
            Committees of the same problem.

        Returns
        -------
        CommitteeMembers
            All of them.
        """
        return CommitteeMembers([c for part in parts for c in part.committees])


def class_supports(estimator: Any, X: Any, classes: npt.NDArray[Any]) -> Floats:
    """How much a fitted classifier supports each class: its probabilities, or else its vote.

    Parameters
    ----------
    estimator : classifier
        Fitted; it may have seen some of the classes only.
    X : array of shape (n_rows, n_attributes)
        Rows, as it takes them.
    classes : ndarray of shape (n_classes,)
        All the classes, sorted.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Supports, 0 for classes that it does not know.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from orfeon.members import class_supports
    >>> bayes = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "c", "c"])
    >>> class_supports(bayes, [[0.5], [4.5]], np.array(["a", "b", "c"])).round(1)
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    who = type(estimator).__name__
    if not hasattr(estimator, "predict_proba"):
        votes = np.asarray(estimator.predict(X))
        return np.eye(len(classes))[class_codes(votes, classes, f"{who} decides for")]
    shares = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    known = np.asarray(estimator.classes_)
    if np.array_equal(known, classes):
        return shares
    whole = np.zeros((len(shares), len(classes)))
    whole[:, class_codes(known, classes, f"{who} knows")] = shares
    return whole


def concatenate(parts: Sequence[Any]) -> Any:
    """Members of several parts in one, whatever they are.

    Parameters
    ----------
    parts : sequence of members of one kind
        In order; at least one.

    Returns
    -------
    Members
        All of them.
    """
    return parts[0] if len(parts) == 1 else type(parts[0]).concatenate(parts)


class LazyView(Sequence[Any]):
    """A sequence whose items are made when they are asked for.

    Parameters
    ----------
    length : int
        How many there are.
    make : callable
        Makes the item of an index.

    Examples
    --------
    >>> from orfeon.members import LazyView
    >>> squares = LazyView(10, lambda i: i * i)
    >>> squares[3], squares[-1], squares[2:4], len(squares)
    (9, 81, [4, 9], 10)
    """

    def __init__(self, length: int, make: Callable[[int], Any]) -> None:
        self._length = length
        self._make = make

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        chosen = range(self._length)[index]
        return [self._make(i) for i in chosen] if isinstance(chosen, range) else self._make(chosen)

    def __iter__(self) -> Iterator[Any]:
        return (self._make(i) for i in range(self._length))

    def __repr__(self) -> str:
        return f"<{self._length} estimators, made when asked for>"
