"""How often prediction intervals and prediction sets hold the truth, and how wide they are.

Forests of 100 trees, asked for 90%: on 200 draws of made problems, and on as many random halves (at
most 1,000 rows to train on) of real tables. Beside the widths of MAPIE's jackknife+ after bootstrap
and of quantile-forest, where they are installed, on fewer draws. Times are processor time.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sklearn.ensemble

from benchmarks import accuracy_tables
from benchmarks.report import Measurement, Target
from benchmarks.suite import Case, Suite
from orfeon import RandomForestClassifier, RandomForestRegressor
from orfeon.datasets import (
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_ringnorm,
    make_threenorm,
    make_twonorm,
    make_waveform,
)
from orfeon.utils.types import Floats

_COVERAGE, _N_TREES = 0.9, 100
_WITHIN = Target("from", _COVERAGE - 0.01, "ratio", _COVERAGE + 0.05)
_AT_LEAST = Target("at least", _COVERAGE - 0.01, "ratio")
_N_TRAIN, _N_TEST, _MOST = 300, 500, 1000
_N_DRAWS = 200
#: Draws of the peers, which are slower.
_PEER_DRAWS = 5


class Draw(NamedTuple):
    """Samples to train on, and others to test."""

    X: Any
    y: npt.NDArray[Any]
    X_test: Any
    y_test: npt.NDArray[Any]


@dataclass(frozen=True)
class Problem:
    """A source of draws."""

    name: str
    draw: Callable[[int], Draw]
    has_classes: bool
    n_draws: int


# -- problems --------------------------------------------------------------------------------------


def heteroscedastic(n_rows: int, *, random_state: int) -> tuple[Floats, Floats]:
    """Noise that grows with the first feature."""
    rng = np.random.default_rng(random_state)
    X = rng.uniform(size=(n_rows, 5))
    return X, np.sin(6 * X[:, 0]) + (0.1 + 1.5 * X[:, 0]) * rng.normal(size=n_rows)


def heavy_tails(n_rows: int, *, random_state: int) -> tuple[Floats, Floats]:
    """Noise of Student's t with two degrees of freedom, which has no variance."""
    rng = np.random.default_rng(random_state)
    X = rng.normal(size=(n_rows, 5))
    return X, X[:, 0] * X[:, 1] + 2 * X[:, 2] + rng.standard_t(2, size=n_rows)


def unbalanced(n_rows: int, *, random_state: int) -> tuple[Floats, npt.NDArray[np.int64]]:
    """A class of one sample in ten that overlaps with two others."""
    rng = np.random.default_rng(random_state)
    y = rng.choice(3, n_rows, p=[0.6, 0.3, 0.1])
    return rng.normal(size=(n_rows, 6)) + y[:, None] * np.array([1.0, 0.5, 0, 0, 0, 0]), y


_OF_NUMBERS: dict[str, Any] = {
    "friedman1": make_friedman1, "friedman2": make_friedman2, "friedman3": make_friedman3,
    "heteroscedastic": heteroscedastic, "heavy tails": heavy_tails,
}  # fmt: skip
_OF_CLASSES: dict[str, Any] = {
    "waveform": make_waveform, "ringnorm": make_ringnorm, "threenorm": make_threenorm,
    "twonorm": make_twonorm, "unbalanced": unbalanced,
}  # fmt: skip
_TABLES = (
    "abalone", "used_cars_vw", "diabetes, progression", "german", "vehicle", "segment", "letter",
    "adult", "thyroid", "glass",
)  # fmt: skip


def _made(make: Any, seed: int) -> Draw:
    X, y = make(_N_TRAIN, random_state=seed)
    return Draw(X, y, *make(_N_TEST, random_state=100_000 + seed))


def _split(table: accuracy_tables.Table, seed: int) -> Draw:
    order = np.random.default_rng(seed).permutation(len(table.y))
    n_train = min(len(order) // 2, _MOST)
    train, test = order[:n_train], order[n_train : n_train + 2 * _MOST]
    parts = [part for rows in (train, test) for part in (table.X.iloc[rows], table.y[rows])]
    return Draw(*parts)


def problems(quick: bool) -> Iterator[Problem]:
    """All problems that can be drawn here."""
    n_draws, n_splits = (10, 2) if quick else (_N_DRAWS, _N_DRAWS)
    for made, has_classes in ((_OF_NUMBERS, False), (_OF_CLASSES, True)):
        for name, make in made.items():
            yield Problem(name, partial(_made, make), has_classes, n_draws)
    for name in accuracy_tables.present():
        if name in _TABLES:
            table = accuracy_tables.read(name)
            yield Problem(name, partial(_split, table), bool(table.n_classes), n_splits)


# -- contestants -----------------------------------------------------------------------------------


class Found(NamedTuple):
    """Coverage, mean width or size, and seconds of one draw."""

    coverage: float
    width: float
    seconds: float


def _of_interval(interval: Floats, y: npt.NDArray[Any], seconds: float) -> Found:
    low, high = interval.T
    return Found(float(((low <= y) & (y <= high)).mean()), float((high - low).mean()), seconds)


def intervals(draw: Draw, seed: int) -> dict[str, Found]:
    """Intervals of one forest, by each method."""
    start = time.process_time()
    forest = RandomForestRegressor(_N_TREES, oob_score=True, quantiles=True, random_state=seed)
    forest.fit(draw.X, draw.y)
    fitting = time.process_time() - start
    found = {}
    for method in ("jackknife", "residuals", "quantile"):
        start = time.process_time()
        interval = forest.predict_interval(draw.X_test, _COVERAGE, method=method)
        found[method] = _of_interval(interval, draw.y_test, fitting + time.process_time() - start)
    return found


def sets(draw: Draw, seed: int) -> dict[str, Found]:
    """Sets of one forest, of each kind."""
    start = time.process_time()
    forest = RandomForestClassifier(_N_TREES, oob_score=True, random_state=seed)
    forest.fit(draw.X, draw.y)
    fitting = time.process_time() - start
    code = np.minimum(np.searchsorted(forest.classes_, draw.y_test), len(forest.classes_) - 1)
    known = forest.classes_[code] == draw.y_test
    found = {}
    kinds: dict[str, dict[str, Any]] = {
        "sets": {},
        "sets, by class": {"class_conditional": True},
        "sets, randomized": {"randomized": True, "random_state": seed},
    }
    for name, given in kinds.items():
        start = time.process_time()
        held = forest.predict_set(draw.X_test, _COVERAGE, **given)
        seconds = fitting + time.process_time() - start
        right = held[np.arange(len(held)), code] & known
        found[name] = Found(float(right.mean()), float(held.sum(axis=1).mean()), seconds)
    return found


def mapie_interval(draw: Draw, seed: int) -> Found:
    """MAPIE's jackknife+ after bootstrap: 30 resamples of a forest of 100 trees, its default."""
    bootstrapped = import_module("mapie.regression").JackknifeAfterBootstrapRegressor
    start = time.process_time()
    model = bootstrapped(
        sklearn.ensemble.RandomForestRegressor(_N_TREES, max_features=1 / 3, random_state=seed),
        confidence_level=_COVERAGE, method="plus", resampling=30, random_state=seed,
    ).fit_conformalize(draw.X, draw.y)  # fmt: skip
    _, interval = model.predict_interval(draw.X_test)
    return _of_interval(interval[:, :, 0], draw.y_test, time.process_time() - start)


def quantile_forest_interval(draw: Draw, seed: int) -> Found:
    """quantile-forest: the quantiles themselves, which have no guarantee."""
    kind = import_module("quantile_forest").RandomForestQuantileRegressor
    start = time.process_time()
    forest = kind(_N_TREES, max_features=1 / 3, random_state=seed)
    forest.fit(draw.X, draw.y)
    levels = [(1 - _COVERAGE) / 2, (1 + _COVERAGE) / 2]
    interval = np.asarray(forest.predict(draw.X_test, quantiles=levels))
    return _of_interval(interval, draw.y_test, time.process_time() - start)


#: Peers: their package, the method they are compared with, and how they are run.
_PEERS: dict[str, tuple[str, str, Callable[[Draw, int], Found]]] = {
    "MAPIE": ("mapie", "jackknife", mapie_interval),
    "quantile-forest": ("quantile_forest", "quantile", quantile_forest_interval),
}


def _numbers_only(X: Any) -> Any:
    """Codes of categories, which the peers need."""
    if not hasattr(X, "columns"):
        return X
    kinds = {name: X[name] for name in X.columns}
    codes = [
        column.cat.codes.to_numpy(np.float64)
        if hasattr(column, "cat")
        else column.to_numpy(np.float64)
        for column in kinds.values()
    ]
    return np.column_stack(codes)


# -- measuring -------------------------------------------------------------------------------------


def _measure(problem: Problem, quick: bool) -> list[Measurement]:
    ask = sets if problem.has_classes else intervals
    every: dict[str, list[Found]] = {}
    peers: dict[str, list[Found]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few samples are in all bootstrap samples
        for seed in range(problem.n_draws):
            draw = problem.draw(seed)
            for name, one in ask(draw, seed).items():
                every.setdefault(name, []).append(one)
            if problem.has_classes or seed >= (2 if quick else _PEER_DRAWS):
                continue
            plain = draw._replace(X=_numbers_only(draw.X), X_test=_numbers_only(draw.X_test))
            for name, (package, _, run) in _PEERS.items():
                if find_spec(package) is not None:
                    peers.setdefault(name, []).append(run(plain, seed))
    n, d = len(draw.y), draw.X.shape[1]
    found = []
    for name, draws in every.items():
        coverage, width, seconds = np.mean(draws, axis=0)
        spread = float(np.std([one.coverage for one in draws]))
        exact = not problem.has_classes or "randomized" in name
        size = "classes" if problem.has_classes else "width"
        notes = (f"{size} {width:.3g}", f"{len(draws)} draws, standard deviation {spread:.3f}")
        found.append(
            Measurement(
                f"{problem.name}: {name}",
                n,
                d,
                float(coverage),
                "ratio",
                notes=notes,
                target=_WITHIN if exact else _AT_LEAST,
                detail={"width": float(width), "seconds": float(seconds), "spread": spread},
            )
        )
    for name, draws in peers.items():
        method = _PEERS[name][1]
        own = np.mean(every[method][: len(draws)], axis=0)
        coverage, width, seconds = np.mean(draws, axis=0)
        notes = (
            f"coverage {own[0]:.3f} and {coverage:.3f}",
            f"{len(draws)} draws, width as a share of the peer's",
        )
        found.append(
            Measurement(
                f"{problem.name}: {method}, width",
                n,
                d,
                float(own[1] / width),
                "ratio",
                seconds=float(own[2]),
                peer=name,
                peer_seconds=float(seconds),
                notes=notes,
                detail={"coverage": float(own[0]), "peer_coverage": float(coverage)},
            )
        )
    return found


def suite(quick: bool) -> Suite:
    """Coverage of intervals and sets."""
    cases = [Case(problem.name, partial(_measure, problem, quick)) for problem in problems(quick)]
    missing = [name for name, (package, *_) in _PEERS.items() if find_spec(package) is None]
    notices = [f"{name} is not installed, and left out." for name in missing]
    return Suite(cases, notices)
