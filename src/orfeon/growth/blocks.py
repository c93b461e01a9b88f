"""Training the members of an ensemble in blocks, one call each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar

import numpy.typing as npt

from orfeon.data.presorted import Table
from orfeon.data.sparse import SparseTable
from orfeon.forest import Forest
from orfeon.utils.joblib_results import joblib_results
from orfeon.utils.user_warning import expect_renewed_workers

Result = TypeVar("Result")

#: From this many values times trees on a block may take longer than a moment.
_LONG = 1 << 20

#: Maximum number of trees in a block: enough to make calls cheap, few enough to save memory.
MOST = 64
#: The same for trees that share their weights: the nodes of several blocks are copied.
SHARING = 256


def run_in_blocks(
    work: Callable[[slice], Result],
    members: range,
    n_jobs: int | None = None,
    progress: Callable[[int], Any] | None = None,
    *,
    most: int = MOST,
    prefer: Literal["threads", "processes"] = "threads",
) -> list[Result]:
    """Train members in blocks, possibly in parallel; stops early if ``progress`` returns true."""
    serial = n_jobs in (None, 1)
    size = most if serial else max(1, min(most, len(members) // 16))
    starts = range(members.start, members.stop, size)
    blocks = [slice(first, min(first + size, members.stop)) for first in starts]

    def done(results: Iterable[Result]) -> list[Result]:
        finished = []
        for block, result in zip(blocks, results, strict=False):  # may stop early
            finished.append(result)
            if progress is not None and progress(block.stop - block.start):
                break
        return finished

    if serial or len(blocks) == 1:
        return done(map(work, blocks))
    from joblib import Parallel, delayed  # slow to import

    # Joblib's Dask backend hashes the function; a closure over a table would be slow to hash.
    calls = (delayed(_run)(work, block) for block in blocks)
    if progress is None:
        expect_renewed_workers()
        return done(Parallel(n_jobs=n_jobs, prefer=prefer)(calls))
    # Not every backend can return results one by one, so do this only to report progress.
    one_by_one = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")
    with joblib_results(one_by_one, calls) as results:
        return done(results)


def _run(work: Callable[[slice], Result], block: slice) -> Result:
    return work(block)


def grow_in_blocks(
    grow: Callable[[slice], Forest],
    n_trees: int,
    n_jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
    *,
    most: int = MOST,
) -> Forest:
    return Forest.concatenate(run_in_blocks(grow, range(n_trees), n_jobs, progress, most=most))


def takes_long(table: Table | SparseTable, block: slice) -> bool:
    """Whether signals should be handled while a block of trees grows."""
    n_values: int = table.n_rows * table.n_features * (block.stop - block.start)
    return n_values >= _LONG


def rows_of(array: npt.NDArray[Any], block: slice) -> npt.NDArray[Any]:
    """Rows of a block of trees, from an array with one row per tree or one row for all."""
    return array[block] if len(array) > 1 else array
