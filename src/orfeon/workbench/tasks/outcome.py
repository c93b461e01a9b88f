"""What is sent to other processes, and what comes back: tasks in bytes, and their outcomes."""

from __future__ import annotations

import functools
import importlib
import io
import pickle
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.errors import UserError

#: Arrays of this many bytes are sent once, not with every task.
LARGE = 1_000_000


class TaskError(RuntimeError):
    """A task failed; the message names it, and ``__cause__`` is what went wrong."""

    def __init__(self, message: str, task: Any = None) -> None:
        super().__init__(message)
        self.task = task


class Outcome:
    """What became of a task in another process: its result, or what went wrong there."""

    __slots__ = ("error", "number", "result", "seconds")

    def __init__(
        self,
        number: int,
        result: Any = None,
        error: BaseException | None = None,
        seconds: float = 0.0,
    ) -> None:
        self.number = number
        self.result = result
        self.error = error
        self.seconds = seconds


def attempt(function: Callable[[Any], Any], number: int, task: Any) -> Outcome:
    """Run a task, and take note of what it raises."""
    began = time.perf_counter()
    try:
        result = function(task)
        return Outcome(number, result, seconds=time.perf_counter() - began)
    except BaseException as error:  # also SystemExit, which would end the worker unnoticed
        # Tracebacks cannot travel; their text can.
        error.add_note("".join(traceback.format_exception(error)).rstrip())
        return Outcome(number, error=portable(error))


def failure(error: BaseException, task: Any, naming: Callable[[Any], str]) -> Exception:
    """What to raise for a task that failed."""
    if isinstance(error, UserError):
        return UserError(f"{error} (Task: {naming(task)}.)")
    return TaskError(f"Task {naming(task)} failed: {type(error).__name__}: {error}", task)


def portable(error: BaseException) -> BaseException:
    """The exception itself, or one with the same message, if it does not survive pickling."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


class Packed(NamedTuple):
    """A thing in bytes."""

    data: bytes
    arrays: tuple[npt.NDArray[Any], ...]


def pack(thing: Any) -> Packed:
    """Put a thing in bytes; large arrays are left out, however deep they lie."""
    stream = io.BytesIO()
    pickler = _pickler()(stream)
    pickler.dump(thing)
    return Packed(stream.getvalue(), tuple(pickler.large))


def unpack(data: bytes, arrays: Sequence[npt.NDArray[Any]]) -> Any:
    """The thing that was packed; its large arrays are read-only, for others have them too."""
    return _Unpickler(data, arrays).load()


def to_bytes(thing: Any) -> bytes:
    """A thing in bytes, with all its arrays."""
    data: bytes = _cloudpickle().dumps(thing)
    return data


def _cloudpickle() -> Any:
    try:
        return importlib.import_module("cloudpickle")
    except ImportError:  # joblib brings its own
        return importlib.import_module("joblib.externals.cloudpickle")


@functools.cache
def _pickler() -> Any:
    class LeavingOut(_cloudpickle().Pickler):  # type: ignore[misc]
        """Leaves large arrays out and collects them."""

        def __init__(self, stream: io.BytesIO) -> None:
            super().__init__(stream)
            self.large: list[Any] = []

        def persistent_id(self, part: Any) -> int | None:
            if type(part) not in (np.ndarray, np.memmap) or part.nbytes < LARGE:
                return None
            if part.dtype.hasobject:
                return None
            for place, array in enumerate(self.large):
                if array is part:
                    return place
            self.large.append(part)
            return len(self.large) - 1

    return LeavingOut


class _Unpickler(pickle.Unpickler):
    """Puts the large arrays back."""

    def __init__(self, data: bytes, arrays: Sequence[npt.NDArray[Any]]) -> None:
        super().__init__(io.BytesIO(data))
        self.arrays = arrays

    def persistent_load(self, place: Any) -> Any:
        array = self.arrays[place].view()
        array.flags.writeable = False
        return array
