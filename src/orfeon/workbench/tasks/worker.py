"""A worker process: it runs the tasks that arrive on its standard input, one at a time.

Its two pipes lead to one process only, and it shares no lock. Killing it at any moment loses its
own result and nothing else.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from io import FileIO
from typing import Any, NamedTuple

import numpy as np
from joblib import parallel_config

from orfeon.workbench.tasks.outcome import Outcome, attempt, portable, to_bytes, unpack

#: Bytes that announce how long a message is.
_HEADER = 8
_logger = logging.getLogger("orfeon")


class Parcel(NamedTuple):
    """A packed thing whose large arrays lie in files, from where all processes map them."""

    data: bytes
    files: tuple[str, ...]

    def open(self) -> Any:
        """The thing; its large arrays are read-only."""
        return unpack(self.data, [np.load(file, mmap_mode="r") for file in self.files])


class Order(NamedTuple):
    """A task, the folder and the file of the function to run it with, and the level of the log."""

    number: int
    task: Parcel
    folder: str
    function: str
    level: int

    def run(self) -> Outcome:
        """Run it; the function is read anew, so that no task sees what another changed in it."""

        def call(task: Parcel) -> Any:
            with open(self.function, "rb") as file:
                function: Callable[[Any], Any] = pickle.load(file).open()
            return function(task.open())

        return attempt(call, self.number, self.task)


def send(stream: FileIO, message: bytes) -> None:
    """Write a message; an OSError means that the reader is gone."""
    left = memoryview(len(message).to_bytes(_HEADER, "big") + message)
    while left:
        left = left[stream.write(left) :]


def receive(stream: FileIO) -> bytes | None:
    """Read a message; None if the writer is gone, even in the middle of it."""
    header = _read(stream, _HEADER)
    return None if header is None else _read(stream, int.from_bytes(header, "big"))


def _read(stream: FileIO, size: int) -> bytes | None:
    found = bytearray()
    while len(found) < size:
        part = stream.read(min(size - len(found), 1 << 20))
        if not part:
            return None
        found += part
    return bytes(found)


def nested() -> parallel_config:
    """What joblib does inside of a task: threads, as in its own workers."""
    return parallel_config(backend="threading", nesting_level=1)


class Notice(logging.Filter):
    """Lets the notice that kernels are compiled pass once, or not at all."""

    is_silent = False
    has_reported = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record may pass."""
        if record.module != "jit":
            return True
        passes = not (self.is_silent or self.has_reported)
        self.has_reported |= passes
        return passes

    def join(self, *, is_silent: bool) -> None:
        """Let it pass in one of several processes only, which all compile at the same time."""
        self.is_silent = is_silent
        _logger.addFilter(self)


notice = Notice()


class Worker:
    """What a worker process does."""

    #: Whether this process is one.
    is_here = False

    def __init__(self) -> None:
        self.folder: str | None = None

    def serve(self) -> None:
        """Run tasks until the parent closes the pipe."""
        Worker.is_here = True
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        orders, answers = _own_streams()
        threading.Thread(target=self._watch, args=[os.getppid()], daemon=True).start()
        with nested(), contextlib.suppress(OSError):  # the reader is gone
            while (message := receive(orders)) is not None:
                send(answers, self.answer(message))
        self._end()

    def answer(self, message: bytes) -> bytes:
        """Run a task; its result, and whether this process reported that kernels are compiled."""
        order: Order = pickle.loads(message)
        _logger.setLevel(order.level)
        if self.folder is None:  # the first task of a process decides
            notice.join(is_silent=order.number > 0)
        self.folder = order.folder
        outcome = order.run()
        try:
            return to_bytes((outcome, notice.has_reported))
        except Exception as error:
            return to_bytes((Outcome(order.number, error=portable(error)), notice.has_reported))

    def _watch(self, parent: int) -> None:
        """End soon after the parent, which may be killed without warning."""
        while os.getppid() == parent:
            time.sleep(0.5)
        self._end()

    def _end(self) -> None:
        """End this process, and those that its tasks have begun."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        if os.name == "posix" and os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)


def _own_streams() -> tuple[FileIO, FileIO]:
    """The pipes of this process; tasks read an empty input, and print to standard error."""
    orders, answers = FileIO(os.dup(0), "r"), FileIO(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return orders, answers
