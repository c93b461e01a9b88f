"""The test of signed ranks: whether one method is better than another over some data sets.

References
----------
Wilcoxon (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1(6), 80-83.

Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine
Learning Research 7, 1-30.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats

from orfeon.statistics._reading import check_alternative, pairs
from orfeon.statistics.t_tests import Alternative
from orfeon.utils.text import p_value_text

Zeros = Literal["split", "drop"]

#: SciPy's names of the ways to treat zero differences.
_ZERO_METHODS = {"split": "zsplit", "drop": "wilcox"}
#: With ties, all signs are tried up to this many pairs.
_FEW = 13


@dataclass(frozen=True)
class WilcoxonTest:
    """Sums of the ranks of differences for and against the first method.

    Parameters
    ----------
    ranks_for, ranks_against : float
        Sums of the ranks of the positive and of the negative differences; zero differences
        are shared, or left out.
    n : int
        Pairs that take part.
    p_value : float
        The p-value.

    Examples
    --------
    >>> from orfeon.statistics import wilcoxon_test
    >>> print(wilcoxon_test([0.9, 0.8, 0.7, 0.65, 0.5], [0.85, 0.81, 0.6, 0.5, 0.3]))
    ranks for 14, against 1 (5 pairs): p = 0.125
    """

    ranks_for: float
    ranks_against: float
    n: int
    p_value: float

    @property
    def statistic(self) -> float:
        """The smaller of the two sums, as it is tabulated."""
        return min(self.ranks_for, self.ranks_against)

    def __str__(self) -> str:
        return (
            f"ranks for {self.ranks_for:g}, against {self.ranks_against:g} ({self.n} pairs): "
            f"{p_value_text(self.p_value)}"
        )


def wilcoxon_test(
    first: Any,
    second: Any,
    *,
    zeros: Zeros = "split",
    alternative: Alternative = "two-sided",
    decimals: int | None = None,
) -> WilcoxonTest:
    """Test whether two methods differ, from the ranks of their differences.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Scores of the two methods on the same data sets.
    zeros : {"split", "drop"}, default="split"
        Whether zero differences count half for each method, as in Demšar (2006), or are left out,
        as in Wilcoxon (1945).
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        The alternative hypothesis about the first method's scores.
    decimals : int, optional
        Decimals to which differences are rounded, so that those that print the same are tied.

    Returns
    -------
    WilcoxonTest
        The test.

    Notes
    -----
    SciPy finds the p-value: exactly up to 50 pairs without ties, by all signs up to 13 pairs with
    ties, and otherwise by a normal distribution with corrected variance. If all differences
    are zero, it is 1.

    Examples
    --------
    >>> from orfeon.statistics import wilcoxon_test
    >>> wilcoxon_test([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]).p_value
    1.0
    """
    check_alternative(alternative)
    if zeros not in _ZERO_METHODS:
        raise ValueError(f'zeros={zeros!r} is not allowed; use "split" or "drop".')
    one, other = pairs(first, second, 1)
    differences = one - other
    if decimals is not None:
        differences = np.round(differences, decimals)
    taken = differences if zeros == "split" else differences[differences != 0.0]
    ranks = stats.rankdata(np.abs(taken))
    shared = 0.5 * float(ranks[taken == 0.0].sum())
    sum_for = float(ranks[taken > 0.0].sum()) + shared
    sum_against = float(ranks[taken < 0.0].sum()) + shared
    p_value = 1.0
    if taken.any():
        has_ties = len(np.unique(np.abs(taken))) < len(taken) or not taken.all()
        found = stats.wilcoxon(
            taken,
            zero_method=_ZERO_METHODS[zeros],
            alternative=alternative,
            method=_method(len(taken), has_ties),
        )
        p_value = float(found.pvalue)
    return WilcoxonTest(sum_for, sum_against, len(taken), p_value)


def _method(n: int, has_ties: bool) -> Any:
    if not has_ties:
        return "exact" if n <= 50 else "asymptotic"
    return stats.PermutationMethod(n_resamples=2**_FEW) if n <= _FEW else "asymptotic"
