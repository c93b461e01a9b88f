"""Several quantiles at once, which never cross.

Each quantile has a score of its own, fitted by its own trees. Predictions are the scores of a row
in ascending order. This rearrangement never increases the sum of the pinball losses, whatever the
target: if the score of the lower quantile is above that of the higher one, exchanging the two
lowers the sum by their difference times that of the levels (Chernozhukov et al. 2010 have it for
the distance to the true quantiles).

References
----------
Chernozhukov, Fernández-Val and Galichon (2010). Quantile and probability curves without crossing.
Econometrica 78(3), 1093-1125.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from orfeon.boosting.losses import Loss, QuantileError
from orfeon.utils.types import AnyIntegers, Floats


def read_levels(alpha: Any) -> tuple[float, ...]:
    """Check the levels of several quantiles."""
    levels = tuple(float(level) for level in alpha)
    within = all(0.0 < level < 1.0 for level in levels)
    if not levels or not within or any(a >= b for a, b in pairwise(levels)):
        raise ValueError(
            f"alpha={alpha!r} is not allowed: several quantiles are in ascending order, all above "
            "0 and below 1, such as (0.05, 0.5, 0.95)."
        )
    return levels


@dataclass(frozen=True)
class QuantileErrors(Loss):
    """The mean pinball loss of several quantiles; leaf values are exact minima."""

    has_constant_hessian: ClassVar[bool] = True
    levels: tuple[float, ...]

    @property
    def n_scores(self) -> int:  # type: ignore[override]
        return len(self.levels)

    @property
    def _each(self) -> Sequence[QuantileError]:
        return [QuantileError(level) for level in self.levels]

    def start(self, y: Floats, weights: Floats) -> Floats:
        return np.concatenate([one.start(y, weights) for one in self._each])

    def value(self, y: Floats, scores: Floats, weights: Floats) -> float:
        each = zip(self._each, scores, strict=True)
        return float(np.mean([one.value(y, own[None], weights) for one, own in each]))

    def negative_gradient(self, y: Floats, scores: Floats, weights: Floats) -> Floats:
        levels = np.array(self.levels)[:, None]
        return np.where(y >= scores, levels, levels - 1.0)

    def leaf_values(
        self,
        y: Floats,
        scores: Floats,
        weights: Floats,
        residuals: Floats,
        leaves: AnyIntegers,
        n_leaves: int,
    ) -> Floats:
        values = np.zeros(n_leaves)
        for one, own, reached in zip(self._each, scores, leaves, strict=True):
            # Leaves are numbered through all trees of the round.
            first, last = int(reached.min()), int(reached.max()) + 1
            local = (reached - first)[None]
            values[first:last] = one.leaf_values(
                y, own[None], weights, residuals, local, last - first
            )
        return values

    def predictions(self, scores: Floats) -> Floats:
        return np.sort(scores, axis=1)

    def scores_of(self, predictions: Floats) -> Floats:
        columns = predictions if predictions.ndim == 2 else predictions[:, None]
        return np.ascontiguousarray(np.broadcast_to(columns.T, (self.n_scores, len(columns))))
