"""Reading what members say, and sums over examples that their order does not change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.votes.selection import NO_VOTE, NothingCountsError, whole_weights

Floats = npt.NDArray[np.float64]
Reads = Literal["votes", "supports"]

#: Supports may exceed 1 by this much, as those do that were computed in single precision.
_ROUNDING = 1e-6
#: Parts that a sum is made of; what is left after these is less than rounding.
_PARTS = 4
#: The least power of two that is a float.
_SMALLEST = 2.0**-1074
#: Squared errors beyond this count as this much.
_LARGEST = 1e300


@dataclass(frozen=True, eq=False)
class LabelledAnswers:
    """Answers on labelled examples of positive weight.

    Parameters
    ----------
    said : ndarray of shape (n_members, n_examples) or (n_members, n_examples, n_classes)
        Votes, supports or predictions.
    y : ndarray of shape (n_examples,)
        Class codes or targets.
    weights : ndarray of shape (n_examples,)
        Sample weights in whole steps.
    step : float
        Weight of one step.
    n_classes : int
        Number of classes, 0 in regression.

    Examples
    --------
    >>> from orfeon.combining.answers import read_examples
    >>> examples = read_examples([[0, 1, -1]], [0, 0, 1], 2, [2.0, 0.0, 1.0], "votes")
    >>> examples.said.tolist(), examples.total_weight
    ([[0, -1]], 3.0)
    """

    said: npt.NDArray[Any]
    y: npt.NDArray[Any]
    weights: Floats
    step: float
    n_classes: int

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.said)

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum()) * self.step

    def answered(self, member: int) -> npt.NDArray[np.bool_]:
        """Where a member says anything.

        Parameters
        ----------
        member : int
            Which.

        Returns
        -------
        ndarray of bool of shape (n_examples,)
            True where it answers.
        """
        said = self.said[member]
        if said.dtype.kind in "iu":
            return np.asarray(said != NO_VOTE)
        return np.asarray(~np.isnan(said if said.ndim == 1 else said[:, 0]))

    def weight_of(self, chosen: npt.NDArray[np.bool_]) -> float:
        """Weight of some of the examples.

        Parameters
        ----------
        chosen : ndarray of bool of shape (n_examples,)
            Which.

        Returns
        -------
        float
            The sum of their weights.
        """
        return float(self.weights[chosen].sum()) * self.step  # whole numbers: exact in any order

    def mean(self, values: Floats, chosen: npt.NDArray[np.bool_] | None = None) -> float:
        """Weighted mean over examples, the same to the last bit in whatever order they come.

        Parameters
        ----------
        values : ndarray of shape (n_examples,)
            A number for each example.
        chosen : ndarray of bool of shape (n_examples,), optional
            Over which, at least one; all by default.

        Returns
        -------
        float
            The mean.
        """
        weights = self.weights
        if chosen is not None and not chosen.all():
            values, weights = values[chosen], weights[chosen]
        return exact_sum(values, weights) / float(weights.sum())

    def squared_error(self, member: int) -> float:
        """Mean squared error of a member that predicts numbers.

        Parameters
        ----------
        member : int
            Which.

        Returns
        -------
        float
            Its error on the examples it answers; that of predicting the mean, if it answers none.
        """
        answered = self.answered(member)
        if not answered.any():
            return self.target_variance
        with np.errstate(over="ignore"):
            errors = (self.said[member] - self.y) ** 2
        return min(self.mean(errors, answered), _LARGEST)

    @cached_property
    def target_variance(self) -> float:
        """Mean squared error of predicting the mean of the targets."""
        with np.errstate(over="ignore"):
            errors = (self.y - self.mean(self.y)) ** 2
        return min(self.mean(errors), _LARGEST)


def exact_sum(values: Floats, weights: Floats) -> float:
    """Sum of values times whole weights, which neither order nor copies of examples change.

    Parameters
    ----------
    values : ndarray of shape (n_examples,)
        Numbers.
    weights : ndarray of shape (n_examples,)
        Positive whole numbers.

    Returns
    -------
    float
        The sum; infinity when a value is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.combining.answers import exact_sum
    >>> values = np.array([0.1, 0.2, 0.3])
    >>> exact_sum(values, np.ones(3)) == exact_sum(values[::-1], np.ones(3))
    True
    >>> exact_sum(values, np.array([3.0, 1, 1])) == exact_sum(values[[1, 0, 0, 2, 0]], np.ones(5))
    True
    """
    # Values are split into parts on ever finer binary grids, so coarse for their largest that the
    # weighted sum of a part is a whole number of steps below 2**53, which floats hold exactly.
    room = max(51 - math.frexp(float(weights.sum()))[1], 8)
    left, sums = values, []
    for _ in range(_PARTS):
        largest = float(np.abs(left).max(initial=0.0))
        if largest == 0.0:
            break
        if not np.isfinite(largest):
            return largest
        grid = max(math.ldexp(1.0, math.frexp(largest)[1] - room), _SMALLEST)
        part = np.rint(left / grid) * grid
        sums.append(float(part @ weights))
        left = left - part
    return math.fsum(sums)


def read_examples(said: Any, y: Any, n_classes: int, weights: Any, reads: Reads) -> LabelledAnswers:
    """Read answers on labelled examples, and leave out examples of no weight.

    Parameters
    ----------
    said, y, n_classes, weights
        As for :meth:`orfeon.combining.rule.CombiningRule.learn`.
    reads : {"votes", "supports"}
        What the members say, where there are classes.

    Returns
    -------
    LabelledAnswers
        The examples of positive weight.
    """
    if n_classes == 0:
        answers: npt.NDArray[Any] = read_predictions(said)
    elif reads == "votes":
        answers = read_votes(said, n_classes)
    else:
        answers = read_supports(said, n_classes)
    targets = _read_targets(y, n_classes)
    if answers.shape[1] != len(targets):
        raise ValueError(
            f"said has shape {answers.shape}, with {answers.shape[1]} examples, and y has "
            f"{len(targets)} values; one value for each example is expected."
        )
    if len(targets) == 0:
        raise NothingCountsError("y is empty; at least one example is needed to learn from.")
    given = np.ones(len(targets)) if weights is None else np.asarray(weights, dtype=np.float64)
    whole_weights(given, len(targets))  # refuses what is no weight
    counts = given > 0
    if not counts.all():
        answers, targets, given = answers[:, counts], targets[counts], given[counts]
    whole, step = whole_weights(given, len(targets))
    read = LabelledAnswers(answers, targets, whole.astype(np.float64), step, int(n_classes))
    if not any(read.answered(member).any() for member in range(read.n_members)):
        raise NothingCountsError(
            "said holds no answer of any member on any example of positive weight."
        )
    return read


def read_votes(
    said: Any, n_classes: int, n_members: int | None = None
) -> npt.NDArray[np.integer[Any]]:
    """Votes as class codes.

    Parameters
    ----------
    said : array of shape (n_members, n_rows)
        Codes, -1 where a member does not vote.
    n_classes : int
        Number of classes.
    n_members : int, optional
        How many members there must be.

    Returns
    -------
    ndarray of int of shape (n_members, n_rows)
        The same.

    Examples
    --------
    >>> from orfeon.combining.answers import read_votes
    >>> read_votes([[0, 2]], 2)
    Traceback (most recent call last):
    ...
    ValueError: said holds 2; votes are codes from 0 to 1, or -1 where a member does not vote.
    """
    votes = np.asarray(said)
    _check_shape(votes, ("members", "rows"), n_members)
    if votes.dtype.kind not in "iu":
        raise ValueError(
            f"said holds values of type {votes.dtype}; votes are whole numbers, class codes."
        )
    if votes.size:
        strange = votes.min() if votes.min() < NO_VOTE else votes.max()
        if not NO_VOTE <= strange < n_classes:
            raise ValueError(
                f"said holds {strange}; votes are codes from 0 to {n_classes - 1}, or -1 where a "
                "member does not vote."
            )
    return votes


def read_supports(said: Any, n_classes: int, n_members: int | None = None) -> Floats:
    """Class supports as floats.

    Parameters
    ----------
    said : array of shape (n_members, n_rows, n_classes)
        Numbers from 0 to 1; NaN for all classes where a member has none.
    n_classes : int
        Number of classes.
    n_members : int, optional
        How many members there must be.

    Returns
    -------
    ndarray of shape (n_members, n_rows, n_classes)
        The same.

    Examples
    --------
    >>> from orfeon.combining.answers import read_supports
    >>> read_supports([[[0.25, 1.5]]], 2)
    Traceback (most recent call last):
    ...
    ValueError: said holds 1.5; supports are numbers from 0 to 1.
    """
    supports = _as_floats(said, "supports")
    _check_shape(supports, ("members", "rows", "classes"), n_members)
    if supports.shape[2] != n_classes:
        raise ValueError(
            f"said has shape {supports.shape}, with {supports.shape[2]} classes, and there are "
            f"{n_classes}."
        )
    for member, one in enumerate(supports if supports.size else ()):
        least, most = np.fmin.reduce(one, axis=None), np.fmax.reduce(one, axis=None)
        if least < 0 or most > 1 + _ROUNDING:
            raise ValueError(
                f"said holds {least if least < 0 else most}; supports are numbers from 0 to 1."
            )
        absent = np.isnan(one)
        if (absent != absent[:, :1]).any():
            raise ValueError(
                f"said holds NaN for some classes only, of member {member}; a member that has no "
                "supports of a row has NaN for all classes."
            )
    return supports


def read_predictions(said: Any, n_members: int | None = None) -> Floats:
    """Predictions as floats.

    Parameters
    ----------
    said : array of shape (n_members, n_rows)
        Numbers; NaN where a member has none.
    n_members : int, optional
        How many members there must be.

    Returns
    -------
    ndarray of shape (n_members, n_rows)
        The same.

    Examples
    --------
    >>> from orfeon.combining.answers import read_predictions
    >>> read_predictions([[0.5, float("inf")]])
    Traceback (most recent call last):
    ...
    ValueError: said holds infinity; predictions are numbers, or NaN where a member has none.
    """
    numbers = _as_floats(said, "predictions")
    _check_shape(numbers, ("members", "rows"), n_members)
    if np.isinf(numbers).any():
        raise ValueError(
            "said holds infinity; predictions are numbers, or NaN where a member has none."
        )
    return numbers


def _as_floats(said: Any, what: str) -> Floats:
    try:
        return np.asarray(said, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"said must hold {what}, which are numbers: {error}.") from error


def _check_shape(said: npt.NDArray[Any], axes: tuple[str, ...], n_members: int | None) -> None:
    if said.ndim != len(axes) or said.shape[0] == 0:
        raise ValueError(
            f"said has shape {said.shape}; ({', '.join(axes)}) is expected, with at least one "
            "member."
        )
    if n_members is not None and said.shape[0] != n_members:
        raise ValueError(f"said has answers of {said.shape[0]} members; {n_members} are expected.")


def _read_targets(y: Any, n_classes: int) -> npt.NDArray[Any]:
    targets = np.asarray(y)
    if targets.ndim != 1:
        raise ValueError(f"y has shape {targets.shape}; one value for each example is expected.")
    if n_classes == 0:
        numbers = _as_numbers(targets)
        if not np.isfinite(numbers).all():
            raise ValueError(f"y holds {numbers[~np.isfinite(numbers)][0]}; targets are finite.")
        return numbers
    if len(targets) and targets.dtype.kind not in "iu":
        raise ValueError(f"y holds values of type {targets.dtype}; class codes are whole numbers.")
    strange = targets[(targets < 0) | (targets >= n_classes)]
    if len(strange):
        raise ValueError(f"y holds {strange[0]}; class codes are from 0 to {n_classes - 1}.")
    return targets.astype(np.int64)


def _as_numbers(targets: npt.NDArray[Any]) -> Floats:
    try:
        return targets.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold numbers in regression: {error}.") from error
