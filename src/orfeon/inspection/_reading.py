"""What is inspected, however it is given: an ensemble, a list of estimators, a matrix of votes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from orfeon.members.votes import On, Source, Task, can_be_queried, check_has_labels, read_source
from orfeon.utils.scikit_learn import _check_sample_weight
from orfeon.utils.types import Floats

if TYPE_CHECKING:
    from orfeon.members.adapter import Members


def read_answers(
    members_or_votes: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    what: str,
    on: On = "train",
    no_vote: Any = None,
    task: Task | None = None,
) -> Source:
    """Read what members say of samples, or ask them."""
    check_has_labels(members_or_votes, y, what)
    if can_be_queried(members_or_votes):
        if X is None:
            raise ValueError(f"X is missing: {what} need samples that the members vote on.")
        members_of(members_or_votes, what)
    return read_source(members_or_votes, X, y, sample_weight, on=on, no_vote=no_vote, task=task)


def read_class_votes(
    members_or_votes: Any, X: Any, y: Any, sample_weight: Any = None, *, what: str, **options: Any
) -> Source:
    """Read votes for classes, or ask for them."""
    source = read_answers(members_or_votes, X, y, sample_weight, what=what, **options)
    if source.selection.is_regression:
        raise ValueError(
            f"members that predict numbers have no {what}; votes for classes are needed."
        )
    return source


def members_of(ensemble: Any, what: str) -> Members:
    """A fitted ensemble of any make, whose members can be asked one by one."""
    # They know all ensembles, some of which know pictures.
    from orfeon.members import adapt
    from orfeon.members.adapter import MembersNotVotingError

    try:
        return adapt(ensemble)
    except MembersNotVotingError as error:
        can_follow = hasattr(ensemble, "staged_predict")
        hint = " error_curves() follows it stage by stage." if can_follow else ""
        raise TypeError(
            f"{what} need members that have a say of their own, and those of {error.name} have "
            f"none: {error.reason}.{hint}"
        ) from error


def named_ensembles(given: Any, name: str | None = None) -> dict[str, Any]:
    """One ensemble with its name, or several with theirs."""
    if isinstance(given, Mapping):
        return {str(its): one for its, one in given.items()}
    has_class = hasattr(given, "fit") or hasattr(given, "predict")
    return {name or (type(given).__name__ if has_class else "members"): given}


def read_weights(sample_weight: Any, n_samples: int) -> Floats:
    """Weights of samples, of which one at least is positive."""
    if sample_weight is not None and not np.any(np.asarray(sample_weight, dtype=np.float64)):
        raise ValueError(
            "sample_weight is zero for every sample; at least one weight must be positive."
        )
    weights = _check_sample_weight(
        sample_weight, np.empty((n_samples, 1)), dtype=np.float64, ensure_non_negative=True
    )
    return np.asarray(weights, dtype=np.float64)
