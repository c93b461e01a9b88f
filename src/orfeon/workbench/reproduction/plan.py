"""What a reproduction runs: which fits, on which splits, for which cells."""

from __future__ import annotations

import inspect
import math
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sklearn.base import BaseEstimator

from orfeon.datasets.folder import HOW_TO_NAME_IT
from orfeon.errors import UserError
from orfeon.workbench.reproduction.protocols import (
    AS_PUBLISHED,
    Protocol,
    Run,
    find_protocol,
)
from orfeon.workbench.reproduction.published import PublishedCell, published_cells, published_folds
from orfeon.workbench.reproduction.results import Cell, cell_name, encode_result
from orfeon.workbench.reproduction.splits import Partition, Problem
from orfeon.workbench.reproduction.study import Variant
from orfeon.workbench.store import RunRow

QUICK_SPLITS = 2
QUICK_MEMBERS = 100
#: What scikit-learn calls a parameter on its way out, which has no effect.
_GONE = "deprecated"


class NothingToRunError(FileNotFoundError):
    """None of the data sets of a quick run is available.

    Examples
    --------
    >>> from orfeon.workbench import reproduce
    >>> reproduce("cantador-6.3.1", quick=True, data="no/such/folder")
    Traceback (most recent call last):
    ...
    orfeon.workbench.reproduction.plan.NothingToRunError: Nothing to run: ...
    """


@dataclass(frozen=True)
class Request:
    """What to run of a table."""

    table: str
    datasets: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    n_splits: int | None = None
    quick: bool = False
    variant: Variant = AS_PUBLISHED
    data: str | os.PathLike[str] | None = None


@dataclass(frozen=True)
class Fit:
    """One fit on one split, and those of its cells that are wanted."""

    protocol: Protocol
    problem: Problem
    split: int
    run: Run
    wanted: tuple[Cell, ...]

    def __str__(self) -> str:
        return f"{self.problem.name} {self.problem.describe(self.split)} {self.run.name}"

    @property
    def key(self) -> str:
        """The key of the fit, unique in a family of tables."""
        return f"{self.problem.key}/{self.run.name}/{self.run.members}/{self.split:04d}"

    def perform(self, partition: Partition) -> RunRow:
        """Fit and fill all cells, requested or not: only the fit is expensive."""
        seed = self.protocol.random_state(self.split)
        start = time.perf_counter()
        model = self.run.build(self.run.members, seed, 1)
        configuration = self._configuration(model)
        with warnings.catch_warnings():
            if self.run.expected_warning is not None:
                warnings.filterwarnings("ignore", message=self.run.expected_warning)
            model.fit(partition.X_train, partition.y_train)
            fitted = time.perf_counter()
            results = self.run.measure(model, partition)
        end = time.perf_counter()
        return RunRow(
            key=self.key,
            configuration=configuration,
            seed=seed,
            result={cell_name(cell): encode_result(results[cell]) for cell in self.run.cells},
            seconds=round(end - start, 4),
            timings={"fit": round(fitted - start, 4), "measure": round(end - fitted, 4)},
        )

    def _configuration(self, model: Any) -> dict[str, Any]:
        return {
            "dataset": self.problem.name,
            "split": self.split,
            "drawn": dict(self.problem.settings()),
            "run": self.run.name,
            "members": self.run.members,
            **settings_of(model),
        }

    def changed_settings(self, row: RunRow) -> str:
        """What a stored run of the fit was run with, and is not today; empty if nothing."""
        return changed_settings(row.configuration, self.run.build(self.run.members, row.seed, 1))


def changed_settings(stored: Mapping[str, Any], model: Any) -> str:
    """Settings of a model that have changed since it was stored; empty if none have.

    A parameter that is new since then counts as its default; one that is gone is not compared.
    """
    today = settings_of(model)
    now = {"class": today["estimator"], **today["parameters"]}
    then = {"class": stored.get("estimator", today["estimator"]), **stored.get("parameters", {})}
    then = {**_new_defaults(model, then), **then}
    return ", ".join(
        f"{name}={value!r} instead of {now[name]!r}"
        for name, value in then.items()
        if name in now and value != now[name] and _GONE not in (value, now[name])
    )


def _new_defaults(model: Any, then: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults of the parameters that a stored model, or one in it, did not have yet."""
    found = {}
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    for name in parameters.keys() - then.keys():
        owner, _, last = name.rpartition("__")
        if owner and owner not in then:
            continue
        known = inspect.signature(type(parameters[owner] if owner else model)).parameters
        if last in known:
            found[name] = _plain(known[last].default)
    return found


def settings_of(model: Any) -> dict[str, Any]:
    """The class and all parameters of a model, defaults and those of a default member included."""
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    if parameters.get("estimator") is None and hasattr(model, "_base"):
        member = model._base()
        given = member.get_params().items()
        parameters |= {"default_estimator": member}
        parameters |= {f"default_estimator__{name}": value for name, value in given}
    return {"estimator": type(model).__name__, "parameters": _plain(parameters)}


def _plain(value: Any) -> Any:
    """Parameters as JSON: an estimator is its name, as its parameters have entries of their own."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return type(value).__name__ if isinstance(value, BaseEstimator) else repr(value)


@dataclass(frozen=True)
class Plan:
    """The fits of a reproduction."""

    protocol: Protocol
    cells: tuple[PublishedCell, ...]
    fits: tuple[Fit, ...]
    left_out: tuple[str, ...]
    #: Cells that are run with fewer members, or smaller grids, than published.
    reduced: frozenset[Cell] = frozenset()

    @cached_property
    def keys(self) -> frozenset[str]:
        """Of all fits."""
        return frozenset(fit.key for fit in self.fits)

    @cached_property
    def wanted(self) -> frozenset[Cell]:
        """The wanted cells, whatever the data set."""
        return frozenset(cell for fit in self.fits for cell in fit.wanted)


def make_plan(request: Request) -> Plan:
    """The fits that a request takes."""
    protocol = find_protocol(request.table, request.variant)
    cells = published_cells(protocol.source)
    n_splits = request.n_splits
    if n_splits is None:
        n_splits = min(QUICK_SPLITS, cells[0].n_splits) if request.quick else cells[0].n_splits
    if n_splits < 1:
        raise UserError(f"n_splits must be at least 1, got {n_splits}")
    names = _chosen("datasets", request.datasets, [cell.dataset for cell in cells])
    wanted_methods = request.methods or protocol.settings.get("methods")
    methods = _chosen("methods", wanted_methods, [cell.method for cell in cells])
    slow = protocol.on_request if request.methods is None else frozenset()
    runs = _wanted_runs(protocol, [name for name in methods if name not in slow], request.quick)
    whole = {run.name: run for run in protocol.runs}
    left_out: tuple[str, ...] = ()
    if request.quick and request.datasets is None:
        names, left_out = _available(protocol, names, request.data)
    source, design = protocol.source, protocol.design
    problems = {
        (name, number): design.problem(source, name, request.data, run.drawn)
        for name in names
        for number, (run, _) in enumerate(runs)
    }
    return Plan(
        protocol,
        tuple(cell for cell in cells if cell.dataset in names and cell.method in methods),
        tuple(
            Fit(protocol, problems[name, number], split, run, wanted)
            for split in range(n_splits * published_folds(source))
            for name in names
            for number, (run, wanted) in enumerate(runs)
        ),
        left_out,
        frozenset(cell for run, wanted in runs for cell in wanted if _is_reduced(run, cell, whole)),
    )


def _is_reduced(run: Run, cell: Cell, whole: Mapping[str, Run]) -> bool:
    """Whether a quick run gives a cell fewer members, or other settings, than published."""
    return run.name not in whole or not run.is_whole(cell, whole[run.name])


def _available(
    protocol: Protocol, names: Sequence[str], data: str | os.PathLike[str] | None
) -> tuple[list[str], tuple[str, ...]]:
    """The data sets of a quick run, and those of them whose files are not there."""
    wanted = [name for name in names if name in (protocol.quick_datasets or names)]
    source, design = protocol.source, protocol.design
    there = [name for name in wanted if design.problem(source, name, data).is_available()]
    if not there:
        raise NothingToRunError(
            f"Nothing to run: none of the data sets {', '.join(wanted)} was found. {HOW_TO_NAME_IT}"
        )
    return there, tuple(name for name in wanted if name not in there)


def _wanted_runs(
    protocol: Protocol, methods: Sequence[str], quick: bool
) -> list[tuple[Run, tuple[Cell, ...]]]:
    """The fits that fill wanted cells, and these cells."""
    found = []
    for whole in (protocol.quick_runs if quick else ()) or protocol.runs:
        run = whole.at_most(QUICK_MEMBERS) if quick else whole
        wanted = tuple(
            cell for cell in run.cells if cell.table == protocol.source and cell.method in methods
        )
        if wanted:
            found.append((run, wanted))
    return found


def _chosen(what: str, wanted: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """The wanted names, each once, in the table's order; all of them when None."""
    names = list(dict.fromkeys(known))
    unknown = [name for name in wanted or [] if name not in names]
    if unknown:
        raise UserError(f"{what} must be among {', '.join(names)}, got {', '.join(unknown)}")
    return names if wanted is None else [name for name in names if name in wanted]
