"""How often each sample was drawn for each member, and what follows from it: standard errors.

The infinitesimal jackknife measures how a prediction changes with the weight of a sample by the
covariance, over the members, of their predictions and the number of times that the sample was
drawn. The sum of the squared covariances is the variance of the forest's prediction over training
sets; it is too large by what chance adds with few members, which is subtracted (Wager, Hastie and
Efron 2014).

References
----------
Efron (2014). Estimation and accuracy after model selection. Journal of the American Statistical
Association 109(507), 991-1007.

Wager, Hastie and Efron (2014). Confidence intervals for random forests: the jackknife and the
infinitesimal jackknife. Journal of Machine Learning Research 15, 1625-1651.

Wager and Athey (2018). Estimation and inference of heterogeneous treatment effects using random
forests. Journal of the American Statistical Association 113(523), 1228-1242.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.uncertainty.left_out import pack, sums_over_chosen, unpack
from orfeon.utils import saved
from orfeon.utils.types import Bits, Floats, Integers

#: Covariances that are held at once.
_COVARIANCES = 1 << 21
#: Copies whose counts are unpacked at once.
_COPIES = 1 << 12


@saved.attributes(
    planes=saved.list_of(saved.array("u1", 2)), rows=saved.indices, n_members=saved.integer(1)
)
@dataclass(frozen=True, eq=False)
class InBagCounts:
    """How often each sample was drawn for each member, as binary digits."""

    #: The digits, the lowest first: members as bits, a row per copy of a sample; of shape (n_units,
    #: n_bytes).
    planes: list[Bits]
    #: The position of each copy among the rows passed to ``fit``; of shape (n_units,).
    rows: Integers
    #: How many members there are.
    n_members: int

    @classmethod
    def of(cls, counts: npt.NDArray[Any], rows: Integers) -> InBagCounts:
        """From whole numbers, members by copies."""
        n_digits = max(1, int(counts.max(initial=0)).bit_length())
        planes = [pack(counts >> digit & 1) for digit in range(n_digits)]
        return cls(planes, np.asarray(rows, np.int64), len(counts))

    def counts(self, some: slice = slice(None)) -> npt.NDArray[np.int64]:
        """Members by copies, or by some of them."""
        digits = [unpack(plane[some], self.n_members) for plane in self.planes]
        return np.asarray(sum(one.astype(np.int64) << k for k, one in enumerate(digits)))

    @cached_property
    def moments(self) -> tuple[float, float]:
        """Mean count, and the variance of the counts over the members, summed over the copies."""
        total, variance = 0.0, 0.0
        for first in range(0, len(self.rows), _COPIES):
            counts = self.counts(slice(first, first + _COPIES)).astype(np.float64)
            total += float(counts.sum())
            variance += float(counts.var(axis=0).sum())
        return total / (self.n_members * len(self.rows)), variance


def jackknife_variance(
    answers: Floats, drawn: InBagCounts, *, replace: bool = True, corrected: bool = True
) -> Floats:
    """Variance of the mean of the members over training sets, by the infinitesimal jackknife."""
    n_members, n_rows = answers.shape
    n_units = len(drawn.rows)
    deviations = answers - _exact_mean(answers)
    variance = np.empty(n_rows)
    step = max(1, _COVARIANCES // n_units)
    for first in range(0, n_rows, step):
        some = slice(first, first + step)
        sums = np.zeros((deviations[:, some].shape[1], n_units))
        for digit, plane in enumerate(drawn.planes):
            sums += sums_over_chosen(deviations[:, some], plane, float(1 << digit))
        variance[some] = ((sums / n_members) ** 2).sum(axis=1)
    if corrected:
        spread = (deviations**2).sum(axis=0) / n_members
        variance -= drawn.moments[1] * spread / n_members
    if not replace:
        share = drawn.moments[0]
        variance *= (n_units - 1) / n_units / max(1.0 - share, 1.0 / n_units) ** 2
    return variance


def _exact_mean(answers: Floats) -> Floats:
    """Means over the members that are exact where all agree."""
    return np.asarray(answers[0] + (answers - answers[0]).sum(axis=0) / len(answers))
