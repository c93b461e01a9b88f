"""Growing trees from a prepared table: the engine's entry point for one tree or thousands.

Weights become integers before the kernels see them: counts stay counts, other weights become
fixed-point numbers of 52 bits. All sums are then exact, whatever the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

from orfeon.forest import NODE, Forest
from orfeon.kernels import criteria
from orfeon.kernels.block import grow_among_best, grow_best, grow_oblique, grow_random
from orfeon.kernels.grow import NO_LIMIT
from orfeon.table import Table

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Weights whose sum stays below this are used as they are when they are whole numbers.
_MAX_COUNT = 1 << 31
#: Sums of fixed-point weights stay below this, so that a float holds them exactly.
_FIXED_POINT = float(1 << 52)
#: Sums of fixed-point targets stay below this, in 64-bit integers.
_MAX_MOMENT = float(1 << 61)
#: Two fractional weights this close, relative to the whole, count as equal.
_TIE = 1e-13
#: Beyond this weight n log2 n is computed, not looked up.
_MAX_TABLE = 1 << 17


@dataclass(frozen=True)
class Growth:
    """How trees are grown.

    Parameters
    ----------
    criterion : {"gini", "entropy", "variance"}, default="gini"
        Impurity; "variance" for regression.
    splitter : {"best", "random", "oblique"}, default="best"
        The best split, the best of one random cut per attribute, or the best cut of random linear
        combinations of ``n_combined`` attributes.
    max_depth, max_leaf_nodes : int, optional
        Limits; with ``max_leaf_nodes`` the node of greatest decrease is split first.
    min_samples_split, min_samples_leaf : float, default=2 and 1
        Least weight of a node to be split, and of a leaf. Whole-number weights count as copies;
        others are taken relative to their mean.
    min_impurity_decrease : float, default=0.0
        Least weighted impurity decrease of a split.
    max_features : int, optional
        Attributes (or linear combinations) drawn at each node; all by default.
    n_best : int, default=1
        Each split is picked at random among this many best ones.
    n_combined : int, default=3
        Attributes in a linear combination.
    """

    criterion: Literal["gini", "entropy", "variance"] = "gini"
    splitter: Literal["best", "random", "oblique"] = "best"
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_impurity_decrease: float = 0.0
    max_features: int | None = None
    n_best: int = 1
    n_combined: int = 3


@dataclass(frozen=True)
class Whole:
    """Weights of some trees as integers.

    Parameters
    ----------
    weights : ndarray of int64 of shape (n_trees, n_rows)
        The integers.
    scale : ndarray of shape (n_trees,)
        What one unit of weight became.
    unit : ndarray of shape (n_trees,)
        The weight that counts as one example, in integer units.
    exact : bool
        Whether they are counts.
    """

    weights: Integers
    scale: Floats
    unit: Floats
    exact: bool


def whole_weights(weights: npt.NDArray[Any]) -> Whole:
    """Turn weights into integers whose sums are exact.

    Parameters
    ----------
    weights : ndarray of shape (n_trees, n_rows)
        Non-negative weights, at least one positive in each row.

    Returns
    -------
    Whole
        Counts as they are; other weights scaled to a total of about 2**52.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.growth import whole_weights
    >>> whole_weights(np.array([[2.0, 0.0, 1.0]])).weights
    array([[2, 0, 1]])
    """
    n_trees = len(weights)
    counts = weights.astype(np.int64)
    if weights.dtype.kind in "iu" or np.array_equal(counts, weights):
        if counts.sum(axis=1).max() < _MAX_COUNT:
            return Whole(counts, np.ones(n_trees), np.ones(n_trees), True)
    total = weights.sum(axis=1, dtype=np.float64)
    scale = np.exp2(np.floor(np.log2(_FIXED_POINT / total)))
    fixed = np.rint(weights * scale[:, None]).astype(np.int64)
    fixed[(fixed == 0) & (weights > 0)] = 1  # too small to weigh, but present
    unit = total / (weights > 0).sum(axis=1) * scale
    return Whole(fixed, scale, unit, False)


def _columns(table: Table) -> tuple[Any, ...]:
    return (
        table.records.ravel(), table.ranks.ravel(), table.segment, table.kind, table.n_values,
        table.value_start, table.values, table.shift, table.mask, table.n_rows,
    )  # fmt: skip


def _criterion(growth: Growth, n_classes: int, whole: Whole) -> int:
    """The variant of the criterion that fits the number of classes and the size of the weights."""
    if growth.criterion == "variance":
        return criteria.VARIANCE
    heaviest = int(whole.weights.sum(axis=1).max())
    if growth.criterion == "entropy":
        small = whole.exact and heaviest < _MAX_TABLE
        return criteria.ENTROPY_TABLE if small else criteria.ENTROPY
    if whole.exact and n_classes == 2:
        return criteria.GINI_TWO
    if whole.exact and n_classes <= 4 and heaviest < 1 << 16:
        return criteria.GINI_FEW
    return criteria.GINI


def _n_log_n(criterion: int, whole: Whole) -> Floats:
    if criterion != criteria.ENTROPY_TABLE:
        return np.zeros(0)
    n = np.arange(int(whole.weights.sum(axis=1).max()) + 1, dtype=np.float64)
    n[1:] *= np.log2(n[1:])
    return n


@dataclass(frozen=True)
class _Targets:
    """Centred regression targets as fixed-point moments."""

    moments: Integers
    targets: Floats
    scale: float
    centre: float


def _fixed_targets(y: Floats, whole: Whole) -> _Targets:
    """Weight times target as integers, so that sums do not depend on the order of the rows."""
    # Any number near the mean will do; one of the targets keeps whole numbers whole.
    centre = float(y.flat[np.argmin(np.abs(y - y.mean()))])
    centred = y - centre
    weights = whole.weights / whole.scale[:, None]
    largest = float(np.abs(centred).max()) or 1.0
    room = _MAX_MOMENT / (largest * float(weights.sum(axis=1).max()))
    scale = float(np.exp2(np.floor(np.log2(min(room, (1 << 53) / largest)))))
    if whole.exact:
        moments = whole.weights * np.rint(centred * scale).astype(np.int64)
    else:
        moments = np.rint(weights * centred * scale).astype(np.int64)
    return _Targets(np.atleast_2d(moments), np.atleast_2d(centred), scale, centre)


def _limits(growth: Growth, whole: Whole) -> Integers:
    slack = 1.0 if whole.exact else 1.0 - 1e-9  # rounding must not forbid what is just allowed
    tie = np.zeros(len(whole.scale)) if whole.exact else _TIE * whole.weights.sum(axis=1)
    least_leaf = np.maximum(np.ceil(growth.min_samples_leaf * whole.unit * slack), 1)
    least_split = np.ceil(growth.min_samples_split * whole.unit * slack)
    return np.column_stack([least_split, least_leaf, tie]).astype(np.int64)


def _least_decrease(growth: Growth, whole: Whole, moment_scale: float) -> Floats:
    if growth.min_impurity_decrease <= 0:
        # Splits without gain are made: they may open the way to one that has it.
        return np.full(len(whole.scale), -np.inf)
    total = whole.weights.sum(axis=1)
    least = growth.min_impurity_decrease * total.astype(np.float64)
    if growth.criterion == "variance":
        least *= (moment_scale / whole.scale) ** 2
    return least * (1.0 - 1e-12)


def _settings(growth: Growth, criterion: int, n_classes: int, n_attributes: int) -> Integers:
    def limit(value: int | None) -> int:
        return NO_LIMIT if value is None else int(value)

    oblique = growth.splitter == "oblique"
    most = growth.max_features if oblique else min(growth.max_features or NO_LIMIT, n_attributes)
    return np.array(
        [
            criterion, n_classes or 2, growth.splitter == "best", limit(growth.max_depth),
            limit(growth.max_leaf_nodes), most or n_attributes, growth.n_best,
            min(growth.n_combined, n_attributes) if oblique else 0,
        ],
        dtype=np.int64,
    )  # fmt: skip


def _kernel(growth: Growth) -> Callable[..., Any]:
    if growth.splitter == "random":
        return grow_random
    if growth.splitter == "oblique":
        return grow_oblique
    return grow_best if growth.n_best == 1 else grow_among_best


def _rows_of(array: npt.NDArray[Any], start: int, stop: int) -> npt.NDArray[Any]:
    """The trees' rows of an array that may have one row for all."""
    return array[start:stop] if len(array) > 1 else array


def grow_forest(
    table: Table,
    y: npt.NDArray[Any],
    *,
    n_classes: int,
    seeds: npt.NDArray[np.uint64],
    weights: npt.NDArray[Any] | None = None,
    candidates: npt.NDArray[np.integer[Any]] | None = None,
    growth: Growth | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Forest:
    """Grow any number of trees from one table.

    Parameters
    ----------
    table : Table
        The attributes, prepared once.
    y : ndarray of shape (n_rows,) or (n_trees, n_rows)
        Class codes, or targets when ``n_classes`` is 0; one row for all trees or one each.
    n_classes : int
        Number of classes, 0 for regression.
    seeds : ndarray of uint64 of shape (n_trees,)
        One seed for each tree; there are as many trees as seeds.
    weights : ndarray of shape (n_rows,) or (n_trees, n_rows), optional
        Weights; 0 leaves a row out.
    candidates : ndarray of shape (n_trees, n_candidates), optional
        Attributes that each tree may use; all by default.
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
    >>> from orfeon.growth import grow_forest
    >>> from orfeon.table import Table
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> forest = grow_forest(
    ...     Table(X), np.array([0, 0, 1, 1]), n_classes=2, seeds=np.arange(3, dtype=np.uint64)
    ... )
    >>> forest.threshold[:1], forest.predict(X)
    (array([1.5]), array([0, 0, 1, 1]))
    """
    if growth is None:
        growth = Growth(criterion="gini" if n_classes else "variance")
    n_trees = len(seeds)
    if candidates is None:
        candidates = np.arange(table.n_attributes)
    y = np.atleast_2d(y)
    weights = np.ones((1, table.n_rows), np.int64) if weights is None else np.atleast_2d(weights)
    candidates = np.atleast_2d(np.asarray(candidates, dtype=np.int64))
    size = _block_size(n_trees, n_jobs)
    blocks = [(start, min(start + size, n_trees)) for start in range(0, n_trees, size)]

    def grow(start: int, stop: int) -> Forest:
        forest = _grow_block(
            table, _rows_of(y, start, stop), _rows_of(weights, start, stop),
            _rows_of(candidates, start, stop), seeds[start:stop], n_classes, growth,
        )  # fmt: skip
        if progress is not None:
            progress(stop - start)
        return forest

    if len(blocks) == 1 or n_jobs in (None, 1):
        return Forest.concatenate([grow(*block) for block in blocks])
    forests = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(grow)(*b) for b in blocks)
    return Forest.concatenate(forests)


def _block_size(n_trees: int, n_jobs: int | None) -> int:
    """Trees in a block: enough to make the call cheap, few enough to share them out evenly."""
    if n_jobs in (None, 1):
        return 64
    return max(1, min(64, n_trees // 16))


def _grow_block(
    table: Table,
    y: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    candidates: Integers,
    seeds: npt.NDArray[np.uint64],
    n_classes: int,
    growth: Growth,
) -> Forest:
    whole = whole_weights(weights)
    criterion = _criterion(growth, n_classes, whole)
    if n_classes:
        labels = np.ascontiguousarray(y, dtype=np.uint16)
        moments, targets, moment_scale, centre = np.zeros((1, 0), np.int64), np.zeros((1, 0)), 1.0, 0.0
    else:
        labels = np.zeros((1, 0), np.uint16)
        fixed = _fixed_targets(np.asarray(y, dtype=np.float64), whole)
        moments, targets, moment_scale, centre = fixed.moments, fixed.targets, fixed.scale, fixed.centre
    many = np.ones(len(seeds))
    starts, *grown = _kernel(growth)(
        *_columns(table), _settings(growth, criterion, n_classes, table.n_attributes),
        labels, whole.weights, moments, targets,
        np.ascontiguousarray(np.broadcast_to(_limits(growth, whole), (len(seeds), 3))),
        _least_decrease(growth, whole, moment_scale) * many,
        np.ascontiguousarray(seeds, dtype=np.uint64), candidates, _n_log_n(criterion, whole),
    )  # fmt: skip
    n = int(starts[-1])
    scale = np.repeat(whole.scale * many, np.diff(starts))
    return _to_forest(table, starts, grown, n, n_classes, scale, moment_scale, centre, whole.exact)


def _to_forest(
    table: Table, starts: Integers, grown: list[Any], n: int, n_classes: int,
    scale: Floats, moment_scale: float, centre: float, exact: bool,
) -> Forest:  # fmt: skip
    """Pack what the kernels grew."""
    threshold, attribute, first_child, n_children, missing, label, stats, spread, *arenas = grown
    branches, term_start, term_attribute, term_weight, used = arenas
    packed = np.empty(n, dtype=NODE)
    packed["threshold"] = threshold[:n]
    packed["attribute"] = attribute[:n]
    packed["first_child"] = first_child[:n]
    stats = stats[:n]
    node_weight = impurity = None
    value: npt.NDArray[Any]
    if n_classes:
        value = stats.astype(np.uint32) if exact else stats / scale[:, None]
    else:
        weight = stats[:, 0].astype(np.float64)
        node_weight = weight / scale
        value = (centre + stats[:, 1] / moment_scale / node_weight)[:, None]
        impurity = spread[:n] / weight
    return Forest(
        tree_start=starts,
        nodes=packed,
        n_children=n_children[:n].copy(),
        missing=missing[:n].copy(),
        label=label[:n].copy(),
        value=value,
        n_classes=n_classes,
        n_categories=table.schema.n_categories,
        branches=branches[: used[0]].copy(),
        projections=(
            term_start[: used[1] + 1].copy(),
            term_attribute[: used[2]].copy(),
            term_weight[: used[2]].copy(),
        ),
        node_weight=node_weight,
        impurity=impurity,
    )
