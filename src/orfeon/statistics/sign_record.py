"""The sign test: on how many data sets one method is better than another.

References
----------
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

Draws = Literal["split", "drop"]


@dataclass(frozen=True)
class SignTest:
    """Wins, draws and losses of a method against another.

    Parameters
    ----------
    wins, draws, losses : int
        Numbers of data sets on which the first method's score is larger, equal and smaller.
    p_value : float
        The p-value.

    Examples
    --------
    >>> from orfeon.statistics import sign_test
    >>> print(sign_test([0.9, 0.8, 0.7, 0.65, 0.5, 0.4], [0.8, 0.8, 0.6, 0.5, 0.4, 0.3]))
    5 wins, 1 draw, 0 losses: p = 0.062
    """

    wins: int
    draws: int
    losses: int
    p_value: float

    def __str__(self) -> str:
        drawn = "draw" if self.draws == 1 else "draws"
        won = "win" if self.wins == 1 else "wins"
        lost = "loss" if self.losses == 1 else "losses"
        return (
            f"{self.wins} {won}, {self.draws} {drawn}, {self.losses} {lost}: "
            f"{p_value_text(self.p_value)}"
        )


def sign_test(
    first: Any,
    second: Any,
    *,
    draws: Draws = "split",
    alternative: Alternative = "two-sided",
    decimals: int | None = None,
) -> SignTest:
    """Test whether one method is better than another on more data sets than by chance.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Scores of the two methods on the same data sets.
    draws : {"split", "drop"}, default="split"
        Whether draws are split evenly, leaving one out if their number is odd, as in Demšar (2006),
        or all left out.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        The alternative hypothesis about the first method's scores.
    decimals : int, optional
        Decimals to which scores are rounded, so that scores that print the same are draws.

    Returns
    -------
    SignTest
        The test, by the binomial distribution.

    Notes
    -----
    Tables of critical values often use the normal distribution, which finds slightly more
    differences: 11 wins of 14 count as significant at 0.05, but have a probability of 0.057.

    Examples
    --------
    >>> from orfeon.statistics import sign_test
    >>> sign_test([1.0, 2.0], [1.0, 2.0]).p_value
    1.0
    """
    check_alternative(alternative)
    if draws not in ("split", "drop"):
        raise ValueError(f'draws={draws!r} is not allowed; use "split" or "drop".')
    one, other = pairs(first, second, 1)
    if decimals is not None:
        one, other = np.round(one, decimals), np.round(other, decimals)
    wins, losses = int((one > other).sum()), int((one < other).sum())
    n_draws = len(one) - wins - losses
    shared = n_draws // 2 if draws == "split" else 0
    n = wins + losses + 2 * shared
    p_value = 1.0
    if n:
        p_value = float(stats.binomtest(wins + shared, n, alternative=alternative).pvalue)
    return SignTest(wins, n_draws, losses, p_value)
