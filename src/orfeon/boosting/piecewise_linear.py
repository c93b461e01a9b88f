"""Piecewise linear weights over the target, for AdaBoost.R.

AdaBoost.R turns a sample with target y_i into one question for each y in [0, 1]: is y at least y_i?
The weight of a question is ``|y - y_i|``. A member that predicts h gets the questions between y_i
and h wrong; boosting multiplies the weights of all others by a factor. So the weight stays
piecewise linear in y. It is stored as breakpoints and a factor per piece, and its integrals have
closed forms.

References
----------
Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and an
application to boosting. Journal of Computer and System Sciences 55(1), 119-139.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from orfeon.utils.types import Floats

#: Pieces processed at a time.
_BLOCK = 1 << 15


class PiecewiseLinearWeights:
    """The weight of each sample as a function of y: ``factor(y) * |y - target|`` on [0, 1].

    Factors are stored as logarithms, so that they do not underflow. Weights are defined up to a
    common positive factor.
    """

    def __init__(self, targets: Floats, weights: Floats | None = None) -> None:
        self.targets = np.array(targets, dtype=np.float64)
        self._check_points("targets", self.targets)
        n_rows = len(self.targets)
        self._weights = np.ones(n_rows) if weights is None else np.array(weights, dtype=np.float64)
        self.cuts = np.stack([np.zeros(n_rows), self.targets, np.ones(n_rows)])
        self.log_factors = np.zeros((2, n_rows))
        self._factors = np.ones((2, n_rows))
        self._mass: Floats | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def mass(self) -> Floats:
        """The integral of each sample's weight over all y."""
        if self._mass is None:
            self._mass = np.empty(len(self))
            for some in self._blocks():
                self._mass[some] = self._integrate(some, self.cuts[:, some])
        return self._mass.copy()

    def mass_between(self, points: Floats) -> Floats:
        """The integral of each sample's weight between its target and a point."""
        low, high = self._ends(points)
        between = np.empty(len(self))
        for some in self._blocks():
            within = np.clip(self.cuts[:, some], low[some], high[some])
            between[some] = self._integrate(some, within)
        return between

    def density(self, y: float) -> Floats:
        """The weight of each sample at one y."""
        piece = np.clip((self.cuts[1:-1] <= y).sum(axis=0), 0, len(self.log_factors) - 1)
        factor = self._factors[piece, np.arange(len(self))]
        return np.asarray(self._weights * factor * np.abs(y - self.targets))

    def scale_outside(self, points: Floats, log_factor: float) -> None:
        """Multiply the weight of each sample where it is not between its target and a point."""
        low, high = self._ends(points)
        points = np.asarray(points, dtype=np.float64)
        n_pieces = len(self.log_factors)
        cuts = np.empty((n_pieces + 2, len(self)))
        log_factors = np.empty((n_pieces + 1, len(self)))
        largest = -np.inf
        for some in self._blocks():
            new, logs = self._cut(some, points[some])
            outside = (new[:-1] < low[some]) | (new[1:] > high[some])
            logs += log_factor * outside
            cuts[:, some], log_factors[:, some] = new, logs
            there = self._areas(some, new) > 0
            largest = max(largest, float(np.where(there, logs, -np.inf).max()))
        # The largest factor of a non-empty piece becomes 1, so that the mass never vanishes.
        if np.isfinite(largest):
            log_factors -= largest
        self.cuts, self.log_factors, self._mass = cuts, log_factors, None
        self._factors = np.exp(np.minimum(log_factors, 0.0))

    def _cut(self, some: slice, points: Floats) -> tuple[Floats, Floats]:
        """Cuts and log factors after splitting one piece of each sample."""
        cuts, logs = self.cuts[:, some], self.log_factors[:, some]
        n_pieces, n_rows = logs.shape
        new = np.empty((n_pieces + 2, n_rows))
        # Inserting p into a sorted list c gives max(c[j - 1], min(c[j], p)) at j.
        np.minimum(cuts, points, out=new[:-1])
        new[-1] = cuts[-1]
        np.maximum(new[1:], cuts, out=new[1:])
        # A point at the very end splits the last piece.
        place = np.clip((cuts <= points).sum(axis=0), 1, n_pieces)
        stays = np.arange(n_pieces + 1)[:, None] < place
        halved = np.empty((n_pieces + 1, n_rows))
        halved[0] = logs[0]
        halved[1:] = logs
        np.copyto(halved[:-1], logs, where=stays[:-1])
        return new, halved

    def _integrate(self, some: slice, cuts: Floats) -> Floats:
        """Sum of the integrals over the pieces between these cuts, for each sample."""
        areas = self._areas(some, cuts)
        areas *= self._factors[:, some]
        return np.asarray(self._weights[some] * areas.sum(axis=0))

    def _areas(self, some: slice, cuts: Floats) -> Floats:
        """Integral of ``|y - target|`` over each piece; no piece contains the target."""
        distances = np.abs(cuts - self.targets[some])
        areas = distances[1:] + distances[:-1]
        areas *= cuts[1:] - cuts[:-1]
        areas *= 0.5
        return areas

    def _blocks(self) -> Iterator[slice]:
        """Blocks of samples whose pieces fit into the processor's cache."""
        width = max(64, _BLOCK // len(self.cuts))
        for first in range(0, len(self), width):
            yield slice(first, first + width)

    def _ends(self, points: Floats) -> tuple[Floats, Floats]:
        points = np.asarray(points, dtype=np.float64)
        self._check_points("points", points)
        if points.shape != self.targets.shape:
            raise ValueError(
                f"points has shape {points.shape}; one for each of {len(self)} targets is expected."
            )
        return np.minimum(points, self.targets), np.maximum(points, self.targets)

    @staticmethod
    def _check_points(name: str, points: Floats) -> None:
        if points.ndim != 1 or not ((points >= 0) & (points <= 1)).all():
            raise ValueError(f"{name} must be numbers from 0 to 1, one for each sample.")
