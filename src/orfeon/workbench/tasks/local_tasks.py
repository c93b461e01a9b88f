"""Tasks in threads of this process, or in worker processes of this machine, whichever of them die.

Every thread has a worker process of its own and waits for nobody else. joblib's executor is not
used: one serves the whole process, so that a second user, or a worker that dies while nobody looks,
may leave the first one waiting for ever.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import logging
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import cpu_count
from joblib.parallel import ParallelBackendBase

from orfeon.workbench.tasks.outcome import Outcome, attempt, failure, pack
from orfeon.workbench.tasks.worker import Order, Parcel, nested, notice, receive, send

#: Tasks taken for every thread: one running, others waiting.
AHEAD = 2
#: Times that a task may lose its worker process.
PATIENCE = 3
#: Seconds that worker processes wait for other tasks.
IDLE = 10.0
#: A group of its own: Ctrl-C in a terminal reaches this process only, which ends the others.
_GROUP: dict[str, Any] = (
    {"process_group": 0}
    if os.name == "posix"
    else {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
)
#: What a worker process begins with; its arguments are where to import from.
_SERVE = (
    "import sys; sys.path[:] = sys.argv[1:]\n"
    "from orfeon.workbench.tasks.worker import Worker; Worker().serve()"
)
_logger = logging.getLogger("orfeon")


class WorkerDiedError(RuntimeError):
    """A worker process died before its task was done."""


class ThreadTasks:
    """Runs a function on tasks in threads."""

    def __init__(
        self, function: Callable[[Any], Any], naming: Callable[[Any], str], n_jobs: int
    ) -> None:
        self.function = function
        self.naming = naming
        self.n_jobs = n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs)
        self.open: dict[int, Any] = {}
        self.waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.done: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self.n_threads = 0
        self.is_closed = False

    def run(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield results as they come."""
        numbered = enumerate(tasks)
        try:
            self._hand_out(numbered)
            while self.open:
                outcome = self.done.get()
                task = self.open.pop(outcome.number)
                if outcome.error is not None:
                    raise failure(outcome.error, task, self.naming) from outcome.error
                self._hand_out(numbered)
                yield outcome.result
        finally:
            self.close()

    def close(self) -> None:
        """Cancel what has not begun."""
        self.is_closed = True
        for _ in range(self.n_threads):
            self.waiting.put(None)

    def _hand_out(self, numbered: Iterator[tuple[int, Any]]) -> None:
        """Take tasks as long as there is room for them."""
        for number, task in itertools.islice(numbered, AHEAD * self.n_jobs - len(self.open)):
            try:
                prepared = self._prepare(number, task)
            except Exception as error:
                raise failure(error, task, self.naming) from error
            self.open[number] = task
            self.waiting.put((number, prepared))
            if self.n_threads < self.n_jobs:
                threading.Thread(target=self._work, name="orfeon-tasks", daemon=True).start()
                self.n_threads += 1

    def _prepare(self, number: int, task: Any) -> Any:
        """A task in the form that a thread needs."""
        return task

    def _work(self) -> None:
        """Run tasks; whatever happens, each that is begun has an outcome."""
        while (item := self.waiting.get()) is not None and not self.is_closed:
            number, prepared = item
            try:
                outcome = self._attempt(number, prepared)
            except BaseException as error:
                outcome = Outcome(number, error=error)
            self.done.put(outcome)

    def _attempt(self, number: int, prepared: Any) -> Outcome:
        with nested():
            return attempt(self.function, number, prepared)


class ProcessTasks(ThreadTasks):
    """Runs a function on tasks in worker processes, one for each thread.

    Its sets and lists are changed by single operations, with no lock: an iterator that is left may
    be closed by the garbage collection, at any point of any thread.
    """

    def __init__(
        self, function: Callable[[Any], Any], naming: Callable[[Any], str], n_jobs: int
    ) -> None:
        super().__init__(function, naming, n_jobs)
        self.free: list[Process] = []
        self.busy: set[Process] = set()

    def run(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield results as they come."""
        self.start = Start.of(self.n_jobs)
        _open.add(self)
        with contextlib.closing(_Files()) as self.files:
            parcel, self.arrays = self.files.parcel(self.function)
            self.function_file = self.files.write(pickle.dumps(parcel))
            yield from super().run(tasks)

    def close(self) -> None:
        """Cancel what has not begun and end the processes, unless everything is done."""
        super().close()
        for process in list(self.busy):
            process.kill()  # the thread that waits for its answer notices
        while self.free:
            with contextlib.suppress(IndexError):
                process = self.free.pop()
                process.end() if self.open else _keep(process)
        _open.discard(self)

    def _prepare(self, number: int, task: Any) -> tuple[bytes, Any]:
        parcel, arrays = self.files.parcel(task)
        level = _logger.getEffectiveLevel()
        order = Order(number, parcel, self.files.folder.name, self.function_file, level)
        return pickle.dumps(order), arrays  # the files are there as long as the arrays are

    def _attempt(self, number: int, prepared: tuple[bytes, Any]) -> Outcome:
        for _ in range(PATIENCE + 1):
            answer = self._query(prepared[0])
            if answer is not None:
                outcome: Outcome
                outcome, has_reported = pickle.loads(answer)
                if has_reported:
                    notice.join(is_silent=True)
                return outcome
            if self.is_closed:
                break
        raise WorkerDiedError(
            f"its worker process died {PATIENCE + 1} times. Memory may be short: fewer processes "
            f"(n_jobs={self.n_jobs} now) need less."
        )

    def _query(self, message: bytes) -> bytes | None:
        """The answer of a worker process; None if it died."""
        try:
            process = self.free.pop()
        except IndexError:
            process = _take(self.start)
        self.busy.add(process)
        if self.is_closed:
            self.close()
        answer = process.ask(message)
        self.busy.discard(process)
        if answer is None:
            process.end()
        else:
            self.free.append(process)
        if self.is_closed:
            self.close()
        return answer


class Start(NamedTuple):
    """How a worker process is started; processes started alike are interchangeable."""

    command: list[str]
    environment: dict[str, str]
    folder: str | None

    @classmethod
    def of(cls, n_jobs: int) -> Start:
        """Begin processes, this many, that together have as many threads as there are cores."""
        share = str(max(1, cpu_count() // n_jobs))
        limits = dict.fromkeys(ParallelBackendBase.MAX_NUM_THREADS_VARS, share)
        limits[ParallelBackendBase.TBB_ENABLE_IPC_VAR] = "1"
        try:
            folder = os.getcwd()
        except OSError:  # it was removed
            folder = None
        command = [sys.executable, "-c", _SERVE, *map(str, sys.path)]
        return cls(command, {**limits, **os.environ}, folder)


class Process:
    """A worker process and the two pipes to it, which no other process shares."""

    def __init__(self, start: Start) -> None:
        self.start = start
        self.owner = os.getpid()
        self.lock = threading.RLock()
        self.expiry: threading.Timer | None = None
        self.popen = subprocess.Popen(
            start.command, env=start.environment, cwd=start.folder, bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, **_GROUP,
        )  # fmt: skip

    def ask(self, message: bytes) -> bytes | None:
        """What it answers; None if it died."""
        streams: Any = self.popen.stdin, self.popen.stdout
        try:
            send(streams[0], message)
            return receive(streams[1])
        except OSError:
            return None

    def kill(self) -> None:
        """Kill it, and the processes that its tasks have begun."""
        if self.owner != os.getpid():  # this process is a fork of the one that it belongs to
            return
        with self.lock:
            if self.popen.returncode is None:  # until then the number of the group is its own
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    if os.name == "posix":
                        os.killpg(self.popen.pid, signal.SIGKILL)
                    else:
                        self.popen.kill()
                self.popen.wait()

    def end(self) -> None:
        """Kill it and close the pipes; only the thread that waits for its results may call this."""
        self.kill()
        for stream in (self.popen.stdin, self.popen.stdout):
            if stream is not None:
                stream.close()


#: Idle processes.
_idle: list[Process] = []
#: Those whose results may still be wanted.
_open: weakref.WeakSet[ProcessTasks] = weakref.WeakSet()


def _take(start: Start) -> Process:
    """A process that was begun in this way, a new one if none waits."""
    for process in _idle.copy():
        if process.owner == os.getpid() and process.start == start and _is_taken(process):
            if process.popen.poll() is None:
                return process
            process.end()
    return Process(start)


def _keep(process: Process) -> None:
    """Let a process wait for other tasks."""
    process.expiry = threading.Timer(IDLE, _expire, [process])
    process.expiry.daemon = True
    _idle.append(process)
    process.expiry.start()


def _expire(process: Process) -> None:
    if _is_taken(process):
        process.end()


def _is_taken(process: Process) -> bool:
    """Remove a process from the idle ones, unless another thread has."""
    try:
        _idle.remove(process)
    except ValueError:
        return False
    if process.expiry is not None:
        process.expiry.cancel()
    return True


@atexit.register
def _end_all() -> None:
    for tasks in list(_open):
        tasks.close()
    for process in _idle.copy():
        _expire(process)


class _Files:
    """A folder with what is sent to processes once: the function, and large arrays."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="orfeon-", ignore_cleanup_errors=True)
        self.names = map(str, itertools.count())
        self.arrays: dict[int, tuple[str, weakref.finalize[Any, Any]]] = {}

    def parcel(self, thing: Any) -> tuple[Parcel, Any]:
        """The thing, and arrays to keep as long as it is needed."""
        packed = pack(thing)
        return Parcel(packed.data, tuple(map(self._file_of, packed.arrays))), packed.arrays

    def write(self, data: bytes) -> str:
        """The name of a new file."""
        name = os.path.join(self.folder.name, next(self.names))
        with open(name, "xb") as file:
            file.write(data)
        return name

    def _file_of(self, array: npt.NDArray[Any]) -> str:
        """The file of an array; it goes when the array does."""
        known = self.arrays.get(id(array))
        if known is None:
            name = os.path.join(self.folder.name, f"{next(self.names)}.npy")
            np.save(name, array, allow_pickle=False)
            forget = weakref.finalize(array, self._forget, id(array))
            known = self.arrays[id(array)] = name, forget
        return known[0]

    def _forget(self, key: int) -> None:
        with contextlib.suppress(OSError, KeyError):
            os.remove(self.arrays.pop(key)[0])

    def close(self) -> None:
        """Remove the folder."""
        for _, forget in self.arrays.values():
            forget.detach()
        self.folder.cleanup()
