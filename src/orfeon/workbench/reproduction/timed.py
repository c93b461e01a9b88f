"""Tables of seconds: how long ensembles take to train, and their members to be put in order.

Machines of twenty years ago are not compared with ours by the clock. What is compared is what a
method takes as a multiple of another on the same machine, and how fast its time grows with the
number of members. Other programs, compilers and processors move such ratios too: they agree within
a factor of two, and exponents of growth within a quarter.

References
----------
Martínez-Muñoz (2006). Clasificación mediante conjuntos. Doctoral thesis, Universidad Autónoma de
Madrid. Tables 3.7 and 5.10.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

import orfeon
from orfeon.ordering.orientation import NEAR_DIAGONAL
from orfeon.utils.text import aligned
from orfeon.workbench.reproduction.comparison import Comparison
from orfeon.workbench.reproduction.ordered_bagging import codes_with_unseen, pruned_bag
from orfeon.workbench.reproduction.partitions import Partition
from orfeon.workbench.reproduction.published import PublishedCell
from orfeon.workbench.reproduction.rules import Factor, Within
from orfeon.workbench.reproduction.runs import Build, Cell, Results, Run

if TYPE_CHECKING:
    from orfeon.workbench.reproduction.reproduction import Reproduction

_TRAINING, _ORDERING = "martinez-3.7", "martinez-5.10"
#: What the others are measured by.
_FASTEST, _QUICK_RULE = "igp_ensemble", "orientation"
_MEMBERS = 101
_SIZES = (50, 100, 200, 400, 800, 1600)
#: The least of so many times is taken: what disturbs a measurement only makes it longer.
_TIMES = 3

RATIO = Factor(2.0, "Ratios of seconds agree within a factor of two.")
EXPONENT = Within(0.25, "Exponents of growth agree within 0.25.", decimals=2)


def least_seconds(function: Callable[[], Any]) -> float:
    """How long a function takes, on one thread, once it is compiled."""
    function()
    times = []
    with threadpool_limits(limits=1):
        for _ in range(_TIMES):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
    return min(times)


class Timed:
    """An estimator that is only fitted to see how long it takes."""

    seconds: float

    def __init__(self, build: Callable[[], Any]) -> None:
        self.build = build

    def get_params(self) -> dict[str, Any]:
        """The estimator and its parameters."""
        estimator = self.build()
        return {"timed": estimator, **estimator.get_params()}

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Fit the estimator again and again."""
        self.seconds = least_seconds(lambda: self.build().fit(X, y))
        return self


def _seconds_of(cell: Cell) -> Callable[[Any, Partition], Results]:
    return lambda timed, split: {cell: {"seconds": timed.seconds}}


def timed_training(builds: Mapping[str, Build]) -> tuple[Run, ...]:
    """Fits of 101 members that are only timed."""

    def timed(build: Build) -> Build:
        return lambda members, seed, jobs: Timed(lambda: build(members, seed, jobs))

    cells = {method: Cell(_TRAINING, method, f"T={_MEMBERS}") for method in builds}
    return tuple(
        Run(method, (cells[method],), _MEMBERS, timed(build), _seconds_of(cells[method]))
        for method, build in builds.items()
    )


def _order_seconds(bag: Any, split: Partition) -> Results:
    """Seconds to order the first members of a bag by each rule."""
    votes, y = bag.votes(split.X_train), codes_with_unseen(bag, split.y_train)

    def ordered(size: int, rule: str) -> Callable[[], Any]:
        return lambda: orfeon.order(votes[:size], y=y, rule=rule)

    return {
        Cell(_ORDERING, rule, f"T={size}"): {"seconds": least_seconds(ordered(size, rule))}
        for rule, size in product((_QUICK_RULE, "margin_distance"), _SIZES)
        if size <= len(votes)
    }


#: 1600 trees: the first 50, the first 100 and so on are put in order.
TIMED_ORDERING = Run(
    "timed ordering",
    tuple(
        Cell(_ORDERING, rule, f"T={size}")
        for rule, size in product((_QUICK_RULE, "margin_distance"), _SIZES)
    ),
    max(_SIZES),
    pruned_bag,
    _order_seconds,
    expected_warning=NEAR_DIAGONAL,
    pool_setting="T",
)


def _ratios(found: Reproduction, reference: str) -> list[Comparison]:
    """What each method takes as a multiple of the reference with as many members."""
    references = {
        (cell.dataset, cell.config["T"]): cell for cell in found.cells if cell.method == reference
    }
    comparisons = []
    for cell in found.cells:
        other = references.get((cell.dataset, cell.config["T"]))
        if other is None or cell.method == reference:
            continue
        ours, theirs = found.values(cell), found.values(other)
        ratios = [ours[split] / theirs[split] for split in sorted(ours.keys() & theirs.keys())]
        if ratios:
            published = PublishedCell(
                cell.table, cell.dataset, cell.method, cell.config | {"vs": reference},
                cell.value / other.value, None, cell.n_splits, metric="ratio",
            )  # fmt: skip
            comparisons.append(Comparison.of(published, ratios, rule=RATIO))
    return comparisons


def growth_exponent(seconds: Mapping[int, float]) -> float:
    """The power of the number of members that seconds grow with."""
    members, times = np.log(list(seconds.keys())), np.log(list(seconds.values()))
    return float(np.polyfit(members, times, 1)[0])


def _exponents(found: Reproduction) -> list[Comparison]:
    comparisons = []
    for method in dict.fromkeys(cell.method for cell in found.cells):
        cells = {int(cell.config["T"]): cell for cell in found.cells if cell.method == method}
        values = {size: found.values(cell) for size, cell in cells.items()}
        values = {size: by_split for size, by_split in values.items() if by_split}
        if len(values) < 2:
            continue
        splits = sorted(set.intersection(*(set(by_split) for by_split in values.values())))
        ours = [
            growth_exponent({size: by_split[split] for size, by_split in values.items()})
            for split in splits
        ]
        first = next(iter(cells.values()))
        published = PublishedCell(
            first.table, first.dataset, method, {"T": f"{min(values)}-{max(values)}"},
            growth_exponent({size: cells[size].value for size in values}), None, first.n_splits,
            metric="exponent",
        )  # fmt: skip
        comparisons.append(Comparison.of(published, ours, rule=EXPONENT))
    return comparisons


def compare_training(found: Reproduction) -> list[Comparison]:
    """Times to train as multiples of those of IGP ensembles, ours beside the published."""
    return _ratios(found, _FASTEST)


def compare_ordering(found: Reproduction) -> list[Comparison]:
    """Times to order as multiples of those of orientation, and how fast times grow."""
    return [*_ratios(found, _QUICK_RULE), *_exponents(found)]


def seconds_beside(found: Reproduction) -> str:
    """Seconds as they were measured, ours beside the published, and how many times less."""
    lines = [["method", "T", "seconds", "published", "times faster"]]
    for cell in found.cells:
        values: Sequence[float] = list(found.values(cell).values())
        if values:
            ours = float(np.mean(values))
            lines.append(
                [cell.method, cell.config["T"], f"{ours:.4f}", f"{cell.value:g}",
                 f"{cell.value / ours:.0f}"]
            )  # fmt: skip
    return "Seconds, not compared:\n" + aligned(lines, to_the_right={1, 2, 3, 4})
