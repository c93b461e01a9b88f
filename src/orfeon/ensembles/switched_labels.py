"""Ensembles whose members are trained on labels switched at random."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from orfeon.calibration.label_noise import least_eigenvalue, without_noise
from orfeon.calibration.switched_votes import is_noise, mean_given_votes
from orfeon.ensembles.base import IndependentEnsemble
from orfeon.ensembles.decision import COUNTS
from orfeon.ensembles.voting import VotingClassifierMixin
from orfeon.utils.types import Floats


class SwitchedLabels(VotingClassifierMixin, IndependentEnsemble):
    """Members that vote as the switched labels are; probabilities are those of the true ones."""

    _reads_sparse: ClassVar[bool] = True

    @property
    @abstractmethod
    def _switching(self) -> Floats:
        """Probability that a label of one class becomes one of another."""

    def _smoothed(self, shares: Floats, n_members: float | Floats) -> Floats:
        is_known = self._smoothing is not None and self._n_outputs > 1
        if not is_known or self._simple_rule not in (*COUNTS, "soft"):
            return super()._smoothed(shares, n_members)
        clear = without_noise(shares, self._switching)
        return super()._smoothed(clear, n_members * least_eigenvalue(self._switching) ** 2)

    def _uncalibrated(self, shares: Floats, n_members: float | Floats) -> Floats:
        is_known = self._smoothing is not None and self._n_outputs > 1
        counts = self._simple_rule in (*COUNTS, "soft")
        if not is_known or not counts or is_noise(self._switching):
            return super()._uncalibrated(shares, n_members)
        return mean_given_votes(shares, self._switching, n_members)
