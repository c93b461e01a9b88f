"""Prediction sets and abstention of any classifier with class shares of unseen samples."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from orfeon.uncertainty.abstention import confidence_threshold, confidences_of
from orfeon.uncertainty.ranks import check_coverage, check_share, is_a_number
from orfeon.uncertainty.sets import class_scores, score_limits, sets_of
from orfeon.utils.seeding import RandomState, seed_sequence
from orfeon.utils.types import Floats, Integers, Mask


@dataclass(frozen=True)
class UnseenShares:
    """Class shares of training samples by members that did not see them."""

    shares: Floats
    codes: Integers
    weights: Floats


class PredictionSetsMixin:
    """Sets of classes, and decisions only where they are reliable."""

    classes_: npt.NDArray[Any]

    @abstractmethod
    def _unseen_shares(self, what: str) -> UnseenShares:
        """What is known about unseen samples; without it, an error says what to do."""

    @abstractmethod
    def _shares(self, X: Any) -> Floats:
        """Class shares of rows, made as those of unseen samples are."""

    def predict_set(
        self,
        X: Any,
        coverage: float = 0.9,
        *,
        class_conditional: bool = False,
        penalty: float = 0.0,
        randomized: bool = False,
        random_state: RandomState = None,
    ) -> Mask:
        """Sets of classes that hold the true class with probability ``coverage``.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        coverage : float, default=0.9
            Share of the rows whose class should be in the set, over training and new samples.
        class_conditional : bool, default=False
            Whether to cover each class separately at this rate. A class with too few samples for
            that is in all sets.
        penalty : float, default=0.0
            Added for each class above; sets become smaller on hard rows and larger on easy ones.
        randomized : bool, default=False
            Whether to add a random share of each class's own probability: exact coverage, where
            ties would cover too much; sets may be empty then.
        random_state : int, RandomState, Generator, SeedSequence or None, default=None
            Seed of ``randomized=True``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Whether each class is in the set, in the order of ``classes_``.
        """
        check_is_fitted(self)
        coverage = check_coverage(coverage)
        if not is_a_number(penalty) or not 0.0 <= penalty < np.inf:
            raise ValueError(f"penalty={penalty!r} is not allowed: give a number of 0 or more.")
        known = self._unseen_shares("predict_set")
        shares = self._shares(X)
        parts: tuple[Floats | None, Floats | None] = (None, None)
        if randomized:
            rng = np.random.default_rng(seed_sequence(random_state))
            parts = (rng.random(len(known.codes)), rng.random(len(shares)))
        before = class_scores(known.shares, float(penalty), parts[0])
        limits = score_limits(
            before, known.codes, known.weights, coverage, by_class=class_conditional
        )
        return sets_of(class_scores(shares, float(penalty), parts[1]), limits)

    def predict_or_abstain(
        self, X: Any, max_risk: float = 0.05, *, confidence: float = 0.95
    ) -> tuple[npt.NDArray[Any], Mask]:
        """Predict, and mark the predictions that keep the error within ``max_risk``.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        max_risk : float, default=0.05
            Largest share of wrong predictions among the accepted ones.
        confidence : float, default=0.95
            Probability that the share stays within the limit, over training sets.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            The class with the largest share, as ``predict`` returns it.
        accepted : ndarray of shape (n_rows,)
            Whether to trust each of them; the others should be decided in another way.
        """
        check_is_fitted(self)
        risk = check_share("max_risk", max_risk, "0.05")
        confidence = check_share("confidence", confidence, "0.95")
        known = self._unseen_shares("predict_or_abstain")
        is_wrong = known.shares.argmax(axis=1) != known.codes
        threshold = confidence_threshold(
            confidences_of(known.shares), is_wrong, known.weights, risk, confidence
        )
        shares = self._shares(X)
        labels = self.classes_[np.argmax(shares, axis=1)]
        return np.asarray(labels), np.asarray(confidences_of(shares) >= threshold)
