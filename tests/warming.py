"""Kernels are compiled once for all workers of a test run, each worker compiling a share of them.

Two workers that begin with nothing compile the same kernels twice, side by side. So, before the
first test of a long run, each one warms up other families of methods and waits for the others.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path

import orfeon
from orfeon.workbench.cli import warmup

#: Shares of about equal work: what one family compiles, others find.
SHARES = (("trees", "oblique", "ordering"), ("gradient", "perceptrons", "ensembles", "boosting"))
#: A run of fewer tests does not need all families.
LONG_RUN = 5000
#: Seconds to wait for another worker; then it is left behind.
PATIENCE = 300


class _Silence:
    """What shows progress, told nothing."""

    def running(self, names: list[str]) -> None: ...

    def advance(self, count: int, name: str) -> None: ...


def is_cold() -> bool:
    """Whether no kernel was compiled yet."""
    folder = os.environ.get("NUMBA_CACHE_DIR") or Path(orfeon.__file__).parent
    return next(Path(folder).rglob("*.nbc"), None) is None


def warm_up_together(worker: int, n_workers: int, run: str) -> None:
    """Compile the share of a worker, and wait until all have theirs."""
    families = [name for share in SHARES[worker::n_workers] for name in share]
    for family in families:
        warmup._warm_up(family, _Silence())
    meeting = _meeting(run)
    meeting.mkdir(exist_ok=True)
    (meeting / str(worker)).touch()
    deadline = time.monotonic() + PATIENCE
    while len(list(meeting.iterdir())) < n_workers and time.monotonic() < deadline:
        time.sleep(0.2)


def leave(worker: int, run: str) -> None:
    """Take away what the worker left at the meeting; the last one takes all."""
    with contextlib.suppress(OSError):
        (_meeting(run) / str(worker)).unlink(missing_ok=True)
        _meeting(run).rmdir()


def _meeting(run: str) -> Path:
    return Path(tempfile.gettempdir()) / f"orfeon-tests-{run}"
