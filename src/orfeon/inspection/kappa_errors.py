"""Kappa-error diagrams: how much each pair of members agrees, and how much it errs.

References
----------
Margineantu and Dietterich (1997). Pruning adaptive boosting. Proceedings of the 14th International
Conference on Machine Learning, 211-218.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from orfeon.inspection.display import EnsemblesDisplay, check_not_empty
from orfeon.inspection.diversity_of_pairs import pair_values, pairs_of, read_votes
from orfeon.members.vote_input import On
from orfeon.rendering.figure import (
    Look,
    look_of,
    put_legend,
    put_title,
    width_of,
)
from orfeon.rendering.palette import FAINT, INK, tint
from orfeon.rendering.texts import plain
from orfeon.utils.seeding import RandomState, seed_sequence
from orfeon.utils.types import Floats, Integers

#: Pairs above which a cloud is drawn as a density.
_DENSE = 20_000
#: Width in points below which there is no room to explain kappa.
_NARROW = 230.0
#: Hexagons across a density.
_HEXAGONS = 60
#: Up to so many pairs: size of points in square points, and how opaque they are.
_POINTS = ((300, 22.0, 0.6), (3000, 9.0, 0.35), (_DENSE, 4.0, 0.2), (np.inf, 2.0, 0.08))


@dataclass(frozen=True, eq=False)
class KappaError:
    """Kappa and error of pairs of members.

    Parameters
    ----------
    kappa : ndarray of shape (n_pairs,)
        Agreement of the two members' votes beyond chance: 1 if they always agree, 0 if they agree
        as often as independent members would. Less is more diverse.
    error : ndarray of shape (n_pairs,)
        Mean of the two members' errors.
    pairs : ndarray of int64 of shape (n_pairs, 2)
        The members of each pair, the first before the second.
    n_members : int
        Number of members.
    centroid : tuple of (float, float)
        Mean kappa and mean error of all pairs, also of those not drawn.
    spread : tuple of (float, float)
        Their standard deviations.

    See Also
    --------
    kappa_error : Computes it.

    Examples
    --------
    >>> from orfeon.inspection import kappa_error
    >>> cloud = kappa_error([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]], y=[0, 0, 1, 1])
    >>> cloud.pairs.tolist(), cloud.kappa, cloud.error
    ([[0, 1], [0, 2], [1, 2]], array([1. , 0.5, 0.5]), array([0.   , 0.125, 0.125]))
    """

    kappa: Floats
    error: Floats
    pairs: Integers
    n_members: int
    centroid: tuple[float, float]
    spread: tuple[float, float]

    def __len__(self) -> int:
        return len(self.kappa)


def kappa_error(
    members_or_votes: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    on: On = "train",
    no_vote: Any = None,
    max_pairs: int | None = None,
    random_state: RandomState = None,
) -> KappaError:
    """Kappa and mean error of each pair of members.

    Parameters
    ----------
    members_or_votes, X, y, sample_weight, on, no_vote
        An ensemble with samples, or a matrix of votes without; as for
        :func:`orfeon.inspection.diversity`.
    max_pairs : int, optional
        Draw this many pairs at random if there are more; all by default.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the pairs drawn.

    Returns
    -------
    KappaError
        One point per pair with a common sample, measured on the samples on which both vote.

    Notes
    -----
    Kappa is (theta1 - theta2) / (1 - theta2): theta1 is the share of samples on which the two
    members vote for the same class, theta2 what it would be if they were independent, each with its
    own class shares. It looks at labels and ignores which are right; the interrater kappa of
    :func:`orfeon.inspection.diversity` looks only at that.

    Examples
    --------
    >>> from orfeon import AdaBoostClassifier, BaggingClassifier
    >>> from orfeon.datasets import make_twonorm
    >>> from orfeon.inspection import kappa_error
    >>> X, y = make_twonorm(300, random_state=0)
    >>> for method in (BaggingClassifier, AdaBoostClassifier):
    ...     cloud = kappa_error(method(n_estimators=50, random_state=0).fit(X, y), X, y)
    ...     print(len(cloud), "kappa {:.1f}, error {:.1f}".format(*cloud.centroid))
    1225 kappa 0.7, error 0.1
    1225 kappa 0.1, error 0.3
    """
    if max_pairs is not None and (
        isinstance(max_pairs, bool) or not isinstance(max_pairs, int | np.integer) or max_pairs < 1
    ):
        raise ValueError(f"max_pairs={max_pairs!r} is not allowed; use a number from 1, or None.")
    selection = read_votes(
        members_or_votes, X, y, sample_weight=sample_weight, on=on, no_vote=no_vote
    )
    matrices = pairs_of(selection)
    kappa, error = pair_values(matrices.kappa), pair_values(matrices.error)
    known = np.flatnonzero(~np.isnan(error))
    if not len(known):
        raise ValueError("no two members vote on a common sample, which kappa needs.")
    points = np.array([kappa[known], error[known]])
    (mean_kappa, mean_error), (sd_kappa, sd_error) = points.mean(axis=1), points.std(axis=1)
    if max_pairs is not None and max_pairs < len(known):
        rng = np.random.Generator(np.random.PCG64(seed_sequence(random_state)))
        known = np.sort(rng.choice(known, max_pairs, replace=False))
    return KappaError(
        kappa[known], error[known], _members(known, selection.n_members), selection.n_members,
        (float(mean_kappa), float(mean_error)), (float(sd_kappa), float(sd_error)),
    )  # fmt: skip


def _members(places: Integers, n_members: int) -> Integers:
    """The members of the pairs at some places of the list (0, 1), (0, 2), ..., (1, 2), ..."""
    before = np.concatenate([[0], np.cumsum(np.arange(n_members - 1, 0, -1))])
    first = np.searchsorted(before, places, side="right") - 1
    return np.column_stack([first, places - before[first] + first + 1])


class KappaErrorDisplay(EnsemblesDisplay):
    """A cloud of pairs of members for each ensemble: diverse on the left, accurate at the bottom.

    The centroid of each cloud is marked. Large clouds are drawn as densities.

    Parameters
    ----------
    clouds : KappaError or dict of str to KappaError
        Clouds from :func:`kappa_error`, of one ensemble or of several by name.

    Attributes
    ----------
    <axes>
    clouds_ : dict of str to PathCollection or PolyCollection
        The points of each ensemble, or the hexagons of its density.
    centroids_ : dict of str to Line2D
        The centroids.

    See Also
    --------
    DiversityDisplay : Ten measures of diversity.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import AdaBoostClassifier, BaggingClassifier
    >>> from orfeon.datasets import make_twonorm
    >>> from orfeon.inspection import KappaErrorDisplay
    >>> X, y = make_twonorm(300, random_state=0)
    >>> ensembles = {
    ...     "bagging": BaggingClassifier(n_estimators=20, random_state=0).fit(X, y),
    ...     "boosting": AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y),
    ... }
    >>> display = KappaErrorDisplay.from_estimator(ensembles, X, y)
    >>> print(display.ax_.get_title())
    Kappa-error diagram: one point per pair of members
    >>> sorted(display.clouds_), len(display.clouds["bagging"])
    (['bagging', 'boosting'], 190)
    >>> matplotlib.pyplot.close(display.figure_)
    """

    _size = (6.4, 4.8)
    _measure = staticmethod(kappa_error)

    clouds_: dict[str, Any]
    centroids_: dict[str, Any]

    def __init__(self, clouds: KappaError | Mapping[str, KappaError]) -> None:
        self.clouds = dict(clouds) if isinstance(clouds, Mapping) else {"members": clouds}
        check_not_empty("clouds", self.clouds)

    def plot(self, ax: Any = None, *, density_above: int = _DENSE) -> Self:
        """Draw the picture.

        Diagrams on the same axes get different colours and markers.

        Parameters
        ----------
        density_above : int, default=20000
            Clouds of more pairs are drawn as a density, in hexagons.
        <ax>
        """
        ax = self._begin(ax)
        drawn = len(ax.get_legend_handles_labels()[1])
        self.clouds_, self.centroids_ = {}, {}
        for place, (name, cloud) in enumerate(self.clouds.items(), start=drawn):
            look = look_of(place)
            draw = self._draw_density if len(cloud) > density_above else self._draw_points
            self.clouds_[name] = draw(cloud, look)
            kappa, error = cloud.centroid[0], 100 * cloud.centroid[1]
            (self.centroids_[name],) = ax.plot(
                [kappa], [error], marker=look.marker, linestyle="", markersize=11, zorder=5,
                markerfacecolor=(look.colour, 0.5), markeredgecolor=INK, markeredgewidth=1.4,
                label=f"{plain(name)}: kappa {kappa:.2f}, error {error:.1f}%",
            )  # fmt: skip
        self._label(any(len(cloud) > density_above for cloud in self.clouds.values()))
        return self._finish()

    def _draw_points(self, cloud: KappaError, look: Look) -> Any:
        _, size, alpha = next(points for points in _POINTS if len(cloud) <= points[0])
        return self.ax_.scatter(
            cloud.kappa, 100 * cloud.error, s=size, marker=look.marker, color=look.colour,
            alpha=alpha, linewidths=0, zorder=3, rasterized=len(cloud) > _POINTS[0][0],
        )  # fmt: skip

    def _draw_density(self, cloud: KappaError, look: Look) -> Any:
        from matplotlib.colors import LinearSegmentedColormap, to_rgba

        shades = LinearSegmentedColormap.from_list(
            "pairs", [to_rgba(tint(look.colour, 1.0), 0.45), to_rgba(look.colour, 0.95)]
        )
        return self.ax_.hexbin(
            cloud.kappa, 100 * cloud.error, gridsize=_HEXAGONS, bins="log", mincnt=1, cmap=shades,
            extent=self._extent(), linewidths=0, zorder=2, rasterized=True,
        )  # fmt: skip

    def _extent(self) -> tuple[float, float, float, float]:
        """The area of all clouds, so that all hexagons have one size."""
        kappa = np.concatenate([cloud.kappa for cloud in self.clouds.values()])
        error = 100 * np.concatenate([cloud.error for cloud in self.clouds.values()])
        # Members that are all the same need some width and height.
        return kappa.min() - 0.01, kappa.max() + 0.01, error.min() - 0.1, error.max() + 0.1

    def _label(self, dense: bool) -> None:
        ax = self.ax_
        what = "darker where there are more pairs" if dense else "one point per pair of members"
        if len(ax.get_legend_handles_labels()[0]) == 1:
            (cloud,) = self.clouds.values()
            what = f"{len(cloud):,} pairs of {cloud.n_members:,} members{', darker: more' * dense}"
        put_title(ax, f"Kappa-error diagram: {what}")
        is_narrow = width_of(ax) < _NARROW
        ax.set_xlabel("kappa of the pair" + ("" if is_narrow else " (0: chance, 1: always agree)"))
        ax.set_ylabel("mean error of the pair, %")
        ax.grid(color=FAINT, linewidth=0.5, zorder=0)
        ax.set_axisbelow(True)
        put_legend(ax, title="centroids", title_fontsize="small", handlelength=1.8)
