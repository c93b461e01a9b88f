"""Records of wins, draws and losses of methods against each other.

A difference counts as it is, or only if a test finds it significant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orfeon.statistics._reading import check_level, method_names, numbers
from orfeon.utils.text import aligned
from orfeon.utils.types import Floats, Integers

Test = Callable[[Floats, Floats], Any]


@dataclass(frozen=True, eq=False)
class WinDrawLoss:
    """Numbers of data sets on which each method wins, draws and loses against each other.

    Parameters
    ----------
    names : tuple of str
        The methods.
    n_datasets : int
        Number of data sets.
    wins : ndarray of shape (n_methods, n_methods)
        Numbers of data sets on which the method of the row is better than that of the column.

    Examples
    --------
    >>> from orfeon.statistics import win_draw_loss
    >>> record = win_draw_loss([[0.9, 0.8, 0.7], [0.8, 0.8, 0.9]], names=["a", "b", "c"])
    >>> print(record)
    win/draw/loss  a      b      c
    a              -      1/1/0  1/0/1
    b              0/1/1  -      1/0/1
    c              1/0/1  1/0/1  -
    >>> record.record("a", "b")
    (1, 1, 0)
    """

    names: tuple[str, ...]
    n_datasets: int
    wins: Integers

    @property
    def losses(self) -> Integers:
        """Numbers of data sets on which the method of the row is worse than that of the column."""
        return self.wins.T

    @property
    def draws(self) -> Integers:
        """Numbers of data sets on which neither is better."""
        return self.n_datasets - self.wins - self.wins.T

    def record(self, one: str, other: str) -> tuple[int, int, int]:
        """Wins, draws and losses of a method against another.

        Parameters
        ----------
        one, other : str
            Their names.

        Returns
        -------
        tuple of (int, int, int)
            The record of the first.
        """
        for name in (one, other):
            if name not in self.names:
                raise ValueError(f"{name!r} is not one of the methods: {', '.join(self.names)}.")
        i, j = self.names.index(one), self.names.index(other)
        return int(self.wins[i, j]), int(self.draws[i, j]), int(self.wins[j, i])

    def __str__(self) -> str:
        lines = [
            [one, *("-" if one == other else self._text(one, other) for other in self.names)]
            for one in self.names
        ]
        return aligned([["win/draw/loss", *self.names], *lines])

    def _text(self, one: str, other: str) -> str:
        return "/".join(map(str, self.record(one, other)))


def win_draw_loss(
    scores: Sequence[Any] | Any,
    *,
    greater_is_better: bool = True,
    names: Sequence[str] | None = None,
    decimals: int | None = None,
    test: Test | None = None,
    alpha: float = 0.05,
) -> WinDrawLoss:
    """Count wins, draws and losses of methods against each other.

    Parameters
    ----------
    scores : sequence of array-like
        One per data set: the scores of the methods, of shape (n_methods,); or on several splits,
        of shape (n_methods, n_splits), whose means are compared. Data sets may have different
        numbers of splits.
    greater_is_better : bool, default=True
        False for errors and losses.
    names : sequence of str, optional
        Names of the methods; by default the columns of a data frame, or their numbers.
    decimals : int, optional
        Decimals to which scores or means are rounded; those that print the same are draws.
    test : callable, optional
        Such as :func:`paired_t_test`: given the scores of two methods on the same splits, what it
        returns has a ``p_value``. Differences whose p-values are above ``alpha`` are then draws.
    alpha : float, default=0.05
        Level of significance of each test.

    Returns
    -------
    WinDrawLoss
        The records of all pairs.

    Examples
    --------
    >>> from orfeon.statistics import paired_t_test, win_draw_loss
    >>> errors = [[[20.0, 22.0, 25.0, 21.0], [21.0, 22.5, 27.0, 23.5], [20.5, 21.0, 26.0, 21.0]]]
    >>> win_draw_loss(errors, greater_is_better=False).wins
    array([[0, 1, 1],
           [0, 0, 0],
           [0, 1, 0]])
    >>> win_draw_loss(errors, greater_is_better=False, test=paired_t_test).wins
    array([[0, 1, 0],
           [0, 0, 0],
           [0, 1, 0]])
    """
    check_level(alpha)
    if names is None and hasattr(scores, "columns"):
        names = [str(name) for name in scores.columns]
    lines = list(np.asarray(scores) if hasattr(scores, "columns") else scores)
    if not lines:
        raise ValueError("scores must have those of at least one data set, got none.")
    datasets = [_read(number, line, test) for number, line in enumerate(lines)]
    n_methods = len(datasets[0])
    wins = np.zeros((n_methods, n_methods), dtype=np.int64)
    for number, its in enumerate(datasets):
        if len(its) != n_methods:
            raise ValueError(
                f"scores must have as many methods on all data sets, got {n_methods} on the first "
                f"and {len(its)} on data set {number} (counted from 0)."
            )
        wins += _wins(its if greater_is_better else -its, decimals, test, alpha)
    its_names = [str(j) for j in range(n_methods)] if names is None else names
    return WinDrawLoss(method_names(its_names, n_methods), len(datasets), wins)


def _read(number: int, line: Any, test: Test | None) -> Floats:
    """Scores of the methods on a data set, one column a split."""
    name = f"scores[{number}]"
    read = numbers(name, line, 2 if np.ndim(line) == 2 else 1)
    if read.ndim == 1:
        if test is not None:
            raise ValueError(f"{name} must have scores on several splits for a test, got one.")
        read = read[:, None]
    if read.shape[1] == 0:
        raise ValueError(f"{name} must have scores on at least one split, got none.")
    return read


def _wins(scores: Floats, decimals: int | None, test: Test | None, alpha: float) -> Integers:
    """1 where the method of the line is better than that of the column; greater is better."""
    means = scores.mean(axis=1)
    if decimals is not None:
        means = np.round(means, decimals)
    wins: Integers = (means[:, None] > means[None, :]).astype(np.int64)
    if test is not None:
        for i, j in np.argwhere(wins):
            wins[i, j] = test(scores[i], scores[j]).p_value <= alpha
    return wins
