"""Greedy orders of members that predict numbers: by squared error, or by the samples they help."""

from __future__ import annotations

import numpy as np

from orfeon.kernels.ordering import order as kernels
from orfeon.members.votes import Selection
from orfeon.ordering.curves import trivial_errors
from orfeon.ordering.rule import Arrangement
from orfeon.ordering.ties import first_of_least


def order_by_squared_error(selection: Selection, *, helped: bool) -> Arrangement:
    """Choose members one by one, starting with that of least squared error."""
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
        k = first_of_least(-better if helped and u else errors, ~used)
        used[k], order[u], criterion[u] = True, k, (better if helped else errors)[k]
        known = selection.answered[k]
        sums[known] += vote_weights[k] * answers[known, k]
        counts[known] += vote_weights[k]
        decided = counts > 0
        losses[decided] = (sums[decided] / counts[decided] - selection.y[decided]) ** 2
    return Arrangement(order, criterion)
