"""The walk of an ensemble: where it goes in the space of the samples as members are added.

The vector c_t of a member has one coordinate per sample, +1 where it is right and -1 where it is
wrong. Added one by one, the vectors make a walk that ends at T times c_ens, their mean, in any
order. It is seen along c_ens and along c_ref, the direction that the ensemble lacks: the part of
the diagonal, where all samples are right, that is normal to c_ens. In random order the walk stays
near the straight line; a good order goes towards c_ref first and comes back with the members that
are left.

References
----------
Martínez-Muñoz and Suárez (2006). Pruning in ordered bagging ensembles. Proceedings of the 23rd
International Conference on Machine Learning, 609-616.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from orfeon.inspection.display import check_choice
from orfeon.inspection.documentation import documented
from orfeon.inspection.errors_by_size import OWN, RANDOM
from orfeon.inspection.reading import Orders, read_class_votes, read_orders
from orfeon.members.vote_input import On
from orfeon.members.votes import Selection
from orfeon.ordering.gram import CorrectnessGram
from orfeon.ordering.order_type import Order
from orfeon.rendering.display import Display
from orfeon.rendering.figure import look_of, new_figure, put_legend, put_title
from orfeon.rendering.palette import INK, MUTED_INK, mixed
from orfeon.rendering.texts import plain
from orfeon.utils.seeding import RandomState, seed_sequence
from orfeon.utils.types import Floats, Integers

#: Squared lengths below this share of that of the diagonal count as zero.
_NOTHING = 1e-12
#: Members from which on the third direction is found iteratively.
_MANY = 500
#: Samples that are processed at once.
_SAMPLES = 4096


@dataclass(frozen=True, eq=False)
class EnsembleWalk:
    """Walks of the members of an ensemble in several orders, in three dimensions.

    Parameters
    ----------
    walks : dict of str to ndarray of shape (n_members + 1, 3)
        For each order the points reached with 0, 1, 2, ... members, along the three directions.
    steps : ndarray of shape (n_members, 3)
        How far each member goes along the three directions.
    directions : ndarray of shape (3, n_samples)
        Orthogonal unit vectors: along c_ens, along c_ref, and along the direction normal to both in
        which the members differ most. Directions that do not exist are zero. With sample weights,
        coordinates are multiplied by their square roots.
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
        """Number of members with which the walk of an order is farthest along c_ref."""
        return int(np.argmax(self.walks[name][:, 1]))


@documented()
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
    """Walks of an ensemble's members, in their own order and in others.

    Parameters
    ----------
    <votes>
    orders : dict, sequence, str, Rule or Order, optional
        Orders to compare with the members' own: rules, which order them on these samples,
        :class:`orfeon.ordering.Order` objects, or permutations, which need names.
    n_random_orders : int, default=0
        Number of walks in random order beside the members' own.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random orders.
    <weights>
    <on>

    Returns
    -------
    EnsembleWalk
        The walks.

    Notes
    -----
    Where members vote with weights, as in boosting, their vectors are multiplied by these weights,
    divided by their mean. Weights that an ordering rule gives are not used. Members that do not
    vote on a sample have the coordinate 0.

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
        raise ValueError(f"n_random_orders={n_random_orders} is not allowed; it must be 0 or more.")
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
    start = {name: walk.path(places) for name, places in {OWN: members, **chance}.items()}
    directions, ensemble = walk.unfold(selection)
    return EnsembleWalk({**start, **paths}, walk.steps, directions, ensemble)


@dataclass(frozen=True, eq=False)
class _Space:
    """Three directions as sums of the members' vectors and of the diagonal.

    Direction k is ``factors[k] @ vectors + diagonal[k]``, the vectors multiplied by the members'
    weights. All follow from the products of the vectors, so no (n_members, n_samples) matrix of
    floats is needed.
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
    """The largest eigenvalue and its vector, whose largest part is positive."""
    n = len(products)
    if n > _MANY:
        values, vectors = eigsh(products, k=1, which="LA", v0=np.linspace(1.0, 2.0, n))
    else:
        values, vectors = eigh(products, subset_by_index=[n - 1, n - 1])
    vector = vectors[:, 0]
    return float(values[0]), vector * np.sign(vector[np.argmax(np.abs(vector))])


Dimensions = Literal[2, 3]
View = Literal["ens-ref", "ref-third"]

#: The directions that a plane shows.
_PLANES: dict[View, list[int]] = {"ens-ref": [0, 1], "ref-third": [1, 2]}
#: Random walks are lighter than that in the members' own order.
_RANDOM_INK = mixed(MUTED_INK, "#FFFFFF", 0.6)
_ALONG = (r"along $c_{ens}$", r"along $c_{ref}$", "third direction")


class EnsembleWalkDisplay(Display):
    """Walks of an ensemble's members in their own order and in others.

    The members' own order is grey, and random ones light grey. Dots mark where a walk is farthest
    along c_ref; all walks begin at the origin and end at the same point, T times c_ens. There are
    three views: the plane of c_ens and c_ref, the plane of c_ref and the third direction, which
    looks along c_ens and shows each walk as a loop, and all three dimensions.

    Parameters
    ----------
    data : EnsembleWalk
        The walks, see :func:`ensemble_walk`.

    Attributes
    ----------
    <axes>
    lines_ : dict of str to Line2D
        The walk of each order.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import BaggingClassifier, CARTClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.inspection import EnsembleWalkDisplay
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(CARTClassifier(pruning="cv"), 100, random_state=0).fit(X, y)
    >>> display = EnsembleWalkDisplay.from_estimator(bag, X, y)
    >>> list(display.lines_)
    ['own order', 'orientation']
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size_3d = (6.0, 5.4)

    lines_: dict[str, Any]

    def __init__(self, data: EnsembleWalk) -> None:
        self.data = data

    @classmethod
    def from_estimator(
        cls,
        ensemble: Any,
        X: Any,
        y: Any,
        *,
        dimensions: Dimensions = 2,
        view: View = "ens-ref",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the walks of an ensemble.

        Parameters
        ----------
        ensemble : fitted ensemble or list of estimators
            The ensemble.
        X, y, **options
            As for :func:`ensemble_walk`.
        dimensions, view
            As for :meth:`plot`.
        <ax>
        """
        walk = ensemble_walk(ensemble, X, y, **options)
        return cls(walk).plot(ax, dimensions=dimensions, view=view)

    @classmethod
    def from_votes(
        cls,
        votes: Any,
        y: Any,
        *,
        dimensions: Dimensions = 2,
        view: View = "ens-ref",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the walks of a matrix of votes.

        Parameters
        ----------
        votes : array of shape (n_members, n_samples)
            Labels that each member votes for.
        y, **options
            As for :func:`ensemble_walk`.
        dimensions, view
            As for :meth:`plot`.
        <ax>
        """
        walk = ensemble_walk(votes, y=y, **options)
        return cls(walk).plot(ax, dimensions=dimensions, view=view)

    def plot(self, ax: Any = None, *, dimensions: Dimensions = 2, view: View = "ens-ref") -> Self:
        """Draw the picture.

        Parameters
        ----------
        dimensions : {2, 3}, default=2
            How many directions to show; three need axes with ``projection="3d"``, if any.
        view : {"ens-ref", "ref-third"}, default="ens-ref"
            In two dimensions, the plane: of c_ens and c_ref, or of c_ref and the third direction.
        <ax>
        """
        check_choice("dimensions", dimensions, (2, 3))
        check_choice("view", view, tuple(_PLANES))
        shown = _PLANES[view] if dimensions == 2 else [0, 1, 2]
        ax = self._begin(self._axes(ax, dimensions))
        self.lines_ = {}
        ends = np.array([np.zeros(3), next(iter(self.data.walks.values()))[-1]])[:, shown].T
        if view == "ens-ref" or dimensions == 3:
            ax.plot(*ends, color=INK, linestyle=":", linewidth=1.0, label="_line")
        made = self._made
        for name, walk in self.data.walks.items():
            is_random = name.startswith(RANDOM)
            style: dict[str, Any] = {"color": MUTED_INK, "linewidth": 1.0}
            if is_random:
                style |= {"color": _RANDOM_INK, "zorder": 1.9}
            if name in made:
                look = look_of(made.index(name))
                style = {"color": look.colour, "linestyle": look.linestyle, "linewidth": 1.6}
                top = walk[self.data.farthest(name), shown, None]
                ax.plot(*top, look.marker, color=look.colour, markersize=6, label=f"_top of {name}")
            # The legend has one entry for all random walks.
            label = f"_{name}" if is_random and name != RANDOM else plain(name)
            (self.lines_[name],) = ax.plot(*walk.T[shown], label=label, **style)
        ax.plot(*ends, "o", color=INK, markersize=4, linestyle="none", label="_ends")
        self._label(shown)
        return self._finish()

    def _axes(self, ax: Any, dimensions: Dimensions) -> Any:
        if ax is not None and dimensions == 3 and ax.name != "3d":
            raise ValueError(
                'dimensions=3 needs axes with projection="3d": '
                'pyplot.subplots(subplot_kw={"projection": "3d"}).'
            )
        if ax is not None or dimensions == 2:
            return ax
        return new_figure(type(self).__name__, self._size_3d).add_subplot(projection="3d")

    @property
    def _made(self) -> list[str]:
        """Names of the orders that a rule or the user made."""
        return [name for name in self.data.walks if name != OWN and not name.startswith(RANDOM)]

    def _label(self, shown: list[int]) -> None:
        ax = self.ax_
        ax.set_xlabel(_ALONG[shown[0]])
        ax.set_ylabel(_ALONG[shown[1]])
        if len(shown) == 3:
            ax.set_zlabel(_ALONG[2])
            ax.set_box_aspect((1.5, 1.0, 0.9), zoom=0.95)
            for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
                axis.get_major_locator().set_params(nbins=5)
        put_title(ax, self._title())
        put_legend(ax, below=32.0 if len(shown) == 2 else 8.0)

    def _title(self) -> str:
        n_members = len(self.data)
        if not self._made:
            return f"Walk of {n_members:,} members to the vector of the ensemble"
        name = self._made[0]
        return (
            f"Ordered by {plain(name)}, {self.data.farthest(name):,} of {n_members:,} members lead "
            "farthest towards what the ensemble lacks"
        )
