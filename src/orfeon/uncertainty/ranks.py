"""Finite-sample quantiles: the order statistics that conformal prediction compares with.

Among n exchangeable numbers and a new one, the new one is at most the ceil((n + 1) c)-th smallest
of the n with probability c or more. Weights are numbers of copies.

References
----------
Vovk, Gammerman and Shafer (2005). Algorithmic Learning in a Random World. Springer.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from orfeon.utils.types import Floats

#: A rank just above a whole number is that number, rounded.
_ROUNDING = 1e-9


def check_share(name: str, value: Any, such_as: str) -> float:
    """A number between 0 and 1."""
    if not is_a_number(value) or not 0.0 < value < 1.0:
        raise ValueError(
            f"{name}={value!r} is not allowed: give a number above 0 and below 1, such as "
            f"{such_as}."
        )
    return float(value)


def check_coverage(coverage: Any) -> float:
    """A coverage between 0 and 1."""
    return check_share("coverage", coverage, "0.9")


def is_a_number(value: Any) -> bool:
    """Whether a parameter is a number, and not True or False."""
    is_flag: Any = (bool, np.bool_)
    return isinstance(value, Real) and not isinstance(value, is_flag)


def upper_rank(weights: Floats, coverage: float) -> float:
    """How many samples, copies included, must not be above the bound."""
    n_samples = float(weights.sum())
    rank = float(np.ceil((n_samples + 1.0) * coverage - _ROUNDING))
    if rank > n_samples + _ROUNDING:
        least = int(np.ceil(coverage / (1.0 - coverage) - _ROUNDING))
        raise ValueError(
            f"coverage={coverage:g} needs at least {least:,} samples with predictions by members "
            f"that did not see them, and there are {n_samples:,.6g}; lower coverage or train on "
            "more samples."
        )
    return max(rank, 1.0)


def upper_bound(values: Floats, weights: Floats, coverage: float) -> Floats:
    """Bound of each row of values that a new one does not exceed, with probability ``coverage``."""
    rank = upper_rank(weights, coverage)
    if (weights == 1.0).all():
        place = int(rank) - 1
        return np.asarray(np.partition(values, place, axis=-1)[..., place])
    order = np.argsort(values, axis=-1, kind="stable")
    reached = np.cumsum(weights[order], axis=-1) >= rank - _ROUNDING
    first = np.argmax(reached, axis=-1)
    # Rounded sums may end just below the rank.
    first = np.where(reached.any(axis=-1), first, values.shape[-1] - 1)
    at = np.take_along_axis(order, first[..., None], axis=-1)
    return np.asarray(np.take_along_axis(values, at, axis=-1)[..., 0])


def lower_bound(values: Floats, weights: Floats, coverage: float) -> Floats:
    """Bound of each row of values that a new one does not go below."""
    return -upper_bound(-values, weights, coverage)
