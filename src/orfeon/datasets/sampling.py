"""Random samples of rows that come one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappush, heappushpop
from typing import TypeVar

import numpy as np

Row = TypeVar("Row")


def sample_stream(
    rows: Iterable[Row], size: int | None, random_state: int
) -> tuple[list[Row], int]:
    """A random sample of rows, of which no more are held than it has.

    Parameters
    ----------
    rows : iterable
        The rows.
    size : int or None
        Number of rows of the sample; None takes all.
    random_state : int
        Fixes the sample.

    Returns
    -------
    sample : list
        Rows, in the order in which they came.
    n_rows : int
        How many came.

    Examples
    --------
    >>> sample_stream(range(100), 3, random_state=0)[1]
    100
    """
    if size is None:
        every = list(rows)
        return every, len(every)
    generator = np.random.default_rng(random_state)
    # The rows with the largest of random numbers drawn for each; the smallest is on top.
    heap: list[tuple[float, int, Row]] = []
    n_rows = 0
    for n_rows, row in enumerate(rows, start=1):
        entry = (float(generator.random()), n_rows, row)
        if len(heap) < size:
            heappush(heap, entry)
        elif entry[0] > heap[0][0]:
            heappushpop(heap, entry)
    return [row for _, _, row in sorted(heap, key=lambda entry: entry[1])], n_rows
