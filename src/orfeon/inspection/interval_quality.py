"""How often prediction intervals hold the target, over all rows and in groups of them.

An interval of 90% that holds nine targets in ten on average may hold all of the small ones and half
of the large ones. Groups of rows by the middle of their interval show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orfeon.inspection.display import check_positive
from orfeon.inspection.documentation import documented
from orfeon.inspection.reading import read_weights
from orfeon.utils.types import Floats


@dataclass(frozen=True, eq=False)
class IntervalCoverage:
    """Intervals, targets, and how well the intervals cover them.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Targets.
    interval : ndarray of shape (n_rows, 2)
        Lower and upper bounds.
    coverage : float
        Share of the targets within their interval.
    width : float
        Mean width of the intervals.
    edges : ndarray of shape (n_bins + 1,)
        Middles of intervals at which groups of rows begin and end.
    bin_coverage, bin_width, bin_weight : ndarray of shape (n_bins,)
        The same of each group, and its share of the rows.

    Examples
    --------
    >>> from orfeon.inspection import interval_coverage
    >>> found = interval_coverage([1.0, 2.0, 3.0, 9.0], [[0, 2], [1, 3], [2, 4], [3, 5]], n_bins=2)
    >>> found.coverage, found.width, found.bin_coverage
    (0.75, 2.0, array([1. , 0.5]))
    """

    y: Floats
    interval: Floats
    coverage: float
    width: float
    edges: Floats
    bin_coverage: Floats
    bin_width: Floats
    bin_weight: Floats

    @property
    def is_within(self) -> Any:
        """Whether each target is within its interval."""
        return (self.interval[:, 0] <= self.y) & (self.y <= self.interval[:, 1])


@documented()
def interval_coverage(
    y: Any, interval: Any, *, n_bins: int = 5, sample_weight: Any = None
) -> IntervalCoverage:
    """Measure how often intervals hold the target, over all rows and in groups.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Targets of rows that the model was not trained on.
    interval : array of shape (n_rows, 2)
        Lower and upper bounds, as ``predict_interval`` returns them.
    n_bins : int, default=5
        Groups of about equally many rows, by the middle of their interval.
    <weights>

    Returns
    -------
    IntervalCoverage
        Coverage and width, of all and of each group.

    Examples
    --------
    The noise grows with the feature, but the width of these intervals does not:

    >>> import numpy as np
    >>> from orfeon import RandomForestRegressor
    >>> from orfeon.inspection import interval_coverage
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(4000, 1))
    >>> y = 5 * X[:, 0] + X[:, 0] * rng.normal(size=4000)
    >>> forest = RandomForestRegressor(
    ...     min_samples_leaf=10, oob_score=True, quantiles=True, random_state=0
    ... ).fit(X[:2000], y[:2000])
    >>> same = interval_coverage(y[2000:], forest.predict_interval(X[2000:]))
    >>> round(same.coverage, 2), same.bin_coverage.round(2)
    (0.89, array([1.  , 1.  , 0.93, 0.79, 0.71]))
    >>> own = interval_coverage(y[2000:], forest.predict_interval(X[2000:], method="quantile"))
    >>> round(own.coverage, 2), own.bin_coverage.round(2)
    (0.9, array([0.98, 0.9 , 0.84, 0.87, 0.89]))
    """
    targets, bounds = np.asarray(y, dtype=np.float64), np.asarray(interval, dtype=np.float64)
    if targets.ndim != 1 or not len(targets):
        raise ValueError(f"y has shape {targets.shape}; give one target for each row.")
    if bounds.shape != (len(targets), 2):
        raise ValueError(
            f"interval has shape {bounds.shape}; lower and upper bounds of {len(targets)} rows, of "
            f"shape ({len(targets)}, 2), are expected."
        )
    check_positive("n_bins", n_bins)
    weights = read_weights(sample_weight, len(targets))
    within = (bounds[:, 0] <= targets) & (targets <= bounds[:, 1])
    width, middle = bounds[:, 1] - bounds[:, 0], bounds.mean(axis=1)
    edges = np.unique(np.quantile(middle, np.linspace(0.0, 1.0, n_bins + 1)))
    if len(edges) == 1:
        edges = np.repeat(edges, 2)
    group = np.clip(np.searchsorted(edges, middle, side="right") - 1, 0, len(edges) - 2)
    total = np.bincount(group, weights, len(edges) - 1)
    held, wide = (np.bincount(group, weights * one, len(edges) - 1) for one in (within, width))
    with np.errstate(invalid="ignore"):
        return IntervalCoverage(
            targets, bounds, float(np.average(within, weights=weights)),
            float(np.average(width, weights=weights)), edges, held / total, wide / total,
            total / total.sum(),
        )  # fmt: skip
