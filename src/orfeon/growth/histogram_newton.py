"""Newton trees over binned features.

A sample is one word: its second derivative above its gradient, as integers of so many bits that
the sums over all samples fit. Among many samples few bits are enough, since errors of rounding
cancel; leaf values are computed from the derivatives themselves.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.forest import NODE, Forest
from orfeon.growth.binning import MOST_BINS
from orfeon.growth.engine import Growth
from orfeon.growth.histogram import (
    _WORTH_PARTS,
    HistogramTrees,
    _limit,
    _Scratch,
    parts_of,
)
from orfeon.growth.newton import (
    Grown,
    Newton,
    Units,
    Weighed,
    check_derivatives,
    joined,
    newton_values,
    path_words,
    rule_of,
    signs_of,
)
from orfeon.growth.residuals import check_weights, checked_candidates, checked_residuals
from orfeon.kernels.histogram.newton_grow import code_derivatives, grow_tree
from orfeon.kernels.histogram.newton_splits import SHIFT
from orfeon.kernels.histogram.threads import make_board
from orfeon.utils.row_threads import share_parts
from orfeon.utils.types import Floats, Integers, Integers32, Words

#: Sums of moments, and of hessians, stay below two to this power.
_SUM_BITS = 31
#: Whole weights with a greater sum are rounded together with the derivatives.
_MOST_COPIES = 1 << 27
#: Squares of larger powers of two would not be floats.
_MOST_BITS = 400


class HistogramNewtonTrees(HistogramTrees):
    """Newton trees whose thresholds are the borders of bins."""

    _grow_tree = staticmethod(grow_tree)

    def __init__(
        self,
        data: Table | npt.NDArray[Any],
        schema: Schema | None = None,
        growth: Growth | None = None,
        newton: Newton | None = None,
        *,
        max_bins: int = MOST_BINS,
        copies: Floats | None = None,
        n_samples: float | None = None,
        n_jobs: int | None = None,
        rows: Integers | None = None,
    ) -> None:
        super().__init__(
            data, schema, growth, max_bins=max_bins, copies=copies, n_samples=n_samples,
            n_jobs=n_jobs, rows=rows,
        )  # fmt: skip
        self.newton = Newton() if newton is None else newton
        self._signs = signs_of(self.newton, self.X.shape[1])
        self._own: Weighed | None = None
        self._own_scratch: list[_NewtonScratch] = []

    def grow_newton(
        self,
        gradients: Floats,
        hessians: Floats,
        weights: npt.NDArray[Any],
        seeds: Words,
        candidates: Integers | None = None,
    ) -> Grown:
        n_trees = len(seeds)
        gradients = checked_residuals(gradients, n_trees, self.n_rows)
        hessians = checked_residuals(hessians, n_trees, self.n_rows)
        check_derivatives(gradients, hessians)
        if self._own is None or self._own.given is not weights:
            check_weights(weights, 1, self.n_rows)
            self._own = Weighed(weights, self.growth, self.n_samples)
        weighed = self._own
        chosen = self._all_features
        if candidates is not None:
            chosen = checked_candidates(candidates, n_trees, self.X.shape[1])

        def grow(t: int) -> Grown:
            try:
                scratch = self._own_scratch.pop()
            except IndexError:  # all are in use by other threads
                scratch = self._make_own_scratch()
            own = np.array(chosen[t if len(chosen) > 1 else 0], dtype=np.int64)
            n_helpers = self._n_helpers(own) if n_trees == 1 else 0
            derivatives = gradients[t], hessians[t]
            grown = self._grow_one(scratch, *derivatives, weighed, seeds[t], own, n_helpers)
            self._own_scratch.append(scratch)
            return grown

        if n_trees == 1:
            return grow(0)
        each = self._threads().map if self._n_threads > 1 else map
        return joined(list(each(grow, range(n_trees))))

    def _make_own_scratch(self) -> _NewtonScratch:
        return _NewtonScratch(
            self.n_rows, self.bins.n_bins, int(self.bins.offset[-1]), self.growth,
            self.schema.all_ordered, self.newton,
        )  # fmt: skip

    def _grow_one(
        self,
        scratch: _NewtonScratch,
        gradient: Floats,
        hessian: Floats,
        weighed: Weighed,
        seed: np.uint64,
        candidates: Integers,
        n_helpers: int,
    ) -> Grown:
        coding = _coding(gradient, hessian, weighed)
        rule = rule_of(self.growth, self.newton, weighed, coding.units, len(candidates))
        of_rows = _hessian_of_rows(hessian, coding)
        is_wide = int(weighed.min_leaf > 1 or weighed.min_split > 2)
        if is_wide and of_rows and weighed.min_split <= max(2, 2 * weighed.min_leaf):
            # Weights are hessians in another unit: no second plane is needed.
            is_wide, rule = 0, (*rule[:2], max(rule[2], of_rows * weighed.min_leaf), *rule[3:])
        values, ordered = scratch.values(bool(is_wide))
        word, second = self._code(
            gradient, hessian, weighed, coding, is_wide, values, scratch, n_helpers
        )
        search = (
            scratch.histograms(bool(is_wide)), int(self.bins.offset[-1]), is_wide, *rule[:3],
            *rule[3:8], rule[11], rule[13], self._signs, scratch.groups, *scratch.limits,
        )  # fmt: skip
        work = (
            *scratch.rows, values, ordered, scratch.goes_left, candidates, *scratch.work,
            scratch.slots(bool(is_wide)), *scratch.shared, make_board(n_helpers),
        )  # fmt: skip
        n_present = int(np.count_nonzero(weighed.weights)) if weighed.has_absent else self.n_rows
        leaves = np.empty(self.n_rows, np.int32)
        residuals = (
            gradient, weighed.weights, int(weighed.are_ones), n_present, word, second, 0.0, 1.0, 0,
            leaves,
        )  # fmt: skip
        limits = (
            _limit(self.growth.max_depth), _limit(self.growth.max_leaf_nodes), rule[10], rule[4],
            rule[3], rule[5],
        )  # fmt: skip
        n = self._grow_with_helpers(
            self._grow_tree, limits, search, scratch, (work, scratch.newton_tree, residuals), seed,
            n_helpers,
        )  # fmt: skip
        return self._pack_newton(scratch, n, rule, weighed, coding.units, leaves)

    def _code(
        self,
        gradient: Floats,
        hessian: Floats,
        weighed: Weighed,
        coding: _Coding,
        is_wide: int,
        values: Integers,
        scratch: _Scratch,
        n_helpers: int,
    ) -> tuple[int, int]:
        """Code the derivatives, each thread those of some rows; their sums."""

        def code(part: slice) -> tuple[int, int]:
            word, second = code_derivatives(
                gradient, hessian, weighed.weights, coding.moment_scale, coding.hessian_scale,
                int(coding.is_exact), is_wide, part.start, part.stop, values, scratch.rows[0],
            )  # fmt: skip
            return int(word), int(second)

        n = self.n_rows
        if not n_helpers or n < _WORTH_PARTS:
            return code(slice(0, n))
        sums = share_parts(code, parts_of(n, n_helpers), self._threads(), n_helpers)
        return sum(word for word, _ in sums), sum(second for _, second in sums)

    def _pack_newton(
        self,
        scratch: _NewtonScratch,
        n: int,
        rule: tuple[Any, ...],
        weighed: Weighed,
        units: Units,
        leaves: Integers32,
    ) -> Grown:
        """A forest of one tree, with the leaf of each row."""
        own: list[Any] = [array[:n] for array in scratch.newton_tree[:5]]
        threshold, feature, first_child, n_children, missing = own
        sides, words = scratch.newton_tree[6], scratch.newton_tree[7][:n, 0]
        limits: list[Any] = [scratch.newton_tree[k][:n] for k in (9, 10, 12)]
        bounds, gain, weight = limits
        nodes = np.empty(n, dtype=NODE)
        nodes["threshold"] = threshold
        nodes["feature"] = feature
        nodes["first_child"] = first_child
        n_children = n_children.copy()
        hessian = (words + (1 << (SHIFT - 1))) >> SHIFT
        stats = np.column_stack([hessian, words - (hessian << SHIFT)])
        forest = Forest(
            tree_start=np.array([0, n]),
            nodes=nodes,
            n_children=n_children,
            missing=missing.copy(),
            label=np.zeros(0, np.int32),
            value=newton_values(rule, stats, units, bounds)[:, None],
            n_classes=0,
            n_categories=self._n_categories,
            branches=self._branch_tables(nodes, n_children, sides),
            leaf_weight=weighed.leaf_weights(weight[n_children == 0]),
        )
        if weighed.has_absent:
            lost = np.flatnonzero(leaves < 0)
            if len(lost):
                leaves[lost] = forest.apply(self._rows_at(lost))[:, 0]
        own_bounds = bounds / units.value if self.newton.is_bounded else None
        return Grown(forest, leaves[None], gain / units.score, own_bounds)


class _Coding(NamedTuple):
    """How derivatives are coded as integers."""

    moment_scale: float
    hessian_scale: float
    is_exact: bool  # whether weights multiply the integers
    units: Units


def _coding(gradient: Floats, hessian: Floats, weighed: Weighed) -> _Coding:
    """Choose how the derivatives of one tree are coded."""
    weights = weighed.weights
    is_exact = weighed.is_exact and weighed.total < _MOST_COPIES
    # Each row may be rounded up by half a unit, and a hessian of zero to one unit.
    copies = weighed.total if is_exact else len(weights)
    moment = float(np.sum(np.abs(gradient) * weights))
    scales = [
        _power(((1 << _SUM_BITS) - 1 - copies) / total) if total > 0.0 else 1.0
        for total in (moment * (1 + 1e-9), float(np.sum(hessian * weights)) * (1 + 1e-9))
    ]
    units = Units(scales[1] * weighed.scale, scales[0] * weighed.scale)
    return _Coding(scales[0], scales[1], is_exact, units)


def _hessian_of_rows(hessian: Floats, coding: _Coding) -> int:
    """The integer that a weight of 1 adds to a hessian, if it is the same for all rows, else 0."""
    if not coding.is_exact or hessian.min() < hessian.max():
        return 0
    return max(1, round(float(hessian[0]) * coding.hessian_scale))


def _power(most: float) -> float:
    """The greatest power of two up to a number."""
    return math.ldexp(1.0, min(math.frexp(most)[1] - 1, _MOST_BITS))


class _NewtonScratch(_Scratch):
    """Arrays for growing a Newton tree, reused from tree to tree; each thread has its own."""

    def __init__(
        self,
        n_rows: int,
        n_bins: Integers,
        length: int,
        growth: Growth,
        all_ordered: bool,
        newton: Newton,
    ) -> None:
        super().__init__(n_rows, n_bins, length, growth, all_ordered)
        n_nodes = len(self.tree[0])
        paths, self.groups, allowed = path_words(newton, n_nodes, len(n_bins))
        self.limits = np.empty((2, 2), np.int64), np.empty((2, 2)), np.stack([allowed, allowed])
        self.newton_tree = (
            *self.tree[:8], self.tree[9], np.empty((n_nodes, 2)), np.empty(n_nodes), paths,
            np.zeros(n_nodes, np.int64),
        )  # fmt: skip
