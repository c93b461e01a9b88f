"""Boosting-based ordering: AdaBoost's weights pick from members that are already trained.

References
----------
Martínez-Muñoz and Suárez (2007). Using boosting to prune bagging ensembles. Pattern Recognition
Letters 28(1), 156-165.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.kernels.ordering import order as kernels
from orfeon.members.votes import Selection
from orfeon.ordering.rule import TOLERANCE, Arrangement, Rule, check_switches, first_of_least
from orfeon.utils.types import Floats

#: Minimum error that the weight of a vote assumes.
_LEAST_ERROR = 1e-10


@dataclass(frozen=True)
class BoostingBased(Rule):
    """The member with the lowest weighted error next; samples are then reweighted as in AdaBoost.

    When even the best member has an error of one half or more, no member is taken: the samples get
    their initial weights back, and the choice is repeated. With these weights the best member is
    taken whatever its error.

    Parameters
    ----------
    stop : bool, default=False
        Whether the rule suggests keeping only the members taken before the first error of one half
        or more (``own_size``); otherwise it suggests no size.
    weighted_vote : bool, default=False
        Whether members vote with AdaBoost's weights log((1 - e) / e), or with weight 0 if e is one
        half or more.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> votes = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 0], [1, 1, 0, 0, 0]]
    >>> ordered = order_votes(votes, [0, 0, 0, 0, 0], rule="boosting_based")
    >>> ordered.order, ordered.criterion.round(3)
    (array([0, 2, 1]), array([0.4  , 0.333, 0.312]))
    """

    name: ClassVar[str] = "boosting_based"

    stop: bool = False
    weighted_vote: bool = False

    def __post_init__(self) -> None:
        check_switches(self, "stop", "weighted_vote")

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is the weighted error."""
        signs = np.ascontiguousarray(selection.correctness.T)
        start = selection.weights / selection.total_weight
        order, errors, n_before = _boost(signs, start, selection.is_complete)
        own_size = max(1, n_before) if self.stop else None
        weights = None
        if self.weighted_vote:
            bounded = np.clip(errors, _LEAST_ERROR, 0.5)
            weights = np.log((1 - bounded) / bounded)
            if not weights.any():
                weights = np.ones(len(order))
        return Arrangement(order, errors, own_size=own_size, member_weights=weights)


def _boost(
    signs: npt.NDArray[np.int8], start: Floats, is_complete: bool
) -> tuple[npt.NDArray[np.int64], Floats, int]:
    """The order, the error of each member when taken, and how many came before an error of 1/2."""
    n_members = signs.shape[1]
    order, errors = np.empty(n_members, np.int64), np.empty(n_members)
    weights, is_start, n_before = start.copy(), True, n_members
    members, is_left = np.arange(n_members), np.ones(n_members, dtype=bool)
    for u in range(n_members):
        if 2 * is_left.sum() < len(members):  # drop the members already taken
            signs = np.ascontiguousarray(signs[:, is_left])
            members, is_left = members[is_left], np.ones(int(is_left.sum()), dtype=bool)
        found = _weighted_errors(signs, weights, is_complete)
        at = first_of_least(found, is_left)
        if found[at] >= 0.5 - TOLERANCE:
            n_before = min(n_before, u)
            if not is_start:
                weights, is_start = start.copy(), True
                found = _weighted_errors(signs, weights, is_complete)
                at = first_of_least(found, is_left)
        is_left[at], order[u], errors[u] = False, members[at], found[at]
        if 0 < errors[u] < 0.5 - TOLERANCE:
            weights[signs[:, at] < 0] /= 2 * errors[u]
            weights[signs[:, at] > 0] /= 2 * (1 - errors[u])
            is_start = False
    return order, errors, n_before


def _weighted_errors(signs: npt.NDArray[np.int8], weights: Floats, is_complete: bool) -> Floats:
    """Error of each member on the samples it votes on; one half for those that vote on none."""
    wrong, right = np.empty(signs.shape[1]), np.empty(signs.shape[1])
    kernels.weigh_signs(signs, weights, np.int8(-1), wrong)
    if is_complete:
        return np.asarray(wrong / weights.sum())
    kernels.weigh_signs(signs, weights, np.int8(1), right)
    voted = wrong + right
    return np.where(voted > 0, wrong / np.where(voted > 0, voted, 1.0), 0.5)
