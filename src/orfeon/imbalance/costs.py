"""What errors cost: one number for each class, or one for each kind of error.

Costs come as one number for each class, or as a matrix whose entry (i, j) is the cost of predicting
class j for a sample of class i.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats

Codes = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Costs:
    """The costs of errors."""

    matrix: Floats
    of_class: Floats


def read_costs(costs: Any, classes: npt.NDArray[Any], codes: Codes, weights: Floats) -> Costs:
    """Read costs as they are given, and refuse what are none."""
    if isinstance(costs, str | dict):
        of_class = (
            _balanced(classes, codes, weights)
            if isinstance(costs, str)
            else _of_classes(costs, classes)
        )
        matrix = np.tile(of_class[:, None], len(classes))
        np.fill_diagonal(matrix, 0.0)
    else:
        matrix = _matrix(costs, classes)
        of_class = matrix.sum(axis=1)
    if len(classes) == 1:  # there are no errors
        return Costs(matrix, np.ones(1))
    if not of_class.any():
        raise ValueError(f"costs={costs!r} is not allowed: at least one error must cost something.")
    return Costs(matrix, of_class)


def _balanced(classes: npt.NDArray[Any], codes: Codes, weights: Floats) -> Floats:
    sizes = np.bincount(codes, weights=weights, minlength=len(classes))
    if not sizes.all():
        raise ValueError(
            f"costs='balanced' needs samples of every class; y has none of "
            f"{classes[sizes == 0].tolist()}."
        )
    return np.asarray(weights.sum() / (len(classes) * sizes))


def _of_classes(costs: dict[Any, Any], classes: npt.NDArray[Any]) -> Floats:
    known = classes.tolist()
    unknown = [label for label in costs if label not in known]
    if unknown:
        raise ValueError(f"costs names {unknown[0]!r}, which is no class of y; they are {known}.")
    for label, cost in costs.items():
        if not isinstance(cost, Real) or not 0 <= float(cost) < np.inf:
            raise _no_cost(f"costs[{label!r}]", cost)
    return np.array([float(costs.get(label, 1.0)) for label in known])


def _matrix(costs: Any, classes: npt.NDArray[Any]) -> Floats:
    try:
        matrix = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"costs must be a matrix of numbers: {error}.") from error
    n = len(classes)
    if matrix.shape != (n, n):
        raise ValueError(
            f"costs has the shape {matrix.shape}; with the classes {classes.tolist()} a matrix of "
            f"shape {(n, n)} is expected, in that order: a row for each true class, a column for "
            "each predicted one."
        )
    for i, j in np.argwhere(~((matrix >= 0) & (matrix < np.inf))):
        raise _no_cost(f"costs[{i}][{j}]", matrix[i, j])
    for i in np.flatnonzero(matrix.diagonal()):
        raise ValueError(
            f"costs[{i}][{i}]={matrix[i, i]:g} is not allowed: a right decision costs 0. Subtract "
            "from each row its entry on the diagonal; it changes no decision."
        )
    return matrix


def _no_cost(name: str, cost: Any) -> ValueError:
    return ValueError(f"{name}={cost} is not allowed: costs are finite and not negative.")
