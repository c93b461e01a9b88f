"""Regression trees over binned features, the fast way to grow the trees of gradient boosting.

The algorithm is that of the exact engine, on features cut once into at most 255 bins. If no feature
has more distinct values than bins, the trees are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from numba import config

from orfeon.data.presorted import Table
from orfeon.data.schema import Schema
from orfeon.forest import NODE, Forest
from orfeon.growth.binning import MOST_BINS, bin_table
from orfeon.growth.engine import Growth, IntegerWeights, _limits, integer_weights
from orfeon.growth.residuals import check_weights, checked_candidates, checked_residuals
from orfeon.kernels.cart.criteria import VARIANCE
from orfeon.kernels.cart.grow import NO_LIMIT
from orfeon.kernels.histogram.bins import PER_WORD
from orfeon.kernels.histogram.grow import grow_tree
from orfeon.kernels.histogram.leaves import to_fixed_point
from orfeon.kernels.histogram.nodes import N_COLUMNS, N_SPARE
from orfeon.kernels.histogram.parts import CHUNK
from orfeon.kernels.histogram.splits import AHEAD
from orfeon.kernels.histogram.threads import CLOSED, make_board
from orfeon.utils.row_threads import even_size, share_parts, yield_processor
from orfeon.utils.types import Floats, Integers, Integers32, Words

#: Maximum size in bytes of the histograms kept for waiting nodes.
_MOST_KEPT = 1 << 26
#: Weight and moment share a word if this many bits are left for a residual. Among many rows, fewer
#: are enough: errors of rounding cancel, and half the words are read.
_FEWEST_BITS, _FEWEST_OF_MANY = 24, 18
_MANY_ROWS = 1 << 18
#: A float holds sums below two to this power exactly.
_FLOAT_BITS = 53
#: Sums of moments that do not share a word stay below two to this power.
_SUM_BITS = 61
#: The largest power of two that is a float.
_MOST_BITS = 1023
#: Minimum number of rows for which several threads pay, each with a tree of its own.
_WORTH_THREADS = 1 << 12
#: Minimum number of values for which several threads pay that share a tree.
_WORTH_HELPERS = 3 << 17
#: Rows for which one more thread pays that helps with a tree.
_ROWS_EACH = 1 << 12
#: Minimum number of rows for which it pays to share a short pass over them.
_WORTH_PARTS = 1 << 18
#: Polls without work after which a helping thread yields to others: some hundred microseconds.
_PATIENCE = 1 << 14


class HistogramTrees:
    """Trees whose thresholds are the borders of bins."""

    def __init__(
        self,
        data: Table | npt.NDArray[Any],
        schema: Schema | None = None,
        growth: Growth | None = None,
        *,
        max_bins: int = MOST_BINS,
        copies: Floats | None = None,
        n_samples: float | None = None,
        n_jobs: int | None = None,
        rows: Integers | None = None,
    ) -> None:
        if isinstance(data, Table):
            X, schema = _rows_of(data), data.schema
        else:
            X = data
        self.X: npt.NDArray[Any] = X
        self.rows = rows  # of X; all by default
        self.n_rows = X.shape[0] if rows is None else len(rows)
        self.schema = Schema.ordered(X.shape[1]) if schema is None else schema
        self.growth = Growth(criterion="variance") if growth is None else growth
        _check_growth(self.growth)
        self.n_jobs = 1 if n_jobs is None or config.DISABLE_JIT else effective_n_jobs(n_jobs)
        self._n_threads = self.n_jobs if self.n_rows >= _WORTH_THREADS else 1
        self.bins, self._columns = self._bin(max_bins, copies)
        self.n_samples = None if n_samples is None else np.array([n_samples])
        self._n_categories = self.schema.n_categories
        self._all_features = np.arange(X.shape[1])[None]
        self._known: _Weighed | None = None
        self._scratch: list[_Scratch] = []
        self._executor: ThreadPoolExecutor | None = None

    def _bin(self, max_bins: int, copies: Floats | None) -> tuple[Any, tuple[Any, ...]]:
        """The binned table, and its arrays for the kernels."""
        bins = bin_table(self.X, self.schema, max_bins, self._n_threads, copies, self.rows)
        return bins, (
            bins.codes.ravel(), bins.offset, bins.n_bins, self.schema.is_categorical, bins.low,
            bins.high, self.n_rows,
        )  # fmt: skip

    def _rows_at(self, which: Integers) -> Any:
        """Some rows as trees take them."""
        X = self.X[which if self.rows is None else self.rows[which]]
        return np.ascontiguousarray(X, dtype=np.float64)

    def grow(
        self,
        residuals: Floats,
        weights: npt.NDArray[Any],
        seeds: Words,
        candidates: Integers | None = None,
    ) -> tuple[Forest, Integers32]:
        n_trees, n_threads = len(seeds), self._n_threads
        residuals = checked_residuals(residuals, n_trees, self.n_rows)
        weighed = self._weigh(weights, n_trees)
        chosen = self._all_features
        if candidates is not None:
            chosen = checked_candidates(candidates, n_trees, self.X.shape[1])
        leaves = np.empty(residuals.shape, np.int32)

        def grow(t: int) -> Forest:
            try:
                scratch = self._scratch.pop()
            except IndexError:  # all are in use by other threads
                scratch = self._make_scratch()
            own = np.array(chosen[t if len(chosen) > 1 else 0], dtype=np.int64)
            n_helpers = self._n_helpers(own) if n_trees == 1 else 0
            forest = self._grow(
                scratch, residuals[t], weighed.of_tree(t), seeds[t], own, leaves[t], n_helpers
            )
            self._scratch.append(scratch)
            return forest

        if n_trees == 1:
            return grow(0), leaves
        each = self._threads().map if n_threads > 1 else map
        return Forest.concatenate(list(each(grow, range(n_trees)))), leaves

    def _threads(self) -> ThreadPoolExecutor:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.n_jobs)
        return self._executor

    def _n_helpers(self, candidates: Integers) -> int:
        """How many threads can help with one tree: they share blocks of features and of rows."""
        if self._n_threads == 1 or self.n_rows * len(candidates) < _WORTH_HELPERS:
            return 0
        n_parts = max(len(np.unique(candidates // PER_WORD)), self.n_rows // _ROWS_EACH)
        return min(self._n_threads, n_parts) - 1

    def _weigh(self, weights: npt.NDArray[Any], n_trees: int) -> _Weighed:
        """The weights as integers, cached while they are the same array."""
        if self._known is None or self._known.given is not weights:
            check_weights(weights, n_trees, self.n_rows)
            self._known = _Weighed(weights, self.growth, self.n_samples)
        return self._known

    def _make_scratch(self) -> _Scratch:
        return _Scratch(
            self.n_rows, self.bins.n_bins, int(self.bins.offset[-1]), self.growth,
            self.schema.all_ordered,
        )  # fmt: skip

    def _grow(
        self,
        scratch: _Scratch,
        targets: Floats,
        weighed: _OfTree,
        seed: np.uint64,
        candidates: Integers,
        leaves: Integers32,
        n_helpers: int,
    ) -> Forest:
        fixed = _fix(targets, weighed)
        values, ordered = scratch.values(fixed.is_wide)
        word, second = self._to_fixed_point(targets, weighed, fixed, values, scratch, n_helpers)
        search = (
            scratch.histograms(fixed.is_wide), int(self.bins.offset[-1]), int(fixed.is_wide),
            fixed.shift, (1 << fixed.shift) - 1, fixed.centre(word), float(weighed.limits[1]),
            *scratch.totals,
        )  # fmt: skip
        work = (
            *scratch.rows, values, ordered, scratch.goes_left, candidates, *scratch.work,
            scratch.slots(fixed.is_wide), *scratch.shared, make_board(n_helpers),
        )  # fmt: skip
        residuals = (
            targets, weighed.weights, int(weighed.are_ones), weighed.n_present, word, second,
            fixed.low, fixed.scale, fixed.spread_bits, leaves,
        )  # fmt: skip
        limits = self._limits(weighed, fixed, len(candidates))
        n_nodes = self._grow_with_helpers(
            grow_tree, limits, search, scratch, (work, scratch.tree, residuals), seed, n_helpers
        )
        forest = self._pack(scratch.tree, n_nodes, weighed, fixed)
        if weighed.n_present < len(targets):
            lost = np.flatnonzero(leaves < 0)
            if len(lost):
                leaves[lost] = forest.apply(self._rows_at(lost))[:, 0]
        return forest

    def _grow_with_helpers(
        self,
        kernel: Callable[..., int],
        limits: Any,
        search: tuple[Any, ...],
        scratch: _Scratch,
        shared: tuple[Any, Any, Any],
        seed: np.uint64,
        n_helpers: int,
    ) -> int:
        """Grow a tree with the help of other threads; returns its number of nodes."""
        board = shared[0][-1]
        helpers = []
        try:
            for k in range(n_helpers):
                own = (self._columns, limits, (*search, *_bin_scratch()), *shared, seed, k + 1)
                helpers.append(self._threads().submit(_help, kernel, own, board))
            n_nodes = kernel(
                self._columns, limits, (*search, *scratch.by_bin), *shared, seed, 0, _PATIENCE
            )
        finally:
            if n_helpers:  # also after an interrupt, or they would never end
                board[CLOSED] = 1
        for helper in helpers:
            if not helper.cancel():  # those that have not begun are cancelled
                helper.result()
        return n_nodes

    def _to_fixed_point(
        self,
        targets: Floats,
        weighed: _OfTree,
        fixed: _Fixed,
        values: Integers,
        scratch: _Scratch,
        n_helpers: int,
    ) -> tuple[int, int]:
        """Code the residuals, each thread those of some rows; their sums."""

        def code(part: slice) -> tuple[int, int]:
            word, second = to_fixed_point(
                targets, weighed.weights, fixed.low, fixed.scale, fixed.shift, fixed.is_wide,
                part.start, part.stop, values, scratch.rows[0],
            )  # fmt: skip
            return int(word), int(second)

        n = len(targets)
        if not n_helpers or n < _WORTH_PARTS:
            return code(slice(0, n))
        sums = share_parts(code, parts_of(n, n_helpers), self._threads(), n_helpers)
        return sum(word for word, _ in sums), sum(second for _, second in sums)

    def _limits(
        self, weighed: _OfTree, fixed: _Fixed, n_candidates: int
    ) -> tuple[int, int, int, int, int, float]:
        growth = self.growth
        decrease = -math.inf  # splits without gain are made: a split below may gain
        if growth.min_impurity_decrease > 0:
            least = growth.min_impurity_decrease * weighed.total * (1.0 - 1e-12)
            decrease = least * fixed.scale * fixed.scale
        return (
            _limit(growth.max_depth), _limit(growth.max_leaf_nodes),
            min(growth.max_features or NO_LIMIT, n_candidates), int(weighed.limits[0]),
            int(weighed.limits[1]), decrease,
        )  # fmt: skip

    def _pack(self, tree: Any, n: int, weighed: _OfTree, fixed: _Fixed) -> Forest:
        """A forest of one tree."""
        threshold, feature, first_child, n_children, missing, _, sides, stats, value = tree[:9]
        nodes = np.empty(n, dtype=NODE)
        nodes["threshold"] = threshold[:n]
        nodes["feature"] = feature[:n]
        nodes["first_child"] = first_child[:n]
        n_children = n_children[:n].copy()
        weight = stats[:n, 0] if fixed.is_wide else stats[:n, 0] >> fixed.shift
        in_leaves = weight[n_children == 0]
        exact = bool(weighed.whole.exact[0])
        return Forest(
            tree_start=np.array([0, n]),
            nodes=nodes,
            n_children=n_children,
            missing=missing[:n].copy(),
            label=np.zeros(0, np.int32),
            value=value[:n, None].copy(),
            n_classes=0,
            n_categories=self._n_categories,
            branches=self._branch_tables(nodes, n_children, sides),
            leaf_weight=(
                in_leaves.astype(np.uint32) if exact else in_leaves / weighed.whole.scale[0]
            ),
        )

    def _branch_tables(
        self, nodes: npt.NDArray[Any], n_children: npt.NDArray[np.uint16], sides: Any
    ) -> npt.NDArray[np.uint16]:
        """Branch of each category at each node; the node's threshold is where its table begins."""
        tables: list[npt.NDArray[np.uint16]] = []
        start = 0
        if not self.schema.all_ordered:
            of_categories = (n_children > 0) & self.schema.is_categorical[nodes["feature"]]
            for node in np.flatnonzero(of_categories):
                bin_of_category = self.bins.categories[nodes["feature"][node]]
                nodes["threshold"][node] = start
                tables.append(1 - sides[node][bin_of_category].astype(np.uint16))
                start += len(bin_of_category)
        return np.concatenate(tables) if tables else np.zeros(0, np.uint16)


class _OfTree:
    """The weights of one tree and their limits."""

    def __init__(self, whole: IntegerWeights, limits: Integers) -> None:
        self.whole = whole
        self.limits = limits
        self.weights = whole.weights[0]
        self.total = int(whole.total[0])
        absent = self.weights == 0
        self.present = np.flatnonzero(~absent) if absent.any() else None
        self.n_present = len(absent) if self.present is None else len(self.present)
        self.are_ones = bool(whole.exact[0]) and self.total == len(absent) == self.n_present


class _Weighed:
    """The integer weights of all trees, with the limits that depend on them."""

    def __init__(self, weights: npt.NDArray[Any], growth: Growth, n_samples: Floats | None) -> None:
        self.given = weights
        whole = integer_weights(np.atleast_2d(weights), n_samples)
        limits = _limits(growth, np.full(len(whole.exact), VARIANCE), whole)
        parts = [slice(t, t + 1) for t in range(len(limits))]
        self._trees = [
            _OfTree(
                IntegerWeights(whole.weights[t], whole.scale[t], whole.unit[t], whole.exact[t]),
                limits[t][0],
            )
            for t in parts
        ]

    def of_tree(self, t: int) -> _OfTree:
        return self._trees[t if len(self._trees) > 1 else 0]


def _help(kernel: Callable[..., int], own: tuple[Any, ...], board: Integers) -> None:
    """Help to grow a tree until it is finished; ``own`` are this thread's arguments."""
    while not board[CLOSED]:
        kernel(*own, _PATIENCE)
        yield_processor()  # there may be too few


def parts_of(n_rows: int, n_helpers: int) -> list[slice]:
    """Parts of a pass over the rows that is shared with helpers."""
    size = even_size(n_rows, n_helpers + 1)
    return [slice(k, min(k + size, n_rows)) for k in range(0, n_rows, size)]


@dataclass(frozen=True)
class _Fixed:
    """How residuals are coded as integers."""

    is_wide: bool  # whether weight and moment have one word each
    shift: int  # of the weight in a word
    low: float  # the residual that becomes zero
    scale: float  # integer of a residual of one, a power of two
    spread_bits: int  # exponent of a power of two above the range of the residuals

    def centre(self, word: int) -> float:
        """The centre of the scores: the rounded mean of the packed residuals."""
        if self.is_wide:
            return 0.0
        return float((word & ((1 << self.shift) - 1)) // max(word >> self.shift, 1))


def _fix(targets: Floats, weighed: _OfTree) -> _Fixed:
    """Choose how the residuals of one tree are coded."""
    # Counts share a word with the moments if enough bits are left. Residuals are then taken above
    # the lowest one, so that sums are never negative, and a float holds them exactly.
    seen = targets if weighed.present is None else targets[weighed.present]
    low, high = float(seen.min()), float(seen.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError("residuals must be finite where the weight is positive.")
    for_weights = weighed.total.bit_length()
    for_residual = min(63 - 2 * for_weights, _FLOAT_BITS - for_weights)
    fewest = _FEWEST_BITS if len(targets) < _MANY_ROWS else _FEWEST_OF_MANY
    is_wide = not weighed.whole.exact[0] or for_residual < fewest
    most = _FLOAT_BITS - _bits(max(abs(low), abs(high)))
    spread = _bits(high - low)
    if is_wide:
        scale = _power(min(most, _SUM_BITS - for_weights - spread))
        return _Fixed(True, 0, 0.5 * low + 0.5 * high, scale, spread)
    scale = _power(min(most, for_residual - 1 - spread))
    return _Fixed(False, 63 - for_weights, round(low * scale) / scale, scale, spread)


def _bits(size: float) -> int:
    """Exponent of a power of two above a number."""
    if size <= 0.0:
        return 0
    return math.frexp(size)[1] if math.isfinite(size) else _MOST_BITS + 2


def _power(exponent: int) -> float:
    return math.ldexp(1.0, min(exponent, _MOST_BITS))


def _bin_scratch() -> tuple[npt.NDArray[Any], ...]:
    """Scratch for the running sums over the bins of one feature."""
    return np.empty((2, 256), np.int64), np.empty(256, np.int64), np.empty(256)


class _Scratch:
    """Arrays for growing a tree, reused from tree to tree; each thread has its own."""

    def __init__(
        self, n_rows: int, n_bins: Integers, length: int, growth: Growth, all_ordered: bool
    ) -> None:
        n_features = len(n_bins)
        most_leaves = min(n_rows, _limit(growth.max_leaf_nodes))
        if growth.max_depth is not None:
            most_leaves = min(most_leaves, 1 << min(growth.max_depth, 62))
        n_nodes, n_waiting = 2 * most_leaves + 1, most_leaves + 2
        self._length, self._most_leaves = length, most_leaves
        # Codes are prefetched for the rows after the last one, too: any row will do.
        self.rows = (np.zeros(n_rows + AHEAD, np.uint32), np.empty(n_rows + 1, np.uint32))
        self.goes_left = np.zeros(256, np.uint8)
        self.by_bin = _bin_scratch()
        self.totals = (np.empty(2), np.empty(2))
        self.work = (
            np.empty(n_features, np.uint8), np.empty(-(-n_features // 8), np.uint8),
            np.empty((2, n_features)), np.empty(4, np.int64), np.empty(1, np.uint64),
            np.empty((n_waiting, N_COLUMNS), np.int64), np.empty(n_waiting), np.empty(n_waiting),
        )  # fmt: skip
        self.shared = (
            np.empty((2, 7), np.int64), np.empty(8, np.int64),
            np.empty(n_rows // CHUNK + 2, np.int64),
        )  # fmt: skip
        self.tree = (
            np.empty(n_nodes), np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int32),
            np.empty(n_nodes, np.uint16), np.empty(n_nodes, np.uint16),
            np.empty((n_nodes, 2), np.int64),
            np.empty((1 if all_ordered else n_nodes, 256), np.uint8),
            np.empty((n_nodes, 2), np.int64), np.empty(n_nodes), np.empty((n_nodes, 2), np.int64),
        )  # fmt: skip
        self._values = np.empty((2, 0), np.int64)
        self._histograms = np.empty(0, np.int64)
        self._n_rows = n_rows

    def _n_kept(self, is_wide: bool) -> int:
        """Number of histograms kept for waiting nodes."""
        size = 8 * self._length * (2 if is_wide else 1)
        return max(1, min(self._most_leaves + 1, _MOST_KEPT // size))

    def values(self, is_wide: bool) -> tuple[Integers, Integers]:
        """Space for the values of the rows, in two orders."""
        n = self._n_rows * (2 if is_wide else 1)
        if self._values.shape[1] < n:
            self._values = np.empty((2, n), np.int64)
        return self._values[0], self._values[1]

    def histograms(self, is_wide: bool) -> Integers:
        n = (self._n_kept(is_wide) + N_SPARE) * self._length * (2 if is_wide else 1)
        if len(self._histograms) < n:
            self._histograms = np.empty(n, np.int64)
        return self._histograms

    def slots(self, is_wide: bool) -> Integers:
        """Space for the indices of the free histograms, and for their number."""
        return np.empty(self._n_kept(is_wide) + 1, np.int64)


def _limit(value: int | None) -> int:
    return NO_LIMIT if value is None else int(value)


def _check_growth(growth: Growth) -> None:
    """Reject options that only the exact engine has."""
    for name, allowed in (("criterion", "variance"), ("splitter", "best"), ("n_best", 1)):
        value = getattr(growth, name)
        if value != allowed:
            raise ValueError(f"{name}={value!r} is not allowed with histograms: {allowed!r} is.")


def _rows_of(table: Table) -> Floats:
    """The encoded rows that a table was made from."""
    X = np.empty((table.n_rows, table.n_features))
    for j in range(table.n_features):
        first, n = int(table.value_start[j]), int(table.n_values[j])
        is_categorical = table.schema.categories[j] is not None
        known = np.arange(n) if is_categorical else table.values[first : first + n]
        X[:, j] = np.append(known, np.nan)[table.ranks[j]]
    return X
