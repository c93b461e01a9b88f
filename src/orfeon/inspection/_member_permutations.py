"""What shuffling a feature costs members of any make on the samples that they did not see.

References
----------
Breiman (2001). Random forests. Machine Learning 45(1), 5-32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats

if TYPE_CHECKING:
    from orfeon.members.adapter import Members


def permuted_members(
    members: Members,
    X: Any,
    y: npt.NDArray[Any],
    weights: Floats,
    out: npt.NDArray[np.bool_],
    n_repeats: int,
    generator: np.random.Generator,
) -> Floats:
    """Increase of each member's error on what it did not see, when a feature is shuffled."""
    counted = out * weights
    total = counted.sum(axis=1)

    def errors(given: Any) -> Floats:
        answers = members.answers(given)
        lost = (answers != y) if members.classes is not None else (answers - y) ** 2
        nothing = np.full(len(total), np.nan)
        lost = (lost * counted).sum(axis=1)
        return np.asarray(np.divide(lost, total, out=nothing, where=total > 0))

    before = errors(X)
    rows = np.flatnonzero(weights > 0)  # those of weight 0 are not there
    added = np.zeros((len(total), np.shape(X)[1]))
    for _ in range(n_repeats):
        shuffled = np.arange(len(y))
        shuffled[rows] = generator.permutation(rows)
        for column in range(added.shape[1]):
            added[:, column] += errors(_with_shuffled(X, column, shuffled)) - before
    return added / n_repeats


def _with_shuffled(X: Any, column: int, order: npt.NDArray[np.int64]) -> Any:
    if hasattr(X, "iloc"):
        changed = X.copy()
        values = X.iloc[:, column].iloc[order].set_axis(X.index)
        changed[X.columns[column]] = values
        return changed
    changed = np.array(X)
    changed[:, column] = changed[order, column]
    return changed
