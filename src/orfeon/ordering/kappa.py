"""Kappa ordering: the pairs of members that agree least come first.

References
----------
Margineantu and Dietterich (1997). Pruning adaptive boosting. Proceedings of the 14th International
Conference on Machine Learning, 211-218.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.members.votes import EXACT_IN_SINGLE, Selection
from orfeon.ordering.rule import Arrangement, Rule
from orfeon.utils.types import Floats


@dataclass(frozen=True)
class Kappa(Rule):
    """Pairs by increasing kappa, their agreement beyond chance; both members are taken.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> votes = [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]]
    >>> ordered = order_votes(votes, [0, 0, 1, 1], rule="kappa")
    >>> ordered.order, ordered.criterion
    (array([0, 2, 1, 3]), array([-1., -1., -1.,  0.]))
    """

    name: ClassVar[str] = "kappa"

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is the kappa of the first pair that a member is in."""
        n_members = selection.n_members
        if n_members == 1:
            return Arrangement(np.zeros(1, np.int64), np.ones(1))
        kappa = pairwise_kappa(selection)
        np.fill_diagonal(kappa, np.inf)
        # A member comes with the first pair that it is in: the one of lowest kappa, and in a tie
        # the one whose partner has the lowest index.
        members, partner = np.arange(n_members), kappa.argmin(axis=1)
        first, second = np.minimum(members, partner), np.maximum(members, partner)
        values = kappa[members, partner]
        order = np.lexsort((members == second, second, first, values))
        return Arrangement(order, values[order])


def pairwise_kappa(selection: Selection) -> Floats:
    """Kappa of each pair of members, on the samples on which both vote."""
    n_members = selection.n_members
    small = selection.total_weight < EXACT_IN_SINGLE
    dtype = np.float32 if small else np.float64
    weights: Any = selection.weights.astype(dtype)
    agree = np.zeros((n_members, n_members))
    by_chance = np.zeros((n_members, n_members))
    both: npt.NDArray[np.float64] | float = float(selection.total_weight)
    known: Any = None
    if not selection.is_complete:
        known = selection.answered.astype(dtype)
        both = ((known * weights) @ known.T).astype(np.float64)
    for c in range(selection.n_classes):
        votes: Any = (selection.answers == c).astype(dtype)
        weighted = votes * weights
        agree += weighted @ votes.T
        if selection.is_complete:
            share = weighted.sum(axis=1, dtype=np.float64)
            by_chance += np.outer(share, share)
        else:
            share = (weighted @ known.T).astype(np.float64)
            by_chance += share * share.T
    possible = both * both - by_chance
    kappa = np.ones((n_members, n_members))
    np.divide(agree * both - by_chance, possible, out=kappa, where=possible > 0)
    return kappa
