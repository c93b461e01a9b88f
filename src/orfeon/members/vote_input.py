"""Where votes come from: a matrix, members, an ensemble of any kind, a list of estimators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d

from orfeon.base import class_codes
from orfeon.members.vote_matrix import (
    NO_VOTE,
    Selection,
    Task,
    read_selection,
    warn_of_other_labels,
    whole_weights,
)
from orfeon.utils.user_warning import warn_user

On = Literal["train", "out_of_bag"]
#: What to do where a matrix of votes was given as an ensemble is, or labels in the place of X.
MATRIX_HINT = "A matrix of votes goes without X, and with y=labels."


@dataclass(frozen=True, eq=False)
class Source:
    """The votes that members are ordered by, and those that tell how good the order is."""

    selection: Selection
    find_left_out: Callable[..., npt.NDArray[np.bool_]] | None = None
    ensemble: Any = None
    was_trained_on: bool = False

    @cached_property
    def left_out(self) -> Selection | None:
        """The same members and samples, with the votes on samples that members did not see.

        None when that is not known.
        """
        selection = self.selection
        if not selection.is_complete:
            return selection  # it is out-of-bag already
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
    """The name of a kind of answers; the one of 0.1 gets a warning."""
    if isinstance(on, str) and on == "examples":
        warn_user('on="examples" is now on="train"; 0.3 will not know the old name.', FutureWarning)
        return "train"
    return on


def read_source(
    members_or_votes: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    on: On = "train",
    no_vote: Any = None,
    task: Task | None = None,
    was_trained_on: bool | None = None,
) -> Source:
    """Read votes, or ask an ensemble for them."""
    on = present_name(on)
    if on not in ("train", "out_of_bag"):
        raise ValueError(f'on={on!r} is not allowed; use "train" or "out_of_bag".')
    check_has_labels(members_or_votes, y, "the selection samples")
    if not can_be_queried(members_or_votes):
        if X is not None:
            raise ValueError(
                f"X is given, and the {type(members_or_votes).__name__} before it is no ensemble "
                f"and holds no fitted estimators. {MATRIX_HINT}"
            )
        if on == "out_of_bag":
            raise ValueError(
                'on="out_of_bag" needs an ensemble; in a matrix of votes say with no_vote= which '
                "entries are votes on samples that the member was trained on."
            )
        read = read_selection(members_or_votes, y, sample_weight, no_vote=no_vote, task=task)
        warn_of_other_labels(read)
        return Source(read)
    from orfeon.members import adapt

    if X is None:
        raise ValueError("X is missing: an ensemble needs the selection samples to vote on.")
    refuse_beside_ensemble(no_vote, task)
    ensemble = adapt(members_or_votes)
    source = _query(ensemble, X, y, sample_weight, on)
    if was_trained_on is False:
        return replace(source, find_left_out=None)
    return replace(source, was_trained_on=bool(was_trained_on))


def check_has_labels(members_or_votes: Any, y: Any, what: str) -> None:
    """Refuse to go on without labels."""
    if y is None:
        hint = "" if can_be_queried(members_or_votes) else f" {MATRIX_HINT}"
        raise ValueError(f"y is missing: {what} need the true labels or targets.{hint}")


def refuse_beside_ensemble(no_vote: Any, task: Any) -> None:
    """Refuse what tells how a matrix of votes is to be read."""
    for name, value in (("no_vote", no_vote), ("task", task)):
        if value is not None:
            raise ValueError(f"{name}={value!r} is for a matrix of votes; an ensemble knows it.")


def can_be_queried(given: Any) -> bool:
    """Whether it is an ensemble or a list of estimators, and no matrix."""
    if isinstance(given, Sequence) and not isinstance(given, str | bytes) and len(given):
        first = given[0]
        if isinstance(first, list | tuple) and len(first) == 2 and isinstance(first[0], str):
            given = first[1]
        else:
            given = first
    is_members = hasattr(given, "votes") and hasattr(given, "subset")
    return is_members or hasattr(given, "fit") or hasattr(given, "predict")


def _query(ensemble: Any, X: Any, y: Any, sample_weight: Any, on: On) -> Source:
    answers = ensemble.answers(X)
    labels = column_or_1d(y)
    if answers.shape[1] != len(labels):
        raise ValueError(
            f"X has {answers.shape[1]} rows and y has {len(labels)} values; one value for each row "
            "is expected."
        )
    given = None if sample_weight is None else np.asarray(sample_weight)
    counts = whole_weights(given, len(labels))[0] > 0
    truth, absent, task = labels, np.nan, "regression"
    if ensemble.n_classes:
        truth, absent = codes_of_labels(labels, ensemble.classes, counts), NO_VOTE
        task = "classification"

    def read(outputs: Any) -> Selection:
        return read_selection(
            outputs, truth, given, no_vote=absent, task=task,  # type: ignore[arg-type]
            member_weights=ensemble.member_weights,
        )  # fmt: skip

    def find(*, must_verify: bool = False) -> npt.NDArray[np.bool_]:
        mask: npt.NDArray[np.bool_] = ensemble.out_of_bag(X, labels, given, must_verify=must_verify)
        return mask[:, counts]

    if on == "train":
        return Source(read(answers), find, ensemble)
    mask = ensemble.out_of_bag(X, labels, given)
    return Source(read(np.where(mask, answers, absent).astype(answers.dtype)), None, ensemble)


def codes_of_labels(
    y: npt.NDArray[Any], classes: npt.NDArray[Any], counts: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Codes of labels in the classes of an ensemble."""
    codes = np.zeros(len(y), np.int64)
    why = "the ensemble does not know; its classes are "
    codes[counts] = class_codes(y[counts], classes, "y holds", why)
    return codes
