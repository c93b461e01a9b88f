"""Random order: the control curve of every other rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orfeon.members.votes import Selection
from orfeon.ordering.rule import Arrangement, Rule
from orfeon.utils.seeding import seed_sequence


@dataclass(frozen=True)
class RandomOrder(Rule):
    """The members in random order.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None, default=None
        Seed of the order.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> order_votes([[0, 1], [1, 1], [0, 0], [1, 0]], [0, 1], rule="random", random_state=0).order
    array([2, 0, 1, 3])
    """

    name: ClassVar[str] = "random"
    for_regression: ClassVar[bool] = True

    random_state: Any = None

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is zero."""
        generator = np.random.default_rng(seed_sequence(self.random_state))
        order = generator.permutation(selection.n_members)
        return Arrangement(order, np.zeros(selection.n_members))
