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
    """A random sample of rows, of which no more are held than it has."""
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
