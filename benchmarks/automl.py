"""``orfeon study`` against AutoML systems, with the same time and two threads.

A full run installs the peers in environments of their own; a peer that cannot be had is left out
with a word. Each run of a system on a split of a table is a case and a line of :data:`RUNS`, so the
suite can be run in pieces (``--case "one minute: car"``), over several days: what is there is not
run again, whatever the versions, unless its line is deleted. Nothing else may run on the machine:
the systems are given time of the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from benchmarks import accuracy_tables, fold_results
from benchmarks.accuracy_tables import TABLES, Table
from benchmarks.automl_contestants import (
    AUTOGLUON,
    AUTOGLUON_BEST,
    BEST,
    FLAML,
    FLAML_SYSTEM,
    MEDIUM,
    ORFEON_STUDY,
    System,
    installed,
    measure,
)
from benchmarks.contestants import ORFEON
from benchmarks.environment import commit
from benchmarks.fold_results import FoldResults, Key
from benchmarks.report import Measurement, Target
from benchmarks.suite import Case, Suite

#: The runs of the full form.
RUNS = Path("benchmarks/results/runs/automl.jsonl")
_TEST_SHARE = 0.25
#: Splits of each table in the full form.
_N_SPLITS = 1
#: A loss below this counts as this: ratios of two losses that are as good as 0 say nothing.
_LEAST_LOSS = 1e-3
#: How far the loss may be above the lowest, how often the stated interval must hold it, and how
#: much longer than its budget a whole study may take.
_BEHIND, _COVERED, _LATE = 1.10, 0.9, 1.25
_QUICK_ROWS = 200
#: Tables of more than 30,000 rows, and real and made ones of all sizes below.
_LARGE: dict[str, Callable[[], Table]] = {
    "adult": TABLES["adult"],
    "orders, 60000 rows": partial(accuracy_tables.orders, 60_000),
    "claims, 60000 rows": partial(accuracy_tables.claims, 60_000),
}
_OTHERS = (
    "german", "car", "spambase-like", "page-blocks-like", "mammography-like", "thyroid", "segment",
    "vowel", "tickets", "heart", "horse_colic", "audio", "letter", "used_cars_vw", "abalone",
    "australian",
)  # fmt: skip


@dataclass(frozen=True)
class Race:
    """How long everybody gets, and who is there."""

    #: In the names of the cases.
    name: str
    #: The time.
    seconds: float
    #: Those that can be run; orfeon is the first.
    who: Sequence[System]
    #: At most so many rows of a table.
    n_rows: int | None = None


@cache
def read(name: str) -> Table:
    """A table by its name, with all its rows."""
    return (_LARGE | {other: TABLES[other] for other in _OTHERS})[name]()


def present() -> list[str]:
    """The tables that can be had here."""
    there = accuracy_tables.present()
    return [name for name in (*_OTHERS, *_LARGE) if name in there or name not in TABLES]


def split(table: Table, seed: int, n_rows: int | None = None) -> tuple[Table, Table]:
    """Rows to learn from and rows to predict."""
    kind = StratifiedShuffleSplit if table.n_classes else ShuffleSplit
    shares: dict[str, float] = {"test_size": _TEST_SHARE}
    if n_rows is not None and n_rows < len(table.y):
        n_test = max(int(_TEST_SHARE * n_rows), table.n_classes)
        shares = {"test_size": n_test, "train_size": n_rows - n_test}
    [(training, test)] = kind(1, random_state=seed, **shares).split(table.X, table.y)
    return table.take(training), table.take(test)


# -- one table -------------------------------------------------------------------------------------


def _key(table: str, seed: int, system: System, race: Race) -> Key:
    rows = "" if race.n_rows is None else f", {race.n_rows} rows"
    return Key(table, seed, f"{system.name} ({race.seconds:g} s{rows})", "")


def one_run(
    name: str, seed: int, system: System, race: Race, results: FoldResults
) -> list[Measurement]:
    """A system on a split of a table, run if it was not run before."""
    table = read(name)

    def run() -> dict[str, Any]:
        parts = split(table, seed, race.n_rows)
        found = measure(system, *parts, race.seconds, seed)
        return {**found, "version": system.state(), "commit": commit(), "date": _today()}

    found = results.get(_key(name, seed, system, race), run)
    return [
        Measurement(
            f"{race.name}: {name}, split {seed}, {system.name}", *table.shape,
            figure=found["loss"], unit="ratio", seconds=found["seconds"], detail=found,
        )
    ]  # fmt: skip


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def compared(name: str, race: Race, results: FoldResults) -> list[Measurement]:
    """Orfeon against each peer on the splits of a table that both were run on."""
    table = read(name)
    found = []
    for peer in race.who[1:]:
        known = [
            [results.known(_key(name, seed, system, race)) for system in (race.who[0], peer)]
            for seed in range(_N_SPLITS)
        ]
        both = [(own, theirs) for own, theirs in known if own and theirs]
        if not both:
            continue
        ours, others = zip(*both, strict=True)
        found.append(
            Measurement(
                f"{race.name}: {name}, compared", *table.shape,
                figure=_loss(ours) / _loss(others), unit="ratio", seconds=_mean(ours, "seconds"),
                peer=peer.name, peer_seconds=_mean(others, "seconds"),
                detail={"n_classes": table.n_classes, "orfeon": ours, "peer": others},
            )
        )  # fmt: skip
    return found


def _mean(runs: Sequence[Mapping[str, Any]], name: str) -> float:
    return float(np.mean([run[name] for run in runs]))


def _loss(runs: Sequence[Mapping[str, Any]]) -> float:
    return max(_mean(runs, "loss"), _LEAST_LOSS)


# -- all tables ------------------------------------------------------------------------------------


def is_covered(run: Mapping[str, Any], n_classes: int) -> bool:
    """Whether the interval that a study states holds the loss on the rows kept aside.

    Examples
    --------
    >>> is_covered({"loss": 0.3, "interval": [0.2, 0.4]}, 2)
    True
    >>> is_covered({"loss": 0.09, "interval": [0.2, 0.4]}, 0)
    True
    """
    low, high = run["interval"]
    figure = run["loss"] if n_classes else float(np.sqrt(run["loss"]))
    return bool(low <= figure <= high)


def together(race: Race, results: FoldResults, names: Sequence[str]) -> list[Measurement]:
    """Ranks, losses, intervals and times over all splits of tables that were run."""
    pairs = [
        (name, seed)
        for name in names
        for seed in range(_N_SPLITS)
        if all(results.known(_key(name, seed, one, race)) for one in race.who)
    ]
    if not pairs:
        return []
    runs: dict[str, list[Any]] = {
        one.name: [results.known(_key(*pair, one, race)) for pair in pairs] for one in race.who
    }
    shape = (len(pairs), len(race.who))
    return [
        *(_ranks(race, runs, shape) if len(race.who) > 1 else []),
        *_alone(race, runs[ORFEON], [name for name, _ in pairs], shape),
    ]


def _ranks(
    race: Race, runs: Mapping[str, Sequence[Any]], shape: tuple[int, int]
) -> list[Measurement]:
    measurements = []
    for measured, least in (("loss", _LEAST_LOSS), ("error", 0.0)):
        table = np.array([[max(run[measured], least) for run in each] for each in runs.values()])
        ranks = dict(zip(runs, rankdata(table, axis=0).mean(axis=1).tolist(), strict=True))
        note = f"{race.name}, mean ranks of the {measured}: " + ", ".join(
            f"{name} {rank:.2f}" for name, rank in sorted(ranks.items(), key=lambda one: one[1])
        )
        measurements += [
            Measurement(
                f"{race.name}: mean rank of the {measured}", *shape,
                figure=ranks[ORFEON] / ranks[peer], unit="ratio", peer=peer,
                target=Target("at most", 1.0, "ratio"), notes=[f"{note}."], detail=ranks,
            )
            for peer in ranks
            if peer != ORFEON
        ]  # fmt: skip
        if measured == "loss":
            behind = float((table[list(runs).index(ORFEON)] / table.min(axis=0)).max())
            measurements.append(
                Measurement(
                    f"{race.name}: largest ratio to the lowest loss", *shape, figure=behind,
                    unit="ratio", target=Target("at most", _BEHIND, "ratio"),
                )
            )  # fmt: skip
    return measurements


def _alone(
    race: Race, runs: Sequence[Any], names: Sequence[str], shape: tuple[int, int]
) -> list[Measurement]:
    covered = [is_covered(run, read(name).n_classes) for name, run in zip(names, runs, strict=True)]
    seconds = max(run["seconds"] for run in runs)
    return [
        Measurement(
            f"{race.name}: loss within the stated interval", *shape,
            figure=float(np.mean(covered)), unit="share",
            target=Target("at least", _COVERED, "share"),
        ),
        Measurement(
            f"{race.name}: longest study", *shape, figure=seconds, unit="s",
            target=Target("at most", _LATE * race.seconds, "s"),
        ),
    ]  # fmt: skip


def suite(quick: bool) -> Suite:
    """The cases: a table each, then all of them together, at each budget."""
    results = FoldResults(fold_results.FOLDER / "automl.jsonl" if quick else RUNS)
    there, notices = installed([ORFEON_STUDY, FLAML_SYSTEM, MEDIUM, BEST], make=not quick)
    by_name = {system.name: system for system in there}
    of_minute = [by_name[name] for name in (ORFEON, FLAML, AUTOGLUON) if name in by_name]
    of_five = [*of_minute, *([by_name[AUTOGLUON_BEST]] if AUTOGLUON_BEST in by_name else [])]
    races = [Race("one minute", 60, of_minute), Race("five minutes", 300, of_five)]
    names = present()
    if quick:
        races, names = [Race("three seconds", 3, of_minute, _QUICK_ROWS)], ["car", "used_cars_vw"]
        names = [name for name in names if name in present()]
    cases = [case for race in races for case in _cases(race, names, results)]
    return Suite(cases, notices)


def _cases(race: Race, names: Sequence[str], results: FoldResults) -> list[Case]:
    """Every run, what they say of each table, and of all."""
    found = []
    for name in names:
        for seed in range(_N_SPLITS):
            for one in race.who:
                run = partial(one_run, name, seed, one, race, results)
                found.append(Case(f"{race.name}: {name}, split {seed}, {one.name}", run))
        found.append(Case(f"{race.name}: {name}, compared", partial(compared, name, race, results)))
    whole = partial(together, race, results, names)
    return [*found, Case(f"{race.name}: all tables", whole)]
