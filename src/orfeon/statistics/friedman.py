"""Ranks of several methods over several data sets, and whether they differ by more than chance.

References
----------
Friedman (1937). The use of ranks to avoid the assumption of normality implicit in the analysis of
variance. Journal of the American Statistical Association 32(200), 675-701.

Iman and Davenport (1980). Approximations of the critical region of the Friedman statistic.
Communications in Statistics 9(6), 571-595.

Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine
Learning Research 7, 1-30.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy import stats

from orfeon.statistics._reading import table
from orfeon.utils.text import p_value_text
from orfeon.utils.types import Floats


@dataclass(frozen=True)
class FriedmanTest:
    """Friedman's chi-square and the F of Iman and Davenport.

    Parameters
    ----------
    names : tuple of str
        The methods.
    ranks : tuple of float
        Their average ranks; 1 is the best.
    n_datasets : int
        Number of data sets.
    chi_square : float
        Friedman's statistic.
    chi_square_p_value : float
        Its p-value.
    f_statistic : float
        That of Iman and Davenport, which is less conservative; infinite if all data sets rank
        the methods identically.
    f_p_value : float
        Its p-value.

    Examples
    --------
    >>> from orfeon.statistics import friedman_test
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.75], [0.9, 0.6, 0.5], [0.7, 0.6, 0.4]]
    >>> print(friedman_test(scores))
    3 methods on 4 data sets: chi2(2) = 6.50, p = 0.039; F(2, 6) = 13.00, p = 0.007
    """

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    n_datasets: int
    chi_square: float
    chi_square_p_value: float
    f_statistic: float
    f_p_value: float

    def __str__(self) -> str:
        k, n = len(self.names), self.n_datasets
        return (
            f"{k} methods on {n} data sets: chi2({k - 1}) = {self.chi_square:.2f}, "
            f"{p_value_text(self.chi_square_p_value)}; F({k - 1}, {(k - 1) * (n - 1)}) = "
            f"{self.f_statistic:.2f}, {p_value_text(self.f_p_value)}"
        )


def average_ranks(
    scores: Any, *, greater_is_better: bool = True, decimals: int | None = None
) -> Floats:
    """Rank methods on each data set, and average over data sets.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_datasets, n_methods)
        One row per data set, one column per method.
    greater_is_better : bool, default=True
        False for errors and losses.
    decimals : int, optional
        Decimals to which scores are rounded, so that scores that print the same are tied.

    Returns
    -------
    ndarray of shape (n_methods,)
        Average ranks; 1 is the best. Tied methods share the mean of their ranks.

    Examples
    --------
    >>> from orfeon.statistics import average_ranks
    >>> average_ranks([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]])
    array([1.25, 1.75, 3.  ])
    >>> average_ranks([[12.5, 11.0], [8.0, 7.5]], greater_is_better=False)
    array([2., 1.])
    """
    read, _ = table(scores, None, decimals)
    mean: Floats = _ranks(read, greater_is_better).mean(axis=0)
    return mean


def _ranks(scores: Floats, greater_is_better: bool) -> Floats:
    ranks: Floats = stats.rankdata(-scores if greater_is_better else scores, axis=1)
    return ranks


def friedman_test(
    scores: Any,
    *,
    greater_is_better: bool = True,
    names: Sequence[str] | None = None,
    decimals: int | None = None,
    correct_ties: bool = True,
) -> FriedmanTest:
    """Test whether several methods are equally good over several data sets.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_datasets, n_methods)
        One row per data set, one column per method; two or more of each.
    greater_is_better : bool, default=True
        False for errors and losses.
    names : sequence of str, optional
        Names of the methods; by default those of the columns, or their numbers.
    decimals : int, optional
        Decimals to which scores are rounded, so that scores that print the same are tied.
    correct_ties : bool, default=True
        Whether the statistic allows for ties, as SciPy's does. Demšar's formula does not.

    Returns
    -------
    FriedmanTest
        Average ranks and both statistics.

    See Also
    --------
    nemenyi : Which pairs of methods differ.
    compare_with_control : Which methods differ from one of them.

    Notes
    -----
    If all methods are tied on all data sets, the statistics are 0 and the p-values 1.

    Examples
    --------
    >>> from orfeon.statistics import friedman_test
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.75], [0.9, 0.6, 0.5], [0.7, 0.6, 0.4]]
    >>> friedman_test(scores, names=["forest", "bagging", "tree"]).ranks
    (1.0, 2.25, 2.75)
    """
    read, its_names = table(scores, names, decimals, at_least=2)
    ranks = _ranks(read, greater_is_better)
    n, k = ranks.shape
    middle = 0.5 * (k + 1)
    between = float((n * (ranks.mean(axis=0) - middle) ** 2).sum())
    # Without ties each data set has the same spread of ranks, k (k + 1) / 12 times k - 1.
    within = (
        float(((ranks - middle) ** 2).sum()) / (n * (k - 1)) if correct_ties else k * (k + 1) / 12
    )
    chi_square = between / within if within > 0.0 else 0.0
    left = n * (k - 1) - chi_square
    # If all data sets agree, only rounding is left.
    is_perfect = left <= 1e-12 * n * k
    f_statistic = math.inf if is_perfect else (n - 1) * chi_square / left
    return FriedmanTest(
        its_names,
        tuple(float(rank) for rank in ranks.mean(axis=0)),
        n,
        chi_square,
        float(stats.chi2.sf(chi_square, k - 1)),
        f_statistic,
        float(stats.f.sf(f_statistic, k - 1, (k - 1) * (n - 1))),
    )
