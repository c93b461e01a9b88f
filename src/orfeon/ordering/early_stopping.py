"""Early stopping: the first members, in the order in which they were trained.

References
----------
Margineantu and Dietterich (1997). Pruning adaptive boosting. Proceedings of the 14th International
Conference on Machine Learning, 211-218.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orfeon.members.votes import Selection
from orfeon.ordering.rule import Arrangement, Rule


@dataclass(frozen=True)
class EarlyStopping(Rule):
    """The members as trained: keeping the first ones amounts to stopping training early.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> ordered = order_votes([[0, 1, 1], [0, 0, 1], [0, 0, 0]], [0, 0, 0], rule="early_stopping")
    >>> ordered.order, ordered.error_curve.round(2)
    (array([0, 1, 2]), array([0.67, 0.33, 0.33]))
    """

    name: ClassVar[str] = "early_stopping"
    for_regression: ClassVar[bool] = True

    def arrange(self, selection: Selection) -> Arrangement:
        """Keep the order; the criterion is the number of members so far."""
        order = np.arange(selection.n_members)
        return Arrangement(order, (order + 1).astype(np.float64))
