"""The members of a fitted ensemble: what ordering, combining and inspection use of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from orfeon.base import class_codes
from orfeon.utils.scikit_learn import _num_samples
from orfeon.utils.types import Floats, Integers, Mask


@dataclass(frozen=True, eq=False)
class Members(ABC):
    """The members of a fitted ensemble, whichever library it comes from.

    Parameters
    ----------
    ensemble : estimator, or sequence of estimators
        The ensemble itself; it is never modified.

    Examples
    --------
    >>> from orfeon import BaggingClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.members import adapt
    >>> X, y = make_waveform(100, random_state=0)
    >>> members = adapt(BaggingClassifier(n_estimators=20, random_state=0).fit(X, y))
    >>> members.answers(X).shape, members.n_classes
    ((20, 100), 3)
    >>> round(float(members.out_of_bag(X, y).mean()), 1)
    0.4
    >>> len(members.subset([7, 2, 11]))
    3
    """

    ensemble: Any

    @property
    @abstractmethod
    def n_members(self) -> int:
        """Number of members."""

    @property
    @abstractmethod
    def classes(self) -> npt.NDArray[Any] | None:
        """The classes, sorted; None in regression."""

    @property
    def n_classes(self) -> int:
        """Number of classes, 0 in regression."""
        return 0 if self.classes is None else len(self.classes)

    @property
    def member_weights(self) -> Floats | None:
        """Weight of each member in the ensemble's decision; None when all weigh the same."""
        return None

    @property
    def averages_supports(self) -> bool:
        """Whether the ensemble averages class supports instead of counting votes."""
        return False

    @abstractmethod
    def answers(self, X: Any) -> npt.NDArray[Any]:
        """Votes or predictions of each member.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows, as the ensemble's own ``predict`` takes them.

        Returns
        -------
        ndarray of shape (n_members, n_rows)
            Indices into ``classes``, of int32; in regression predictions, of float64.
        """

    def supports(self, X: Any) -> Floats:
        """Class supports of each member.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows, as the ensemble's own ``predict`` takes them.

        Returns
        -------
        ndarray of shape (n_members, n_rows, n_classes)
            Class probabilities, in the order of ``classes``; 1 for its vote where a member has
            none. In regression, predictions of shape (n_members, n_rows, 1).
        """
        if self.classes is None:
            return np.asarray(self.answers(X), dtype=np.float64)[:, :, None]
        return self._supports(X)

    @abstractmethod
    def _supports(self, X: Any) -> Floats:
        """Class supports of classifiers, of shape (n_members, n_rows, n_classes)."""

    def out_of_bag(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        must_verify: bool = False,
        with_copies: bool = True,
    ) -> Mask:
        """Which training samples each member did not see.

        Parameters
        ----------
        X, y, sample_weight
            The training set, as given to ``fit``; others are rejected. For scikit-learn's ensembles
            the rows must be in the same order.
        must_verify : bool, default=False
            Whether to reject samples that cannot be checked against the training set. Only the
            trees of scikit-learn's ensembles remember their training set, by the number of samples
            in each leaf; other members know only how many samples there were.
        with_copies : bool, default=True
            Whether a row counts as seen if any copy of it was.

        Returns
        -------
        ndarray of bool of shape (n_members, n_rows)
            True where the member did not see the sample.
        """
        out = ~(self._seen if with_copies else self._drawn)(X, y, sample_weight)
        if must_verify and not self._can_verify:
            raise NoOutOfBagError(
                f"the members of this {self._name} do not record whether they were trained on "
                "these samples"
            )
        count = slice(None) if sample_weight is None else np.asarray(sample_weight).ravel() > 0
        if not out[:, count].any():
            raise self._no_out_of_bag("each of its members saw all the samples")
        return out

    def subset(self, indices: Any) -> Any:
        """The same kind of ensemble with some of the members only.

        Parameters
        ----------
        indices : sequence of int
            The members to keep, in this order; none twice.

        Returns
        -------
        estimator, or sequence of estimators
            Fitted, of the same type; the members are shared. Estimates of the whole ensemble, such
            as its out-of-bag score, are dropped, and ``warm_start`` is False.
        """
        return self._keep(self._check_indices(indices))

    def part(self, first: int, last: int) -> Self:
        """The members from ``first`` up to ``last``; ``classes`` stays the same."""
        return replace(self, ensemble=self._keep(np.arange(first, last)))

    @abstractmethod
    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        """Which training samples each member saw, of shape (n_members, n_rows)."""

    def _drawn(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        """The same for each row on its own, whatever copies it has."""
        return self._seen(X, y, sample_weight)

    @property
    def _can_verify(self) -> bool:
        """Whether ``_seen`` also rejects other samples of the same number."""
        return True

    @abstractmethod
    def _keep(self, index: Integers) -> Any:
        """The ensemble with the members of some checked indices."""

    @property
    def _name(self) -> str:
        return type(self.ensemble).__name__

    def _no_out_of_bag(self, reason: str) -> NoOutOfBagError:
        return NoOutOfBagError(f"{self._name} has no out-of-bag samples: {reason}")

    def _check_indices(self, indices: Any) -> Integers:
        index = np.asarray(indices)
        if index.ndim != 1 or len(index) == 0 or index.dtype.kind not in "iu":
            raise ValueError(
                f"indices={indices!r} is not allowed: give a list of whole numbers from 0 to "
                f"{self.n_members - 1}, at least one."
            )
        beyond = (index < 0) | (index >= self.n_members)
        if beyond.any():
            raise ValueError(
                f"indices has {index[beyond][0]}; the {self.n_members} members are numbered from 0 "
                f"to {self.n_members - 1}."
            )
        numbers, counts = np.unique(index, return_counts=True)
        if (counts > 1).any():
            raise ValueError(
                f"indices has {numbers[counts > 1][0]} more than once; each member is kept once."
            )
        return index.astype(np.int64)


class MembersNotVotingError(TypeError):
    """Members do not vote, so they cannot be queried individually."""

    def __init__(self, message: str, name: str, reason: str) -> None:
        super().__init__(message)
        self.name, self.reason = name, reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.name, self.reason)  # worker processes pickle errors


class NoOutOfBagError(ValueError):
    """Members left no samples out of training, or it is not known which."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f'{what}. Use on="train", with the training set or with samples set aside.'
        )
        self.what = what

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.what,)


def one_output(answers: Any, member: int, estimator: Any) -> npt.NDArray[Any]:
    """Predictions of one member, one for each row; several outputs are rejected."""
    found = np.asarray(answers)
    if found.ndim == 2 and found.shape[1] == 1:
        return found[:, 0]
    if found.ndim != 1:
        raise ValueError(
            f"member {member}, {type(estimator).__name__}, gives predictions of shape "
            f"{found.shape}: it has several outputs. Train an ensemble for each output."
        )
    return found


def member_codes(
    labels: npt.NDArray[Any], classes: npt.NDArray[Any], member: int
) -> npt.NDArray[np.int32]:
    """Predicted labels of a member as indices into the classes."""
    return class_codes(labels, classes, f"member {member} predicts").astype(np.int32)


def unless_equal(weights: Any) -> Floats | None:
    """Weights of members, or None when all are the same."""
    if weights is None:
        return None
    found = np.asarray(weights, dtype=np.float64)
    return None if (found == found[0]).all() else found


def check_training_set(X: Any, y: Any, n_rows: int, name: str) -> None:
    """Reject samples that cannot be the training set because their number differs."""
    for what, values in (("X", X), ("y", y)):
        if values is not None and _num_samples(values) != n_rows:
            raise ValueError(
                f"{what} has {_num_samples(values)} rows and the training set of this {name} had "
                f"{n_rows}: out-of-bag samples are those of the training set, in the same order."
            )
