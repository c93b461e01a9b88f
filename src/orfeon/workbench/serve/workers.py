"""Worker processes and their supervisor.

Several times a second the supervising process sends each worker the model to serve over a pipe,
and the worker replies with the one it serves. A worker loads a new model in a thread and swaps it
in: no process exits, and no connection is closed. Workers ignore signals and exit only when the
supervisor asks them to, so a signal to the whole process group, such as Ctrl-C, cannot end a worker
before the port is drained.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import Connection
from typing import Any

import uvicorn

from orfeon.workbench.serve.copies import delete_old_copies
from orfeon.workbench.serve.draining import DrainingServer
from orfeon.workbench.serve.reloading import (
    ApplicationMaker,
    Reload,
    ReplaceableApplication,
    freeze_memory,
    has_terminal,
)

#: Seconds between two checks of the workers.
_TICK = 0.1
#: Seconds after which a worker that does not reply is replaced.
_UNHEALTHY = 10
#: Seconds for a new worker to get ready; kernels are compiled before it starts.
_READY = 120
#: Seconds for a worker to exit after it closed its pipe.
_DYING = 1
#: Seconds after the grace period until a worker that does not exit is killed.
_LATE = 10
_logger = logging.getLogger("orfeon.workbench.serve")


class Workers:
    """Starts, supervises and reloads the worker processes."""

    def __init__(
        self,
        maker: ApplicationMaker,
        settings: Mapping[str, Any],
        opened: socket.socket,
        n_workers: int,
    ) -> None:
        self._source = maker
        self._maker = maker.snapshot()
        self._given = (dict(settings), opened)
        self._n_workers = n_workers
        self._grace = settings["timeout_graceful_shutdown"] + _LATE
        self._workers: list[_Worker] = []
        self._ending = threading.Event()
        self._is_reported = True
        self._reload = Reload(self._make_new, self._take_new)
        # Looked up now: after a hangup there is no terminal.
        self._ends_with_terminal = has_terminal()

    def run(self) -> None:
        """Serve until a signal ends it."""
        with self._signals():
            try:
                self._workers = [self._start() for _ in range(self._n_workers)]
                while not self._ending.wait(_TICK):
                    self._replace_unhealthy()
                    self._hand_over()
            finally:
                self._end()

    def _start(self) -> _Worker:
        return _Worker(self._maker, *self._given)

    def _replace_unhealthy(self) -> None:
        for place, worker in enumerate(self._workers):
            if worker.is_healthy():
                continue
            worker.process.join(_DYING)  # to get the exit code of one that exits by itself
            worker.process.kill()
            worker.process.join()
            if worker.serves is None and (worker.process.exitcode or 0) > 0:
                raise SystemExit(worker.process.exitcode)  # a new one would fail too
            self._workers[place] = self._start()

    def _hand_over(self) -> None:
        """Give a new model to one worker at a time, while the others answer at full speed."""
        if any(worker.serves != worker.given for worker in self._workers):
            return
        behind = [worker for worker in self._workers if worker.given != self._maker]
        if behind:
            behind[0].given = self._maker
        elif not self._is_reported:
            self._is_reported = True
            _logger.warning("the model was reloaded")
            if self._maker.copies is not None:
                delete_old_copies(self._maker.copies, self._maker.path.parent)

    # -- reloading -----------------------------------------------------------------------------

    def _make_new(self) -> ApplicationMaker:
        new = self._source.snapshot()
        try:
            new()  # compiles the kernels it needs, and raises if it cannot be served
        except Exception:
            if new.copies is not None and new != self._maker:
                shutil.rmtree(new.path.parent, ignore_errors=True)
            raise
        return new

    def _take_new(self, new: ApplicationMaker) -> None:
        self._maker, self._is_reported = new, False

    # -- signals and shutdown ------------------------------------------------------------------

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        def end(number: int, _: Any) -> None:
            if self._ending.is_set() and number == signal.SIGINT:  # a second Ctrl-C
                for worker in self._workers:
                    worker.process.kill()
            self._ending.set()

        def hang_up(number: int, _: Any) -> None:
            if self._ends_with_terminal:
                end(number, _)
            else:
                self._reload.begin()

        acts: dict[str, Callable[[int, Any], None]] = {
            "SIGINT": end, "SIGTERM": end, "SIGBREAK": end, "SIGHUP": hang_up,
        }  # fmt: skip
        numbers = {getattr(signal, name, None): act for name, act in acts.items()}
        before = {
            number: signal.signal(number, act)
            for number, act in numbers.items()
            if number is not None
        }
        try:
            yield
        finally:
            for number, act in before.items():
                signal.signal(number, act)

    def _end(self) -> None:
        for worker in self._workers:
            worker.end()
        until = time.monotonic() + self._grace
        for worker in self._workers:
            worker.process.join(max(0.0, until - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


class _Worker:
    """A worker as the supervisor sees it: the model it was given and the model it serves."""

    def __init__(
        self, maker: ApplicationMaker, settings: dict[str, Any], opened: socket.socket
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, there = context.Pipe()
        self.given = maker
        self.serves: ApplicationMaker | None = None
        self.process = context.Process(target=_work, args=(maker, settings, opened, there))
        self.process.start()
        there.close()
        self._queried: float | None = None

    def is_healthy(self) -> bool:
        """Whether it is alive and replied in time; pings it again."""
        try:
            while self._pipe.poll():
                self.serves, self._queried = self._pipe.recv(), None
            if self._queried is None:
                self._queried = time.monotonic()
                self._pipe.send(self.given)
        except (OSError, EOFError):
            return False
        patience = _READY if self.serves is None else _UNHEALTHY
        return self.process.is_alive() and time.monotonic() - self._queried < patience

    def end(self) -> None:
        """Ask it to exit after answering what was sent."""
        with contextlib.suppress(OSError):
            self._pipe.send(None)


# -- in the worker -----------------------------------------------------------------------------


def _work(
    maker: ApplicationMaker, settings: dict[str, Any], opened: socket.socket, pipe: Connection
) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGBREAK", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    _WorkerServer(maker, settings, pipe).run(opened)


class _Server(DrainingServer):
    closes_port = False

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the supervisor."""
        yield


class _WorkerServer:
    """The server in a worker process, which follows the supervisor."""

    def __init__(self, maker: ApplicationMaker, settings: dict[str, Any], pipe: Connection) -> None:
        self._serves = self._loads = maker
        self._pipe = pipe
        self._app: ReplaceableApplication | None = None
        self._server = _Server(uvicorn.Config(self._first, factory=True, **settings))

    def run(self, opened: socket.socket) -> None:
        threading.Thread(target=self._follow_supervisor, daemon=True).start()
        self._server.run(sockets=[opened])
        if self._app is not None:
            self._app.close()

    def _first(self) -> ReplaceableApplication:
        self._app = ReplaceableApplication(self._serves())
        freeze_memory()
        return self._app

    def _follow_supervisor(self) -> None:
        """Serve the model that the supervisor sends, until it asks to exit or is gone."""
        with contextlib.suppress(EOFError, OSError):
            while (wanted := self._pipe.recv()) is not None:
                if self._server.started and wanted not in (self._serves, self._loads):
                    self._loads = wanted
                    threading.Thread(target=self._load, args=(wanted,), daemon=True).start()
                self._pipe.send(self._serves if self._server.started else None)
        self._server.closes_port = self._server.should_exit = True

    def _load(self, wanted: ApplicationMaker) -> None:
        assert self._app is not None
        try:
            self._app.replace(wanted())
            self._serves = wanted
        except Exception:
            _logger.exception("a worker could not load the model and is replaced")
            self._server.should_exit = True
