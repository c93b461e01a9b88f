"""From the outputs of weighted members to a decision: a weighted vote, or a weighted median."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.base import TabularClassifierMixin, TabularRegressorMixin
from orfeon.boosting.loop import MemberOutput
from orfeon.boosting.vote_sums import (
    MedianTally,
    SupportTally,
    Tally,
    VoteTally,
    staged_weighted_median,
    with_ties,
)
from orfeon.ensembles.decision import OWN, Combine, CombinesMixin, QueryMixin
from orfeon.ensembles.probabilities import ProbabilitiesMixin
from orfeon.ensembles.voting import StagedClassifierMixin, StagedRegressorMixin, VotesMixin
from orfeon.forest import Forest
from orfeon.utils.types import Floats

#: Members that predict at a time.
_BLOCK = 32


class _WeightedMembers(QueryMixin):
    """Members one after the other, with the weights of their votes."""

    _member_output: ClassVar[MemberOutput]
    member_weights_: Floats

    _decides_by_vote: ClassVar[bool]

    @property
    def _tally_kind(self) -> type[Tally]:
        kinds: dict[MemberOutput, type[Tally]] = {
            "votes": VoteTally, "supports": SupportTally, "predictions": MedianTally,
        }  # fmt: skip
        return kinds[self._member_output]

    def _tally(self, n_rows: int) -> Tally:
        """An empty tally of members' outputs."""
        return self._tally_kind(n_rows, getattr(self, "n_classes_", 0))

    def _outputs_of(self, members: Any, rows: Any) -> npt.NDArray[Any]:
        """Outputs of some members, one after the other."""
        if self._member_output == "votes":
            return np.asarray(members.votes(rows))
        answers = members.supports(rows)
        return np.asarray(answers[:, :, 0] if self._member_output == "predictions" else answers)

    def _stages(self, rows: Any) -> Iterator[Tally]:
        """The tally after each member: the same object each time."""
        tally = self._tally(rows.shape[0])
        n_members = len(self.members_)
        for first, last in pairwise([*range(0, n_members, _BLOCK), n_members]):
            some = self.members_.subset(range(first, last))
            votes = self.member_weights_[first:last]
            for answers, vote in zip(self._outputs_of(some, rows), votes, strict=True):
                tally.add(answers, vote)
                yield tally

    def _last_stage(self, rows: Any) -> Tally:
        """The tally of all members."""
        *_, tally = self._stages(rows)
        return tally


class WeightedVoteMixin(
    StagedClassifierMixin, VotesMixin, ProbabilitiesMixin, TabularClassifierMixin, _WeightedMembers
):
    """The decision of classifiers whose votes, or class supports, are weighted."""

    _plain_rule: ClassVar[Combine] = OWN
    combine: Combine = OWN

    _member_output: ClassVar[MemberOutput] = "votes"

    def _sums(self, X: Any) -> Floats:
        rows = self._rows(X)
        if isinstance(self.members_, Forest) and self._decides_by_vote:
            sums = self._query(
                lambda part: self.members_.weigh_votes(part, self.member_weights_), rows, 0
            )
        else:
            sums = self._query(lambda part: self._last_stage(part).sums, rows, 0)
        return with_ties(sums, self._total_vote)

    @property
    def _total_vote(self) -> Any:
        """All votes, added up member by member as those for a class are: no share exceeds 1."""
        return np.cumsum(self.member_weights_, axis=0)[-1]

    def _vote_weights(self) -> Floats | None:
        super()._vote_weights()  # raises if there is no vote
        return self.member_weights_ if self._is_own else None

    def _leaf_outputs(self, shares: Floats) -> Floats:
        """What a leaf with these class shares adds to the sums, where supports are added."""
        return shares

    def _as_decision(self, sums: Floats) -> Floats:
        return sums[:, 1] - sums[:, 0] if sums.shape[1] == 2 else sums.copy()

    def _as_shares(self, sums: Floats, total: Any) -> Floats:
        return np.asarray(sums / total)

    def decision_function(self, X: Any) -> Floats:
        """Weighted sums of the members' outputs.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            With two classes the sum for the second minus that for the first, which is the real
            output F of the additive model; else the sum for each class.
        """
        if not self._is_own:
            return self._as_decision(self._decide_by_rule(X))
        return self._as_decision(self._sums(X))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities from the class shares by the rule ``combine``, or of the weighted vote.

        They are calibrated by ``calibrate``; without it, shares are smoothed by half a vote, so
        that none is exactly 0 or 1.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        return self._as_probabilities(self._raw_shares(X), len(self.members_))

    def _raw_shares(self, X: Any) -> Floats:
        """Class shares by the rule, or of the weighted vote."""
        if not self._is_own:
            return self._decide_by_rule(X)
        return self._as_shares(self._sums(X), self._total_vote)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class with the largest sum; with ``calibrate``, with the highest probability.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Classes; the first of those that are tied.
        """
        if self.calibrator_ is not None:
            return self._decided(self._raw_shares(X), len(self.members_))
        sums = self._sums(X) if self._is_own else self._decide_by_rule(X)
        return np.asarray(self.classes_[np.argmax(sums, axis=1)])

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """:meth:`decision_function` of the first member, of the first two, and so on.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Sums.
        """
        if not self._is_own:
            yield from map(self._as_decision, self._staged_by_rule(X))
            return
        for tally in self._stages(self._rows(X)):
            yield self._as_decision(with_ties(tally.sums, tally.total))

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
        if not self._is_own:
            yield from self._staged_by_rule(X)
            return
        for tally in self._stages(self._rows(X)):
            yield self._as_shares(with_ties(tally.sums, tally.total), tally.total)

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
        if not self._is_own or self.calibrator_ is not None:
            for stage, shares in enumerate(self._staged_shares(X)):
                yield self._decided(shares, stage + 1)
            return
        for tally in self._stages(self._rows(X)):
            yield self.classes_[tally.decide()]

    def _loss(self, tally: Tally, y: npt.NDArray[Any], weights: Floats) -> float:
        """Weighted error of the decision so far."""
        return float(np.average(tally.decide() != y, weights=weights))


class WeightedMedianMixin(
    StagedRegressorMixin, CombinesMixin, TabularRegressorMixin, _WeightedMembers
):
    """The decision of regressors whose predictions are weighted: their weighted median."""

    _decides_by_vote: ClassVar[bool] = False
    _member_output: ClassVar[MemberOutput] = "predictions"
    _plain_rule: ClassVar[Combine] = OWN
    combine: Combine = OWN

    def predictions(self, X: Any) -> Floats:
        """What each member predicts.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_members, n_rows)
            Predictions.
        """
        rows = self._rows(X)
        return np.asarray(self._query(lambda part: self._outputs_of(self.members_, part), rows, 1))

    def predict(self, X: Any) -> Floats:
        """Predictions by the rule ``combine``; by default the weighted median of the members'.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions.
        """
        if not self._is_own:
            return self._decide_by_rule(X)
        rows = self._rows(X)
        return np.asarray(self._query(lambda part: self._last_stage(part).decide(), rows, 0))

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
        if self._is_own:
            yield from staged_weighted_median(self.predictions(X), self.member_weights_)
        else:
            yield from self._staged_by_rule(X)

    def _loss(self, tally: Tally, y: npt.NDArray[Any], weights: Floats) -> float:
        """Weighted mean squared error of the decision so far."""
        return float(np.average((tally.decide() - y) ** 2, weights=weights))
