"""Rules over class supports or predictions: mean, product, maximum, minimum, median, trimmed mean.

Supports are usually class probabilities. The mean uses all members, the product lets any member
veto, maximum and minimum follow the most extreme member, and the median and the trimmed mean leave
extreme members out.

Classes tied for first place by the maximum, the minimum, the median or the trimmed mean divide
their shares in proportion to their mean supports; so do all classes if each is vetoed. With
supports of 0 and 1, as of fully grown trees, the product is the plurality vote, and the maximum is
1 for each class with a vote, so that the means decide.

All classes are assumed to have equal prior probabilities.

References
----------
Kittler, Hatef, Duin and Matas (1998). On combining classifiers. IEEE Transactions on Pattern
Analysis and Machine Intelligence 20(3), 226-239.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.rules.answers import Reads
from orfeon.rules.decider import Decider, RunningDecider, Task, WeightedMembers
from orfeon.rules.rule import CombiningRule, check_real, keep_member_numbers
from orfeon.rules.shares import RunningMean, conclude, divide, part_ties, posterior
from orfeon.utils import saved
from orfeon.utils.types import Floats

#: Numbers that are sorted at once.
_BLOCK = 1 << 17
#: Numbers of each member that are sorted at once, one member after the other.
_CELLS = 1024
#: Stages that are computed at once.
_STAGES = 32


@saved.attributes(weights=saved.one_of(saved.none, saved.finite_floats))
@dataclass(frozen=True, eq=False)
class Average(WeightedMembers):
    """A mean of supports or predictions, of all members or weighted."""

    reads: ClassVar[Reads] = "supports"
    task: ClassVar[Task] = "both"

    def _stages(
        self, answered: Iterator[Floats], shape: tuple[int, ...], n_classes: int
    ) -> Iterator[Callable[[], Floats]]:
        mean = RunningMean(shape)
        for one, weight in self._with_weights(answered):
            mean.add(one, weight)
            yield partial(mean.conclude, n_classes)


@dataclass(frozen=True)
class Mean(CombiningRule):
    """The mean of the predictions.

    Parameters
    ----------
    weights : sequence of float, optional
        Weight of each member; all the same by default.

    Examples
    --------
    >>> from orfeon.combining import Mean
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
    """The class with the largest mean support.

    Parameters
    ----------
    weights : sequence of float, optional
        Weight of each member; all the same by default.

    Examples
    --------
    Two members lean towards the first class, and one is certain of the second:

    >>> from orfeon.combining import Soft
    >>> supports = [[[0.6, 0.4]], [[0.6, 0.4]], [[0.0, 1.0]]]
    >>> Soft().learn(None, None, n_classes=2).shares(supports, n_classes=2)
    array([[0.4, 0.6]])
    """

    name: ClassVar[str] = "soft"
    task: ClassVar[Task] = "classification"


@dataclass(frozen=True)
class Product(CombiningRule, RunningDecider):
    """The class with the largest product of supports.

    It is optimal for members with independent inputs, and trusts them: a support of 0 is a veto.

    Parameters
    ----------
    floor : float, default=1e-3
        Supports below it count as this much, so that no member decides alone; 0 allows vetoes.

    Examples
    --------
    >>> from orfeon.combining import Product
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

    def _stages(
        self, answered: Iterator[Floats], shape: tuple[int, ...], n_classes: int
    ) -> Iterator[Callable[[], Floats]]:
        # Powers of two are taken out of the products before they underflow. That rounds nothing,
        # and is far quicker than logarithms.
        n_safe = max(900 // (1 - math.frexp(self.floor)[1]), 1) if self.floor else 1
        products, exponents = np.ones(shape), np.zeros(shape)
        mean = None if self.floor else RunningMean(shape)
        for member, one in enumerate(answered):
            factors = np.maximum(one, self.floor)
            if np.isnan(factors[:, 0]).any():
                factors[np.isnan(factors)] = 1.0
            products *= factors
            if member % n_safe == n_safe - 1:
                products, powers = np.frexp(products)
                exponents += powers
            if mean is not None:
                mean.add(one)
            yield partial(_conclude_product, products, exponents, mean)


def _conclude_product(products: Floats, exponents: Floats, mean: RunningMean | None) -> Floats:
    with np.errstate(divide="ignore"):
        scores = np.log(products) + exponents * math.log(2)
    shares = posterior(scores)
    if mean is not None:
        vetoed = np.flatnonzero(scores.max(axis=1) == -np.inf)
        shares[vetoed] = mean.conclude(scores.shape[1], vetoed)
    return shares


class _Extreme(CombiningRule, Decider):
    """The largest or smallest support or prediction."""

    reads: ClassVar[Reads] = "supports"
    task: ClassVar[Task] = "both"
    _of_two: ClassVar[np.ufunc]

    def _decide(self, answers: Floats, n_classes: int) -> Floats:
        return _conclude_or_mean(self._of_two.reduce(answers, axis=0), answers, n_classes)

    def _decide_in_stages(self, parts: Iterable[Floats], n_classes: int) -> Iterator[Floats]:
        found, ties = np.empty(0), _Ties(n_classes)
        for part in parts:
            for one in part:
                found = self._of_two(found, one) if found.size else one
                ties.add(one)
                yield ties.conclude(found)


class _Ties:
    """Running means of supports, which break ties."""

    def __init__(self, n_classes: int) -> None:
        self._n_classes = n_classes
        self._mean: RunningMean | None = None

    def add(self, one: Floats) -> None:
        if self._n_classes:
            self._mean = RunningMean(one.shape) if self._mean is None else self._mean
            self._mean.add(one)

    def conclude(self, values: Floats) -> Floats:
        """Class supports as shares; numbers unchanged."""
        decided = conclude(values, self._n_classes)
        if self._mean is None:
            return decided
        return part_ties(decided, partial(self._mean.conclude, self._n_classes))


def _conclude_or_mean(values: Floats, answers: Floats, n_classes: int) -> Floats:
    """Values of the classes as shares; means decide between classes tied for first place."""
    decided = conclude(values, n_classes)
    if n_classes == 0:
        return decided
    return part_ties(decided, partial(_mean_shares, answers, n_classes))


def _mean_shares(answers: Floats, n_classes: int, rows: npt.NDArray[np.int64]) -> Floats:
    """Shares of the mean supports of some rows."""
    if 2 * len(rows) > answers.shape[1]:  # compute all rather than copy most of them
        return Average()._decide(answers, n_classes)[rows]
    return Average()._decide(answers[:, rows], n_classes)


@dataclass(frozen=True)
class Max(_Extreme):
    """The class with the largest support of any member; or the largest prediction.

    Examples
    --------
    >>> from orfeon.combining import Max
    >>> Max().shares([[[0.25, 0.75]], [[0.625, 0.375]]], n_classes=2).round(3)
    array([[0.455, 0.545]])
    """

    name: ClassVar[str] = "max"
    _of_two: ClassVar[np.ufunc] = np.fmax


@dataclass(frozen=True)
class Min(_Extreme):
    """The class whose smallest support is largest; or the smallest prediction.

    Examples
    --------
    >>> from orfeon.combining import Min
    >>> Min().shares([[[0.25, 0.75]], [[0.625, 0.375]]], n_classes=2)
    array([[0.4, 0.6]])
    """

    name: ClassVar[str] = "min"
    _of_two: ClassVar[np.ufunc] = np.fmin


class _Sorted(CombiningRule, Decider):
    """A rule over sorted supports or predictions."""

    reads: ClassVar[Reads] = "supports"
    task: ClassVar[Task] = "both"

    @abstractmethod
    def _of_sorted(self, values: Floats, n_present: npt.NDArray[np.int64]) -> Floats:
        """The decision from values sorted along the first axis, missing ones last."""

    def _decide(self, answers: Floats, n_classes: int) -> Floats:
        found = np.empty(answers.shape[1:])
        n_rows = max(_BLOCK // (answers.shape[0] * answers.shape[2]), 1)
        for first in range(0, answers.shape[1], n_rows):
            block = slice(first, first + n_rows)
            values = np.sort(np.ascontiguousarray(answers[:, block]), axis=0)
            n_present = np.count_nonzero(~np.isnan(values[:, :, 0]), axis=0)
            found[block] = self._of_sorted(values, n_present)
        return _conclude_or_mean(found, answers, n_classes)

    def _decide_in_stages(self, parts: Iterable[Floats], n_classes: int) -> Iterator[Floats]:
        ties, blocks = _Ties(n_classes), dict[int, _SortedRows]()
        for part in parts:
            n_rows = max(_CELLS // part.shape[2], 1)
            for first_stage in range(0, len(part), _STAGES):
                some = part[first_stage : first_stage + _STAGES]
                found = np.empty(some.shape)
                # A block of rows at a time, whose sorted values fit the cache.
                for first in range(0, part.shape[1], n_rows):
                    rows = slice(first, first + n_rows)
                    answered = blocks.get(first) or _SortedRows(some[0, rows].shape)
                    blocks[first] = answered
                    for stage, held in enumerate(answered.add(some[:, rows])):
                        found[stage, rows] = self._of_sorted(held, answered.n_present)
                for one, values in zip(some, found, strict=True):
                    ties.add(one)
                    yield ties.conclude(values)


class _SortedRows:
    """Supports of the members so far on some rows, sorted."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._values = np.empty((0, *shape))
        self.n_present = np.zeros(shape[0], np.int64)

    def add(self, answers: Floats) -> Iterator[Floats]:
        """Add members; yields the sorted values after each, missing ones last."""
        height = len(self._values)
        # Between minus and plus infinity, so that the ends need no special case.
        sorted_, other = np.full((2, height + len(answers) + 2, *self._values.shape[1:]), np.inf)
        sorted_[0] = other[0] = -np.inf
        sorted_[1 : height + 1] = self._values
        for one in answers:
            absent = np.isnan(one[:, 0])
            self.n_present += ~absent
            if absent.any():
                one = np.where(absent[:, None], np.inf, one)
            height = max(int(self.n_present.max(initial=0)), 1)
            # Each position keeps its value, or gets the new one or that of the position before.
            places = other[1 : height + 1]
            np.minimum(sorted_[1 : height + 1], one, out=places)
            np.maximum(sorted_[:height], places, out=places)
            sorted_, other = other, sorted_
            yield places
        self._values = sorted_[1 : height + 1].copy()


@dataclass(frozen=True)
class Median(_Sorted):
    """The class with the largest median support; or the median prediction.

    Examples
    --------
    >>> from orfeon.combining import Median
    >>> Median().predict([[1.0], [2.0], [1000.0]])
    array([2.])
    """

    name: ClassVar[str] = "median"

    def _of_sorted(self, values: Floats, n_present: npt.NDArray[np.int64]) -> Floats:
        lower, upper = np.maximum(n_present - 1, 0) // 2, n_present // 2
        upper = np.minimum(upper, len(values) - 1)
        at = np.take_along_axis
        middle = [at(values, i[None, :, None], axis=0)[0] for i in (lower, upper)]
        return np.where(n_present[:, None] > 0, 0.5 * middle[0] + 0.5 * middle[1], np.nan)


@dataclass(frozen=True)
class TrimmedMean(_Sorted):
    """The mean of supports or predictions without the largest and smallest ones.

    Parameters
    ----------
    share : float, default=0.1
        Share of the voting members left out at each end, class by class, rounded down. With fewer
        than ten members the default leaves none out.

    Examples
    --------
    >>> from orfeon.combining import TrimmedMean
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
        if len(cut) and (n_present == n_present[0]).all():
            inside = values[cut[0] : n_present[0] - cut[0]]
        else:
            place = np.arange(len(values))[:, None]
            is_inside = (cut <= place) & (place < n_present - cut)
            inside = np.where(is_inside[:, :, None], values, 0.0)
        return divide(_sum_of_members(inside), (n_present - 2 * cut).astype(np.float64))


def _sum_of_members(values: Floats) -> Floats:
    """Sums over the first axis, in order, whatever the number of columns."""
    if values[:1].size == 1:  # NumPy sums a single column pairwise
        return np.cumsum(values, axis=0)[-1] if len(values) else np.zeros(values.shape[1:])
    return np.asarray(values.sum(axis=0))
