"""Complementarity ordering: the next member is right where those chosen are wrong.

References
----------
Martínez-Muñoz and Suárez (2004). Aggregation ordering in bagging. Proceedings of the IASTED
International Conference on Artificial Intelligence and Applications, 258-263.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orfeon.kernels.ordering import order as kernels
from orfeon.members.votes import Selection
from orfeon.ordering.reduce_error import order_by_squared_error
from orfeon.ordering.rule import Arrangement, Rule, kernel_arrays


@dataclass(frozen=True)
class Complementarity(Rule):
    """Greedy choice of the member that is right on the most samples the vote still gets wrong.

    It starts with the most accurate member. In regression the next member is the one that lowers
    the squared error on the most samples.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> votes = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 0], [1, 1, 0, 0, 0]]
    >>> order_votes(votes, [0, 0, 0, 0, 0], rule="complementarity").order
    array([0, 2, 1])
    """

    name: ClassVar[str] = "complementarity"
    for_regression: ClassVar[bool] = True

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is the share of samples that a member corrects."""
        if selection.is_regression:
            return order_by_squared_error(selection, helped=True)
        n_members = selection.n_members
        order, gains = np.empty(n_members, np.int64), np.empty(n_members, np.int64)
        kernels.complementarity(*kernel_arrays(selection), order, gains)  # type: ignore[call-arg]
        return Arrangement(order, gains / selection.total_weight)
