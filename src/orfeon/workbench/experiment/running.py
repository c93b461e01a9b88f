"""Runs of a study, one outer fold after another, and how many rows a budget can afford.

With a budget, the study continues fold by fold while the next one is likely to end in time. How far
it went is noted in the store, so that reading the same study again gives the same result.
"""

from __future__ import annotations

import itertools
import math
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Integers
from orfeon.workbench.experiment.engine import Engine
from orfeon.workbench.experiment.evaluation import Evaluation, Finished, RunKey, take_rows
from orfeon.workbench.experiment.plan import Folding, Plan
from orfeon.workbench.store import StoredStudy
from orfeon.workbench.tasks.parallel import run_all

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
    return [RunKey(unit, part, method) for part in parts for method in plan.fitted]


@dataclass
class Running:
    """Runs outer folds of a study, as many as are wanted or as a budget allows."""

    plan: Plan
    evaluation: Evaluation
    study: StoredStudy
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
        self,
        seconds: float,
        least: int,
        step: int,
        started: float,
        most: int | None = None,
        *,
        reserve: float = 0.0,
    ) -> int:
        """Run as many outer folds as a budget allows that leaves the time of ``reserve`` more."""
        n_done, last = self._complete(), 0.0
        while most is None or n_done < most:
            left = seconds - (self.clock() - started) - reserve * last
            if n_done >= least and not self._goes_on(left, last, (-n_done) % step, step, seconds):
                break
            begun = self.clock()
            batch = range(n_done, n_done + self._batch(least - n_done, (-n_done) % step or step))
            self.units(batch)
            last = (self.clock() - begun) / len(batch)
            n_done = self._complete(n_done)
        return n_done

    def _batch(self, least: int, to_end: int) -> int:
        """Number of outer folds to run together: enough for all workers, within a repetition."""
        n_runs = len(unit_keys(self.plan, 0))
        return max(1, min(max(least, -(-2 * self.n_workers // n_runs)), to_end))

    @staticmethod
    def _goes_on(left: float, last: float, to_end: int, step: int, budget: float) -> bool:
        """Whether to begin another outer fold, if it takes as long as the last one.

        A repetition is begun if all of it fits; one that has begun is completed if that does not
        take much longer than allowed.
        """
        if to_end == 0:
            return left > 0 and last * step <= left
        return 0 < left >= last or last * to_end <= left + _GRACE * budget

    def _complete(self, unit: int = 0) -> int:
        """Number of complete outer folds, counted from one that is known to be complete."""
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


#: Tables up to this size are studied whole: their fits take fractions of a second.
SMALL = 2000
#: Rows of the two samples that are timed.
SAMPLES = (500, 1000)
#: Growth of the time with the number of rows is taken to lie between these powers.
_LEAST_POWER, _GREATEST_POWER = 1.0, 1.6
#: Outer folds that must fit, in this share of the budget.
_FOLDS, _SHARE = 5, 0.6


def sample_rows(y: npt.NDArray[Any], n_rows: int, is_stratified: bool, seed: int) -> Integers:
    """Rows drawn at random, in their order."""
    if n_rows >= len(y):
        return np.arange(len(y))
    generator = np.random.default_rng(np.random.SeedSequence([seed, len(y), n_rows]))
    if not is_stratified:
        return np.sort(generator.choice(len(y), n_rows, replace=False))
    codes, counts = np.unique(y, return_counts=True)
    quotas = n_rows * counts / len(y)
    wanted = np.floor(quotas).astype(np.int64)
    # The rest goes to the classes that lost most by rounding down.
    wanted[np.argsort(wanted - quotas, kind="stable")[: n_rows - wanted.sum()]] += 1
    wanted = np.maximum(wanted, np.minimum(2, counts))
    drawn = [
        generator.choice(np.flatnonzero(y == code), n, replace=False)
        for code, n in zip(codes, wanted, strict=True)
    ]
    return np.sort(np.concatenate(drawn))


def affordable_rows(
    seconds: Mapping[str, tuple[float, float]], n_rows: int, n_inner: int, budget: float
) -> int:
    """Rows with which some outer folds of all methods fit into a budget."""

    def fold(rows: float) -> float:
        """Time of an outer fold: one fit on four fifths of the rows, inner ones on less."""
        total = 0.0
        for small, large in seconds.values():
            ratio = large / small if small > 0 else 2.0
            power = min(max(math.log2(max(ratio, 1.0)), _LEAST_POWER), _GREATEST_POWER)
            inner = n_inner * ((n_inner - 1) / n_inner) ** power if n_inner else 0.0
            total += large * (0.8 * rows / SAMPLES[1]) ** power * (1.0 + inner)
        return total

    allowed = _SHARE * budget / _FOLDS
    if fold(n_rows) <= allowed:
        return n_rows
    low, high = float(min(SAMPLES[1], n_rows)), float(n_rows)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if fold(middle) <= allowed else (low, middle)
    return int(low)


def time_methods(
    evaluation: Evaluation, plan: Plan, run: Callable[..., Any] = run_all, **where: Any
) -> dict[str, tuple[float, float]]:
    """Time every method on two samples."""
    is_stratified = plan.task == "classification"
    found: dict[str, list[float]] = {name: [] for name in plan.fitted}
    # The first round compiles the kernels, so its times are not used.
    for n_rows in (SAMPLES[0], *SAMPLES):
        rows = sample_rows(evaluation.y, n_rows, is_stratified, plan.seed)
        y = evaluation.y[rows]
        # Two halves: both sides of the split are as large as the sample is to be.
        twice = np.concatenate([np.arange(len(rows)), np.arange(len(rows))])
        folding = Folding(y[twice], False, plan.seed, kind="splits", test_share=0.5)
        small = replace(
            evaluation, X=take_rows(evaluation.X, rows[twice]), y=y[twice], folding=folding
        )
        keys = [RunKey(0, None, name) for name in plan.fitted]
        for done in run(small, keys, **where):
            found[done.configuration["method"]].append(done.seconds)
    return {name: (times[1], times[2]) for name, times in found.items()}
