"""Cost-complexity pruning of the trees of gradient boosting, round by round.

A subtree is cut where its splits gain less than alpha for each leaf they add (weakest links first).
The gain is the decrease of the weighted squared error of the residuals, or of Newton trees twice
the decrease of the penalised loss, per unit of the weight that the tree is grown from. Leaf values
are those of the leaves that are left.

References
----------
Breiman, Friedman, Olshen and Stone (1984). Classification and regression trees. Chapter 3.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.boosting.gradient import split_gains
from orfeon.forest import Forest
from orfeon.forest.pruning import cut_at
from orfeon.growth.newton import Grown
from orfeon.kernels.cart.prune import weakest_links
from orfeon.utils.types import Floats, Integers, Integers32


class Cut(NamedTuple):
    """Pruned trees, the nodes that are left, and for each node the one that its rows end in."""

    forest: Forest
    kept: Integers
    place: Integers  # among those that are left, of all trees


class PrunedTrees:
    """Grows the trees of a round as another does, and prunes them."""

    def __init__(self, trees: Any, alpha: float) -> None:
        self.trees = trees
        self.alpha = alpha

    def grow(
        self,
        residuals: Floats,
        weights: npt.NDArray[Any],
        seeds: npt.NDArray[np.uint64],
        candidates: Integers | None = None,
    ) -> tuple[Forest, Integers32]:
        forest, leaves = self.trees.grow(residuals, weights, seeds, candidates)
        cut = prune_by_gains(forest, split_gains(forest, forest.value[:, 0]), self.alpha)
        return cut.forest, _leaves_left(forest, cut, leaves)

    def grow_newton(
        self,
        gradients: Floats,
        hessians: Floats,
        weights: npt.NDArray[Any],
        seeds: npt.NDArray[np.uint64],
        candidates: Integers | None = None,
    ) -> Grown:
        forest, leaves, gains, bounds = self.trees.grow_newton(
            gradients, hessians, weights, seeds, candidates
        )
        cut = prune_by_gains(forest, gains, self.alpha)
        left = np.where(cut.forest.is_leaf, 0.0, gains[cut.kept])
        return Grown(
            cut.forest, _leaves_left(forest, cut, leaves), left,
            None if bounds is None else bounds[cut.kept],
        )  # fmt: skip


def prune_by_gains(forest: Forest, gains: Floats, alpha: float) -> Cut:
    """Prune each tree to the smallest subtree with the lowest loss plus alpha for each leaf."""
    parent = _parents(forest)
    levels = _levels(parent)
    below = gains.astype(np.float64)
    for nodes in levels[:0:-1]:
        np.add.at(below, parent[nodes], below[nodes])
    weight = forest.node_weight
    assert weight is not None
    cut = np.zeros(len(parent), dtype=bool)
    for t in range(len(forest)):
        span = slice(forest.tree_start[t], forest.tree_start[t + 1])
        n = span.stop - span.start
        node_alpha, alphas, risks = np.empty(n), np.empty(n + 1), np.empty(n + 1)
        weakest_links(
            forest.first_child[span], forest.n_children[span], below[span], n, node_alpha, alphas,
            risks, np.empty(n + 1, np.int64),
        )  # fmt: skip
        cut[span] = node_alpha <= alpha * float(weight[span.start]) * (1 + 1e-12)
    ends = np.arange(len(parent))
    for nodes in levels[1:]:
        above = parent[nodes]
        is_gone = cut[above] | (ends[above] != above)
        ends[nodes] = np.where(is_gone, ends[above], nodes)
    is_left = ends == np.arange(len(parent))
    kept = np.flatnonzero(is_left)
    return Cut(cut_at(forest, cut), kept, (np.cumsum(is_left) - 1)[ends])


def _leaves_left(forest: Forest, cut: Cut, leaves: Integers32) -> Integers32:
    """Leaf of each row in each pruned tree, counted from its root."""
    place = cut.place[leaves + forest.tree_start[:-1, None]]
    return np.asarray(place - cut.forest.tree_start[:-1, None], dtype=np.int32)


def _parents(forest: Forest) -> Integers:
    """The parent of each node, -1 for roots."""
    parent = np.full(len(forest.nodes), -1)
    inner = np.flatnonzero(forest.n_children)
    root = np.repeat(forest.tree_start[:-1], forest.n_nodes)[inner]
    left = root + forest.first_child[inner]
    parent[left] = parent[left + 1] = inner
    return parent


def _levels(parent: Integers) -> list[Integers]:
    """The nodes of each depth, from the roots down."""
    levels = [np.flatnonzero(parent < 0)]
    order = np.argsort(parent, kind="stable")
    ascending = parent[order]
    while True:
        above = np.sort(levels[-1])
        first = np.searchsorted(ascending, above, "left")
        n = np.searchsorted(ascending, above, "right") - first
        if not n.any():
            return levels
        each = np.repeat(first, n) + np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        levels.append(order[each])
