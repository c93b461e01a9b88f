"""Margin distance on very many members: time and memory, each order in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.report import Measurement, Target

_ROOT = Path(__file__).resolve().parents[1]
_GIGABYTE = 1e9


def _order(way: str, n_members: int, n_samples: int) -> dict[str, Any]:
    """The result of :mod:`benchmarks.one_order`."""
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.one_order", way, str(n_members), str(n_samples)],
        cwd=_ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return answer


def by_chunks(case: str, n_members: int, n_samples: int) -> list[Measurement]:
    """By chunks, with targets for time and memory; all votes in memory must give the same order."""
    chunked, whole = (_order(way, n_members, n_samples) for way in ("chunks", "memory"))
    for what in ("order", "curve"):
        if chunked[what] != whole[what]:
            raise AssertionError(f"by chunks the {what} is another one than in memory")
    shape = (n_members, n_samples)
    note = (
        f"{case}: {chunked['seconds']:.1f} s on {chunked['cores']:.1f} cores, of them "
        f"{chunked['making']:.1f} s to make the votes, twice; synthetic votes; selection error of "
        f"the first {chunked['first']:.1%}, of a fifth {chunked['fifth']:.2%}, of all "
        f"{chunked['last']:.2%}. Order and curve are those found in memory."
    )
    lines = [
        Measurement(
            case, *shape, chunked["seconds"], "s", chunked["seconds"],
            target=Target("at most", 30, "s"), notes=[note], detail=chunked,
        )
    ]  # fmt: skip
    if "peak" in chunked:
        lines.append(
            Measurement(
                f"{case}, memory", *shape, chunked["peak"] / _GIGABYTE, "GB", chunked["seconds"],
                target=Target("at most", 4, "GB"), detail=chunked,
            )
        )  # fmt: skip
    beside = f"all votes in memory: {whole.get('peak', float('nan')) / _GIGABYTE:.2f} GB at most."
    lines.append(
        Measurement(
            f"{case.partition(',')[0]}, in memory", *shape, whole["seconds"], "s",
            whole["seconds"], notes=[beside], detail=whole,
        )
    )  # fmt: skip
    return lines
