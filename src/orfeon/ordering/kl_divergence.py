"""KL-divergence pruning: the members that boosting trained on the most different distributions.

AdaBoost trains each member on a distribution over the training samples, which follows from the
votes of the members before it. The rule starts with the first member. It always adds the member
that most increases the sum of the Kullback-Leibler divergences of all pairs chosen.

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
from orfeon.ordering.rule import TOLERANCE, Arrangement, Rule
from orfeon.utils.types import Floats

#: Sums of divergences that differ by less than this differ by rounding only.
_SAME = 1e-10


@dataclass(frozen=True)
class KLDivergence(Rule):
    """The member whose training distribution differs most from those of the members chosen.

    Notes
    -----
    The distributions are those of AdaBoost.M1, recomputed from the votes on the selection samples;
    they are correct only if these are the training set. After a member that makes no errors, or
    errs on half of the weight, the distribution is reset to the sample weights. Members that were
    not boosted, such as those of bagging, are compared by the distributions that boosting in their
    order would have used.

    The divergence of a pair is D(p || q), with p the distribution of the earlier member.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> votes = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 0], [1, 1, 0, 0, 0], [0, 1, 0, 0, 0]]
    >>> ordered = order_votes(votes, [0, 0, 0, 0, 0], rule="kl_divergence")
    >>> ordered.order, ordered.criterion.round(3)
    (array([0, 2, 3, 1]), array([0.   , 0.04 , 0.125, 0.099]))
    """

    name: ClassVar[str] = "kl_divergence"

    def arrange(self, selection: Selection) -> Arrangement:
        """Order the members; the criterion is how much the sum of divergences grows."""
        divergence = pairwise_divergence(training_distributions(selection))
        n_members = selection.n_members
        order, criterion = np.empty(n_members, np.int64), np.zeros(n_members)
        is_left, gain = np.ones(n_members, dtype=bool), np.zeros(n_members)
        chosen = 0
        for u in range(n_members):
            if u:
                most = gain[is_left].max()
                chosen = int(np.argmax(is_left & (gain >= most - _SAME)))
            order[u], criterion[u], is_left[chosen] = chosen, gain[chosen], False
            gain += divergence[chosen]
        return Arrangement(order, criterion)


def training_distributions(selection: Selection) -> Floats:
    """The distribution over the samples that AdaBoost trains each member on, from the votes."""
    start = selection.weights / selection.total_weight
    signs = selection.correctness
    found = np.empty(signs.shape)
    now = start
    for t, sign in enumerate(signs):
        found[t] = now
        wrong, right = now[sign < 0].sum(), now[sign > 0].sum()
        error = wrong / (wrong + right) if wrong + right > 0 else 0.0
        if TOLERANCE < error < 0.5 - TOLERANCE:
            now = np.where(sign < 0, now / (2 * error), now)
            now = np.where(sign > 0, now / (2 * (1 - error)), now)
            now = now / now.sum()
        else:
            now = start
    return found


def pairwise_divergence(distributions: Floats) -> Floats:
    """D(p || q) of each pair, p the earlier one; symmetric, so that a pair has one number."""
    logs = np.log(distributions)
    entropy = (distributions * logs).sum(axis=1)
    of_earlier = np.triu(entropy[:, None] - distributions @ logs.T, 1)
    return np.asarray(np.maximum(of_earlier + of_earlier.T, 0.0))
