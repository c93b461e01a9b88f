"""Error curves: the error of the first 1, 2, ... members of an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.kernels.ordering import order as kernels
from orfeon.members.votes import Selection
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats, Integers


def kernel_arrays(selection: Selection) -> tuple[npt.NDArray[Any], ...]:
    """Votes, labels, weights and vote weights as the kernels take them, and room for the scores."""
    return (
        kernel_view(np.ascontiguousarray(selection.answers, dtype=np.int32)),
        kernel_view(np.ascontiguousarray(selection.y, dtype=np.int64)),
        kernel_view(np.ascontiguousarray(selection.weights)),
        kernel_view(np.ascontiguousarray(selection.vote_weights)),
        np.zeros((selection.n_samples, selection.n_classes)),
    )


def error_curve(
    selection: Selection,
    order: Integers,
    subsets: Sequence[Integers] | None = None,
    member_weights: Floats | None = None,
) -> Floats:
    """Error of the first 1, 2, ... members.

    Parameters
    ----------
    selection : Selection
        What the members say.
    order : ndarray of shape (n_members,)
        The members, in order.
    subsets : sequence of ndarray, optional
        The members kept at each size, where they are not the first ones of the order.
    member_weights : ndarray of shape (n_members,), optional
        Weights of the votes in the order of ``order``; by default those of the selection.

    Returns
    -------
    ndarray of shape (n_members,)
        Share of the weight of the samples that the vote decides wrongly, or the mean squared error
        of the mean prediction. A sample that nobody votes on yet is wrong; in regression it is
        predicted by the mean target.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.ordering import error_curve, read_selection
    >>> votes = [[0, 1, 1], [0, 0, 1], [1, 0, 1]]
    >>> error_curve(read_selection(votes, [0, 0, 1]), np.array([0, 1, 2])).round(2)
    array([0.33, 0.  , 0.  ])
    """
    if member_weights is not None:
        own = np.empty(selection.n_members)
        own[order] = member_weights
        selection = replace(selection, member_weights=own)
    if selection.is_regression:
        if subsets is not None:
            return np.array([_squared_error_curve(selection, s)[-1] for s in subsets])
        return _squared_error_curve(selection, order)
    if subsets is not None:
        return _error_of_subsets(selection, subsets)
    votes, y, weights, vote_weights, score = kernel_arrays(selection)
    wrong = np.empty(len(order), np.int64)
    kernels.vote_curve(votes, order.astype(np.int64), y, weights, vote_weights, score, wrong)
    return np.asarray(wrong / selection.total_weight)


def _error_of_subsets(selection: Selection, subsets: Sequence[Integers]) -> Floats:
    """Errors of subsets of any kind, each counted from where it differs from the one before."""
    everyone = np.arange(selection.n_samples)
    score = np.zeros((selection.n_samples, selection.n_classes))
    wrong = np.empty(len(subsets))
    before: Integers = np.zeros(0, np.int64)
    answered, vote_weights = selection.answered, selection.vote_weights
    for u, subset in enumerate(subsets):
        gone, come = np.setdiff1d(before, subset), np.setdiff1d(subset, before)
        for members, sign in ((gone, -1.0), (come, 1.0)):
            for t in members:
                voted = everyone[answered[t]]
                score[voted, selection.answers[t, voted]] += sign * vote_weights[t]
        decided = np.where(score.max(axis=1) > 0, score.argmax(axis=1), -1)
        wrong[u] = (decided != selection.y) @ selection.weights
        before = subset
    return wrong / selection.total_weight


def trivial_errors(selection: Selection) -> Floats:
    """Squared error of each sample when the mean target is predicted."""
    mean = np.average(selection.y, weights=selection.weights)
    return np.asarray((mean - selection.y) ** 2)


def _squared_error_curve(selection: Selection, order: Integers) -> Floats:
    sums, counts = np.zeros(selection.n_samples), np.zeros(selection.n_samples)
    losses = trivial_errors(selection)
    curve = np.empty(len(order))
    for u, t in enumerate(order):
        known = selection.answered[t]
        weight = selection.vote_weights[t]
        sums[known] += weight * selection.answers[t, known]
        counts[known] += weight
        decided = counts > 0
        losses[decided] = (sums[decided] / counts[decided] - selection.y[decided]) ** 2
        curve[u] = losses @ selection.weights / selection.total_weight
    return curve
