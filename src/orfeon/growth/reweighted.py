"""Growing one tree after another from one table, with new weights each time.

The preparation that :func:`orfeon.growth.grow_forest` does for each block is done once here: for a
boosted tree of a few nodes it takes longer than growing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.presorted import Table
from orfeon.forest import NODE, Forest
from orfeon.growth.engine import (
    _FIXED_POINT,
    _TIE,
    EACH_TREE,
    Growth,
    IntegerWeights,
    Trees,
    _criteria,
    _kernel,
    _least_decrease,
    _limits,
    _table,
    integer_weights,
)
from orfeon.kernels.routing import route
from orfeon.utils.types import Floats

#: Positions of the kernel arguments that change from tree to tree, from the end.
_LABELS, _WEIGHTS, _MOMENTS, _LIMITS, _DECREASE, _SEEDS, _TABLE = (
    EACH_TREE.index(name) - len(EACH_TREE)
    for name in ("labels", "weights", "moments", "limits", "min_decrease", "seeds", "table")
)

#: Sums of weights up to this can be scaled to 2**52 by a power of two.
_MANY = 2.0**500
_NOT_EXACT = np.zeros(1, dtype=bool)


class ReweightedTrees:
    """Classification trees that differ in their weights and possibly in their labels."""

    def __init__(self, table: Table, n_classes: int, growth: Growth) -> None:
        self.table = table
        self.n_classes = n_classes
        self.growth = growth
        self._n_categories = table.schema.n_categories
        self._kernel = _kernel(growth, table)
        seeds = np.zeros(1, np.uint64)
        labels = np.zeros(table.n_rows, np.int64)
        trees = Trees(table, labels, n_classes, seeds, None, None, None, growth)
        self._arguments = list(trees.prepare(slice(0, 1)).arguments)
        self._labels: npt.NDArray[Any] = labels
        self._is_pair = n_classes == 2 and growth.criterion == "gini" and growth.splitter == "best"
        self._leaves: npt.NDArray[np.uint32] | None = None
        self._known: dict[int, tuple[Any, Any, Any]] = {}

    def grow(self, labels: npt.NDArray[Any], weights: npt.NDArray[Any], seed: np.uint64) -> Forest:
        if not len(labels) == len(weights) == self.table.n_rows:
            raise ValueError(
                f"labels and weights have {len(labels)} and {len(weights)} values for a table of "
                f"{self.table.n_rows} rows."
            )
        if labels is not self._labels:
            self._labels = labels
            self._arguments[_LABELS] = np.array(labels, dtype=np.uint16)[None]
        whole = self._whole(weights)
        arguments = self._arguments
        arguments[_WEIGHTS] = whole.weights
        if self._is_pair and not whole.exact[0]:
            arguments[_MOMENTS] = whole.weights * self._labels
        arguments[_LIMITS], arguments[_DECREASE], arguments[_TABLE] = self._settings(whole)
        arguments[_SEEDS] = np.array([seed], dtype=np.uint64)
        starts, *grown = self._kernel(*arguments)
        return self._forest(starts, grown, whole)

    def votes(self, tree: Forest, X: Floats) -> npt.NDArray[np.int32]:
        """Class codes that a tree predicts for rows without missing values."""
        if self._leaves is None or len(self._leaves) != len(X):
            self._leaves = np.empty((len(X), 1), np.uint32)
        route.apply_plain(*tree._words(), tree.tree_start, X, self._leaves)
        return np.asarray(tree.label[self._leaves[:, 0]])

    def _whole(self, weights: npt.NDArray[Any]) -> IntegerWeights:
        """``integer_weights`` of one tree, with a fast path for fractional weights."""
        n_rows = len(weights)
        total = float(weights.sum())
        if weights.dtype.kind != "f" or not 0 < total < _MANY:
            return integer_weights(weights[None], np.array([float(n_rows)]))
        # The largest power of two that keeps the sum below 2**52.
        _, exponent = math.frexp(_FIXED_POINT / (total * (1 + 1e-9)))
        scale = math.ldexp(1.0, exponent - 1)
        fixed = np.rint(weights * scale).astype(np.int64)
        if not fixed.all():
            fixed[(fixed == 0) & (weights > 0)] = 1
        return IntegerWeights(
            fixed[None], np.array([scale]), np.array([total / n_rows * scale]), _NOT_EXACT
        )

    def _settings(self, whole: IntegerWeights) -> tuple[Any, Any, Any]:
        """Limits, minimum decrease and table of logarithms, cached by the sum of the counts."""
        # For fractional weights only the tie tolerance depends on the sum, unless limits are set.
        exact = bool(whole.exact[0])
        total = int(whole.weights.sum()) if exact else whole.unit[0] * self.table.n_rows
        key = int(total) if exact else -1
        known = self._known.get(key)
        if known is None:
            variants = _criteria(self.growth, self.n_classes, whole, pairs=self._is_pair)
            known = (
                _limits(self.growth, variants, whole),
                _least_decrease(self.growth, whole, np.ones(1)),
                _table(self.growth, self.n_classes, variants, whole),
            )
            if exact or self._has_no_limits:
                self._known[key] = known
        if not exact:
            known[0][0, 2] = int(_TIE * total)
        return known

    @property
    def _has_no_limits(self) -> bool:
        growth = self.growth
        return (
            growth.min_samples_leaf <= 1
            and growth.min_samples_split <= 2
            and growth.min_weight_fraction_leaf == 0
            and growth.min_impurity_decrease <= 0
        )

    def _forest(
        self, starts: npt.NDArray[np.int64], grown: list[Any], whole: IntegerWeights
    ) -> Forest:
        """Like ``Prepared.forest``, for one classification tree."""
        threshold, feature, first_child, n_children, missing, label, stats = grown[:7]
        branches, term_start, term_feature, term_weight, used = grown[8:13]
        n = int(starts[-1])
        nodes = np.empty(n, dtype=NODE)
        nodes["threshold"] = threshold[:n]
        nodes["feature"] = feature[:n]
        nodes["first_child"] = first_child[:n]
        exact = whole.exact[0]
        value = stats[:n].astype(np.uint32) if exact else stats[:n] / whole.scale[0]
        return Forest(
            starts, nodes, n_children[:n].copy(), missing[:n].copy(), label[:n].copy(), value,
            self.n_classes, self._n_categories, branches[: used[0]].copy(),
            (
                term_start[: used[1] + 1].copy(),
                term_feature[: used[2]].copy(),
                term_weight[: used[2]].copy(),
            ),
        )  # fmt: skip
