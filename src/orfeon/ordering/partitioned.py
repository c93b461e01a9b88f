"""Order members by Dask collections, partition by partition.

Margin distance, orientation and the members' own errors follow from sums over samples, which add
up over partitions. The other rules need all votes at once: the votes are collected if they fit in
memory, the samples never are.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d

from orfeon.data.training_set import check_length
from orfeon.ensembles.dask_parts import Part, is_dask, read_parts, rows_of_part, values_of_part
from orfeon.members import adapt
from orfeon.members.vote_input import Source, check_has_labels, codes_of_labels, read_ensemble
from orfeon.members.votes import NothingCountsError, Selection, read_selection, whole_weights
from orfeon.ordering.gram import CorrectnessGram
from orfeon.ordering.individual_error import IndividualError
from orfeon.ordering.margin_distance import MarginDistance
from orfeon.ordering.order_type import Keep, Order, order_source, pass_on_warning, with_order
from orfeon.ordering.orientation import Orientation
from orfeon.ordering.random_order import RandomOrder
from orfeon.ordering.rule import Arrangement, Rule, as_rule, documented, error_curve
from orfeon.utils.scikit_learn import _num_samples

#: Rules that need no more than sums over samples.
BY_SUMS = (MarginDistance, Orientation, IndividualError, RandomOrder)
#: Votes of up to this many bytes are collected by default.
MAX_BYTES = 2**31


@documented
def prune_partitions(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    rule: str | Rule = "margin_distance",
    keep: Keep = 0.2,
    sample_weight: Any = None,
    max_bytes: int = MAX_BYTES,
    **options: Any,
) -> Any:
    """Order the members of a fitted ensemble by Dask collections and keep the first ones.

    The result is that of :func:`orfeon.prune` on the same samples in memory, unless these are
    known to be the training set.

    Parameters
    ----------
    <ensemble>
    X : dask array, data frame or bag of rows
        The selection samples.
    y : dask array, series or bag
        Their labels or targets, in the partitions of ``X``.
    rule : str or Rule, default="margin_distance"
        As for :func:`orfeon.order`. "margin_distance", "orientation", "individual_error" and
        "random" need only sums over the partitions; the others need all votes together.
    keep : float, int, "auto" or "rule", default=0.2
        A share of the members, their number, the size that the rule suggests (``"rule"``), or the
        size with the lowest cross-validated error (``"auto"``), which needs all votes together.
    sample_weight : dask array, series or bag, optional
        Sample weights; whole numbers where sums are taken.
    max_bytes : int, default=2**31
        Memory that the votes may take if all votes are needed.
    **options
        Options of the rule.

    Returns
    -------
    ensemble of the same kind
        Fitted, with the attributes ``order_``, ``error_curve_`` and ``kept_``.

    Examples
    --------
    >>> from orfeon.ordering import prune_partitions
    >>> small = prune_partitions(pasted, X, y, rule="orientation", keep="rule")  # doctest: +SKIP
    """
    found = order_partitions(
        ensemble, X, y, rule=rule, sample_weight=sample_weight, max_bytes=max_bytes,
        with_votes=isinstance(keep, str) and keep == "auto", **options,
    )  # fmt: skip
    if found.has_own_weights:
        raise ValueError(
            f"{found.rule!r} gives the votes weights, and {type(ensemble).__name__} cannot store "
            "them; use order_partitions() for the weights."
        )
    kept = found.members(keep)
    return with_order(adapt(ensemble).subset(kept), kept, found)


def order_partitions(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    rule: str | Rule = "margin_distance",
    sample_weight: Any = None,
    max_bytes: int = MAX_BYTES,
    with_votes: bool = False,
    **options: Any,
) -> Order:
    """Order the members of a fitted ensemble by Dask collections.

    The result is that of :func:`orfeon.order` on the same samples in memory.

    Parameters
    ----------
    ensemble, X, y, rule, sample_weight, max_bytes, **options
        As for :func:`prune_partitions`.
    with_votes : bool, default=False
        Whether to collect all votes whatever the rule, so that the order has an automatic size.

    Returns
    -------
    Order
        The order.

    Examples
    --------
    >>> from orfeon.ordering import order_partitions
    >>> order_partitions(pasted, X, y).error_curve[-1]  # doctest: +SKIP
    """
    chosen = as_rule(rule, **options)
    if not is_dask(X):
        raise TypeError(
            f"X is a {type(X).__name__}, not a Dask collection; use prune() or order()."
        )
    check_has_labels(ensemble, y, "the selection samples")
    members = adapt(ensemble)
    chosen.check(is_regression=not members.n_classes)
    parts = read_parts(X, y, sample_weight)
    queries = _Queries(ensemble, parts)
    by_sums = isinstance(chosen, BY_SUMS) and members.n_classes and members.member_weights is None
    if by_sums and not with_votes:
        return _order_by_sums(queries, chosen, members.n_classes)
    return _order_by_votes(queries, members, chosen, max_bytes)


class _Queries:
    """Queries the members on each partition, where it is."""

    def __init__(self, ensemble: Any, parts: Sequence[Part]) -> None:
        self.dask = importlib.import_module("dask")
        self.ensemble = self.dask.delayed(ensemble, pure=False, traverse=False)
        self.parts = parts

    def each(self, work: Any, *given: Any) -> list[Any]:
        """Results of each partition, not computed yet."""
        run = self.dask.delayed(work, pure=False)
        return [run(self.ensemble, p.number, p.X, p.y, p.sample_weight, *given) for p in self.parts]

    def total(self, work: Any, *given: Any) -> Any:
        """The sum of the results of all partitions, added in pairs."""
        sums = self.each(work, *given)
        add = self.dask.delayed(_add, pure=False)
        while len(sums) > 1:
            pairs = [sums[i : i + 2] for i in range(0, len(sums), 2)]
            sums = [add(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return self.compute(sums)[0]

    def compute(self, delayed: list[Any]) -> list[Any]:
        return list(self.dask.compute(*delayed))


def _add(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return operator.add(one, other)


# -- by sums ---------------------------------------------------------------------------------------


def _order_by_sums(queries: _Queries, rule: Rule, n_classes: int) -> Order:
    gram = queries.total(_gram, isinstance(rule, MarginDistance))
    if gram is None:
        raise NothingCountsError("X has no rows that count: all partitions are empty.")
    found = _arrange(rule, gram)
    pass_on_warning(found)
    wrong = queries.total(_wrong, found.order)
    curve = np.rint(wrong) / gram.total_weight
    return Order(rule, found.order, found.criterion, curve, n_classes, found.own_size)


def _arrange(rule: Rule, gram: CorrectnessGram) -> Arrangement:
    if isinstance(rule, MarginDistance | Orientation):
        return rule.arrange_sums(gram)
    if isinstance(rule, RandomOrder):  # only the number of members counts
        return rule.arrange(Selection(np.zeros((len(gram), 1)), np.zeros(1), np.ones(1, int), 1))
    voted = np.maximum(gram.sizes, 1).astype(np.float64)
    errors = np.where(gram.sizes > 0, (gram.sizes - gram.totals) // 2 / voted, 1.0)
    order = np.argsort(errors, kind="stable")
    return Arrangement(order, errors[order])


def _gram(
    ensemble: Any, number: int, X: Any, y: Any, weight: Any, with_products: bool
) -> CorrectnessGram | None:
    selection = _selection(ensemble, number, X, y, weight)
    if selection is None:
        return None
    if selection.step != 1.0:
        raise ValueError(
            f"Partition {number}: sample_weight has fractions; sums over partitions are exact for "
            "whole numbers only."
        )
    gram = CorrectnessGram(selection.n_members, with_products=with_products)
    gram.add(selection)
    return gram


def _wrong(
    ensemble: Any, number: int, X: Any, y: Any, weight: Any, order: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64] | None:
    """Weight of the samples on which the first 1, 2, ... members are wrong."""
    selection = _selection(ensemble, number, X, y, weight)
    if selection is None:
        return None
    return np.asarray(np.rint(error_curve(selection, order) * selection.total_weight))


def _selection(ensemble: Any, number: int, X: Any, y: Any, weight: Any) -> Selection | None:
    """Votes of the members on a partition; None where no sample counts."""
    rows, values = rows_of_part(X), values_of_part(y)
    try:
        if _num_samples(rows) == 0 == len(values):
            return None
        weights = None if weight is None else values_of_part(weight)
        return read_ensemble(ensemble, rows, values, weights, was_trained_on=False).selection
    except NothingCountsError:
        return None
    except (ValueError, TypeError) as error:
        raise type(error)(f"Partition {number}: {error}") from error


# -- by votes --------------------------------------------------------------------------------------


def _order_by_votes(queries: _Queries, members: Any, rule: Rule, max_bytes: int) -> Order:
    n_rows = sum(queries.compute(queries.each(_count)))
    # Codes of classes are read as four bytes each, numbers as eight.
    needed = (4 if members.n_classes else 8) * members.n_members * n_rows
    if needed > max_bytes:
        raise ValueError(
            f"rule={rule.name!r} needs all votes together: those of {members.n_members} members on "
            f"{n_rows} samples are {needed / 1e9:.3g} GB, and max_bytes={max_bytes} allows "
            f"{max_bytes / 1e9:.3g} GB. {_way_out(members.n_classes)}"
        )
    answers = [found for found in queries.compute(queries.each(_answers)) if found is not None]
    if not answers:
        raise NothingCountsError("X has no rows that count: all partitions are empty.")
    outputs, targets, weights = zip(*answers, strict=True)
    selection = read_selection(
        np.concatenate(outputs, axis=1), np.concatenate(targets),
        None if weights[0] is None else np.concatenate(weights),
        task="classification" if members.n_classes else "regression",
        member_weights=members.member_weights,
    )  # fmt: skip
    return order_source(Source(selection, None, members), rule)


def _way_out(n_classes: int) -> str:
    if not n_classes:
        return "Order by fewer samples."
    return (
        "margin_distance, orientation, individual_error and random need sums only (with a number "
        'or a share to keep, not "auto"); or order by fewer samples.'
    )


def _count(ensemble: Any, number: int, X: Any, y: Any, weight: Any) -> int:
    return len(values_of_part(y))


def _answers(ensemble: Any, number: int, X: Any, y: Any, weight: Any) -> Any:
    """Votes, labels and weights of a partition, compact; None where there is no sample."""
    rows, values = rows_of_part(X), column_or_1d(values_of_part(y))
    if len(values) == 0:
        return None
    members = adapt(ensemble)
    try:
        check_length(values, _num_samples(rows))
        weights = None if weight is None else np.ravel(values_of_part(weight))
        counts = whole_weights(weights, len(values))[0] > 0
        answers, targets = members.answers(rows), values
        if members.classes is not None:
            answers = answers.astype(np.min_scalar_type(members.n_classes))
            targets = codes_of_labels(values, members.classes, counts)
    except NothingCountsError:
        return None
    except (ValueError, TypeError) as error:
        raise type(error)(f"Partition {number}: {error}") from error
    return answers, targets, weights
