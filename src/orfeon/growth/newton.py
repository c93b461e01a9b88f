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
from orfeon.growth.engine import Growth, _columns, _limits, integer_weights
from orfeon.growth.residuals import check_weights, checked_candidates, checked_residuals
from orfeon.kernels.cart.criteria import VARIANCE
from orfeon.kernels.cart.grow import NO_LIMIT
from orfeon.kernels.cart.node_sorting import MOST_PAIRS, N_DIGITS
from orfeon.kernels.gradient.exact_grow import grow_tree
from orfeon.kernels.gradient.interactions import ANY
from orfeon.utils.types import Floats, Integers

Seeds = npt.NDArray[np.uint64]
Leaves = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]

#: Sums of second derivatives stay below two to this power, so that a float holds them exactly.
_HESSIAN_BITS = 52
#: Sums of gradients stay below two to this power, in 64-bit integers.
_MOMENT_BITS = 61
#: A derivative keeps all bits of a float if there is room.
_FLOAT_BITS = 53
#: Squares of larger powers of two would not be floats.
_MOST_BITS = 400
#: Minimum number of rows for which several threads pay.
_WORTH_THREADS = 1 << 12


@dataclass(frozen=True)
class Newton:
    """Penalties and constraints of Newton trees.

    Parameters
    ----------
    l2, l1 : float, default=0.0
        Penalties on the squares and on the sizes of leaf values.
    min_hessian : float, default=0.0
        Minimum sum of second derivatives of a leaf.
    cat_smooth : float, default=0.0
        Added to the hessian of each category when categories are ordered.
    max_cat_to_onehot : int, default=1
        In a node with at most this many categories, each is compared with all others together.
    signs : ndarray of int64, optional
        1 or -1 for features that predictions increase or decrease with, else 0.
    interactions : Interactions, optional
        Which features may be on a path together; by default all.
    """

    l2: float = 0.0
    l1: float = 0.0
    min_hessian: float = 0.0
    cat_smooth: float = 0.0
    max_cat_to_onehot: int = 1
    signs: Integers | None = None
    interactions: Interactions | None = None

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
    leaves: Leaves
    gains: Floats  # of each split
    bounds: Floats | None = None  # of the value of each node, if features are monotone


class NewtonTrees(Protocol):
    """Grows the trees of a round of gradient boosting by first and second derivatives."""

    def grow_newton(
        self,
        gradients: Floats,
        hessians: Floats,
        weights: npt.NDArray[Any],
        seeds: Seeds,
        candidates: Integers | None = None,
    ) -> Grown:
        """Grow one tree for each row of negative gradients and second derivatives."""


class Weighed:
    """The integer weights of a tree, with the limits that depend on them."""

    def __init__(
        self, weights: npt.NDArray[Any], growth: Growth, n_samples: Floats | None = None
    ) -> None:
        self.given = weights
        whole = integer_weights(weights.reshape(1, -1), n_samples)
        limits = _limits(growth, np.full(1, VARIANCE), whole)
        self.whole = whole
        self.weights = whole.weights[0]
        self.total = int(whole.total[0])
        self.scale = float(whole.scale[0])
        self.is_exact = bool(whole.exact[0])
        self.min_split, self.min_leaf = int(limits[0, 0]), int(limits[0, 1])
        self.has_absent = bool((self.weights == 0).any())
        self.are_ones = self.is_exact and self.total == len(self.weights) and not self.has_absent

    def leaf_weights(self, sums: Integers) -> npt.NDArray[Any]:
        return sums.astype(np.uint32) if self.is_exact else sums / self.scale


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


def exponent_above(size: float) -> int:
    """Exponent of a power of two above a number."""
    return math.frexp(size)[1] if size > 0.0 else 0


def check_derivatives(gradients: Floats, hessians: Floats) -> None:
    """Reject derivatives that are not finite, and negative second ones."""
    if not np.isfinite(gradients).all():
        raise ValueError("gradients must be finite.")
    if not (np.isfinite(hessians).all() and hessians.min() >= 0.0):
        raise ValueError("hessians must be finite and not negative.")


def coded_pairs(gradient: Floats, hessian: Floats, weighed: Weighed) -> tuple[Integers, Units]:
    """Moment and hessian of each row as integers, side by side, and their units."""
    bits = weighed.total.bit_length()
    most = float(max(gradient.max(), -gradient.min()))
    above = exponent_above(most)
    to_moment = min(_MOMENT_BITS - above - bits, _FLOAT_BITS - above, _MOST_BITS)
    above = exponent_above(float(hessian.max()))
    to_hessian = min(_HESSIAN_BITS - above - bits, _MOST_BITS)
    moment_scale, hessian_scale = math.ldexp(1.0, to_moment), math.ldexp(1.0, to_hessian)
    pairs = np.empty((len(gradient), 2), np.int64)
    weights = weighed.weights
    if weighed.is_exact:
        pairs[:, 0] = np.rint(gradient * moment_scale)
        pairs[:, 1] = np.maximum(np.rint(hessian * hessian_scale), 1.0)
        if not weighed.are_ones:
            pairs *= weights[:, None]
    else:
        pairs[:, 0] = np.rint(gradient * moment_scale * weights)
        pairs[:, 1] = np.maximum(np.rint(hessian * hessian_scale * weights), weights > 0)
    units = Units(hessian_scale * weighed.scale, moment_scale * weighed.scale)
    return pairs.ravel(), units


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
        int(newton.is_bounded), kind,
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
        self._scratch: list[_Scratch] = []

    def grow_newton(
        self,
        gradients: Floats,
        hessians: Floats,
        weights: npt.NDArray[Any],
        seeds: Seeds,
        candidates: Integers | None = None,
    ) -> Grown:
        n_trees, n_rows = len(seeds), self.table.n_rows
        gradients = checked_residuals(gradients, n_trees, n_rows)
        hessians = checked_residuals(hessians, n_trees, n_rows)
        check_derivatives(gradients, hessians)
        chosen = self._all_features
        if candidates is not None:
            chosen = checked_candidates(candidates, n_trees, self.table.n_features)
        weighed = self._weigh(weights)

        def grow(t: int) -> Grown:
            own = np.array(chosen[t if len(chosen) > 1 else 0], dtype=np.int64)
            return self._grow(gradients[t], hessians[t], weighed, seeds[t], own)

        return joined(in_threads(grow, n_trees, self.n_jobs))

    def _weigh(self, weights: npt.NDArray[Any]) -> Weighed:
        """The weights as integers, cached while they are the same array."""
        if self._known is None or self._known.given is not weights:
            check_weights(weights, 1, self.table.n_rows)
            self._known = Weighed(weights, self.growth, self.n_samples)
        return self._known

    def _grow(
        self,
        gradient: Floats,
        hessian: Floats,
        weighed: Weighed,
        seed: np.uint64,
        candidates: Integers,
    ) -> Grown:
        pairs, units = coded_pairs(gradient, hessian, weighed)
        rule = rule_of(self.growth, self.newton, weighed, units, len(candidates))
        try:
            scratch = self._scratch.pop()
        except IndexError:  # all are in use by other threads
            scratch = _Scratch(self.table, self.growth, self.newton)
        while True:
            n = grow_tree(
                self._columns, rule, (pairs, weighed.weights), scratch.work(candidates),
                scratch.tree, self._signs, scratch.groups, seed,
            )  # fmt: skip
            if not scratch.used[1]:
                break
            scratch.branches = np.empty(2 * len(scratch.branches), np.uint16)
        grown = self._pack(scratch, n, rule, weighed, units)
        self._scratch.append(scratch)
        return grown

    def _pack(
        self, scratch: _Scratch, n: int, rule: tuple[Any, ...], weighed: Weighed, units: Units
    ) -> Grown:
        """A forest of one tree, with the leaf of each row."""
        own: list[Any] = [array[:n] for array in scratch.tree[:8]]
        threshold, feature, first_child, n_children, missing, stats, bounds, gain = own
        nodes = np.empty(n, dtype=NODE)
        nodes["threshold"] = threshold
        nodes["feature"] = feature
        nodes["first_child"] = first_child
        forest = Forest(
            tree_start=np.array([0, n]),
            nodes=nodes,
            n_children=n_children.copy(),
            missing=missing.copy(),
            label=np.zeros(0, np.int32),
            value=newton_values(rule, stats, units, bounds)[:, None],
            n_classes=0,
            n_categories=self.table.schema.n_categories,
            branches=scratch.branches[: scratch.used[0]].copy(),
            leaf_weight=weighed.leaf_weights(stats[n_children == 0, 2]),
        )
        leaves: Any = scratch.tree[10].copy()
        if weighed.has_absent:
            leaves = np.ascontiguousarray(forest._leaves(self.X)[:, 0]).view(np.int32)
        own_bounds = bounds / units.value if self.newton.is_bounded else None
        return Grown(forest, leaves[None], gain / units.score, own_bounds)


class _Scratch:
    """Arrays for growing a tree, reused from tree to tree; each thread has its own."""

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
        self.tree = (
            np.empty(n_nodes), np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int32),
            np.empty(n_nodes, np.uint16), np.empty(n_nodes, np.uint16),
            np.empty((n_nodes, 3), np.int64), np.empty((n_nodes, 2)), np.empty(n_nodes), paths,
            np.empty((n_nodes, 2), np.int64), np.empty(n_rows, np.int32),
        )  # fmt: skip

    def work(self, candidates: Integers) -> tuple[Any, ...]:
        return (*self._before, candidates, *self._after, self.branches, self.used)


def in_threads(grow: Callable[[int], Grown], n_trees: int, n_jobs: int) -> list[Grown]:
    """Grow the trees of a round one after the other, or in threads."""
    if n_jobs == 1 or n_trees == 1:
        return [grow(t) for t in range(n_trees)]
    with ThreadPoolExecutor(n_jobs) as threads:
        return list(threads.map(grow, range(n_trees)))


def joined(trees: list[Grown]) -> Grown:
    """The trees of a round as one."""
    if len(trees) == 1:
        return trees[0]
    forests, leaves, gains, bounds = zip(*trees, strict=True)
    return Grown(
        Forest.concatenate(forests), np.concatenate(leaves), np.concatenate(gains),
        None if bounds[0] is None else np.concatenate(bounds),
    )  # fmt: skip
