"""Logistic regression on a few inputs, with coefficients that may not be negative."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit

from orfeon.utils.types import Floats

_MOST_STEPS = 100
_TOLERANCE = 1e-10
#: Keeps the Hessian invertible, and coefficients finite, where inputs do not vary.
_RIDGE = 1e-6


def fit_logistic(
    inputs: Floats, targets: Floats, weights: Floats, start: Floats, n_slopes: int
) -> Floats:
    """Coefficients with the lowest log loss, of which the first ``n_slopes`` are not negative.

    The most negative slope is set to 0 and the rest fitted again, as beta calibration does.
    """
    free = np.ones(inputs.shape[1], dtype=bool)
    while True:
        found = np.zeros(inputs.shape[1])
        found[free] = _newton(inputs[:, free], targets, weights, start[free])
        slopes = found[:n_slopes]
        if not (slopes < 0).any():
            return found
        free[int(np.argmin(slopes))] = False


def _newton(inputs: Floats, targets: Floats, weights: Floats, start: Floats) -> Floats:
    """Newton's method, halving steps that do not lower the loss; ``start`` has a slight pull."""
    at = start.copy()
    value = _loss(inputs, targets, weights, at, start)
    for _ in range(_MOST_STEPS):
        p = expit(inputs @ at)
        gradient = inputs.T @ (weights * (p - targets)) + _RIDGE * (at - start)
        curvature = (inputs * (weights * p * (1.0 - p))[:, None]).T @ inputs
        step = np.linalg.solve(curvature + _RIDGE * np.eye(len(at)), gradient)
        for halving in range(40):
            trial = at - step * 0.5**halving
            lower = _loss(inputs, targets, weights, trial, start)
            if lower <= value:
                break
        else:
            return at
        done = value - lower <= _TOLERANCE * max(abs(value), 1.0)
        at, value = trial, lower
        if done:
            break
    return at


def _loss(inputs: Floats, targets: Floats, weights: Floats, at: Floats, start: Floats) -> float:
    scores = inputs @ at
    each = targets * log_expit(scores) + (1.0 - targets) * log_expit(-scores)
    return float(-(weights @ each) + 0.5 * _RIDGE * ((at - start) ** 2).sum())
