"""Tasks on the workers of a Dask cluster, even if workers die.

Dask reruns tasks of a killed worker, but ``retries=`` does not cover two cases: when all workers
that hold scattered data are killed, their tasks are cancelled; and after four killed workers a task
ends with ``KilledWorker``. So lost data and tasks are sent again here.
"""

from __future__ import annotations

import importlib
import itertools
import queue
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from orfeon.workbench.tasks.cluster import Cluster, ClusterError
from orfeon.workbench.tasks.outcome import Outcome, attempt, failure, pack, unpack

#: Batches handed to the scheduler for every thread of the workers: one running, others waiting.
AHEAD = 4
#: Seconds of tasks that are sent together, and how many these may be.
TOGETHER, MOST_TOGETHER = 0.2, 64
#: Seconds without any worker before giving up.
WAIT_FOR_WORKERS = 60.0
#: Times that one task may be lost with its worker.
LOSSES = 5
#: Numbered tasks that are sent together.
Batch = list[tuple[int, Any]]
#: Seconds after which workers are counted again.
COUNT_AGAIN = 2.0
#: Seconds between looks at the cluster while no result comes.
LOOK = 0.5


def disconnected(address: str) -> ClusterError:
    """The error of a scheduler that is gone."""
    return ClusterError(
        f"The scheduler at {address} no longer answers. Start it and its workers again, then run "
        "the command again."
    )


def all_gone(address: str) -> ClusterError:
    """The error of a cluster that has lost all workers."""
    return ClusterError(
        f"All workers of {address} are gone, and none came back within {WAIT_FOR_WORKERS:g} s. "
        f"Start some (dask worker {address}) and run the command again."
    )


class ClusterTasks:
    """Runs a function on the workers of a cluster."""

    def __init__(
        self, cluster: Cluster, function: Callable[[Any], Any], naming: Callable[[Any], str]
    ) -> None:
        self.cluster = cluster
        self.client = cluster.client
        self.function = pack(function)
        self.naming = naming
        self.sent = _Sent(cluster)
        self.done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.open: dict[Any, Batch] = {}
        self.losses: dict[int, int] = {}
        self.seconds: float | None = None
        self.together = 1
        self.counted: tuple[float, int] | None = None

    def run(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield results as they come."""
        numbered = enumerate(tasks)
        try:
            self._fill(numbered)
            while self.open:
                future = self._next_done()
                outcomes = self._outcomes(future)
                if outcomes is None:
                    continue
                batch = self.open.pop(future)
                future.release()
                self._learn(outcomes)
                self._fill(numbered)
                for outcome, (_, task) in zip(outcomes, batch, strict=True):
                    if outcome.error is not None:
                        raise failure(outcome.error, task, self.naming) from outcome.error
                    yield outcome.result
        finally:
            self._cancel()

    def _fill(self, numbered: Iterator[tuple[int, Any]]) -> None:
        """Hand out batches as long as there is room for them."""
        while len(self.open) < self._room():
            batch = list(itertools.islice(numbered, self.together))
            if not batch:
                return
            self._submit(batch)

    def _room(self) -> int:
        """How many batches may be under way; workers come and go."""
        now = time.monotonic()
        if self.counted is None or now - self.counted[0] > COUNT_AGAIN:
            self.counted = now, AHEAD * max(1, self._threads())
        return self.counted[1]

    def _threads(self) -> int:
        if self.client.status != "running":
            raise disconnected(self.cluster.address)
        try:
            return self.cluster.threads()
        except OSError as error:
            raise disconnected(self.cluster.address) from error

    def _learn(self, outcomes: list[Outcome]) -> None:
        """Send as many tasks together as take some time: on the way they would lose it."""
        mean = sum(outcome.seconds for outcome in outcomes) / len(outcomes)
        self.seconds = mean if self.seconds is None else 0.7 * self.seconds + 0.3 * mean
        self.together = int(min(MOST_TOGETHER, max(1.0, TOGETHER / max(self.seconds, 1e-9))))

    def _submit(self, batch: Batch) -> None:
        packed = pack(batch)
        future = self.client.submit(
            _run_packed,
            self.sent.future_of(self.function.data),
            packed.data,
            len(self.function.arrays),
            *map(self.sent.future_of, (*self.function.arrays, *packed.arrays)),
            key=f"orfeon-task-{batch[0][0]}-{uuid.uuid4().hex}",
            pure=False,
        )
        self.open[future] = batch
        future.add_done_callback(self.done.put)

    def _next_done(self) -> Any:
        """Wait until a task is done or lost, or all workers are gone."""
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
        """Since when there has been no worker, if there is none."""
        if self._threads():
            return None
        now = time.monotonic()
        if idle_since is not None and now - idle_since > WAIT_FOR_WORKERS:
            raise all_gone(self.cluster.address)
        return now if idle_since is None else idle_since

    def _outcomes(self, future: Any) -> list[Outcome] | None:
        """What tasks gave; None if they were lost and have been sent again."""
        from concurrent.futures import CancelledError

        KilledWorker = importlib.import_module("distributed").KilledWorker

        try:
            outcomes: list[Outcome] = future.result()
        except (CancelledError, KilledWorker) as error:
            if self.client.status != "running":
                raise disconnected(self.cluster.address) from error
            self._send_again(future, error)
            return None
        return outcomes

    def _send_again(self, future: Any, error: BaseException) -> None:
        """Send tasks that were lost, each on its own: one of them may be what killed the worker."""
        self.sent.forget_lost()
        for number, task in self.open.pop(future):
            self.losses[number] = self.losses.get(number, 0) + 1
            if self.losses[number] > LOSSES:
                raise failure(error, task, self.naming) from error
            self._submit([(number, task)])

    def _cancel(self) -> None:
        if self.open and self.client.status == "running":
            self.client.cancel(list(self.open), force=True)
        self.open.clear()
        self.sent.release()


def _run_packed(function: bytes, tasks: bytes, split: int, *arrays: Any) -> list[Outcome]:
    """Run tasks where they have arrived; the first of the arrays are those of the function.

    The function is unpacked for each task, so no task sees what another changed in it.
    """
    return [
        attempt(unpack(function, arrays[:split]), number, task)
        for number, task in unpack(tasks, arrays[split:])
    ]


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
