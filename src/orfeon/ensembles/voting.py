"""From the members' outputs to a decision: votes for classes, means for numbers, or other rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score
from sklearn.utils import check_consistent_length, column_or_1d

from orfeon.base import TabularClassifierMixin, TabularRegressorMixin
from orfeon.ensembles.decision import COUNTS, Combine, CombinesMixin, QueryMixin
from orfeon.ensembles.probabilities import CALIBRATE, ProbabilitiesMixin
from orfeon.ensembles.remembering import IntervalsMixin, SetsMixin
from orfeon.ensembles.several_outputs import voting_forest
from orfeon.forest import Forest
from orfeon.members.members import CommitteeMembers
from orfeon.rules.rule import CombiningRule, rules_for
from orfeon.utils.scikit_learn import StrOptions
from orfeon.utils.types import Floats

#: Members queried at once for staged predictions.
_BLOCK = 32

CLASSIFIER: dict[str, list[Any]] = {
    "combine": [StrOptions(set(rules_for("classification"))), CombiningRule],
    **CALIBRATE,
}
REGRESSOR: dict[str, list[Any]] = {
    "combine": [StrOptions(set(rules_for("regression"))), CombiningRule],
}
CLASS_WEIGHT: dict[str, list[Any]] = {"class_weight": [dict, StrOptions({"balanced"}), None]}
CLASS_WEIGHT_OF_TREES: dict[str, list[Any]] = {
    "class_weight": [dict, list, StrOptions({"balanced", "balanced_subsample"}), None]
}


class VotesMixin(QueryMixin):
    """Members that each vote for a class."""

    def votes(self, X: Any) -> npt.NDArray[np.int32]:
        """Class that each member votes for.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_members, n_rows)
            Indices into ``classes_``.
        """
        rows = self._rows(X)
        return np.asarray(self._query(self.members_.votes, rows, 1))


class StagedClassifierMixin:
    if TYPE_CHECKING:

        def staged_predict(self, X: Any) -> Iterator[Any]:
            """Answers of the first members."""

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Accuracy of the first member or round, of the first two, and so on.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        y : array of shape (n_rows,)
            Their classes.
        sample_weight : array of shape (n_rows,), optional
            Their weights.

        Yields
        ------
        float
            Accuracy.
        """
        # scikit-learn's score would check all labels again at each stage.
        classes = column_or_1d(y)
        check_consistent_length(X, classes, sample_weight)
        for decided in self.staged_predict(X):
            yield float(np.average(decided == classes, weights=sample_weight))


class StagedRegressorMixin:
    if TYPE_CHECKING:

        def staged_predict(self, X: Any) -> Iterator[Any]:
            """Answers of the first members."""

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R² of the first member or round, of the first two, and so on.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        y : array of shape (n_rows,)
            Their targets.
        sample_weight : array of shape (n_rows,), optional
            Their weights.

        Yields
        ------
        float
            Coefficient of determination.
        """
        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))


class VotingClassifierMixin(
    SetsMixin, StagedClassifierMixin, VotesMixin, ProbabilitiesMixin, TabularClassifierMixin
):
    """How an ensemble of classifiers decides: by a vote, or by another rule."""

    _plain_rule: ClassVar[Combine] = "majority"

    @property
    def _class_weight_of_trees(self) -> str | None:
        """The class weights that each tree finds in its own samples."""
        rule = getattr(self, "class_weight", None)
        return "balanced" if rule == "balanced_subsample" else None

    def vote_shares(self, X: Any) -> Any:
        """Share of the members that vote for each class.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Shares, in the order of ``classes_``.
        """
        if self._output_classes:
            voting = voting_forest(self.members_, self._output_classes)
            return self._by_output(self._query(voting.mean_supports, self._rows(X), 0))
        rows = self._rows(X)
        counts = self._query(self.members_.count_votes, rows, 0)
        return np.asarray(counts / len(self.members_))

    def mean_supports(self, X: Any) -> Any:
        """Class supports averaged over the members: of a tree, the class shares of the leaf.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Mean supports, in the order of ``classes_``.
        """
        rows = self._rows(X)
        mean = np.asarray(self._query(self.members_.mean_supports, rows, 0))
        return self._by_output(mean) if self._output_classes else mean

    def predict_proba(self, X: Any) -> Any:
        """Probabilities from the class shares by the rule ``combine``, by default of the votes.

        They are calibrated by ``calibrate``; without it, shares are smoothed by half a vote, so
        that none is exactly 0 or 1. :meth:`vote_shares` and :meth:`mean_supports` are not.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``. With several outputs, a list with an
            array of vote shares or mean supports for each.
        """
        shares = self._raw_shares(X)
        if self._output_classes:
            return shares
        return self._as_probabilities(shares, len(self.members_))

    def _smoothed(self, shares: Floats, n_members: float | Floats) -> Floats:
        # Probabilities of other models than trees are no counts of a few samples.
        is_smooth = self._simple_rule == "soft" and not isinstance(
            self.members_, Forest | CommitteeMembers
        )
        return shares if is_smooth else super()._smoothed(shares, n_members)

    def _raw_shares(self, X: Any) -> Any:
        """Class shares by the rule."""
        if self._simple_rule in COUNTS:
            return self.vote_shares(X)
        if self._simple_rule == "soft":
            return self.mean_supports(X)
        return self._decide_by_rule(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class with the largest share by the rule ``combine``, by default of the votes.

        With ``calibrate`` it is the class with the largest probability.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            Classes; the first of those that are tied.
        """
        shares = self._raw_shares(X)
        if self._output_classes:
            return self._decide_outputs(shares)
        return self._decided(shares, len(self.members_))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """:meth:`predict_proba` of the first member, of the first two, and so on.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
            Probabilities.
        """
        for stage, shares in enumerate(self._staged_shares(X)):
            yield self._as_probabilities(shares, stage + 1)

    def _staged_shares(self, X: Any) -> Iterator[Floats]:
        """Class shares of the first member, of the first two, and so on."""
        self._check_one_output("staged predictions")
        is_soft = self._simple_rule == "soft"
        if not is_soft and self._simple_rule not in COUNTS:
            yield from self._staged_by_rule(X)
            return
        rows = self._rows(X)
        sums = np.zeros((rows.shape[0], self.n_classes_))
        everyone = np.arange(rows.shape[0])
        for first in range(0, len(self.members_), _BLOCK):
            some = self.members_.subset(range(first, min(first + _BLOCK, len(self.members_))))
            answers = some.supports(rows) if is_soft else some.votes(rows)
            for k, one in enumerate(answers):
                if is_soft:
                    sums += one
                else:
                    sums[everyone, one] += 1.0
                yield sums / (first + k + 1)

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Decision of the first member, of the first two, and so on.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows,)
            Classes.
        """
        for stage, shares in enumerate(self._staged_shares(X)):
            yield self._decided(shares, stage + 1)


class AveragingRegressorMixin(
    IntervalsMixin, StagedRegressorMixin, CombinesMixin, TabularRegressorMixin
):
    """How an ensemble of regressors predicts: by the mean, or by another rule."""

    _plain_rule: ClassVar[Combine] = "mean"

    def predictions(self, X: Any) -> Floats:
        """What each member predicts.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_members, n_rows) or (n_members, n_rows, n_outputs)
            Predictions.
        """
        rows = self._rows(X)
        each = np.asarray(self._query(self.members_.supports, rows, 1))
        return each[:, :, 0] if each.shape[2] == 1 else each

    def predict(self, X: Any) -> Floats:
        """The members' predictions combined by the rule ``combine``, by default their mean.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            Predictions.
        """
        if self._simple_rule != "mean":
            return self._decide_by_rule(X)
        rows = self._rows(X)
        mean = np.asarray(self._query(self.members_.mean_supports, rows, 0))
        return mean[:, 0] if mean.shape[1] == 1 else mean

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Prediction of the first member, of the first two, and so on.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows,)
            Predictions.
        """
        self._check_one_output("staged predictions")
        if self._simple_rule != "mean":
            yield from self._staged_by_rule(X)
            return
        rows = self._rows(X)
        sums = np.zeros(rows.shape[0])
        for first in range(0, len(self.members_), _BLOCK):
            some = self.members_.subset(range(first, min(first + _BLOCK, len(self.members_))))
            for k, one in enumerate(some.supports(rows)):
                sums += one[:, 0]
                yield sums / (first + k + 1)
