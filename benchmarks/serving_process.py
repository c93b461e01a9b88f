"""The command ``orfeon serve`` in a process of its own, with a model and rows to ask for."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from orfeon import RandomForestClassifier, prune, save
from orfeon.datasets import make_waveform

N_ROWS, N_FEATURES = 1000, 21
_GROWN, _KEPT = 1000, 200
#: Number of different rows, one per request.
_N_BODIES = 200


class Service(NamedTuple):
    """A service that runs: where it listens, how long its first answer took, and what it logs."""

    process: subprocess.Popen[str]
    port: int
    first: float
    model: Path
    bodies: Path
    lines: list[str]

    def memory(self) -> float | None:
        """Gigabytes of the worker processes; None where the system does not report them."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children")
        if not children.exists():
            return None
        # Several workers are children, beside multiprocessing's tracker of resources; one is the
        # command itself.
        pids = [str(pid), *children.read_text().split()]
        return sum(_resident(each) for each in pids)


def _resident(pid: str) -> float:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        status = Path(f"/proc/{pid}/status").read_text()
        if found := re.search(r"VmRSS:\s+(\d+) kB", status):
            return int(found.group(1)) / 1e6
    return 0.0


def write_model(path: Path, seed: int = 0) -> None:
    """Save a pruned forest of 200 trees."""
    X, y = make_waveform(N_ROWS, random_state=seed)
    forest = RandomForestClassifier(n_estimators=_GROWN, random_state=seed).fit(X, y)
    save(prune(forest, X, y, keep=_KEPT), path)


def _write_bodies(path: Path) -> None:
    """Write rows to ask for, a request a line."""
    new, _ = make_waveform(_N_BODIES, random_state=1)
    names = [f"x{j}" for j in range(N_FEATURES)]
    rows = ({"rows": [dict(zip(names, row, strict=True))]} for row in new.tolist())
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@contextlib.contextmanager
def service(workers: int) -> Iterator[Service]:
    """Start the command, and stop it by SIGTERM; it must exit cleanly."""
    with tempfile.TemporaryDirectory(prefix="orfeon-benchmark-") as name:
        model, bodies = Path(name) / "forest.orfeon", Path(name) / "bodies.jsonl"
        write_model(model)
        _write_bodies(bodies)
        command = [sys.executable, "-m", "orfeon", "serve", str(model), "--port", "0"]
        process = subprocess.Popen(
            [*command, "--workers", str(workers)],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            port = _port_of(process)
            lines: list[str] = []
            reading = threading.Thread(target=lines.extend, args=(process.stderr,), daemon=True)
            reading.start()
            start = time.perf_counter()
            query(port, bodies.read_bytes().splitlines()[0])
            yield Service(process, port, time.perf_counter() - start, model, bodies, lines)
        finally:
            process.send_signal(signal.SIGTERM)
            code = process.wait(60)
        if code != 0:
            raise RuntimeError(f"the service ended with {code}")


def _port_of(process: subprocess.Popen[str]) -> int:
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"served at http://127\.0\.0\.1:(\d+)", line):
            return int(found.group(1))
    raise RuntimeError("the service did not start")


def query(port: int, body: bytes) -> Any:
    """The answer to a request for predictions."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/predict", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)
