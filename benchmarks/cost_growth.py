"""How the time of bagging grows with the rows and with the members."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks import problems
from benchmarks.one_forest import two_classes
from benchmarks.problems import Data
from benchmarks.report import Measurement, Target, remarks
from benchmarks.timing import Contender, Timing, interleave, one_thread
from orfeon import BaggingClassifier, RandomForestClassifier


def _fit(data: Data, n_trees: int) -> Any:
    return BaggingClassifier(n_estimators=n_trees, n_jobs=1, random_state=0).fit(data.X, data.y)


def time_by_size(works: dict[int, Callable[[], Any]], rounds: int) -> dict[int, Timing]:
    """Time tasks of different sizes in turn, on one thread."""
    sizes = {str(size): size for size in works}
    contenders = [Contender(name, works[size]) for name, size in sizes.items()]
    with one_thread():
        timings = interleave(contenders, rounds=rounds, least_seconds=0.1)
    return {sizes[name]: timing for name, timing in timings.items()}


def relative_growth(
    seconds: dict[int, float], cost: Callable[[int], float]
) -> dict[int, float]:  # fmt: skip
    """Seconds over their expected cost, relative to the first size.

    Examples
    --------
    >>> relative_growth({10: 1.0, 20: 2.0, 40: 5.0}, float)
    {10: 1.0, 20: 1.0, 40: 1.25}
    """
    first = next(iter(seconds))
    unit = seconds[first] / cost(first)
    return {size: time / cost(size) / unit for size, time in seconds.items()}


def growth_line(
    name: str,
    shape: tuple[int, int],
    timings: dict[int, Timing],
    growth: dict[int, float],
    target: Target,
    note: str,
) -> Measurement:
    """The growth up to the largest size, as a line of the report."""
    largest = max(growth)
    steps = ", ".join(f"{size} {factor:.2f}" for size, factor in growth.items())
    answers = [r for size, timing in timings.items() for r in remarks(f"{name} to {size}", timing)]
    return Measurement(
        name, *shape, figure=growth[largest], unit="ratio", seconds=timings[largest].seconds,
        spread=timings[largest].spread, target=target,
        notes=[f"{name}: {note}: {steps}.", *answers],
        detail={"growth": growth, "seconds": {n: t.seconds for n, t in timings.items()}},
    )  # fmt: skip


def with_rows(name: str, sizes: Sequence[int], n_trees: int, rounds: int) -> list[Measurement]:
    """Whether the time grows like N log N; the smaller sets are the first rows of the largest."""
    whole = problems.clusters(max(sizes), 20)
    parts = {n: Data(whole.name, whole.X[:n].copy(), whole.y[:n]) for n in sizes}
    timings = time_by_size({n: partial(_fit, part, n_trees) for n, part in parts.items()}, rounds)
    seconds = {n: timing.seconds for n, timing in timings.items()}
    growth = relative_growth(seconds, lambda n: n * math.log(n))
    target, note = Target("at most", 1.3, "ratio"), f"time of {n_trees} trees over N log N at N"
    return [growth_line(name, whole.shape, timings, growth, target, note)]


def with_members(name: str, sizes: Sequence[int], rounds: int) -> list[Measurement]:
    """Whether the time grows like the members, from the second size on."""
    data = problems.clusters(1000, 20)
    timings = time_by_size({n: partial(_fit, data, n) for n in sizes}, rounds)
    seconds = {n: timings[n].seconds for n in sizes}
    base = relative_growth(seconds, float)
    growth = {n: factor / base[sizes[1]] for n, factor in base.items()}
    target, note = Target("from", 0.8, "ratio", 1.25), "time over members at"
    return [growth_line(name, data.shape, timings, growth, target, note)]


def of_forests(quick: bool) -> list[Measurement]:
    """Whether the time of a random forest grows like N log N, up to a million rows."""
    sizes = (1000, 4000) if quick else (2000, 16_000, 128_000, 1_000_000)
    whole = two_classes(max(sizes))
    works: dict[int, Callable[[], Any]] = {
        n: partial(_fit_forest, whole.X[:n].copy(), whole.y[:n], _trees_at(n)) for n in sizes
    }
    timings = time_by_size(works, 1 if quick else 3)
    seconds = {n: timing.seconds / _trees_at(n) for n, timing in timings.items()}
    growth = relative_growth(seconds, lambda n: n * math.log(n))
    target, note = Target("at most", 1.5, "ratio"), "time of a tree over N log N at N"
    name = "growth with rows"
    return [growth_line(name, (max(sizes), whole.X.shape[1]), timings, growth, target, note)]


def _trees_at(n_rows: int) -> int:
    """So many trees that what is done once for all of them counts little."""
    return max(4, min(100, 800_000 // n_rows))


def _fit_forest(X: Any, y: Any, n_trees: int) -> Any:
    return RandomForestClassifier(n_estimators=n_trees, n_jobs=1, random_state=0).fit(X, y)
