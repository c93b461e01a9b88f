"""Runs of a study, one outer fold after another.

With a budget the study continues, fold by fold, while the next one is likely to end in time. How
far it went is noted in the store, so that the same study has the same result when it is read again.
"""

from __future__ import annotations

import itertools
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from orfeon.workbench.experiment.engine import Engine
from orfeon.workbench.experiment.evaluation import Evaluation, Finished, RunKey
from orfeon.workbench.experiment.plan import Plan
from orfeon.workbench.store import Study

#: Share of a budget by which the end of a repetition may exceed it.
_GRACE = 0.2


class Listener(Protocol):
    """Receives the progress of a study."""

    def begin(self, n_runs: int | None, n_stored: int = 0) -> None:
        """How many runs there will be, if that is known, and how many of them are there."""

    def running(self, what: str) -> None:
        """What runs now."""

    def done(self, key: RunKey, failed: str | None) -> None:
        """A run is in the store."""

    def note(self, text: str) -> None:
        """Something worth knowing."""


class NullListener:
    """A listener that does nothing."""

    def begin(self, n_runs: int | None, n_stored: int = 0) -> None: ...

    def running(self, what: str) -> None: ...

    def done(self, key: RunKey, failed: str | None) -> None: ...

    def note(self, text: str) -> None: ...


def unit_keys(plan: Plan, unit: int) -> list[RunKey]:
    """The runs of an outer fold."""
    parts: tuple[int | None, ...] = (None, *range(plan.n_inner))
    return [RunKey(unit, part, method) for part in parts for method in plan.methods]


@dataclass
class Running:
    """Runs outer folds of a study, as many as are wanted or as a budget allows."""

    plan: Plan
    evaluation: Evaluation
    study: Study
    n_workers: int = 1
    cluster: Any = None
    listener: Listener | None = None
    clock: Callable[[], float] = time.perf_counter

    def __post_init__(self) -> None:
        self._listener: Listener = self.listener or NullListener()
        self._engine = Engine(self.study, self.n_workers, self.cluster)
        self._seconds: dict[str, float] = {}
        self._warned: set[str] = set()

    def units(self, numbers: Iterable[int]) -> None:
        """Run some outer folds, all of their runs that are not in the store."""
        wanted = [key for unit in numbers for key in unit_keys(self.plan, unit)]
        # Long runs are begun first, so that no worker waits for one at the end.
        keys = sorted(
            self._engine.missing(wanted), key=lambda key: -self._seconds.get(key.method, 0.0)
        )
        left = {key.key: key for key in keys}

        def done(row: Finished) -> None:
            key = left.pop(row.key)
            self._seconds[key.method] = row.seconds
            for text in row.warnings:
                self._keep_warning(key.method, text)
            self._listener.done(key, row.result.get("failed"))
            self._show_running(left.values())

        self._show_running(left.values())
        self._engine.run(self.evaluation, keys, done=done)

    def within(
        self, seconds: float, least: int, step: int, started: float, most: int | None = None
    ) -> int:
        """Run as many outer folds as a budget allows."""
        n_done, last = self._complete(), 0.0
        while most is None or n_done < most:
            left = seconds - (self.clock() - started)
            if n_done >= least and not self._goes_on(left, last, (-n_done) % step, step, seconds):
                break
            begun = self.clock()
            batch = range(n_done, n_done + self._batch(least - n_done, (-n_done) % step or step))
            self.units(batch)
            last = (self.clock() - begun) / len(batch)
            n_done = self._complete(n_done)
        return n_done

    def _batch(self, least: int, to_end: int) -> int:
        """Outer folds that are run at once: enough for all workers, within a repetition."""
        n_runs = len(unit_keys(self.plan, 0))
        return max(1, min(max(least, -(-2 * self.n_workers // n_runs)), to_end))

    @staticmethod
    def _goes_on(left: float, last: float, to_end: int, step: int, budget: float) -> bool:
        """Whether another outer fold is begun, if each takes as long as the last one.

        The next repetition is begun if all of it fits; one that has begun is worth ending, if
        that does not take much longer than allowed.
        """
        if to_end == 0:
            return left > 0 and last * step <= left
        return 0 < left >= last or last * to_end <= left + _GRACE * budget

    def _complete(self, unit: int = 0) -> int:
        """Number of outer folds that have all their runs, from one on that is known to be next."""
        while not self._engine.missing(unit_keys(self.plan, unit)):
            unit += 1
        return unit

    def _show_running(self, left: Iterable[RunKey]) -> None:
        """Show what runs now: tasks are taken in order, one for each worker."""
        now = list(itertools.islice(left, min(self.n_workers, 4)))
        if now:
            names = ", ".join(dict.fromkeys(key.method for key in now))
            self._listener.running(f"outer fold {now[0].unit + 1}: {names}")

    def _keep_warning(self, method: str, text: str) -> None:
        """Each once, beside the rows."""
        name = f"warning {method} {zlib.crc32(text.encode()):08x}"
        if name not in self._warned:
            self._warned.add(name)
            self.study.note(name, text)
