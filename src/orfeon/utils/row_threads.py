"""Functions of rows, applied to parts of them in threads."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

ResultT = TypeVar("ResultT")

#: Lets other threads run. Sleeping for no time would take as long as growing a small tree.
yield_processor: Callable[[], None] = getattr(os, "sched_yield", lambda: time.sleep(0))

#: Rows of a part, whatever the number of threads: sums over parts must not depend on it.
PART = 1 << 16
#: The same for what is computed row by row.
SMALL_PART = 1 << 15
#: Parts of rows whose results do not depend on the parts begin at multiples of this. Vectors of any
#: length end there, so that NumPy computes each row in the same way.
_GRAIN = 1 << 12


class RowThreads:
    """Threads that share the parts of all rows; the caller is one of them."""

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self._executor: ThreadPoolExecutor | None = None

    def map(
        self, function: Callable[[slice], ResultT], n_rows: int, size: int = PART
    ) -> list[ResultT]:
        """The results for all parts of the rows, in order; parts have ``size`` rows."""
        if n_rows <= size:
            return [function(slice(0, n_rows))] if n_rows else []
        parts = [slice(k, min(k + size, n_rows)) for k in range(0, n_rows, size)]
        n_helpers = min(self.n_threads, len(parts)) - 1
        if n_helpers < 1:
            return [function(part) for part in parts]
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.n_threads - 1)
        return share_parts(function, parts, self._executor, n_helpers)

    def each(self, function: Callable[[slice], None], n_rows: int) -> None:
        """Call a function, which computes row by row, for parts of the rows."""
        self.map(function, n_rows, even_size(n_rows, self.n_threads))


def even_size(n_rows: int, n_threads: int) -> int:
    """Rows of a part, so that all threads are done at about the same time."""
    if n_threads == 1:
        return SMALL_PART
    each = -(-n_rows // (2 * n_threads))
    return min(-(-each // _GRAIN) * _GRAIN, PART)


def share_parts(
    function: Callable[[slice], ResultT],
    parts: list[slice],
    executor: ThreadPoolExecutor,
    n_helpers: int,
) -> list[ResultT]:
    """The results for some parts, in order: the caller begins, and threads take what is left."""
    results: list[ResultT | None] = [None] * len(parts)
    waiting = deque(range(len(parts)))

    def work() -> None:
        while waiting:
            try:
                k = waiting.popleft()
            except IndexError:  # another thread took the last
                return
            results[k] = function(parts[k])

    helpers = [executor.submit(work) for _ in range(n_helpers)]
    try:
        work()
    finally:
        waiting.clear()  # after an error nobody goes on
        for helper in helpers:
            if not helper.cancel():  # those that have not begun are cancelled
                helper.exception()  # waits
    for helper in helpers:
        if not helper.cancelled():
            helper.result()
    return results  # type: ignore[return-value]
