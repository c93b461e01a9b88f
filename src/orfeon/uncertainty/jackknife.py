"""Prediction intervals from out-of-bag predictions.

The jackknife+ after bootstrap compares, for each training sample, the prediction of the members
that left it out with its target, and applies the same error to what the same members predict for a
new row. The interval covers at least 2c - 1 of the targets whatever the data, and about c in
practice (Kim, Xu and Barber 2020). With many training samples their predictions hardly differ, and
the quantile of the out-of-bag errors around the prediction is the same interval at the cost of one
(Johansson et al. 2014).

References
----------
Kim, Xu and Barber (2020). Predictive inference is free with the jackknife+-after-bootstrap.
Advances in Neural Information Processing Systems 33.

Barber, Candès, Ramdas and Tibshirani (2021). Predictive inference with the jackknife+. Annals of
Statistics 49(1), 486-507.

Johansson, Boström, Löfström and Linusson (2014). Regression conformal prediction with random
forests. Machine Learning 97, 155-176.
"""

from __future__ import annotations

import numpy as np

from orfeon.uncertainty.left_out import LeftOutSamples, sums_over_chosen
from orfeon.uncertainty.ranks import lower_bound, upper_bound
from orfeon.utils.types import Floats

#: Predictions without a sample that are held at once.
_PREDICTIONS = 1 << 21


def jackknife_intervals(
    answers: Floats, samples: LeftOutSamples, errors: Floats, coverage: float
) -> Floats:
    """Intervals of the jackknife+ after bootstrap."""
    n_rows, n_members = answers.shape[1], samples.n_left_out()
    found = np.empty((n_rows, 2))
    step = max(1, _PREDICTIONS // len(errors))
    for first in range(0, n_rows, step):
        some = slice(first, first + step)
        means = sums_over_chosen(answers[:, some], samples.left_out) / n_members
        found[some] = plus_intervals(means, means, errors, samples.weights, coverage)
    return found


def plus_intervals(
    lower: Floats, upper: Floats, errors: Floats, weights: Floats, coverage: float
) -> Floats:
    """Intervals from bounds for new rows by models without a sample, and that sample's error."""
    below = lower_bound(lower - errors, weights, coverage)
    above = upper_bound(upper + errors, weights, coverage)
    return np.stack([np.minimum(below, above), np.maximum(below, above)], axis=1)


def widened(lower: Floats, upper: Floats, errors: Floats, weights: Floats, c: float) -> Floats:
    """Bounds widened by the errors' quantile at coverage ``c``, or narrowed if it is negative."""
    width = upper_bound(errors, weights, c)
    below, above = lower - width, upper + width
    middle = 0.5 * (lower + upper)
    crossed = below > above
    return np.stack([np.where(crossed, middle, below), np.where(crossed, middle, above)], axis=1)
