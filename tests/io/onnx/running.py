"""What tests of exports share: running them, and rows that are hard to route alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from orfeon.forest import Forest


def session_of(exported: Any, threads: int = 2) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(
        exported.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run(exported: Any, X: Any, threads: int = 2) -> dict[str, npt.NDArray[Any]]:
    """The outputs of an export by name; X is a matrix, or a frame whose columns are inputs."""
    session = session_of(exported, threads)
    names = [given.name for given in session.get_inputs()]
    if names == ["X"]:
        given = {"X": np.ascontiguousarray(X, dtype=np.float64)}
    else:
        given = {
            name: column_of(X[name], kind.type)
            for name, kind in zip(names, session.get_inputs(), strict=True)
        }
    answers = session.run(None, given)
    return {one.name: values for one, values in zip(session.get_outputs(), answers, strict=True)}


def column_of(column: Any, kind: str) -> npt.NDArray[Any]:
    """A column of a frame as an input takes it: the empty word, or NaN, where it is missing."""
    if kind == "tensor(string)":
        return np.array([v if isinstance(v, str) else "" for v in column], dtype=object)[:, None]
    return np.asarray(column, dtype=np.float64)[:, None]


def hard_rows(
    forests: Sequence[Forest], X: npt.NDArray[np.float64], n_rows: int, *, missing: float = 0.0
) -> npt.NDArray[np.float64]:
    """Rows whose values are thresholds, the numbers next to them, and values of X."""
    rng = np.random.default_rng(0)
    rows = np.empty((n_rows, X.shape[1]))
    for j in range(X.shape[1]):
        cuts = [f.threshold[(f.n_children > 0) & (f.feature == j)] for f in forests]
        cut = np.concatenate(cuts)
        cut = cut[np.isfinite(cut)]
        near = [cut, np.nextafter(cut, -np.inf), np.nextafter(cut, np.inf), X[:, j]]
        rows[:, j] = rng.choice(np.concatenate(near), n_rows)
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows
