"""A real Dask cluster: a scheduler and workers, each a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self


class Processes:
    """A scheduler, to which workers are added; all end with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            # Workers import the tests' own functions by name.
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "3",
        }
        told = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(told))
        self.running = [self.scheduler]
        while not told.exists() or not told.read_text().rstrip().endswith("}"):
            assert self.scheduler.poll() is None
            time.sleep(0.05)
        self.address = str(json.loads(told.read_text())["address"])

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start one more worker of one thread."""
        worker = self._start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--memory-limit", "0",
            "--local-directory", str(self.folder),
        )  # fmt: skip
        self.running.append(worker)
        return worker

    def _start(self, command: str, *options: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{command}.log").open("ab")
        with log:
            return subprocess.Popen(
                [
                    sys.executable, "-m", "dask", command, *options, "--host", "127.0.0.1",
                    "--no-dashboard",
                ],
                stdout=log, stderr=log, env=self.environment, start_new_session=True,
            )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for process in self.running[::-1]:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process at once, with no time to say so."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait(10)
