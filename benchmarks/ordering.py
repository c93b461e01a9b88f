"""How fast members are ordered, and what pruning saves.

Votes are those of bagged CART trees pruned by cross-validation, on their training set of waveform.
Times are those of ``order_votes()``, including reading and checking the votes; both sides return
the order and its error curve. One thread unless said otherwise.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks import many_members, problems, pruned_prediction
from benchmarks.ordering_peers import PEERS, same_order
from benchmarks.report import Measurement, Target, compare, remarks, seconds_text
from benchmarks.suite import Case, Suite
from benchmarks.timing import Contender, Timing, interleave, one_thread
from orfeon import BaggingClassifier, CARTClassifier
from orfeon.ordering import ORDERING_RULES, Order, order_votes
from orfeon.ordering.exhaustive import search_exhaustive_votes
from orfeon.ordering.genetic import search_genetic_votes
from orfeon.ordering.orientation import NEAR_DIAGONAL
from orfeon.workbench.reproduction import published_seconds

NUMPY = "NumPy"
_BACKFITTING = "reduce_error backfitting"
#: Rules for comparison with others, and one for regression: these are not timed.
NOT_TIMED = (
    "early_stopping",
    "kl_divergence",
    "kappa_hull",
    "gasen",
    "output_clustering",
    "utility",
)
#: Rules by name, as they are measured; backfitting last, which takes longest.
NAMES = (*(name for name in ORDERING_RULES if name not in NOT_TIMED), _BACKFITTING)
#: Rules whose peers are slow with many members, where they are left out.
_SLOW = ("clustering", _BACKFITTING)
#: The thesis's table of times, and what they were measured on.
_TABLE, _PENTIUM = "martinez-5.10", "published, Pentium 4"


class Shape(NamedTuple):
    """Members and samples."""

    members: int
    samples: int


@dataclass(frozen=True)
class Effort:
    """How much work the cases do."""

    #: What the rules are compared with NumPy on; the slow ones on the first only.
    compared: Sequence[Shape]
    #: The same for reduce-error with backfitting.
    backfitted: Shape
    #: What every rule has a second for.
    held: Shape | None
    #: Members of the thesis's table that are timed.
    published: Sequence[int]
    #: Sizes for the growth of the time.
    growth_members: Sequence[int]
    growth_samples: Sequence[int]
    #: Members for the growth of the time of slow rules.
    growth_slow: Sequence[int]
    #: Members that are searched exhaustively.
    searched: Sequence[int]
    #: Votes that are ordered by chunks.
    chunked: Shape | None
    #: Training sets and numbers of members of ensembles that are pruned.
    pruned: Sequence[pruned_prediction.Size]
    #: How often each contender is timed.
    rounds: int = 5


FULL = Effort(
    compared=(Shape(200, 300), Shape(1600, 300)),
    backfitted=Shape(100, 300),
    held=Shape(1000, 1000),
    published=(50, 100, 200, 400, 800, 1600),
    growth_members=(50, 100, 200, 400, 800, 1600),
    growth_samples=(250, 500, 1000, 2000, 4000),
    growth_slow=(50, 100, 200, 400),
    searched=(25, 31),
    chunked=Shape(10_000, 10_000),
    pruned=pruned_prediction.FULL,
)
QUICK = Effort(
    compared=(Shape(200, 300),),
    backfitted=Shape(40, 100),
    held=None,
    published=(50, 1600),
    growth_members=(50, 100, 200),
    growth_samples=(150, 300),
    growth_slow=(50, 100),
    searched=(20,),
    chunked=None,
    pruned=pruned_prediction.QUICK,
    rounds=3,
)


@cache
def real_votes(
    n_members: int, n_samples: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Votes of bagged, pruned trees on their training set, and its labels."""
    data = problems.waveform(n_samples)
    bag = BaggingClassifier(CARTClassifier(pruning="cv"), n_members, random_state=0)
    return bag.fit(data.X, data.y).forest_.votes(data.X), data.y


def arrange(name: str, votes: Any, y: Any) -> Order:
    """Order by the rule of a name of :data:`NAMES`."""
    options: Mapping[str, Any] = {}
    if name == _BACKFITTING:
        options = {"backfitting": True}
    elif name == "random":
        options = {"random_state": 0}
    with warnings.catch_warnings():
        # That orientation is unstable here does not matter to its time.
        warnings.filterwarnings("ignore", message=NEAR_DIAGONAL, category=UserWarning)
        return order_votes(votes, y, rule=name.partition(" ")[0], **options)


def _contender(name: str, work: Callable[[Any, Any], Any], votes: Any, y: Any) -> Contender:
    """A contender timed on all votes, warmed up on a few."""
    return Contender(name, partial(work, votes, y), warm_up=partial(work, votes[:5], y))


# -- the rules -------------------------------------------------------------------------------------


def against_numpy(
    name: str, shape: Shape, rounds: int, with_peer: bool = True
) -> tuple[dict[str, Timing], list[str]]:
    """A rule and its peer, if it has one, in turn; and whether their orders agree."""
    votes, y = real_votes(*shape)
    contenders = [_contender("orfeon", partial(arrange, name), votes, y)]
    if name in PEERS and with_peer:
        contenders.append(_contender(NUMPY, PEERS[name], votes, y))
    with one_thread():
        timings = interleave(contenders, rounds=rounds)
    if name not in PEERS:
        return timings, [f"{name} has no peer in NumPy: it grows a tree over the votes."]
    if not with_peer:
        return timings, [f"{name}: its peer is slow, and compared on fewer members only."]
    ours, theirs = timings["orfeon"].result, timings[NUMPY].result
    if same_order(ours.order, ours.criterion, ours.error_curve, theirs):
        return timings, []
    return timings, [f"{name}: the peer's order differs from a tie on, for rounding alone."]


def compared(name: str, case: str, shape: Shape, rounds: int) -> list[Measurement]:
    """A rule against its peer; alone where there is none."""
    timings, notes = against_numpy(name, shape, rounds)
    detail = {"same_order": not notes}
    if NUMPY in timings:
        return compare(case, shape, timings, notes={NUMPY: notes}, detail=detail)
    return [_alone(case, shape, timings["orfeon"], notes=notes)]


def _alone(
    case: str, shape: Shape, timing: Timing, target: Target | None = None,
    notes: Sequence[str] = (), threads: int = 1,
) -> Measurement:  # fmt: skip
    """A figure with a target in seconds, or without one."""
    unit = "s" if target is None else target.unit
    return Measurement(
        case, *shape, figure=timing.seconds * (1000 if unit == "ms" else 1), unit=unit,
        seconds=timing.seconds, spread=timing.spread, target=target,
        notes=[*notes, *remarks("orfeon", timing, threads)],
        detail={"rounds": len(timing.rounds), "cores": timing.cores},
    )  # fmt: skip


def held(name: str, case: str, shape: Shape, rounds: int) -> list[Measurement]:
    """A rule on many members, with a target in seconds; beside it the peer, unless that is slow."""
    timings, notes = against_numpy(name, shape, rounds, with_peer=name not in _SLOW)
    ours = _alone(case, shape, timings["orfeon"], Target("at most", 1, "s"), notes)
    return [ours, *(compare(case, shape, timings) if NUMPY in timings else [])]


def weighted_backfitting(case: str, shape: Shape) -> list[Measurement]:
    """Backfitting with fractional weights, which cannot be counted in words; timed once."""
    votes, y = real_votes(*shape)
    weights = np.random.default_rng(0).uniform(0.1, 1.1, len(y))

    def work(n_members: int) -> Order:
        return order_votes(
            votes[:n_members], y, rule="reduce_error", backfitting=True, sample_weight=weights
        )

    with one_thread():
        contender = Contender("orfeon", partial(work, len(votes)), warm_up=partial(work, 5))
        timing = interleave([contender], rounds=1)["orfeon"]
    return [_alone(case, shape, timing)]


def published(name: str, case: str, sizes: Sequence[int], rounds: int) -> list[Measurement]:
    """Beside the thesis's times, with the same members and samples."""
    table = published_seconds(_TABLE)[name]
    votes, y = real_votes(max(sizes), 300)
    lines = []
    for n in sizes:
        shape = Shape(n, 300)
        with one_thread():
            work = _contender("orfeon", partial(arrange, name), votes[:n], y)
            timing = interleave([work], rounds=rounds)["orfeon"]
        if n == max(table):
            lines.append(_alone(case, shape, timing, Target("at most", 50, "ms")))
        theirs = Timing((table[n],), cores=None)
        lines += compare(case, shape, {"orfeon": timing, _PENTIUM: theirs})
    return lines


# -- growth ----------------------------------------------------------------------------------------


def growth(
    name: str, case: str, whole: tuple[Any, Any], shapes: Sequence[Shape], rounds: int
) -> list[Measurement]:
    """How the time grows; the figure is its growth from the last size but one to the last."""
    votes, y = whole
    names = {f"{shape.members} x {shape.samples}": shape for shape in shapes}
    contenders = [
        _contender(
            text, partial(arrange, name),
            np.ascontiguousarray(votes[: shape.members, : shape.samples]), y[: shape.samples],
        )
        for text, shape in names.items()
    ]  # fmt: skip
    with one_thread():
        timings = interleave(contenders, rounds=rounds)
    seconds = [timing.seconds for timing in timings.values()]
    largest = timings[contenders[-1].name]
    answers = ", ".join(f"{text} {seconds_text(timings[text].seconds)}" for text in names)
    power = math.log(seconds[-1] / seconds[0]) / math.log(
        math.prod(shapes[-1]) / math.prod(shapes[0])
    )
    note = f"{case}: {answers}; about the power {power:.1f}."
    detail = {"seconds": dict(zip(names, seconds, strict=True)), "power": power}
    return [
        Measurement(
            case, *shapes[-1], figure=seconds[-1] / seconds[-2], unit="ratio",
            seconds=largest.seconds, spread=largest.spread, notes=[note], detail=detail,
        )
    ]  # fmt: skip


def with_members(name: str, case: str, effort: Effort) -> list[Measurement]:
    sizes = effort.growth_slow if name in _SLOW else effort.growth_members
    whole = real_votes(max((*effort.growth_members, *effort.published)), 300)
    return growth(name, case, whole, [Shape(n, 300) for n in sizes], effort.rounds)


def with_samples(name: str, case: str, effort: Effort) -> list[Measurement]:
    n_members = effort.compared[0].members
    whole = real_votes(n_members, max(effort.growth_samples))
    if name in _SLOW:
        n_members = effort.growth_slow[0]
    shapes = [Shape(n_members, n) for n in effort.growth_samples]
    return growth(name, case, whole, shapes, effort.rounds)


# -- search ----------------------------------------------------------------------------------------

#: Seconds that an exhaustive search may take, and on how many threads.
_SEARCH_LIMITS = {25: (5.0, 1), 31: (300.0, 2)}


def exhaustive(case: str, n_members: int) -> list[Measurement]:
    """All subsets, timed once; the best must not be worse than those of reduce-error."""
    shape = Shape(n_members, 300)
    limit, threads = _SEARCH_LIMITS.get(n_members, (None, 1))
    threads = min(threads, os.cpu_count() or 1)
    votes, y = real_votes(*shape)
    work = Contender(
        "orfeon", partial(search_exhaustive_votes, votes, y=y, n_jobs=threads),
        warm_up=partial(search_exhaustive_votes, votes[:4], y=y),
    )  # fmt: skip
    with one_thread():  # of the numerical libraries; the search has its own
        timing = interleave([work], rounds=1)["orfeon"]
    greedy = order_votes(votes, y, rule="reduce_error").error_curve
    above = greedy - timing.result.error_curve
    assert above.min() >= 0, "a greedy subset is better than the best one"
    note = (
        f"{case}: on {threads} thread{'s' * (threads > 1)}; reduce-error's subsets are "
        f"{'never' if above.max() == 0 else f'up to {above.max():.2%} (of the samples)'} worse."
    )
    target = None if limit is None else Target("at most", limit, "s")
    return [_alone(case, shape, timing, target, [note], threads)]


def genetic(case: str, rounds: int) -> list[Measurement]:
    """200 strings for 200 generations."""
    shape = Shape(200, 300)
    votes, y = real_votes(*shape)
    work = Contender(
        "orfeon", partial(search_genetic_votes, votes, y=y, random_state=0),
        warm_up=partial(search_genetic_votes, votes[:5], y=y, random_state=0),
    )  # fmt: skip
    with one_thread():
        timing = interleave([work], rounds=rounds)["orfeon"]
    found = timing.result
    note = f"{case}: {len(found.subset)} members kept, selection error {found.error:.2%}."
    return [_alone(case, shape, timing, Target("at most", 5, "s"), [note])]


# -- all of it -------------------------------------------------------------------------------------


def _rule_cases(effort: Effort) -> list[Case]:
    cases = []
    for at, common in enumerate(effort.compared):
        for name in NAMES:
            if at and name in _SLOW:
                continue
            shape = effort.backfitted if name == _BACKFITTING else common
            case = f"{name}, {shape.members} x {shape.samples}"
            cases.append(Case(case, partial(compared, name, name, shape, effort.rounds)))
    if effort.held is not None:
        for name in NAMES:
            case = f"{name}, many"
            cases.append(Case(case, partial(held, name, case, effort.held, effort.rounds)))
        case = "backfitting, fractional weights"
        cases.append(Case(case, partial(weighted_backfitting, case, effort.held)))
    for name in ("orientation", "margin_distance"):
        case = f"{name}, table 5.10"
        cases.append(Case(case, partial(published, name, case, effort.published, effort.rounds)))
    for text, run in (("members", with_members), ("samples", with_samples)):
        for name in NAMES:
            case = f"{name}, with {text}"
            cases.append(Case(case, partial(run, name, case, effort)))
    return cases


def suite(quick: bool) -> Suite:
    effort = QUICK if quick else FULL
    cases = _rule_cases(effort)
    for n in effort.searched:
        case = f"exhaustive search, {n} members"
        cases.append(Case(case, partial(exhaustive, case, n)))
    case = "genetic search"
    cases.append(Case(case, partial(genetic, case, 1 if quick else effort.rounds)))
    if effort.chunked is not None:
        case = "margin_distance, by chunks"
        cases.append(Case(case, partial(many_members.by_chunks, case, *effort.chunked)))
    cases += pruned_prediction.cases(effort.pruned, effort.rounds)
    return Suite(
        cases,
        [
            "Sizes of votes are members x samples. Votes of bagged CART trees pruned by "
            "cross-validation, on their training set (waveform).",
            "Both sides give the order and its error curve; order() also checks the votes.",
            "For pruned ensembles the first time is that of the kept members, of either library.",
        ],
    )
