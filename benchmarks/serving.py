"""The scoring service under load: requests a second, latency, errors and memory.

Two workers and the client share the cores. Meanwhile another client sends malformed, oversized and
slow requests. Two further cases keep reloading the model. The full form takes ten minutes a case,
the quick one some seconds.
"""

from __future__ import annotations

import functools
import json
import shutil
import socket
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

from benchmarks.report import Measurement, Target
from benchmarks.serving_client import Load, run_client
from benchmarks.serving_process import N_FEATURES, N_ROWS, Service, service
from benchmarks.serving_reload import under_reloads
from benchmarks.suite import Case, Suite

_WORKERS, _CONNECTIONS = 2, 16
#: Requests a second that the service must answer.
_RATE = 3000

_SCRIPT = """\
local bodies = {}
for line in io.lines("%(bodies)s") do bodies[#bodies + 1] = line end
local at = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
function request()
  at = at %% #bodies + 1
  return wrk.format(nil, nil, nil, bodies[at])
end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '\\nRESULT {"n": %%d, "seconds": %%f, "errors": %%d, "p50": %%f, "p99": %%f, "most": %%f}\\n',
    summary.requests, summary.duration / 1e6,
    e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end
"""


class Trouble(threading.Thread):
    """A client that sends what is malformed, oversized and slow, and counts the answers."""

    _HEAD = b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    _REQUESTS = (
        (_HEAD + b"Content-Length: 5\r\n\r\n{rows", b"400"),
        (_HEAD + b"Content-Length: 999999999\r\n\r\n", b"413"),
        (_HEAD + b'Content-Length: 20\r\n\r\n{"rows": [["word"]]}', b"422"),
        (b"\x16\x03\x01\x02\x00", b"400"),
        (b"GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"404"),
    )

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self._address = ("127.0.0.1", port)
        self._ending = threading.Event()
        self.n_sent = 0
        self.n_wrong = 0

    def run(self) -> None:
        """Send until stopped."""
        slow: list[socket.socket] = []
        while not self._ending.wait(0.2):
            data, expected = self._REQUESTS[self.n_sent % len(self._REQUESTS)]
            self.n_sent += 1
            try:
                with socket.create_connection(self._address, timeout=10) as connection:
                    connection.sendall(data)
                    answer = connection.recv(1000)
                self.n_wrong += not answer.startswith(b"HTTP/1.1 " + expected)
                slow.append(socket.create_connection(self._address, timeout=10))
                slow[-1].sendall(self._HEAD)  # and nothing more
            except OSError:
                self.n_wrong += 1
            for connection in slow[:-20]:
                connection.close()
            del slow[:-20]
        for connection in slow:
            connection.close()

    def end(self) -> None:
        """Stop, and wait for the end."""
        self._ending.set()
        self.join(30)


def _run_wrk(running: Service, seconds: float) -> Load:
    with tempfile.TemporaryDirectory(prefix="orfeon-benchmark-") as name:
        script = Path(name) / "post.lua"
        script.write_text(_SCRIPT % {"bodies": running.bodies})
        command = ["wrk", "-t1", f"-c{_CONNECTIONS}", f"-d{max(1, round(seconds))}s", "-s"]
        address = f"http://127.0.0.1:{running.port}/predict"
        found = subprocess.run(
            [*command, str(script), address], capture_output=True, text=True, check=True
        )
    line = found.stdout.rpartition("RESULT ")[2]
    return Load(**json.loads(line.splitlines()[0]))


def _load(running: Service, seconds: float) -> Load:
    if shutil.which("wrk"):
        return _run_wrk(running, seconds)
    return run_client(running.port, running.bodies, _CONNECTIONS, seconds)


def under_load(seconds: float) -> list[Measurement]:
    """One row a request, as many as can be answered; other clients misbehave meanwhile."""
    with service(_WORKERS) as running:
        _load(running, min(10.0, seconds))  # buffers and caches have their size after this
        before = running.memory()
        trouble = Trouble(running.port)
        trouble.start()
        load = _load(running, seconds)
        trouble.end()
        after = running.memory()
    rate = load.n / load.seconds
    client = "wrk" if shutil.which("wrk") else "a client in Python, slower than wrk"
    note = (
        f"{load.n:,} requests in {load.seconds:.0f} s by {client} over {_CONNECTIONS} connections: "
        f"{rate:,.0f} a second, median {load.p50:.1f} ms, 99% within {load.p99:.1f} ms, longest "
        f"{load.most:.0f} ms; {trouble.n_sent} malformed, oversized and slow requests besides."
    )
    detail = {**load._asdict(), "rate": rate, "trouble": trouble.n_sent}

    def line(case: str, figure: float, unit: Any, target: Target, **more: Any) -> Measurement:
        return Measurement(case, N_ROWS, N_FEATURES, figure, unit, target=target, **more)

    found = [
        line(
            f"requests a second over {_RATE}", rate / _RATE, "ratio",
            Target("at least", 1.0, "ratio"), notes=[note], detail=detail,
        ),
        line("99% of the answers within", load.p99, "ms", Target("at most", 20.0, "ms")),
        line("errors", load.errors, "ratio", Target("at most", 0.0, "ratio")),
        line("bad requests not refused", trouble.n_wrong, "ratio", Target("at most", 0.0, "ratio")),
        line("first request", 1000 * running.first, "ms", Target("at most", 50.0, "ms")),
    ]  # fmt: skip
    if before is not None and after is not None:
        grown = f"{before:.3f} GB of the workers before, {after:.3f} GB after."
        found.append(
            line(
                "memory after over before", after / before, "ratio",
                Target("at most", 1.05, "ratio"), notes=[grown],
            )
        )  # fmt: skip
    return found


def suite(quick: bool) -> Suite:
    seconds = 5.0 if quick else 600.0
    reloads = [
        Case(
            f"reload under load, {workers} worker{'s' * (workers > 1)}",
            functools.partial(under_reloads, workers, quick),
        )
        for workers in (1, 2)
    ]
    return Suite([Case("single rows under load", lambda: under_load(seconds)), *reloads])
