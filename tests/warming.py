"""Compiles the kernels once for all workers of a test run, each worker a share.

Two workers with an empty cache would compile the same kernels at the same time. So, before the
first test of a long run, each one warms up different families of methods and waits for the others.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path

import orfeon
from orfeon.utils.kernel_cache import source_digest
from orfeon.workbench.cli import warmup

#: Shares of about equal work, in an order in which no kernel is compiled by both workers at a time.
SHARES = (
    ("trees",),
    ("oblique", "perceptrons", "gradient", "ensembles", "boosting", "ordering"),
)
#: A run of fewer tests does not need all families.
LONG_RUN = 2000
#: Maximum seconds to wait for another worker.
PATIENCE = 300


class _NoDisplay:
    """Stands in for the display of progress."""

    def running(self, names: list[str]) -> None: ...

    def advance(self, count: int, name: str) -> None: ...


def is_cold() -> bool:
    """Whether no kernel of the current sources is in the cache."""
    folder = os.environ.get("NUMBA_CACHE_DIR") or Path(orfeon.__file__).parent
    return next(Path(folder).rglob(f"*-{source_digest()}-*.nbc"), None) is None


def warm_up_together(worker: int, n_workers: int, run: str) -> None:
    """Compile the share of a worker, and wait for the other workers."""
    families = [name for share in SHARES[worker::n_workers] for name in share]
    for family in families:
        warmup._warm_up(family, _NoDisplay())
    meeting = _meeting(run)
    meeting.mkdir(exist_ok=True)
    (meeting / str(worker)).touch()
    deadline = time.monotonic() + PATIENCE
    while len(list(meeting.iterdir())) < n_workers and time.monotonic() < deadline:
        time.sleep(0.2)


def leave(worker: int, run: str) -> None:
    """Remove the worker's file; the last worker removes the folder."""
    with contextlib.suppress(OSError):
        (_meeting(run) / str(worker)).unlink(missing_ok=True)
        _meeting(run).rmdir()


def _meeting(run: str) -> Path:
    return Path(tempfile.gettempdir()) / f"orfeon-tests-{run}"
