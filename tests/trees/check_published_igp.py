"""Errors of single CART and IGP trees on random splits beside the published ones.

    python -m tests.trees.check_published_igp            50 splits, as published (some seconds)
    python -m tests.trees.check_published_igp --quick    10 splits

The table is 3.2 of Martínez-Muñoz (2006): CART pruned by cross-validation, and IGP, on the same
random partitions. A cell agrees when it is within one point of the published error, or within two
standard errors of the difference.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.shared import load, path_of

from orfeon import CARTClassifier, IGPTreeClassifier
from orfeon.datasets import make_waveform

DATASETS = ("breast_w", "diabetes", "german", "sonar", "waveform")
#: The table's problems by the name of their file, where it is another.
FILES = {"german": "german_numeric"}
N_SPLITS = 50


@dataclass(frozen=True)
class Cell:
    """One published error and ours, in percent."""

    dataset: str
    method: str
    ours: float
    std: float
    n_splits: int
    leaves: float
    published: float
    published_std: float

    @property
    def tolerance(self) -> float:
        """One point, or two standard errors of the difference."""
        variance = self.std**2 / self.n_splits + self.published_std**2 / N_SPLITS
        return max(1.0, 2 * math.sqrt(variance))

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the tolerance."""
        return abs(self.ours - self.published) <= self.tolerance

    def __str__(self) -> str:
        return (
            f"{self.dataset:10s} {self.method:9s} {self.ours:6.1f} ± {self.std:3.1f}"
            f"   published {self.published:5.1f} ± {self.published_std:3.1f}"
            f"   {self.leaves:5.1f} leaves   {'agrees' if self.agrees else 'DIFFERS'}"
        )


def rows_of(name: str, dataset: str) -> list[dict[str, str]]:
    """The rows of a published table about a data set."""
    with path_of(f"reference/{name}.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["dataset"] == dataset]


def partitions(dataset: str, n_splits: int) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Training and test sets of the published sizes, drawn at random."""
    sizes = {row["metric"]: int(row["value"]) for row in rows_of("martinez_3_1", dataset)}
    n_train, n_test = sizes["n_train"], sizes["n_test"]
    if dataset == "waveform":
        for split in range(n_splits):
            X, y = make_waveform(n_train + n_test, random_state=split)
            yield X[:n_train], y[:n_train], X[n_train:], y[n_train:]
        return
    frame, y = load(FILES.get(dataset, dataset))
    X = frame.to_numpy(dtype=np.float64)
    if len(y) != n_train + n_test:
        raise ValueError(f"{dataset} has {len(y)} examples; {n_train + n_test} are published.")
    for split in range(n_splits):
        order = np.random.default_rng(split).permutation(len(y))
        train, test = order[:n_train], order[n_train:]
        yield X[train], y[train], X[test], y[test]


def cells(dataset: str, n_splits: int) -> list[Cell]:
    """Our errors on some splits, beside the published ones."""
    models = {"cart": CARTClassifier(pruning="cv"), "igp_tree": IGPTreeClassifier()}
    errors: dict[str, list[float]] = {name: [] for name in models}
    leaves: dict[str, list[int]] = {name: [] for name in models}
    for split, (X, y, X_test, y_test) in enumerate(partitions(dataset, n_splits)):
        for name, model in models.items():
            model.set_params(random_state=split).fit(X, y)
            errors[name].append(100 * float(np.mean(model.predict(X_test) != y_test)))
            leaves[name].append(model.get_n_leaves())
    published = {
        row["method"]: (float(row["value"]), float(row["std"]))
        for row in rows_of("martinez_3_2", dataset)
        if row["metric"] == "test_error_percent"
    }
    return [
        Cell(
            dataset, name, float(np.mean(errors[name])), float(np.std(errors[name], ddof=1)),
            n_splits, float(np.mean(leaves[name])), *published[name],
        )
        for name in models
    ]  # fmt: skip


def main() -> int:
    """Print the table; the exit status is the number of cells that differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10 splits instead of 50")
    n_splits = 10 if parser.parse_args().quick else N_SPLITS
    found = [cell for dataset in DATASETS for cell in cells(dataset, n_splits)]
    print(*found, sep="\n")
    return sum(not cell.agrees for cell in found)


if __name__ == "__main__":
    raise SystemExit(main())
