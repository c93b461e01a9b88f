"""One order of many members in this process, its time and its memory as a line of JSON.

``python -m benchmarks.one_order chunks 10000 10000``
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.one_fit import peak_memory
from orfeon.ordering import Order, order_chunks, order_votes

#: Samples of a chunk.
CHUNK = 500
_GROUPS, _CLASSES = 40, 3
_WAYS = ("chunks", "memory")


def make_chunk(
    n_members: int, n_samples: int, number: int, seed: int = 0
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    """Votes on some samples, from the chunk's own seed.

    Some samples are harder, some members better, and members of a group err together.
    """
    skill = np.random.default_rng(seed).normal(0.9, 0.2, n_members).astype(np.float32)
    rng = np.random.default_rng([seed, number])
    y = rng.integers(_CLASSES, size=n_samples)
    ease = rng.standard_normal(n_samples, dtype=np.float32)
    ease = ease + rng.standard_normal((_GROUPS, n_samples), dtype=np.float32)
    score = rng.standard_normal((n_members, n_samples), dtype=np.float32)
    score += skill[:, None]
    score += ease[np.arange(n_members) % _GROUPS]
    other = (y + rng.integers(1, _CLASSES, size=n_samples)) % _CLASSES
    return np.where(score > 0, y.astype(np.int8), other.astype(np.int8)), y


def _chunk_sizes(n_samples: int) -> list[int]:
    return [min(CHUNK, n_samples - first) for first in range(0, n_samples, CHUNK)]


class Chunks:
    """The chunks, generated on each pass; records how long that takes."""

    def __init__(self, n_members: int, n_samples: int) -> None:
        self.n_members = n_members
        self.sizes = _chunk_sizes(n_samples)
        self.seconds = 0.0

    def __call__(self) -> Iterator[tuple[Any, Any]]:
        """Generate them, one after the other."""
        for number, size in enumerate(self.sizes):
            start = time.perf_counter()
            chunk = make_chunk(self.n_members, size, number)
            self.seconds += time.perf_counter() - start
            yield chunk


def _order(way: str, chunks: Chunks) -> Order:
    if way == "chunks":
        return order_chunks(chunks, rule="margin_distance")
    votes, labels = zip(*chunks(), strict=True)
    return order_votes(np.hstack(votes), np.concatenate(labels), rule="margin_distance")


def measure(way: str, n_members: int, n_samples: int) -> dict[str, Any]:
    """Seconds in all and those to make the votes, memory at most, and what was found."""
    if way not in _WAYS:
        raise ValueError(f"way={way!r} is not known; there are {', '.join(_WAYS)}")
    _order(way, Chunks(8, 100))  # loads the kernels
    chunks = Chunks(n_members, n_samples)
    processor, start = time.process_time(), time.perf_counter()
    found = _order(way, chunks)
    seconds, used = time.perf_counter() - start, time.process_time() - processor
    answer = {
        "seconds": seconds, "making": chunks.seconds, "cores": used / seconds,
        "peak": peak_memory(), "order": _digest(found.order), "curve": _digest(found.error_curve),
        "first": float(found.error_curve[0]), "fifth": float(found.error_curve[n_members // 5 - 1]),
        "last": float(found.error_curve[-1]),
    }  # fmt: skip
    return {name: figure for name, figure in answer.items() if figure is not None}


def _digest(array: npt.NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> None:
    way, *sizes = sys.argv[1:] if arguments is None else arguments
    n_members, n_samples = (int(size) for size in sizes)
    print(json.dumps(measure(way, n_members, n_samples)))


if __name__ == "__main__":
    main()
