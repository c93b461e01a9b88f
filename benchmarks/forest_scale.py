"""Forests and extra-trees on large tables: time, threads and memory, each fit in a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import contestants
from benchmarks.contestants import INTEL, ORFEON, SCIKIT_LEARN
from benchmarks.one_forest import N_FEATURES
from benchmarks.peers import missing_notices
from benchmarks.report import Measurement, Target, compare
from benchmarks.suite import Case
from benchmarks.timing import Timing

_ROOT = Path(__file__).resolve().parents[1]
_MEGABYTE = 1e6
#: Times as fast as the peer, by method.
_TARGETS = {
    "forest": {INTEL: Target("at least", 2.0, "x")},
    "extra-trees": {SCIKIT_LEARN: Target("at least", 3.0, "x")},
}
_THREADS = Target("at least", 1.7, "ratio")
#: The process needs at most as much memory as scikit-learn's.
_MEMORY = Target("at most", 1.0, "share")

Runs = Mapping[tuple[str, int], list[dict[str, float]]]


def _fit(library: str, *what: str | int) -> dict[str, float]:
    """What :mod:`benchmarks.one_forest` measures."""
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.one_forest", library, *map(str, what)],
        cwd=_ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return answer


def _libraries() -> list[str]:
    intel = [peer for peer in contestants.compared_peers() if peer.name == INTEL]
    return [ORFEON, SCIKIT_LEARN, *(peer.name for peer in intel if peer.is_installed)]


def _timing(runs: list[dict[str, float]], factor: float) -> Timing:
    seconds = tuple(run["seconds"] * factor for run in runs)
    return Timing(seconds, median(run["cores"] for run in runs), factor)


def large_forest(
    name: str, method: str, n_rows: int, trees: Mapping[str, int], rounds: int, n_threads: int
) -> list[Measurement]:
    """Fit one table with a number of threads; with several, with one thread too by orfeon."""
    libraries = [library for library in _libraries() if library in trees]
    turns = [(library, n_threads) for library in libraries]
    turns += [(ORFEON, 1)] if n_threads > 1 else []
    _fit(ORFEON, method, n_rows if n_rows < 1000 else 66_000, 1, n_threads)  # compiles, if due
    runs: dict[tuple[str, int], list[dict[str, float]]] = {}
    for turn in range(rounds):
        for library, threads in turns if turn % 2 == 0 else reversed(turns):
            found = _fit(library, method, n_rows, trees[library], threads)
            runs.setdefault((library, threads), []).append(found)
    return [*_speed(name, method, n_rows, trees, runs, n_threads), *_threads(name, n_rows, runs)]


def _speed(
    name: str, method: str, n_rows: int, trees: Mapping[str, int], runs: Runs, n_threads: int
) -> list[Measurement]:
    own = {library: some for (library, threads), some in runs.items() if threads == n_threads}
    errors = ", ".join(f"{library} {some[0]['error']:.2%}" for library, some in own.items())
    peer = next(library for library in own if library != ORFEON)
    lines = compare(
        name, (n_rows, N_FEATURES),
        {library: _timing(some, trees[ORFEON] / trees[library]) for library, some in own.items()},
        threads=n_threads, targets=_TARGETS[method],
        notes={peer: [f"{name}: {trees[ORFEON]} trees; test error: {errors}."]},
        detail={"runs": {library: some[-1] for library, some in own.items()}, "trees": dict(trees)},
    )  # fmt: skip
    if any("before" not in some[0] for some in own.values()):
        return lines
    most = {library: max(some, key=lambda run: run["peak"]) for library, some in own.items()}
    text = ", ".join(
        f"{library} {one['peak'] / _MEGABYTE:.0f} MB, of which {trees[library]} trees"
        f" {(one['peak'] - one['before']) / _MEGABYTE:.0f} MB"
        for library, one in most.items()
    )
    share = most[ORFEON]["peak"] / most[SCIKIT_LEARN]["peak"]
    memory = Measurement(
        f"{name}, memory", n_rows, N_FEATURES, share, "share", peer=SCIKIT_LEARN, target=_MEMORY,
        notes=[f"{name}: most memory of the process: {text}."],
    )  # fmt: skip
    return [*lines, memory]


def _threads(name: str, n_rows: int, runs: Runs) -> list[Measurement]:
    """How many times as fast orfeon is with two threads as with one."""
    if (ORFEON, 2) not in runs:
        return []
    one, two = (_timing(runs[ORFEON, threads], 1.0) for threads in (1, 2))
    return [
        Measurement(
            f"{name}, against one", n_rows, N_FEATURES, one.seconds / two.seconds, "ratio",
            two.seconds, two.spread, target=_THREADS,
        )
    ]  # fmt: skip


def cases(quick: bool) -> list[Case]:
    """The cases, by method, size and threads."""
    sizes: dict[int, dict[str, int]] = {
        200_000: {ORFEON: 20, SCIKIT_LEARN: 20, INTEL: 20},
        1_000_000: {ORFEON: 8, SCIKIT_LEARN: 2, INTEL: 4},
    }
    if quick:
        sizes = {2000: dict.fromkeys((ORFEON, SCIKIT_LEARN, INTEL), 2)}
    found: list[Case] = []
    counts = (1, 2) if (os.cpu_count() or 1) >= 2 else (1,)
    for method in _TARGETS:
        for n_rows, trees in sizes.items():
            rounds = 1 if quick else 2
            for n_threads in counts:
                name = f"{method}, {n_rows} rows, {n_threads} thread{'s' * (n_threads > 1)}"
                run: Any = partial(
                    large_forest, name, method, n_rows, trees, rounds, n_threads
                )  # fmt: skip
                found.append(Case(name, run))
    return found


def notices() -> list[str]:
    """What is left out."""
    return missing_notices([peer for peer in contestants.compared_peers() if peer.name == INTEL])
