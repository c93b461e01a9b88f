"""Reduce-error ordering: the next member is the one that gives the vote the lowest error.

References
----------
Margineantu and Dietterich (1997). Pruning adaptive boosting. Proceedings of the 14th International
Conference on Machine Learning, 211-218.
Martínez-Muñoz and Suárez (2004). Aggregation ordering in bagging. Proceedings of the IASTED
International Conference on Artificial Intelligence and Applications, 258-263.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orfeon.kernels.ordering import backfitting
from orfeon.kernels.ordering import order as kernels
from orfeon.members.votes import Selection
from orfeon.ordering.rule import (
    Arrangement,
    Rule,
    check_switches,
    first_appearances,
    first_of_least,
    kernel_arrays,
    trivial_errors,
)
from orfeon.utils.types import Floats, Integers

#: Whole-number weights become copies if there are at most this many per sample on average.
_COPIES = 8


@dataclass(frozen=True)
class ReduceError(Rule):
    """Greedy choice of the member that lowers the error of the vote most.

    In regression the error is the mean squared error of the mean prediction.

    Parameters
    ----------
    backfitting : bool, default=False
        Whether, after each choice, each member chosen before (in the order of choice) is replaced
        by the unused member that lowers the error most, if there is one. The subsets of different
        sizes are then not nested. Classification only. It is fast if all votes count equally and
        sample weights are small whole numbers; otherwise it takes about forty times as long.
    max_passes : int, default=100
        Maximum number of such passes after each choice.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> votes = [[0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1], [0, 0, 0, 0]]
    >>> order_votes(votes, [0, 0, 0, 0], rule="reduce_error").order
    array([3, 0, 2, 1])
    """

    name: ClassVar[str] = "reduce_error"
    for_regression: ClassVar[bool] = True

    backfitting: bool = False
    max_passes: int = 100

    def __post_init__(self) -> None:
        check_switches(self, "backfitting")
        if not isinstance(self.max_passes, int | np.integer) or self.max_passes < 1:
            raise ValueError(
                f"max_passes={self.max_passes!r} is not allowed; give a whole number from 1 on."
            )

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is the error of the vote."""
        if selection.is_regression:
            if self.backfitting:
                raise ValueError("backfitting=True is for classification; use backfitting=False.")
            return order_by_squared_error(selection, helped=False)
        n_members = selection.n_members
        order, errors = np.empty(n_members, np.int64), np.empty(n_members, np.int64)
        if self.backfitting:
            return self._backfit(selection, order, errors)
        kernels.reduce_error(*kernel_arrays(selection), order, errors)  # type: ignore[call-arg]
        return Arrangement(order, errors / selection.total_weight)

    def _backfit(self, selection: Selection, chosen: Integers, errors: Integers) -> Arrangement:
        """The subsets of each size, after replacements."""
        n_members, total = selection.n_members, selection.total_weight
        subsets = np.empty((n_members, n_members), np.int64)
        votes, y, *weights = kernel_arrays(selection)
        if selection.member_weights is None and total <= _COPIES * selection.n_samples:
            # Whole-number weights become copies, and samples of equal weight are counted in words.
            copies = np.repeat(np.arange(selection.n_samples), selection.weights)
            if len(copies) > selection.n_samples:
                votes, y = np.ascontiguousarray(votes[:, copies]), y[copies]
            backfitting.backfit_counts(
                votes, y, selection.n_classes, self.max_passes, chosen, errors, subsets
            )
        else:
            backfitting.backfit_weighted(  # type: ignore[call-arg]
                votes, y, *weights, self.max_passes, chosen, errors, subsets
            )
        sets = tuple(subsets[u, : u + 1].copy() for u in range(n_members))
        curve = errors / total
        return Arrangement(first_appearances(sets), curve, sets, error_curve=curve)


def order_by_squared_error(
    selection: Selection, *, helped: bool, penalties: Floats | float = 0.0
) -> Arrangement:
    """Greedy order of regressors, by squared error or by the number of samples they improve.

    Penalties are added to the members' squared errors.
    """
    n_members, n = selection.n_members, selection.n_samples
    answers = np.ascontiguousarray(selection.answers.T)
    weights = selection.weights / selection.total_weight
    vote_weights = selection.vote_weights
    sums, counts = np.zeros(n), np.zeros(n)
    losses = trivial_errors(selection)
    used = np.zeros(n_members, dtype=bool)
    errors, better = np.empty(n_members), np.empty(n_members)
    order, criterion = np.empty(n_members, np.int64), np.empty(n_members)
    for u in range(n_members):
        kernels.squared_errors(
            answers, vote_weights, sums, counts, selection.y, weights, losses, errors, better
        )
        k = first_of_least(-better if helped and u else errors + penalties, ~used)
        used[k], order[u], criterion[u] = True, k, (better if helped else errors)[k]
        known = selection.answered[k]
        sums[known] += vote_weights[k] * answers[known, k]
        counts[known] += vote_weights[k]
        decided = counts > 0
        losses[decided] = (sums[decided] / counts[decided] - selection.y[decided]) ** 2
    return Arrangement(order, criterion)
