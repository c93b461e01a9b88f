"""Binned gradient boosting on small and large tables: time, threads, memory, and the test loss.

Every fit has a process of its own, and libraries and numbers of threads take turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import gradient_peers
from benchmarks.contestants import ORFEON
from benchmarks.gradient_peers import LIGHTGBM
from benchmarks.one_gradient import ADULT
from benchmarks.report import Measurement, Target, compare
from benchmarks.suite import Case
from benchmarks.timing import Timing

_ROOT = Path(__file__).resolve().parents[1]
_MEGABYTE = 1e6
#: From so many rows on, two threads must be so many times as fast as one.
_THREADS_FROM, _THREADS = 50_000, Target("at least", 1.7, "ratio")
#: From so many rows on, the process must need at most so much of the memory of LightGBM's.
_MEMORY_FROM, _MEMORY = 1_000_000, Target("at most", 1.2, "share")
_FASTER = Target("at least", 1.0, "x")
#: From so many rows on, there are so many rounds.
_FEW_FROM, _FEW_ROUNDS = 1_000_000, 30

Runs = Mapping[tuple[str, int], list[dict[str, float]]]


def _fit(library: str, *what: str | int) -> dict[str, float]:
    """What :mod:`benchmarks.one_gradient` measures."""
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.one_gradient", library, *map(str, what)],
        cwd=_ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return answer


def _timing(runs: list[dict[str, float]]) -> Timing:
    return Timing(tuple(run["seconds"] for run in runs), median(run["cores"] for run in runs))


def boosting(name: str, problem: str, n_rows: int, n_rounds: int, rounds: int) -> list[Measurement]:
    """Fit one problem with one thread and with two."""
    libraries = [one.name for one in gradient_peers.binned(classes=True)]
    counts = (1, 2) if (os.cpu_count() or 1) >= 2 else (1,)
    turns = list(product(counts, libraries))
    for n_threads in counts:
        _fit(ORFEON, "interactions", 1000, 2, n_threads)  # compiles, where that is still due
    runs: dict[tuple[str, int], list[dict[str, float]]] = {}
    for turn in range(rounds):
        for n_threads, library in turns if turn % 2 == 0 else reversed(turns):
            found = _fit(library, problem, n_rows, n_rounds, n_threads)
            runs.setdefault((library, n_threads), []).append(found)
    lines = []
    for n_threads in counts:
        lines += _against_peers(name, libraries, n_threads, n_rounds, runs)
    return [*lines, *_of_threads(name, runs), *_of_memory(name, libraries, runs)]


def _against_peers(
    name: str, libraries: list[str], n_threads: int, n_rounds: int, runs: Runs
) -> list[Measurement]:
    own = {library: runs[library, n_threads] for library in libraries}
    first = own[ORFEON][0]
    losses = ", ".join(f"{library} {some[0]['log_loss']:.4f}" for library, some in own.items())
    label = f"{name}, {n_threads} thread{'s' if n_threads > 1 else ''}"
    note = f"{label}: test log-loss: {losses}; {n_rounds} rounds."
    return compare(
        label, (int(first["rows"]), int(first["features"])),
        {library: _timing(some) for library, some in own.items()}, threads=n_threads,
        targets=dict.fromkeys(libraries, _FASTER), notes={libraries[1]: [note]},
        detail={library: some[-1] for library, some in own.items()},
    )  # fmt: skip


def _of_threads(name: str, runs: Runs) -> list[Measurement]:
    """How many times as fast two threads are as one."""
    if (ORFEON, 2) not in runs:
        return []
    one, two = _timing(runs[ORFEON, 1]), _timing(runs[ORFEON, 2])
    first = runs[ORFEON, 1][0]
    return [
        Measurement(
            f"{name}, two threads against one", int(first["rows"]), int(first["features"]),
            one.seconds / two.seconds, "ratio", two.seconds, two.spread,
            target=_THREADS if first["rows"] >= _THREADS_FROM else None,
        )
    ]  # fmt: skip


def _of_memory(name: str, libraries: list[str], runs: Runs) -> list[Measurement]:
    """The most memory of the process against that of a peer, and what the fit needs."""
    most: dict[str, Any] = {}
    for library in libraries:
        some = [run for (who, _), all_runs in runs.items() if who == library for run in all_runs]
        if any("before" not in run for run in some):
            return []
        most[library] = max(some, key=lambda run: run["peak"])
    peer = LIGHTGBM if LIGHTGBM in most else libraries[1]
    ours, theirs = most[ORFEON], most[peer]
    text = ", ".join(
        f"{library} {one['peak'] / _MEGABYTE:.0f} MB"
        f" ({(one['peak'] - one['before']) / _MEGABYTE:.0f} MB of the fit)"
        for library, one in most.items()
    )
    held = peer == LIGHTGBM and ours["rows"] >= _MEMORY_FROM
    return [
        Measurement(
            f"{name}, memory", int(ours["rows"]), int(ours["features"]),
            ours["peak"] / theirs["peak"], "share", peer=peer, target=_MEMORY if held else None,
            notes=[f"{name}: most memory of the process: {text}."], detail=most,
        )
    ]  # fmt: skip


def cases(quick: bool) -> list[Case]:
    """The cases, by size."""
    n_rounds, rounds = (10, 1) if quick else (100, 3)
    sizes = (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000)
    run: Callable[..., list[Measurement]]
    found = []
    for n_rows in sizes:
        name = f"boosting, {n_rows} rows"
        fewer = min(n_rounds, _FEW_ROUNDS) if n_rows >= _FEW_FROM else n_rounds
        run = partial(boosting, name, "interactions", n_rows, fewer, rounds)
        found.append(Case(name, run))
    if ADULT.exists():
        name = "boosting, adult"
        found.append(Case(name, partial(boosting, name, "adult", 0, n_rounds, rounds)))
    return found


def notices() -> list[str]:
    """What is left out."""
    absent = [] if ADULT.exists() else [f"{ADULT.name} is not there: adult is left out."]
    return [*gradient_peers.missing_notices(), *absent]
