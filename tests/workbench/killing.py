"""Kill worker processes between and during runs: no run hangs, no result is lost or comes twice.

Run as ``python -m tests.workbench.killing --rounds 1000``; ``--rounds 20`` is the quick form. Each
round is a run of one kind, with its own ``n_jobs``, while a thread kills worker processes; joblib
is in use beside it. A round that takes longer than ``--limit`` ends the program with the stacks of
all its threads.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from orfeon.workbench.tasks import local_tasks
from orfeon.workbench.tasks.parallel import run_all

#: Workers that are killed in a round at most, before it and during it.
_KILLS = 2, 6


class Work:
    """Sleeps, and gives an array of some size; holds one that is sent once."""

    def __init__(self, rng: random.Random) -> None:
        self.milliseconds = rng.choice([0, 5, 20])
        self.size = rng.choice([1, 300_000])
        self.held = np.arange(rng.choice([1, 200_000]), dtype=np.float64)
        self.is_nested = rng.random() < 0.2

    def __call__(self, number: int) -> tuple[int, float, Any]:
        time.sleep(number % 3 * self.milliseconds / 1000)
        if self.is_nested:
            assert sorted(run_all(abs, range(-3, 0), n_jobs=2)) == [1, 2, 3]
        return number, float(self.held.sum()), np.full(self.size, number, dtype=np.float64)

    def is_right(self, result: tuple[int, float, Any]) -> bool:
        number, total, array = result
        return (
            total == self.held.sum() and len(array) == self.size and bool((array == number).all())
        )


class Round:
    """One round: what is run, who is killed, and what came of it."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.kind = self.rng.choice(sorted(KINDS))
        self.n_tasks = self.rng.randint(1, 16)
        self.work = Work(self.rng)
        self.n_killed = 0
        self.n_results = 0
        self._is_over = threading.Event()

    def run(self) -> None:
        """Run it, and raise if a result is wrong, missing or there twice."""
        between, during = (self.rng.randint(0, most) for most in _KILLS)
        for pid in workers()[:between]:
            self._kill(pid)  # it has nothing to do now
        killer = threading.Thread(target=self._kill_some, args=[during])
        killer.start()
        try:
            KINDS[self.kind](self)
        finally:
            self._is_over.set()
            killer.join()

    def results(self, n_jobs: int | None = None) -> Generator[int, None, None]:
        """Numbers of the tasks that were done, as they come."""
        n_jobs = n_jobs or self.rng.randint(2, 4)
        for result in run_all(self.work, iter(range(self.n_tasks)), n_jobs=n_jobs):
            assert self.work.is_right(result), f"wrong result: {result}"
            self.n_results += 1
            yield result[0]

    def check(self, numbers: list[int], *, is_whole: bool = True) -> None:
        """All tasks, or with ``is_whole=False`` some of them, each once."""
        assert len(set(numbers)) == len(numbers), f"twice: {numbers}"
        if is_whole:
            assert sorted(numbers) == list(range(self.n_tasks)), f"lost: {numbers}"

    def _kill_some(self, n_kills: int) -> None:
        rng = random.Random(self.rng.random())
        for _ in range(n_kills):
            self._is_over.wait(rng.choice([0.02, 0.1, 0.3]) * rng.random())
            if there := workers():
                self._kill(rng.choice(there))

    def _kill(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.n_killed += 1


def _whole(one: Round) -> None:
    one.check(list(one.results()))


def _several_n_jobs(one: Round) -> None:
    for n_jobs in one.rng.sample(range(2, 6), 2):
        one.check(list(one.results(n_jobs)))


def _two_at_once(one: Round) -> None:
    first, second = one.results(), one.results()
    found = [next(first), next(second)]
    one.check([found[1], *second])
    one.check([found[0], *first])


def _left_early(one: Round) -> None:
    results = one.results()
    one.check([next(results)], is_whole=False)
    results.close()
    one.check(list(one.results()))


def _forgotten(one: Round) -> None:
    one.check([next(one.results())], is_whole=False)  # nobody closes it
    one.check(list(one.results()))


def _use_joblib(n_jobs: int) -> None:
    assert Parallel(n_jobs=n_jobs)(delayed(abs)(-n) for n in range(4)) == [0, 1, 2, 3]


def _joblib_beside(one: Round) -> None:
    results = one.results()
    found = [next(results)]
    for n_jobs in one.rng.sample([2, 3], 2):
        _use_joblib(n_jobs)
    one.check([*found, *results])


def _joblib_in_a_thread(one: Round) -> None:
    numbers: list[int] = []
    beside = threading.Thread(target=lambda: numbers.extend(one.results()))
    beside.start()
    _use_joblib(one.rng.choice([2, 3]))
    beside.join()
    one.check(numbers)


def _two_threads(one: Round) -> None:
    found: list[list[int]] = [[], []]
    threads = [
        threading.Thread(target=lambda into=into: into.extend(one.results())) for into in found
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for numbers in found:
        one.check(numbers)


KINDS: dict[str, Callable[[Round], None]] = {
    kind.__name__.strip("_"): kind
    for kind in (
        _whole, _several_n_jobs, _two_at_once, _left_early, _forgotten, _joblib_beside,
        _joblib_in_a_thread, _two_threads,
    )
}  # fmt: skip


def workers(*, with_dead: bool = False) -> list[int]:
    """The worker processes of this one; dead ones have no command any more."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                rest = (entry / "stat").read_text().rpartition(")")[2]
                is_child = int(rest.split()[1]) == os.getpid()
                command = (entry / "cmdline").read_bytes()
                is_dead = with_dead and not command
                if is_child and (b"orfeon.workbench.tasks.worker" in command or is_dead):
                    found.append(int(entry.name))
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds; 0 if all is well."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a round may take")
    parser.add_argument("--idle", type=float, default=3.0, help="seconds that idle workers wait")
    given = parser.parse_args(arguments)
    local_tasks.IDLE = given.idle
    local_tasks.PATIENCE = sum(_KILLS)  # chance may hit one task each time
    began = time.perf_counter()
    longest, n_killed, n_results, kinds = 0.0, 0, 0, Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        for number in range(given.rounds):
            one = Round(given.seed + number)
            faulthandler.dump_traceback_later(given.limit, exit=True)
            before = time.perf_counter()
            try:
                one.run()
            except BaseException:
                print(f"round {given.seed + number} ({one.kind}) failed", file=sys.stderr)
                raise
            longest = max(longest, time.perf_counter() - before)
            n_killed, n_results = n_killed + one.n_killed, n_results + one.n_results
            kinds[one.kind] += 1
            if (number + 1) % 100 == 0:
                print(f"{number + 1:,} rounds", file=sys.stderr, flush=True)
        faulthandler.cancel_dump_traceback_later()
        time.sleep(given.idle + 1)
        left, files = workers(with_dead=True), [file.name for file in Path(folder).glob("orfeon-*")]
        tempfile.tempdir = None
    print(
        f"{given.rounds:,} rounds, {n_killed:,} workers killed, {n_results:,} results, none lost, "
        f"none twice; {time.perf_counter() - began:,.0f} s, the longest round {longest:.1f} s"
    )
    print(", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
    if left or files:
        print(f"left behind: processes {left}, folders {files}")
    return 1 if left or files else 0


if __name__ == "__main__":
    sys.exit(main())
