"""Reload the model file while the old model keeps answering.

SIGHUP triggers it; if the file cannot be served, the old model stays. If the command was started in
a terminal, SIGHUP means that the terminal was closed, and ends the service like SIGTERM.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from orfeon.workbench.serve.copies import own_copy
from orfeon.workbench.serve.hosts import AllowedHosts
from orfeon.workbench.serve.limits import Limits

_logger = logging.getLogger("orfeon.workbench.serve")


@dataclass(frozen=True)
class ApplicationMaker:
    """Makes the application in the serving process, to which it is pickled."""

    path: Path
    limits: Limits
    early_decision: float | None
    copies: Path | None = None
    allowed_hosts: AllowedHosts | None = None

    def snapshot(self) -> ApplicationMaker:
        """A maker for a copy of the current file, unaffected by later writes."""
        if self.copies is None:
            return self
        return replace(self, path=own_copy(self.path, self.copies))

    def __call__(self) -> Any:
        from orfeon.workbench.serve.application import create_app

        app = create_app(
            self.path,
            limits=self.limits,
            early_decision=self.early_decision,
            memory_map=self.copies is not None,
            allowed_hosts=self.allowed_hosts,
        )
        # Loading leaves reference cycles that would keep the model alive after its last request.
        gc.collect()
        return app


def freeze_memory() -> None:
    """Exclude all current objects from garbage collection, once, after the first model.

    Scanning modules and kernels again and again would only delay some requests. Later models are
    not frozen, because their reference cycles could then never be collected.
    """
    gc.collect()
    gc.freeze()


class ReplaceableApplication:
    """An application whose model can be replaced while it answers."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.limits = app.limits

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope, receive, send)

    def replace(self, app: Any) -> None:
        """Use another application from now on.

        Only running requests still refer to the previous one; it is freed with the last of them.
        """
        self._app = app

    def close(self) -> None:
        self._app.scoring.close()


class Reload:
    """Makes a new application from the file, in a thread."""

    def __init__(self, make: Callable[[], Any], take: Callable[[Any], None]) -> None:
        self._make = make
        self._take = take
        self._is_wanted = self._works = False
        # A signal may arrive while the same thread handles the previous one.
        self._lock = threading.RLock()

    def begin(self) -> None:
        """Start reloading, or do it once more after the current reload; does not wait."""
        with self._lock:
            self._is_wanted = True
            if not self._works:
                self._works = True
                threading.Thread(target=self._work, daemon=True).start()

    def _is_to_do(self) -> bool:
        with self._lock:
            self._works, self._is_wanted = self._is_wanted, False
            return self._works

    def _work(self) -> None:
        while self._is_to_do():
            try:
                app = self._make()
            except Exception as error:  # whatever it is, the old model stays
                _logger.error("the file cannot be served, so the old model stays: %s", error)
            else:
                self._take(app)
                del app  # this thread must not keep it alive


def has_terminal() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


@contextlib.contextmanager
def on_hangup(act: Callable[[], None]) -> Iterator[None]:
    """Call a function on SIGHUP, unless the platform has no such signal or it is ignored."""
    number = getattr(signal, "SIGHUP", None)
    is_main = threading.current_thread() is threading.main_thread()
    if number is None or not is_main or signal.getsignal(number) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(number, lambda *_: act())
    try:
        yield
    finally:
        signal.signal(number, before)
