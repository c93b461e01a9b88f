"""Which settings of gradient boosting are best for all tables: the search behind its defaults.

Every setting is fitted to two folds of the development tables of the accuracy suite, and to no
other table: the defaults, each of them changed alone, and random points of the grid. The figure of
a setting is the geometric mean over the tables of its loss divided by that of the defaults; how
sure it is comes from bootstrap samples of the tables. Time is that of a fit, over LightGBM's by its
defaults. Each fit is kept in ``benchmarks/results/folds``, so that an interrupted search goes on
where it stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import orfeon
from benchmarks import accuracy_contestants, accuracy_tables, fold_results
from benchmarks.accuracy_contestants import Contestant, measure, of_orfeon, warm_up
from benchmarks.fold_results import FoldResults, Key
from benchmarks.gradient_peers import LIGHTGBM
from benchmarks.report import Measurement
from benchmarks.suite import Case, Suite
from orfeon.utils.types import Floats

Settings = Mapping[str, Any]

#: What is tried of each setting, besides the defaults.
GRID: dict[str, tuple[Any, ...]] = {
    "learning_rate": (0.05, 0.1, 0.12, 0.15, 0.2),
    "max_depth": (3, 4, 5, 6),
    "l2": (0.1, 0.3, 1.0, 3.0),
    "min_hessian": (0.05, 0.3, 1.0, 3.0),
    "subsample": (0.5, 0.7, 0.85, 1.0),
    "max_features": (0.4, 0.6, 0.8, None),
    "early_stopping": ("auto", "cv", False),
    "n_iter_no_change": (5, 10, 20),
    "validation_fraction": (0.1, 0.2, 0.33),
    "tree_shape": ("auto", "free"),
}
#: Rounds without early stopping.
_FIXED_ROUNDS = 100
#: Bootstrap samples of the tables.
_N_DRAWN = 1000
#: How many settings are reported.
_N_SHOWN = 10


@dataclass(frozen=True)
class Effort:
    """How much work the search does."""

    #: Random points of the grid.
    n_random: int = 20
    #: Folds of each table.
    n_folds: int = 2
    #: Rounds of all, if not those of the settings.
    n_rounds: int | None = None
    #: Which tables, if not all of development.
    tables: Sequence[str] | None = None
    #: Which settings are changed alone, if not all.
    names: Sequence[str] | None = None


FULL = Effort()
QUICK = Effort(2, 1, 12, ("labor", "wine", "car-like", "visits"), ("learning_rate", "l2"))


# -- settings --------------------------------------------------------------------------------------


def defaults() -> dict[str, Any]:
    """The defaults of the settings of the grid; those of the classifier, where they differ."""
    given = orfeon.GradientBoostingClassifier().get_params()
    return {name: given[name] for name in GRID}


def one_by_one(names: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Settings that differ from the defaults in one value.

    Examples
    --------
    >>> [point["max_depth"] for point in one_by_one(["max_depth"])]
    [3, 4, 6]
    """
    own = defaults()
    return [
        {name: value}
        for name, values in GRID.items()
        if names is None or name in names
        for value in values
        if value != own[name] and not (name == "n_iter_no_change" and value == 10)
    ]


def at_random(n_settings: int) -> list[dict[str, Any]]:
    """Random points of the grid."""
    rng = np.random.default_rng(0)
    free = {name: values for name, values in GRID.items() if name in list(GRID)[:6]}
    return [
        {name: values[rng.integers(len(values))] for name, values in free.items()}
        for _ in range(n_settings)
    ]


def design(effort: Effort) -> list[dict[str, Any]]:
    """What is fitted: nothing changed, one value changed, many changed."""
    return [{}, *one_by_one(effort.names), *at_random(effort.n_random)]


def text(settings: Settings) -> str:
    """Settings in one line.

    Examples
    --------
    >>> text({"learning_rate": 0.1, "max_depth": None}), text({})
    ('learning_rate=0.1, max_depth=None', 'defaults')
    """
    return ", ".join(f"{name}={value!r}" for name, value in settings.items()) or "defaults"


def contestant(settings: Settings) -> Contestant:
    """The boosting of orfeon with some settings; fixed rounds where it does not stop early."""
    more: dict[str, Any] = {}
    if settings.get("early_stopping") is False:
        more = {"n_estimators": _FIXED_ROUNDS}
    elif "early_stopping" in settings:
        more = {"n_iter_no_change": 10}
    return of_orfeon(text(settings), **{**more, **settings})


# -- fitting ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """What settings gave on tables."""

    #: What is changed from the defaults; the first are the defaults.
    settings: list[dict[str, Any]]
    #: The tables.
    tables: list[str]
    #: Means over the folds; of shape (n_settings, n_tables).
    losses: Floats
    #: Times of a fit over LightGBM's; of shape (n_settings, n_tables).
    times: Floats

    def log_ratios(self) -> Floats:
        """Logarithms of the losses over those of the defaults."""
        ratios: Floats = np.log(self.losses / self.losses[0])
        return ratios


def fit_table(
    name: str, who: Sequence[Contestant], results: FoldResults, effort: Effort
) -> tuple[Floats, Floats]:
    """Losses and seconds of all settings on one table."""
    folds = accuracy_tables.read(name).folds()[: effort.n_folds]
    size = "" if effort.n_rounds is None else f" ({effort.n_rounds} rounds)"
    means = []
    for one in who:
        found = []
        for k, (training, test) in enumerate(folds):
            key = Key(name, k, one.name, one.state() + size)
            if results.known(key) is None:
                warm_up(one, training)
            found.append(results.get(key, partial(measure, one, training, test, effort.n_rounds)))
        means.append([np.mean([fold[what] for fold in found]) for what in ("loss", "fit_cpu")])
    losses, seconds = np.array(means).T
    return losses, seconds


def search(results: FoldResults, effort: Effort, tables: Sequence[str]) -> Found:
    """All settings on all tables."""
    settings = design(effort)
    who = [contestant(point) for point in settings]
    peers = [peer for peer in accuracy_contestants.peers() if peer.name == LIGHTGBM]
    by_table = [fit_table(name, [*who, *peers], results, effort) for name in tables]
    losses = np.stack([losses[: len(who)] for losses, _ in by_table], axis=1)
    times = np.stack([seconds for _, seconds in by_table], axis=1)
    peer_time = times[len(who)] if peers else np.full(len(tables), np.nan)
    return Found(settings, list(tables), losses, times[: len(who)] / peer_time)


# -- what follows from it --------------------------------------------------------------------------


def bootstrap(log_ratios: Floats, n_drawn: int = _N_DRAWN, seed: int = 0) -> Floats:
    """Mean log ratios over bootstrap samples of the tables."""
    n_tables = log_ratios.shape[1]
    drawn = np.random.default_rng(seed).integers(n_tables, size=(n_drawn, n_tables))
    counts = np.stack([np.bincount(rows, minlength=n_tables) for rows in drawn])
    means: Floats = counts @ log_ratios.T / n_tables
    return means


def lines(found: Found, places: Sequence[int], label: str = "") -> list[Measurement]:
    """A measurement of each of some settings."""
    ratios = found.log_ratios()
    drawn = bootstrap(ratios)
    wins = np.bincount(np.argmin(drawn, axis=1), minlength=len(ratios)) / len(drawn)
    measurements = []
    for place in places:
        low, high = np.exp(np.quantile(drawn[:, place], [0.025, 0.975]))
        time = float(np.exp(np.log(found.times[place]).mean()))
        better = int((ratios[place] < 0).sum())
        note = (
            f"{label}{text(found.settings[place])}: {low:.3f} to {high:.3f} in 95% of the "
            f"bootstrap samples, the best in {wins[place]:.0%}; better than the defaults on "
            f"{better} of {len(found.tables)} tables; {time:.2f} times LightGBM's time."
        )
        measurements.append(
            Measurement(
                label + text(found.settings[place]), len(found.tables), len(ratios),
                float(np.exp(ratios[place].mean())), "ratio", notes=[note],
                detail={"settings": found.settings[place], "low": float(low), "high": float(high),
                        "wins": float(wins[place]), "time": time},
            )
        )  # fmt: skip
    return measurements


def _best(results: FoldResults, effort: Effort, tables: Sequence[str]) -> list[Measurement]:
    found = search(results, effort, tables)
    order = np.argsort(found.log_ratios().mean(axis=1), kind="stable")
    return lines(found, order[:_N_SHOWN].tolist())


def _sensitivity(results: FoldResults, effort: Effort, tables: Sequence[str]) -> list[Measurement]:
    found = search(results, effort, tables)
    return lines(found, range(1 + len(one_by_one(effort.names))), "only ")


def _one_table(name: str, results: FoldResults, effort: Effort) -> list[Measurement]:
    """The best settings of one table alone, and how much the worst lose."""
    settings = design(effort)
    losses, _ = fit_table(name, [contestant(point) for point in settings], results, effort)
    best = settings[int(np.argmin(losses))]
    return [
        Measurement(
            f"worst to best setting, {name}", *accuracy_tables.read(name).shape,
            float(losses.max() / losses.min()), "ratio",
            detail={"best": best, "loss": float(losses.min()), "of_defaults": float(losses[0])},
        )
    ]  # fmt: skip


def suite(quick: bool) -> Suite:
    """The cases: a table each, then the best settings and the effect of each."""
    effort = QUICK if quick else FULL
    results = FoldResults(fold_results.FOLDER / "boosting-defaults.jsonl")
    there = [name for name in accuracy_tables.present() if name in accuracy_tables.DEVELOPMENT]
    tables = [name for name in there if effort.tables is None or name in effort.tables]
    cases = [Case(name, partial(_one_table, name, results, effort)) for name in tables]
    cases += [
        Case("best settings", partial(_best, results, effort, tables)),
        Case("sensitivity", partial(_sensitivity, results, effort, tables)),
    ]
    absent = [name for name in accuracy_tables.DEVELOPMENT if name not in there]
    return Suite(cases, [f"{name}.csv is not in the optional data folder." for name in absent])
