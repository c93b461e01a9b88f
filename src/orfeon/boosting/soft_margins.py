"""Regularised AdaBoost: samples that were heavy for long are trusted less.

References
----------
Rätsch, Onoda and Müller (2001). Soft margins for AdaBoost. Machine Learning 42(3), 287-320.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from orfeon.boosting.adaboost import AdaBoostScheme
from orfeon.boosting.loop import HALF, PERFECT, RoundResult, perfect_vote
from orfeon.utils.types import Floats


class SoftMarginScheme(AdaBoostScheme):
    """AdaBoost's formulas for soft margins: the margin plus C times the mistrust.

    The mistrust of a sample is the sum of its weights in all rounds, each times the vote of the
    round. The loss is the sum of exp(-(margin + C mistrust)), with margins that are not normalised,
    and the vote of a member is the line minimum of this loss. Weights are taken relative to the
    first ones, so C times the number of samples is the C of the paper.
    """

    def __init__(
        self, labels: npt.NDArray[Any], weights: Floats, n_classes: int, regularization: float
    ) -> None:
        super().__init__(labels, weights, n_classes)
        self.regularization = regularization

    def evaluate(self, answers: npt.NDArray[Any]) -> RoundResult:
        """Weighted error, and the vote that makes the loss least."""
        error = float(np.where(answers != self._labels, self._weights, 0.0).sum())
        if error == 0:
            return RoundResult(0.0, float(perfect_vote(self.total_vote)), ends=True)
        if error >= HALF:
            return RoundResult(error, 0.0, keep=False, ends=True)
        vote = line_minimum(self._gains(answers), self._weights)
        self.total_vote += vote
        return RoundResult(error, vote)

    def _gains(self, answers: npt.NDArray[Any]) -> Floats:
        """What a vote of 1 adds to the soft margins."""
        signs = np.where(answers != self._labels, -1.0, 1.0)
        relative = self._weights / np.where(self.initial > 0, self.initial, 1.0)
        return np.asarray(signs + self.regularization * relative)

    def reweigh(
        self, answers: npt.NDArray[Any], result: RoundResult, rng: np.random.Generator
    ) -> None:
        """Multiply the weights by exp(-vote gain), and normalise."""
        self._settle(self._weights * np.exp(-result.vote * self._gains(answers)))


def line_minimum(gains: Floats, weights: Floats) -> float:
    """The vote from 0 to that of a member without error at which the loss is least."""

    def slope(vote: float) -> float:
        return -float(weights @ (gains * np.exp(-vote * gains)))

    if slope(PERFECT) <= 0:  # the mistrust exceeds every mistake
        return PERFECT
    return float(brentq(slope, 0.0, PERFECT, xtol=1e-14, rtol=1e-14))
