"""Tasks on the workers of a Dask cluster, whoever of them dies.

joblib's own Dask backend yields results as they come, but does not send again the data that only
workers had that died, and ends with an error. So tasks are handed to the scheduler here: what was
lost is sent and run again.
"""

from __future__ import annotations

import importlib
import itertools
import queue
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from orfeon.study.cluster import Cluster, ClusterError
from orfeon.study.packing import pack, unpack
from orfeon.study.parallel import Outcome, attempt, failure

#: Tasks handed to the scheduler for every thread of the workers: one running, others waiting.
AHEAD = 4
#: Seconds without any worker before giving up.
WAIT_FOR_WORKERS = 60.0
#: Times that one task may be lost with its worker.
LOSSES = 5
#: Seconds between looks at the cluster while no result comes.
LOOK = 0.5


def disconnected(address: str) -> ClusterError:
    """The error of a scheduler that is gone.

    Parameters
    ----------
    address : str
        Where it was.

    Returns
    -------
    ClusterError
        To be raised.

    Examples
    --------
    >>> from orfeon.study.cluster_tasks import disconnected
    >>> print(disconnected("tcp://10.0.0.1:8786"))
    The scheduler at tcp://10.0.0.1:8786 no longer answers. Start it and its workers again, then
    run the command again.
    """
    return ClusterError(
        f"The scheduler at {address} no longer answers. Start it and its workers again, then run "
        "the command again."
    )


def all_gone(address: str) -> ClusterError:
    """The error of a cluster that has lost all workers.

    Parameters
    ----------
    address : str
        Where its scheduler is.

    Returns
    -------
    ClusterError
        To be raised.

    Examples
    --------
    >>> from orfeon.study.cluster_tasks import all_gone
    >>> print(all_gone("tcp://10.0.0.1:8786"))
    All workers of tcp://10.0.0.1:8786 are gone, and none came back within 60 s. Start some (dask
    worker tcp://10.0.0.1:8786) and run the command again.
    """
    return ClusterError(
        f"All workers of {address} are gone, and none came back within {WAIT_FOR_WORKERS:g} s. "
        f"Start some (dask worker {address}) and run the command again."
    )


class ClusterTasks:
    """Runs a function on the workers of a cluster.

    Parameters
    ----------
    cluster : Cluster
        Where.
    function : callable
        What to run; it is sent once.
    naming : callable
        Names a task in messages.

    Examples
    --------
    >>> from orfeon.study.cluster_tasks import ClusterTasks
    >>> list(ClusterTasks(cluster, abs, str).run([-1]))  # doctest: +SKIP
    [1]
    """

    def __init__(
        self, cluster: Cluster, function: Callable[[Any], Any], naming: Callable[[Any], str]
    ) -> None:
        self.cluster = cluster
        self.client = cluster.client
        self.function = pack(function)
        self.naming = naming
        self.sent = _Sent(cluster)
        self.done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.open: dict[Any, tuple[int, Any]] = {}
        self.losses: dict[int, int] = {}

    def run(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield results as they come.

        Parameters
        ----------
        tasks : iterable
            What to run the function on.

        Yields
        ------
        object
            A result.
        """
        numbered = enumerate(tasks)
        try:
            self._submit(itertools.islice(numbered, self._room()))
            while self.open:
                future = self._next_done()
                outcome = self._outcome(future)
                if outcome is None:
                    continue
                _, task = self.open.pop(future)
                future.release()
                if outcome.error is not None:
                    raise failure(outcome.error, task, self.naming) from outcome.error
                self._submit(itertools.islice(numbered, 1))
                yield outcome.result
        finally:
            self._cancel()

    def _room(self) -> int:
        return AHEAD * max(1, self.cluster.threads())

    def _submit(self, numbered: Iterable[tuple[int, Any]]) -> None:
        for number, task in numbered:
            packed = pack(task)
            future = self.client.submit(
                _run_packed,
                number,
                self.sent.future_of(self.function.data),
                packed.data,
                len(self.function.arrays),
                *map(self.sent.future_of, (*self.function.arrays, *packed.arrays)),
                key=f"orfeon-task-{number}-{uuid.uuid4().hex}",
                pure=False,
            )
            self.open[future] = number, task
            future.add_done_callback(self.done.put)

    def _next_done(self) -> Any:
        """Wait for a task to be done or lost, as long as there is somebody to do it."""
        idle_since: float | None = None
        while True:
            try:
                future = self.done.get(timeout=LOOK)
            except queue.Empty:
                idle_since = self._look(idle_since)
                continue
            if future in self.open:
                return future

    def _look(self, idle_since: float | None) -> float | None:
        if self.client.status != "running":
            raise disconnected(self.cluster.address)
        try:
            threads = self.cluster.threads()
        except OSError as error:
            raise disconnected(self.cluster.address) from error
        if threads:
            return None
        now = time.monotonic()
        if idle_since is not None and now - idle_since > WAIT_FOR_WORKERS:
            raise all_gone(self.cluster.address)
        return now if idle_since is None else idle_since

    def _outcome(self, future: Any) -> Outcome | None:
        """What a task gave; None if it was lost and has been sent again."""
        from concurrent.futures import CancelledError

        KilledWorker = importlib.import_module("distributed").KilledWorker

        try:
            outcome = future.result()
        except (CancelledError, KilledWorker) as error:
            if self.client.status != "running":
                raise disconnected(self.cluster.address) from error
            self._send_again(future, error)
            return None
        assert isinstance(outcome, Outcome)
        return outcome

    def _send_again(self, future: Any, error: BaseException) -> None:
        number, task = self.open.pop(future)
        self.losses[number] = self.losses.get(number, 0) + 1
        if self.losses[number] > LOSSES:
            raise failure(error, task, self.naming) from error
        self.sent.forget_lost()
        self._submit([(number, task)])

    def _cancel(self) -> None:
        if self.open and self.client.status == "running":
            self.client.cancel(list(self.open), force=True)
        self.open.clear()
        self.sent.release()


def _run_packed(number: int, function: bytes, task: bytes, split: int, *arrays: Any) -> Outcome:
    """Run a task where it has arrived; of the arrays the first ones are those of the function.

    The function is unpacked anew for each task: what one changes in it no other sees.
    """
    return attempt(unpack(function, arrays[:split]), number, unpack(task, arrays[split:]))


class _Sent:
    """What is on the workers already: the function and large arrays, each sent once."""

    def __init__(self, cluster: Cluster) -> None:
        self.address, self.client = cluster.address, cluster.client
        self._futures: dict[int, tuple[Any, Any]] = {}

    def future_of(self, thing: Any) -> Any:
        """The future of a thing that the workers have."""
        kept = self._futures.get(id(thing))
        if kept is None:
            # It is kept alive here, so that its id stays its own.
            kept = self._futures[id(thing)] = thing, self._send(thing)
        return kept[1]

    def _send(self, thing: Any) -> Any:
        """Send a thing to all workers; it may be that they are gone and others come."""
        until = time.monotonic() + WAIT_FOR_WORKERS
        while True:
            try:
                self.client.wait_for_workers(1, timeout=WAIT_FOR_WORKERS)
                return self.client.scatter(thing, broadcast=True, hash=False)
            except OSError as error:  # running out of time is one
                if self.client.status != "running":
                    raise disconnected(self.address) from error
                if time.monotonic() > until:
                    raise all_gone(self.address) from error

    def forget_lost(self) -> None:
        """Send again what only workers had that died."""
        lost = [key for key, (_, future) in self._futures.items() if future.status != "finished"]
        for key in lost:
            del self._futures[key]

    def release(self) -> None:
        """Let the workers forget it."""
        for _, future in self._futures.values():
            future.release()
        self._futures.clear()
