"""Which settings of gradient boosting are best for all tables: the search behind its defaults.

A random design over a grid of settings, on two folds of the development tables of the accuracy
suite and on no other. The number of rounds is free: one fit gives the loss after each. The figure
of a setting is the geometric mean over the tables of its loss divided by the lowest that any
setting reached there. How sure that is comes from bootstrap samples of the tables. Each fit is kept
in ``benchmarks/results/folds``, so that an interrupted search goes on where it stopped.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import accuracy_tables, fold_results
from benchmarks.accuracy_contestants import Contestant, loss_and_error, of_orfeon, warm_up
from benchmarks.accuracy_tables import Table
from benchmarks.fold_results import FoldResults, Key
from benchmarks.report import Measurement
from benchmarks.suite import Case, Suite
from benchmarks.timing import one_thread
from orfeon.utils.types import Floats

Settings = Mapping[str, Any]

#: The grid. Sampling is of rows for each tree, and of features for each tree.
GRID: dict[str, tuple[Any, ...]] = {
    "learning_rate": (0.03, 0.06, 0.1, 0.2),
    "max_depth": (3, 4, 5, 6),
    "subsample": (0.5, 0.7, 1.0),
    "max_features_per_tree": (0.5, 0.75, None),
    "min_samples_leaf": (1, 5),
}
#: The losses after these rounds are kept.
ROUNDS = (25, 50, 75, 100, 150, 200, 300, 400)
#: Bootstrap samples of the tables.
_N_DRAWN = 1000
#: How many settings are reported.
_N_SHOWN = 12


@dataclass(frozen=True)
class Effort:
    """How much work the search does.

    Parameters
    ----------
    n_settings : int, default=40
        Points of the grid.
    n_folds : int, default=2
        Folds of each table.
    rounds : sequence of int
        After which the loss is kept.
    tables : sequence of str, optional
        Which tables, if not all of development.
    """

    n_settings: int = 40
    n_folds: int = 2
    rounds: Sequence[int] = ROUNDS
    tables: Sequence[str] | None = None


FULL = Effort()
QUICK = Effort(4, 1, (5, 10), ("labor", "wine", "car-like", "visits"))


def design(n_settings: int, grid: Mapping[str, Sequence[Any]] = GRID) -> list[dict[str, Any]]:
    """Points of a grid, each value of a setting as often as the others.

    Parameters
    ----------
    n_settings : int
        How many; the first are the same for any number.
    grid : mapping
        Values by setting.

    Returns
    -------
    list of dict
        Settings.

    Examples
    --------
    >>> [point["a"] for point in design(4, {"a": (1, 2), "b": "xyz"})]
    [1, 2, 2, 1]
    """
    rng = np.random.default_rng(0)
    columns = {
        name: np.concatenate([rng.permutation(len(values)) for _ in range(200 // len(values) + 1)])
        for name, values in grid.items()
    }
    return [
        {name: values[columns[name][place]] for name, values in grid.items()}
        for place in range(n_settings)
    ]


def text(settings: Settings) -> str:
    """Settings in one line.

    Parameters
    ----------
    settings : mapping
        By name.

    Returns
    -------
    str
        As they are written in Python.

    Examples
    --------
    >>> text({"learning_rate": 0.1, "max_depth": None})
    'learning_rate=0.1, max_depth=None'
    """
    return ", ".join(f"{name}={value!r}" for name, value in settings.items())


# -- fitting ---------------------------------------------------------------------------------------


def _staged(model: Any, table: Table) -> Any:
    staged = "staged_predict_proba" if table.n_classes else "staged_predict"
    return getattr(model, staged)(table.X)


def curve(
    one: Contestant,
    training: Table,
    test: Table,
    rounds: Sequence[int],
    staged: Callable[[Any, Table], Any] = _staged,
) -> dict[str, Any]:
    """The loss after some numbers of rounds.

    Parameters
    ----------
    one : Contestant
        Settings.
    training, test : Table
        A fold.
    rounds : sequence of int
        After which.
    staged : callable
        Gives what a model predicts after each round.

    Returns
    -------
    dict
        ``losses``, a number each, and the seconds of the whole fit.
    """  # fmt: skip
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        model = one.fit(training, max(rounds))
        seconds = time.process_time() - begin
        after = {
            n: loss_and_error(np.asarray(answers, np.float64), test)[0]
            for n, answers in enumerate(staged(model, test), 1)
            if n in rounds
        }
    # Boosting may end by itself: then nothing changes any more.
    known = [after[n] if n in after else after[max(after)] for n in rounds]
    return {"losses": [float(f"{loss:.6g}") for loss in known], "fit_cpu": round(seconds, 4)}


@dataclass(frozen=True)
class Found:
    """Losses of settings on tables.

    Parameters
    ----------
    settings : list of dict
        The settings, without rounds.
    tables : list of str
        The tables.
    rounds : sequence of int
        Numbers of rounds.
    losses : ndarray of shape (n_settings, n_rounds, n_tables)
        Means over the folds.
    seconds : ndarray of shape (n_settings, n_tables)
        Of a fit of the most rounds.
    """

    settings: list[dict[str, Any]]
    tables: list[str]
    rounds: Sequence[int]
    losses: Floats
    seconds: Floats

    def log_ratios(self) -> Floats:
        """Logarithms of the losses over the lowest of each table."""
        ratios: Floats = np.log(self.losses / self.losses.min(axis=(0, 1)))
        return ratios

    def flat(self) -> list[dict[str, Any]]:
        """Settings with rounds, in the order of ``log_ratios`` without its first border."""
        return [{**point, "n_estimators": n} for point in self.settings for n in self.rounds]


def fit_table(
    name: str, settings: Sequence[Settings], results: FoldResults, effort: Effort
) -> tuple[Floats, Floats]:
    """Losses and seconds of all settings on one table.

    Parameters
    ----------
    name : str
        The table.
    settings : sequence of mapping
        The settings.
    results : FoldResults
        What was done before; what is new is added.
    effort : Effort
        How much work.

    Returns
    -------
    tuple of two ndarrays
        Losses of shape (n_settings, n_rounds), seconds of shape (n_settings,).
    """
    folds = accuracy_tables.read(name).folds()[: effort.n_folds]
    losses, seconds, is_warm = [], [], False
    for point in settings:
        one = of_orfeon(text(point), early_stopping=False, **point)
        found = []
        for k, (training, test) in enumerate(folds):
            key = Key(name, k, f"{one.name}; {effort.rounds[-1]} rounds", one.state())
            if not is_warm and results.known(key) is None:
                warm_up(one, training)
                is_warm = True
            found.append(results.get(key, partial(curve, one, training, test, effort.rounds)))
        losses.append(np.mean([fold["losses"] for fold in found], axis=0))
        seconds.append(np.mean([fold["fit_cpu"] for fold in found]))
    return np.array(losses), np.array(seconds)


def search(results: FoldResults, effort: Effort, tables: Sequence[str]) -> Found:
    """All settings on all tables.

    Parameters
    ----------
    results : FoldResults
        What was done before; what is new is added.
    effort : Effort
        How much work.
    tables : sequence of str
        Development tables.

    Returns
    -------
    Found
        The losses.
    """
    settings = design(effort.n_settings)
    by_table = [fit_table(name, settings, results, effort) for name in tables]
    losses = np.stack([losses for losses, _ in by_table], axis=2)
    seconds = np.stack([seconds for _, seconds in by_table], axis=1)
    return Found(settings, list(tables), effort.rounds, losses, seconds)


# -- what follows from it --------------------------------------------------------------------------


def bootstrap(log_ratios: Floats, n_drawn: int = _N_DRAWN, seed: int = 0) -> Floats:
    """Mean log ratios over bootstrap samples of the tables.

    Parameters
    ----------
    log_ratios : ndarray of shape (n_settings, n_tables)
        Of each table.
    n_drawn : int
        How many samples.
    seed : int
        Of the draws.

    Returns
    -------
    ndarray of shape (n_drawn, n_settings)
        Means.
    """
    n_tables = log_ratios.shape[1]
    drawn = np.random.default_rng(seed).integers(n_tables, size=(n_drawn, n_tables))
    counts = np.stack([np.bincount(rows, minlength=n_tables) for rows in drawn])
    means: Floats = counts @ log_ratios.T / n_tables
    return means


def effects(found: Found) -> dict[tuple[str, str], float]:
    """How much worse each value of a setting is than the best value of the same setting.

    Parameters
    ----------
    found : Found
        Losses.

    Returns
    -------
    dict
        Factors on the mean loss, by setting and value: least squares of the log ratios, at the best
        number of rounds of each setting, on all values at once.
    """
    mean = found.log_ratios().mean(axis=2).min(axis=1)
    names = list(found.settings[0])
    values = {name: sorted({repr(point[name]) for point in found.settings}) for name in names}
    columns = [(name, value) for name in names for value in values[name]]
    hot = np.array(
        [[float(repr(point[name]) == value) for name, value in columns] for point in found.settings]
    )
    # The values of a setting add up to 1, so only differences within it are determined.
    solved = np.linalg.lstsq(np.hstack([hot, np.ones((len(hot), 1))]), mean, rcond=None)[0]
    by_column = dict(zip(columns, solved, strict=False))
    least = {name: min(by_column[name, value] for value in values[name]) for name in names}
    return {
        (name, value): float(np.exp(effect - least[name]))
        for (name, value), effect in by_column.items()
    }


def _best(results: FoldResults, effort: Effort, tables: Sequence[str]) -> list[Measurement]:
    found = search(results, effort, tables)
    ratios = found.log_ratios().reshape(-1, len(tables))
    points, means = found.flat(), ratios.mean(axis=1)
    drawn = bootstrap(ratios)
    wins = np.bincount(np.argmin(drawn, axis=1), minlength=len(points)) / len(drawn)
    seconds = np.repeat(np.exp(np.log(found.seconds).mean(axis=1)), len(found.rounds))
    seconds *= np.tile(np.asarray(found.rounds) / max(found.rounds), len(found.settings))
    measurements = []
    for place in np.argsort(means)[:_N_SHOWN]:
        low, high = np.exp(np.quantile(drawn[:, place], [0.025, 0.975]))
        note = f"95% of the bootstrap samples: {low:.3f} to {high:.3f}; best in {wins[place]:.1%}."
        measurements.append(
            Measurement(
                text(points[place]), len(tables), len(points), float(np.exp(means[place])), "ratio",
                seconds=float(seconds[place]), notes=[note],
                detail={"settings": points[place], "wins": float(wins[place])},
            )
        )  # fmt: skip
    return measurements


def _sensitivity(results: FoldResults, effort: Effort, tables: Sequence[str]) -> list[Measurement]:
    found = search(results, effort, tables)
    return [
        Measurement(f"effect of {name}={value}", len(tables), len(found.settings), effect, "ratio")
        for (name, value), effect in effects(found).items()
    ]


def _one_table(name: str, results: FoldResults, effort: Effort) -> list[Measurement]:
    """The best settings of one table alone, and how much the worst lose."""
    settings = design(effort.n_settings)
    losses, seconds = fit_table(name, settings, results, effort)
    place, at = np.unravel_index(np.argmin(losses), losses.shape)
    shape = accuracy_tables.read(name).shape
    best = {**settings[place], "n_estimators": effort.rounds[at]}
    return [
        Measurement(
            f"worst to best setting, {name}", *shape, float(losses.max() / losses.min()), "ratio",
            seconds=float(seconds[place]), detail={"best": best, "loss": float(losses.min())},
        )
    ]  # fmt: skip


def suite(quick: bool) -> Suite:
    """The cases: a table each, then the best settings and the effect of each.

    Parameters
    ----------
    quick : bool
        Whether there is less work.

    Returns
    -------
    Suite
        The cases.
    """
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
