"""Growing any number of trees from a prepared table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.data.presorted import Table
from orfeon.data.sorting import SORTED, SPARSE
from orfeon.data.sparse import SparseTable
from orfeon.forest import NODE, Forest, without_zeros
from orfeon.growth.blocks import MOST, SHARING, grow_in_blocks, rows_of, takes_long
from orfeon.kernels.cart import criteria
from orfeon.kernels.cart.grow import NO_LIMIT
from orfeon.kernels.cart.grow_batch import (
    grow_among_best,
    grow_best,
    grow_best_ordered,
    grow_oblique,
    grow_sorting,
)
from orfeon.kernels.cart.random_batch import grow_random
from orfeon.kernels.cart.sparse_batch import grow_sparse
from orfeon.kernels.cart.sparse_cuts import grow_random_sparse
from orfeon.utils.interruption import stoppable
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats, Integers

#: Fractional weights this close, relative to their total, count as equal.
_TIE = 1e-13
#: Beyond this weight n log2 n is computed, not looked up.
_MAX_TABLE = 1 << 17
#: Integer weights are used as they are if their sum is below this.
_MAX_COUNT = 1 << 31
#: Sums of fixed-point weights stay below this, so that a float holds them exactly.
_FIXED_POINT = float(1 << 52)
#: Sums of fixed-point targets stay below this, in 64-bit integers.
_MAX_MOMENT = float(1 << 61)
#: Ranks of so many bytes do not stay in the cache.
_FAR_APART = 4 << 20
#: The largest power of two that is a float: targets below 1e-292 lose digits.
_MAX_SCALE = 2.0**1023


@dataclass(frozen=True)
class Growth:
    """How trees are grown.

    Parameters
    ----------
    criterion : {"gini", "entropy", "error", "variance"}, default="gini"
        Impurity; "variance" for regression.
    splitter : {"best", "random", "oblique", "linear"}, default="best"
        The best split, the best of one random cut per feature, the best cut of random linear
        combinations of ``n_combined`` features, or of CART's linear combinations.
    max_depth, max_leaf_nodes : int, optional
        Limits; with ``max_leaf_nodes`` the node with the largest decrease is split first.
    min_samples_split, min_samples_leaf : float, default=2 and 1
        Minimum weight of a node to be split, and of a leaf. Integer weights count as copies;
        others are taken relative to their mean. The defaults allow everything.
    min_weight_fraction_leaf : float, default=0.0
        Minimum weight of a leaf, as a share of the total weight.
    min_impurity_decrease : float, default=0.0
        Minimum weighted impurity decrease of a split.
    max_features : int, optional
        Features (or linear combinations) drawn at each node; all by default.
    n_best : int, default=1
        Each split is drawn at random from this many best ones.
    n_combined : int, default=3
        Features in a linear combination.
    ties : {"random", "first"}, default="random"
        Whether equally good splits of the splitter "best" are chosen at random, or the first
        feature and boundary.
    max_split_samples : int, optional
        Maximum number of samples of a node that decide its split; by default all do.
    deletion : float, default=0.2
        Features are deleted from CART's linear combinations while the loss is at most this share of
        the greatest loss that deleting one feature would cause.
    """

    criterion: Literal["gini", "entropy", "error", "variance"] = "gini"
    splitter: Literal["best", "random", "oblique", "linear"] = "best"
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_features: int | None = None
    n_best: int = 1
    n_combined: int = 3
    ties: Literal["random", "first"] = "random"
    max_split_samples: int | None = None
    deletion: float = 0.2

    @property
    def sorts(self) -> bool:
        """Whether nodes are sorted when they are searched, not presorted."""
        return self.splitter == "linear" or self.max_split_samples is not None


def _columns(
    table: Table | SparseTable, growth: Growth, n_candidates: int | None = None
) -> tuple[Any, ...]:  # fmt: skip
    """The features for the kernels; ``n_candidates`` where every tree may use so many."""
    if isinstance(table, SparseTable):
        return table.arrays_for_cuts if growth.splitter == "random" else table.arrays
    if growth.splitter == "random":
        return table.unsorted.arrays
    if n_candidates is not None and _sorts_nodes(growth, n_candidates):
        # Kernels look at their type, and whether there are any.
        kinds = np.where(table.is_sparse, np.uint8(SPARSE), table.kind)
        known = np.zeros(int(np.isin(kinds, (SORTED, SPARSE)).any()), type(table.mask))
    else:
        known, kinds = table.records, table.kind
    # A table from another process may be memory-mapped, read-only.
    records, ranks, segment, kind, n_values, value_start, values = map(
        kernel_view,
        (
            known, table.ranks, table.segment, kinds, table.n_values,
            table.value_start, table.values,
        ),
    )  # fmt: skip
    flat = ranks.ravel()
    if growth.splitter == "best" and _wants_ranks_by_row(table, growth):
        flat = table.ranks_by_row
    return (
        records.ravel(), flat, segment, kind, n_values, value_start, values, table.shift,
        table.mask, table.n_rows,
    )  # fmt: skip


def prepare_table(table: Table | SparseTable, growth: Growth | None = None) -> None:
    """Compute what all trees share; all that trees may need if ``growth`` is not known."""
    if isinstance(table, SparseTable):
        _ = table.arrays
    elif growth is None:
        _ = table.records
    else:
        _columns(table, growth, table.n_features)


def _sorts_nodes(growth: Growth, n_candidates: int) -> bool:
    """Whether the records of a node are sorted when it is searched, as in ``small_node``."""
    plain = growth.splitter == "best" and growth.n_best == 1 and not growth.sorts
    return plain and 3 * (growth.max_features or n_candidates) <= n_candidates


def _wants_ranks_by_row(table: Table, growth: Growth) -> bool:
    """Whether small nodes read ranks of rows that are far apart."""
    few = growth.max_features is not None and 3 * growth.max_features <= table.n_features
    return table.ranks.nbytes >= _FAR_APART and (few or bool((table.kind != SORTED).sum() > 1))


def _criteria(
    growth: Growth, n_classes: int, whole: IntegerWeights, *, pairs: bool = False
) -> Integers:
    """The variant of the criterion for each tree; ``pairs`` as in :meth:`Trees.prepare`."""
    n_trees, total = len(whole.exact), whole.total
    if growth.criterion == "variance":
        return np.full(n_trees, criteria.VARIANCE)
    if growth.criterion == "error":
        return np.full(n_trees, criteria.ERROR)
    if growth.criterion == "entropy":
        tabled = whole.exact & (total < _MAX_TABLE)
        return np.where(tabled, criteria.ENTROPY_TABLE, criteria.ENTROPY)
    if n_classes == 2:
        return np.where(
            whole.exact, criteria.GINI_TWO, criteria.GINI_PAIR if pairs else criteria.GINI
        )
    packed = whole.exact & (total < (1 << 20 if n_classes == 3 else 1 << 16)) & (n_classes <= 4)
    return np.where(packed, criteria.GINI_FEW, criteria.GINI)


def _table(
    growth: Growth, n_classes: int, variants: Integers, whole: IntegerWeights
) -> npt.NDArray[Any]:
    """Multiples of logarithms; for random cuts, an empty array of the type of the nodes' sums."""
    if growth.splitter != "random":
        return _n_log_n(variants, whole)
    return np.zeros(0, np.uint32 if n_classes and whole.exact.all() else np.int64)


def _n_log_n(variants: Integers, whole: IntegerWeights) -> Floats:
    tabled = variants == criteria.ENTROPY_TABLE
    if not tabled.any():
        return np.zeros(0)
    n = np.arange(int(whole.total[tabled].max()) + 1, dtype=np.float64)
    n[1:] *= np.log2(n[1:])
    return n


def _limits(growth: Growth, variants: Integers, whole: IntegerWeights) -> Integers:
    """Minimum weights, tie tolerance and criterion variant of each tree."""
    # Rounding must not reject weights that are just large enough.
    unit = whole.unit * np.where(whole.exact, 1.0, 1.0 - 1e-9)
    tie = np.where(whole.exact, 0.0, _TIE * whole.total)
    # With the defaults even the lightest sample may become a leaf.
    leaf = 1.0 if growth.min_samples_leaf <= 1 else np.ceil(growth.min_samples_leaf * unit)
    leaf = np.maximum(leaf, np.ceil(growth.min_weight_fraction_leaf * whole.total * (1 - 1e-12)))
    split = 0.0 if growth.min_samples_split <= 2 else np.ceil(growth.min_samples_split * unit)
    ones = np.ones(len(unit))
    return np.column_stack([split * ones, leaf * ones, tie, variants]).astype(np.int64)


def _least_decrease(growth: Growth, whole: IntegerWeights, target_scale: Floats) -> Floats:
    if growth.min_impurity_decrease <= 0:
        # Splits without gain are made: a split below may gain.
        return np.full(len(whole.scale), -np.inf)
    least = growth.min_impurity_decrease * whole.total * (1.0 - 1e-12)
    return np.asarray(least * target_scale**2 if growth.criterion == "variance" else least)


def _settings(growth: Growth, n_classes: int, n_features: int) -> Integers:
    def limit(value: int | None) -> int:
        return NO_LIMIT if value is None else int(value)

    oblique = growth.splitter == "oblique"
    most = growth.max_features if oblique else min(growth.max_features or NO_LIMIT, n_features)
    n_combined = {"oblique": min(growth.n_combined, n_features), "linear": n_features}
    presorted = growth.splitter == "best" and not growth.sorts
    return np.array(
        [
            0, n_classes or 2, presorted, limit(growth.max_depth), limit(growth.max_leaf_nodes),
            most or n_features, growth.n_best, n_combined.get(growth.splitter, 0),
            growth.ties == "first", limit(growth.max_split_samples),
            round(1_000_000 * growth.deletion),
        ],
        dtype=np.int64,
    )  # fmt: skip


def _sparse_kernel(growth: Growth) -> Any:
    if growth.splitter == "random":
        return grow_random_sparse
    if growth.splitter != "best" or growth.sorts or growth.n_best > 1:
        raise ValueError(
            "X is sparse, and linear combinations, n_best and max_split_samples need dense data; "
            "pass X.toarray()."
        )
    return grow_sparse


def _kernel(growth: Growth, table: Table | SparseTable) -> Any:
    if isinstance(table, SparseTable):
        return _sparse_kernel(growth)
    if growth.splitter == "random":
        return grow_random
    if growth.splitter == "oblique":
        return grow_oblique
    if growth.sorts:
        return grow_sorting
    if growth.n_best > 1:
        return grow_among_best
    return grow_best_ordered if table.schema.all_ordered else grow_best


def grow_forest(
    table: Table | SparseTable,
    y: npt.NDArray[Any],
    *,
    n_classes: int,
    seeds: npt.NDArray[np.uint64],
    weights: npt.NDArray[Any] | None = None,
    n_samples: npt.ArrayLike | None = None,
    candidates: npt.NDArray[np.integer[Any]] | None = None,
    growth: Growth | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Forest:
    """Grow any number of trees from one table.

    Parameters
    ----------
    table : Table or SparseTable
        The features, prepared once.
    y : ndarray of shape (n_rows,) or (n_trees, n_rows)
        Class codes, or targets when ``n_classes`` is 0; one row for all trees or one each.
    n_classes : int
        Number of classes, 0 for regression.
    seeds : ndarray of uint64 of shape (n_trees,)
        One seed per tree.
    weights : ndarray of shape (n_rows,) or (n_trees, n_rows), optional
        Weights; 0 leaves a row out.
    n_samples : float or ndarray of shape (n_trees,), optional
        Number of samples that fractional weights stand for, copies included; by default the
        number of rows of positive weight.
    candidates : ndarray of shape (n_trees, n_candidates), optional
        Features that each tree may use; default: all.
    growth : Growth, optional
        How trees are grown.
    n_jobs : int, optional
        Threads. The result does not depend on it.
    progress : callable, optional
        Called with the number of trees of each finished block.

    Returns
    -------
    Forest
        The trees, in the order of the seeds.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.data import Table
    >>> from orfeon.growth import grow_forest
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> forest = grow_forest(
    ...     Table(X), np.array([0, 0, 1, 1]), n_classes=2, seeds=np.arange(3, dtype=np.uint64)
    ... )
    >>> forest.threshold[:1], forest.predict(X)
    (array([1.5]), array([0, 0, 1, 1]))
    """
    if growth is None:
        growth = Growth(criterion="gini" if n_classes else "variance")
    trees = Trees(table, y, n_classes, seeds, weights, n_samples, candidates, growth)

    def grow(block: slice) -> Forest:
        prepared = trees.prepare(block, pairs=growth.splitter == "best")
        starts, *grown = prepared.call(_kernel(growth, table))
        return prepared.forest(starts, grown)

    shares = max(len(trees.y), len(trees.weights)) == 1
    return grow_in_blocks(grow, len(seeds), n_jobs, progress, most=SHARING if shares else MOST)


@dataclass(frozen=True)
class Prepared:
    """The kernels' arguments for a block of trees, and how to read their results."""

    table: Table | SparseTable
    n_classes: int
    whole: IntegerWeights
    arguments: tuple[Any, ...]
    target_scale: Floats
    centre: Floats
    is_long: bool

    def call(self, kernel: Callable[..., Any], *more: Any) -> Any:
        """What a kernel returns for these trees; where that may take long, signals end it."""
        work = partial(kernel, *self.arguments, *more)
        settings = self.arguments[EACH_TREE.index("settings") - len(EACH_TREE)]
        return stoppable(work, settings) if self.is_long else work()

    def forest(self, starts: Integers, grown: list[Any]) -> Forest:
        """The forest that a kernel returned."""
        threshold, feature, first_child, n_children, missing, label, stats, spread = grown[:8]
        branches, term_start, term_feature, term_weight, used = grown[8:13]
        n = int(starts[-1])
        packed = np.empty(n, dtype=NODE)
        packed["threshold"] = threshold[:n]
        packed["feature"] = feature[:n]
        packed["first_child"] = first_child[:n]
        stats = stats[:n]
        sizes, ones = np.diff(starts), np.ones(len(starts) - 1)
        exact = self.whole.exact.all()
        scale = np.ones(1) if exact else np.repeat(self.whole.scale * ones, sizes)
        leaf_weight = leaf_impurity = None
        value: npt.NDArray[Any]
        if self.n_classes:
            value = _trimmed(grown[6], n, np.uint32) if exact else stats / scale[:, None]
        else:
            weight = stats[:, 0].astype(np.float64)
            is_leaf = n_children[:n] == 0
            counts = stats[is_leaf, 0].astype(np.uint32)
            leaf_weight = counts if exact else (weight / scale)[is_leaf]
            centre = np.repeat(self.centre * ones, sizes)
            target_scale = np.repeat(self.target_scale * ones, sizes)
            above = stats[:, 1] / weight / target_scale
            value = (centre + above)[:, None]
            variance = spread[:n][is_leaf] / weight[is_leaf]
            # Equal targets leave a rounding error around their mean, which counts as zero.
            rounding = (4 * np.finfo(np.float64).eps * np.abs(above[is_leaf])) ** 2
            leaf_impurity = without_zeros(np.where(variance > rounding, variance, 0.0))
        return Forest(
            tree_start=starts,
            nodes=packed,
            n_children=_trimmed(n_children, n),
            missing=_trimmed(missing, n),
            label=_trimmed(label, n if self.n_classes else 0),
            value=value,
            n_classes=self.n_classes,
            n_categories=self.table.schema.n_categories,
            branches=branches[: used[0]].copy(),
            projections=(
                term_start[: used[1] + 1].copy(),
                term_feature[: used[2]].copy(),
                term_weight[: used[2]].copy(),
            ),
            leaf_weight=leaf_weight,
            leaf_impurity=leaf_impurity,
        )


def _trimmed(array: npt.NDArray[Any], n: int, dtype: Any = None) -> npt.NDArray[Any]:
    """The first ``n`` entries; a view if that wastes little memory."""
    # For large forests, writing the pages of a copy takes as long as growing some of the trees.
    first = array[:n]
    return np.array(first, dtype, copy=None if 4 * n >= 3 * len(array) else True)


#: Arguments of the growing kernels after those of the features.
EACH_TREE = (
    "settings", "labels", "weights", "moments", "targets", "limits", "min_decrease", "seeds",
    "candidates", "table",
)  # fmt: skip


class Trees:
    """The table, targets, weights and limits of some trees, checked."""

    def __init__(
        self,
        table: Table | SparseTable,
        y: npt.NDArray[Any],
        n_classes: int,
        seeds: npt.NDArray[np.uint64],
        weights: npt.NDArray[Any] | None,
        n_samples: npt.ArrayLike | None,
        candidates: npt.NDArray[np.integer[Any]] | None,
        growth: Growth,
    ) -> None:
        self.table = table
        self.y = np.atleast_2d(y)
        self.n_classes = n_classes
        self.seeds = np.array(seeds, dtype=np.uint64)
        ones = np.ones((1, table.n_rows), np.int64)
        self.weights = ones if weights is None else np.atleast_2d(weights)
        for name, given in (("y", self.y), ("weights", self.weights)):
            if given.shape[1] != table.n_rows:  # kernels do not check bounds
                raise ValueError(
                    f"{name} has {given.shape[1]} values for a table of {table.n_rows} rows."
                )
        self.n_samples = None if n_samples is None else np.atleast_1d(n_samples)
        every = np.arange(table.n_features) if candidates is None else candidates
        self.candidates = np.atleast_2d(np.asarray(every, dtype=np.int64))
        self.growth = growth
        self.columns = _columns(table, growth, self.candidates.shape[1])

    def prepare(self, block: slice, *, pairs: bool = False) -> Prepared:
        """The kernels' arguments for a block of trees.

        With ``pairs``, two classes with fractional weights are scanned as targets 0 and 1; the
        kernel must not change the weights.
        """
        growth, n_classes = self.growth, self.n_classes
        seeds = self.seeds[block]
        many = None if self.n_samples is None else rows_of(self.n_samples, block)
        whole = integer_weights(rows_of(self.weights, block), many)
        variants = _criteria(growth, n_classes, whole, pairs=pairs)
        y = rows_of(self.y, block)
        labels, moments = np.zeros((1, 0), np.uint16), np.zeros((1, 0), np.int64)
        targets, target_scale, centre = np.zeros((1, 0)), np.ones(1), np.zeros(1)
        if n_classes:
            labels = np.array(y, dtype=np.uint16)
            if (variants == criteria.GINI_PAIR).any():
                moments = np.asarray(whole.weights * y, dtype=np.int64)
        else:
            fixed = fixed_targets(np.asarray(y, dtype=np.float64), whole)
            moments, targets = fixed.moments, fixed.targets
            target_scale, centre = fixed.scale, fixed.centre
        arguments = (
            *self.columns,
            _settings(growth, n_classes, self.table.n_features),
            labels,
            whole.weights,
            moments,
            targets,
            _limits(growth, variants, whole) * np.ones((len(seeds), 1), np.int64),
            _least_decrease(growth, whole, target_scale) * np.ones(len(seeds)),
            seeds,
            np.array(rows_of(self.candidates, block)),
            _table(growth, n_classes, variants, whole),
        )
        is_long = takes_long(self.table, block)
        return Prepared(self.table, n_classes, whole, arguments, target_scale, centre, is_long)


# -- weights and targets as integers: their sums are exact in any order of the rows ---------------


@dataclass(frozen=True)
class IntegerWeights:
    """Integer weights of some trees; ``scale`` times the given ones, ``unit`` for one sample."""

    weights: Integers
    scale: Floats
    unit: Floats
    exact: npt.NDArray[np.bool_]

    @property
    def total(self) -> Integers:
        """Sum of each tree's weights."""
        return np.asarray(self.weights.sum(axis=1))


def integer_weights(
    weights: npt.NDArray[Any], n_samples: npt.NDArray[np.float64] | None = None
) -> IntegerWeights:
    """Turn the weights of each tree into integers."""
    if weights.dtype.kind in "iu" and weights.max() < _MAX_COUNT:
        counts = np.array(weights, dtype=np.int64)
        if counts.sum(axis=1).max() < _MAX_COUNT:
            ones = np.ones(len(counts))
            return IntegerWeights(counts, ones, ones, np.ones(len(counts), dtype=bool))
    real = np.asarray(weights, dtype=np.float64)
    total = real.sum(axis=1)
    counted = (real == np.rint(real)).all(axis=1)
    exact = counted & (total < _MAX_COUNT)
    # Slightly more than the total, so that its last bits do not change the scale.
    scale = np.exp2(np.floor(np.log2(_FIXED_POINT / (total * (1 + 1e-9)))))
    scale = np.where(exact, 1.0, scale)
    fixed = np.rint(real * scale[:, None]).astype(np.int64)
    fixed[(fixed == 0) & (real > 0)] = 1  # rounded to zero, but present
    many = (real > 0).sum(axis=1) if n_samples is None else n_samples
    mean = np.where(counted, 1.0, total / many)
    return IntegerWeights(fixed, scale, mean * scale, exact)


@dataclass(frozen=True)
class FixedTargets:
    """Regression targets of some trees as fixed-point moments."""

    moments: Integers
    targets: Floats
    scale: Floats
    centre: Floats


def fixed_targets(y: Floats, whole: IntegerWeights) -> FixedTargets:
    """Weight times target as integers."""
    n_trees = max(len(y), len(whole.weights))
    y = np.broadcast_to(y, (n_trees, y.shape[1]))
    weights = np.broadcast_to(whole.weights, y.shape)
    moments, targets = np.empty(y.shape, np.int64), np.empty(y.shape)
    scales, centres = np.empty(n_trees), np.empty(n_trees)
    for t in range(n_trees):
        # The centre is one of the targets, so that integers stay integers.
        distinct = np.unique(y[t][weights[t] > 0])
        centres[t] = distinct[len(distinct) // 2]
        targets[t] = y[t] - centres[t]
        largest = float(max(distinct[-1] - centres[t], centres[t] - distinct[0])) or 1.0
        room = _MAX_MOMENT / (largest * float(weights[t].sum()))
        most = min(room, float(1 << 53) / largest, _MAX_SCALE)
        scales[t] = np.exp2(np.floor(np.log2(most)))
        if whole.exact[t if len(whole.exact) > 1 else 0]:
            fixed = np.rint(np.where(weights[t] > 0, targets[t], 0.0) * scales[t])
            moments[t] = weights[t] * fixed.astype(np.int64)
        else:
            moments[t] = np.rint(weights[t] * np.where(weights[t] > 0, targets[t], 0.0) * scales[t])
    return FixedTargets(moments, targets, scales, centres)
