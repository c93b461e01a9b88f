"""One fit on one split: what it is called, what it is made of, and what it leaves in the store."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator

from orfeon.workbench.reproduction.designs import Problem
from orfeon.workbench.reproduction.partitions import Partition
from orfeon.workbench.reproduction.records import cell_name, encode_result
from orfeon.workbench.reproduction.runs import Cell, Protocol, Run

if TYPE_CHECKING:
    from orfeon.workbench.store import RunRow


@dataclass(frozen=True)
class Fit:
    r"""One fit on one split, and those of its cells that were asked for."""

    protocol: Protocol
    problem: Problem
    split: int
    run: Run
    wanted: tuple[Cell, ...]

    def __str__(self) -> str:
        return f"{self.problem.name} {self.problem.describe(self.split)} {self.run.name}"

    @property
    def key(self) -> str:
        """What no two fits of a family of tables share."""
        return f"{self.problem.name}/{self.run.name}/{self.run.members}/{self.split:04d}"

    def perform(self, partition: Partition) -> RunRow:
        """Fit and fill all cells, asked for or not: it is the fit that costs."""
        from orfeon.workbench.store import RunRow

        seed = self.protocol.random_state(self.split)
        start = time.perf_counter()
        model = self.run.build(self.run.members, seed, 1)
        with warnings.catch_warnings():
            if self.run.expected_warning is not None:
                warnings.filterwarnings("ignore", message=self.run.expected_warning)
            model.fit(partition.X_train, partition.y_train)
            fitted = time.perf_counter()
            results = self.run.measure(model, partition)
        end = time.perf_counter()
        return RunRow(
            key=self.key,
            configuration=self._configuration(model),
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
            "estimator": type(model).__name__,
            "parameters": _plain(model.get_params()) if hasattr(model, "get_params") else {},
        }


def _plain(value: Any) -> Any:
    """Parameters as JSON has them: an estimator is its name, as its parameters have their own."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return type(value).__name__ if isinstance(value, BaseEstimator) else repr(value)
