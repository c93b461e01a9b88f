"""Runs of a study, one outer fold after another, each in the store before it counts.

Runs that the store has are not run again. With a budget the study goes on, fold by fold, while the
next one is likely to end in time; how far it went is noted in the store, so that the same study
read again is the same.
"""

from __future__ import annotations

import itertools
import math
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

from orfeon.workbench.experiment.evaluation import Evaluation, Finished, RunKey
from orfeon.workbench.experiment.plan import Plan
from orfeon.workbench.store import RunRow, Study
from orfeon.workbench.tasks.parallel import run_all

#: Share of a budget by which the end of a repetition may exceed it.
_GRACE = 0.2
#: Seconds after which the keys of the store are read again.
_LOOK_AGAIN = 10.0


class Listener(Protocol):
    """Whoever wants to hear how a study goes."""

    def begin(self, n_runs: int | None, n_stored: int = 0) -> None:
        """How many runs there will be, if that is known, and how many of them are there."""

    def running(self, what: str) -> None:
        """What runs now."""

    def done(self, key: RunKey, failed: str | None) -> None:
        """A run is in the store."""

    def note(self, text: str) -> None:
        """Something worth knowing."""


class NullListener:
    """A listener that keeps still."""

    def begin(self, n_runs: int | None, n_stored: int = 0) -> None:
        """How many runs there will be, if that is known, and how many of them are there."""

    def running(self, what: str) -> None:
        """What runs now."""

    def done(self, key: RunKey, failed: str | None) -> None:
        """A run is in the store."""

    def note(self, text: str) -> None:
        """Something worth knowing."""


def unit_keys(plan: Plan, unit: int) -> list[RunKey]:
    """The runs of an outer fold."""
    parts: tuple[int | None, ...] = (None, *range(plan.n_inner))
    return [RunKey(unit, part, method) for part in parts for method in plan.methods]


@dataclass
class Running:
    """Where and how runs are made."""

    plan: Plan
    evaluation: Evaluation
    study: Study
    n_workers: int = 1
    cluster: Any = None
    listener: Listener | None = None
    clock: Callable[[], float] = time.perf_counter

    def __post_init__(self) -> None:
        self._heard: Listener = self.listener or NullListener()
        self._seconds: dict[str, float] = {}
        self._stored: set[str] = set()
        self._looked = -math.inf
        self._warned: set[str] = set()

    def units(self, numbers: Iterable[int]) -> None:
        """Run some outer folds, all of their runs that are not in the store."""
        self._look()
        wanted = [key for unit in numbers for key in unit_keys(self.plan, unit)]
        left = [key for key in wanted if key.text not in self._stored]
        self._run(self._slow_first(left))

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

    def _look(self) -> None:
        """See what the store has: others may add to it, but reading all keys takes its time."""
        if self.clock() - self._looked > _LOOK_AGAIN:
            self._stored |= self.study.keys()
            self._looked = self.clock()

    def _complete(self, unit: int = 0) -> int:
        """Number of outer folds that have all their runs, from one on that is known to be next."""
        self._look()
        while all(key.text in self._stored for key in unit_keys(self.plan, unit)):
            unit += 1
        return unit

    def _slow_first(self, keys: Sequence[RunKey]) -> list[RunKey]:
        """Long runs are begun first, so that no worker waits for one at the end."""
        return sorted(keys, key=lambda key: -self._seconds.get(key.method, 0.0))

    def _run(self, keys: Sequence[RunKey]) -> None:
        if not keys:
            return
        left = dict.fromkeys(keys)
        self._tell_running(left)
        results = run_all(
            self.evaluation, keys, n_jobs=self.n_workers, cluster=self.cluster,
            name=lambda key: key.text,
        )  # fmt: skip
        with closing(results):  # type: ignore[type-var]
            for found in results:
                left.pop(found.key, None)
                self._keep(found)
                self._tell_running(left)

    def _tell_running(self, left: Iterable[RunKey]) -> None:
        """Say what runs now: tasks are taken in order, one for each worker."""
        now = list(itertools.islice(left, min(self.n_workers, 4)))
        if now:
            names = ", ".join(dict.fromkeys(key.method for key in now))
            self._heard.running(f"outer fold {now[0].unit + 1}: {names}")

    def _keep(self, found: Finished) -> None:
        self._seconds[found.key.method] = found.seconds
        configuration = {
            "method": found.key.method,
            "fold": found.key.unit,
            "inner": found.key.inner,
            "rule": self.plan.rule,
            "keep": list(self.plan.keep),
            "members": self.plan.members,
        }
        row = RunRow(
            found.key.text,
            configuration,
            found.seed,
            found.result,
            found.seconds,
            dict(found.timings),
        )
        self.study.put(row)
        self._stored.add(row.key)
        for text in found.warnings:
            self._keep_warning(found.key.method, text)
        self._heard.done(found.key, found.result.get("failed"))

    def _keep_warning(self, method: str, text: str) -> None:
        """Each once, beside the rows."""
        name = f"warning {method} {zlib.crc32(text.encode()):08x}"
        if name not in self._warned:
            self._warned.add(name)
            self.study.note(name, text)
