"""Ctrl-C and other signals during a kernel that runs for long.

Python handles signals in the main thread, between two of its own instructions, and a kernel is one
instruction. So a long kernel runs in a thread beside the main one, and looks at a word that says
whether its result is still wanted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy.typing as npt

Result = TypeVar("Result")

#: Seconds between two looks for signals where a waiting thread does not notice them (Windows).
_LOOK = 0.1


class _Work(threading.Thread, Generic[Result]):
    """A call in a thread, with its result or its error."""

    def __init__(self, call: Callable[[], Result]) -> None:
        super().__init__(name="orfeon-kernel", daemon=True)
        self._call = call
        self.results: list[Result] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.results.append(self._call())
        except BaseException as error:  # raised again by the thread that waits
            self.error = error

    def wait(self) -> None:
        while self.is_alive():
            self.join(_LOOK)


def stoppable(call: Callable[[], Result], stop: npt.NDArray[Any]) -> Result:
    """Call a kernel that ends early once ``stop[0]`` is not 0, and let signals be handled.

    Outside the main thread it is simply called.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    work = _Work(call)
    work.start()
    try:
        work.wait()
    except BaseException:
        stop[0] = 1
        work.wait()
        raise
    if work.error is not None:
        raise work.error
    return work.results[0]
