"""Order members by votes that come in chunks, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from orfeon.members.votes import read_selection
from orfeon.ordering.gram import gram_of_chunks, read_chunks
from orfeon.ordering.order_type import Order, pass_on_warning
from orfeon.ordering.rule import Arrangement, Rule, as_rule, error_curve


def order_chunks(
    chunks: Callable[[], Iterable[Any]] | Iterable[Any],
    *,
    rule: str | Rule = "margin_distance",
    no_vote: Any = None,
    **options: Any,
) -> Order:
    """Order members by votes that come in chunks, however many there are.

    The chunks are read twice: for the sums that the rule needs, and for the error curve. The result
    is that of :func:`order_votes` on all samples.

    Parameters
    ----------
    chunks : callable, or sequence of tuple
        ``(votes, y)`` or ``(votes, y, sample_weight)`` for some samples each, votes of shape
        (n_members, n_samples), weights that are whole numbers; or a function that returns them
        again each time it is called, so that they need not be in memory together.
    rule : str or Rule, default="margin_distance"
        "margin_distance", which keeps a number for each pair of members, or "orientation".
    no_vote : optional
        The entry of the votes that marks a missing vote.
    **options
        Options of the rule.

    Returns
    -------
    Order
        The order.

    Examples
    --------
    >>> from orfeon.ordering import order_chunks
    >>> first = ([[0, 1], [0, 0], [1, 0]], [0, 0])
    >>> second = ([[1, 0, 0], [1, 1, 0], [0, 0, 1]], [0, 0, 0])
    >>> order_chunks([first, second]).order
    array([0, 2, 1])
    """
    chosen = as_rule(rule, **options)
    arrange = getattr(chosen, "arrange_sums", None)
    if arrange is None:
        raise ValueError(
            f"rule={chosen.name!r} needs all votes at once; margin_distance and orientation can "
            "order members by chunks."
        )
    if callable(chunks):
        again = chunks
    else:
        kept = list(chunks)
        again = partial(iter, kept)
    read = partial(read_selection, no_vote=no_vote, task="classification")
    gram = gram_of_chunks(again(), read, with_products=chosen.name == "margin_distance")
    found: Arrangement = arrange(gram)
    pass_on_warning(found)
    wrong = np.zeros(len(gram))
    classes: set[Any] = set()
    for selection in read_chunks(again(), read):
        wrong += error_curve(selection, found.order) * selection.total_weight
        classes.update(np.asarray(selection.classes).tolist())
    curve = np.rint(wrong) / gram.total_weight
    return Order(chosen, found.order, found.criterion, curve, len(classes), found.own_size)
