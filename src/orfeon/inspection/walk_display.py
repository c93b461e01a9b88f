"""The picture of an ensemble's walk, in two dimensions and in three.

References
----------
Martínez-Muñoz and Suárez (2006). Pruning in ordered bagging ensembles. Proceedings of the 23rd
International Conference on Machine Learning, 609-616.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from orfeon.inspection._fitting import make_room
from orfeon.inspection._orders import Orders
from orfeon.inspection.errors_by_size import OWN, RANDOM
from orfeon.inspection.walk import EnsembleWalk, ensemble_walk
from orfeon.members.votes import On
from orfeon.rendering.figure import axes_for, look_of, new_figure, put_legend, put_title
from orfeon.rendering.palette import INK, MUTED_INK
from orfeon.rendering.texts import plain
from orfeon.utils.seeding import RandomState
from orfeon.utils.types import Floats

Dimensions = Literal[2, 3]

#: Width and height in inches of a new figure, by its dimensions.
_SIZES = {2: (6.0, 4.4), 3: (6.0, 5.4)}
_ALONG = (r"along $c_{ens}$", r"along $c_{ref}$", "third direction")


class EnsembleWalkDisplay:
    """Walks of an ensemble's members in their own order and in others.

    Grey is what nobody ordered. Dots show where a walk is farthest along c_ref; all walks begin at
    the origin and end at the same point, T times c_ens.

    Parameters
    ----------
    data : EnsembleWalk
        The walks, see :func:`ensemble_walk`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
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

    ax_: Any
    figure_: Any
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
        orders: Orders | None = "orientation",
        n_random_orders: int = 0,
        random_state: RandomState = None,
        sample_weight: Any = None,
        on: On = "train",
        dimensions: Dimensions = 2,
        ax: Any = None,
    ) -> Self:
        """Draw the walks of an ensemble.

        Parameters
        ----------
        ensemble : fitted ensemble or list of estimators
            The ensemble.
        X, y, orders, n_random_orders, random_state, sample_weight, on
            As for :func:`ensemble_walk`.
        dimensions : {2, 3}, default=2
            How many directions are seen.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        EnsembleWalkDisplay
            What was drawn.
        """
        return cls(ensemble_walk(
            ensemble, X, y, orders=orders, n_random_orders=n_random_orders,
            random_state=random_state, sample_weight=sample_weight, on=on,
        )).plot(ax, dimensions=dimensions)  # fmt: skip

    @classmethod
    def from_votes(
        cls,
        votes: Any,
        y: Any,
        *,
        orders: Orders | None = "orientation",
        n_random_orders: int = 0,
        random_state: RandomState = None,
        sample_weight: Any = None,
        no_vote: Any = None,
        dimensions: Dimensions = 2,
        ax: Any = None,
    ) -> Self:
        """Draw the walks of a matrix of votes.

        Parameters
        ----------
        votes : array of shape (n_members, n_samples)
            Labels that each member votes for.
        y, orders, n_random_orders, random_state, sample_weight, no_vote
            As for :func:`ensemble_walk`.
        dimensions : {2, 3}, default=2
            How many directions are seen.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        EnsembleWalkDisplay
            What was drawn.
        """
        return cls(ensemble_walk(
            votes, y=y, orders=orders, n_random_orders=n_random_orders,
            random_state=random_state, sample_weight=sample_weight, no_vote=no_vote,
        )).plot(ax, dimensions=dimensions)  # fmt: skip

    def plot(self, ax: Any = None, *, dimensions: Dimensions = 2) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default. In three dimensions it is one with
            ``projection="3d"``.
        dimensions : {2, 3}, default=2
            How many directions are seen.

        Returns
        -------
        EnsembleWalkDisplay
            The display, with what was drawn.
        """
        if dimensions not in (2, 3):
            raise ValueError(f"dimensions={dimensions!r} is not allowed; use 2 or 3.")
        self.ax_ = ax = self._axes(ax, dimensions)
        self.figure_, self.lines_ = ax.figure, {}
        end = next(iter(self.data.walks.values()))[-1]
        ax.plot(*_straight(end, dimensions), color=INK, linestyle=":", linewidth=1.0, label="_line")
        made = self._made
        for name, walk in self.data.walks.items():
            style: dict[str, Any] = {"color": MUTED_INK, "linewidth": 1.0}
            if name in made:
                look = look_of(made.index(name))
                style = {"color": look.colour, "linestyle": look.linestyle, "linewidth": 1.6}
                top = walk[self.data.farthest(name), :dimensions, None]
                ax.plot(*top, look.marker, color=look.colour, markersize=6, label=f"_top of {name}")
            # Of walks in random order, the first stands for all in the legend.
            label = f"_{name}" if name.startswith(f"{RANDOM} ") else plain(name)
            (self.lines_[name],) = ax.plot(*walk.T[:dimensions], label=label, **style)
        self._label(end, dimensions)
        make_room(self.ax_)
        return self

    def _axes(self, ax: Any, dimensions: Dimensions) -> Any:
        if ax is not None and dimensions == 3 and ax.name != "3d":
            raise ValueError(
                'dimensions=3 needs axes with projection="3d": '
                'pyplot.subplots(subplot_kw={"projection": "3d"}).'
            )
        if ax is not None or dimensions == 2:
            return axes_for(type(self).__name__, ax, _SIZES[dimensions])
        return new_figure(type(self).__name__, _SIZES[3]).add_subplot(projection="3d")

    @property
    def _made(self) -> list[str]:
        """Names of the orders that somebody made."""
        return [name for name in self.data.walks if name != OWN and not name.startswith(RANDOM)]

    def _label(self, end: Floats, dimensions: Dimensions) -> None:
        """Say what is seen."""
        ax = self.ax_
        ax.set_xlabel(_ALONG[0])
        ax.set_ylabel(_ALONG[1])
        if dimensions == 3:
            ax.set_zlabel(_ALONG[2])
            ax.set_box_aspect((1.5, 1.0, 0.9), zoom=0.95)
            for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
                axis.get_major_locator().set_params(nbins=5)
        ends = np.array([np.zeros(3), end])[:, :dimensions].T
        ax.plot(*ends, "o", color=INK, markersize=4, linestyle="none", label="_ends")
        put_title(ax, self._title())
        put_legend(ax, below=32.0 if dimensions == 2 else 8.0)

    def _title(self) -> str:
        n_members = len(self.data)
        if not self._made:
            return f"Walk of {n_members} members to the vector of the ensemble"
        name = self._made[0]
        return (
            f"Ordered by {plain(name)}, {self.data.farthest(name)} of {n_members} members lead "
            "farthest towards what the ensemble lacks"
        )


def _straight(end: Floats, dimensions: Dimensions) -> Floats:
    """The straight line from the origin to the end of all walks."""
    return np.array([np.zeros(3), end]).T[:dimensions]
