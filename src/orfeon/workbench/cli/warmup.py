"""The command ``orfeon warmup``: compile the kernels before they are needed.

Kernels are compiled for the types of their arrays, so each family of methods is fitted to small
tables of every kind: with and without categories and missing values, with two classes and with
more, and with numeric targets.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from orfeon.errors import UserError
from orfeon.utils.text import counted, duration_text, nearest_names
from orfeon.workbench.cli.live import LiveDisplay
from orfeon.workbench.cli.options import add_output_options, command_parser, names
from orfeon.workbench.cli.output import print_json, print_table

_DESCRIPTION = """\
Compiles the kernels and keeps them on disk, so that the first study, fit or prediction starts at
full speed. orfeon compiles on first use anyway: this only moves the wait to a time of your choice,
such as a container build or the evening before a class. A second run has little left to do, and
says so.

Kernels are kept beside the package, or in the folder given by NUMBA_CACHE_DIR. They are compiled
for this machine's processor and this version of orfeon.
"""

_EXAMPLES = """\
orfeon warmup                             what most tables need, a minute or two
orfeon warmup --family trees,ensembles    only these
orfeon warmup --family all                also for tables of more than 65,535 rows
NUMBA_CACHE_DIR=/srv/kernels orfeon warmup --json
"""


class Step(NamedTuple):
    """One estimator to fit: its name, its settings, and the tables to fit it to."""

    estimator: str
    settings: dict[str, Any]
    tables: tuple[str, ...]


class Compiled(NamedTuple):
    """The cost of a family: number of kernels compiled, and total seconds."""

    family: str
    n_kernels: int
    seconds: float


_CLASSES = ("numbers", "mixed")
#: Tables with more rows than 16 bits can count have kernels of their own.
_LARGE = ("large", "large_mixed")
_N_ROWS, _N_LARGE = 90, 66_000


def _steps(*estimators: str, tables: tuple[str, ...] = _CLASSES, **settings: Any) -> list[Step]:
    return [Step(name, settings, tables) for name in estimators]


def _of_numbers(*estimators: str, **settings: Any) -> list[Step]:
    return _steps(*estimators, tables=("regression", "mixed_regression"), **settings)


#: What is fitted to warm a family up.
FAMILIES: dict[str, list[Step]] = {
    "trees": [
        *_steps("CARTClassifier", pruning="cv"),
        *_of_numbers("CARTRegressor", pruning="cv"),
        *_steps("C45Classifier", "IGPTreeClassifier", "StumpClassifier", "RandomTreeClassifier"),
        *_of_numbers("StumpRegressor", "RandomTreeRegressor"),
    ],
    "ensembles": [
        *_steps(
            "BaggingClassifier", "RandomForestClassifier", "ExtraTreesClassifier",
            "ClassSwitchingClassifier", "WaggingClassifier", "RandomSubspaceClassifier",
            "IGPEnsembleClassifier", n_estimators=6,
        ),
        *_of_numbers(
            "BaggingRegressor", "RandomForestRegressor", "ExtraTreesRegressor",
            "OutputSmearingRegressor", n_estimators=6,
        ),
    ],
    "oblique": [
        *_steps("ObliqueForestClassifier", tables=("numbers",), n_estimators=4),
        *_steps("ObliqueForestRegressor", tables=("regression",), n_estimators=4),
    ],
    "boosting": [
        *_steps("AdaBoostClassifier", "AdaBoostMHClassifier", n_estimators=4),
        *_of_numbers("AdaBoostR2Regressor", n_estimators=4),
        *_steps("IGPCommitteesClassifier", n_committees=2, n_estimators=3),
    ],
    "gradient": [
        *_steps("GradientBoostingClassifier", n_estimators=4),
        *_steps(
            "GradientBoostingClassifier", n_estimators=4, multi_strategy="multi_output_tree"
        ),
        *_of_numbers("GradientBoostingRegressor", n_estimators=4),
        *_steps("GradientBoostingClassifier", n_estimators=4, tree_method="histogram"),
        *_of_numbers("GradientBoostingRegressor", n_estimators=4, tree_method="histogram"),
    ],
    "perceptrons": [
        *_steps("ParallelPerceptronClassifier", tables=("numbers",)),
        *_steps("PPBoostClassifier", tables=("numbers",), n_estimators=3),
    ],
    "ordering": [],
    "large": [
        *_steps("CARTClassifier", tables=_LARGE, pruning="cv", n_folds=2),
        *_steps("C45Classifier", "IGPTreeClassifier", tables=_LARGE),
        *_steps(
            "BaggingClassifier", "RandomForestClassifier", "ExtraTreesClassifier", tables=_LARGE,
            n_estimators=2,
        ),
        *_steps(
            "BaggingRegressor", "RandomForestRegressor", "ExtraTreesRegressor",
            tables=("large_regression", "large_mixed_regression"), n_estimators=2,
        ),
        *_steps("AdaBoostClassifier", tables=_LARGE, n_estimators=2),
        *_steps("GradientBoostingClassifier", tables=_LARGE, n_estimators=2),
    ],
}  # fmt: skip


def add_parser(subparsers: Any) -> None:
    """Define the arguments."""
    parser = command_parser(
        subparsers,
        "warmup",
        "compile the kernels now, so that later commands start fast",
        _DESCRIPTION,
        _EXAMPLES,
    )
    parser.add_argument(
        "--family", type=names, metavar="A,B",
        help=f"families of methods among {', '.join(FAMILIES)}; or all; default: all except "
        "large, which is for tables of more than 65,535 rows",
    )  # fmt: skip
    add_output_options(parser)


def run(options: argparse.Namespace) -> int:
    """Compile, and report the time."""
    families = _chosen(options.family)
    with LiveDisplay("compiling kernels", quiet=options.quiet) as display:
        display.start(sum(_n_parts(family) for family in families))
        display.running(["loading"])
        _load()
        found = [_warm_up(family, display) for family in families]
    seconds, n_kernels = sum(item.seconds for item in found), sum(item.n_kernels for item in found)
    if options.json:
        print_json(
            {
                "families": [item._asdict() for item in found],
                "n_kernels": n_kernels,
                "seconds": seconds,
                "cache": _cache_folder(),
            }
        )
        return 0
    print_table(
        ["family", "kernels compiled", "time"],
        [[item.family, item.n_kernels, duration_text(item.seconds)] for item in found],
        to_the_right={1, 2},
    )
    print(f"\n{_summary(n_kernels, seconds)}")
    return 0


def _summary(n_kernels: int, seconds: float) -> str:
    if n_kernels == 0:
        return f"All kernels were already compiled (checked in {duration_text(seconds)})."
    number = counted(n_kernels, "kernel")
    return f"{number} compiled in {duration_text(seconds)} and kept in {_cache_folder()}."


def _chosen(given: list[str] | None) -> list[str]:
    if given == ["all"]:
        return list(FAMILIES)
    for name in given or ():
        if name not in FAMILIES:
            raise UserError(
                f"--family: unknown family {name!r}{nearest_names(name, FAMILIES)}. "
                f"The families are {', '.join(FAMILIES)}."
            )
    return [name for name in FAMILIES if (name != "large" if given is None else name in given)]


def _n_parts(family: str) -> int:
    return 1 if family == "ordering" else sum(len(step.tables) for step in FAMILIES[family])


def _warm_up(family: str, display: LiveDisplay) -> Compiled:
    start = time.perf_counter()
    with _counted_kernels() as n_kernels, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such small tables make methods warn
        if family == "ordering":
            display.running(["ordering"])
            _order_members()
            display.advance(1, "ordering")
        for step in FAMILIES[family]:
            for name in step.tables:
                display.running([f"{step.estimator} ({name.replace('_', ' ')})"])
                _fit(step, name)
                display.advance(1, f"{step.estimator} ({name.replace('_', ' ')})")
    return Compiled(family, n_kernels(), time.perf_counter() - start)


def _load() -> None:
    """Import now what the first family would otherwise be charged for."""
    import pandas  # noqa: F401

    import orfeon.ensembles  # noqa: F401


@contextmanager
def _counted_kernels() -> Iterator[Callable[[], int]]:
    """Count compiled kernels, and silence the notice about compiling."""
    import logging

    from numba.core import event

    class Counter(event.Listener):  # type: ignore[misc]
        n_kernels = 0
        depth = 0

        def on_start(self, event: Any) -> None:
            self.n_kernels += self.depth == 0
            self.depth += 1

        def on_end(self, event: Any) -> None:
            self.depth -= 1

    counter, logger = Counter(), logging.getLogger("orfeon")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with event.install_listener("numba:compile", counter):
            yield lambda: counter.n_kernels
    finally:
        logger.setLevel(level)


def _table(name: str) -> tuple[Any, Any]:
    """A small table, numeric or with categories and missing values."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    is_large, is_mixed = name.startswith("large"), "mixed" in name
    X = rng.normal(size=(_N_LARGE, 2) if is_large else (_N_ROWS, 4))
    signal = X[:, 0] + X[:, 1] + rng.normal(scale=0.0 if is_large else 0.5, size=len(X))
    frame: Any = X
    if is_mixed:
        X[rng.random(X.shape) < 0.1] = np.nan
        frame = pd.DataFrame(X, columns=list("abcd")[: X.shape[1]])
        colours = np.array(["red", "green", "blue", "grey"])
        frame["colour"] = pd.Categorical(colours[rng.integers(0, 4, size=len(X))])
    if name.endswith("regression"):
        return frame, signal
    cuts = [-1.0, 1.0] if is_mixed else [0.0]
    return frame, np.array(["low", "middle", "high"])[np.digitize(signal, cuts)]


def _fit(step: Step, name: str) -> None:
    import orfeon

    X, y = _table(name)
    estimator = getattr(orfeon, step.estimator)(**step.settings)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    estimator.fit(X, y)
    estimator.predict(X)
    if hasattr(estimator, "predict_proba"):
        estimator.predict_proba(X)


def _order_members() -> None:
    """Order the members of a bagging ensemble by every rule that uses kernels."""
    from orfeon import BaggingClassifier, BaggingRegressor, prune

    X, y = _table("mixed")
    bag = BaggingClassifier(n_estimators=12, random_state=0).fit(X, y)
    for rule in ("reduce_error", "complementarity", "margin_distance", "orientation"):
        prune(bag, X, y, rule=rule, keep=0.5).predict(X)
        prune(bag, X, y, rule=rule, keep="auto", on="out_of_bag").predict(X)
    X, y = _table("regression")
    numbers = BaggingRegressor(n_estimators=12, random_state=0).fit(X, y)
    prune(numbers, X, y, rule="reduce_error", keep=0.5).predict(X)


def _cache_folder() -> str | None:
    """Where the kernels are kept."""
    from orfeon.kernels.routing import route

    for found in vars(route).values():
        cache = getattr(getattr(found, "_cache", None), "cache_path", None)
        if cache is not None:
            return str(cache)
    return None
