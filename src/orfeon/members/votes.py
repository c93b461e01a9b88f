"""Votes of members on labelled samples, from an ensemble or from a matrix, checked and coded once.

Sample weights become whole numbers of steps. Their sums are exact, so the order of the samples,
chunks, copies and threads never decide a tie.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite, column_or_1d

from orfeon.data.training_set import are_counts
from orfeon.utils.types import Floats, Integers
from orfeon.utils.user_warning import warn_user

Task = Literal["classification", "regression"]

#: Weights without a common step are rounded to this many bits below their mean.
_WEIGHT_BITS = 20
#: Weights of members are rounded to this many bits below the largest.
_MEMBER_BITS = 30
#: Fractions with denominators up to this are looked for among weights.
_DENOMINATORS = 256
#: Whole numbers up to this are exact in float64.
_LARGEST = 2**52
#: Labels that span no more than this are coded through a table.
_TABLE = 1 << 16
#: Whole numbers below this are exact in float32, in which products of matrices are fast.
EXACT_IN_SINGLE = 2**24
#: The code where a member does not vote.
NO_VOTE = -1


class NothingCountsError(ValueError):
    """No sample counts: they have no weight or no votes, or there are none."""


@dataclass(frozen=True, eq=False)
class Selection:
    """Votes or predictions of members on the selection samples.

    Parameters
    ----------
    answers : ndarray of shape (n_members, n_samples)
        Class codes, -1 where a member does not vote; in regression predictions, NaN where there is
        none.
    y : ndarray of shape (n_samples,)
        Class codes or targets.
    weights : ndarray of int64 of shape (n_samples,)
        Sample weights, in whole steps.
    n_classes : int
        Number of classes, 0 in regression.
    step : float, default=1.0
        Weight of one step.
    member_weights : ndarray of shape (n_members,), optional
        Weight of each member's vote; all the same by default.
    classes : ndarray of shape (n_classes,), optional
        The label of each code.

    Examples
    --------
    >>> from orfeon.ordering import read_selection
    >>> selection = read_selection([["a", "b"], ["b", "b"]], ["a", "b"])
    >>> selection.answers.tolist(), selection.right.tolist()
    ([[0, 1], [1, 1]], [[True, True], [False, True]])
    """

    answers: npt.NDArray[Any]
    y: npt.NDArray[Any]
    weights: Integers
    n_classes: int
    step: float = 1.0
    member_weights: Floats | None = None
    classes: npt.NDArray[Any] | None = None

    @property
    def n_members(self) -> int:
        """Number of members."""
        return int(self.answers.shape[0])

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.answers.shape[1])

    @property
    def is_regression(self) -> bool:
        """Whether the members predict numbers."""
        return self.n_classes == 0

    @cached_property
    def total_weight(self) -> int:
        """Sum of the weights, in steps."""
        return int(self.weights.sum())

    @cached_property
    def answered(self) -> npt.NDArray[np.bool_]:
        """Where each member votes or predicts."""
        return ~np.isnan(self.answers) if self.is_regression else np.asarray(self.answers >= 0)

    @cached_property
    def is_complete(self) -> bool:
        """Whether every member votes on every sample."""
        if self.is_regression:
            return not np.isnan(self.answers).any()
        return bool(self.answers.min() >= 0)

    @property
    def right(self) -> npt.NDArray[np.bool_]:
        """Where each member is right."""
        return np.asarray(self.answers == self.y)

    @property
    def correctness(self) -> npt.NDArray[np.int8]:
        """+1 where a member is right, -1 where it is wrong, 0 where it does not vote."""
        signs = (2 * self.right.view(np.int8) - 1).astype(np.int8)
        if not self.is_complete:
            signs[~self.answered] = 0
        return signs

    @property
    def vote_weights(self) -> Floats:
        """Weight of each member's vote."""
        if self.member_weights is None:
            return np.ones(self.n_members)
        return self.member_weights

    def samples(self, chosen: npt.NDArray[Any] | slice) -> Selection:
        """The same members on some of the samples, given by indices or a mask."""
        return replace(
            self, answers=np.ascontiguousarray(self.answers[:, chosen]), y=self.y[chosen],
            weights=self.weights[chosen],
        )  # fmt: skip

    def members(self, chosen: npt.NDArray[Any]) -> Selection:
        """Some of the members, in the order given, on the same samples."""
        weights = None if self.member_weights is None else self.member_weights[chosen]
        return replace(self, answers=self.answers[chosen], member_weights=weights)


def read_selection(
    votes: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    no_vote: Any = None,
    task: Task | None = None,
    member_weights: Any = None,
) -> Selection:
    """Read a matrix of votes or predictions.

    Parameters
    ----------
    votes : array of shape (n_members, n_samples)
        Labels that each member votes for, or numbers that it predicts. Entries that are None or
        masked (:mod:`numpy.ma`) are missing votes.
    y : array of shape (n_samples,)
        True labels or targets.
    sample_weight : array of shape (n_samples,), optional
        Sample weights: 0 leaves a sample out, 2 counts it twice.
    no_vote : optional
        The entry of ``votes`` that marks a missing vote.
    task : {"classification", "regression"}, optional
        By default regression when ``y`` holds numbers with fractions.
    member_weights : array of shape (n_members,), optional
        Weights of the members' votes; all the same by default.

    Returns
    -------
    Selection
        The samples that have a positive weight and at least one vote.

    Examples
    --------
    >>> from orfeon.ordering import read_selection
    >>> read_selection([[-1, 1], [1, 1]], [-1, 1]).answers.tolist()
    [[0, 1], [1, 1]]
    >>> read_selection([[-1, 1], [0, 1]], [0, 1], no_vote=-1).answers.tolist()
    [[-1, 1], [0, 1]]
    """
    answers, absent = read_matrix(votes, no_vote)
    labels = _read_labels(y, no_vote)
    if answers.shape[1] != len(labels):
        turned = " Are they transposed?" if answers.shape[0] == len(labels) else ""
        raise ValueError(
            f"votes has shape {answers.shape}, a row for each member and a column for each sample, "
            f"and y has {len(labels)} values; one value for each column is expected.{turned}"
        )
    if task not in (None, "classification", "regression"):
        raise ValueError(f'task={task!r} is not allowed; use "classification" or "regression".')
    weights, step = whole_weights(sample_weight, len(labels))
    if task is None:
        task = "regression" if has_fractions(labels) else "classification"
        if task == "classification" and has_fractions(answers):
            raise ValueError(
                "votes holds numbers with fractions and y whole numbers; set "
                'task="regression" if they are predictions, or give votes for classes.'
            )
    codes: npt.NDArray[Any]
    targets: npt.NDArray[Any]
    classes: npt.NDArray[Any] | None = None
    if task == "regression":
        codes, targets = _numbers(answers, absent), _targets(labels)
    else:
        codes, targets, classes = _codes(answers, absent, labels)
    read = Selection(
        codes, targets, weights, 0 if classes is None else len(classes), step,
        _read_member_weights(member_weights, len(codes)), classes,
    )  # fmt: skip
    return _those_that_count(read)


def has_fractions(values: npt.NDArray[Any]) -> bool:
    """Whether some of the values are numbers that are not whole."""
    if values.dtype.kind != "f":
        return False
    known = values[np.isfinite(values)]
    return not are_counts(known)


def _read_labels(y: Any, no_vote: Any) -> npt.NDArray[Any]:
    if isinstance(y, np.ma.MaskedArray) and np.ma.getmaskarray(y).any():
        raise ValueError("y has masked values; leave these samples out.")
    labels = column_or_1d(y)
    if labels.dtype == object and any(label is None for label in labels):
        raise ValueError("y holds None; every sample needs a label or a target.")
    assert_all_finite(labels, input_name="y")
    if no_vote is not None and (labels == no_vote).any():
        raise ValueError(
            f"no_vote={no_vote!r} is among the labels in y, so a vote for that class would look "
            "like a missing one. Mark missing votes by another value, or give a masked array."
        )
    return np.asarray(labels)


def _refuse_nan(answers: npt.NDArray[Any], absent: npt.NDArray[np.bool_] | None) -> None:
    """Reject NaN among votes, unless it marks missing ones."""
    if answers.dtype.kind == "f":
        is_nan = np.isnan(answers) if absent is None else np.isnan(answers) & ~absent
        if is_nan.any():
            member, sample = np.argwhere(is_nan)[0]
            raise ValueError(
                f"votes contains NaN, first of member {member} on sample {sample}; if that is a "
                "missing vote, set no_vote=np.nan."
            )


def read_matrix(votes: Any, no_vote: Any) -> tuple[Any, npt.NDArray[np.bool_] | None]:
    """The matrix of votes, and where votes are missing."""
    masked = np.ma.getmaskarray(votes) if isinstance(votes, np.ma.MaskedArray) else None
    answers = np.asarray(votes)
    if answers.ndim != 2 or answers.size == 0:
        is_empty = answers.ndim == 2 and answers.shape[0] > 0
        raise (NothingCountsError if is_empty else ValueError)(
            f"votes has shape {answers.shape}; a matrix with a row for each member and a column "
            "for each sample is expected, with at least one of each."
        )
    if answers.dtype.kind == "c":
        raise ValueError("votes holds complex numbers; labels or real numbers are expected.")
    if answers.dtype == object:
        nothing = np.frompyfunc(lambda vote: vote is None, 1, 1)(answers).astype(bool)
        if nothing.any():
            masked = nothing if masked is None else masked | nothing
    if no_vote is None:
        _refuse_nan(answers, masked)
        return answers, masked
    is_nan = no_vote != no_vote
    where = np.asarray(answers != answers) if is_nan else np.asarray(answers == no_vote)
    return answers, where if masked is None else where | masked


def _numbers(answers: npt.NDArray[Any], absent: Any) -> Floats:
    try:
        numbers = np.array(answers, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"votes must hold numbers in regression: {error}.") from error
    if absent is not None:
        numbers[absent] = 0.0
    assert_all_finite(numbers, input_name="votes")
    if absent is not None:
        numbers[absent] = np.nan
    return numbers


def _targets(y: npt.NDArray[Any]) -> Floats:
    numbers = np.asarray(y, dtype=np.float64)
    assert_all_finite(numbers, input_name="y")
    return numbers


def _codes(
    answers: npt.NDArray[Any], absent: Any, y: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int32], Integers, npt.NDArray[Any]]:
    """Class codes of votes and labels, and the classes."""
    for name, labels in (("votes", answers), ("y", y)):
        present = labels if absent is None or name == "y" else labels[~absent]
        assert_all_finite(present, input_name=name, allow_nan=False)
    if (answers.dtype.kind in "US") != (y.dtype.kind in "US") and object not in (
        answers.dtype,
        y.dtype,
    ):
        raise ValueError(
            f"votes holds values of type {answers.dtype} and y of type {y.dtype}; votes and y must "
            "name the classes in the same way."
        )
    if answers.dtype.kind in "iub" and y.dtype.kind in "iub":
        found = _codes_by_table(answers, absent, y)
        if found is not None:
            return found
    voted = answers if absent is None else answers[~absent]
    try:
        classes, both = np.unique(np.concatenate([voted.ravel(), y]), return_inverse=True)
    except TypeError as error:
        raise ValueError(
            "votes and y must name the classes in the same way, all by strings or all by numbers, "
            f"and missing votes must be marked by no_vote: {error}."
        ) from error
    codes = np.full(answers.shape, NO_VOTE, np.int32)
    codes[slice(None) if absent is None else ~absent] = both[: voted.size].reshape(voted.shape)
    return codes, both[voted.size :].astype(np.int64), classes


def _codes_by_table(
    answers: npt.NDArray[Any], absent: Any, y: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int32], Integers, npt.NDArray[Any]] | None:
    """Class codes of whole numbers in a small range, without sorting them."""
    kind = np.result_type(answers, y) if answers.dtype != y.dtype else y.dtype
    least, most = int(min(answers.min(), y.min())), int(max(answers.max(), y.max()))
    if most - least >= _TABLE or most > np.iinfo(np.int64).max:
        return None
    places = np.arange(most - least + 1)
    is_class = np.isin(places, y.astype(np.int64) - least)
    for row, missing in zip(answers, answers if absent is None else absent, strict=True):
        is_class[(row if absent is None else row[~missing]).astype(np.int64) - least] = True
    code = np.where(is_class, np.cumsum(is_class) - 1, NO_VOTE).astype(np.int32)
    if least == 0 and is_class.all() and answers.dtype == np.int32 and absent is None:
        codes = np.ascontiguousarray(answers)
    else:
        codes = np.empty(answers.shape, np.int32)
        for row, out in zip(answers, codes, strict=True):
            np.take(code, row.astype(np.int64) - least, out=out)
        if absent is not None:
            codes[absent] = NO_VOTE
    classes = (places[is_class] + least).astype(kind)
    return codes, code[y.astype(np.int64) - least].astype(np.int64), classes


def warn_of_other_labels(selection: Selection) -> None:
    """Warn if votes seem to be class codes, 0 to K - 1, but labels are not."""
    if selection.classes is None:
        return
    voted, true = (np.zeros(selection.n_classes, dtype=bool) for _ in range(2))
    true[selection.y] = True
    is_zero = selection.classes == 0
    if not np.any(is_zero) or true[is_zero].any():
        return  # the usual case, without reading all votes
    for row in selection.answers:
        voted[row[row >= 0]] = True
    alone, never = selection.classes[voted & ~true], selection.classes[true & ~voted]
    are_codes = alone.dtype.kind in "iu" and selection.classes[voted].max() < true.sum()
    if are_codes and 0 in alone.tolist() and len(never):
        warn_user(
            f"votes holds {alone[0]!s}, which is not in y, and no member votes for {never[0]!s}, "
            "which is: do both name the classes in the same way? The votes of an ensemble are "
            "class codes; classes_[votes] gives labels.",
        )


def _read_member_weights(member_weights: Any, n_members: int) -> Floats | None:
    if member_weights is None:
        return None
    weights = np.asarray(member_weights, dtype=np.float64)
    allowed = weights.shape == (n_members,) and np.isfinite(weights).all() and weights.any()
    if not allowed or (weights < 0).any():
        raise ValueError(
            f"member_weights must hold a finite number that is not negative for each of the "
            f"{n_members} members, and not only zeros, got {member_weights!r}."
        )
    if (weights == weights[0]).all():
        return None
    # On a binary grid, so that sums are exact: votes can be added and taken back in any order.
    grid = 2.0 ** (np.ceil(np.log2(weights.max())) - _MEMBER_BITS)
    return np.asarray(np.rint(weights / grid) * grid)


def whole_weights(sample_weight: Any, n_samples: int) -> tuple[Integers, float]:
    """Sample weights as whole numbers of steps."""
    if sample_weight is None:
        return np.ones(n_samples, np.int64), 1.0
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; one weight for each of the {n_samples} "
            "samples is expected."
        )
    bad = weights[~np.isfinite(weights) | (weights < 0)]
    if len(bad):
        raise ValueError(
            f"sample_weight must hold finite numbers that are not negative, and holds {bad[0]}."
        )
    if not weights.any():
        raise NothingCountsError("sample_weight is zero for every sample; one must be positive.")
    if are_counts(weights) and weights.sum() <= _LARGEST:
        return weights.astype(np.int64), 1.0
    largest = float(weights.max())
    weights = weights / largest  # so that no sum overflows
    least = float(weights[weights > 0].min())
    ratio = weights / max(least, 1.0 / _LARGEST)
    if ratio.max() * _DENOMINATORS < 2**_WEIGHT_BITS:
        different = np.unique(ratio)
        for parts in range(1, _DENOMINATORS + 1):
            if np.abs(different * parts - np.rint(different * parts)).max() <= 1e-9 * parts:
                return np.rint(ratio * parts).astype(np.int64), largest * least / parts
    step = float(weights.mean()) / 2**_WEIGHT_BITS
    rounded = np.maximum(np.rint(weights / step), weights > 0)
    return rounded.astype(np.int64), largest * step


def _those_that_count(read: Selection) -> Selection:
    """Leave out samples without weight, and those without votes."""
    counts = read.weights > 0
    if not read.is_complete:
        counts &= read.answered.any(axis=0)
        if not counts.any():
            raise NothingCountsError("votes holds no vote on any sample of positive weight.")
    return read if counts.all() else read.samples(counts)
