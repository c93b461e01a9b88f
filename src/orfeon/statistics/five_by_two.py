"""Tests from five repetitions of two-fold cross-validation.

The halves of a repetition share no training samples, so the variance is not underestimated.

References
----------
Dietterich (1998). Approximate statistical tests for comparing supervised classification learning
algorithms. Neural Computation 10(7), 1895-1923.

Alpaydin (1999). Combined 5x2 cv F test for comparing supervised classification learning algorithms.
Neural Computation 11(8), 1885-1892.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from scipy import stats

from orfeon.statistics._reading import numbers
from orfeon.utils.text import p_value_text

_SHAPE = (5, 2)


@dataclass(frozen=True)
class FiveByTwoTest:
    """Dietterich's t-test and Alpaydin's F-test of two methods.

    Parameters
    ----------
    mean_difference : float
        Mean of the first method's scores minus the second's, over all ten.
    t_statistic : float
        Difference of the first fold over the spread within repetitions; 5 degrees of freedom.
    t_p_value : float
        Two-sided.
    f_statistic : float
        All ten squared differences over the spread; 10 and 5 degrees of freedom. It does not
        depend on which fold is the first.
    f_p_value : float
        Its p-value.

    Examples
    --------
    >>> from orfeon.statistics import five_by_two_cv_test
    >>> first = [[20, 22], [21, 21], [19, 22], [23, 20], [21, 22]]
    >>> second = [[22, 23], [24, 22], [21, 22], [24, 23], [22, 24]]
    >>> print(five_by_two_cv_test(first, second))
    mean difference -1.6: t(5) = -1.69, p = 0.152; F(10, 5) = 2.43, p = 0.170
    """

    mean_difference: float
    t_statistic: float
    t_p_value: float
    f_statistic: float
    f_p_value: float

    def __str__(self) -> str:
        return (
            f"mean difference {self.mean_difference:+.3g}: t(5) = {self.t_statistic:.2f}, "
            f"{p_value_text(self.t_p_value)}; F(10, 5) = {self.f_statistic:.2f}, "
            f"{p_value_text(self.f_p_value)}"
        )


def five_by_two_cv_test(first: Any, second: Any) -> FiveByTwoTest:
    """Test whether two methods differ, from five times two-fold cross-validation.

    Parameters
    ----------
    first, second : array-like of shape (5, 2)
        Scores of the two methods: one row per repetition, one column per fold.

    Returns
    -------
    FiveByTwoTest
        Both tests. Prefer the F-test, which has more power.

    Notes
    -----
    Without spread within repetitions, p-values are 1 if there is no difference at all and 0
    otherwise; Dietterich's test uses only the first fold.

    Examples
    --------
    >>> from orfeon.statistics import five_by_two_cv_test
    >>> same = [[0.9, 0.8]] * 5
    >>> five_by_two_cv_test(same, same).f_p_value
    1.0
    """
    one, other = numbers("first", first, 2), numbers("second", second, 2)
    for name, scores in (("first", one), ("second", other)):
        if scores.shape != _SHAPE:
            raise ValueError(f"{name} must have shape {_SHAPE}, got {scores.shape}.")
    differences = one - other
    spread = float(differences.var(axis=1, ddof=1).sum())
    t_statistic = _ratio(float(differences[0, 0]), math.sqrt(spread / 5.0))
    f_statistic = _ratio(float((differences**2).sum()), 2.0 * spread)
    return FiveByTwoTest(
        float(differences.mean()),
        t_statistic,
        float(2.0 * stats.t.sf(abs(t_statistic), 5)),
        f_statistic,
        float(stats.f.sf(f_statistic, 10, 5)),
    )


def _ratio(part: float, whole: float) -> float:
    if whole > 0.0:
        return part / whole
    return math.copysign(math.inf, part) if part else 0.0
