"""Functions of rows, applied to parts of them in threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

ResultT = TypeVar("ResultT")

#: Rows of a part, whatever the number of threads: sums over parts must not depend on it.
PART = 1 << 16


class RowThreads:
    """Threads that share the parts of all rows."""

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self._executor: ThreadPoolExecutor | None = None

    def map(
        self, function: Callable[[slice], ResultT], n_rows: int, size: int = PART
    ) -> list[ResultT]:
        """The results for all parts of the rows, in order; parts have ``size`` rows."""
        parts = [slice(k, min(k + size, n_rows)) for k in range(0, n_rows, size)]
        if self.n_threads == 1 or len(parts) == 1:
            return [function(part) for part in parts]
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.n_threads)
        return list(self._executor.map(function, parts))
