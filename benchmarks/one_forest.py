"""One fit of a forest in this process, its time and its memory as a line of JSON.

``python -m benchmarks.one_forest orfeon forest 200000 20 2``
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sklearn.ensemble
from threadpoolctl import threadpool_limits

import orfeon
from benchmarks.contestants import INTEL, ORFEON, SCIKIT_LEARN
from benchmarks.one_boost import _reset_peak
from benchmarks.one_fit import _NARROW, peak_memory
from benchmarks.peers import _import
from benchmarks.problems import Data
from benchmarks.timing import Contender, interleave

#: Features of the table, and rows to test on.
N_FEATURES, _TEST_ROWS = 20, 10_000
_NAMES = {"forest": "RandomForestClassifier", "extra-trees": "ExtraTreesClassifier"}


def two_classes(n_rows: int, seed: int = 0) -> Data:
    """Two classes by products, waves and sums of ten features among twenty, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
    score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 4:10].sum(axis=1)
    y = (score + rng.standard_normal(n_rows) > 0).astype(np.int64)
    return Data("two classes", X, y)  # type: ignore[arg-type]


def _maker(library: str) -> Callable[[str], Any]:
    modules: dict[str, Callable[[], Any]] = {
        ORFEON: lambda: orfeon,
        SCIKIT_LEARN: lambda: sklearn.ensemble,
        INTEL: lambda: _import("sklearnex.ensemble"),
    }
    if library not in modules:
        raise ValueError(f"library={library!r} is not known; there are {', '.join(modules)}.")
    return lambda method: getattr(modules[library](), _NAMES[method])


def measure(
    library: str, method: str, n_rows: int, n_trees: int, n_threads: int
) -> dict[str, float]:
    """Time, memory and test error of a fit."""
    make = _maker(library)(method)
    training, test = two_classes(n_rows), two_classes(_TEST_ROWS, seed=1)
    few = two_classes(_NARROW + 1 if n_rows > _NARROW else 100)

    def fit(data: Data, trees: int) -> Any:
        model = make(n_estimators=trees, n_jobs=n_threads, random_state=0)
        return model.fit(data.X, data.y)

    with threadpool_limits(limits=n_threads):
        fit(few, 1)
        before = _reset_peak()
        contender = Contender(library, lambda: fit(training, n_trees), warm_up=lambda: None)
        timing = interleave([contender], rounds=1, least_seconds=0.2)[library]
        peak = peak_memory()
    error = float((timing.result.predict(test.X) != test.y).mean())
    measured = {
        "seconds": timing.seconds, "cores": timing.cores, "error": error, "before": before,
        "peak": peak,
    }  # fmt: skip
    return {name: float(figure) for name, figure in measured.items() if figure is not None}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a line of JSON."""
    library, method, *sizes = sys.argv[1:] if arguments is None else arguments
    n_rows, n_trees, n_threads = (int(size) for size in sizes)
    print(json.dumps(measure(library, method, n_rows, n_trees, n_threads)))


if __name__ == "__main__":
    main()
