"""Clustering: members that err on the same samples form groups, and one member per group is kept.

The less often two members err together, the larger their distance. Members are joined into groups
step by step, the nearest two groups first, by complete linkage. From each group the member farthest
from all others is kept.

References
----------
Giacinto and Roli (2001). An approach to the automatic design of multiple classifier systems.
Pattern Recognition Letters 22(1), 25-33.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orfeon.members.votes import EXACT_IN_SINGLE, Selection
from orfeon.ordering.individual_error import member_errors
from orfeon.ordering.rule import Arrangement, Rule, error_curve, first_appearances
from orfeon.utils.types import Floats, Integers

#: Shares of samples are compared in steps of one over this.
_STEPS = 2**40
#: More than the distance of any two members.
_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Clustering(Rule):
    """One member from each group of members that err together.

    There are as many groups as members kept, so the subsets of different sizes are not nested. The
    rule suggests the size of the subset whose vote has the lowest error on the selection samples,
    the smallest one in a tie.

    Notes
    -----
    The distance of two members is the share of the samples, among those on which both vote, that
    they do not both get wrong; that of members that never vote on the same sample is 1. From each
    group the rule keeps the member with the largest mean distance to the members of the other
    groups; in a tie, or with a single group, the most accurate, then the first. Groups are named by
    their first members; in a tie between pairs of groups the first pair is joined.

    Members that make no errors together, such as unpruned trees on their training set, are all at
    the same distance: the groups are then arbitrary, and out-of-bag votes are the better choice.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> votes = [[1, 1, 0, 0, 0, 0], [1, 1, 0, 1, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1]]
    >>> ordered = order_votes(votes, [0, 0, 0, 0, 0, 0], rule="clustering")
    >>> [kept.tolist() for kept in ordered.subsets]
    [[0], [0, 3], [0, 2, 3], [0, 1, 2, 3]]
    >>> ordered.error_curve.round(2), ordered.own_size
    (array([0.33, 0.  , 0.  , 0.  ]), 2)
    """

    name: ClassVar[str] = "clustering"

    def arrange(self, selection: Selection) -> Arrangement:
        """Find the subsets; the criterion is the least distance of two groups at each size."""
        distance, scale = error_distances(selection)
        joined, heights = join_groups(distance)
        slack = 0 if selection.is_complete else selection.n_members  # rounding of as many shares
        subsets = representatives(distance, joined, member_errors(selection), slack)
        order = first_appearances(subsets)
        curve = error_curve(selection, order, subsets)
        criterion = np.concatenate([[1.0], heights[::-1] / scale])
        own_size = int(np.argmin(curve)) + 1
        return Arrangement(order, criterion, tuple(subsets), own_size, error_curve=curve)


def error_distances(selection: Selection) -> tuple[Integers, float]:
    """Distance of each pair of members: the share of samples that they do not both get wrong."""
    dtype: Any = np.float32 if selection.total_weight < EXACT_IN_SINGLE else np.float64
    weights = selection.weights.astype(dtype)
    wrong = (~selection.right & selection.answered).astype(dtype)
    together = ((wrong * weights) @ wrong.T).astype(np.float64)
    if selection.is_complete:
        return selection.total_weight - together.astype(np.int64), float(selection.total_weight)
    voted = selection.answered.astype(dtype)
    both = ((voted * weights) @ voted.T).astype(np.float64)
    share = np.divide(together, both, out=np.zeros_like(both), where=both > 0)
    return _STEPS - np.rint(share * _STEPS).astype(np.int64), float(_STEPS)


def join_groups(distance: Integers) -> tuple[Integers, Integers]:
    """Join the two nearest groups, again and again, until one is left."""
    n_members = len(distance)
    # Row a holds only the groups after a, so the first minimum is the first pair.
    far = distance.astype(np.int64)
    far[np.tri(n_members, dtype=bool)] = _FAR
    nearest = np.argmin(far, axis=1)
    least = far[np.arange(n_members), nearest]
    joined = np.empty((max(n_members - 1, 0), 2), np.int64)
    heights = np.empty(len(joined), np.int64)
    for step in range(len(joined)):
        a = int(np.argmin(least))
        b = int(nearest[a])
        joined[step], heights[step] = (a, b), least[a]
        np.maximum(far[:a, a], far[:a, b], out=far[:a, a])
        np.maximum(far[a, a + 1 : b], far[a + 1 : b, b], out=far[a, a + 1 : b])
        np.maximum(far[a, b + 1 :], far[b, b + 1 :], out=far[a, b + 1 :])
        far[:b, b] = far[b] = least[b] = _FAR
        # Distances only grow, so no other nearest group can have changed.
        stale = np.flatnonzero((nearest[:b] == a) | (nearest[:b] == b))
        nearest[stale] = np.argmin(far[stale], axis=1)
        least[stale] = far[stale, nearest[stale]]
    return joined, heights


def representatives(
    distance: Integers, joined: Integers, errors: Floats, slack: int = 0
) -> list[Integers]:
    """The member kept from each group, for every number of groups."""
    n_members = len(distance)
    outside = distance.sum(axis=1) - np.diagonal(distance)  # to the members of other groups
    groups = {t: np.array([t]) for t in range(n_members)}
    kept = np.arange(n_members)  # of the group that each first member names
    found = [np.arange(n_members)]
    for a, b in joined.tolist():
        one, other = groups[a], groups.pop(b)
        outside[one] -= distance[np.ix_(one, other)].sum(axis=1)
        outside[other] -= distance[np.ix_(other, one)].sum(axis=1)
        groups[a] = both = np.sort(np.concatenate([one, other]))
        # All of the group have the same number of members outside: sums are enough.
        farthest = both[outside[both] >= outside[both].max() - slack]
        kept[a] = farthest[np.argmin(errors[farthest])]
        found.append(np.sort(kept[list(groups)]))
    return found[::-1]
