"""The picture of a coincidence matrix."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from orfeon.inspection._fitting import make_room
from orfeon.inspection.coincidence import Coincidence, member_coincidence, subset_coincidence
from orfeon.ordering.exhaustive import ExhaustiveSearch, search_exhaustive
from orfeon.ordering.ordering import order as put_in_order
from orfeon.ordering.rule import Rule
from orfeon.rendering.figure import axes_for, put_title
from orfeon.rendering.palette import class_colours

Kind = Literal["members", "subsets"]

#: Width and height in inches of a new figure.
_SIZE = (5.2, 4.6)
_VERMILLION = class_colours(6)[5]


class CoincidenceDisplay:
    """A coincidence matrix, darker where more coincides.

    For members there is a stair: left of it a perfect order is all dark, and right of it all
    light.

    Parameters
    ----------
    data : Coincidence
        The matrix, see :func:`member_coincidence` and :func:`subset_coincidence`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    mesh_ : matplotlib QuadMesh
        The matrix.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from orfeon import BaggingClassifier, CARTClassifier
    >>> from orfeon.datasets import make_waveform
    >>> from orfeon.inspection import CoincidenceDisplay
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(CARTClassifier(pruning="cv"), 15, random_state=0).fit(X, y)
    >>> display = CoincidenceDisplay.from_estimator(bag, X, y)
    >>> display.data.values.shape
    (15, 15)
    >>> matplotlib.pyplot.close(display.figure_)
    """

    ax_: Any
    figure_: Any
    mesh_: Any

    def __init__(self, data: Coincidence) -> None:
        self.data = data

    @classmethod
    def from_estimator(
        cls,
        ensemble: Any,
        X: Any,
        y: Any,
        *,
        rule: str | Rule | None = "reduce_error",
        kind: Kind = "members",
        sizes: Literal["all", "odd"] = "all",
        sample_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
        ax: Any = None,
    ) -> Self:
        """Search the best subsets of an ensemble, and draw how an order coincides with them.

        Parameters
        ----------
        ensemble : fitted ensemble or list of estimators
            The ensemble, of at most 40 members; the time doubles with each.
        X : array or data frame of shape (n_samples, n_features)
            The selection samples.
        y : array of shape (n_samples,)
            Their classes.
        rule : str, Rule or None, default="reduce_error"
            The rule that puts the members in order; with ``kind="subsets"``, None compares the best
            subsets with each other.
        kind : {"members", "subsets"}, default="members"
            Whether members of the order are looked for in the best subsets, or its first members
            are compared with them as subsets.
        sizes, sample_weight, n_jobs, verbose
            As for :func:`orfeon.ordering.search_exhaustive`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        CoincidenceDisplay
            What was drawn.
        """
        given = {"X": X, "y": y, "sample_weight": sample_weight}
        search = search_exhaustive(ensemble, sizes=sizes, n_jobs=n_jobs, verbose=verbose, **given)
        made = None if rule is None else put_in_order(ensemble, rule=rule, **given)
        return cls.from_search(search, made, kind=kind, ax=ax)

    @classmethod
    def from_votes(
        cls,
        votes: Any,
        y: Any,
        *,
        rule: str | Rule | None = "reduce_error",
        kind: Kind = "members",
        sizes: Literal["all", "odd"] = "all",
        sample_weight: Any = None,
        no_vote: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
        ax: Any = None,
    ) -> Self:
        """Search the best subsets of a matrix of votes, and draw how an order coincides with them.

        Parameters
        ----------
        votes : array of shape (n_members, n_samples)
            Labels that each member votes for; at most 40 members.
        y, rule, kind
            As for :meth:`from_estimator`.
        sizes, sample_weight, no_vote, n_jobs, verbose
            As for :func:`orfeon.ordering.search_exhaustive`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        CoincidenceDisplay
            What was drawn.
        """
        given = {"y": y, "sample_weight": sample_weight, "no_vote": no_vote}
        search = search_exhaustive(votes, sizes=sizes, n_jobs=n_jobs, verbose=verbose, **given)
        made = None
        if rule is not None:
            made = put_in_order(votes, rule=rule, task="classification", **given)
        return cls.from_search(search, made, kind=kind, ax=ax)

    @classmethod
    def from_search(
        cls,
        search: ExhaustiveSearch | Any,
        order: Any = None,
        *,
        kind: Kind = "members",
        ax: Any = None,
    ) -> Self:
        """Draw how an order coincides with the best subsets.

        Parameters
        ----------
        search : ExhaustiveSearch
            The best subsets; or, for members, those of several runs.
        order : Order or array of shape (n_members,), optional
            The order; or those of several runs. With ``kind="subsets"`` the best subsets are
            compared with each other by default.
        kind : {"members", "subsets"}, default="members"
            As for :meth:`from_estimator`.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        CoincidenceDisplay
            What was drawn.
        """
        if kind not in ("members", "subsets"):
            raise ValueError(f'kind={kind!r} is not allowed; use "members" or "subsets".')
        if kind == "subsets":
            return cls(subset_coincidence(search, order)).plot(ax)
        if order is None:
            raise ValueError('kind="members" needs an order, whose members are looked for.')
        return cls(member_coincidence(search, order)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        CoincidenceDisplay
            The display, with what was drawn.
        """
        data = self.data
        self.ax_ = ax = axes_for(type(self).__name__, ax, _SIZE)
        self.figure_ = ax.figure
        from matplotlib import colormaps  # axes_for has said what to do where it is not there

        n_rows, n_columns = data.values.shape
        is_binary = data.kind == "members" and data.n_runs == 1
        self.mesh_ = ax.pcolormesh(
            np.arange(n_columns + 1), np.arange(n_rows + 1), data.values, vmin=0.0, vmax=1.0,
            cmap=colormaps["Blues"].resampled(2 if is_binary else 256), edgecolors="white",
            linewidth=0.4 if n_columns <= 25 else 0.0,
        )  # fmt: skip
        ax.set_ylim(n_rows, 0)
        ax.set_aspect(n_columns / n_rows)
        if data.kind == "members":
            edge = np.repeat(data.sizes, 2)
            at = np.repeat(np.arange(n_rows + 1), 2)[1:-1]
            ax.plot(edge, at, color=_VERMILLION, linewidth=1.4, label="as many places as members")
        self._label()
        make_room(self.ax_)
        return self

    def _label(self) -> None:
        """Say what is seen."""
        ax, data = self.ax_, self.data
        is_members = data.kind == "members"
        for axis, numbers in ((ax.xaxis, data.columns), (ax.yaxis, data.sizes)):
            every = max(1, -(-len(numbers) // 8))
            axis.set_ticks(np.arange(0, len(numbers), every) + 0.5, numbers[::every].tolist())
        ax.set_xlabel("place in the order" if is_members else "size of the other subset")
        ax.set_ylabel("size of the best subset" if is_members else "size of the one subset")
        put_title(ax, self._title())
        if is_members and data.n_runs == 1:
            bar = self.figure_.colorbar(self.mesh_, ax=ax, label="in the best subset", shrink=0.9)
            bar.set_ticks([0.25, 0.75], labels=["no", "yes"])
            return
        name = "share of the runs" if is_members else "share of the smaller subset"
        self.figure_.colorbar(self.mesh_, ax=ax, label=name, ticks=[0.0, 0.5, 1.0], shrink=0.9)

    def _title(self) -> str:
        data = self.data
        if data.kind == "subsets":
            others = data.values[data.sizes[:, None] != data.columns]
            mean = float(others.mean()) if others.size else 1.0
            return f"On average {mean:.0%} of the smaller of two subsets are in the larger"
        # The whole ensemble is found by any order.
        found = data.found[data.sizes < len(data.columns)]
        mean = float(found.mean()) if found.size else 1.0
        runs = f" ({data.n_runs} runs)" if data.n_runs > 1 else ""
        return f"On average {mean:.0%} of a best subset are among as many first members{runs}"
