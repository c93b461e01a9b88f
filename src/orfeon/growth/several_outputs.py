"""Growing trees of several outputs.

A tree of several outputs is a forest of numbers with several values in each leaf: the mean of each
output, or the shares of the classes of each output, one output after the other. Its impurity is
summed over the outputs; the Gini index of classes is the summed variance of their indicators.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.presorted import Table
from orfeon.data.sparse import SparseTable
from orfeon.forest import NODE, Forest, without_zeros
from orfeon.growth.blocks import takes_long
from orfeon.growth.engine import (
    Growth,
    IntegerWeights,
    _columns,
    _limits,
    _settings,
    integer_weights,
)
from orfeon.kernels.cart import criteria
from orfeon.kernels.cart.several_outputs import grow_outputs
from orfeon.kernels.cart.sparse_outputs import grow_sparse_outputs
from orfeon.utils.interruption import stoppable
from orfeon.utils.types import Floats, Integers

#: Sums of fixed-point targets stay below this, in 64-bit integers.
_MAX_MOMENT = float(1 << 61)


def grow_several_outputs(
    table: Any,
    y: npt.NDArray[Any],
    *,
    n_classes: tuple[int, ...],
    seeds: npt.NDArray[np.uint64],
    weights: npt.NDArray[Any],
    n_samples: float,
    candidates: npt.NDArray[np.integer[Any]] | None,
    growth: Growth,
) -> Forest:
    """Grow trees of several outputs from one table."""
    _check(table, growth)
    outputs = _Outputs(y[0], n_classes)
    every = np.arange(table.n_features) if candidates is None else candidates
    candidates = np.atleast_2d(np.asarray(every, dtype=np.int64))
    whole = integer_weights(weights, np.atleast_1d(n_samples))
    scale = outputs.scale(whole)
    variants = np.full(len(whole.exact), criteria.VARIANCE)
    settings = _settings(growth, 1 + outputs.n_values, table.n_features)
    ones = np.ones((len(seeds), 1))
    least = np.full(len(seeds), -np.inf)
    if growth.min_impurity_decrease > 0:
        total = whole.total * (1.0 - 1e-12) * outputs.n_outputs
        least = growth.min_impurity_decrease * total * scale**2 * np.ones(len(seeds))
    is_entropy = growth.criterion == "entropy"
    arguments = (
        *_columns(table, _presorted(growth), candidates.shape[1]), settings, outputs.labels,
        whole.weights, outputs.moments(whole, scale), outputs.targets,
        (_limits(growth, variants, whole) * ones).astype(np.int64), least,
        np.array(seeds, dtype=np.uint64), candidates,
        np.array([outputs.n_outputs, is_entropy, growth.splitter == "random"], dtype=np.float64),
    )  # fmt: skip

    grow = grow_sparse_outputs if isinstance(table, SparseTable) else grow_outputs

    def work() -> Any:
        return grow(*arguments)

    is_long = takes_long(table, slice(0, len(seeds)))
    starts, *grown = stoppable(work, settings) if is_long else work()
    return _forest(table, outputs, whole, scale, starts, grown)


def _presorted(growth: Growth) -> Growth:
    """Random cuts read the same table as the best ones."""
    from dataclasses import replace

    return replace(growth, splitter="best")


def _check(table: Any, growth: Growth) -> None:
    if table.schema.n_categories.any():
        raise ValueError(
            "y has several outputs, but categories are split by their order in one output: encode "
            "categorical features as numbers, or fit an estimator for each output."
        )
    is_plain = growth.splitter in ("best", "random") and growth.n_best == 1 and not growth.sorts
    if not is_plain or growth.criterion == "error":
        raise ValueError(
            'y has several outputs: criterion="error", n_best, max_split_samples and linear '
            "combinations need one output."
        )


class _Outputs:
    """The outputs of the training samples, as the kernel takes them."""

    def __init__(self, y: npt.NDArray[Any], n_classes: tuple[int, ...]) -> None:
        self.n_classes = n_classes
        self.n_outputs = y.shape[1]
        self.n_values = sum(n_classes) or self.n_outputs
        self.labels = np.zeros((1, 0, 0), np.uint16)
        self.targets = np.zeros((1, 0, 0))
        self.centre = np.zeros(self.n_values)
        if n_classes:
            first = np.cumsum([0, *n_classes[:-1]])
            self.labels = np.ascontiguousarray((y + first)[None], dtype=np.uint16)
        else:
            self.centre = np.median(y, axis=0)
            self.targets = np.ascontiguousarray((y - self.centre)[None])

    def scale(self, whole: IntegerWeights) -> float:
        """Units of the moments in one unit of the targets; the same for all outputs."""
        if self.n_classes:
            return 1.0
        largest = float(np.abs(self.targets).max()) or 1.0
        room = _MAX_MOMENT / (largest * float(whole.total.max()))
        return float(np.exp2(np.floor(np.log2(min(room, float(1 << 53) / largest, 2.0**1023)))))

    def moments(self, whole: IntegerWeights, scale: float) -> Integers:
        if self.n_classes:
            return np.zeros((1, 0, 0), np.int64)
        if whole.exact.all():
            fixed = np.rint(self.targets * scale).astype(np.int64)
            return np.asarray(whole.weights[:, :, None] * fixed)
        return np.rint(whole.weights[:, :, None] * (self.targets * scale)).astype(np.int64)


def _forest(
    table: Table | SparseTable, outputs: _Outputs, whole: IntegerWeights, scale: float,
    starts: Integers, grown: list[Any],
) -> Forest:  # fmt: skip
    threshold, feature, first_child, n_children, missing, _, stats, spread = grown[:8]
    n = int(starts[-1])
    packed = np.empty(n, dtype=NODE)
    packed["threshold"] = threshold[:n]
    packed["feature"] = feature[:n]
    packed["first_child"] = first_child[:n]
    weight = stats[:n, 0].astype(np.float64)
    value = stats[:n, 1:] / weight[:, None] / scale + outputs.centre
    is_leaf = n_children[:n] == 0
    if outputs.n_classes:
        impurity = gini_of_outputs(value, outputs.n_outputs)[is_leaf]
    else:
        impurity = _variances(value, spread[:n], weight, outputs.centre)[is_leaf]
    sizes = np.diff(starts)
    unit = np.repeat(whole.scale * np.ones(len(starts) - 1), sizes)
    exact = bool(whole.exact.all())
    leaf_weight = stats[:n, 0].astype(np.uint32) if exact else weight / unit
    return Forest(
        tree_start=starts,
        nodes=packed,
        n_children=n_children[:n].copy(),
        missing=missing[:n].copy(),
        label=np.zeros(0, np.int32),
        value=value,
        n_classes=0,
        n_categories=table.schema.n_categories,
        leaf_weight=leaf_weight[is_leaf],
        leaf_impurity=without_zeros(impurity),
    )


def _variances(value: Floats, spread: Floats, weight: Floats, centre: Floats) -> Floats:
    """Variances summed over the outputs; rounding errors around the mean count as zero."""
    variance = spread / weight
    rounding = ((4 * np.finfo(np.float64).eps * np.abs(value - centre)) ** 2).sum(axis=1)
    return np.asarray(np.where(variance > rounding, variance, 0.0))


def gini_of_outputs(shares: Floats, n_outputs: int) -> Floats:
    """Gini indices of nodes, summed over the outputs."""
    gini = n_outputs - (shares**2).sum(axis=1)
    return np.asarray(np.where(gini > 1e-12, gini, 0.0))
