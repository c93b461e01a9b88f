"""One fit of a parallel perceptron in this process, its time and memory as a line of JSON.

Also functions that start such a process, and one that runs a user's first script.

``python -m benchmarks.one_perceptron 1000000 30 250``
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.one_boost import _reset_peak
from benchmarks.one_fit import make_data, peak_memory
from benchmarks.timing import Contender, interleave, one_thread
from orfeon import ParallelPerceptronClassifier

_ROOT = Path(__file__).resolve().parents[1]
#: Rows of the fit that loads the kernels.
_FEW = 200
#: Rows on which the training error is measured.
_ASKED = 10_000

#: A user's first script; it prints how long its parts took.
SCRIPT = """
import time
start = time.perf_counter()
import numpy as np
from orfeon import ParallelPerceptronClassifier
imported = time.perf_counter()
X = np.random.default_rng(0).standard_normal((768, 8))
y = X[:, 0] + X[:, 1] > 0.5
model = ParallelPerceptronClassifier(random_state=0).fit(X, y)
fitted = time.perf_counter()
assert (model.predict(X) == y).mean() > 0.9
predicted = time.perf_counter()
import json
print(json.dumps({"import": imported - start, "fit": fitted - imported,
                  "predict": predicted - fitted, "processor": time.process_time()}))
"""


def measure(n_rows: int, n_features: int, n_epochs: int) -> dict[str, float]:
    """Seconds of a fit and of its parts, and memory before it and at most."""
    if n_epochs < 2:
        raise ValueError(f"n_epochs={n_epochs} is not allowed: two or more tell what one takes.")
    model = ParallelPerceptronClassifier(max_iter=n_epochs, random_state=0)
    model.fit(*make_data(_FEW, 2, 2))
    X, y = make_data(n_rows, n_features, 2)
    before = _reset_peak()
    contender = Contender("orfeon", lambda: model.fit(X, y), warm_up=lambda: None)
    with one_thread():
        timing = interleave([contender], rounds=1, least_seconds=0.0)["orfeon"]
        peak = peak_memory()
        start = time.perf_counter()
        ParallelPerceptronClassifier(max_iter=1, random_state=0).fit(X, y)
        of_one_epoch = time.perf_counter() - start
    # With a disturbed clock in a tiny fit, an epoch would seem to take negative time.
    epoch = max(timing.seconds - of_one_epoch, 0.0) / (n_epochs - 1)
    answer = {
        "seconds": timing.seconds, "cores": timing.cores, "outside": timing.seconds
        - n_epochs * epoch, "epoch": epoch,
        "error": np.mean(model.predict(X[:_ASKED]) != y[:_ASKED]), "before": before, "peak": peak,
    }  # fmt: skip
    return {name: float(figure) for name, figure in answer.items() if figure is not None}


def _last_line(process: subprocess.CompletedProcess[str]) -> dict[str, float]:
    answer: dict[str, float] = json.loads(process.stdout.splitlines()[-1])
    return answer


def fit_in_a_process(*sizes: int) -> dict[str, float]:
    """The result of :func:`measure` in a fresh process."""
    return _last_line(
        subprocess.run(
            [sys.executable, "-m", "benchmarks.one_perceptron", *map(str, sizes)],
            cwd=_ROOT, capture_output=True, text=True, check=True,
        )
    )  # fmt: skip


def first_fit(cache: str) -> dict[str, float]:
    """Seconds of the first script and of its parts, with compiled kernels in this folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    start = time.perf_counter()
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    return {"process": time.perf_counter() - start, **_last_line(process)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a line of JSON."""
    n_rows, n_features, n_epochs = map(int, sys.argv[1:] if arguments is None else arguments)
    print(json.dumps(measure(n_rows, n_features, n_epochs)))


if __name__ == "__main__":
    main()
