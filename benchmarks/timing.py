"""Fair timing: the contenders take turns, so that a busy moment of the machine hits all of them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from statistics import median
from typing import Any

from threadpoolctl import threadpool_limits


@dataclass(frozen=True)
class Contender:
    """Something to be timed."""

    #: Who it is.
    name: str
    #: What is timed, called without arguments.
    work: Callable[[], Any]
    #: What the seconds are multiplied by: 10 when ``work`` is a tenth of the whole.
    factor: float = 1.0
    #: What is run once before, not counted; ``work`` itself by default.
    warm_up: Callable[[], Any] | None = None
    #: Whether other processes do the work: how much processor time they had is then not known.
    in_processes: bool = False


@dataclass(frozen=True)
class Timing:
    """What a contender took.

    Examples
    --------
    >>> timing = Timing((1.0, 1.1, 1.4), cores=1.0)
    >>> timing.seconds, round(timing.spread, 2)
    (1.1, 0.36)
    """

    #: Seconds of one call, in each round.
    rounds: tuple[float, ...]
    #: Processor time over wall-clock time: above 1 when several threads ran, well below 1 when
    #: others used the machine. None when other processes did the work.
    cores: float | None
    #: The contender's factor; the seconds include it.
    factor: float = 1.0
    #: What the last call returned.
    result: Any = None

    @property
    def seconds(self) -> float:
        """Median over the rounds."""
        return median(self.rounds)

    @property
    def spread(self) -> float:
        """Range of the rounds as a share of their median."""
        return (max(self.rounds) - min(self.rounds)) / self.seconds


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold the thread pools of the numerical libraries to one thread."""
    with threadpool_limits(limits=1):
        yield


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _frozen() -> Iterator[None]:
    """Let garbage collections look at new objects only: those of the libraries are many."""
    frozen_before = gc.get_freeze_count() > 0  # by somebody who wants it to stay so
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        if not frozen_before:
            gc.unfreeze()


def _time_once(contender: Contender, least_seconds: float) -> tuple[float, float, int, Any]:
    """Call until ``least_seconds`` have passed; wall-clock and processor seconds, and calls."""
    calls = 0
    with _no_garbage_collection():
        processor = time.process_time()
        start = time.perf_counter()
        while True:
            result = contender.work()
            calls += 1
            elapsed = time.perf_counter() - start
            if elapsed >= least_seconds:
                return elapsed, time.process_time() - processor, calls, result


def interleave(
    contenders: Sequence[Contender], *, rounds: int = 5, least_seconds: float = 0.02
) -> dict[str, Timing]:
    """Time some contenders in turns.

    Examples
    --------
    >>> short = Contender("short", lambda: sum(range(1000)))
    >>> long = Contender("long", lambda: sum(range(9000)))
    >>> timings = interleave([short, long])
    >>> len(timings["short"].rounds), timings["short"].seconds < timings["long"].seconds
    (5, True)
    """
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, got {rounds}")
    names = [contender.name for contender in contenders]
    if len(set(names)) < len(names):
        raise ValueError(f"contenders must have different names, got {', '.join(names)}")
    for contender in contenders:
        (contender.warm_up or contender.work)()
    seconds: dict[str, list[float]] = {name: [] for name in names}
    wall, processor = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    results: dict[str, Any] = {}
    turns = [
        list(contenders) if turn % 2 == 0 else [*reversed(contenders)] for turn in range(rounds)
    ]
    with _frozen():
        for contender in chain.from_iterable(turns):
            name = contender.name
            results.pop(name, None)  # the last result's memory is free before the next is made
            elapsed, used, calls, results[name] = _time_once(contender, least_seconds)
            seconds[name].append(elapsed / calls * contender.factor)
            wall[name] += elapsed
            processor[name] += used
    return {
        contender.name: Timing(
            tuple(seconds[contender.name]),
            None if contender.in_processes else processor[contender.name] / wall[contender.name],
            contender.factor,
            results[contender.name],
        )
        for contender in contenders
    }
