"""Kappa-error convex hull: the members of the pairs that are both accurate and diverse.

Each pair of members is a point of the kappa-error diagram: how much the two agree beyond chance,
and the mean of their errors. The lower left border of the convex hull of all points runs from the
most diverse pair to the most accurate one. Members of the pairs on it are kept.

References
----------
Margineantu and Dietterich (1997). Pruning adaptive boosting. Proceedings of the 14th International
Conference on Machine Learning, 211-218.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orfeon.members.votes import Selection
from orfeon.ordering.individual_error import member_errors
from orfeon.ordering.kappa import pairwise_kappa
from orfeon.ordering.rule import TOLERANCE, Arrangement, Rule
from orfeon.utils.types import Floats, Integers

#: Decimals to which coordinates are compared; further ones are rounding.
_DECIMALS = 12


@dataclass(frozen=True)
class KappaHull(Rule):
    """Members of the pairs on the lower left border of the kappa-error diagram.

    The size that the rule suggests is the number of these members. They come first, by the pairs
    from the most diverse to the most accurate; the others follow by their own errors.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> votes = [[0, 0, 1, 1, 0, 1], [0, 0, 1, 1, 1, 1], [1, 1, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1]]
    >>> ordered = order_votes(votes, [0, 0, 1, 1, 1, 1], rule="kappa_hull")
    >>> ordered.order, ordered.own_size
    (array([0, 2, 1, 3]), 3)
    """

    name: ClassVar[str] = "kappa_hull"

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is the place of the first pair that a member is in."""
        errors = member_errors(selection)
        n_members = selection.n_members
        if n_members == 1:
            return Arrangement(np.zeros(1, np.int64), np.zeros(1), own_size=1)
        first, second = np.triu_indices(n_members, 1)
        kappa = np.round(pairwise_kappa(selection)[first, second], _DECIMALS)
        error = np.round((errors[first] + errors[second]) / 2, _DECIMALS)
        border = lower_left_border(kappa, error)
        place = np.full(n_members, len(border))
        for at, corner in reversed(list(enumerate(border))):
            pairs = (kappa == kappa[corner]) & (error == error[corner])
            place[first[pairs]] = place[second[pairs]] = at
        order = np.lexsort((np.where(place < len(border), 0.0, errors), place))
        own_size = int((place < len(border)).sum())
        return Arrangement(order.astype(np.int64), place[order] * 1.0, own_size=own_size)


def lower_left_border(x: Floats, y: Floats) -> Integers:
    """Corners of the convex hull from the leftmost point to the lowest one; one index for each."""
    found: list[int] = []
    for at in np.lexsort((y, x)).tolist():
        if found and y[at] >= y[found[-1]]:
            continue
        while _is_needless(x, y, found, at):
            found.pop()
        found.append(at)
    return np.array(found, dtype=np.int64)


def _is_needless(x: Floats, y: Floats, found: list[int], at: int) -> bool:
    """Whether the last corner is on or above the line from the one before it to a new point."""
    if len(found) < 2:
        return False
    a, b = found[-2], found[-1]
    turn = (x[b] - x[a]) * (y[at] - y[a]) - (y[b] - y[a]) * (x[at] - x[a])
    return bool(turn <= TOLERANCE)
