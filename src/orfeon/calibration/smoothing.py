"""Class shares that are never exactly 0 or 1, without another decision.

The members of an ensemble are a sample: if all of 100 vote for a class, the share of votes for it
among further members is not known to be 1. The m-estimate adds half a vote in all, the same for
each class.

References
----------
Cestnik (1990). Estimating probabilities: a crucial task in machine learning. ECAI, 147-149.
"""

from __future__ import annotations

import numpy as np

from orfeon.rules.shares import row_sums
from orfeon.utils.types import Floats, Integers

#: Votes that are added, divided equally among the classes. On 15 real tables half a vote had a
#: lower log loss than one, two or four with many classes, and lost nothing with two.
SMOOTHING = 0.5
#: The share of a number that makes it the next larger one, or the one after, if added.
LIFT = 2.0**-52


def smooth(shares: Floats, n_members: float | Floats, strength: float) -> Floats:
    """The m-estimate of the shares, of all members or of some of them for each row."""
    n = np.asarray(n_members, dtype=np.float64)
    n = n[:, None] if n.ndim else n
    return np.asarray((shares * n + strength / shares.shape[1]) / (n + strength))


def keep_decision(shares: Floats, decided: Integers) -> Floats:
    """Shares in which the classes that were decided for are the first of the largest.

    Where they are not, the class and those above it share their sum.
    """
    rows = np.flatnonzero(shares.argmax(axis=1) != decided)
    if not len(rows):
        return shares
    some, own = shares[rows], decided[rows, None]
    is_above = some >= np.take_along_axis(some, own, axis=1)
    level = row_sums(np.where(is_above, some, 0.0)) / is_above.sum(axis=1)
    some = np.where(is_above, level[:, None], some)
    np.put_along_axis(some, own, (level + level * LIFT)[:, None], axis=1)
    kept = shares.copy()
    kept[rows] = some
    return kept
