"""Weights over mislabels, the pairs of a sample and a class that is not its own.

They are what AdaBoost.M2 and boosting with output codes act on: a member is judged by how well it
tells the right class of a sample from each wrong one, not only by whether it is right.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from orfeon.boosting.adaboost import TINY
from orfeon.utils.types import Floats


class MislabelWeights:
    """Weights of the mislabels of some samples, which sum to 1."""

    def __init__(self, labels: npt.NDArray[np.integer], weights: Floats, n_classes: int) -> None:
        spread = np.repeat(weights[:, None].astype(np.float64), n_classes, axis=1)
        spread[np.arange(len(labels)), labels] = 0.0
        self.labels = labels
        self.weights: Floats = spread / spread.sum() if n_classes > 1 else spread

    @property
    def of_samples(self) -> Floats:
        """Weight of all mislabels of each sample."""
        return np.asarray(self.weights.sum(axis=1))

    def own(self, supports: Floats) -> Floats:
        """What is said of each sample's own class, of shape (n_rows, 1)."""
        return np.asarray(supports[np.arange(len(self.labels)), self.labels][:, None])

    def pseudo_loss(self, supports: Floats) -> float:
        """Half of the weighted mean of 1 - h(x, y) + h(x, wrong)."""
        return float(0.5 * (self.weights * (1.0 - self.own(supports) + supports)).sum())

    def multiply(self, factors: Floats) -> None:
        """Multiply the weights, and make them sum to 1 again."""
        present = self.weights > 0
        weights = self.weights * factors
        weights /= weights.sum()
        weights[present & (weights < TINY)] = TINY  # from 0 they could not rise again
        self.weights = weights
