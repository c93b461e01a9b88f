"""Utility: the next member is the one that lowers the error most for what it costs.

References
----------
Demir and Alpaydin (2005). Cost-conscious classifier ensembles. Pattern Recognition Letters 26(14),
2206-2214.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orfeon.kernels.ordering import order as kernels
from orfeon.members.votes import Selection
from orfeon.ordering.reduce_error import order_by_squared_error
from orfeon.ordering.rule import (
    Arrangement,
    Rule,
    error_curve,
    first_of_least,
    kernel_arrays,
    trivial_errors,
)
from orfeon.utils.types import Floats, Integers


@dataclass(frozen=True)
class Utility(Rule):
    """Greedy choice of the member that adds the most utility: accuracy minus cost.

    The size that the rule suggests is the one with the highest utility.

    Parameters
    ----------
    costs : sequence of float, optional
        What each member costs to query, such as its prediction time or the price of the features
        it reads, in any unit; 1 each by default.
    trade_off : float, default=0.05
        How much error is worth as much as querying all members. The utility of some members is
        one minus their error minus ``trade_off`` times their share of the total cost. In
        regression the error is a share of the variance of the targets.

    Notes
    -----
    Members that cost the same come in the order of :class:`ReduceError`, as do all members with
    ``trade_off=0``. Demir and Alpaydin add a member if it raises the utility; here the order goes
    on to the last member, and ``keep="rule"`` stops where the utility is highest.

    Examples
    --------
    The second and third members together vote as well as the first, and cost less:

    >>> from orfeon.ordering import order_votes
    >>> votes = [[0, 0, 0, 0], [0, 0, 0, 1], [1, 0, 1, 0]]
    >>> order_votes(votes, [0, 0, 0, 0], rule="utility", trade_off=0.5).order
    array([0, 1, 2])
    >>> costly = order_votes(votes, [0, 0, 0, 0], rule="utility", trade_off=0.5, costs=(8, 1, 1))
    >>> costly.order, costly.own_size
    (array([1, 2, 0]), 2)
    """

    name: ClassVar[str] = "utility"
    for_regression: ClassVar[bool] = True

    costs: Sequence[float] | None = None
    trade_off: float = 0.05

    def __post_init__(self) -> None:
        trade_off: Any = self.trade_off
        if not isinstance(trade_off, int | float | np.number) or not 0 <= trade_off < np.inf:
            raise ValueError(
                f"trade_off={trade_off!r} is not allowed; give a number that is not negative."
            )
        if self.costs is None:
            return
        try:
            costs = np.asarray(self.costs, dtype=np.float64)
        except (TypeError, ValueError):
            costs = np.zeros(0)
        allowed = costs.ndim == 1 and costs.size and np.isfinite(costs).all()
        if not allowed or (costs < 0).any() or not 0 < costs.sum() < np.inf:
            raise ValueError(
                f"costs={self.costs!r} is not allowed; give one number per member, none negative "
                "and not all of them zero."
            )
        object.__setattr__(self, "costs", tuple(costs.tolist()))

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is the utility of those chosen so far."""
        penalties = self.trade_off * self._shares(selection.n_members)
        if selection.is_regression:
            variance = np.average(trivial_errors(selection), weights=selection.weights) or 1.0
            found = order_by_squared_error(selection, helped=False, penalties=penalties * variance)
            order, scale = found.order, float(variance)
        else:
            order, scale = _order_of_votes(selection, penalties), 1.0
        curve = error_curve(selection, order)
        losses = curve / scale + np.cumsum(penalties[order])
        own_size = first_of_least(losses, np.ones(len(losses), bool)) + 1
        return Arrangement(order, 1.0 - losses, own_size=own_size, error_curve=curve)

    def _shares(self, n_members: int) -> Floats:
        """The members' shares of the total cost."""
        costs = np.ones(n_members) if self.costs is None else np.array(self.costs)
        if len(costs) != n_members:
            raise ValueError(
                f"costs has {len(costs)} entries and there are {n_members} members; give one "
                "number per member."
            )
        return np.asarray(costs / costs.sum())


def _order_of_votes(selection: Selection, penalties: Floats) -> Integers:
    n_members, n_samples = selection.n_members, selection.n_samples
    votes, y, weights, vote_weights, score = kernel_arrays(selection)
    decided, listed = np.full(n_samples, -1, np.int32), np.empty(n_samples, np.int64)
    used, errors = np.zeros(n_members, np.bool_), np.zeros(n_members, np.int64)
    order = np.empty(n_members, np.int64)
    for u in range(n_members):
        kernels.errors_of_additions(
            votes, y, weights, vote_weights, score, decided, used, listed, errors
        )
        k = first_of_least(errors / selection.total_weight + penalties, ~used)
        used[k], order[u] = True, k
        kernels.choose(votes, k, vote_weights, score, decided)
    return order
