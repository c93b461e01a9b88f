"""Reading votes, supports and predictions, and sums that do not depend on the order of samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.data.training_set import are_counts
from orfeon.members.votes import NO_VOTE, NothingCountsError, whole_weights
from orfeon.utils.types import Floats

Reads = Literal["votes", "supports"]

#: Supports may exceed 1 by this much, as those do that were computed in single precision.
_ROUNDING = 1e-6
#: Parts that a sum is split into; the remainder is below rounding.
_PARTS = 4
#: The smallest positive float.
_SMALLEST = 2.0**-1074
#: Squared errors beyond this count as this much.
_LARGEST = 1e300


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of the samples of positive weight, and their weights."""

    y: npt.NDArray[Any]
    weights: Floats
    step: float
    n_classes: int
    counts: npt.NDArray[np.bool_]

    @property
    def total_weight(self) -> float:
        return float(self.weights.sum()) * self.step

    def weight_of(self, chosen: npt.NDArray[np.bool_]) -> float:
        return float(self.weights[chosen].sum()) * self.step  # whole numbers: exact in any order

    def mean(self, values: Floats, chosen: npt.NDArray[np.bool_] | None = None) -> float:
        """Weighted mean over samples, the same to the last bit in whatever order they come."""
        weights = self.weights
        if chosen is not None and not chosen.all():
            values, weights = values[chosen], weights[chosen]
        return exact_sum(values, weights) / float(weights.sum())

    @cached_property
    def target_variance(self) -> float:
        """Mean squared error of predicting the mean of the targets."""
        with np.errstate(over="ignore"):
            errors = (self.y - self.mean(self.y)) ** 2
        return min(self.mean(errors), _LARGEST)


@dataclass(frozen=True, eq=False)
class LabelledAnswers:
    """Answers of some members on labelled samples of positive weight."""

    answers: npt.NDArray[Any]
    labels: Labels

    @property
    def n_members(self) -> int:
        return len(self.answers)

    @property
    def has_answers(self) -> bool:
        """Whether any member votes on any sample."""
        return any(self.answered(member).any() for member in range(self.n_members))

    def answered(self, member: int) -> npt.NDArray[np.bool_]:
        answers = self.answers[member]
        if answers.dtype.kind in "iu":
            return np.asarray(answers != NO_VOTE)
        return np.asarray(~np.isnan(answers if answers.ndim == 1 else answers[:, 0]))

    def squared_error(self, member: int) -> float:
        """Mean squared error of a member that predicts numbers."""
        answered = self.answered(member)
        if not answered.any():
            return self.labels.target_variance
        with np.errstate(over="ignore"):
            errors = (self.answers[member] - self.labels.y) ** 2
        return min(self.labels.mean(errors, answered), _LARGEST)


def exact_sum(values: Floats, weights: Floats) -> float:
    """Sum of values times whole weights, which neither order nor copies of samples change."""
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


def read_labels(
    y: Any,
    n_classes: int,
    weights: Any = None,
    *,
    class_factors: Any = None,
    relative: bool = False,
) -> Labels:
    """Read labels and weights, and leave out samples of no weight."""
    targets = _read_targets(y, n_classes)
    if len(targets) == 0:
        raise NothingCountsError("y is empty; at least one sample is needed to learn from.")
    given = np.ones(len(targets)) if weights is None else np.asarray(weights, dtype=np.float64)
    whole_weights(given, len(targets))  # rejects bad weights
    factors = np.ones(max(n_classes, 1))
    if class_factors is not None:
        factors = _read_factors(class_factors, n_classes)
    of_row = targets if class_factors is not None else np.zeros(len(targets), np.int64)
    counts = (given > 0) & (factors[of_row] > 0)
    if not counts.any():
        raise NothingCountsError(
            f"class_factors={class_factors!r} leaves no sample a positive weight."
        )
    given = given[counts]
    whole, step = whole_weights(given, len(given))
    if relative and not are_counts(given):
        step = len(given) / int(whole.sum())
    times, factor_step = _whole_factors(factors, int(whole.sum()))
    products = whole * times[of_row[counts]]
    return Labels(
        targets[counts], products.astype(np.float64), step * factor_step, int(n_classes), counts
    )


def _read_factors(class_factors: Any, n_classes: int) -> Floats:
    factors = np.asarray(class_factors, dtype=np.float64)
    is_right = factors.shape == (n_classes,) and np.isfinite(factors).all()
    if not is_right or n_classes == 0 or (factors < 0).any() or not factors.any():
        raise ValueError(
            f"class_factors={class_factors!r} is not allowed; use a finite number for each of "
            f"{n_classes} classes, none negative and one positive."
        )
    return factors


def _whole_factors(factors: Floats, n_steps: int) -> tuple[npt.NDArray[np.int64], float]:
    """Factors of classes in whole steps, so few that sums of weights are exact."""
    times, step = whole_weights(factors, len(factors))
    # Copies do not change the sum of the weights, so the rounding here does not depend on them.
    beyond = max(math.frexp(float(times.max()) * n_steps)[1] - 52, 0)
    if beyond:
        times = np.maximum(np.rint(times / 2.0**beyond), times > 0).astype(np.int64)
        step *= 2.0**beyond
    return times, step


def read_part(outputs: Any, labels: Labels, reads: Reads) -> LabelledAnswers:
    """Read answers of some members on labelled samples."""
    if labels.n_classes == 0:
        answers: npt.NDArray[Any] = read_predictions(outputs)
    elif reads == "votes":
        answers = read_votes(outputs, labels.n_classes)
    else:
        answers = read_supports(outputs, labels.n_classes)
    n_given = len(labels.counts)
    if answers.shape[1] != n_given:
        raise ValueError(
            f"answers has shape {answers.shape}, with {answers.shape[1]} samples, and y has "
            f"{n_given} values; one value for each sample is expected."
        )
    return LabelledAnswers(answers if labels.counts.all() else answers[:, labels.counts], labels)


def read_votes(
    answers: Any, n_classes: int, n_members: int | None = None
) -> npt.NDArray[np.integer[Any]]:
    """Votes as class codes."""
    votes = np.asarray(answers)
    _check_shape(votes, ("members", "rows"), n_members)
    if votes.dtype.kind not in "iu":
        raise ValueError(
            f"answers holds values of type {votes.dtype}; votes are whole numbers, class codes."
        )
    if votes.size:
        strange = votes.min() if votes.min() < NO_VOTE else votes.max()
        if not NO_VOTE <= strange < n_classes:
            raise ValueError(
                f"answers holds {strange}; votes are codes from 0 to {n_classes - 1}, or -1 where "
                "a member does not vote."
            )
    return votes


def read_supports(answers: Any, n_classes: int, n_members: int | None = None) -> Floats:
    """Class supports as floats."""
    supports = _as_floats(answers, "supports")
    _check_shape(supports, ("members", "rows", "classes"), n_members)
    if supports.shape[2] != n_classes:
        raise ValueError(
            f"answers has shape {supports.shape}, with {supports.shape[2]} classes, and there are "
            f"{n_classes}."
        )
    for member, one in enumerate(supports if supports.size else ()):
        least, most = np.fmin.reduce(one, axis=None), np.fmax.reduce(one, axis=None)
        if least < 0 or most > 1 + _ROUNDING:
            raise ValueError(
                f"answers holds {least if least < 0 else most}; supports are numbers from 0 to 1."
            )
        absent = np.isnan(one)
        if (absent != absent[:, :1]).any():
            raise ValueError(
                f"answers holds NaN for some classes only, of member {member}; a member that has "
                "no supports of a row has NaN for all classes."
            )
    return supports


def read_predictions(answers: Any, n_members: int | None = None) -> Floats:
    numbers = _as_floats(answers, "predictions")
    _check_shape(numbers, ("members", "rows"), n_members)
    if np.isinf(numbers).any():
        raise ValueError(
            "answers holds infinity; predictions are numbers, or NaN where a member has none."
        )
    return numbers


def _as_floats(answers: Any, what: str) -> Floats:
    try:
        return np.asarray(answers, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"answers must hold {what}, which are numbers: {error}.") from error


def _check_shape(answers: npt.NDArray[Any], axes: tuple[str, ...], n_members: int | None) -> None:
    if answers.ndim != len(axes) or answers.shape[0] == 0:
        raise ValueError(
            f"answers has shape {answers.shape}; ({', '.join(axes)}) is expected, with at least "
            "one member."
        )
    if n_members is not None and answers.shape[0] != n_members:
        raise ValueError(f"answers has {answers.shape[0]} members; {n_members} are expected.")


def _read_targets(y: Any, n_classes: int) -> npt.NDArray[Any]:
    targets = np.asarray(y)
    if targets.ndim != 1:
        raise ValueError(f"y has shape {targets.shape}; one value for each sample is expected.")
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
