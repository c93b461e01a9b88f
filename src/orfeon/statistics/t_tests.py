"""The paired t-test, and its correction for splits that share their training samples.

On random splits, or on the folds of a cross-validation, training sets overlap: differences between
two methods are not independent, and the plain test finds differences where there are none. The
corrected resampled test adds the correlation that this makes, about ``n_test / n_train``, to the
variance of the mean.

References
----------
Dietterich (1998). Approximate statistical tests for comparing supervised classification learning
algorithms. Neural Computation 10(7), 1895-1923.

Nadeau and Bengio (2003). Inference for the generalization error. Machine Learning 52(3), 239-281.

Bouckaert and Frank (2004). Evaluating the replicability of significance tests for comparing
learning algorithms. PAKDD, LNAI 3056, 3-12.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats

from orfeon.statistics._reading import check_alternative, pairs
from orfeon.utils.text import p_value_text

Alternative = Literal["two-sided", "less", "greater"]


@dataclass(frozen=True)
class PairedTTest:
    """A t-test of the mean difference between two methods.

    Parameters
    ----------
    mean_difference : float
        The first method's scores minus the second's.
    standard_error : float
        Standard error of the mean difference, corrected in the corrected test.
    statistic : float
        Their ratio; infinite if all differences are equal and not zero, 0 if they are zero.
    degrees_of_freedom : int
        Those of Student's distribution.
    p_value : float
        The p-value.
    is_corrected : bool
        Whether the variance is corrected for overlapping training sets.

    Examples
    --------
    >>> from orfeon.statistics import paired_t_test
    >>> test = paired_t_test([20.0, 22.0, 25.0, 21.0], [21.0, 22.5, 27.0, 23.5])
    >>> print(test)
    mean difference -1.5 ± 0.46: t(3) = -3.29, p = 0.046
    >>> low, high = test.interval(0.95)
    >>> round(low, 2), round(high, 2)
    (-2.95, -0.05)
    """

    mean_difference: float
    standard_error: float
    statistic: float
    degrees_of_freedom: int
    p_value: float
    is_corrected: bool = False

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the mean difference.

        Parameters
        ----------
        confidence : float, default=0.95
            The confidence level.

        Returns
        -------
        tuple of (float, float)
            Its ends, symmetric about the mean difference.
        """
        if not 0.0 < confidence < 1.0:
            raise ValueError(f"confidence={confidence} is not allowed: it must be between 0 and 1.")
        quantile = float(stats.t.ppf(0.5 + 0.5 * confidence, self.degrees_of_freedom))
        half = quantile * self.standard_error
        return self.mean_difference - half, self.mean_difference + half

    def __str__(self) -> str:
        corrected = " (corrected)" if self.is_corrected else ""
        return (
            f"mean difference {self.mean_difference:+.3g} ± {self.standard_error:.2g}{corrected}: "
            f"t({self.degrees_of_freedom}) = {self.statistic:.2f}, {p_value_text(self.p_value)}"
        )


def paired_t_test(
    first: Any, second: Any, *, alternative: Alternative = "two-sided"
) -> PairedTTest:
    """Test whether two methods differ on average, from independent pairs of scores.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Scores of the two methods on the same splits or data sets; two or more.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        The alternative hypothesis about the first method's mean.

    Returns
    -------
    PairedTTest
        The test, and the interval of the mean difference.

    See Also
    --------
    corrected_resampled_t_test : For splits of the same samples.

    Notes
    -----
    If all differences are equal, the standard error is zero: the p-value is 1 if they are zero, and
    that of an infinite statistic if they are not.

    Examples
    --------
    >>> from orfeon.statistics import paired_t_test
    >>> round(paired_t_test([1.0, 2.0, 3.0], [0.0, 0.0, 0.0]).statistic, 3)
    3.464
    """
    one, other = pairs(first, second, 2)
    return _t_test(one - other, 1.0 / len(one), alternative, is_corrected=False)


def corrected_resampled_t_test(
    first: Any,
    second: Any,
    *,
    n_train: int,
    n_test: int,
    alternative: Alternative = "two-sided",
) -> PairedTTest:
    """Test whether two methods differ, from scores on splits that share samples.

    Parameters
    ----------
    first, second : array-like of shape (n_splits,)
        Scores of the two methods on the same random splits or folds, also of repeated
        cross-validation; two or more.
    n_train, n_test : int
        Samples that methods are trained and tested on in each split.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        The alternative hypothesis about the first method's mean.

    Returns
    -------
    PairedTTest
        The test, and the interval of the mean difference.

    Notes
    -----
    The variance of the mean difference is ``(1 / n_splits + n_test / n_train)`` times that of the
    differences: more splits make it smaller only down to a limit.

    Examples
    --------
    >>> from orfeon.statistics import corrected_resampled_t_test
    >>> first, second = [20.0, 22.0, 25.0, 21.0], [21.0, 22.5, 27.0, 23.5]
    >>> print(corrected_resampled_t_test(first, second, n_train=90, n_test=10))
    mean difference -1.5 ± 0.55 (corrected): t(3) = -2.73, p = 0.072
    """
    one, other = pairs(first, second, 2)
    for name, value in (("n_train", n_train), ("n_test", n_test)):
        if value < 1:
            raise ValueError(f"{name}={value} is not allowed: it must be 1 or more.")
    return _t_test(one - other, 1.0 / len(one) + n_test / n_train, alternative, is_corrected=True)


def _t_test(
    differences: Any, factor: float, alternative: Alternative, *, is_corrected: bool
) -> PairedTTest:
    """The test of a mean whose variance is that of the differences times a factor."""
    check_alternative(alternative)
    mean = float(differences.mean())
    # Alike to the last bit: their variance would be what the mean is rounded by.
    is_constant = bool((differences == differences[0]).all())
    error = 0.0 if is_constant else math.sqrt(factor * float(np.var(differences, ddof=1)))
    freedom = len(differences) - 1
    if error > 0.0:
        statistic = mean / error
    else:
        statistic = math.copysign(math.inf, mean) if mean else 0.0
    tails = {
        "two-sided": 2.0 * stats.t.sf(abs(statistic), freedom),
        "greater": stats.t.sf(statistic, freedom),
        "less": stats.t.cdf(statistic, freedom),
    }
    p_value = 1.0 if is_constant and mean == 0.0 else float(tails[alternative])
    return PairedTTest(mean, error, statistic, freedom, p_value, is_corrected)
