"""Several tests at once: Holm's step-down correction, and comparisons with a control.

References
----------
Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
Statistics 6(2), 65-70.

Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine
Learning Research 7, 1-30.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from orfeon.statistics._reading import check_level, numbers, table
from orfeon.statistics.friedman import average_ranks
from orfeon.utils.text import p_value_text


@dataclass(frozen=True)
class HolmCorrection:
    """P-values of several tests, corrected for multiple testing.

    Parameters
    ----------
    p_values : tuple of float
        Those of the tests.
    adjusted : tuple of float
        The lowest levels at which each is rejected, given all tests.
    alpha : float
        Level of significance, for all together.

    Examples
    --------
    >>> from orfeon.statistics import holm
    >>> print(holm([0.016, 0.019, 0.607]))
    2 of 3 rejected at 0.05: 0.016 -> 0.048, 0.019 -> 0.048, 0.607 -> 0.607
    """

    p_values: tuple[float, ...]
    adjusted: tuple[float, ...]
    alpha: float

    @property
    def rejected(self) -> tuple[bool, ...]:
        """Which hypotheses are rejected."""
        return tuple(p_value <= self.alpha for p_value in self.adjusted)

    def __str__(self) -> str:
        pairs = zip(self.p_values, self.adjusted, strict=True)
        steps = ", ".join(f"{before:.3f} -> {after:.3f}" for before, after in pairs)
        return f"{sum(self.rejected)} of {len(self.p_values)} rejected at {self.alpha:g}: {steps}"


def holm(p_values: Any, *, alpha: float = 0.05) -> HolmCorrection:
    """Correct the p-values of several tests by Holm's step-down procedure.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        The p-values.
    alpha : float, default=0.05
        Level of significance, for all together.

    Returns
    -------
    HolmCorrection
        The adjusted p-values, in the same order, and which are rejected.

    Examples
    --------
    >>> from orfeon.statistics import holm
    >>> holm([0.03, 0.01, 0.04]).adjusted
    (0.06, 0.03, 0.06)
    """
    check_level(alpha)
    read = numbers("p_values", p_values, 1)
    wrong = read[(read < 0.0) | (read > 1.0)]
    if len(wrong):
        raise ValueError(f"p_values must be from 0 to 1, got {wrong[0]:g}.")
    if not len(read):
        raise ValueError("p_values must hold at least one, got none.")
    order = np.argsort(read, kind="stable")
    # Each is multiplied by the number of p-values not smaller, and is at least the one before.
    steps = np.maximum.accumulate(read[order] * np.arange(len(read), 0, -1))
    adjusted = np.empty_like(read)
    adjusted[order] = np.minimum(steps, 1.0)
    return HolmCorrection(tuple(map(float, read)), tuple(map(float, adjusted)), alpha)


@dataclass(frozen=True)
class ControlComparison:
    """Methods compared with one of them by average ranks.

    Parameters
    ----------
    control : str
        The method that the others are compared with.
    names : tuple of str
        The others.
    z : tuple of float
        Differences of their average ranks from the control's in standard errors; negative where a
        method is better than the control.
    correction : HolmCorrection
        Two-sided p-values, before and after Holm's correction.

    Examples
    --------
    >>> from orfeon.statistics import compare_with_control
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.75], [0.9, 0.6, 0.5], [0.7, 0.6, 0.4]]
    >>> names = ["forest", "bagging", "tree"]
    >>> print(compare_with_control(scores, "forest", names=names))
    against forest (Holm, alpha = 0.05):
    bagging: z = +1.77, p = 0.077, adjusted p = 0.077
    tree: z = +2.47, p = 0.013, adjusted p = 0.027, differs
    """

    control: str
    names: tuple[str, ...]
    z: tuple[float, ...]
    correction: HolmCorrection

    def __str__(self) -> str:
        found = self.correction
        rows = zip(self.names, self.z, found.p_values, found.adjusted, found.rejected, strict=True)
        lines = [
            f"{name}: z = {z:+.2f}, {p_value_text(before)}, adjusted {p_value_text(after)}"
            + ", differs" * is_rejected
            for name, z, before, after, is_rejected in rows
        ]
        return "\n".join([f"against {self.control} (Holm, alpha = {found.alpha:g}):", *lines])


def compare_with_control(
    scores: Any,
    control: str,
    *,
    greater_is_better: bool = True,
    names: Sequence[str] | None = None,
    decimals: int | None = None,
    alpha: float = 0.05,
) -> ControlComparison:
    """Compare all methods with one of them over several data sets.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_datasets, n_methods)
        One row per data set, one column per method.
    control : str
        Name of the method that the others are compared with.
    greater_is_better : bool, default=True
        False for errors and losses.
    names : sequence of str, optional
        Names of the methods; by default those of the columns, or their numbers.
    decimals : int, optional
        Decimals to which scores are rounded, so that scores that print the same are tied.
    alpha : float, default=0.05
        Level of significance, for all comparisons together.

    Returns
    -------
    ControlComparison
        Differences of average ranks, and their p-values by Holm's procedure: more powerful than
        comparing all pairs, where only one method is of interest.

    Examples
    --------
    >>> from orfeon.statistics import compare_with_control
    >>> found = compare_with_control([[0.9, 0.8], [0.8, 0.7], [0.9, 0.6], [0.7, 0.6]], "0")
    >>> found.z, found.correction.rejected
    ((2.0,), (True,))
    """
    read, its_names = table(scores, names, decimals)
    if control not in its_names:
        raise ValueError(f"control={control!r} is not one of the methods: {', '.join(its_names)}.")
    ranks = average_ranks(read, greater_is_better=greater_is_better)
    n_datasets, k = read.shape
    error = math.sqrt(k * (k + 1) / (6.0 * n_datasets))
    at = its_names.index(control)
    z = np.delete((ranks - ranks[at]) / error, at)
    others = tuple(name for name in its_names if name != control)
    p_values = 2.0 * stats.norm.sf(np.abs(z))
    return ControlComparison(control, others, tuple(map(float, z)), holm(p_values, alpha=alpha))
