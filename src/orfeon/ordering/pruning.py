"""Keep the members that matter: ``prune()``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.ensembles.dask_parts import is_dask
from orfeon.members.votes import On, Source, Task, read_source
from orfeon.ordering.ordering import Keep, Order, order_source
from orfeon.ordering.rule import Rule, as_rule


def prune(
    ensemble: Any,
    X: Any = None,
    y: Any = None,
    *,
    rule: str | Rule = "margin_distance",
    keep: Keep | npt.ArrayLike = 0.2,
    on: On = "train",
    sample_weight: Any = None,
    no_vote: Any = None,
    task: Task | None = None,
    **options: Any,
) -> Any:
    """Order the members of a fitted ensemble and keep the first of them.

    Parameters
    ----------
    ensemble : fitted ensemble, list of fitted estimators, or array of shape (n_members, n_samples)
        An ensemble of orfeon; scikit-learn's bagging, random forests, extra-trees, AdaBoost and
        voting; a pipeline that ends in one of these; fitted classifiers or regressors; or a matrix
        of votes, without ``X``. It is left as it is.
    X : array or data frame of shape (n_samples, n_features), optional
        The selection samples, by which members are ordered: usually the training set. A Dask
        collection is read where it is: see :func:`orfeon.ordering.prune_partitions`.
    y : array of shape (n_samples,)
        Their labels or targets.
    rule : str or Rule, default="margin_distance"
        How members are ordered: see :func:`orfeon.order`. For regressors "reduce_error" or
        "complementarity".
    keep : float, int, "auto", "rule" or array of int, default=0.2
        A share of the members; a number of them; ``"auto"``, the size of least cross-validated
        error; ``"rule"``, the size that the rule suggests; or the very members to keep, such as the
        subset that a search found, whatever the rule. Where members were trained on all samples,
        as in class-switching, or do not tell on which, as in scikit-learn's bagging of others than
        its trees, ``"auto"`` keeps too few unless ``X`` was set aside.
    on : {"train", "out_of_bag"}, default="train"
        Whether all members vote on all the samples, or only on those they were not trained on.
    sample_weight : array of shape (n_samples,), optional
        Weights of the samples.
    no_vote : optional
        What stands in a matrix of votes for a member that does not vote.
    task : {"classification", "regression"}, optional
        For a matrix of votes; by default regression when ``y`` holds numbers with fractions.
    **options
        Options of the rule, such as ``p`` of "margin_distance". For a Dask collection also
        ``max_bytes`` of :func:`orfeon.ordering.prune_partitions`.

    Returns
    -------
    ensemble of the same kind
        Fitted, with the kept members in the order found: it predicts as they do together. It has
        the attributes ``order_`` (an :class:`~orfeon.ordering.Order`), ``error_curve_`` and
        ``kept_`` (the indices of its members in the whole), unless it is a list, members such as a
        :class:`~orfeon.forest.Forest`, or a matrix. Members are ordered by their votes, also where
        the ensemble averages class supports, as scikit-learn's forests do.

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
    if is_dask(X):
        from orfeon.ordering.partitioned import prune_partitions, refuse_for_partitions

        refuse_for_partitions(on, no_vote, task)
        return prune_partitions(
            ensemble, X, y, rule=rule, sample_weight=sample_weight,
            keep=keep, **options,  # type: ignore[arg-type]
        )  # fmt: skip
    chosen = as_rule(rule, **options)
    source = read_source(ensemble, X, y, sample_weight, on=on, no_vote=no_vote, task=task)
    if not isinstance(keep, str) and np.ndim(keep) == 1:
        return _cut(ensemble, source, _numbers(keep, source.selection.n_members), None)
    found = order_source(source, chosen)
    _refuse_new_weights(ensemble, found)
    return _cut(ensemble, source, found.members(keep), found)  # type: ignore[arg-type]


def _cut(ensemble: Any, source: Source, kept: npt.NDArray[Any], found: Order | None) -> Any:
    """The ensemble of the kept members, with what is known of their order."""
    if source.ensemble is None:
        if hasattr(ensemble, "iloc"):
            return ensemble.iloc[kept]
        return (ensemble if isinstance(ensemble, np.ndarray) else np.asarray(ensemble))[kept]
    smaller = source.ensemble.subset(kept)
    if isinstance(smaller, list | tuple) or hasattr(smaller, "subset"):
        return smaller
    smaller.kept_ = kept
    if found is not None:
        smaller.order_ = found.without_source()
        smaller.error_curve_ = found.error_curve
    else:  # an ensemble that was pruned before has those of then
        vars(smaller).pop("order_", None)
        vars(smaller).pop("error_curve_", None)
    return smaller


def _numbers(keep: Any, n_members: int) -> npt.NDArray[np.int64]:
    """The numbers of the members to keep, checked."""
    numbers = np.asarray(keep)
    is_whole = len(numbers) > 0 and numbers.dtype.kind in "iu"
    if not is_whole or numbers.min() < 0 or numbers.max() >= n_members:
        raise ValueError(
            f"keep={keep!r} is not allowed; a list holds the numbers of members, from 0 to "
            f"{n_members - 1}, at least one."
        )
    if len(np.unique(numbers)) < len(numbers):
        raise ValueError(f"keep={keep!r} is not allowed; each member is kept once.")
    return numbers.astype(np.int64)


def _refuse_new_weights(ensemble: Any, found: Order) -> None:
    """Refuse weights of votes that come from the rule: the ensemble has no place for them."""
    if found.has_own_weights:
        raise ValueError(
            f"{found.rule!r} gives the votes weights, and {type(ensemble).__name__} has no place "
            "for them; use PrunedClassifier with this rule, or order() for the weights."
        )
