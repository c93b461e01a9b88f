"""How the kernels are compiled, and what the user is told while that happens.

Kernels are compiled on first use and cached on disk, so each machine pays once.
Set ``NUMBA_DISABLE_JIT=1`` to run them as plain Python, for debugging and coverage.
"""

from __future__ import annotations

import logging
import threading
import time
import types
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba.core import event
from numba.core.registry import CPUDispatcher

from orfeon.utils.interruption import InterruptibleDispatcher
from orfeon.utils.kernel_cache import KernelCache

logger = logging.getLogger("orfeon")

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

#: Seconds of compilation after which the user is told what is going on.
PATIENCE = 2.0


_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
#: Python's entrances to a function; making them can take as long as the function itself.
_NO_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _cached(compiled: Any) -> Any:
    """Keep what is compiled on disk; plain functions, where nothing is compiled, stay plain."""
    if isinstance(compiled, CPUDispatcher):
        compiled._cache = KernelCache(compiled.py_func)
    return compiled


def kernel(function: FunctionT) -> FunctionT:
    """Compile a function over arrays: no interpreter lock, cached on disk, C's division.

    Ctrl-C waits until it returns.
    """
    compiled: Any = _cached(numba.njit(**_OPTIONS)(function))
    if isinstance(compiled, CPUDispatcher):
        # Other kernels call the same object, so it must stay a dispatcher of Numba's.
        compiled.__class__ = InterruptibleDispatcher
    return cast(FunctionT, compiled)


def step(function: FunctionT) -> FunctionT:
    """Compile a function that only kernels call."""
    compiled: FunctionT = _cached(numba.njit(**_OPTIONS, **_NO_WRAPPERS)(function))
    return compiled


def array_step(function: FunctionT) -> FunctionT:
    """Compile a step that only reads and writes arrays and records given to it, and makes none.

    It does not count references to its arrays: within a node of a few examples, counting them
    would cost more than looking at the examples.
    """
    compiled: FunctionT = _cached(numba.njit(**_OPTIONS, **_NO_WRAPPERS, _nrt=False)(function))
    return compiled


def inlined(function: FunctionT) -> FunctionT:
    """Compile a function as part of its only caller.

    Each compiled function is optimised again within every function that calls it, so a chain of
    calls costs the compiler once per link. Links with one caller are inlined instead.
    """
    compiled: FunctionT = numba.njit(nogil=True, error_model="numpy", inline="always")(function)
    return compiled


def with_step(function: FunctionT, name: str, **steps: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a kernel that calls other functions in place of some it names.

    Two methods that differ in one step share the rest this way. Passing the step as an argument
    would do the same, but such kernels cannot be cached.
    """
    plain = getattr(function, "py_func", function)
    copy = types.FunctionType(plain.__code__, {**plain.__globals__, **steps}, name)
    copy.__qualname__ = name
    copy.__module__ = plain.__module__
    copy.__doc__ = plain.__doc__
    return copy


class _Writable:
    """The memory of a read-only array, offered as writable."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface
        self.owner = array


def kernel_view(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array as the kernels were compiled for: a read-only one seen as writable, not copied.

    To Numba read-only is another type, for which every kernel would be compiled again. The
    arguments passed through here are only read.
    """
    return array if array.flags.writeable else np.asarray(_Writable(array))


class _CompilationNotice(event.Listener):  # type: ignore[misc]
    """Says once per process why the first call is slow, when it is."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self._depth = 0
        self._spent = 0.0
        self._started = 0.0
        self._said = False

    def on_start(self, event: Any) -> None:
        if self._said or not _is_ours(event):
            return
        self._depth += 1
        if self._depth == 1:
            # What the user waits for is the sum over kernels, so the patience left shrinks.
            self._started = time.monotonic()
            self._timer = threading.Timer(max(0.0, PATIENCE - self._spent), self._say)
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

    def _say(self) -> None:
        self._said = True
        logger.warning(
            "orfeon is compiling its kernels; this happens once per machine and takes some seconds."
        )


def _is_ours(event: Any) -> bool:
    dispatcher = event.data.get("dispatcher") if isinstance(event.data, dict) else None
    function = getattr(dispatcher, "py_func", None)
    return str(getattr(function, "__module__", "")).startswith("orfeon.")


event.register("numba:compile", _CompilationNotice())
