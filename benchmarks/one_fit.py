"""One fit of one tree in this process, its time and its memory as a line of JSON.

``python -m benchmarks.one_fit orfeon 1000000 20 2``
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.timing import Contender, interleave, one_thread

#: More rows than this have other kernels, which must be loaded before the clock starts.
_NARROW = 65_535


def make_data(
    n_rows: int, n_features: int, n_classes: int, seed: int = 0
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Classes are slices of a sum of two features, with 5% noise; generated with little memory."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    score = X[:, 0] + X[:, 1]
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    noisy = rng.random(n_rows) < 0.05
    y[noisy] = rng.integers(n_classes, size=int(noisy.sum()))
    return X, y


def _status(field: str) -> int | None:
    """Bytes that Linux reports for this process."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    return None


def peak_memory() -> int | None:
    """Peak memory of this process in bytes; None where the system does not report it."""
    peak = _status("VmHWM")
    if peak is not None:  # first choice: a child's ru_maxrss includes what its parent had used
        return peak
    try:
        import resource
    except ImportError:
        return None
    most = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return most if sys.platform == "darwin" else most * 1024


def new_tree(library: str) -> Any:
    if library == "orfeon":
        from orfeon import CARTClassifier

        return CARTClassifier(random_state=0)
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0)


def measure(library: str, n_rows: int, n_features: int, n_classes: int) -> dict[str, float]:
    """Seconds of a fit, memory before it and at most, and the leaves of the tree."""
    small = make_data(_NARROW + 1 if n_rows > _NARROW else 100, 2, 2)
    new_tree(library).fit(*small)
    del small
    X, y = make_data(n_rows, n_features, n_classes)
    before = _status("VmRSS")
    contender = Contender(library, lambda: new_tree(library).fit(X, y), warm_up=lambda: None)
    with one_thread():
        timing = interleave([contender], rounds=1, least_seconds=0.2)[library]
    answer = {
        "seconds": timing.seconds,
        "cores": timing.cores,
        "leaves": timing.result.get_n_leaves(),
        "before": before,
        "peak": peak_memory(),
    }
    return {name: float(figure) for name, figure in answer.items() if figure is not None}


def main(arguments: Sequence[str] | None = None) -> None:
    library, *sizes = sys.argv[1:] if arguments is None else arguments
    n_rows, n_features, n_classes = (int(size) for size in sizes)
    print(json.dumps(measure(library, n_rows, n_features, n_classes)))


if __name__ == "__main__":
    main()
