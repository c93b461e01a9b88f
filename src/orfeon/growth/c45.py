"""Growing any number of C4.5 trees from a prepared table.

Integer weights count as copies of a sample. Other weights are taken relative to their mean, so that
``min_samples_leaf`` and the pessimistic errors are in units of samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from orfeon.data.presorted import Table
from orfeon.data.sorting import CATEGORICAL, COUNTED
from orfeon.forest import NODE, Forest
from orfeon.growth.blocks import grow_in_blocks, rows_of, takes_long
from orfeon.kernels.c45.grow_batch import Kept, PruningOptions, evaluate_root, grow_c45_block
from orfeon.kernels.c45.information import GRAINS
from orfeon.kernels.c45.prune import Limit, extra_errors
from orfeon.kernels.c45.records import FEATURE, Columns, Rules
from orfeon.utils.interruption import stoppable
from orfeon.utils.jit import kernel_view

#: n ln n is looked up below this weight and computed above.
_MAX_TABLE = 1 << 17
#: Integer weights count as copies if their sum is below this.
_MAX_COUNT = 1 << 31
#: No limit on depth.
_NO_LIMIT = 1 << 40
#: C4.5's table of normal deviates by confidence.
_CONFIDENCES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATES = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)

# Kernels are not typed.
_grow_block: Callable[..., Any] = grow_c45_block
_evaluate_root: Callable[..., Any] = evaluate_root
_extra_errors: Callable[..., Any] = extra_errors

_prepared: WeakKeyDictionary[Table, Columns] = WeakKeyDictionary()


@dataclass(frozen=True)
class C45Growth:
    """How C4.5 trees are grown and pruned.

    Parameters
    ----------
    min_samples_leaf : float, default=2
        Minimum weight of at least two branches of a test.
    gain_ratio : bool, default=True
        Whether the gain ratio decides among the tests of at least average gain; otherwise the gain.
    mdl_penalty : bool, default=True
        Whether the gain of a threshold pays for choosing it among many.
    grouping : bool, default=False
        Whether categories are grouped into few branches; otherwise each has its own.
    collapse : bool, default=True
        Whether a subtree that makes no fewer training errors than a leaf becomes one.
    pruning : bool, default=True
        Whether trees are pruned by their pessimistic errors.
    confidence : float, default=0.25
        Confidence of the pessimistic errors; lower values prune more.
    error_limit : {"table", "normal"}, default="table"
        The normal deviate: interpolated in C4.5's own table, or exact (as in Weka's J48).
    subtree_raising : bool, default=True
        Whether pruning may replace a node by its largest branch.
    max_depth : int, optional
        Maximum depth.
    max_features : int, optional
        Features drawn at each node; default: all.
    random_ties : bool, default=False
        Whether features are tried in random order, so that equal tests are chosen at random;
        otherwise the first feature wins.
    """

    min_samples_leaf: float = 2
    gain_ratio: bool = True
    mdl_penalty: bool = True
    grouping: bool = False
    collapse: bool = True
    pruning: bool = True
    confidence: float = 0.25
    error_limit: Literal["table", "normal"] = "table"
    subtree_raising: bool = True
    max_depth: int | None = None
    max_features: int | None = None
    random_ties: bool = False


def _sorted_columns(table: Table) -> Columns:
    """Sorted records of every ordered feature, also of those with few values."""
    columns = _prepared.get(table)
    if columns is not None:
        return columns
    ordered = np.flatnonzero(table.kind != CATEGORICAL)
    segment = np.full(table.n_features, -1, np.int64)
    segment[ordered] = np.arange(len(ordered))
    records = np.empty((len(ordered), table.n_rows), table.records.dtype)
    for place, f in enumerate(ordered):
        if table.kind[f] == COUNTED:
            order = np.argsort(table.ranks[f], kind="stable")
            ranks = table.ranks[f][order].astype(records.dtype)
            records[place] = (ranks << table.shift) | order.astype(records.dtype)
        else:
            records[place] = table.records[table.segment[f]]
    features = np.empty(table.n_features, FEATURE)
    features["segment"] = segment
    features["n_values"] = table.n_values
    features["value_start"] = table.value_start[:-1]
    features["has_missing"] = (table.ranks == table.n_values[:, None]).any(axis=1)
    columns = Columns(
        features, records.ravel(), kernel_view(table.ranks).ravel(), kernel_view(table.values),
        table.shift, table.mask, table.n_rows,
    )  # fmt: skip
    _prepared[table] = columns
    return columns


def upper_limit(confidence: float, error_limit: Literal["table", "normal"] = "table") -> Limit:
    if error_limit == "normal":
        deviate = max(-float(ndtri(confidence)), 0.0)
        return Limit(confidence, deviate**2, 1.0)
    deviate = float(np.interp(confidence, _CONFIDENCES, _DEVIATES))
    return Limit(confidence, deviate**2, 0.67)


def _rules(growth: C45Growth, n_classes: int, n_candidates: int) -> Rules:
    most = min(growth.max_features or n_candidates, n_candidates)
    return Rules(
        n_classes, float(growth.min_samples_leaf), growth.gain_ratio, growth.mdl_penalty,
        growth.grouping, growth.random_ties or most < n_candidates, most,
        _NO_LIMIT if growth.max_depth is None else int(growth.max_depth), np.zeros(1, np.int64),
    )  # fmt: skip


def sample_units(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Weight of one sample in each tree: 1 where weights are counts, otherwise their mean."""
    total = weights.sum(axis=1)
    counts = (weights == np.floor(weights)).all(axis=1) & (total < _MAX_COUNT)
    mean = total / np.maximum((weights > 0).sum(axis=1), 1)
    return np.where(counts, 1.0, mean)


def count_samples(weights: npt.NDArray[np.float64], in_samples: bool = False) -> Any:
    """One tree's weights in units of samples, as it counts them; sums are exact in any order.

    ``in_samples`` says that they are in these units already.
    """
    unit = 1.0 if in_samples else float(sample_units(weights[None])[0])
    if unit == 1.0 and (weights == np.floor(weights)).all():
        return weights
    return np.maximum(np.floor(weights / unit * GRAINS + 0.5), weights > 0) / GRAINS


def _n_ln_n(weights: npt.NDArray[np.float64], units: npt.NDArray[np.float64]) -> Any:
    counted = weights[units == 1.0]
    most = int(counted.sum(axis=1).max()) if len(counted) else 0
    n = np.arange(most + 1 if most < _MAX_TABLE else 1, dtype=np.float64)
    n[1:] *= np.log(n[1:])
    return n


def grow_c45(
    table: Table,
    y: npt.NDArray[np.integer[Any]],
    *,
    n_classes: int,
    seeds: npt.NDArray[np.uint64],
    weights: npt.NDArray[Any] | None = None,
    units: npt.NDArray[np.float64] | None = None,
    candidates: npt.NDArray[np.integer[Any]] | None = None,
    growth: C45Growth | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Forest:
    """Grow any number of C4.5 trees from one table.

    Parameters
    ----------
    table : Table
        The features, prepared once.
    y : ndarray of shape (n_rows,) or (n_trees, n_rows)
        Class codes; one row for all trees or one each.
    n_classes : int
        Number of classes.
    seeds : ndarray of uint64 of shape (n_trees,)
        One seed per tree.
    weights : ndarray of shape (n_rows,) or (n_trees, n_rows), optional
        Weights; 0 leaves a row out.
    units : ndarray of shape (1,) or (n_trees,), optional
        Weight of one sample in each tree; default: 1 if weights are integers, otherwise the mean
        of the positive ones.
    candidates : ndarray of shape (n_trees, n_candidates), optional
        Features that each tree may use; default: all.
    growth : C45Growth, optional
        How trees are grown and pruned.
    n_jobs : int, optional
        Threads. The result does not depend on it.
    progress : callable, optional
        Called with the number of trees of each finished block.

    Returns
    -------
    Forest
        The trees, in the order of the seeds. A leaf that no sample reached holds its parent's
        class weights, scaled to almost zero.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.data import Table
    >>> from orfeon.growth import grow_c45
    >>> X = np.array([[0.0], [1.0], [2.0], [4.0]])
    >>> forest = grow_c45(
    ...     Table(X), np.array([0, 0, 1, 1]), n_classes=2, seeds=np.arange(3, dtype=np.uint64)
    ... )
    >>> forest.threshold[:1], forest.predict(X)
    (array([1.]), array([0, 0, 1, 1]))
    """
    growth = C45Growth() if growth is None else growth
    labels = _as_rows(y, np.uint16)
    weights = _as_rows(np.ones(table.n_rows) if weights is None else weights, np.float64)
    if candidates is None:
        candidates = np.arange(table.n_features)
    candidates = _as_rows(candidates, np.int64)
    seeds = kernel_view(np.ascontiguousarray(seeds, dtype=np.uint64))
    options = PruningOptions(growth.collapse, growth.pruning, growth.subtree_raising)
    limit = upper_limit(growth.confidence, growth.error_limit)
    columns = _sorted_columns(table)

    def grow(block: slice) -> Forest:
        part = rows_of(weights, block)
        size = sample_units(part) if units is None else rows_of(units, block)
        rules = _rules(growth, n_classes, candidates.shape[1])
        call = partial(
            _grow_block, columns, rules, options, limit, rows_of(labels, block), part, size,
            seeds[block], rows_of(candidates, block), _n_ln_n(part, size),
        )  # fmt: skip
        is_long = takes_long(table, block)
        starts, kept, n_branches = stoppable(call, rules.stop) if is_long else call()
        return _to_forest(table, starts, kept, n_branches, n_classes)

    return grow_in_blocks(grow, len(seeds), n_jobs, progress)


def pessimistic_errors(
    weight: float,
    errors: float,
    confidence: float = 0.25,
    error_limit: Literal["table", "normal"] = "table",
) -> float:
    """Errors expected in a leaf among as many new samples as it was trained on."""
    limit = upper_limit(confidence, error_limit)
    return errors + float(_extra_errors(float(weight), float(errors), limit))


@dataclass(frozen=True)
class RootTests:
    """C4.5's evaluation of each feature at the root."""

    gain: npt.NDArray[np.float64]
    split_information: npt.NDArray[np.float64]
    threshold: npt.NDArray[np.float64]
    chosen: int

    @property
    def gain_ratio(self) -> npt.NDArray[np.float64]:
        """Gain divided by split information."""
        return self.gain / self.split_information


def evaluate_root_tests(
    table: Table,
    y: npt.NDArray[np.integer[Any]],
    *,
    n_classes: int,
    weights: npt.NDArray[Any] | None = None,
    growth: C45Growth | None = None,
) -> RootTests:
    """Gain and split information of every feature at the root of a tree."""
    growth = C45Growth() if growth is None else growth
    weights = _as_rows(np.ones(table.n_rows) if weights is None else weights, np.float64)
    units = sample_units(weights)
    thresholds = np.full(table.n_features, np.nan)
    rules = _rules(
        replace(growth, random_ties=False, max_features=None), n_classes, table.n_features
    )
    tests, chosen = _evaluate_root(
        _sorted_columns(table), rules, _as_rows(y, np.uint16)[0], weights[0], units[0],
        _n_ln_n(weights, units), thresholds,
    )  # fmt: skip
    found = tests["info"] > 0
    return RootTests(
        np.where(found, tests["gain"], np.nan),
        np.where(found, tests["info"], np.nan),
        thresholds,
        int(chosen),
    )


def _as_rows(array: npt.NDArray[Any], dtype: type[Any]) -> npt.NDArray[Any]:
    """An array with one row for all trees or one per tree, contiguous and writable."""
    return kernel_view(np.ascontiguousarray(np.atleast_2d(array), dtype=dtype))


def _to_forest(
    table: Table, starts: npt.NDArray[np.int64], kept: Kept, n_branches: int, n_classes: int
) -> Forest:
    n = int(starts[-1])
    finished = kept.nodes[:n]
    nodes = np.empty(n, dtype=NODE)
    for name in NODE.names or ():
        nodes[name] = finished[name]
    return Forest(
        tree_start=starts,
        nodes=nodes,
        n_children=finished["n_children"].copy(),
        missing=finished["missing"].copy(),
        label=finished["label"].copy(),
        value=kept.value[:n].copy(),
        n_classes=n_classes,
        n_categories=table.schema.n_categories,
        branches=kept.branches[:n_branches].copy(),
    )
