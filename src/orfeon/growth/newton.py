"""Newton trees, fitted to the first and second derivatives of a loss, with penalties and limits.

A tree minimises the loss up to second order: weighted least squares with the second derivatives as
weights. The derivatives are coded as integers, so that sums do not depend on the order of the rows,
and a weight of two equals two rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from orfeon.data.presorted import Table
from orfeon.data.sorting import SORTED
from orfeon.forest import NODE, Forest
from orfeon.growth.engine import _MAX_COUNT, Growth, _columns, _limits, integer_weights
from orfeon.growth.residuals import check_weights, checked_candidates, checked_residuals
from orfeon.kernels.cart.criteria import VARIANCE
from orfeon.kernels.cart.grow import NO_LIMIT
from orfeon.kernels.cart.node_sorting import MOST_PAIRS, N_DIGITS
from orfeon.kernels.gradient.exact_round import GIVEN, NOT_FINITE, newton_round
from orfeon.kernels.gradient.interactions import ANY
from orfeon.kernels.routing import packed
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats, Integers, Integers32, Words

#: Most nodes that the trees of one call have space for.
_MOST_NODES = 1 << 18
#: Minimum number of rows for which several threads pay.
_WORTH_THREADS = 1 << 12
_NO_ROWS, _NO_TARGETS = np.zeros((0, 0)), np.zeros(0)


@dataclass(frozen=True)
class Newton:
    """Penalties and constraints of Newton trees."""

    #: Penalties on the squares and on the sizes of leaf values.
    l2: float = 0.0
    l1: float = 0.0
    #: Minimum sum of second derivatives of a leaf.
    min_hessian: float = 0.0
    #: Added to the hessian of each category when categories are ordered.
    cat_smooth: float = 0.0
    #: In a node with at most this many categories, each is compared with all others together.
    max_cat_to_onehot: int = 1
    #: 1 or -1 for features that predictions increase or decrease with, else 0.
    signs: Integers | None = None
    #: Which features may be on a path together; by default all.
    interactions: Interactions | None = None
    #: Whether all nodes of a level have the same test.
    is_symmetric: bool = False

    @property
    def is_bounded(self) -> bool:
        """Whether the values of leaves are bounded by other leaves."""
        return self.signs is not None and bool(self.signs.any())


@dataclass(frozen=True)
class Interactions:
    """Which features may be on a path together: the kind, and for groups a set of bits each."""

    kind: int
    groups: Words = field(default_factory=lambda: np.zeros((0, 0), np.uint64))


class Grown(NamedTuple):
    """Newton trees, the leaf of each row, and what is known of each node."""

    forest: Forest
    leaves: Integers32
    gains: Floats  # of each split
    bounds: Floats | None = None  # of the value of each node, if features are monotone


class NewtonTrees(Protocol):
    """Grows the trees of a round of gradient boosting by first and second derivatives."""

    def grow_newton(
        self,
        gradients: Floats,
        hessians: Floats,
        weights: npt.NDArray[Any],
        seeds: Words,
        candidates: Integers | None = None,
    ) -> Grown:
        """Grow one tree for each row of negative gradients and second derivatives."""


class Weighed:
    """The integer weights of a tree, with the limits that depend on them."""

    def __init__(
        self, weights: npt.NDArray[Any], growth: Growth, n_samples: Floats | None = None
    ) -> None:
        self.given = weights
        real = weights.reshape(-1)
        total = float(real.sum())
        self.is_exact = bool(total < _MAX_COUNT and (real == np.rint(real)).all())
        if self.is_exact:  # most rounds draw new weights, so this is fast
            self.weights, self.scale = real.astype(np.int64), 1.0
            self.total = int(total)
            self.min_split, self.min_leaf = _limits_of_counts(growth, total)
        else:
            whole = integer_weights(real[None], n_samples)
            limits = _limits(growth, np.full(1, VARIANCE), whole)
            self.weights, self.scale = whole.weights[0], float(whole.scale[0])
            self.total = int(whole.total[0])
            self.min_split, self.min_leaf = int(limits[0, 0]), int(limits[0, 1])
        self.has_absent = not self.weights.all()
        self.are_ones = self.is_exact and self.total == len(self.weights) and not self.has_absent

    @property
    def for_kernel(self) -> tuple[Any, ...]:
        real = kernel_view(np.ascontiguousarray(self.given, dtype=np.float64).reshape(-1))
        return (
            real, self.weights, self.total, self.scale, int(self.is_exact), int(self.are_ones),
        )  # fmt: skip

    def leaf_weights(self, sums: Integers) -> npt.NDArray[Any]:
        return sums.astype(np.uint32) if self.is_exact else sums / self.scale


def _limits_of_counts(growth: Growth, total: float) -> tuple[int, int]:
    """Minimum weights of a node that is split and of a leaf, if all weights are counts."""
    leaf = 1 if growth.min_samples_leaf <= 1 else math.ceil(growth.min_samples_leaf)
    leaf = max(leaf, math.ceil(growth.min_weight_fraction_leaf * total * (1 - 1e-12)))
    return 0 if growth.min_samples_split <= 2 else math.ceil(growth.min_samples_split), leaf


class Units(NamedTuple):
    """Integer units per unit of hessian and of moment."""

    hessian: float
    moment: float

    @property
    def score(self) -> float:
        return self.moment * self.moment / self.hessian

    @property
    def value(self) -> float:
        return self.moment / self.hessian


def check_derivatives(gradients: Floats, hessians: Floats) -> None:
    """Reject derivatives that are not finite, and negative second ones."""
    if not np.isfinite(gradients).all():
        raise ValueError("gradients must be finite.")
    if not (np.isfinite(hessians).all() and hessians.min() >= 0.0):
        raise ValueError("hessians must be finite and not negative.")


def rule_of(
    growth: Growth, newton: Newton, weighed: Weighed, units: Units, n_candidates: int
) -> tuple[Any, ...]:
    """The fields of a kernel's rule, in the units of a tree."""
    least = growth.min_impurity_decrease * weighed.total / weighed.scale * (1.0 - 1e-12)
    kind = ANY if newton.interactions is None else newton.interactions.kind
    is_plain = not newton.is_bounded and newton.l1 == 0.0
    return (
        float(newton.l2 * units.hessian), float(newton.l1 * units.moment),
        # Twice as much still fits into an integer.
        max(1, math.ceil(min(newton.min_hessian * units.hessian * (1.0 - 1e-9), 2.0**61))),
        weighed.min_leaf, weighed.min_split, float(least * units.score),
        float(newton.cat_smooth * units.hessian), int(newton.max_cat_to_onehot),
        limit(growth.max_depth), limit(growth.max_leaf_nodes),
        min(growth.max_features or NO_LIMIT, n_candidates), int(is_plain),
        int(newton.is_bounded), kind, int(newton.is_symmetric),
    )  # fmt: skip


def limit(value: int | None) -> int:
    return NO_LIMIT if value is None else int(value)


def most_leaves(growth: Growth, n_rows: int) -> int:
    """The most leaves that a tree can have."""
    most = min(n_rows, limit(growth.max_leaf_nodes))
    return most if growth.max_depth is None else min(most, 1 << min(growth.max_depth, 62))


def path_words(newton: Newton, n_nodes: int, n_features: int) -> tuple[Words, Words, Words]:
    """Space for the features of each path, the groups, and the features allowed in a node."""
    n_words = (n_features + 63) >> 6
    interactions = newton.interactions
    if interactions is None:
        return (
            np.zeros((1, n_words), np.uint64),
            np.zeros((0, n_words), np.uint64),
            np.zeros(n_words, np.uint64),
        )
    groups = interactions.groups if interactions.groups.size else np.zeros((0, n_words), np.uint64)
    return np.zeros((n_nodes, n_words), np.uint64), groups, np.zeros(n_words, np.uint64)


def signs_of(newton: Newton, n_features: int) -> Integers:
    return np.zeros(n_features, np.int64) if newton.signs is None else newton.signs


def newton_values(rule: tuple[Any, ...], stats: Integers, units: Units, bounds: Floats) -> Floats:
    """The value of each node by its sums, within its bounds, in units of the loss."""
    l2, l1 = rule[:2]
    hessian, moment = stats[:, 0], stats[:, 1].astype(np.float64)
    soft = np.sign(moment) * np.maximum(np.abs(moment) - l1, 0.0)
    return np.asarray(np.clip(soft / (hessian + l2), bounds[:, 0], bounds[:, 1]) / units.value)


class Update(NamedTuple):
    """What a round does with its trees, besides growing them, of a loss that kernels know."""

    kind: int  # of loss
    y: Floats
    scores: Floats  # of shape (n_scores, n_rows); changed in place
    learning_rate: float
    largest_step: float  # of a Newton step
    held: Floats  # rows of a validation set; may be none
    held_scores: Floats  # changed in place


class ExactNewtonTrees:
    """Newton trees that consider every threshold."""

    def __init__(
        self,
        table: Table,
        X: Floats,
        growth: Growth,
        newton: Newton,
        *,
        n_samples: float | None = None,
        n_jobs: int = 1,
    ) -> None:
        self.table = table
        self.X = X
        self.growth = growth
        self.newton = newton
        self.n_samples = None if n_samples is None else np.array([n_samples])
        self.n_jobs = n_jobs if table.n_rows >= _WORTH_THREADS else 1
        self._columns = _columns(table, growth)
        self._all_features = np.arange(table.n_features)[None]
        self._signs = signs_of(newton, table.n_features)
        self._known: Weighed | None = None
        self._last_rule: tuple[tuple[Any, ...], tuple[Any, ...]] = (), ()
        self._scratch: list[_Scratch] = []

    def grow_newton(
        self,
        gradients: Floats,
        hessians: Floats,
        weights: npt.NDArray[Any],
        seeds: Words,
        candidates: Integers | None = None,
    ) -> Grown:
        n_trees, n_rows = len(seeds), self.table.n_rows
        gradients = checked_residuals(gradients, n_trees, n_rows)
        hessians = checked_residuals(hessians, n_trees, n_rows)
        check_derivatives(gradients, hessians)
        chosen = self._candidates(candidates, n_trees)
        check_weights(weights, 1, n_rows)
        weighed = self._weigh(weights)

        def grow(trees: slice) -> Grown:
            derivatives = gradients[trees], hessians[trees]
            scratch, n = self._grow(derivatives, weighed, seeds[trees], chosen[trees], None)
            grown = self._pack(scratch, n, weighed, trees.stop - trees.start)
            self._scratch.append(scratch)
            return grown

        at_once = 1 if self.n_jobs > 1 else min(n_trees, self._most_at_once)
        blocks = [slice(t, min(t + at_once, n_trees)) for t in range(0, n_trees, at_once)]
        return joined(in_threads(grow, blocks, self.n_jobs))

    def can_update(self, n_trees: int) -> bool:
        """Whether rounds of so many trees are one call of :meth:`update`."""
        return n_trees <= self._most_at_once and (self.n_jobs == 1 or n_trees == 1)

    def knows_codes(self, X: Floats) -> bool:
        """Whether rows have no categories beyond the branch tables."""
        n_categories = self.table.schema.n_categories
        return bool(packed.first_unknown_code(kernel_view(X), *_categorical(n_categories)) < 0)

    def update(
        self,
        update: Update,
        weights: npt.NDArray[Any],
        seeds: Words,
        candidates: Integers | None = None,
        *,
        is_kept: bool = True,
    ) -> Grown | None:
        """Grow the trees of a round, and add the values of their leaves to the scores.

        The trees are returned if they are kept.
        """
        chosen = self._candidates(candidates, len(seeds))
        scratch, n = self._grow(None, self._weigh(weights), seeds, chosen, update)
        grown = self._pack(scratch, n, self._weigh(weights), len(seeds)) if is_kept else None
        self._scratch.append(scratch)
        return grown

    @property
    def _most_at_once(self) -> int:
        """The most trees that one call grows."""
        return max(1, _MOST_NODES // (2 * most_leaves(self.growth, self.table.n_rows) + 1))

    def _candidates(self, candidates: Integers | None, n_trees: int) -> Integers:
        """The features that each tree may use."""
        if candidates is not None:
            chosen = checked_candidates(candidates, n_trees, self.table.n_features)
            return chosen if len(chosen) == n_trees else np.repeat(chosen, n_trees, axis=0)
        if len(self._all_features) < n_trees:
            self._all_features = np.repeat(self._all_features[:1], n_trees, axis=0)
        return self._all_features[:n_trees]

    def _weigh(self, weights: npt.NDArray[Any]) -> Weighed:
        """The weights as integers, cached while they are the same array."""
        if self._known is None or self._known.given is not weights:
            self._known = Weighed(weights, self.growth, self.n_samples)
        return self._known

    def _rule(self, weighed: Weighed, n_candidates: int) -> tuple[Any, ...]:
        """The rule in units of the loss; most rounds have that of the round before."""
        total = weighed.total if self.growth.min_impurity_decrease else 0
        key = (weighed.min_leaf, weighed.min_split, total, weighed.scale, n_candidates)
        if self._last_rule[0] != key:
            rule = rule_of(self.growth, self.newton, weighed, Units(1.0, 1.0), n_candidates)
            self._last_rule = key, (*rule[:2], float(self.newton.min_hessian), *rule[3:])
        return self._last_rule[1]

    def _grow(
        self,
        derivatives: tuple[Floats, Floats] | None,
        weighed: Weighed,
        seeds: Words,
        candidates: Integers,
        update: Update | None,
    ) -> tuple[_Scratch, int]:
        """The scratch that holds the trees, and their number of nodes."""
        try:
            scratch = self._scratch.pop()
        except IndexError:  # all are in use by other threads
            scratch = self._new_scratch()
        scratch.make_room(len(seeds), candidates.shape[1])
        rule = self._rule(weighed, candidates.shape[1])
        while True:
            n = scratch.round(
                self._columns, rule, weighed.for_kernel, scratch.work(), scratch.tree,
                self._signs, scratch.groups, seeds, candidates,
                *scratch.of_round(derivatives, update, self.newton), self.X,
                *((_NO_ROWS, _NO_ROWS) if update is None else (update.held, update.held_scores)),
            )  # fmt: skip
            if n >= 0:
                break
            if n == NOT_FINITE:
                raise ValueError("gradients must be finite.")
            scratch.branches = np.empty(2 * len(scratch.branches), np.uint16)
        return scratch, n

    def _pack(self, scratch: _Scratch, n: int, weighed: Weighed, n_trees: int) -> Grown:
        """A forest of the trees of a round, with the leaf of each row."""
        own: list[Any] = [array[:n] for array in scratch.tree[:8]]
        threshold, feature, first_child, n_children, missing, stats, bounds, gain = own
        nodes = np.empty(n, dtype=NODE)
        nodes["threshold"] = threshold
        nodes["feature"] = feature
        nodes["first_child"] = first_child
        forest = Forest(
            tree_start=scratch.starts[: n_trees + 1].copy(),
            nodes=nodes,
            n_children=n_children.copy(),
            missing=missing.copy(),
            label=np.zeros(0, np.int32),
            value=scratch.values(n),
            n_classes=0,
            n_categories=self.table.schema.n_categories,
            branches=scratch.branches[: scratch.used[0]].copy(),
            leaf_weight=weighed.leaf_weights(stats[n_children == 0, 2]),
        )
        own_bounds = bounds.copy() if self.newton.is_bounded else None
        return Grown(forest, scratch.leaves.copy(), gain.copy(), own_bounds)

    def _new_scratch(self) -> _Scratch:
        return _Scratch(self.table, self.growth, self.newton)


class _Scratch:
    """Arrays for growing the trees of a round, reused in all; each thread has its own."""

    def __init__(self, table: Table, growth: Growth, newton: Newton) -> None:
        n_rows, n_features = table.n_rows, table.n_features
        # The most that any number of candidate features may need.
        leaves = most_leaves(growth, n_rows)
        n_nodes, n_waiting = 2 * leaves + 1, leaves + 2
        n_segments = max(table.records.size, n_rows + MOST_PAIRS)
        widest = int(table.n_values.max(initial=0, where=table.kind != SORTED)) + 1
        paths, self.groups, allowed = path_words(newton, n_nodes, n_features)
        self.branches = np.empty(16 * widest if not table.schema.all_ordered else 1, np.uint16)
        self.used = np.zeros(2, np.int64)
        self._n_rows, self._n_nodes, self._paths = n_rows, n_nodes, paths
        self._before = (
            np.empty(n_segments + n_rows + MOST_PAIRS, table.records.dtype),
            np.empty(n_rows + 1, np.uint32), np.empty(n_rows + 1, np.uint32),
            np.empty(n_rows, np.uint8),
        )  # fmt: skip
        self._after = (
            np.zeros((widest, 3), np.int64), np.empty(widest, np.int64), np.empty(widest),
            np.empty(widest, np.uint8), np.empty(3, np.int64), np.empty(3, np.int64),
            np.empty(3, np.int64), np.empty(4, np.int64), np.empty(N_DIGITS, np.uint32),
            np.empty(1, np.uint64), allowed, np.empty((2, 4), np.int64),
            np.empty((n_waiting, 8), np.int64), np.empty(n_waiting),
        )  # fmt: skip
        self._levels = np.empty(2 * widest), np.empty((n_waiting, 4))
        self._of_leaves = np.empty(n_nodes), np.empty(n_nodes)
        self._of_rows = np.empty(2 * n_rows, np.int64), np.empty(n_rows), np.empty(n_rows)
        self._candidates = np.empty(0, np.int64)
        self.leaves = np.empty((0, n_rows), np.int32)

    def make_room(self, n_trees: int, n_candidates: int) -> None:
        """Space for so many trees, each of so many features."""
        if len(self._candidates) != n_candidates:
            self._candidates = np.empty(n_candidates, np.int64)
        if len(self.leaves) == n_trees:
            return
        n = n_trees * self._n_nodes
        self.tree = (
            np.empty(n), np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.uint16),
            np.empty(n, np.uint16), np.empty((n, 3), np.int64), np.empty((n, 2)), np.empty(n),
            self._paths, np.empty((self._n_nodes, 2), np.int64),
        )  # fmt: skip
        self.leaves = np.empty((n_trees, self._n_rows), np.int32)
        self.starts = np.zeros(n_trees + 1, np.int64)
        self.value = np.empty(n)
        self._derivatives = np.empty((0, 0)), np.empty((0, 0))

    def work(self) -> tuple[Any, ...]:
        return (
            *self._before, self._candidates, *self._after, self.branches, self.used, *self._levels,
        )  # fmt: skip

    def round(self, *arguments: Any) -> int:
        """Grow the trees of a round; their number of nodes."""
        return int(newton_round(*arguments))

    def values(self, n: int) -> Floats:
        """The values of the nodes, of shape (n_nodes, n_values)."""
        return self.value[:n, None].copy()

    def of_round(
        self, derivatives: tuple[Floats, Floats] | None, update: Update | None, newton: Newton
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The loss of a round, and the arrays that it fills."""
        if update is None:
            assert derivatives is not None
            loss = (GIVEN, np.inf, 1.0, _NO_TARGETS, newton.l2, newton.l1)
            scores = _NO_ROWS
        else:
            loss = (
                update.kind, update.largest_step, update.learning_rate, update.y, newton.l2,
                newton.l1,
            )  # fmt: skip
            scores = update.scores
            if self._derivatives[0].shape != scores.shape:
                self._derivatives = np.empty(scores.shape), np.empty(scores.shape)
            derivatives = self._derivatives
        return loss, (
            scores, *derivatives, self.leaves, self.starts, self.value, *self._of_leaves,
            *self._of_rows,
        )  # fmt: skip


def _categorical(n_categories: Integers) -> tuple[Integers, Integers]:
    """Indices of the categorical features, and their numbers of categories."""
    where = np.flatnonzero(n_categories)
    return where, n_categories[where]


def in_threads(grow: Callable[[slice], Grown], blocks: list[slice], n_jobs: int) -> list[Grown]:
    """Grow the trees of a round block by block, or in threads."""
    if n_jobs == 1 or len(blocks) == 1:
        return [grow(trees) for trees in blocks]
    with ThreadPoolExecutor(n_jobs) as threads:
        return list(threads.map(grow, blocks))


def joined(trees: list[Grown]) -> Grown:
    """The trees of a round as one."""
    if len(trees) == 1:
        return trees[0]
    forests, leaves, gains, bounds = zip(*trees, strict=True)
    return Grown(
        Forest.concatenate(forests), np.concatenate(leaves), np.concatenate(gains),
        None if bounds[0] is None else np.concatenate(bounds),
    )  # fmt: skip
