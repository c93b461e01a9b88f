"""Runs to store, and where to: what the tests of the store share."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from orfeon.workbench.store import RunRow

SCRIPTS = Path(__file__).parent / "scripts"
ROOT = Path(__file__).resolve().parents[3]


def make_row(key: str, seed: int = 0, **result: Any) -> RunRow:
    """A run that looks like those of a study; the same for the same arguments."""
    return RunRow(
        key=key,
        configuration={"dataset": "waveform", "method": {"name": "bagging", "n_estimators": 100}},
        seed=seed,
        result=result or {"error": seed / 7, "curve": [seed / 3, 0.25, 1e-300]},
        seconds=0.125,
        timings={"fit": 0.1, "predict": 0.025},
        finished="2026-01-02T03:04:05.678+00:00",
        host="oboe",
        versions={"orfeon": "0.1.0"},
    )


class Script:
    """A script beside these tests that is running."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        )

    def finish(self) -> Any:
        """What it printed, as JSON."""
        output, errors = self._process.communicate(timeout=120)
        assert self._process.returncode == 0, errors
        return json.loads(output)


def start_script(name: str, *arguments: object, prefix: tuple[str, ...] = ()) -> Script:
    """Start a script beside these tests."""
    return Script([*prefix, sys.executable, str(SCRIPTS / name), *map(str, arguments)])


def run_script(name: str, *arguments: object, prefix: tuple[str, ...] = ()) -> Any:
    """What a script beside these tests prints, as JSON."""
    return start_script(name, *arguments, prefix=prefix).finish()


def private_mounts() -> tuple[str, ...]:
    """The command that gives a script mounts of its own; they go with it. Skips without."""
    if shutil.which("unshare") is None or shutil.which("mount") is None:
        pytest.skip("this machine has no unshare and mount")
    command = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--map-root-user", "-m")
    trial = [*command, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    if subprocess.run(trial, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let us mount")
    return command
