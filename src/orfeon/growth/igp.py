"""IGP trees: grown with one half of the samples, pruned with the other, in turns.

Gelfand, Ravishankar and Delp (1991). An iterative growing and pruning algorithm for classification
tree design. IEEE Transactions on Pattern Analysis and Machine Intelligence 13(2), 163-174.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.presorted import Table
from orfeon.forest import Forest
from orfeon.growth.blocks import grow_in_blocks, rows_of
from orfeon.growth.engine import Growth, Trees
from orfeon.kernels.cart.igp import grow_igp
from orfeon.utils.jit import kernel_view
from orfeon.utils.user_warning import warn_user

#: Never reached in practice; a tree that needs more rounds is reported.
MAX_ROUNDS = 100


def split_halves(
    labels: npt.NDArray[np.integer[Any]],
    rng: np.random.Generator,
    weights: npt.NDArray[Any] | None = None,
) -> npt.NDArray[np.uint8]:
    """Split samples at random into halves of nearly equal size and class distribution.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Class codes.
    rng : numpy.random.Generator
        Source of randomness.
    weights : ndarray of shape (n_rows,), optional
        Rows of weight 0 belong to neither half.

    Returns
    -------
    ndarray of uint8 of shape (n_rows,)
        1 or 2, and 0 for rows left out.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.growth import split_halves
    >>> halves = split_halves(np.array([0, 0, 0, 0, 1, 1]), np.random.default_rng(0))
    >>> sorted(halves[:4]), sorted(halves[4:])
    ([np.uint8(1), np.uint8(1), np.uint8(2), np.uint8(2)], [np.uint8(1), np.uint8(2)])
    """
    present = np.arange(len(labels)) if weights is None else np.flatnonzero(np.asarray(weights) > 0)
    shuffled = rng.permutation(present)
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    halves = np.zeros(len(labels), np.uint8)
    # Alternate within the classes; chance decides which half gets the odd sample.
    halves[by_class] = (np.arange(len(by_class)) + rng.integers(2)) % 2 + 1
    return halves


def grow_igp_forest(
    table: Table,
    X: npt.NDArray[np.float64],
    y: npt.NDArray[np.integer[Any]],
    halves: npt.NDArray[np.uint8],
    *,
    n_classes: int,
    seeds: npt.NDArray[np.uint64],
    weights: npt.NDArray[Any] | None = None,
    n_samples: npt.ArrayLike | None = None,
    candidates: npt.NDArray[np.integer[Any]] | None = None,
    growth: Growth | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[Forest, npt.NDArray[np.int64]]:
    """Grow IGP trees.

    Parameters
    ----------
    table, y, n_classes, seeds, weights, n_samples, candidates, growth, n_jobs, progress
        As for :func:`orfeon.growth.grow_forest`.
    X : ndarray of shape (n_rows, n_features)
        The encoded rows that the table was made from.
    halves : ndarray of shape (n_rows,) or (n_trees, n_rows)
        1 or 2 for each sample, 0 for those left out.

    Returns
    -------
    Forest
        The trees.
    ndarray of shape (n_trees,)
        Rounds of growing and pruning of each tree.
    """
    growth = Growth() if growth is None else growth
    trees = Trees(table, y, n_classes, seeds, weights, n_samples, candidates, growth)
    halves = np.atleast_2d(halves)
    rounds = np.zeros(len(seeds), np.int64)

    def grow(block: slice) -> Forest:
        prepared = trees.prepare(block)
        (starts, *grown), rounds[block] = prepared.call(
            grow_igp, kernel_view(X), np.array(rows_of(halves, block)), MAX_ROUNDS
        )
        return prepared.forest(starts, grown)

    forest = grow_in_blocks(grow, len(seeds), n_jobs, progress)
    if (rounds > MAX_ROUNDS).any():
        n_failed = int((rounds > MAX_ROUNDS).sum())
        warn_user(
            f"{n_failed} IGP tree(s) did not converge in {MAX_ROUNDS} rounds.",
            RuntimeWarning,
        )
    return forest, rounds
