"""McNemar's test of two classifiers on one test set.

It counts the samples that only one of the two gets wrong: if both are equally good, a coin toss
decides which.

References
----------
McNemar (1947). Note on the sampling error of the difference between correlated proportions or
percentages. Psychometrika 12(2), 153-157.

Dietterich (1998). Approximate statistical tests for comparing supervised classification learning
algorithms. Neural Computation 10(7), 1895-1923.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats

from orfeon.utils.text import p_value_text

Method = Literal["exact", "corrected"]


@dataclass(frozen=True)
class McNemarTest:
    """Samples that only one of two classifiers misclassifies, and the p-value of the difference.

    Parameters
    ----------
    only_first_wrong, only_second_wrong : int
        Samples that one classifier gets wrong and the other right.
    statistic : float
        The smaller of the two numbers, or the chi-square with the correction for continuity.
    p_value : float
        Two-sided.
    method : {"exact", "corrected"}
        By the binomial distribution, or by chi-square.

    Examples
    --------
    >>> from orfeon.statistics import McNemarTest
    >>> print(McNemarTest.from_counts(25, 15, method="corrected"))
    only the first wrong: 25, only the second: 15; corrected, p = 0.155
    """

    only_first_wrong: int
    only_second_wrong: int
    statistic: float
    p_value: float
    method: Method

    @classmethod
    def from_counts(
        cls, only_first_wrong: int, only_second_wrong: int, *, method: Method = "exact"
    ) -> McNemarTest:
        """Test two classifiers from the numbers of samples that only one gets wrong.

        Parameters
        ----------
        only_first_wrong, only_second_wrong : int
            The numbers.
        method : {"exact", "corrected"}, default="exact"
            As for :func:`mcnemar_test`.

        Returns
        -------
        McNemarTest
            The test.
        """
        if method not in ("exact", "corrected"):
            raise ValueError(f'method={method!r} is not allowed; use "exact" or "corrected".')
        counts = {"only_first_wrong": only_first_wrong, "only_second_wrong": only_second_wrong}
        for name, count in counts.items():
            if count < 0 or count != int(count):
                raise ValueError(f"{name}={count} is not allowed: it counts samples.")
        first, second = int(only_first_wrong), int(only_second_wrong)
        n = first + second
        if method == "exact":
            statistic = float(min(first, second))
            p_value = float(stats.binomtest(first, n).pvalue) if n else 1.0
        else:
            # Equal counts have a statistic of 0, not of 1.
            statistic = max(abs(first - second) - 1, 0) ** 2 / n if n else 0.0
            p_value = float(stats.chi2.sf(statistic, 1))
        return cls(first, second, statistic, p_value, method)

    def __str__(self) -> str:
        return (
            f"only the first wrong: {self.only_first_wrong}, only the second: "
            f"{self.only_second_wrong}; {self.method}, {p_value_text(self.p_value)}"
        )


def mcnemar_test(y: Any, first: Any, second: Any, *, method: Method = "exact") -> McNemarTest:
    """Test whether two classifiers err equally often, from their predictions of the same samples.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The classes.
    first, second : array-like of shape (n_samples,)
        Predictions of the classifiers.
    method : {"exact", "corrected"}, default="exact"
        By the binomial distribution, which holds for any number of samples; or by chi-square with
        the correction for continuity, as in Dietterich (1998).

    Returns
    -------
    McNemarTest
        The test.

    Examples
    --------
    >>> from orfeon.statistics import mcnemar_test
    >>> y = ["a", "a", "b", "b", "b", "a"]
    >>> test = mcnemar_test(y, ["a", "b", "a", "a", "a", "a"], ["a", "a", "b", "b", "b", "b"])
    >>> test.only_first_wrong, test.only_second_wrong, test.p_value
    (4, 1, 0.375)
    """
    y_true = _labels("y", y)
    wrong = []
    for name, given in (("first", first), ("second", second)):
        answers = _labels(name, given)
        if len(answers) != len(y_true):
            raise ValueError(
                f"{name} must have the length of y, got {len(answers)} and {len(y_true)}."
            )
        wrong.append(answers != y_true)
    if not len(y_true):
        raise ValueError("y must hold at least one sample, got none.")
    only_first = int((wrong[0] & ~wrong[1]).sum())
    only_second = int((wrong[1] & ~wrong[0]).sum())
    return McNemarTest.from_counts(only_first, only_second, method=method)


def _labels(name: str, given: Any) -> Any:
    read = np.asarray(given)
    if read.ndim != 1:
        raise ValueError(f"{name} must have 1 dimension(s), got shape {read.shape}.")
    if read.dtype.kind == "f" and not np.isfinite(read).all():
        at = int(np.flatnonzero(~np.isfinite(read))[0])
        raise ValueError(
            f"{name} must hold classes, got {read[at]} at place {at} (counted from 0)."
        )
    return read
