"""Trees pruned by cost-complexity, with the cost of a leaf chosen by cross-validation.

Breiman, Friedman, Olshen and Stone (1984), Classification and Regression Trees, chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.data.presorted import Table, copy_groups
from orfeon.forest import Forest
from orfeon.growth.blocks import grow_in_blocks
from orfeon.growth.engine import Growth, Trees
from orfeon.kernels.cart.cross_validated import (
    LEAF_ALLOWED,
    LEAF_AVOIDED,
    PATH_ENDS_WITH_A_SPLIT,
    grow_cross_validated,
    grow_cross_validated_sorting,
)
from orfeon.utils import saved
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats

KeepASplit = Literal[True, False, "path"]
_KEPT = {False: LEAF_ALLOWED, True: LEAF_AVOIDED, "path": PATH_ENDS_WITH_A_SPLIT}


@saved.attributes(
    alphas=saved.floats,
    losses=saved.floats,
    standard_errors=saved.floats,
    n_leaves=saved.indices,
    step=saved.integer(0),
)
@dataclass(frozen=True)
class CrossValidation:
    """The pruning path with its cross-validated losses, and the step chosen."""

    alphas: Floats
    losses: Floats
    standard_errors: Floats
    n_leaves: npt.NDArray[np.int64]
    step: int


def grow_pruned_forest(
    table: Table,
    X: Floats,
    y: npt.NDArray[Any],
    *,
    n_classes: int,
    seeds: npt.NDArray[np.uint64],
    weights: npt.NDArray[Any] | None = None,
    n_samples: npt.ArrayLike | None = None,
    candidates: npt.NDArray[np.integer[Any]] | None = None,
    growth: Growth | None = None,
    n_folds: int = 10,
    one_standard_error: bool = True,
    keep_a_split: KeepASplit = True,
    groups: npt.NDArray[np.int64] | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[Forest, CrossValidation]:
    """Grow trees and prune each by its own cross-validation.

    Parameters
    ----------
    table, y, n_classes, seeds, weights, n_samples, candidates, growth, n_jobs, progress
        As for :func:`orfeon.growth.grow_forest`.
    X : ndarray of shape (n_rows, n_features)
        The encoded rows that the table was made from.
    n_folds : int, default=10
        Number of folds; fewer if there are fewer distinct samples.
    one_standard_error : bool, default=True
        Whether to take the smallest tree within one standard error of the best, or the best.
    keep_a_split : bool or "path", default=True
        Whether to avoid a tree of a single leaf if there is another candidate; with "path", the
        pruning path ends before it, so that the last tree's cost is its own breakpoint.
    groups : ndarray of shape (n_rows,), optional
        Samples of one group stay in one fold; default: copies of a sample are a group.

    Returns
    -------
    Forest
        The pruned trees.
    CrossValidation
        The choice of the last tree.
    """
    if growth is None:
        growth = Growth(criterion="gini" if n_classes else "variance")
    if groups is None:
        groups = copy_groups(table, y if y.ndim == 1 else y[0])
    trees = Trees(table, y, n_classes, seeds, weights, n_samples, candidates, growth)
    kernel: Any = grow_cross_validated_sorting if growth.sorts else grow_cross_validated
    chosen: dict[int, CrossValidation] = {}

    def grow(block: slice) -> Forest:
        prepared = trees.prepare(block)
        ones = np.ones(block.stop - block.start)
        (starts, *grown), path, taken = prepared.call(
            kernel, kernel_view(X), groups, n_folds, one_standard_error, _KEPT[keep_a_split],
            ones / prepared.target_scale, prepared.whole.unit * ones,
        )  # fmt: skip
        chosen[block.stop] = CrossValidation(
            path[0], path[1], path[2], path[3].astype(np.int64), int(taken)
        )
        return prepared.forest(starts, grown)

    forest = grow_in_blocks(grow, len(seeds), n_jobs, progress)
    return forest, chosen[len(seeds)]
