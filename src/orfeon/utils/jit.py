"""Compilation of the kernels, and the notice while the user waits for it.

Kernels are compiled on first use and cached on disk, so each machine pays once.
Set ``NUMBA_DISABLE_JIT=1`` to run them as plain Python, for debugging and coverage.
"""

from __future__ import annotations

# The functions behind signal.signal without its conversions: 0.6 against 7 microseconds a call.
import _signal  # type: ignore[import-not-found]
import logging
import signal
import threading
import time
import types
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt
from numba.core import event
from numba.core.registry import CPUDispatcher

from orfeon.utils.kernel_cache import KernelCache
from orfeon.utils.step_library import (
    KernelCompiler,
    LargeKernelCompiler,
    LoopStepCompiler,
    StepCompiler,
)

logger = logging.getLogger("orfeon")

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

#: Seconds of compilation after which the notice is logged.
PATIENCE = 2.0


_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
#: For steps: no wrappers for calls from Python and C, and no machine code of their own.
_STEP: dict[str, Any] = {
    "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": StepCompiler
}  # fmt: skip


def _cached(compiled: Any) -> Any:
    """Cache a compiled function on disk; without JIT, plain functions are returned unchanged."""
    if isinstance(compiled, CPUDispatcher):
        compiled._cache = KernelCache(compiled.py_func)
    return compiled


# -- Ctrl-C during a kernel ------------------------------------------------------------------------
#
# Signals are delayed until the kernel has returned. Numba runs Python code when it converts results
# to Python objects. A signal handler that raises there leaves an exception set although there is a
# result, or a NULL result: a SystemError at best.

#: Signals whose Python handlers may raise.
_SIGNALS = tuple(
    int(getattr(signal, name))
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)


class HeldSignals:
    """A context that delays signal handlers until its end.

    Python runs handlers only in the main thread, so other threads need nothing.
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
        except BaseException:  # a signal arrived in the loop
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
        # Ctrl-C comes last: its restored handler may raise before the next line.
        for number, handler in reversed(self.before.items()):
            _signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.is_holding:
            self.arrived[number] = frame
        else:  # handlers are being replaced, or a signal interrupted that
            self.before[number](number, frame)


class InterruptibleDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A compiled function that signals cannot interrupt; they are handled after it returns."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with HeldSignals():
            return super().__call__(*args, **kwargs)


# -- compilation -----------------------------------------------------------------------------------


def kernel(function: FunctionT) -> FunctionT:
    """Compile a function over arrays: no interpreter lock, cached on disk, C's division.

    Ctrl-C waits until it returns.
    """
    compiler = numba.njit(**_OPTIONS, pipeline_class=KernelCompiler)
    compiled: FunctionT = _interruptible(compiler(function))
    return compiled


def large_kernel(function: FunctionT) -> FunctionT:
    """Compile a kernel of very many steps, of whose loops only those in loop steps are hot."""
    compiler = numba.njit(**_OPTIONS, pipeline_class=LargeKernelCompiler)
    compiled: FunctionT = _interruptible(compiler(function))
    return compiled


def _interruptible(function: Any) -> Any:
    compiled = _cached(function)
    if isinstance(compiled, CPUDispatcher):
        # Other kernels call the same object, so it must stay a dispatcher of Numba's.
        compiled.__class__ = InterruptibleDispatcher
    return compiled


def step(function: FunctionT) -> FunctionT:
    """Compile a function that only kernels call."""
    compiled: FunctionT = _cached(numba.njit(**_OPTIONS, **_STEP)(function))
    return compiled


def array_step(function: FunctionT) -> FunctionT:
    """Compile a step that only reads and writes arrays and records given to it, and makes none.

    It does not count references to its arrays: in a node of a few samples, counting would cost more
    than reading the samples.
    """
    compiled: FunctionT = _cached(numba.njit(**_OPTIONS, **_STEP, _nrt=False)(function))
    return compiled


def loop_step(function: FunctionT) -> FunctionT:
    """Compile an array step whose loop is hot: it is vectorised and unrolled before it is merged.

    For large kernels, whose other loops are left as they are.
    """
    options = {**_OPTIONS, **_STEP, "_nrt": False, "pipeline_class": LoopStepCompiler}
    compiled: FunctionT = _cached(numba.njit(**options)(function))
    return compiled


def merged_step(function: FunctionT) -> FunctionT:
    """Compile an array step that becomes part of each of its callers.

    An array is passed to a function as seven words, which in a node of a few samples costs more
    than reading them.
    """
    plain = getattr(function, "py_func", function)
    options = {**_OPTIONS, **_STEP, "_nrt": False, "forceinline": True}
    compiled: FunctionT = _cached(numba.njit(**options)(plain))
    return compiled


def inlined(function: FunctionT) -> FunctionT:
    """Compile a step that becomes part of its only caller."""
    plain = getattr(function, "py_func", function)
    compiled: FunctionT = _cached(numba.njit(**_OPTIONS, **_STEP, forceinline=True)(plain))
    return compiled


def with_step(function: FunctionT, name: str, **steps: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a kernel in which some global functions are replaced.

    Methods that differ in one step share the rest this way. Kernels that take the step as an
    argument could not be cached.
    """
    plain = getattr(function, "py_func", function)
    copy = types.FunctionType(plain.__code__, {**plain.__globals__, **steps}, name)
    copy.__qualname__ = name
    copy.__module__ = plain.__module__
    copy.__doc__ = plain.__doc__
    return copy


class _Writable:
    """An array interface that presents a read-only array as writable."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface
        self.owner = array


def kernel_view(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view of an array that counts as writable, without a copy.

    For Numba a read-only array has another type, for which every kernel would be compiled again.
    Kernels only read the arguments that are passed through here.
    """
    return array if array.flags.writeable else np.asarray(_Writable(array))


class _CompilationNotice(event.Listener):  # type: ignore[misc]
    """Logs once per process why the first call is slow."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self._depth = 0
        self._spent = 0.0
        self._started = 0.0
        self._is_logged = False

    def on_start(self, event: Any) -> None:
        if self._is_logged or not _is_ours(event):
            return
        self._depth += 1
        if self._depth == 1:
            # The user waits for the sum over all kernels, so earlier compilations count.
            self._started = time.monotonic()
            self._timer = threading.Timer(max(0.0, PATIENCE - self._spent), self._log)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:
        if self._depth == 0 or not _is_ours(event):
            return
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._spent += time.monotonic() - self._started

    def _log(self) -> None:
        self._is_logged = True
        logger.warning(
            "orfeon is compiling its kernels; this happens once per machine and takes a few "
            "seconds."
        )


def _is_ours(event: Any) -> bool:
    dispatcher = event.data.get("dispatcher") if isinstance(event.data, dict) else None
    function = getattr(dispatcher, "py_func", None)
    return str(getattr(function, "__module__", "")).startswith("orfeon.")


event.register("numba:compile", _CompilationNotice())
