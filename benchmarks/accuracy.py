"""How good gradient boosting is without tuning: the defaults of five libraries on 43 tables.

Five folds, the same for all. Log loss where classes are predicted, squared error where numbers are.
Only the judged tables decide: those on which orfeon's defaults were chosen are reported apart. Each
fit is kept in ``benchmarks/results/folds``, so that an interrupted run goes on where it stopped;
another version of a library, or a change of orfeon's code, fits anew. Times are processor time of
one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import accuracy_tables, fold_results
from benchmarks.accuracy_contestants import (
    CATBOOST,
    HISTOGRAM,
    Contestant,
    measure,
    missing_notices,
    of_orfeon,
    peers,
    warm_up,
)
from benchmarks.accuracy_tables import Table
from benchmarks.contestants import ORFEON
from benchmarks.fold_results import FoldResults, Key
from benchmarks.gradient_peers import LIGHTGBM, XGBOOST
from benchmarks.report import Measurement, Target
from benchmarks.suite import Case, Suite
from orfeon.statistics import compare_with_control, friedman_test
from orfeon.utils.types import Floats

#: Who must be behind in the mean rank of the loss, and at which level.
_BEHIND, _LEVEL = (LIGHTGBM, XGBOOST, HISTOGRAM), 0.05
#: The geometric mean of the ratios to CatBoost's loss is at most this.
_TO_CATBOOST = 1.02
_MEASURES = ("loss", "error", "fit_cpu", "predict_cpu", "fit", "predict")
#: A loss below this counts as this: ratios of two losses that are as good as 0 say nothing.
_LEAST_LOSS = 1e-3


@dataclass(frozen=True)
class Effort:
    """How much work the cases do."""

    #: How many of the folds.
    n_folds: int = accuracy_tables.N_FOLDS
    #: At most so many rows are trained on.
    n_rows: int | None = None
    #: Rounds of all, if not their defaults.
    n_rounds: int | None = None
    #: Which tables, if not all.
    tables: Sequence[str] | None = None


FULL = Effort()
QUICK = Effort(2, 150, 10, ("car-like", "visits", "iris", "titanic", "car", "friedman2"))
#: Means over the folds by library, for each table.
Found = dict[str, dict[str, dict[str, float]]]


def contestants() -> list[Contestant]:
    """Everybody; orfeon is the first."""
    return [of_orfeon(), *peers()]


# -- fitting ---------------------------------------------------------------------------------------


def _key(table: str, fold: int, one: Contestant, effort: Effort) -> Key:
    size = "" if effort == FULL else f" ({effort.n_rows} rows, {effort.n_rounds} rounds)"
    return Key(table, fold, one.name, one.state() + size)


def _known(results: FoldResults, table: str, one: Contestant, effort: Effort) -> Any:
    folds = [results.known(_key(table, fold, one, effort)) for fold in range(effort.n_folds)]
    return None if any(fold is None for fold in folds) else folds


def _first_rows(table: Table, n_rows: int | None) -> Table:
    if n_rows is None or len(table.y) <= n_rows:
        return table
    # Rows of every class: the positions of the rows within their classes decide.
    order = np.argsort(table.y, kind="stable") if table.n_classes else np.arange(len(table.y))
    places = np.linspace(0, len(order) - 1, n_rows).astype(np.int64)
    return table.take(np.sort(order[places]))


def fit_table(
    name: str, results: FoldResults, effort: Effort, who: Sequence[Contestant]
) -> dict[str, dict[str, float]]:
    """Fit everybody to the folds of a table, as far as that was not done before."""
    missing = [one for one in who if _known(results, name, one, effort) is None]
    folds = accuracy_tables.read(name).folds()[: effort.n_folds] if missing else []
    folds = [(_first_rows(training, effort.n_rows), test) for training, test in folds]
    for one in missing:
        warm_up(one, folds[0][0])
    for k, (training, test) in enumerate(folds):
        for one in missing:  # in turns, so that a busy moment affects all
            results.get(
                _key(name, k, one, effort), partial(measure, one, training, test, effort.n_rounds)
            )
    return {
        one.name: {
            measured: float(
                np.mean([fold[measured] for fold in _known(results, name, one, effort)])
            )
            for measured in _MEASURES
        }
        for one in who
    }


def losses(found: Found, name: str) -> Floats:
    """The losses of a contestant, a table each; those as good as 0 are all the same."""
    return np.array([max(by_name[name]["loss"], _LEAST_LOSS) for by_name in found.values()])


def _mean_ratio(numerators: Any, denominators: Any) -> float:
    return float(np.exp(np.mean(np.log(np.asarray(numerators) / np.asarray(denominators)))))


# -- cases -----------------------------------------------------------------------------------------


def one_table(
    name: str, results: FoldResults, effort: Effort, who: Sequence[Contestant]
) -> list[Measurement]:
    """All contestants on one table."""
    found = fit_table(name, results, effort, who)
    table = accuracy_tables.read(name)
    own = found[ORFEON]
    detail = {"role": accuracy_tables.role(name), "n_classes": table.n_classes}
    return [
        Measurement(
            name, *table.shape, figure=_mean_ratio(losses({name: found}, ORFEON),
                                                   losses({name: found}, one.name)),
            unit="ratio", seconds=own["fit_cpu"], peer=one.name,
            peer_seconds=found[one.name]["fit_cpu"],
            detail={**detail, "orfeon": own, "peer": found[one.name]},
        )
        for one in who[1:]
    ]  # fmt: skip


def together(
    role: str, results: FoldResults, effort: Effort, who: Sequence[Contestant], names: Sequence[str]
) -> list[Measurement]:
    """Ranks and mean ratios over the tables of one kind, as far as they are fitted."""
    fitted = [
        name
        for name in names
        if accuracy_tables.role(name) == role
        and all(_known(results, name, one, effort) is not None for one in who)
    ]
    if len(fitted) < 2 or len(who) < 2:
        return []
    found = {name: fit_table(name, results, effort, who) for name in fitted}
    shape = (len(fitted), len(who))
    is_judged = role == "judged"
    return [
        *_ranks(role, found, who, shape, is_judged),
        *_ratios(role, found, who, shape, is_judged),
        *_times(role, found, who, shape, is_judged),
    ]


def _ranks(
    role: str, found: Found, who: Sequence[Contestant], shape: tuple[int, int], is_judged: bool
) -> list[Measurement]:
    names = [one.name for one in who]
    scores = np.column_stack([losses(found, name) for name in names])
    if len(names) < 3:
        return []
    test = friedman_test(scores, greater_is_better=False, names=names)
    against = compare_with_control(scores, ORFEON, greater_is_better=False, names=names)
    ranks = dict(zip(names, test.ranks, strict=True))
    ordered = sorted(ranks, key=ranks.__getitem__)
    note = f"Mean ranks of the loss on {role} tables: " + ", ".join(
        f"{name} {ranks[name]:.2f}" for name in ordered
    )
    p_values = dict(zip(against.names, against.correction.adjusted, strict=True))
    limit = Target("at most", _LEVEL, "ratio")
    return [
        Measurement(
            f"{role} tables: p (Holm) of a better mean rank", *shape,
            # Behind somebody, nothing is shown.
            figure=p_values[name] if ranks[ORFEON] < ranks[name] else 1.0, unit="ratio", peer=name,
            target=limit if is_judged and name in _BEHIND else None,
            notes=[f"{note}; Friedman: {test}."], detail={"role": role, "ranks": ranks},
        )
        for name in names[1:]
    ]  # fmt: skip


def _ratios(
    role: str, found: Found, who: Sequence[Contestant], shape: tuple[int, int], is_judged: bool
) -> list[Measurement]:
    limit = Target("at most", _TO_CATBOOST, "ratio")
    return [
        Measurement(
            f"{role} tables: mean ratio of the loss", *shape,
            figure=_mean_ratio(losses(found, ORFEON), losses(found, one.name)), unit="ratio",
            peer=one.name, target=limit if is_judged and one.name == CATBOOST else None,
            detail={"role": role},
        )
        for one in who[1:]
    ]  # fmt: skip


def _times(
    role: str, found: Found, who: Sequence[Contestant], shape: tuple[int, int], is_judged: bool
) -> list[Measurement]:
    limit = Target("at least", 1.0, "x")
    texts = {"fit_cpu": "fit", "predict_cpu": "predict"}
    measurements = []
    for measured, text in texts.items():
        times = {
            one.name: [by_name[one.name][measured] for by_name in found.values()] for one in who
        }
        measurements += [
            Measurement(
                f"{role} tables: times as fast, {text}", *shape,
                figure=_mean_ratio(times[one.name], times[ORFEON]), unit="x", peer=one.name,
                target=limit if is_judged and measured == "fit_cpu" and one.name == LIGHTGBM
                else None,
                detail={"role": role},
            )
            for one in who[1:]
        ]  # fmt: skip
    return measurements


def suite(quick: bool) -> Suite:
    """The cases: a table each, then all of them together."""
    effort = QUICK if quick else FULL
    results = FoldResults(fold_results.FOLDER / "accuracy.jsonl")
    who = contestants()
    there = accuracy_tables.present()
    names = [name for name in there if effort.tables is None or name in effort.tables]
    cases = [Case(name, partial(one_table, name, results, effort, who)) for name in names]
    cases += [
        Case(f"{role} tables", partial(together, role, results, effort, who, names))
        for role in ("judged", "development")
    ]
    absent = [name for name in accuracy_tables.TABLES if name not in there]
    notices = [f"{name}.csv is not in the optional data folder: left out." for name in absent]
    return Suite(cases, [*notices, *missing_notices()])
