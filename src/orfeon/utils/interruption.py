"""Ctrl-C during a kernel: held until the kernel has returned, then raised.

Numba runs Python code when it turns results into Python objects. A signal handler that raises
there leaves an exception set beside a result, or a result that is NULL: a SystemError at best.
"""

from __future__ import annotations

# The functions behind signal.signal without its conversions: 0.6 against 7 microseconds a call.
import _signal  # type: ignore[import-not-found]
import signal
import threading
from types import FrameType
from typing import Any

from numba.core.registry import CPUDispatcher

#: Signals that programs let raise; one that no Python function handles cannot.
_SIGNALS = tuple(
    int(getattr(signal, name))
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)


class HeldSignals:
    """A context in which no signal handler runs; those that arrive are handled at its end.

    Python runs handlers in the main thread only, so elsewhere there is nothing to hold.
    """

    __slots__ = ("arrived", "before", "is_holding")

    def __init__(self) -> None:
        self.arrived: dict[int, FrameType | None] = {}
        self.before: dict[int, Any] = {}
        self.is_holding = False

    def __enter__(self) -> None:
        if threading.get_ident() != threading.main_thread().ident:
            return
        try:
            for number in _SIGNALS:
                handler = _signal.getsignal(number)
                if callable(handler):
                    self.before[number] = handler
                    _signal.signal(number, self._handle)
            self.is_holding = True
        except BaseException:  # a signal arrived just now
            self._restore()
            raise

    def __exit__(self, *error: object) -> None:
        try:
            self._restore()
        finally:
            self.is_holding = False
        for number, frame in self.arrived.items():
            self.before[number](number, frame)

    def _restore(self) -> None:
        # Ctrl-C comes last: once its handler is back, it may raise before the next line.
        for number, handler in reversed(self.before.items()):
            _signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.is_holding:
            self.arrived[number] = frame
        else:  # handlers are being exchanged, or a signal interrupted that
            self.before[number](number, frame)


class InterruptibleDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A compiled function that can be interrupted between its calls, but not during one."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function; a signal that arrives meanwhile is handled afterwards."""
        with HeldSignals():
            return super().__call__(*args, **kwargs)
