"""Samples to calibrate on: shares by members that did not see them, and their classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats, Integers

#: Shares this close to 0 or 1 count as this close: their logarithms are finite.
_LEAST = 2.0**-40


@dataclass(frozen=True, eq=False)
class ScoredSamples:
    """Shares, classes and weights, in an order that depends on nothing else.

    Equal samples of one fold are merged, so that copies are the same as weights, to the last bit.
    """

    shares: Floats
    y: Integers
    weights: Floats
    fold: Integers

    @classmethod
    def of(cls, shares: Floats, y: Integers, weights: Floats, fold: Integers) -> Self:
        """Leave out samples without shares or weight, and merge those that are equal."""
        known = (weights > 0) & ~np.isnan(shares[:, 0])
        keys = np.column_stack([fold, y, shares])[known]
        different, which = np.unique(keys, axis=0, return_inverse=True)
        merged = np.bincount(which.ravel(), weights=weights[known], minlength=len(different))
        return cls(
            np.ascontiguousarray(different[:, 2:]), different[:, 1].astype(np.int64),
            np.asarray(merged, dtype=np.float64), different[:, 0].astype(np.int64),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_classes(self) -> int:
        return int(self.shares.shape[1])

    def take(self, chosen: npt.NDArray[np.bool_]) -> Self:
        return replace(
            self, shares=self.shares[chosen], y=self.y[chosen], weights=self.weights[chosen],
            fold=self.fold[chosen],
        )  # fmt: skip

    def mean_log_loss(self, probabilities: Floats) -> float:
        """Weighted mean of the log loss of some probabilities of these samples."""
        own = probabilities[np.arange(len(self)), self.y]
        return float(np.average(-np.log(np.maximum(own, _LEAST)), weights=self.weights))


def log_shares(shares: Floats) -> Floats:
    """Logarithms of shares, finite also where a share is 0."""
    return np.asarray(np.log(np.clip(shares, _LEAST, 1.0)))


def log_odds(shares: Floats) -> Floats:
    """Log odds of shares, finite also where a share is 0 or 1."""
    inside = np.clip(shares, _LEAST, 1.0 - _LEAST)
    return np.asarray(np.log(inside) - np.log1p(-inside))
