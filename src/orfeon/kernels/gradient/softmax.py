"""The log-loss of several classes and its derivatives, many rows at a time.

As :mod:`orfeon.kernels.gradient.log_loss`: polynomials, which give the same bits on every machine.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.gradient.log_loss import (
    LOG_2_HIGH,
    LOG_2_LOW,
    exp_of_negative,
    log_of_one_plus,
)
from orfeon.utils.jit import array_step, kernel

_MANTISSA = (1 << 52) - 1
_ONE = 1023 << 52


@array_step
def log_of(x):
    """log(x) for normal x from 1 on."""
    bits = np.float64(x).view(np.int64)
    exponent = float((bits >> 52) - 1023)
    mantissa = np.int64((bits & _MANTISSA) | _ONE).view(np.float64)
    return exponent * LOG_2_HIGH + (log_of_one_plus(mantissa - 1.0) + exponent * LOG_2_LOW)


@array_step
def shifted_exponentials(scores, out, highest, total):
    """Write exp(score - highest of the row), and the sums of each row."""
    n_rows = scores.shape[1]
    for i in range(n_rows):
        highest[np.uint64(i)] = scores[0, i]
        total[np.uint64(i)] = 0.0
    for k in range(1, scores.shape[0]):
        for i in range(n_rows):
            row = np.uint64(i)
            highest[row] = max(highest[row], scores[k, row])
    for k in range(scores.shape[0]):
        for i in range(n_rows):
            row = np.uint64(i)
            below = scores[k, row] - highest[row]
            # Infinite and missing scores give missing values.
            e = exp_of_negative(below) + 0.0 * below
            out[k, row] = e
            total[row] += e


@array_step
def write_derivatives(y, scores, scale, gradients, hessians, highest, total):
    """The negative gradients 1 - p and -p, and the second derivatives ``scale`` p (1 - p)."""
    shifted_exponentials(scores, gradients, highest, total)
    for k in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            row = np.uint64(i)
            p = gradients[k, row] / total[row]
            gradients[k, row] = -p
            hessians[k, row] = scale * p * (1.0 - p)
    for i in range(scores.shape[1]):
        gradients[np.int64(y[i]), i] += 1.0


@kernel
def derivatives(y, scores, scale, gradients, hessians, highest, total):
    write_derivatives(y, scores, scale, gradients, hessians, highest, total)


@kernel
def log_losses(y, scores, weights, exponentials, highest, total, out):
    """Weighted loss of each row; three arrays are scratch."""
    shifted_exponentials(scores, exponentials, highest, total)
    for i in range(scores.shape[1]):
        row = np.uint64(i)
        away = highest[row] - scores[np.int64(y[row]), row]
        # A missing total has some logarithm, but must not be hidden.
        out[row] = weights[row] * (away + (log_of(total[row]) + 0.0 * total[row]))
