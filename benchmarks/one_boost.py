"""One fit of binned gradient boosting in this process, its memory as a line of JSON.

``python -m benchmarks.one_boost orfeon 50000 30 20``
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks import gradient_peers
from benchmarks.one_fit import _status, peak_memory
from benchmarks.timing import one_thread

#: Rows of the fit that loads the kernels; small, so that it leaves no trace in the memory.
_FEW = 200


def _reset_peak() -> int | None:
    """Bytes in memory now; on Linux the peak is reset too.

    Memory freed since is returned to the system first: otherwise a fit could reuse it and seem to
    need none.
    """
    gc.collect()
    with suppress(AttributeError, OSError, TypeError):  # not every C library has it
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):  # then the imports may have needed more than the fit
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def measure(library: str, n_rows: int, n_features: int, n_rounds: int) -> dict[str, float]:
    """Memory before a fit and at most, and the rounds that it ran."""
    who = {one.name: one for one in gradient_peers.binned(classes=True)}
    if library not in who:
        raise ValueError(f"library={library!r} is not known; there are {', '.join(who)}.")
    booster = who[library]
    make = gradient_peers.problem(classes=True, n_features=n_features)
    data, _ = make(n_rows, 1)
    with one_thread():
        booster.fit(make(_FEW, 1)[0], 2, 0)
        before = _reset_peak()
        model = booster.fit(data, n_rounds, 0)
    answer = {"rounds": booster.n_rounds(model), "before": before, "peak": peak_memory()}
    return {name: float(figure) for name, figure in answer.items() if figure is not None}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a line of JSON."""
    library, *sizes = sys.argv[1:] if arguments is None else arguments
    n_rows, n_features, n_rounds = (int(size) for size in sizes)
    print(json.dumps(measure(library, n_rows, n_features, n_rounds)))


if __name__ == "__main__":
    main()
