"""The ``members_`` of an ensemble: a forest, other estimators, or committees of trees.

All three, :class:`orfeon.forest.Forest` among them, have ``len``, ``n_classes``, ``votes``,
``supports``, ``count_votes``, ``mean_supports`` and ``subset``, and work with class codes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from orfeon.base import class_codes
from orfeon.forest import Forest
from orfeon.utils import saved
from orfeon.utils.types import Floats, Integers32


class FromEach(ABC):
    """Vote counts and mean supports, from the outputs of each member."""

    n_classes: int

    @abstractmethod
    def votes(self, X: Any) -> Integers32:
        """Class code that each member votes for, of shape (n_members, n_rows)."""

    @abstractmethod
    def supports(self, X: Any) -> Floats:
        """Class supports or predictions, of shape (n_members, n_rows, n_outputs)."""

    def count_votes(self, X: Any) -> npt.NDArray[np.int64]:
        """How many members vote for each class."""
        votes = self.votes(X)
        counts = np.zeros((votes.shape[1], self.n_classes), np.int64)
        for one in votes:
            counts[np.arange(votes.shape[1]), one] += 1
        return counts

    def mean_supports(self, X: Any) -> Floats:
        """Supports averaged over the members."""
        answers = self.supports(X)
        total = np.zeros(answers.shape[1:])
        for one in answers:  # in order, so that the bits of a row do not depend on other rows
            total += one
        return total / len(answers)


@saved.attributes(
    estimators=saved.list_of(saved.estimator, at_least=1),
    n_classes=saved.integer(0),
    features=saved.in_files("attributes", saved.one_of(saved.none, saved.list_of(saved.indices))),
)
@dataclass(frozen=True)
class EstimatorMembers(FromEach):
    """Fitted estimators of any kind."""

    estimators: Sequence[Any]
    n_classes: int
    features: Sequence[npt.NDArray[np.int64]] | None = None

    def __len__(self) -> int:
        return len(self.estimators)

    def _columns(self, member: int, X: Any) -> Any:
        if self.features is None:
            return X
        from orfeon.utils.scikit_learn import _safe_indexing

        return _safe_indexing(X, self.features[member], axis=1)

    def votes(self, X: Any) -> Integers32:
        """Class code that each member votes for."""
        answers = [e.predict(self._columns(t, X)) for t, e in enumerate(self.estimators)]
        return np.asarray(answers, dtype=np.int32)

    def supports(self, X: Any) -> Floats:
        """Each member's class probabilities, its vote if it has none, or its prediction."""
        answers = [self._support(t, X) for t in range(len(self))]
        return np.asarray(answers)

    def _support(self, member: int, X: Any) -> Floats:
        estimator, X = self.estimators[member], self._columns(member, X)
        if self.n_classes == 0:
            return np.asarray(estimator.predict(X), dtype=np.float64)[:, None]
        return class_supports(estimator, X, np.arange(self.n_classes))

    def subset(self, chosen: Sequence[int] | npt.NDArray[np.integer[Any]]) -> EstimatorMembers:
        index = np.arange(len(self))[np.asarray(chosen)]
        features = None if self.features is None else [self.features[t] for t in index]
        return EstimatorMembers([self.estimators[t] for t in index], self.n_classes, features)

    @staticmethod
    def concatenate(parts: Sequence[EstimatorMembers]) -> EstimatorMembers:
        """The members of several, in order."""
        estimators = [e for part in parts for e in part.estimators]
        features = None
        if parts[0].features is not None:
            features = [a for part in parts for a in part.features or ()]
        return EstimatorMembers(estimators, parts[0].n_classes, features)


@saved.attributes(committees=saved.list_of(saved.instance("Forest"), at_least=1))
@dataclass(frozen=True)
class CommitteeMembers(FromEach):
    """Committees of trees; each committee casts one vote, by the plurality of its trees."""

    committees: Sequence[Forest]

    @property
    def n_classes(self) -> int:  # type: ignore[override]
        return self.committees[0].n_classes

    def __len__(self) -> int:
        return len(self.committees)

    def votes(self, X: Floats) -> Integers32:
        """Class that each committee decides for."""
        return np.asarray([c.predict(X) for c in self.committees], dtype=np.int32)

    def supports(self, X: Floats) -> Floats:
        """Share of each committee's trees that vote for each class."""
        return np.asarray([c.count_votes(X) / len(c) for c in self.committees])

    def subset(self, chosen: Sequence[int] | npt.NDArray[np.integer[Any]]) -> CommitteeMembers:
        index = np.arange(len(self))[np.asarray(chosen)]
        return CommitteeMembers([self.committees[c] for c in index])

    @staticmethod
    def concatenate(parts: Sequence[CommitteeMembers]) -> CommitteeMembers:
        """The committees of several, in order."""
        return CommitteeMembers([c for part in parts for c in part.committees])


def class_supports(estimator: Any, X: Any, classes: npt.NDArray[Any]) -> Floats:
    """Class supports of a fitted classifier: its probabilities, or 1 for its vote."""
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
    """Members of several parts in one."""
    return parts[0] if len(parts) == 1 else type(parts[0]).concatenate(parts)


class LazyView(Sequence[Any]):
    """A sequence whose items are created on access."""

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
        return f"<{self._length} estimators, made on access>"
