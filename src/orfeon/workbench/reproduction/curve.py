"""Errors of growing ensembles: the curve of a split, and the size where the mean of many is least.

Curves hold numbers of wrong samples, so that sums over splits are exact and equal means are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Curve:
    """Errors of the vote of the first member, of the first two, and so on.

    Parameters
    ----------
    wrong : tuple of int
        Number of samples that each vote has wrong.
    n_samples : int
        Number of samples.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Curve
    >>> curve = Curve(wrong=(90, 84, 75), n_samples=300)
    >>> len(curve), curve.percent(3)
    (3, 25.0)
    """

    wrong: tuple[int, ...]
    n_samples: int

    def __post_init__(self) -> None:
        if not self.wrong or not 0 <= min(self.wrong) <= max(self.wrong) <= self.n_samples:
            raise ValueError(
                f"wrong must hold numbers from 0 to n_samples={self.n_samples}, at least one, "
                f"got {list(self.wrong)}"
            )

    def __len__(self) -> int:
        return len(self.wrong)

    def percent(self, size: int) -> float:
        """Error of the first members.

        Parameters
        ----------
        size : int
            How many, from 1 on.

        Returns
        -------
        float
            From 0 to 100.
        """
        if not 1 <= size <= len(self):
            raise ValueError(f"size must be from 1 to {len(self)}, got {size}")
        return round(100.0 * self.wrong[size - 1] / self.n_samples, 10)


def best_size(curves: Sequence[Curve]) -> int:
    """The number of members whose mean error over the splits is least.

    Only odd numbers are looked at, as in print: an even number of votes can be tied, and the error
    then depends on how ties are decided.

    Parameters
    ----------
    curves : sequence of Curve
        One of each split, all of the same ensemble size and number of samples.

    Returns
    -------
    int
        The smallest of those that are equally good.

    Examples
    --------
    >>> from orfeon.workbench.reproduction import Curve, best_size
    >>> best_size([Curve((9, 0, 7, 6, 6), 20), Curve((5, 0, 3, 6, 5), 20)])
    3
    """
    kinds = {(len(curve), curve.n_samples) for curve in curves}
    if len(kinds) != 1:
        raise ValueError(
            "curves must all have the same members and samples, and there must be one at least; "
            f"got (members, samples) of {sorted(kinds)}"
        )
    total = np.sum([curve.wrong for curve in curves], axis=0)
    return 2 * int(np.argmin(total[::2])) + 1
