"""Cutting the trees of an ensemble into blocks, each grown by one call that holds no lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from orfeon.forest import Forest


def grow_in_blocks(
    grow: Callable[[slice], Forest],
    n_trees: int,
    n_jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Forest:
    """Grow trees block after block, or blocks in threads.

    Parameters
    ----------
    grow : callable
        Grows the trees of a slice; what it grows must not depend on the slice they are in.
    n_trees : int
        How many trees.
    n_jobs : int, optional
        Threads.
    progress : callable, optional
        Called with the number of trees of each finished block.

    Returns
    -------
    Forest
        All trees, in order.
    """
    size = _block_size(n_trees, n_jobs)
    blocks = [slice(i, min(i + size, n_trees)) for i in range(0, n_trees, size)]

    def work(block: slice) -> Forest:
        forest = grow(block)
        if progress is not None:
            progress(block.stop - block.start)
        return forest

    if len(blocks) == 1 or n_jobs in (None, 1):
        return Forest.concatenate([work(block) for block in blocks])
    from joblib import Parallel, delayed  # only those who ask for threads wait for it

    parallel = Parallel(n_jobs=n_jobs, prefer="threads")
    return Forest.concatenate(parallel(delayed(work)(block) for block in blocks))


def rows_of(array: npt.NDArray[Any], block: slice) -> npt.NDArray[Any]:
    """Rows of a block of trees, in an array that may have one row for all.

    Parameters
    ----------
    array : ndarray of shape (1 or n_trees, ...)
        One row for all trees, or one each.
    block : slice
        The trees.

    Returns
    -------
    ndarray
        Their rows, or the one row.
    """
    return array[block] if len(array) > 1 else array


def _block_size(n_trees: int, n_jobs: int | None) -> int:
    """Trees in a block: enough to make the call cheap, few enough to share them out evenly."""
    if n_jobs in (None, 1):
        return 64
    return max(1, min(64, n_trees // 16))
