"""Checks of the parameters of generators: counts, numbers, priors, points and random states."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from orfeon.utils.types import Floats

RandomState = int | np.integer[Any] | np.random.Generator | np.random.RandomState | None

# Farther away, rounding hides which of two centres a point is nearer to.
LARGEST_COORDINATE = 1e12


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Convert to a generator; a legacy ``RandomState`` is advanced and seeds a new one."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4).tolist())
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state must not be negative, got {random_state}")
        return np.random.default_rng(int(random_state))
    raise TypeError(
        "random_state must be None, an integer of at least 0, a numpy Generator or a numpy "
        f"RandomState, got {random_state!r}"
    )


def check_integer(name: str, value: object, minimum: int) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer of at least {minimum}, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {value}")
    return int(value)


def check_real(name: str, value: object, *, above: float, below: float, closed: str) -> float:
    """Check a number between two bounds; ``closed`` is "left", "right" or "neither"."""
    opening, closing = "[" if closed == "left" else "(", "]" if closed == "right" else ")"
    allowed = f"a number in {opening}{above:g}, {below:g}{closing}"
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise TypeError(f"{name} must be {allowed}, got {value!r}")
    number = float(value)
    inside = above < number < below
    at_bound = (closed == "left" and number == above) or (closed == "right" and number == below)
    if not (inside or at_bound):
        raise ValueError(f"{name} must be {allowed}, got {value}")
    return number


def check_priors(priors: Sequence[float], n_classes: int) -> tuple[float, ...]:
    try:
        values = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"priors must be a sequence of {n_classes} probabilities, got {priors!r}"
        ) from None
    if values.ndim != 1 or values.size != n_classes:
        raise ValueError(
            f"priors must have one probability for each of the {n_classes} classes, got {priors!r}"
        )
    if not np.all(values >= 0):  # also refuses NaN
        raise ValueError(f"priors must not be negative or NaN, got {priors!r}")
    total = math.fsum(values)
    if not abs(total - 1) <= 1e-8:
        raise ValueError(f"priors must sum to 1, got {priors!r}, which sums to {total:g}")
    return tuple(float(value) for value in values / total)


def check_points(X: npt.ArrayLike, n_features: int) -> Floats:
    points: Floats = check_array(X, dtype=np.float64, input_name="X")
    if points.shape[1] != n_features:
        raise ValueError(f"X must have {n_features} columns, got {points.shape[1]}")
    largest = float(np.max(np.abs(points)))
    if largest > LARGEST_COORDINATE:
        raise ValueError(
            f"X must not exceed {LARGEST_COORDINATE:g} in absolute value, got {largest:g}"
        )
    return points
