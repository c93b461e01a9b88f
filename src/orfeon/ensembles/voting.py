"""From the members' answers to a decision: votes for classes, means for numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions

from orfeon.ensembles.stages import StagedClassifierMixin, StagedRegressorMixin
from orfeon.tabular import TabularClassifierMixin, TabularRegressorMixin

Floats = npt.NDArray[np.float64]
Combine = Literal["majority", "soft"]

#: Members asked at once when stages are wanted.
_BLOCK = 32

CLASSIFIER: dict[str, list[Any]] = {
    "combine": [StrOptions({"majority", "soft"})],
}
CLASS_WEIGHT: dict[str, list[Any]] = {"class_weight": [dict, StrOptions({"balanced"}), None]}


class AskedMixin:
    """The members, and how an ensemble asks them about rows."""

    members_: Any

    if TYPE_CHECKING:

        def _rows(self, X: Any) -> Any: ...
        def _ask(self, ask: Callable[[Any], Any], rows: Any, axis: int) -> Any: ...


class VotesMixin(AskedMixin):
    """Members that each vote for a class."""

    def votes(self, X: Any) -> npt.NDArray[np.int32]:
        """Class that each member votes for.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_members, n_rows)
            Indices into ``classes_``.
        """
        rows = self._rows(X)
        return np.asarray(self._ask(self.members_.votes, rows, 1))


class VotingClassifierMixin(StagedClassifierMixin, VotesMixin, TabularClassifierMixin):
    """The decision of an ensemble of classifiers: a vote, or averaged class supports."""

    combine: Combine

    def vote_shares(self, X: Any) -> Floats:
        """Share of the members that vote for each class.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes_``.
        """
        rows = self._rows(X)
        counts = self._ask(self.members_.count_votes, rows, 0)
        return np.asarray(counts / len(self.members_))

    def mean_supports(self, X: Any) -> Floats:
        """Class supports averaged over the members: of a tree, the class shares of the leaf.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Mean supports, in the order of ``classes_``.
        """
        rows = self._rows(X)
        return np.asarray(self._ask(self.members_.mean_supports, rows, 0))

    def predict_proba(self, X: Any) -> Floats:
        """Vote shares, or averaged class supports with ``combine="soft"``.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes_``.
        """
        return self.mean_supports(X) if self.combine == "soft" else self.vote_shares(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of most votes, or of the largest mean support with ``combine="soft"``.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes; the first of those that are tied.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[np.argmax(shares, axis=1)])

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """:meth:`predict_proba` of the first member, of the first two, and so on.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
            Shares.
        """
        rows = self._rows(X)
        sums = np.zeros((rows.shape[0], self.n_classes_))
        everyone = np.arange(rows.shape[0])
        for first in range(0, len(self.members_), _BLOCK):
            some = self.members_.subset(range(first, min(first + _BLOCK, len(self.members_))))
            said = some.supports(rows) if self.combine == "soft" else some.votes(rows)
            for k, one in enumerate(said):
                if self.combine == "soft":
                    sums += one
                else:
                    sums[everyone, one] += 1.0
                yield sums / (first + k + 1)

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Decision of the first member, of the first two, and so on.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows,)
            Classes.
        """
        for shares in self.staged_predict_proba(X):
            yield self.classes_[np.argmax(shares, axis=1)]


class AveragingRegressorMixin(StagedRegressorMixin, AskedMixin, TabularRegressorMixin):
    """The decision of an ensemble of regressors: the mean of their predictions."""

    def predictions(self, X: Any) -> Floats:
        """What each member predicts.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_members, n_rows)
            Predictions.
        """
        rows = self._rows(X)
        return np.asarray(self._ask(self.members_.supports, rows, 1)[:, :, 0])

    def predict(self, X: Any) -> Floats:
        """The mean of the members' predictions.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions.
        """
        rows = self._rows(X)
        return np.asarray(self._ask(self.members_.mean_supports, rows, 0)[:, 0])

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Mean prediction of the first member, of the first two, and so on.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows,)
            Predictions.
        """
        rows = self._rows(X)
        sums = np.zeros(rows.shape[0])
        for first in range(0, len(self.members_), _BLOCK):
            some = self.members_.subset(range(first, min(first + _BLOCK, len(self.members_))))
            for k, one in enumerate(some.supports(rows)):
                sums += one[:, 0]
                yield sums / (first + k + 1)
