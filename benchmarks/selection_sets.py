"""Which samples to order members on: the training set, out-of-bag, or held out.

``python -m benchmarks.selection_sets --data DIR`` prunes ensembles to a fifth, ordered by each of
them on the same splits, and prints the mean test errors as a table for the user guide.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

import orfeon
from benchmarks.pruning_sizes import ENSEMBLES, FIRST_SPLIT, TABLE
from orfeon.datasets import FOLDER_VARIABLE
from orfeon.ensembles.with_selection import Samples
from orfeon.workbench import PROTOCOLS
from orfeon.workbench.reproduction import (
    PairedDifference,
    Partitions,
    is_synthetic,
    paired_difference,
    published_sizes,
)
from orfeon.workbench.reproduction.measures import error_percent

#: Real problems of different sizes, and a synthetic one.
DATASETS = ("waveform", "diabetes", "vehicle", "heart", "sonar", "ionosphere")
#: Ensembles whose members leave samples out.
COMPARED = tuple(name for name in ENSEMBLES if name != "class-switching")
ORDERED_BY: tuple[Samples, ...] = get_args(Samples)

#: Errors in percent by the number of the split.
Errors = dict[int, float]


def measure(ensemble: str, problem: Partitions, on: Samples, n_splits: int, members: int) -> Errors:
    """Test errors of a fifth of the members, in the order that some votes give."""
    errors = {}
    for split in range(FIRST_SPLIT, FIRST_SPLIT + n_splits):
        parts = problem.draw(split)
        seed = PROTOCOLS[TABLE].random_state(split)
        whole = ENSEMBLES[ensemble](members, seed)
        model = orfeon.PrunedClassifier(whole, on=on, random_state=seed)
        model.fit(parts.X_train, parts.y_train)
        errors[split] = error_percent(model.predict(parts.X_test), parts.y_test)
    return errors


def mean_difference(differences: Sequence[PairedDifference]) -> PairedDifference:
    """Mean over problems, each of which counts the same.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import PairedDifference
    >>> print(mean_difference([PairedDifference(1.0, 0.3, 10), PairedDifference(0.0, 0.4, 10)]))
    +0.50 ± 0.25
    """
    spread = math.sqrt(sum(one.standard_error**2 for one in differences))
    mean = float(np.mean([one.mean for one in differences]))
    return PairedDifference(mean, spread / len(differences), sum(d.n_splits for d in differences))


def line(ensemble: str, found: Sequence[dict[Samples, Errors]]) -> str:
    """An ensemble's row: the mean error by the training set, and differences from it."""
    base = [float(np.mean(list(one["train"].values()))) for one in found]
    cells = [f"{np.mean(base):.1f}"]
    for on in ORDERED_BY[1:]:
        paired = [paired_difference(one[on], one["train"]) for one in found]
        cells.append(str(mean_difference(paired)))
    return f"| {ensemble} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.selection_sets", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument(
        "--data", type=Path, metavar="DIR",
        help=f"folder of the real data sets as CSV files; default: ${FOLDER_VARIABLE}",
    )  # fmt: skip
    parser.add_argument("--splits", type=int, default=10, metavar="N")
    parser.add_argument("--members", type=int, default=200, metavar="T")
    options = parser.parse_args(arguments)
    if options.splits < 2:
        parser.error(f"--splits must be 2 or more, got {options.splits}")
    folder = options.data or os.environ.get(FOLDER_VARIABLE)
    sizes = published_sizes(TABLE)
    names = [name for name in DATASETS if folder or is_synthetic(name)]
    problems = [Partitions(name, sizes[name], folder=folder) for name in names]
    try:
        for problem in problems:  # before anything is trained
            problem.load()
    except (ValueError, OSError) as error:
        parser.error(str(error))
    print(f"A fifth of {options.members} members on {', '.join(names)}; {options.splits} splits.\n")
    print("| ordered by | training set | out-of-bag votes | a quarter set aside |")
    print("|---|---|---|---|")
    for ensemble in COMPARED:
        found: list[dict[Samples, Any]] = [
            {on: measure(ensemble, one, on, options.splits, options.members) for on in ORDERED_BY}
            for one in problems
        ]
        print(line(ensemble, found), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
