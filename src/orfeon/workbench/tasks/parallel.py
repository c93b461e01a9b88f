"""Tasks run here, in processes or on a cluster, with the same results.

The error of a failed task names it; the tasks of a worker process that dies are run again.
"""

from __future__ import annotations

import functools
import importlib
import io
import pickle
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from orfeon.errors import UserError
from orfeon.utils.text import short

if TYPE_CHECKING:
    from orfeon.workbench.tasks.cluster import Cluster

Task = TypeVar("Task")
Result = TypeVar("Result")

#: Arrays of this many bytes are sent once, not with every task.
LARGE = 1_000_000
#: Letters of a task in a message.
_LONGEST_NAME = 120


class TaskError(RuntimeError):
    """A task failed; the message names it, and ``__cause__`` is what went wrong."""

    def __init__(self, message: str, task: Any = None) -> None:
        super().__init__(message)
        self.task = task


def run_all(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    *,
    n_jobs: int | None = None,
    cluster: Cluster | None = None,
    prefer: Literal["processes", "threads"] = "processes",
    name: Callable[[Task], str] | None = None,
) -> Iterator[Result]:
    """Run a function on all tasks and yield the results as they come, in any order.

    The result must depend on the task only; then it is the same to the last bit wherever it is
    computed. Closing the iterator, or an interruption, cancels what has not begun and leaves no
    process behind. Processes that have done all their tasks wait ten seconds for another call.
    Several iterators may be open at once, each with processes of its own.
    """
    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise UserError(f"n_jobs must be a number of processes, or -1 for all; got {n_jobs!r}.")
    if prefer not in ("processes", "threads"):
        raise UserError(f"prefer must be 'processes' or 'threads'; got {prefer!r}.")
    naming = task_name if name is None else name
    if cluster is not None:
        from orfeon.workbench.tasks.cluster_tasks import ClusterTasks

        return ClusterTasks(cluster, function, naming).run(tasks)
    if n_jobs in (None, 1):
        return _here(function, tasks, naming)
    from orfeon.workbench.tasks.local_tasks import ProcessTasks, ThreadTasks
    from orfeon.workbench.tasks.worker import Worker

    # A task that has tasks of its own runs them in threads: processes are as many as wanted.
    kind = ThreadTasks if prefer == "threads" or Worker.is_here else ProcessTasks
    return kind(function, naming, int(n_jobs or 1)).run(tasks)


def task_name(task: Any) -> str:
    """A short name of a task, for messages."""
    for attribute in ("key", "name"):
        named = getattr(task, attribute, None)
        if isinstance(named, str):
            return named
    if isinstance(task, tuple | list):
        parts = ", ".join(task_name(part) if _is_array(part) else repr(part) for part in task)
        return short(f"({parts})" if isinstance(task, tuple) else f"[{parts}]", _LONGEST_NAME)
    if _is_array(task):
        return f"array of shape {task.shape}"
    return short(repr(task), _LONGEST_NAME)


def failure(error: BaseException, task: Any, naming: Callable[[Any], str]) -> Exception:
    """What to raise for a task that failed."""
    if isinstance(error, UserError):
        return UserError(f"{error} (Task: {naming(task)}.)")
    return TaskError(f"Task {naming(task)} failed: {type(error).__name__}: {error}", task)


def _is_array(part: Any) -> bool:
    return hasattr(part, "shape")


def _here(
    function: Callable[[Task], Result], tasks: Iterable[Task], naming: Callable[[Task], str]
) -> Iterator[Result]:
    for task in tasks:
        try:
            result = function(task)
        except Exception as error:
            raise failure(error, task, naming) from error
        yield result


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
