"""Several classes calibrated one against the rest, and made to sum to 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from orfeon.calibration.binary import BinaryCalibrator
from orfeon.calibration.calibrator import Calibrator
from orfeon.calibration.samples import ScoredSamples
from orfeon.rules.shares import row_sums
from orfeon.utils import saved
from orfeon.utils.types import Floats


@saved.attributes(of_class=saved.tuple_of(saved.subclass("BinaryCalibrator"), at_least=1))
@dataclass(frozen=True)
class OneAgainstRest(Calibrator):
    """A calibrator for each class; with two classes, for the second one alone."""

    of_class: tuple[BinaryCalibrator, ...]

    @classmethod
    def learn(cls, samples: ScoredSamples, kind: type[BinaryCalibrator]) -> Self:
        """Learn a calibrator of each class against the rest."""
        chosen = [1] if samples.n_classes == 2 else range(samples.n_classes)
        return cls(
            tuple(
                kind.learn(samples.shares[:, k], (samples.y == k).astype(float), samples.weights)
                for k in chosen
            )
        )

    @property
    def n_classes(self) -> int:
        return max(len(self.of_class), 2)

    @property
    def method(self) -> str:
        return self.of_class[0].name

    def probabilities(self, shares: Floats) -> Floats:
        if len(self.of_class) == 1:
            second = self.of_class[0].probability(shares[:, 1])
            return np.column_stack([1.0 - second, second])
        each = [one.probability(shares[:, k]) for k, one in enumerate(self.of_class)]
        found = np.column_stack(each)
        return np.asarray(found / row_sums(found)[:, None])
