"""A model file is loaded anew while the old model answers.

SIGHUP asks for it; a file that cannot be served changes nothing. Where a terminal belongs to the
command SIGHUP says that it was closed, and ends the service as SIGTERM does.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

_logger = logging.getLogger("orfeon.workbench.serve")


class ReplaceableApplication:
    """An application whose model can be replaced while it answers."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.limits = app.limits

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer by the application of now; whoever has begun ends what it began."""
        await self._app(scope, receive, send)

    def replace(self, app: Any) -> None:
        """Answer by another one from now on.

        Nothing refers to the one before but the requests that it is answering. With the last of
        them it is gone, and so are its threads.
        """
        self._app = app

    def close(self) -> None:
        """Let the threads end."""
        self._app.scoring.close()


class Reload:
    """Makes a new application of a file that may have changed, beside the work of the process."""

    def __init__(self, make: Callable[[], Any], take: Callable[[Any], None]) -> None:
        self._make = make
        self._take = take
        self._is_wanted = self._works = False
        # A signal may come while the one before it is being handled, in the same thread.
        self._lock = threading.RLock()

    def begin(self) -> None:
        """Begin, or do it once more after what is being done now; it does not wait for that."""
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
            except Exception as error:  # whatever it is, the old model is there
                _logger.error("the file cannot be served, so the old model stays: %s", error)
            else:
                self._take(app)
                del app  # nobody else may be the last to know it


def has_terminal() -> bool:
    """Whether a person started the command in a terminal."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


@contextlib.contextmanager
def on_hangup(act: Callable[[], None]) -> Iterator[None]:
    """Act on SIGHUP, where there is such a signal and nobody has said to ignore it."""
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
