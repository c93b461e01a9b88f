"""Decisions by the cost of mistakes, from out-of-fold predictions of the final model's candidate.

With two classes a threshold is chosen, with more the class with the lowest expected cost. Its cost
on a fold is that of a threshold chosen by the other folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.errors import ArgumentError
from orfeon.utils.types import Floats
from orfeon.workbench.experiment.thresholds import Costs, best_threshold, rarer_class

#: Costs as they are given: of false negatives and positives, or of each true and predicted class.
GivenCosts = Costs | Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Decision:
    """How the final model decides, and what that costs for each row."""

    matrix: Floats = field(hash=False)
    #: Mean cost of a row, estimated on rows that did not choose the threshold.
    cost: float
    #: The same for the most probable class.
    usual_cost: float
    positive: str = ""
    threshold: float | None = None

    def of(self, model: Any, X: Any, y: npt.NDArray[Any], classes: Sequence[str]) -> Any:
        """The model with this decision; its probabilities stay as they are."""
        from sklearn.frozen import FrozenEstimator

        from orfeon import CostThresholdClassifier

        costs = self.matrix
        if self.threshold is not None:
            share = min(max(self.threshold, 1e-9), 1.0 - 1e-9)
            if list(classes).index(self.positive) == 0:
                share = 1.0 - share
            costs = np.array([[0.0, share], [1.0 - share, 0.0]])
        made = CostThresholdClassifier(FrozenEstimator(model), costs=costs, cv="prefit")
        return made.fit(X, y)


def read_cost_file(path: Path) -> dict[str, dict[str, float]]:
    """Costs of each true class (row) and predicted class (column) from a CSV file."""
    import pandas

    try:
        table = pandas.read_csv(path, index_col=0)
        costs = table.astype(np.float64)
    except (OSError, ValueError) as error:
        raise ArgumentError(
            "costs", f"must be fn=NUMBER,fp=NUMBER or a CSV file of costs; {path}: {error}."
        ) from error
    return {str(true): {str(p): float(c) for p, c in row.items()} for true, row in costs.iterrows()}


def cost_matrix(
    given: GivenCosts, classes: Sequence[str], codes: npt.NDArray[np.int64]
) -> tuple[Floats, int]:
    """Costs by true and predicted class, and which class is positive."""
    if isinstance(given, Costs):
        if len(classes) != 2:
            raise ArgumentError(
                "costs", f"fn and fp need two classes, not {len(classes)}: name a file of costs."
            )
        positive = rarer_class(codes)
        matrix = np.zeros((2, 2))
        matrix[positive, 1 - positive], matrix[1 - positive, positive] = given.fn, given.fp
        return matrix, positive
    wanted = set(classes)
    if set(given) != wanted or any(set(row) != wanted for row in given.values()):
        raise ArgumentError(
            "costs", f"must have a row and a column for each class: {', '.join(classes)}."
        )
    matrix = np.array([[given[true][predicted] for predicted in classes] for true in classes])
    if not (matrix >= 0).all() or not np.isfinite(matrix).all() or np.diag(matrix).any():
        raise ArgumentError("costs", "must be 0 on the diagonal, and 0 or more elsewhere.")
    if not (matrix.sum(axis=1) > 0).all():
        raise ArgumentError("costs", "must be greater than 0 for some mistake on every class.")
    return matrix, 1


def decide(
    matrix: Floats,
    positive: int,
    classes: Sequence[str],
    folds: Mapping[int, tuple[npt.NDArray[np.int64], Floats, Floats | None]],
    others: Mapping[int, Sequence[int]],
) -> Decision:
    """Choose by true classes, probabilities and weights on the test rows of each outer fold."""
    costs, usual, whole = 0.0, 0.0, 0.0
    for unit, (codes, shares, given) in folds.items():
        known = [folds[one] for one in others[unit]]
        if not known:
            continue
        weights = np.ones(len(codes)) if given is None else given
        threshold = None if len(classes) > 2 else _threshold(matrix, positive, known)["threshold"]
        decided = _decided(matrix, positive, shares, threshold)
        costs += float(weights @ matrix[codes, decided])
        usual += float(weights @ matrix[codes, shares.argmax(axis=1)])
        whole += float(weights.sum())
    means = (costs / whole, usual / whole) if whole else (np.nan, np.nan)
    if len(classes) > 2:
        return Decision(matrix, *means)
    chosen = _threshold(matrix, positive, list(folds.values()))["threshold"]
    return Decision(matrix, *means, positive=classes[positive], threshold=chosen)


def _threshold(
    matrix: Floats,
    positive: int,
    folds: Sequence[tuple[npt.NDArray[np.int64], Floats, Floats | None]],
) -> dict[str, float]:
    codes = np.concatenate([codes for codes, _, _ in folds])
    shares = np.concatenate([shares[:, positive] for _, shares, _ in folds])
    weights = [given for _, _, given in folds if given is not None]
    costs = Costs(float(matrix[positive, 1 - positive]), float(matrix[1 - positive, positive]))
    return best_threshold(
        codes == positive, shares, costs, np.concatenate(weights) if weights else None
    )


def _decided(
    matrix: Floats, positive: int, shares: Floats, threshold: float | None
) -> npt.NDArray[np.int64]:
    if threshold is None:
        return np.asarray((shares @ matrix).argmin(axis=1))
    return np.where(shares[:, positive] >= threshold, positive, 1 - positive)
