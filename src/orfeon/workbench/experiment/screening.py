"""Screening: of large tables, all methods see few rows, and the best ones all that time allows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from orfeon.utils.text import clauses
from orfeon.workbench.experiment.choice import STRICT, Evidence, method_of
from orfeon.workbench.experiment.evaluation import timing_seconds
from orfeon.workbench.experiment.methods import BASELINE, METHODS
from orfeon.workbench.experiment.plan import Kind, Plan
from orfeon.workbench.experiment.running import SAMPLES, affordable_rows
from orfeon.workbench.experiment.verdict import score_text
from orfeon.workbench.store import RunRow

#: Rows and folds of a screening.
ROWS, FOLDS = 2000, 3
#: Methods that go on by their score, and as many by log loss or squared error.
_KEPT = 4
#: Methods that are kept, however few rows that leaves.
_FEWEST = 3
#: Gains more from further rows than others do, and is quick: few rows cannot rule it out.
_STEADY = "gradient_boosting"
#: Fewer methods are not worth a screening.
FEWEST_METHODS = 7


def screening_plan(plan: Plan) -> Plan:
    """The same methods, compared quickly."""
    design: Kind = "time" if plan.design == "time" else "cv"
    return replace(plan, design=design, n_folds=FOLDS, n_inner=0, rows=ROWS)


def quick_enough(
    seconds: Mapping[str, tuple[float, float]], n_rows: int, n_inner: int, budget: float
) -> set[str]:
    """Methods of which some can be compared on all rows; all methods if these are too few."""
    share = budget / _FEWEST
    found = {
        name
        for name, own in seconds.items()
        if affordable_rows({name: own}, n_rows, n_inner, share) == n_rows
    }
    return found if len(found - {BASELINE}) >= _FEWEST else set(seconds)


def survivors(evidence: Evidence, among: set[str]) -> list[str]:
    """Methods that may go on, best first: the best by either measure, and those good together.

    Gradient boosting goes on, too.
    """
    plan = evidence.plan
    ranks = []
    for metric in (plan.metric, STRICT[plan.task]):
        best = _best_scores(evidence, metric)
        able = sorted(
            (score, name) for name, score in best.items() if np.isfinite(score) and name in among
        )
        ranks.append([name for _, name in able if name != BASELINE])
    weights = evidence.mean.weights
    by_share = sorted(weights, key=lambda name: -weights[name])
    by_share = [name for name in by_share if name in among]
    pairs = itertools.chain.from_iterable(zip(*ranks, strict=True))
    steady = [_STEADY] if any(_STEADY in names for names in ranks) else []
    return list(dict.fromkeys([*itertools.islice(pairs, 2 * _KEPT), *by_share, *steady]))


def affordable(
    names: list[str],
    seconds: Mapping[str, tuple[float, float]],
    n_rows: int,
    n_inner: int,
    budget: float,
) -> tuple[list[str], int]:
    """Methods and rows that fit a budget: slow methods go before rows do.

    Gradient boosting stays, or the best one if it is not there.
    """
    kept = list(names)
    stays = _STEADY if _STEADY in kept else kept[0]
    while True:
        own = {name: seconds[name] for name in kept}
        rows = affordable_rows(own, n_rows, n_inner, budget)
        if rows == n_rows or len(kept) <= _FEWEST:
            return kept, rows
        others = [name for name in kept if name != stays]
        kept.remove(max(others, key=lambda name: seconds[name][1]))


def screened_out(evidence: Evidence, kept: Iterable[str]) -> str:
    """A sentence about the methods that do not go on."""
    metric, going_on = evidence.plan.metric, set(kept)
    best = _best_scores(evidence, metric)
    left = sorted((score, name) for name, score in best.items() if name not in going_on)
    return clauses([f"{METHODS[name].title} ({score_text(score, metric)})" for score, name in left])


def _best_scores(evidence: Evidence, metric: str) -> dict[str, float]:
    """The lowest mean score of each method, whole or pruned."""
    found: dict[str, float] = {}
    for candidate in evidence.plan.candidates():
        name = method_of(candidate)
        if not METHODS[name].is_derived:
            score = float(evidence.outer_scores(candidate, metric).mean())
            found[name] = min(found.get(name, np.inf), score)
    return found


def seconds_on_samples(rows: Iterable[RunRow]) -> Mapping[str, tuple[float, float]]:
    """Time of a run of each method on the two sizes of samples, from the runs of a screening."""
    least: dict[str, float] = {}
    for row in rows:
        name = row.configuration["method"]
        growing = max(row.seconds - timing_seconds(row.timings or {}), 0.1 * row.seconds)
        least[name] = min(least.get(name, np.inf), growing)  # first runs may compile
    n_train = ROWS * (FOLDS - 1) / FOLDS
    return {
        name: tuple(seconds * (size / n_train) ** METHODS[name].growth for size in SAMPLES)
        for name, seconds in least.items()
    }
