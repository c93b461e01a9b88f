"""Ordering by the members' own errors: the baseline that ignores how members complement each other.

The errors are those on the selection samples: the training set, out-of-bag votes or a validation
set.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from orfeon.members.votes import Selection
from orfeon.ordering.rule import TOLERANCE, Arrangement, Rule


@dataclass(frozen=True)
class IndividualError(Rule):
    """The member with the lowest error first.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> order_votes([[0, 1, 1], [0, 0, 1], [1, 1, 1]], [0, 0, 0], rule="individual_error").order
    array([1, 0, 2])
    """

    name: ClassVar[str] = "individual_error"
    for_regression: ClassVar[bool] = True

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is the members' error on the samples they vote on."""
        errors = member_errors(selection)
        order = np.argsort(errors, kind="stable")
        return Arrangement(order, errors[order])


def member_errors(selection: Selection) -> npt.NDArray[np.float64]:
    """Error of each member on the samples it votes on."""
    # Sums of whole numbers below 2**53 are exact in floats, and fast.
    weights = selection.weights.astype(np.float64)
    voted = selection.answered @ weights
    if selection.is_regression:
        losses = np.where(selection.answered, (selection.answers - selection.y) ** 2, 0.0)
        errors = _without_rounding(losses @ weights / np.maximum(voted, 1.0))
        return np.where(voted > 0, errors, np.inf)
    wrong = (selection.answers != selection.y) & selection.answered
    return np.where(voted > 0, wrong @ weights / np.maximum(voted, 1.0), 1.0)


def _without_rounding(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Make numbers equal that differ only by rounding."""
    order = np.argsort(values, kind="stable")
    same = values.copy()
    for before, after in pairwise(order):
        if values[after] - same[before] <= TOLERANCE * abs(values[after]):
            same[after] = same[before]
    return same
