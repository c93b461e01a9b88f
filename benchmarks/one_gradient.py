"""One fit of binned gradient boosting in this process, as a line of JSON.

``python -m benchmarks.one_gradient orfeon interactions 1000000 100 2``
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from benchmarks import gradient_peers
from benchmarks.boosting import LOG_LOSS
from benchmarks.boosting_peers import Booster
from benchmarks.contestants import SCIKIT_LEARN
from benchmarks.one_boost import _reset_peak
from benchmarks.one_fit import peak_memory
from benchmarks.problems import Data
from benchmarks.timing import Contender, interleave

#: The table of adults, beside the repository.
ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult.csv.gz"
#: Rows to test on.
_TEST_ROWS = 20_000
#: Rows of the fit that loads the kernels.
_FEW = 200
_FEATURES = 30


def interactions(n_rows: int, seed: int = 0) -> Data:
    """Two classes by products, waves and squares of ten features among thirty, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, _FEATURES), dtype=np.float32)
    score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3] ** 2 - 1
    score += 0.5 * X[:, 4:10].sum(axis=1)
    y = (score + rng.standard_normal(n_rows) > 0).astype(np.int64)
    return Data("interactions", X, y)  # type: ignore[arg-type]


def adult(path: Path = ADULT) -> Data:
    """The table of adults and their incomes; strings are categories."""
    with gzip.open(path, "rt", newline="") as file:
        _, *rows = csv.reader(file)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    *features, y = columns
    numbers = [_as_numbers(column) for column in features]
    return Data(
        "adult", np.column_stack([values for values, _ in numbers]).astype(np.float32),
        np.unique(y, return_inverse=True)[1],
        tuple(j for j, (_, is_categorical) in enumerate(numbers) if is_categorical),
    )  # fmt: skip


def _as_numbers(column: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], bool]:
    """A column as numbers, or as codes of its strings."""
    missing = np.isin(column, ["", "?", "NA"])
    try:
        return np.where(missing, "nan", column).astype(np.float64), False
    except ValueError:
        codes = np.unique(column, return_inverse=True)[1].astype(np.float64)
        known = np.unique(codes[~missing], return_inverse=True)[1]
        codes[missing], codes[~missing] = np.nan, known
        return codes, True


def split(problem: str, n_rows: int) -> tuple[Data, Data]:
    """A training set and a test set."""
    if problem == "interactions":
        return interactions(n_rows), interactions(_TEST_ROWS, seed=1)
    whole = adult()
    is_test = np.random.default_rng(0).permutation(len(whole.y)) % 3 == 0
    training, test = (
        replace(whole, X=whole.X[rows].copy(), y=whole.y[rows]) for rows in (~is_test, is_test)
    )
    return training, test


def _booster(library: str, n_threads: int) -> Booster:
    who = {one.name: one for one in gradient_peers.binned(classes=True, n_threads=n_threads)}
    if library not in who:
        raise ValueError(f"library={library!r} is not known; there are {', '.join(who)}.")
    return who[library]


def measure(
    library: str, problem: str, n_rows: int, n_rounds: int, n_threads: int
) -> dict[str, float]:
    """Time, memory and test log-loss of a fit."""
    booster = _booster(library, n_threads)
    training, test = split(problem, n_rows)
    if library == SCIKIT_LEARN:  # it would make a copy as float64
        training = replace(training, X=training.X.astype(np.float64))
    few = replace(training, X=training.X[:_FEW].copy(), y=training.y[:_FEW])
    with threadpool_limits(limits=n_threads):
        booster.fit(few, 2, 0)
        before = _reset_peak()
        contender = Contender(library, lambda: booster.fit(training, n_rounds, 0), warm_up=_nothing)
        timing = interleave([contender], rounds=1, least_seconds=0.5)[library]
        peak = peak_memory()
    answers = booster.predict_proba(timing.result, test)
    measured = {
        "seconds": timing.seconds, "cores": timing.cores,
        "log_loss": LOG_LOSS.of(answers, test.y), "rows": training.shape[0],
        "features": training.shape[1], "before": before, "peak": peak,
    }  # fmt: skip
    return {name: float(figure) for name, figure in measured.items() if figure is not None}


def _nothing() -> None:
    """No warm-up: kernels are loaded, and memory is counted from the first fit on."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a line of JSON."""
    library, problem, *sizes = sys.argv[1:] if arguments is None else arguments
    n_rows, n_rounds, n_threads = (int(size) for size in sizes)
    print(json.dumps(measure(library, problem, n_rows, n_rounds, n_threads)))


if __name__ == "__main__":
    main()
