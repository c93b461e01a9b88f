"""The threshold with the lowest cost: from which probability on to predict the positive class."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.utils.types import Floats


@dataclass(frozen=True)
class Costs:
    """What the two kinds of mistakes cost."""

    fn: float
    fp: float

    @classmethod
    def read(cls, text: str) -> Costs:
        """Costs from a text such as ``fn=10,fp=1``."""
        found: dict[str, float] = {}
        for part in text.split(","):
            name, _, number = part.partition("=")
            try:
                found[name.strip()] = float(number)
            except ValueError:
                raise ArgumentTypeError(f"{part!r} is not fn=NUMBER or fp=NUMBER") from None
        if set(found) != {"fn", "fp"}:
            raise ArgumentTypeError(f"must name fn and fp, as in fn=10,fp=1; got {text!r}")
        if not all(0 < cost < math.inf for cost in found.values()):
            raise ArgumentTypeError(f"costs must be greater than 0; got {text!r}")
        return cls(found["fn"], found["fp"])


def best_threshold(
    is_positive: npt.NDArray[np.bool_], share: Floats, costs: Costs, weights: Floats | None = None
) -> dict[str, float]:
    """The threshold with the lowest mean cost on these rows, its cost, and the cost at one half.

    Rows from the threshold on are predicted positive. Of equally good thresholds the middle of the
    gap above the lowest one is taken.
    """
    weights = np.ones(len(share)) if weights is None else weights
    missed = weights * is_positive * costs.fn
    alarms = weights * ~is_positive * costs.fp
    values, place = np.unique(share, return_inverse=True)

    def up_to(cost: Floats) -> Floats:
        """Cost of the rows with the 0, 1, 2, ... smallest values."""
        return np.concatenate([[0.0], np.cumsum(np.bincount(place, cost, len(values)))])

    # At the i-th cut, rows with the i smallest values are predicted negative.
    total = up_to(missed) + alarms.sum() - up_to(alarms)
    best = int(np.argmin(np.round(total, 12)))
    threshold = 0.0
    if best > 0:
        upper = values[best] if best < len(values) else 1.0
        threshold = max((values[best - 1] + upper) / 2, np.nextafter(values[best - 1], 2.0))
    half = float((missed * (share < 0.5) + alarms * (share >= 0.5)).sum())
    whole = float(weights.sum())
    return {
        "threshold": float(threshold),
        "cost": float(total[best]) / whole,
        "usual_cost": half / whole,
    }


def rarer_class(codes: npt.NDArray[Any]) -> int:
    """The class of two that fewer rows have; of equal ones the second."""
    return int(np.bincount(codes.astype(np.int64), minlength=2)[1] <= len(codes) / 2)
