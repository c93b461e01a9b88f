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
from orfeon.ordering.curves import kernel_arrays
from orfeon.ordering.regression import order_by_squared_error
from orfeon.ordering.rule import Arrangement, Rule


@dataclass(frozen=True)
class Complementarity(Rule):
    """Greedy choice of the member that is right on most samples the vote so far gets wrong.

    It starts with the most accurate member. In regression the next member is the one that lowers
    the squared error on most samples.

    Examples
    --------
    >>> from orfeon import order
    >>> votes = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 0], [1, 1, 0, 0, 0]]
    >>> order(votes, y=[0, 0, 0, 0, 0], rule="complementarity").order
    array([0, 2, 1])
    """

    name: ClassVar[str] = "complementarity"
    for_regression: ClassVar[bool] = True

    def arrange(self, selection: Selection) -> Arrangement:
        """Put the members in order.

        Parameters
        ----------
        selection : Selection
            What they say of the selection samples.

        Returns
        -------
        Arrangement
            The order; its criterion is the share of all samples on which the member is right and
            those before it are not.
        """
        if selection.is_regression:
            return order_by_squared_error(selection, helped=True)
        n_members = selection.n_members
        order, gains = np.empty(n_members, np.int64), np.empty(n_members, np.int64)
        kernels.complementarity(*kernel_arrays(selection), order, gains)  # type: ignore[call-arg]
        return Arrangement(order, gains / selection.total_weight)
