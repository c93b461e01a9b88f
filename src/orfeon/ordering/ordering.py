"""Order the members of an ensemble and keep the first ones: ``order()`` and ``prune()``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.members.vote_input import (
    On,
    Source,
    is_deprecated_matrix,
    read_ensemble,
    read_votes,
    without_vote_options,
)
from orfeon.members.votes import Task
from orfeon.ordering.order_type import FIFTH, Keep, Order, order_source, with_order
from orfeon.ordering.rule import Rule, as_rule, documented
from orfeon.utils.types import Integers


@documented
def order(
    ensemble: Any,
    X: Any = None,
    y: Any = None,
    *,
    rule: str | Rule = "margin_distance",
    on: On = "train",
    sample_weight: Any = None,
    **options: Any,
) -> Order:
    """Order the members of a fitted ensemble, best first.

    Parameters
    ----------
    <ensemble>
    X : array or data frame of shape (n_samples, n_features)
        The selection samples, usually the training set. Dask collections are read partition by
        partition: see :func:`orfeon.ordering.order_partitions`.
    y : array of shape (n_samples,)
        Their labels or targets.
    <rule>
    <on>
    <sample_weight>
    **options
        Options of the rule, such as ``p`` of "margin_distance". For a Dask collection also
        ``max_bytes`` and ``with_votes`` of :func:`orfeon.ordering.order_partitions`.

    Returns
    -------
    Order
        The order, its error curve, the rule's values and sizes.

    See Also
    --------
    orfeon.ordering.order_votes : The same from a matrix of votes.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, order
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(n_estimators=100, random_state=0).fit(X, y)
    >>> order(bag, X, y, rule="reduce_error", on="out_of_bag").order[:5]
    array([34,  5,  3, 20, 14])
    """
    if hasattr(X, "__dask_graph__"):
        from orfeon.ordering.partitioned import order_partitions

        options = _for_partitions(on, options)
        return order_partitions(ensemble, X, y, rule=rule, sample_weight=sample_weight, **options)
    if is_deprecated_matrix(ensemble, X, "order", on):
        return order_votes(ensemble, y, rule=rule, sample_weight=sample_weight, **options)
    chosen = as_rule(rule, **without_vote_options(options, "order_votes"))
    return order_source(read_ensemble(ensemble, X, y, sample_weight, on=on), chosen)


@documented
def order_votes(
    votes: Any,
    y: Any,
    *,
    rule: str | Rule = "margin_distance",
    sample_weight: Any = None,
    no_vote: Any = None,
    task: Task | None = None,
    **options: Any,
) -> Order:
    """Order members by a matrix of their votes, best first.

    Parameters
    ----------
    <votes>
    <y_of_votes>
    <rule>
    <sample_weight>
    <no_vote>
    <task>
    **options
        Options of the rule, such as ``p`` of "margin_distance".

    Returns
    -------
    Order
        The order, its error curve, the rule's values and sizes.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> votes = [[0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 1]]
    >>> ordered = order_votes(votes, [0, 0, 0, 0], rule="reduce_error")
    >>> ordered.order, ordered.error_curve
    (array([3, 0, 2, 1]), array([0.25, 0.  , 0.25, 0.  ]))
    """
    chosen = as_rule(rule, **options)
    return order_source(read_votes(votes, y, sample_weight, no_vote=no_vote, task=task), chosen)


@documented
def prune(
    ensemble: Any,
    X: Any = None,
    y: Any = None,
    *,
    rule: str | Rule = "margin_distance",
    keep: Keep | npt.ArrayLike = FIFTH,
    on: On = "train",
    sample_weight: Any = None,
    **options: Any,
) -> Any:
    """Order the members of a fitted ensemble and keep the first ones.

    Parameters
    ----------
    <ensemble>
    X : array or data frame of shape (n_samples, n_features)
        The selection samples, usually the training set. Dask collections are read partition by
        partition: see :func:`orfeon.ordering.prune_partitions`.
    y : array of shape (n_samples,)
        Their labels or targets.
    <rule>
    <keep>
    <on>
    <sample_weight>
    **options
        Options of the rule, such as ``p`` of "margin_distance". For a Dask collection also
        ``max_bytes`` of :func:`orfeon.ordering.prune_partitions`.

    Returns
    -------
    ensemble of the same kind
        Fitted, with the kept members, best first. It has the attributes ``order_`` (an
        :class:`~orfeon.ordering.Order`), ``error_curve_`` and ``kept_`` (the indices of its members
        in the whole ensemble), unless it is a list or a container such as a
        :class:`~orfeon.forest.Forest`. Members are ordered by their votes, also where the ensemble
        averages class supports, as scikit-learn's forests do.

    See Also
    --------
    orfeon.ordering.prune_votes : The same for a matrix of votes.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier, prune
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> X_test, y_test = make_waveform(5000, random_state=1)
    >>> bag = BaggingClassifier(CARTClassifier(pruning="cv"), 200, random_state=0).fit(X, y)
    >>> small = prune(bag, X, y)
    >>> len(small), round(bag.score(X_test, y_test), 3), round(small.score(X_test, y_test), 3)
    (40, 0.747, 0.787)
    """
    if hasattr(X, "__dask_graph__"):
        from orfeon.ordering.partitioned import prune_partitions

        options = _for_partitions(on, options)
        return prune_partitions(
            ensemble, X, y, rule=rule, sample_weight=sample_weight,
            keep=keep, **options,  # type: ignore[arg-type]
        )  # fmt: skip
    if is_deprecated_matrix(ensemble, X, "prune", on):
        return prune_votes(
            ensemble, y, rule=rule, keep=keep, sample_weight=sample_weight, **options
        )
    chosen = as_rule(rule, **without_vote_options(options, "prune_votes"))
    source = read_ensemble(ensemble, X, y, sample_weight, on=on)
    kept, found = _choose(source, chosen, keep)
    if found is not None and found.has_own_weights:
        raise ValueError(
            f"{found.rule!r} gives the votes weights, and {type(ensemble).__name__} cannot store "
            f"them; use Pruned{'Classifier' if found.n_classes else 'Regressor'} with this rule, "
            "or order() for the weights."
        )
    assert source.ensemble is not None
    return with_order(source.ensemble.subset(kept), kept, found)


@documented
def prune_votes(
    votes: Any,
    y: Any,
    *,
    rule: str | Rule = "margin_distance",
    keep: Keep | npt.ArrayLike = FIFTH,
    sample_weight: Any = None,
    no_vote: Any = None,
    task: Task | None = None,
    **options: Any,
) -> Any:
    """Order members by a matrix of their votes and keep the rows of the first ones.

    Parameters
    ----------
    <votes>
    <y_of_votes>
    <rule>
    <keep>
    <sample_weight>
    <no_vote>
    <task>
    **options
        Options of the rule, such as ``p`` of "margin_distance".

    Returns
    -------
    array or data frame of shape (n_kept, n_samples)
        The votes of the kept members, best first.

    Examples
    --------
    >>> from orfeon.ordering import prune_votes
    >>> votes = [[0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 1]]
    >>> prune_votes(votes, [0, 0, 0, 0], rule="reduce_error", keep=2)
    array([[0, 0, 0, 1],
           [0, 1, 1, 0]])
    """
    chosen = as_rule(rule, **options)
    source = read_votes(votes, y, sample_weight, no_vote=no_vote, task=task)
    kept, found = _choose(source, chosen, keep)
    if found is not None and found.has_own_weights:
        raise ValueError(
            f"{found.rule!r} gives the votes weights, and a matrix cannot store them; use "
            "order_votes() for the weights."
        )
    if hasattr(votes, "iloc"):
        return votes.iloc[kept]
    return (votes if isinstance(votes, np.ndarray) else np.asarray(votes))[kept]


def _for_partitions(on: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Options of ``order`` and ``prune`` for Dask collections."""
    if on != "train":
        raise ValueError(f'on={on!r} is not allowed for Dask collections; give on="train".')
    return without_vote_options(options, "order_votes")


def _choose(source: Source, rule: Rule, keep: Any) -> tuple[Integers, Order | None]:
    """The members to keep, and their order, unless the members themselves were given."""
    if not isinstance(keep, str) and np.ndim(keep) == 1:
        return _checked_members(keep, source.selection.n_members), None
    found = order_source(source, rule)
    return found.members(keep), found


def _checked_members(keep: Any, n_members: int) -> Integers:
    """Members to keep that were given by their indices."""
    indices = np.asarray(keep)
    is_whole = len(indices) > 0 and indices.dtype.kind in "iu"
    if not is_whole or indices.min() < 0 or indices.max() >= n_members:
        raise ValueError(
            f"keep={keep!r} is not allowed; a list holds the indices of members, from 0 to "
            f"{n_members - 1}, at least one."
        )
    if len(np.unique(indices)) < len(indices):
        raise ValueError(f"keep={keep!r} is not allowed; each member is kept once.")
    return indices.astype(np.int64)
