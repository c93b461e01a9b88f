"""The log-loss of two classes and its gradient, many rows at a time.

Exponential and logarithm are polynomials: loops of products and sums use the vector unit, and give
the same bits on every machine.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import array_step, kernel

_LOG2_E = 1.4426950408889634
#: The logarithm of 2 in two parts; the first has zeros at its end, so that products are exact.
LOG_2_HIGH, LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
#: Adding this rounds a small number to an integer, found in the lowest bits of the sum.
_TO_INTEGER = 6755399441055744.0
#: Below this, exponentials are cut off: they would lose bits.
_LEAST = -708.0


@array_step
def exp_of_negative(x):
    """exp(x) for x <= 0, to two units in the last place."""
    x = _LEAST if x < _LEAST else x
    shifted = x * _LOG2_E + _TO_INTEGER
    n = shifted - _TO_INTEGER
    r = (x - n * LOG_2_HIGH) - n * LOG_2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r * r + r + 1.0
    # Times two to the power of n, by adding to the exponent.
    bits = np.float64(p).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)
    return np.int64(bits).view(np.float64)


@array_step
def log_of_one_plus(e):
    """log(1 + e) for e from 0 to 1, to two units in the last place."""
    z = e / (2.0 + e)
    s = z * z
    p = 1.0 / 33.0
    p = p * s + 1.0 / 31.0
    p = p * s + 1.0 / 29.0
    p = p * s + 1.0 / 27.0
    p = p * s + 1.0 / 25.0
    p = p * s + 1.0 / 23.0
    p = p * s + 1.0 / 21.0
    p = p * s + 1.0 / 19.0
    p = p * s + 1.0 / 17.0
    p = p * s + 1.0 / 15.0
    p = p * s + 1.0 / 13.0
    p = p * s + 1.0 / 11.0
    p = p * s + 1.0 / 9.0
    p = p * s + 1.0 / 7.0
    p = p * s + 1.0 / 5.0
    p = p * s + 1.0 / 3.0
    return 2.0 * (z * s * p + z)


@kernel
def log_losses(y, scores, weights, out):
    """Weighted loss of each row; ``scores`` are the log odds of the class whose code is above 0."""
    for i in range(y.shape[0]):
        row = np.uint64(i)
        score = scores[row]
        away = -score if y[row] > 0 else score
        loss = log_of_one_plus(exp_of_negative(-abs(score)))
        out[row] = weights[row] * (loss + (away if away > 0.0 else 0.0))


@kernel
def negative_gradient(y, scores, out):
    """Class code minus the probability of class 1."""
    for i in range(y.shape[0]):
        row = np.uint64(i)
        score = scores[row]
        e = exp_of_negative(-abs(score))
        out[row] = float(y[row]) - (1.0 if score >= 0.0 else e) / (1.0 + e)


@array_step
def write_derivatives(y, scores, residuals, curvature):
    for i in range(y.shape[0]):
        row = np.uint64(i)
        score = scores[row]
        e = exp_of_negative(-abs(score))
        residuals[row] = float(y[row]) - (1.0 if score >= 0.0 else e) / (1.0 + e)
        curvature[row] = e / ((1.0 + e) * (1.0 + e))


@kernel
def derivatives(y, scores, residuals, curvature):
    """The negative gradient, and the second derivative p (1 - p)."""
    write_derivatives(y, scores, residuals, curvature)
