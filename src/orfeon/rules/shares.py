"""From class supports, or numbers, to class shares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats

#: Sums of shares this close to 1 are 1 but for rounding.
_NEARLY_ONE = 1e-9
#: Shares, or logarithms relative to the larger, that are this close are the same: rounding does
#: not decide.
_TIED = 1e-12


class RunningMean:
    """Sums of the members' supports, and of the weights of those that have any, row by row.

    Members are added one after the other, so that a row has the same bits among any others.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.sums = np.zeros(shape)
        self.totals = np.zeros(shape[0])

    def add(self, one: Floats, weight: float = 1.0) -> None:
        """Add the supports or predictions of a member."""
        absent = np.isnan(one[:, 0])
        weighted = one if weight == 1.0 else weight * one
        if absent.any():
            self.sums += np.where(absent[:, None], 0.0, weighted)
            self.totals += np.where(absent, 0.0, weight)
        else:
            self.sums += weighted
            self.totals += weight

    def conclude(self, n_classes: int, rows: npt.NDArray[np.int64] | None = None) -> Floats:
        """Shares of the classes by the means, or means of numbers."""
        if rows is None:
            return conclude_mean(self.sums, self.totals, n_classes)
        return conclude_mean(self.sums[rows], self.totals[rows], n_classes)


def part_ties(shares: Floats, means_of: Callable[[npt.NDArray[np.int64]], Floats]) -> Floats:
    """Divide the shares of classes tied for first place in proportion to their means."""
    tied = shares.max(axis=1, keepdims=True, initial=0.0) - shares <= _TIED
    rows = np.flatnonzero(np.count_nonzero(tied, axis=1) > 1)
    if len(rows):
        among = tied[rows]
        means = np.where(among, means_of(rows), 0.0)
        of_tied = row_sums(np.where(among, shares[rows], 0.0))
        parted = divide(means, row_sums(means)) * of_tied[:, None]
        # Tied classes without any support keep their shares.
        shares[rows] = np.where(among & ~np.isnan(parted), parted, shares[rows])
    return shares


def divide(sums: Floats, totals: Floats) -> Floats:
    """Rows divided by their totals."""
    quotients = np.full(sums.shape, np.nan)
    np.divide(sums, totals[:, None], out=quotients, where=totals[:, None] > 0)
    return quotients


def row_sums(values: Floats) -> Floats:
    """Sums of rows, column after column, so that a row has the same bits among any others."""
    sums = np.zeros(len(values))
    for column in values.T:
        sums += column
    return sums


def conclude(values: Floats, n_classes: int) -> Floats:
    """Class supports as shares; numbers unchanged."""
    if n_classes == 0:
        return values.copy()
    sums = row_sums(values)
    # Means of supports that sum to 1 are left as they are.
    divisors = np.where(np.abs(sums - 1.0) <= _NEARLY_ONE, 1.0, sums)
    shares = divide(values, divisors)
    return np.where(np.isnan(shares), 1.0 / n_classes, shares)


def conclude_mean(sums: Floats, totals: Floats, n_classes: int) -> Floats:
    """:func:`conclude` of means."""
    return conclude(divide(sums, totals), n_classes)


def posterior(scores: Floats) -> Floats:
    """Probabilities whose logarithms are known up to a constant in each row."""
    greatest = scores.max(axis=1, keepdims=True)
    possible = greatest > -np.inf
    greatest = np.where(possible, greatest, 0.0)
    relative = np.where(possible, scores - greatest, 0.0)
    relative[relative >= -_TIED * np.maximum(np.abs(greatest), 1.0)] = 0.0
    likely = np.exp(relative)
    return np.asarray(likely / row_sums(likely)[:, None])
