"""Clustering of regressors by their predictions: one representative of each cluster is kept.

Members that predict alike on the selection samples form a cluster. Clusters are found by
deterministic annealing: at a high temperature there is one cluster; as it falls, clusters split and
membership becomes hard. Of each cluster the member nearest to its centre is kept.

References
----------
Bakker and Heskes (2003). Clustering ensembles of neural network models. Neural Networks 16(2),
261-269.
Rose (1998). Deterministic annealing for clustering, compression, classification, regression, and
related optimization problems. Proceedings of the IEEE 86(11), 2210-2239.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orfeon.members.votes import Selection
from orfeon.ordering.genetic import check_number
from orfeon.ordering.rule import Arrangement, Rule, check_switches
from orfeon.utils.types import Floats, Integers

#: Each temperature is this share of the one before.
_COOLING = 0.9
#: Rounds of assignment and centring at each temperature.
_ROUNDS = 10
#: Temperatures: the last one is far below any difference between members.
_TEMPERATURES = 120
#: Distances are compared to this many decimals.
_DECIMALS = 12
#: How far the halves of a cluster start from its centre, in standard deviations.
_APART = 0.1
#: Steps of the power iteration.
_POWERS = 15


@dataclass(frozen=True)
class OutputClustering(Rule):
    """The member nearest to the centre of each cluster of members that predict alike.

    The size that the rule suggests is the number of clusters, fewer where members are alike. The
    representatives come first, those of the largest clusters before the others; the other members
    follow by their distance to the centre of their cluster. For regression only.

    Parameters
    ----------
    n_clusters : int, default=10
        Number of clusters; at most that of the members.
    weighted_vote : bool, default=False
        Whether representatives are weighted by the sizes of their clusters, as published. The
        other members then have weight 0, and only :class:`~orfeon.PrunedRegressor` can prune by
        the rule.
    random_state : int, default=0
        Seed of the search for the directions in which clusters split.

    Notes
    -----
    The distance of two members is the mean squared difference of their predictions. A prediction
    that is missing is taken to be the mean of the other members'.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> predictions = [[0.1, 1.0], [0.0, 1.3], [2.0, 3.0], [0.1, 1.1], [2.2, 3.1]]
    >>> ordered = order_votes(predictions, [0.5, 1.5], rule="output_clustering", n_clusters=2)
    >>> ordered.order, ordered.own_size
    (array([3, 2, 4, 0, 1]), 2)
    """

    name: ClassVar[str] = "output_clustering"
    for_regression: ClassVar[bool] = True
    for_classification: ClassVar[bool] = False

    n_clusters: int = 10
    weighted_vote: bool = False
    random_state: int = 0

    def __post_init__(self) -> None:
        check_number("n_clusters", self.n_clusters, 1)
        check_switches(self, "weighted_vote")

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is the distance to the centre of the cluster."""
        outputs = filled(selection) * np.sqrt(selection.weights / selection.total_weight)
        n_clusters = min(self.n_clusters, selection.n_members)
        cluster, distance = anneal(outputs, n_clusters, np.random.default_rng(self.random_state))
        sizes = np.bincount(cluster, minlength=n_clusters)
        members = np.arange(selection.n_members)
        nearest = np.lexsort((members, distance))  # the first of each cluster represents it
        is_kept = np.zeros(len(members), dtype=bool)
        is_kept[nearest[np.unique(cluster[nearest], return_index=True)[1]]] = True
        order = np.lexsort((members, np.where(is_kept, -sizes[cluster], distance), ~is_kept))
        weights = None
        if self.weighted_vote:
            weights = np.where(is_kept, sizes[cluster], 0)[order] / len(members)
        return Arrangement(
            order, distance[order], own_size=int(is_kept.sum()), member_weights=weights
        )


def filled(selection: Selection) -> Floats:
    """The predictions; those missing are the means of the other members'."""
    known = selection.answered
    means = np.where(known, selection.answers, 0.0).sum(axis=0) / known.sum(axis=0)
    return np.where(known, selection.answers, means)


def anneal(points: Floats, n_clusters: int, rng: np.random.Generator) -> tuple[Integers, Floats]:
    """The cluster of each point by deterministic annealing, and the squared distance to its centre.

    A point belongs to a cluster with a probability proportional to the mass of the cluster times
    exp(-distance / temperature); centres are means by these probabilities. A cluster splits in two
    along its widest direction when the temperature falls below twice the variance along it.
    """
    centres, belongs = points.mean(axis=0)[None], np.ones((len(points), 1))
    _, variance = _widest(points, centres[0], belongs[:, 0], rng)
    temperature = 2.0 * variance
    for _ in range(_TEMPERATURES if variance > 0 else 0):
        temperature *= _COOLING
        centres, belongs = _split(points, centres, belongs, temperature, n_clusters, rng)
        for _ in range(_ROUNDS):
            belongs = _memberships(points, centres, belongs.mean(axis=0), temperature)
            mass = belongs.sum(axis=0)
            is_held = mass > 0
            belongs = belongs[:, is_held]
            centres = belongs.T @ points / mass[is_held, None]
    cluster = np.argmax(belongs, axis=1)
    for k in np.unique(cluster):
        centres[k] = points[cluster == k].mean(axis=0)
    own = ((points - centres[cluster]) ** 2).sum(axis=1)
    return cluster, np.round(own, _DECIMALS)  # equal but for rounding is equal


def _split(
    points: Floats,
    centres: Floats,
    belongs: Floats,
    temperature: float,
    n_clusters: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Split the clusters that are wider than the temperature allows, the widest first."""
    widest = [_widest(points, *one, rng) for one in zip(centres, belongs.T, strict=True)]
    by_variance = sorted(range(len(widest)), key=lambda k: -widest[k][1])
    for k in by_variance[: max(0, n_clusters - len(centres))]:
        direction, variance = widest[k]
        if temperature < 2.0 * variance:
            step = _APART * np.sqrt(variance) * direction
            centres = np.vstack([centres, centres[k] + step])
            centres[k] = centres[k] - step
            belongs[:, k] /= 2
            belongs = np.column_stack([belongs, belongs[:, k]])
    return centres, belongs


def _widest(
    points: Floats, centre: Floats, belongs: Floats, rng: np.random.Generator
) -> tuple[Floats, float]:
    """The direction in which a cluster is widest, and its variance along it (power iteration)."""
    away = (points - centre) * np.sqrt(belongs / belongs.sum())[:, None]
    direction: Floats = rng.normal(size=(points.shape[1],))
    variance = 0.0
    for _ in range(_POWERS):
        direction = away.T @ (away @ direction)
        variance = float(np.linalg.norm(direction))
        if variance < np.finfo(float).tiny:
            return np.zeros_like(direction), 0.0
        direction /= variance
    return direction, variance


def _memberships(points: Floats, centres: Floats, mass: Floats, temperature: float) -> Floats:
    distance = _squared_distances(points, centres)
    belongs = mass * np.exp(-(distance - distance.min(axis=1, keepdims=True)) / temperature)
    return np.asarray(belongs / belongs.sum(axis=1, keepdims=True))


def _squared_distances(points: Floats, centres: Floats) -> Floats:
    squares = (points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)
    return np.asarray(np.maximum(squares - 2 * points @ centres.T, 0.0))
