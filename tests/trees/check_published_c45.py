"""C4.5's errors on stratified splits beside the published ones.

    python -m tests.trees.check_published_c45            100 splits, as published (some seconds)
    python -m tests.trees.check_published_c45 --quick    20 splits

A cell agrees when it is within one point of the published error, or within two standard errors of
the difference.
"""

from __future__ import annotations

import argparse
import csv
import math
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from tests.shared import load, path_of

from orfeon.trees.c45 import C45Classifier

DATASETS = ("breast_w", "diabetes", "german", "vowel", "wine")


@dataclass(frozen=True)
class Cell:
    """One published error and ours, in percent."""

    dataset: str
    ours: float
    std: float
    n_splits: int
    published: float
    published_std: float

    @property
    def tolerance(self) -> float:
        """One point, or two standard errors of the difference."""
        variance = self.std**2 / self.n_splits + self.published_std**2 / 100
        return max(1.0, 2 * math.sqrt(variance))

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the tolerance."""
        return abs(self.ours - self.published) <= self.tolerance


def table(name: str) -> list[dict[str, str]]:
    """The rows of a published table."""
    with path_of(f"reference/{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def cell(dataset: str, n_splits: int) -> Cell:
    """Our error on ``n_splits`` splits of the published sizes, beside the published one."""
    sizes = {r["metric"]: r["value"] for r in table("martinez_4_1") if r["dataset"] == dataset}
    (row,) = (
        row for row in table("martinez_4_2") if (row["dataset"], row["method"]) == (dataset, "c45")
    )
    X, y = load(dataset)
    splits = StratifiedShuffleSplit(
        n_splits, train_size=int(sizes["n_train"]), test_size=int(sizes["n_test"]), random_state=0
    )
    errors = [
        100.0 * (1.0 - C45Classifier().fit(X.iloc[train], y[train]).score(X.iloc[test], y[test]))
        for train, test in splits.split(X, y)
    ]
    return Cell(
        dataset,
        float(np.mean(errors)),
        float(np.std(errors, ddof=1)),
        n_splits,
        float(row["value"]),
        float(row["std"]),
    )


def main() -> int:
    """Print the table; returns the number of cells that do not agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 splits instead of 100")
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    arguments = parser.parse_args()
    cells = [cell(name, 20 if arguments.quick else 100) for name in arguments.datasets]
    for c in cells:
        verdict = "agrees" if c.agrees else "DIFFERS"
        print(
            f"{c.dataset:12} ours {c.ours:5.1f} ({c.std:.1f})   published {c.published:5.1f} "
            f"({c.published_std:.1f})   {verdict}"
        )
    return sum(not c.agrees for c in cells)


if __name__ == "__main__":
    raise SystemExit(main())
