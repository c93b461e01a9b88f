"""Which pairs of methods differ over several data sets: critical differences of average ranks.

References
----------
Nemenyi (1963). Distribution-free multiple comparisons. Thesis, Princeton University.

Dunn (1961). Multiple comparisons among means. Journal of the American Statistical Association
56(293), 52-64.

Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine
Learning Research 7, 1-30.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats

from orfeon.statistics._reading import check_level, method_names, numbers, table
from orfeon.statistics.friedman import average_ranks

Comparisons = Literal["all", "control"]

#: Differences of average ranks below this are due to rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class NemenyiTest:
    """Average ranks, and their critical difference.

    Parameters
    ----------
    names : tuple of str
        The methods.
    ranks : tuple of float
        Their average ranks; 1 is the best.
    n_datasets : int
        Number of data sets.
    alpha : float
        Level of significance, for all pairs together.
    critical_difference : float
        Average ranks that differ by as much or more differ significantly.

    Examples
    --------
    >>> from orfeon.statistics import NemenyiTest
    >>> ranks = [1.9, 2.1, 3.4, 2.6]
    >>> test = NemenyiTest.from_ranks(ranks, 14, names=["forest", "boosting", "tree", "bagging"])
    >>> print(test)
    critical difference 1.25 (4 methods, 14 data sets, alpha = 0.05)
    1.90  forest
    2.10  boosting
    2.60  bagging
    3.40  tree
    no significant difference: forest, boosting, bagging; bagging, tree
    >>> test.differ("forest", "tree"), test.differ("boosting", "bagging")
    (True, False)
    >>> round(test.p_value("forest", "tree"), 3)
    0.011
    """

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    n_datasets: int
    alpha: float
    critical_difference: float

    @classmethod
    def from_ranks(
        cls,
        ranks: Any,
        n_datasets: int,
        *,
        names: Sequence[str] | None = None,
        alpha: float = 0.05,
    ) -> NemenyiTest:
        """Compare all pairs of methods, from average ranks.

        Parameters
        ----------
        ranks : array-like of shape (n_methods,)
            Average ranks; 1 is the best.
        n_datasets : int
            Number of data sets.
        names : sequence of str, optional
            Names of the methods; by default their numbers.
        alpha : float, default=0.05
            Level of significance, for all pairs together.

        Returns
        -------
        NemenyiTest
            The test.
        """
        read = numbers("ranks", ranks, 1)
        k = len(read)
        difference = critical_difference(k, n_datasets, alpha=alpha)
        outside = read[(read < 1.0 - _ROUNDING) | (read > k + _ROUNDING)]
        if len(outside):
            raise ValueError(f"ranks of {k} methods must be from 1 to {k}, got {outside[0]:g}.")
        its_names = method_names([str(j) for j in range(k)] if names is None else names, k)
        values = tuple(float(rank) for rank in read)
        return cls(its_names, values, int(n_datasets), alpha, difference)

    def differ(self, one: str, other: str) -> bool:
        """Whether two methods differ significantly.

        Parameters
        ----------
        one, other : str
            Their names.

        Returns
        -------
        bool
            Whether their average ranks differ by at least the critical difference.
        """
        return self._apart(one, other) >= self.critical_difference - _ROUNDING

    def p_value(self, one: str, other: str) -> float:
        """P-value of the difference of two methods.

        Parameters
        ----------
        one, other : str
            Their names.

        Returns
        -------
        float
            The p-value, corrected for all pairs.
        """
        k = len(self.names)
        quantile = self._apart(one, other) / _standard_error(k, self.n_datasets) * math.sqrt(2.0)
        return min(1.0, float(stats.studentized_range.sf(quantile, k, np.inf)))

    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Methods that do not differ significantly.

        Returns
        -------
        tuple of tuple of str
            The largest groups of two or more methods, the best first, in which no pair differs.
        """
        ordered = sorted(self.names, key=self._rank)
        found: list[tuple[str, ...]] = []
        reached = 0
        for start, first in enumerate(ordered):
            end = start
            while end < len(ordered) and not self.differ(first, ordered[end]):
                end += 1
            if end - start > 1 and end > reached:
                found.append(tuple(ordered[start:end]))
                reached = end
        return tuple(found)

    def _rank(self, name: str) -> float:
        if name not in self.names:
            raise ValueError(f"{name!r} is not one of the methods: {', '.join(self.names)}.")
        return self.ranks[self.names.index(name)]

    def _apart(self, one: str, other: str) -> float:
        return abs(self._rank(one) - self._rank(other))

    def __str__(self) -> str:
        lines = [
            f"critical difference {self.critical_difference:.2f} ({len(self.names)} methods, "
            f"{self.n_datasets} data sets, alpha = {self.alpha:g})"
        ]
        ordered = sorted(self.names, key=self._rank)
        width = len(f"{self._rank(ordered[-1]):.2f}")
        lines += [f"{self._rank(name):{width}.2f}  {name}" for name in ordered]
        groups = "; ".join(", ".join(group) for group in self.groups())
        return "\n".join(
            [
                *lines,
                f"no significant difference: {groups}" if groups else "all differ significantly",
            ]
        )


def critical_difference(
    n_methods: int, n_datasets: int, *, alpha: float = 0.05, comparisons: Comparisons = "all"
) -> float:
    """The smallest difference at which two average ranks differ significantly.

    Parameters
    ----------
    n_methods, n_datasets : int
        Numbers of methods, two or more, and of data sets.
    alpha : float, default=0.05
        Level of significance, for all comparisons together.
    comparisons : {"all", "control"}, default="all"
        Whether all pairs are compared (Nemenyi), or all methods with one (Bonferroni and Dunn).

    Returns
    -------
    float
        The critical difference.

    Examples
    --------
    >>> from orfeon.statistics import critical_difference
    >>> round(critical_difference(4, 14), 2), round(critical_difference(4, 14, alpha=0.1), 2)
    (1.25, 1.12)
    >>> round(critical_difference(4, 14, comparisons="control"), 2)
    1.17
    """
    check_level(alpha)
    if n_methods < 2:
        raise ValueError(f"n_methods={n_methods} is not allowed; at least 2 methods are compared.")
    if n_datasets < 1:
        raise ValueError(f"n_datasets={n_datasets} is not allowed: it must be 1 or more.")
    if comparisons == "all":
        quantile = stats.studentized_range.isf(alpha, n_methods, np.inf) / math.sqrt(2.0)
    elif comparisons == "control":
        quantile = stats.norm.isf(0.5 * alpha / (n_methods - 1))
    else:
        raise ValueError(f'comparisons={comparisons!r} is not allowed; use "all" or "control".')
    return float(quantile) * _standard_error(n_methods, n_datasets)


def _standard_error(n_methods: int, n_datasets: int) -> float:
    """Of the difference of two average ranks, where all methods are equally good."""
    return math.sqrt(n_methods * (n_methods + 1) / (6.0 * n_datasets))


def nemenyi(
    scores: Any,
    *,
    greater_is_better: bool = True,
    names: Sequence[str] | None = None,
    decimals: int | None = None,
    alpha: float = 0.05,
) -> NemenyiTest:
    """Compare all pairs of methods over several data sets.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_datasets, n_methods)
        One row per data set, one column per method.
    greater_is_better : bool, default=True
        False for errors and losses.
    names : sequence of str, optional
        Names of the methods; by default those of the columns, or their numbers.
    decimals : int, optional
        Decimals to which scores are rounded, so that scores that print the same are tied.
    alpha : float, default=0.05
        Level of significance, for all pairs together.

    Returns
    -------
    NemenyiTest
        Average ranks, their critical difference, and which methods do not differ significantly.

    See Also
    --------
    friedman_test : Whether any methods differ, to be tested first.
    CriticalDifferenceDisplay : The picture.

    Examples
    --------
    >>> from orfeon.statistics import nemenyi
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.75], [0.9, 0.6, 0.5], [0.7, 0.6, 0.4]]
    >>> nemenyi(scores, names=["forest", "bagging", "tree"]).groups()
    (('forest', 'bagging'), ('bagging', 'tree'))
    """
    read, its_names = table(scores, names, decimals)
    ranks = average_ranks(read, greater_is_better=greater_is_better)
    return NemenyiTest.from_ranks(ranks, len(read), names=its_names, alpha=alpha)
