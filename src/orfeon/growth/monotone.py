"""Growing trees whose predictions rise or fall with some features.

As in scikit-learn, the mean target, or the share of the second of two classes, is constrained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.presorted import Table
from orfeon.forest import Forest
from orfeon.growth.blocks import grow_in_blocks
from orfeon.growth.engine import EACH_TREE, Growth, Trees
from orfeon.kernels.cart.monotone import grow_bounded
from orfeon.utils.types import Floats, Integers

#: Bounds of shares are multiples of this, so that a leaf's class weights can have any as share.
_SHARE = 2.0**-21
#: Leaf weights keep so many bits where shares are moved.
_WEIGHT_BITS = 31
_TABLE = EACH_TREE.index("table") - len(EACH_TREE)


def grow_monotone(
    table: Any,
    y: npt.NDArray[Any],
    signs: Integers,
    *,
    n_classes: int,
    seeds: npt.NDArray[np.uint64],
    weights: npt.NDArray[Any],
    n_samples: npt.ArrayLike | None,
    candidates: npt.NDArray[np.integer[Any]] | None,
    growth: Growth,
    n_jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Forest:
    """Grow trees with constrained features from one table."""
    _check(table, n_classes, growth)
    is_random = growth.splitter == "random"
    # Random cuts read the same table as the best ones.
    growth = replace(growth, splitter="best")
    trees = Trees(table, y, n_classes, seeds, weights, n_samples, candidates, growth)

    def grow(block: slice) -> Forest:
        prepared = trees.prepare(block)
        arguments = list(prepared.arguments)
        arguments[_TABLE] = np.concatenate(
            [[float(is_random)], signs.astype(np.float64), np.zeros(2 * table.n_rows + 2)]
        )
        starts, *grown = replace(prepared, arguments=tuple(arguments)).call(grow_bounded)
        forest = prepared.forest(starts, grown)
        return forest if n_classes == 1 else within_bounds(forest, signs)

    return grow_in_blocks(grow, len(seeds), n_jobs, progress)


def _check(table: Any, n_classes: int, growth: Growth) -> None:
    if n_classes > 2:
        # scikit-learn's tests look for the first words.
        raise ValueError(
            "Monotonicity constraints are not supported with multiclass classification, but y has "
            f"{n_classes} classes; use monotonic_cst=None."
        )
    if not isinstance(table, Table):
        raise ValueError("X is sparse, and monotonic_cst needs dense data; pass X.toarray().")
    if growth.splitter not in ("best", "random") or growth.n_best > 1 or growth.sorts:
        raise ValueError(
            "monotonic_cst excludes linear combinations, n_best and max_split_samples: use their "
            "defaults, or monotonic_cst=None."
        )


def within_bounds(forest: Forest, signs: Integers) -> Forest:
    """The forest with the value of each node moved within the bounds of its ancestors' cuts."""
    is_class = forest.n_classes > 0
    given = np.asarray(forest.value, dtype=np.float64)
    weight = given.sum(axis=1)
    means = given[:, 1] / weight if is_class else given[:, 0]
    moved = _moved(forest, signs, means, _SHARE if is_class else 0.0)
    if not is_class:
        return replace(forest, value=moved[:, None])
    value = given.copy()
    changed = np.flatnonzero(moved != means)
    value[changed] = _class_weights(weight[changed], moved[changed])
    # A tie goes to the first class, not to the parent's: labels must be in order, too.
    label = (value[:, 1] > value[:, 0]).astype(forest.label.dtype)
    return replace(forest, value=value, label=label)


def _moved(forest: Forest, signs: Integers, means: Floats, unit: float) -> Floats:
    """Means within their bounds, which are multiples of a unit unless that is 0."""
    least = np.full(len(means), -np.inf)
    most = np.full(len(means), np.inf)
    moved = means.copy()
    level = np.asarray(forest.tree_start[:-1], dtype=np.int64)
    while len(level):
        moved[level] = np.clip(means[level], least[level], most[level])
        level = level[forest.n_children[level] > 0]
        root = forest.tree_start[np.searchsorted(forest.tree_start, level, side="right") - 1]
        left = root + forest.nodes["first_child"][level]
        right = left + 1
        for child in (left, right):
            least[child], most[child] = least[level], most[level]
        sign = signs[forest.nodes["feature"][level]]
        some = np.flatnonzero(sign != 0)
        up, down = left[some], right[some]
        low, high = least[level[some]], most[level[some]]
        halfway = 0.5 * np.clip(means[up], low, high) + 0.5 * np.clip(means[down], low, high)
        if unit > 0:
            halfway = np.rint(halfway / unit) * unit
        halfway = np.clip(halfway, low, high)
        falls = sign[some] < 0
        lower, upper = np.where(falls, down, up), np.where(falls, up, down)
        most[lower] = halfway
        least[upper] = halfway
        level = np.concatenate([left, right])
    return moved


def _class_weights(weight: Floats, share: Floats) -> Floats:
    """Weights of two classes whose share of the second is exact: products have at most 52 bits."""
    scale = np.exp2(np.maximum(np.ceil(np.log2(weight)) - _WEIGHT_BITS, -1000.0))
    is_short = (weight == np.rint(weight)) & (weight < 2.0**_WEIGHT_BITS)
    weight = np.where(is_short, weight, np.rint(weight / scale) * scale)
    second = weight * share
    return np.column_stack([weight - second, second])
