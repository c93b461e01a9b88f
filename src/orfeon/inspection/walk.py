"""The walk of an ensemble: where it goes in the space of the samples, member by member.

The vector c_t of a member has a coordinate for each sample, +1 where it is right and -1 where it
is wrong. Added up one by one they make a walk that ends at T times c_ens, their mean, whatever the
order. It is seen from the direction of c_ens and that of c_ref, the direction that the ensemble
lacks: the part of the diagonal, where all samples are right, that is normal to c_ens. In random
order the walk stays near the straight line; a good order goes towards c_ref first, and comes back
with the members that are left.

References
----------
Martínez-Muñoz and Suárez (2006). Pruning in ordered bagging ensembles. Proceedings of the 23rd
International Conference on Machine Learning, 609-616.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from orfeon.inspection._orders import Orders, read_orders
from orfeon.inspection._reading import read_class_votes
from orfeon.inspection.errors_by_size import OWN, RANDOM
from orfeon.members.votes import On, Selection
from orfeon.ordering.gram import CorrectnessGram
from orfeon.ordering.ordering import Order
from orfeon.utils.seeding import RandomState, seed_sequence
from orfeon.utils.types import Floats, Integers

#: Squared lengths below this share of that of the diagonal are nothing.
_NOTHING = 1e-12
#: Members of which the direction is found step by step.
_MANY = 500
#: Samples that are unfolded at once.
_SAMPLES = 4096


@dataclass(frozen=True, eq=False)
class EnsembleWalk:
    """Walks of the members of an ensemble in different orders, in three dimensions.

    Parameters
    ----------
    walks : dict of str to ndarray of shape (n_members + 1, 3)
        For each order the points reached with 0, 1, 2, ... members, along the three directions.
    steps : ndarray of shape (n_members, 3)
        Of each member, how far it goes along the three directions.
    directions : ndarray of shape (3, n_samples)
        Unit vectors normal to each other: along c_ens, along c_ref, and along the direction normal
        to both in which the members differ most. Those that do not exist are zero. With sample
        weights, coordinates are multiplied by the roots of these.
    ensemble : ndarray of shape (n_samples,)
        c_ens, multiplied likewise.

    Examples
    --------
    >>> from orfeon.inspection import ensemble_walk
    >>> votes = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 1]]
    >>> found = ensemble_walk(votes, y=[0, 0, 0, 0, 0], orders="orientation")
    >>> found.walks["orientation"][:, :2].round(2)
    array([[ 0. ,  0. ],
           [-1. ,  1. ],
           [ 1. ,  1.5],
           [ 3. ,  1. ],
           [ 4. ,  0. ]])
    >>> 4 * found.ensemble
    array([ 2.,  2.,  2.,  0., -2.])
    """

    walks: dict[str, Floats]
    steps: Floats
    directions: Floats
    ensemble: Floats

    def __len__(self) -> int:
        return len(self.steps)

    def farthest(self, name: str) -> int:
        """With how many members a walk is farthest along c_ref.

        Parameters
        ----------
        name : str
            The order.

        Returns
        -------
        int
            A number of members.
        """
        return int(np.argmax(self.walks[name][:, 1]))


def ensemble_walk(
    members_or_votes: Any,
    X: Any = None,
    y: Any = None,
    *,
    orders: Orders | None = "orientation",
    n_random_orders: int = 0,
    random_state: RandomState = None,
    sample_weight: Any = None,
    on: On = "train",
    no_vote: Any = None,
) -> EnsembleWalk:
    """The walks of an ensemble's members, in their own order and in others.

    Parameters
    ----------
    members_or_votes : array of shape (n_members, n_samples), fitted ensemble or list of estimators
        Labels that each member votes for; or the ensemble, of ours or scikit-learn's, with ``X``.
    X : array or data frame of shape (n_samples, n_features), optional
        The samples, when an ensemble is given. Usually its training set.
    y : array of shape (n_samples,)
        Their classes.
    orders : dict, sequence, str, Rule or Order, optional
        Orders to compare with the members' own: rules, by which they are put in order on these
        samples, :class:`orfeon.ordering.Order` objects, or, with names, permutations.
    n_random_orders : int, default=0
        When above 0, there are so many walks in random order in the place of the members' own.
    random_state : int, RandomState, Generator or None, default=None
        Fixes the random orders.
    sample_weight : array of shape (n_samples,), optional
        Weights of the samples: 0 is the same as leaving one out, 2 as giving it twice.
    on : {"train", "out_of_bag"}, default="train"
        Whether all members vote on all samples, or only on those they were not trained on.
    no_vote : optional
        What stands in a matrix of votes for a member that does not vote; its coordinate is 0.

    Returns
    -------
    EnsembleWalk
        The walks.

    Notes
    -----
    Where members vote with different weights, as in boosting, their vectors are multiplied by these
    weights, which are divided by their mean. Weights that a rule gives are not used.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.inspection import ensemble_walk
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(CARTClassifier(pruning="cv"), 100, random_state=0).fit(X, y)
    >>> found = ensemble_walk(bag, X, y)
    >>> {name: walk[:, 1].max().round() for name, walk in found.walks.items()}
    {'own order': ..., 'orientation': ...}
    """
    if n_random_orders < 0:
        raise ValueError(f"n_random_orders={n_random_orders} is not allowed; it is 0 or more.")
    source = read_class_votes(
        members_or_votes, X, y, sample_weight, what="walks", on=on, no_vote=no_vote
    )
    selection = source.selection
    walk = _Space.of(selection)
    paths = {name: walk.path(order) for name, order in read_orders(orders, source).items()}
    members = np.arange(selection.n_members)
    generator = np.random.default_rng(seed_sequence(random_state))
    chance = {
        RANDOM if k == 1 else f"{RANDOM} {k}": generator.permutation(members)
        for k in range(1, n_random_orders + 1)
    }
    start = {name: walk.path(places) for name, places in (chance or {OWN: members}).items()}
    directions, ensemble = walk.unfold(selection)
    return EnsembleWalk({**start, **paths}, walk.steps, directions, ensemble)


@dataclass(frozen=True, eq=False)
class _Space:
    """Three directions as sums of the members' vectors and of the diagonal.

    Direction k is ``factors[k] @ vectors + diagonal[k]``, the vectors being multiplied by the
    members' weights. All follow from the products of the vectors, so that no (n_members,
    n_samples) matrix of floats is needed.
    """

    steps: Floats
    factors: Floats
    diagonal: Floats
    weights: Floats

    @classmethod
    def of(cls, selection: Selection) -> _Space:
        weights = selection.vote_weights / selection.vote_weights.mean()
        gram = CorrectnessGram(selection.n_members)
        gram.add(selection)
        products = selection.step * weights[:, None] * gram.matrix.astype(np.float64) * weights
        along = selection.step * weights * gram.totals
        length = selection.step * gram.total_weight
        n_members = selection.n_members
        steps, factors, diagonal = np.zeros((3, n_members)), np.zeros((3, n_members)), np.zeros(3)
        everyone = products.sum(axis=1)
        squared = everyone.sum()  # of the sum of all vectors
        if squared > _NOTHING * length:
            factors[0] = 1.0 / np.sqrt(squared)
            steps[0] = factors[0] * everyone
        # The reference is the diagonal without its part along the ensemble.
        shadow = along.sum() * factors[0, 0]
        left = length - shadow**2
        if left > _NOTHING * length:
            factors[1] = -shadow * factors[0] / np.sqrt(left)
            diagonal[1] = 1.0 / np.sqrt(left)
            steps[1] = (along - shadow * steps[0]) / np.sqrt(left)
        rest = products - np.outer(steps[0], steps[0]) - np.outer(steps[1], steps[1])
        spread, shares = _principal(rest)
        if spread > _NOTHING * length:
            shares = shares / np.sqrt(spread)
            steps[2] = rest @ shares
            parts = -(steps[:2] @ shares)
            factors[2] = shares + parts @ factors[:2]
            diagonal[2] = parts @ diagonal[:2]
        return cls(steps.T.copy(), factors, diagonal, weights)

    def path(self, order: Order | Integers) -> Floats:
        """Points of the walk in an order, from the origin on."""
        subsets = getattr(order, "subsets", None)
        if subsets is None:
            points = np.cumsum(self.steps[np.asarray(getattr(order, "order", order))], axis=0)
        else:
            points = np.array([self.steps[some].sum(axis=0) for some in subsets])
        return np.concatenate([np.zeros((1, 3)), points])

    def unfold(self, selection: Selection) -> tuple[Floats, Floats]:
        """The directions over the samples, and the mean of the vectors."""
        sums = np.empty((4, selection.n_samples))
        mixed = np.vstack([self.factors, np.full(len(self.weights), 1.0 / len(self.weights))])
        mixed = mixed * self.weights
        for first in range(0, selection.n_samples, _SAMPLES):
            part = slice(first, first + _SAMPLES)
            sums[:, part] = mixed @ selection.samples(part).correctness
        sums[:3] += self.diagonal[:, None]
        sums *= np.sqrt(selection.step * selection.weights)
        return sums[:3], sums[3]


def _principal(products: Floats) -> tuple[float, Floats]:
    """The greatest eigenvalue and its vector, whose largest part is positive."""
    n = len(products)
    if n > _MANY:
        values, vectors = eigsh(products, k=1, which="LA", v0=np.linspace(1.0, 2.0, n))
    else:
        values, vectors = eigh(products, subset_by_index=[n - 1, n - 1])
    vector = vectors[:, 0]
    return float(values[0]), vector * np.sign(vector[np.argmax(np.abs(vector))])
