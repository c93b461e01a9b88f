"""Margin distance minimisation: the chosen members' margins approach a point of small margins.

The margins of a sub-ensemble are a point with one coordinate for each sample. The objective point
has the same small positive margin p everywhere: all samples are right, and none has a needlessly
large margin.

References
----------
Martínez-Muñoz and Suárez (2004). Aggregation ordering in bagging. Proceedings of the IASTED
International Conference on Artificial Intelligence and Applications, 258-263.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from orfeon.kernels.ordering import order as kernels
from orfeon.members.votes import Selection
from orfeon.ordering.gram import CorrectnessGram
from orfeon.ordering.rule import Arrangement, Rule

#: Whole numbers below this, added twice, still fit into 64 bits.
_ROOM = 2**61
#: Fractions with denominators up to this are taken as exact.
_LARGEST_DENOMINATOR = 10**6


@dataclass(frozen=True)
class MarginDistance(Rule):
    """Greedy choice of the member that brings the margins nearest to the objective point.

    It needs only the products of the members' correctness vectors, so after one pass over the
    samples its cost depends on the number of members alone.

    Parameters
    ----------
    p : float, default=0.075
        Coordinates of the objective point; 0.05 to 0.25 is usual. Taken as the decimal fraction
        that it is printed as, so that equal distances are ties. Where members do not vote on all
        samples it is lowered by the share of votes that are missing: otherwise even all of them
        together could not reach it.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> votes = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 0], [1, 1, 0, 0, 0]]
    >>> order_votes(votes, [0, 0, 0, 0, 0], rule="margin_distance", p=0.1).order
    array([0, 2, 1])
    """

    name: ClassVar[str] = "margin_distance"

    p: float = 0.075

    def __post_init__(self) -> None:
        is_number = isinstance(self.p, int | float | np.number)
        if not is_number or not 0 < self.p < 1:
            raise ValueError(f"p={self.p!r} is not allowed; it must be a number between 0 and 1.")

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is the distance to the objective point."""
        gram = CorrectnessGram(selection.n_members)
        gram.add(selection)
        return self.arrange_sums(gram)

    def arrange_sums(self, gram: CorrectnessGram) -> Arrangement:
        """Order the members by sums over all samples."""
        n_members = len(gram)
        coverage = Fraction(int(gram.sizes.sum()), n_members * gram.total_weight)
        objective = Fraction(repr(float(self.p))) * coverage
        pull = 2 * n_members * objective
        numbers: Any = (np.zeros(n_members, np.int64), gram.totals, gram.sizes)
        factors: Any = (pull.denominator, pull.numerator)
        largest = 2 * (n_members + 1) * gram.total_weight * max(factors)
        if largest >= _ROOM or pull.denominator > _LARGEST_DENOMINATOR:
            numbers = tuple(part.astype(np.float64) for part in numbers)
            factors = (1.0, float(pull))
        order, growth = np.empty(n_members, np.int64), np.empty(n_members, numbers[0].dtype)
        kernels.margin_distance(gram.matrix, *numbers, *factors, order, growth)  # type: ignore[call-arg]
        start = objective**2 * gram.total_weight
        return Arrangement(order, _distances(start, growth, factors[0] * n_members**2, gram.step))


def _distances(start: Fraction, growth: Any, unit: Any, step: float | None) -> Any:
    """Distances from the growth of their squares, which is whole numbers of a unit where exact."""
    if growth.dtype == np.float64:
        squared = float(start) + np.cumsum(growth) / unit
    else:
        whole = start.denominator * unit
        parts = accumulate((start.denominator * int(part) for part in growth), initial=0)
        squared = np.array([(start.numerator * unit + part) / whole for part in parts][1:])
    return np.sqrt(np.maximum(squared, 0.0) * (step or 1.0))
