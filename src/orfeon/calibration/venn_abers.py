"""Venn-Abers calibration: isotonic regression with the new sample as of either class.

For a new share s, p1 is the isotonic probability at s when a sample (s, 1) is added to those of the
calibration, and p0 the same with (s, 0). One of the two is calibrated, whatever the distribution.
The probability is p1 / (1 - p0 + p1), which minimises the greatest regret of the log loss. Neither
depends on more than the two neighbours of s among the shares of the calibration, so both are
computed once for all of them, in linear time.

References
----------
Vovk, Petej and Fedorova (2015). Large-scale probabilistic predictors with and without guarantees of
validity. NeurIPS, 892-900.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from orfeon.calibration.binary import BinaryCalibrator, group
from orfeon.utils import saved
from orfeon.utils.types import Floats


@saved.attributes(
    shares=saved.finite_floats, if_negative=saved.finite_floats, if_positive=saved.finite_floats
)
@dataclass(frozen=True, eq=False)
class VennAbersCalibrator(BinaryCalibrator):
    """The shares of the calibration, ascending, and p0 and p1 at each of them."""

    shares: Floats
    if_negative: Floats
    if_positive: Floats

    name: ClassVar[str] = "venn_abers"

    @classmethod
    def learn(cls, shares: Floats, labels: Floats, weights: Floats) -> Self:
        values, total, positive = group(shares, labels, weights)
        above = added_positive(total, positive)
        below = 1.0 - added_positive(total[::-1], (total - positive)[::-1])[::-1]
        return cls(values, below, above)

    def interval(self, shares: Floats) -> tuple[Floats, Floats]:
        """p0 and p1."""
        left = np.searchsorted(self.shares, shares, side="right") - 1
        right = np.searchsorted(self.shares, shares, side="left")
        low = np.concatenate([[0.0], self.if_negative])[left + 1]
        high = np.concatenate([self.if_positive, [1.0]])[right]
        return low, high

    def probability(self, shares: Floats) -> Floats:
        low, high = self.interval(shares)
        return np.asarray(high / (1.0 - low + high))


def added_positive(total: Floats, positive: Floats) -> Floats:
    """Isotonic probability at each position if one positive sample is added there.

    The cumulative sums of weights and positive weights are points; the isotonic probabilities are
    the slopes of their lower convex hull. The added sample moves all points to its right by (1, 1),
    or, what has the same slopes, those to its left by (-1, -1). ``corners`` holds the corners of
    the hull from the segment of the added sample to the right.
    """
    n = len(total)
    x = [-1.0, 0.0, *np.cumsum(total).tolist()]
    y = [-1.0, 0.0, *np.cumsum(positive).tolist()]
    hull: list[int] = []
    for point in range(n + 2):
        while len(hull) > 1 and not _turns_left(x, y, hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    # From here on points are pairs, since those to the left of the added sample move.
    corners = [(x[k], y[k]) for k in reversed(hull)]
    found = np.empty(n)
    for i in range(n):
        (left, low), (right, high) = corners[-1], corners[-2]
        found[i] = (high - low) / (right - left)
        moved = (x[i + 1] + total[i] - 1.0, y[i + 1] + positive[i] - 1.0)
        if _is_below(moved, corners[-1], corners[-2]):
            corners.pop()
            while len(corners) > 1 and not _goes_left(moved, corners[-1], corners[-2]):
                corners.pop()
            corners.append(moved)
    return found


Point = tuple[float, float]


def _cross(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _turns_left(x: list[float], y: list[float], a: int, b: int, c: int) -> bool:
    return _cross((x[a], y[a]), (x[b], y[b]), (x[c], y[c])) > 0


def _goes_left(a: Point, b: Point, c: Point) -> bool:
    return _cross(a, b, c) > 0


def _is_below(point: Point, left: Point, right: Point) -> bool:
    return _cross(left, right, point) < 0
