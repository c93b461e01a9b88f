"""Rules over class supports, or over numbers: mean, product, largest, least, middle.

Supports are how much each member says for each class: probabilities, as a rule. The rules differ
in whom they hear. The mean hears everyone, the product lets anyone veto, the largest and the least
hear the most extreme member, the median and the trimmed mean leave extreme members out.

Classes that are tied for the first place by the largest, the least, the middle or the trimmed mean
part what they have in proportion to their mean supports; so it is where each class has a veto
against it, and nothing is left to any. With supports that are all 0 or 1, as of trees grown to the
end, the product is the plurality vote, and the largest support is 1 for each class that anyone
votes for: there the means decide.

Members are taken at their word for classes of equal prior probability, as these rules are mostly
used.

References
----------
Kittler, Hatef, Duin and Matas (1998). On combining classifiers. IEEE Transactions on Pattern
Analysis and Machine Intelligence 20(3), 226-239.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.combining.answers import Reads
from orfeon.combining.rule import (
    CombiningRule,
    Decider,
    RunningDecider,
    Task,
    check_real,
    keep_member_numbers,
    members_at,
)

Floats = npt.NDArray[np.float64]

#: Sums of shares this close to 1 are 1 but for rounding.
_NEARLY_ONE = 1e-9
#: Logarithms this close, relative to the larger, are the same: rounding does not decide.
_TIED = 1e-12
#: Numbers that are sorted at once.
_BLOCK = 1 << 21


@dataclass(frozen=True, eq=False)
class Average(RunningDecider):
    """A mean of supports or predictions, of all members or weighted.

    Parameters
    ----------
    weights : ndarray of shape (n_members,), optional
        Weights of the members; all the same by default.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.combining.supports import Average
    >>> Average(np.array([3.0, 1.0])).predict([[0.0, 0.0], [1.0, np.nan]])
    array([0.25, 0.  ])
    """

    weights: Floats | None = None

    reads: ClassVar[Reads] = "supports"
    task: ClassVar[Task] = "both"

    @property
    def n_members(self) -> int | None:
        """How many members it is for; None when for any number."""
        return None if self.weights is None else len(self.weights)

    def subset(self, indices: Any) -> Average:
        """The mean of some of the members.

        Parameters
        ----------
        indices : sequence of int, or mask
            Which members, in the order in which their answers will come.

        Returns
        -------
        Average
            With their weights.
        """
        if self.weights is None:
            return self
        return Average(self.weights[members_at(indices, len(self.weights))])

    def _stages(self, said: Floats, n_classes: int) -> Iterator[Callable[[], Floats]]:
        sums, totals = np.zeros(said.shape[1:]), np.zeros(said.shape[1])
        weights = np.ones(len(said)) if self.weights is None else self.weights
        for one, weight in zip(said, weights, strict=True):
            there = ~np.isnan(one[:, 0])
            sums += np.where(there[:, None], weight * one, 0.0)
            totals += np.where(there, weight, 0.0)
            yield partial(conclude_mean, sums, totals, n_classes)


@dataclass(frozen=True)
class Mean(CombiningRule):
    """The mean of the predictions.

    Parameters
    ----------
    weights : sequence of float, optional
        Weight of each member; all the same by default.

    Examples
    --------
    >>> from orfeon.combining.supports import Mean
    >>> Mean().learn(None, None, n_classes=0).predict([[1.0], [2.0], [6.0]])
    array([3.])
    """

    weights: Sequence[float] | None = None

    name: ClassVar[str] = "mean"
    reads: ClassVar[Reads] = "supports"
    task: ClassVar[Task] = "regression"
    per_member: ClassVar[tuple[str, ...]] = ("weights",)

    def __post_init__(self) -> None:
        keep_member_numbers(self, "weights")

    def _decider(self) -> Average:
        return Average(None if self.weights is None else np.array(self.weights))


@dataclass(frozen=True)
class Soft(Mean):
    """The class of largest mean support.

    Parameters
    ----------
    weights : sequence of float, optional
        Weight of each member; all the same by default.

    Examples
    --------
    Two members lean to the first class, and one is sure of the second.

    >>> from orfeon.combining.supports import Soft
    >>> supports = [[[0.6, 0.4]], [[0.6, 0.4]], [[0.0, 1.0]]]
    >>> Soft().learn(None, None, n_classes=2).shares(supports, n_classes=2)
    array([[0.4, 0.6]])
    """

    name: ClassVar[str] = "soft"
    task: ClassVar[Task] = "classification"


@dataclass(frozen=True)
class Product(CombiningRule, RunningDecider):
    """The class of the largest product of supports.

    It is the best there is when members look at different, independent sides of a row, and it takes
    their word: one that holds a class for impossible vetoes it.

    Parameters
    ----------
    floor : float, default=1e-3
        Supports below it count as this much, so that no single member decides alone; with 0 they
        do.

    Examples
    --------
    >>> from orfeon.combining.supports import Product
    >>> supports = [[[0.75, 0.25]], [[0.75, 0.25]]]
    >>> Product().shares(supports, n_classes=2)
    array([[0.9, 0.1]])
    """

    floor: float = 1e-3

    name: ClassVar[str] = "product"
    reads: ClassVar[Reads] = "supports"
    task: ClassVar[Task] = "classification"

    def __post_init__(self) -> None:
        check_real(self, "floor", lambda x: 0 <= x < 1, "a number from 0 to less than 1")

    def _stages(self, said: Floats, n_classes: int) -> Iterator[Callable[[], Floats]]:
        scores = np.zeros(said.shape[1:])
        for member, one in enumerate(said):
            present = np.where(np.isnan(one), 1.0, np.maximum(one, self.floor))
            with np.errstate(divide="ignore"):
                scores += np.log(present)
            yield partial(_conclude_product, scores, said[: member + 1])


def _conclude_product(scores: Floats, said: Floats) -> Floats:
    shares, vetoed = posterior(scores), scores.max(axis=1) == -np.inf
    shares[vetoed] = Average().shares(said[:, vetoed], said.shape[2])
    return shares


class _Extreme(CombiningRule, RunningDecider):
    """The largest or the least of what members say."""

    reads: ClassVar[Reads] = "supports"
    task: ClassVar[Task] = "both"
    _of_two: ClassVar[np.ufunc]

    def _stages(self, said: Floats, n_classes: int) -> Iterator[Callable[[], Floats]]:
        found = np.full(said.shape[1:], np.nan)
        for member, one in enumerate(said):
            self._of_two(found, one, out=found)
            yield partial(_conclude_or_mean, found, said[: member + 1], n_classes)


def _conclude_or_mean(values: Floats, said: Floats, n_classes: int) -> Floats:
    """What is said for each class as shares; classes tied for the first place go by their means."""
    shares = conclude(values, n_classes)
    if n_classes == 0:
        return shares
    tied = shares.max(axis=1, keepdims=True) - shares <= _TIED
    rows = np.flatnonzero(np.count_nonzero(tied, axis=1) > 1)
    if len(rows):
        among = tied[rows]
        means = np.where(among, _mean_shares(said[:, rows], n_classes), 0.0)
        of_tied = row_sums(np.where(among, shares[rows], 0.0))
        parted = divide(means, row_sums(means)) * of_tied[:, None]
        # Nothing may be said for any of those tied: they keep what they have.
        shares[rows] = np.where(among & ~np.isnan(parted), parted, shares[rows])
    return shares


def _mean_shares(said: Floats, n_classes: int) -> Floats:
    """Shares of the mean supports; quickly where all members say something."""
    if np.isnan(said[:, :, 0]).any():
        return Average()._decide(said, n_classes)
    return conclude(said.sum(axis=0) / len(said), n_classes)


@dataclass(frozen=True)
class Max(_Extreme):
    """The class of the largest support of any member; or the largest prediction.

    Examples
    --------
    >>> from orfeon.combining.supports import Max
    >>> Max().shares([[[0.25, 0.75]], [[0.625, 0.375]]], n_classes=2).round(3)
    array([[0.455, 0.545]])
    """

    name: ClassVar[str] = "max"
    _of_two: ClassVar[np.ufunc] = np.fmax


@dataclass(frozen=True)
class Min(_Extreme):
    """The class whose least support is the largest; or the least prediction.

    Examples
    --------
    >>> from orfeon.combining.supports import Min
    >>> Min().shares([[[0.25, 0.75]], [[0.625, 0.375]]], n_classes=2)
    array([[0.4, 0.6]])
    """

    name: ClassVar[str] = "min"
    _of_two: ClassVar[np.ufunc] = np.fmin


class _Sorted(CombiningRule, Decider):
    """A rule over what members say in order of size."""

    reads: ClassVar[Reads] = "supports"
    task: ClassVar[Task] = "both"

    @abstractmethod
    def _of_sorted(self, values: Floats, n_present: npt.NDArray[np.int64]) -> Floats:
        """What is decided of values sorted along the first axis, those that are absent last."""

    def _decide(self, said: Floats, n_classes: int) -> Floats:
        found = np.empty(said.shape[1:])
        n_rows = max(_BLOCK // (said.shape[0] * said.shape[2]), 1)
        for first in range(0, said.shape[1], n_rows):
            block = slice(first, first + n_rows)
            values = np.sort(said[:, block], axis=0)
            n_present = np.count_nonzero(~np.isnan(values[:, :, 0]), axis=0)
            found[block] = self._of_sorted(values, n_present)
        return _conclude_or_mean(found, said, n_classes)


@dataclass(frozen=True)
class Median(_Sorted):
    """The class of the largest median support; or the median prediction.

    Examples
    --------
    >>> from orfeon.combining.supports import Median
    >>> Median().predict([[1.0], [2.0], [1000.0]])
    array([2.])
    """

    name: ClassVar[str] = "median"

    def _of_sorted(self, values: Floats, n_present: npt.NDArray[np.int64]) -> Floats:
        lower, upper = np.maximum(n_present - 1, 0) // 2, n_present // 2
        upper = np.minimum(upper, len(values) - 1)
        at = np.take_along_axis
        middle = [at(values, i[None, :, None], axis=0)[0] for i in (lower, upper)]
        return np.asarray(0.5 * middle[0] + 0.5 * middle[1])


@dataclass(frozen=True)
class TrimmedMean(_Sorted):
    """The mean of supports or predictions without the largest and the least of them.

    Parameters
    ----------
    share : float, default=0.1
        Share of the members left out at each end, class by class; of the members that answer, and
        rounded down. With fewer than ten members nobody is left out by default.

    Examples
    --------
    >>> from orfeon.combining.supports import TrimmedMean
    >>> TrimmedMean(share=0.25).predict([[1.0], [2.0], [4.0], [1000.0]])
    array([3.])
    """

    share: float = 0.1

    name: ClassVar[str] = "trimmed_mean"

    def __post_init__(self) -> None:
        check_real(self, "share", lambda x: 0 <= x < 0.5, "a number from 0 to less than 0.5")

    def _of_sorted(self, values: Floats, n_present: npt.NDArray[np.int64]) -> Floats:
        # A share such as 0.29 of 100 is 28.999... in floats.
        cut = np.floor(self.share * n_present + 1e-9).astype(np.int64)
        cut = np.minimum(cut, np.maximum(n_present - 1, 0) // 2)
        sums = np.zeros(values.shape[1:])
        for place, one in enumerate(values):
            inside = (cut <= place) & (place < n_present - cut)
            sums += np.where(inside[:, None], one, 0.0)
        return divide(sums, (n_present - 2 * cut).astype(np.float64))


def divide(sums: Floats, totals: Floats) -> Floats:
    """Rows divided by their totals.

    Parameters
    ----------
    sums : ndarray of shape (n_rows, n_columns)
        Numbers.
    totals : ndarray of shape (n_rows,)
        What each row is divided by.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        Quotients; NaN where a total is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.combining.supports import divide
    >>> divide(np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([4.0, 0.0]))
    array([[0.25, 0.75],
           [ nan,  nan]])
    """
    quotients = np.full(sums.shape, np.nan)
    np.divide(sums, totals[:, None], out=quotients, where=totals[:, None] > 0)
    return quotients


def row_sums(values: Floats) -> Floats:
    """Sums of rows, added column after column, so that a row's sum is the same in any company.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Numbers.

    Returns
    -------
    ndarray of shape (n_rows,)
        The sums.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.combining.supports import row_sums
    >>> row_sums(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([3., 7.])
    """
    sums = np.zeros(len(values))
    for column in values.T:
        sums += column
    return sums


def conclude(values: Floats, n_classes: int) -> Floats:
    """What is said for each class as shares; numbers as they are.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_classes) or (n_rows, 1)
        What is said for each class, NaN where nobody says anything; or numbers.
    n_classes : int
        Number of classes, 0 in regression.

    Returns
    -------
    ndarray of the same shape
        Shares that sum to 1 in each row, the same for all classes where nothing is said for any;
        or the numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.combining.supports import conclude
    >>> conclude(np.array([[0.5, 0.25], [0.0, 0.0]]), 2)
    array([[0.66666667, 0.33333333],
           [0.5       , 0.5       ]])
    """
    if n_classes == 0:
        return values.copy()
    sums = row_sums(values)
    # Means of supports that sum to 1 are left as they are.
    divisors = np.where(np.abs(sums - 1.0) <= _NEARLY_ONE, 1.0, sums)
    shares = divide(values, divisors)
    return np.where(np.isnan(shares), 1.0 / n_classes, shares)


def conclude_mean(sums: Floats, totals: Floats, n_classes: int) -> Floats:
    """:func:`conclude` of means.

    Parameters
    ----------
    sums : ndarray of shape (n_rows, n_classes) or (n_rows, 1)
        Weighted sums of what is said.
    totals : ndarray of shape (n_rows,)
        Weights of those who say something.
    n_classes : int
        Number of classes, 0 in regression.

    Returns
    -------
    ndarray of the same shape as the sums
        Shares, or numbers, NaN where nobody says anything.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.combining.supports import conclude_mean
    >>> conclude_mean(np.array([[6.0], [0.0]]), np.array([4.0, 0.0]), 0)
    array([[1.5],
           [nan]])
    """
    return conclude(divide(sums, totals), n_classes)


def posterior(scores: Floats) -> Floats:
    """Probabilities whose logarithms are known but for a constant in each row.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Sums of logarithms. Those that differ by rounding only are held for the same.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Probabilities that sum to 1; the same for all where each logarithm is minus infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.combining.supports import posterior
    >>> posterior(np.log([[0.02, 0.06], [3e-9, 1e-9]]))
    array([[0.25, 0.75],
           [0.75, 0.25]])
    """
    greatest = scores.max(axis=1, keepdims=True)
    possible = greatest > -np.inf
    greatest = np.where(possible, greatest, 0.0)
    gaps = np.where(possible, scores - greatest, 0.0)
    gaps[gaps >= -_TIED * np.maximum(np.abs(greatest), 1.0)] = 0.0
    likely = np.exp(gaps)
    return np.asarray(likely / row_sums(likely)[:, None])
