"""What is inspected, however it is given: an ensemble, a list of estimators, a matrix of votes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_sample_weight

from orfeon.votes.selection import Task
from orfeon.votes.source import On, Source, can_be_asked, check_has_labels, read_source

if TYPE_CHECKING:
    from orfeon.adapters.base import FittedEnsemble

Floats = npt.NDArray[np.float64]


def read_answers(
    members_or_votes: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    what: str,
    on: On = "examples",
    no_vote: Any = None,
    task: Task | None = None,
) -> Source:
    """Read what members say of examples, or ask them.

    Parameters
    ----------
    members_or_votes, X, y, sample_weight, on, no_vote, task
        As for :func:`orfeon.order`.
    what : str
        What it is for, in the plural: errors say so, and what to do.

    Returns
    -------
    Source
        What they say.

    Examples
    --------
    >>> from orfeon.inspection._reading import read_answers
    >>> read_answers([[0, 1], [1, 1]], None, [0, 1], what="margins").selection.right.tolist()
    [[True, True], [False, True]]
    >>> read_answers([[0, 1], [1, 1]], [0, 1], None, what="margins")
    Traceback (most recent call last):
    ...
    ValueError: y is missing: margins need the true labels or targets. A matrix of votes goes
    without X, and with y=labels.
    """
    check_has_labels(members_or_votes, y, what)
    if can_be_asked(members_or_votes):
        if X is None:
            raise ValueError(f"X is missing: {what} need examples that the members vote on.")
        members_of(members_or_votes, what)
    return read_source(members_or_votes, X, y, sample_weight, on=on, no_vote=no_vote, task=task)


def read_class_votes(
    members_or_votes: Any, X: Any, y: Any, sample_weight: Any = None, *, what: str, **options: Any
) -> Source:
    """Read votes for classes, or ask for them.

    Parameters
    ----------
    members_or_votes, X, y, sample_weight
        As for :func:`orfeon.order`.
    what : str
        What it is for, in the plural.
    **options
        ``on`` and ``no_vote``, as for :func:`read_answers`.

    Returns
    -------
    Source
        The votes.

    Examples
    --------
    >>> from orfeon.inspection._reading import read_class_votes
    >>> read_class_votes([[0.5]], None, [0.7], what="margins")
    Traceback (most recent call last):
    ...
    ValueError: members that predict numbers have no margins; votes for classes are needed.
    """
    source = read_answers(members_or_votes, X, y, sample_weight, what=what, **options)
    if source.selection.is_regression:
        raise ValueError(
            f"members that predict numbers have no {what}; votes for classes are needed."
        )
    return source


def members_of(ensemble: Any, what: str) -> FittedEnsemble:
    """A fitted ensemble of any make, whose members can be asked one by one.

    Parameters
    ----------
    ensemble : ensemble, pipeline, or list of fitted estimators
        As for :func:`orfeon.adapters.adapt`.
    what : str
        What it is for, in the plural.

    Returns
    -------
    FittedEnsemble
        The members.

    Examples
    --------
    >>> from sklearn.ensemble import GradientBoostingClassifier
    >>> from orfeon.inspection._reading import members_of
    >>> members_of(GradientBoostingClassifier(), "margins")
    Traceback (most recent call last):
    ...
    TypeError: margins need members that have a say of their own, and those of
    GradientBoostingClassifier have none: its trees do not vote, each corrects the sum of all
    before it. error_curves() follows it stage by stage.
    """
    # They know all ensembles, some of which know pictures.
    from orfeon.adapters import adapt
    from orfeon.adapters.base import NoSayError

    try:
        return adapt(ensemble)
    except NoSayError as error:
        can_follow = hasattr(ensemble, "staged_predict")
        hint = " error_curves() follows it stage by stage." if can_follow else ""
        raise TypeError(
            f"{what} need members that have a say of their own, and those of {error.name} have "
            f"none: {error.reason}.{hint}"
        ) from error


def named_ensembles(given: Any, name: str | None = None) -> dict[str, Any]:
    """One ensemble with its name, or several with theirs.

    Parameters
    ----------
    given : ensemble, list of estimators, matrix of votes, or mapping of str to these
        What was given.
    name : str, optional
        The name of one; by default that of its class, or "members".

    Returns
    -------
    dict of str to object
        The ensembles by name.

    Examples
    --------
    >>> from orfeon import BaggingClassifier
    >>> from orfeon.inspection._reading import named_ensembles
    >>> named_ensembles(BaggingClassifier()), named_ensembles([[0, 1]])
    ({'BaggingClassifier': BaggingClassifier()}, {'members': [[0, 1]]})
    """
    if isinstance(given, Mapping):
        return {str(its): one for its, one in given.items()}
    has_class = hasattr(given, "fit") or hasattr(given, "predict")
    return {name or (type(given).__name__ if has_class else "members"): given}


def read_weights(sample_weight: Any, n_examples: int) -> Floats:
    """Weights of examples, of which one at least is positive.

    Parameters
    ----------
    sample_weight : array of shape (n_examples,) or None
        Weights; None for 1 each.
    n_examples : int
        How many examples there are.

    Returns
    -------
    ndarray of shape (n_examples,)
        The weights.

    Examples
    --------
    >>> from orfeon.inspection._reading import read_weights
    >>> read_weights(None, 2)
    array([1., 1.])
    """
    if sample_weight is not None and not np.any(np.asarray(sample_weight, dtype=np.float64)):
        raise ValueError(
            "sample_weight is zero for every example; at least one weight must be positive."
        )
    weights = _check_sample_weight(
        sample_weight, np.empty((n_examples, 1)), dtype=np.float64, ensure_non_negative=True
    )
    return np.asarray(weights, dtype=np.float64)
