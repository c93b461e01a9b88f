"""The service under load while its model is reloaded again and again, and stopped under load.

Some clients keep their connections, with and without pauses; others open one for each request. A
request fails if it is not answered with 200 and the prediction of one of the two models, whatever
the reason. After SIGTERM nobody may connect any more, but what was sent is still answered.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.report import Measurement, Target
from benchmarks.serving_process import N_FEATURES, N_ROWS, Service, query, service, write_model

#: Seconds of load, and from one reload to the next.
_SECONDS, _EVERY = 600.0, 5.0
_QUICK_SECONDS, _QUICK_EVERY = 6.0, 1.0
#: Longest pauses, in seconds, of clients that keep a connection, and of those that do not.
_KEPT = (0.0, 0.0, 0.0, 0.002, 0.02, 0.1, 0.3)
_FRESH = (0.0, 0.002, 0.01)
#: Requests after which a client ends, whatever the time.
_MOST = 2_000_000
_PATIENCE = 30.0


@dataclass
class Tally:
    """What clients found."""

    n_kept: int = 0
    n_fresh: int = 0
    n_failed: int = 0
    reasons: list[str] = field(default_factory=list)
    #: Whether the service was stopped, and need not accept connections.
    is_ending: bool = False

    def fail(self, reason: str) -> None:
        """Count a failure."""
        self.n_failed += 1
        if len(self.reasons) < 10:
            self.reasons.append(reason)


class Clients(threading.Thread):
    """Clients that send requests until stopped."""

    def __init__(
        self, port: int, bodies: Sequence[bytes], expected: Sequence[frozenset[bytes]]
    ) -> None:
        super().__init__(daemon=True)
        self.tally = Tally()
        self._port = port
        self._bodies = bodies
        self._expected = expected
        self._stops = False

    def run(self) -> None:
        """Ask."""
        asyncio.run(self._query_all())

    def end(self) -> None:
        """Stop, and wait for the end."""
        self._stops = True
        self.join(2 * _PATIENCE)
        if self.is_alive():
            self.tally.fail("a client is still waiting")

    async def _query_all(self) -> None:
        await asyncio.gather(
            *(self._client(pause, keep=True) for pause in _KEPT),
            *(self._client(pause, keep=False) for pause in _FRESH),
        )

    async def _client(self, pause: float, *, keep: bool) -> None:
        for _ in range(_MOST):
            if self._stops:
                return
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            except OSError as error:
                if self.tally.is_ending:
                    return
                self.tally.fail(f"connect: {error!r}")
                continue
            try:
                await self._ask_over(reader, writer, pause, keep=keep)
            finally:
                writer.close()

    async def _ask_over(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        pause: float,
        *,
        keep: bool,
    ) -> None:
        """Send requests over a connection until the service announces that it closes it."""
        for at in range(_MOST):
            # A client that sees a closed connection does not use it.
            if self._stops or (at and reader.at_eof()):
                return
            which = random.randrange(len(self._bodies))
            try:
                head, answer = await asyncio.wait_for(
                    _ask_one(reader, writer, self._bodies[which], keep=keep), _PATIENCE
                )
            except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
                place = f"request {at} of a connection" if keep else "a connection of one request"
                self.tally.fail(f"{place}: {error!r}{' at the end' * self.tally.is_ending}")
                return
            if not head.startswith(b"HTTP/1.1 200") or answer not in self._expected[which]:
                self.tally.fail(f"answer: {head[:30]!r} {answer[:100]!r}")
            self.tally.n_kept += keep
            self.tally.n_fresh += not keep
            if pause:
                await asyncio.sleep(random.uniform(0.0, pause))
            if b"\r\nconnection: close" in head.lower():
                return


async def _ask_one(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes, *, keep: bool
) -> tuple[bytes, bytes]:
    writer.write(
        b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n%s\r\n%s"
        % (len(body), b"" if keep else b"Connection: close\r\n", body)
    )
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return head, await reader.readexactly(length)


def under_reloads(workers: int, quick: bool) -> list[Measurement]:
    """Reload the model every few seconds, then stop the service; count unanswered requests."""
    seconds, every = (_QUICK_SECONDS, _QUICK_EVERY) if quick else (_SECONDS, _EVERY)
    with service(workers) as running:
        models = [running.model.with_name(name) for name in ("first.orfeon", "second.orfeon")]
        shutil.copy(running.model, models[0])
        write_model(models[1], seed=1)
        clients = _clients(running, models)
        clients.start()
        n_reloads, memory = _reload_often(running, models, seconds, every)
        clients.tally.is_ending = True
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(60)
        clients.end()
    return _lines(workers, clients.tally, n_reloads, memory, running)


def _clients(running: Service, models: Sequence[Path]) -> Clients:
    """Clients that know what each model answers; the first one is being served."""
    bodies = running.bodies.read_bytes().splitlines()
    answers: list[list[bytes]] = []
    for number in (1, 0):
        _reload(running, models[number], number != 1)
        answers.append([json.dumps(query(running.port, body)).encode() for body in bodies])
    if answers[0] == answers[1]:
        raise RuntimeError("both models give the same answers")
    expected = [frozenset(both) for both in zip(*answers, strict=True)]
    return Clients(running.port, bodies, expected)


def _reload(running: Service, model: Path, n_before: int) -> None:
    """Put a model in the place of the one that is served, and wait until it answers."""
    draft = running.model.with_suffix(".draft")
    shutil.copy(model, draft)
    os.replace(draft, running.model)
    running.process.send_signal(signal.SIGHUP)
    until = time.monotonic() + 120
    while _n_reloads(running) <= n_before:
        if time.monotonic() > until or running.process.poll() is not None:
            raise RuntimeError(f"the model was not reloaded: {running.lines[-5:]}")
        time.sleep(0.02)


def _n_reloads(running: Service) -> int:
    return sum("the model was reloaded" in line for line in list(running.lines))


def _reload_often(
    running: Service, models: Sequence[Path], seconds: float, every: float
) -> tuple[int, list[float]]:
    """How often the model was reloaded, and the memory of the service after each time."""
    memory: list[float] = []
    begin = time.monotonic()
    n_reloads = 0
    while (now := time.monotonic()) < begin + seconds:
        _reload(running, models[(n_reloads + 1) % 2], 2 + n_reloads)
        n_reloads += 1
        time.sleep(max(0.0, now + every - time.monotonic()))
        if (found := running.memory()) is not None:
            memory.append(found)
    return n_reloads, memory


def _lines(
    workers: int, tally: Tally, n_reloads: int, memory: Sequence[float], running: Service
) -> list[Measurement]:
    name = f"{workers} worker{'s' * (workers > 1)}"
    note = (
        f"{n_reloads} reloads, then SIGTERM: {tally.n_kept:,} requests over kept connections, "
        f"{tally.n_fresh:,} over one each."
    )
    detail = {
        "reloads": n_reloads, "kept": tally.n_kept, "fresh": tally.n_fresh,
        "reasons": tally.reasons, "memory": [round(each, 4) for each in memory],
        "log": [line for line in running.lines if "the model was reloaded" not in line],
    }  # fmt: skip
    found = [
        Measurement(
            f"failed requests, {name}", N_ROWS, N_FEATURES, float(tally.n_failed), "ratio",
            target=Target("at most", 0.0, "ratio"), notes=[note, *tally.reasons], detail=detail,
        )
    ]  # fmt: skip
    if memory:
        # Buffers and arenas have their size after some reloads.
        first = max(memory[: max(1, len(memory) // 4)])
        last = max(memory[-max(1, len(memory) // 4) :])
        grown = f"{first:.3f} GB at most in the first quarter, {last:.3f} GB in the last."
        found.append(
            Measurement(
                f"memory, last over first, {name}", N_ROWS, N_FEATURES, last / first, "ratio",
                target=Target("at most", 1.05, "ratio"), notes=[grown],
            )
        )  # fmt: skip
    return found
