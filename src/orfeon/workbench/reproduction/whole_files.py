"""Trees grown on whole files, for figures that are exact: sizes and training errors.

Our C4.5 with the options of an independent program must give trees of the same size. The upper
limit of a leaf's errors is that of the normal distribution, as that program has it; with the
interpolated table of C4.5's release 8, which is our default, the pruned tree of breast_w has 16
leaves instead of 14.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import orfeon
from orfeon.datasets.folder import DataSet, data_file, has_data_file, read_data
from orfeon.workbench.reproduction.partitions import Partition, digest_of
from orfeon.workbench.reproduction.published import PublishedCell, read_config
from orfeon.workbench.reproduction.rules import Rule, Within
from orfeon.workbench.reproduction.runs import Cell, Results, Run

_TABLE = "j48"
_EQUAL = Within(0, "Sizes and numbers of errors agree when they are equal.")


def equal(cell: PublishedCell) -> Rule:
    """The rule of exact figures."""
    return _EQUAL


@dataclass
class WholeFile:
    """A problem whose file is the training set, and the test set too."""

    name: str
    folder: str | os.PathLike[str] | None = None
    _data: DataSet | None = field(init=False, repr=False, default=None)

    def describe(self, split: int) -> str:
        """Name a split; there is only one."""
        return "whole"

    def is_available(self) -> bool:
        """Whether the file is there."""
        return has_data_file(self.name, self.folder)

    def load(self) -> None:
        """Read the file."""
        if self._data is None:
            self._data = read_data(data_file(self.name, self.folder))

    def digest(self) -> str:
        """A word that changes with the content of the file."""
        return digest_of(self.name, self.folder)

    def settings(self) -> dict[str, Any]:
        """What the training set is, as plain values."""
        return {"from": f"{self.name}.csv", "whole": True}

    def draw(self, split: int) -> Partition:
        """The file, twice."""
        self.load()
        assert self._data is not None
        X, y = self._data
        return Partition(X, y, X, y)


class WholeFiles:
    """The design of tables of exact figures."""

    def problem(
        self, table: str, dataset: str, folder: str | os.PathLike[str] | None = None
    ) -> WholeFile:
        """A data set as a whole."""
        return WholeFile(dataset, folder)


def _run(config: str) -> Run:
    cell = Cell(_TABLE, "c45", config)
    options = read_config(config)

    def build(members: int, random_state: int, n_jobs: int | None) -> Any:
        return orfeon.C45Classifier(
            min_samples_leaf=int(options["min_objs"]), pruning="pruned" in options,
            error_limit="normal", random_state=random_state,
        )  # fmt: skip

    def measure(tree: Any, whole: Partition) -> Results:
        n_wrong = np.sum(tree.predict(whole.X_train) != whole.y_train)
        figures = {
            "n_leaves": float(tree.get_n_leaves()),
            "n_nodes": float(tree.forest_.n_nodes[0]),
            "training_errors": float(n_wrong),
        }
        return {cell: figures}

    return Run(f"c45 {config}", (cell,), 1, build, measure)


#: Pruned and not, with two samples a leaf at least and with one.
WHOLE_TREES = tuple(
    _run(config) for config in ("pruned;min_objs=2", "unpruned;min_objs=2", "unpruned;min_objs=1")
)
