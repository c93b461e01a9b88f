"""Votes of an ensemble on its selection samples, or those of a matrix: where votes come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d

from orfeon.base import class_codes
from orfeon.members.adapter import adapt
from orfeon.members.protocol import Members
from orfeon.members.votes import (
    NO_VOTE,
    Selection,
    Task,
    read_selection,
    warn_of_other_labels,
    whole_weights,
)
from orfeon.utils.user_warning import warn_user

On = Literal["train", "out_of_bag"]

#: Advice when a matrix of votes comes with X, or labels are passed as X.
MATRIX_HINT = "For a matrix of votes, leave X out and pass y=labels."


@dataclass(frozen=True, eq=False)
class Source:
    """Votes, the members that gave them, and which samples these members had not seen."""

    selection: Selection
    find_left_out: Callable[..., npt.NDArray[np.bool_]] | None = None
    ensemble: Members | None = None
    was_trained_on: bool = False

    @cached_property
    def left_out(self) -> Selection | None:
        """Only the votes on samples that members did not see; None when that is not known."""
        selection = self.selection
        if not selection.is_complete:
            return selection  # these are out-of-bag votes already
        if self.find_left_out is None:
            return None
        try:
            mask = self.find_left_out(must_verify=not self.was_trained_on)
        except ValueError:
            return None
        absent = np.nan if selection.is_regression else NO_VOTE
        return replace(
            selection,
            answers=np.where(mask, selection.answers, absent).astype(selection.answers.dtype),
        )


def present_name(on: Any) -> Any:
    """The current value of ``on``; that of 0.1 gives a warning."""
    if isinstance(on, str) and on == "examples":
        warn_user('on="examples" is now on="train"; 0.3 will drop the old name.', FutureWarning)
        return "train"
    return on


def checked_on(on: Any) -> On:
    """The value of ``on``, "train" or "out_of_bag"."""
    current = present_name(on)
    if current in ("train", "out_of_bag"):
        return cast(On, current)
    raise ValueError(f'on={on!r} is not allowed; use "train" or "out_of_bag".')


def read_source(
    members_or_votes: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    on: On = "train",
    no_vote: Any = None,
    task: Task | None = None,
) -> Source:
    """Votes of an ensemble on ``X``, or those of a matrix."""
    check_has_labels(members_or_votes, y, "the selection samples")
    if can_be_queried(members_or_votes):
        without_vote_options({"no_vote": no_vote, "task": task})
        return read_ensemble(members_or_votes, X, y, sample_weight, on=on)
    if X is not None:
        raise ValueError(f"{_not_an_ensemble(members_or_votes)} {MATRIX_HINT}")
    if checked_on(on) == "out_of_bag":
        raise ValueError(
            'on="out_of_bag" needs an ensemble; in a matrix of votes, mark the votes on samples '
            "that a member was trained on with no_vote=."
        )
    return read_votes(members_or_votes, y, sample_weight, no_vote=no_vote, task=task)


def read_votes(
    votes: Any, y: Any, sample_weight: Any = None, *, no_vote: Any = None, task: Task | None = None
) -> Source:
    if y is None:
        raise ValueError("y is missing: the votes need the true labels or targets.")
    read = read_selection(votes, y, sample_weight, no_vote=no_vote, task=task)
    warn_of_other_labels(read)
    return Source(read)


def read_ensemble(
    ensemble: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    on: On = "train",
    was_trained_on: bool | None = None,
) -> Source:
    """Votes of a fitted ensemble on the selection samples."""
    on = checked_on(on)
    check_has_labels(ensemble, y, "the selection samples")
    if X is None:
        raise ValueError("X is missing: an ensemble needs the selection samples to vote on.")
    members = adapt(ensemble)
    answers = members.answers(X)
    labels = column_or_1d(y)
    if answers.shape[1] != len(labels):
        raise ValueError(
            f"X has {answers.shape[1]} rows and y has {len(labels)} values; one value for each row "
            "is expected."
        )
    given = None if sample_weight is None else np.asarray(sample_weight)
    counts = whole_weights(given, len(labels))[0] > 0
    targets, absent, task = labels, np.nan, "regression"
    if members.classes is not None:
        targets, absent = codes_of_labels(labels, members.classes, counts), NO_VOTE
        task = "classification"

    def find_left_out(*, must_verify: bool = False) -> npt.NDArray[np.bool_]:
        return members.out_of_bag(X, labels, given, must_verify=must_verify)[:, counts]

    if on == "out_of_bag":
        mask = members.out_of_bag(X, labels, given)
        answers = np.where(mask, answers, absent).astype(answers.dtype)
    selection = read_selection(
        answers, targets, given, no_vote=absent, task=task,  # type: ignore[arg-type]
        member_weights=members.member_weights,
    )  # fmt: skip
    is_known = on == "train" and was_trained_on is not False
    return Source(selection, find_left_out if is_known else None, members, bool(was_trained_on))


def is_deprecated_matrix(given: Any, X: Any, name: str, on: Any = "train") -> bool:
    """Whether a function for ensembles was given a matrix of votes, which is deprecated."""
    if can_be_queried(given):
        return False
    if X is not None or np.ndim(given) < 2:
        raise ValueError(
            f"{_not_an_ensemble(given)} Pass one of these with X; for a matrix of votes use "
            f"{name}_votes(), which takes no X."
        )
    if checked_on(on) == "out_of_bag":
        raise ValueError(
            f'on="out_of_bag" needs an ensemble; {name}_votes() takes a matrix of votes, in which '
            "no_vote= marks those on samples that the member was trained on."
        )
    warn_user(
        f"{name}() takes ensembles; use {name}_votes() for a matrix of votes. 0.3 will reject it "
        "here.",
        FutureWarning,
    )
    return True


def _not_an_ensemble(given: Any) -> str:
    return (
        f"ensemble is of type {type(given).__name__}, not a fitted ensemble or a list of fitted "
        "estimators."
    )


def check_has_labels(members_or_votes: Any, y: Any, what: str) -> None:
    """Reject missing labels."""
    if y is None:
        hint = "" if can_be_queried(members_or_votes) else f" {MATRIX_HINT}"
        raise ValueError(f"y is missing: {what} need the true labels or targets.{hint}")


def without_vote_options(options: Mapping[str, Any], function: str = "") -> dict[str, Any]:
    """The options without those for a matrix of votes, which are rejected."""
    takes_votes = f", which {function}() takes" if function else ""
    for name in ("no_vote", "task"):
        if options.get(name) is not None:
            raise ValueError(f"{name}={options[name]!r} is for a matrix of votes{takes_votes}.")
    return {name: value for name, value in options.items() if name not in ("no_vote", "task")}


def can_be_queried(given: Any) -> bool:
    """Whether this is an ensemble or a list of estimators, not a matrix."""
    if isinstance(given, Sequence) and not isinstance(given, str | bytes) and len(given):
        first = given[0]
        if isinstance(first, list | tuple) and len(first) == 2 and isinstance(first[0], str):
            given = first[1]
        else:
            given = first
    is_members = hasattr(given, "votes") and hasattr(given, "subset")
    return is_members or hasattr(given, "fit") or hasattr(given, "predict")


def codes_of_labels(
    y: npt.NDArray[Any], classes: npt.NDArray[Any], counts: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Codes of labels in the classes of an ensemble."""
    codes = np.zeros(len(y), np.int64)
    why = "the ensemble does not know; its classes are "
    codes[counts] = class_codes(y[counts], classes, "y holds", why)
    return codes
