"""Coincidence matrices: how often greedy orders find the best subsets.

Exhaustive search gives the best subset of each size; an order of the members gives only subsets
that grow by one. Two matrices compare them. The published one looks at members: is the member at
place j of the order in the best subset of size i? The other compares subsets: what share of the
smaller one is in the larger?

References
----------
Martínez-Muñoz, Hernández-Lobato and Suárez (2009). An analysis of ensemble pruning techniques based
on ordered aggregation. IEEE Transactions on Pattern Analysis and Machine Intelligence 31(2),
245-259.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from orfeon.inspection.display import check_choice
from orfeon.ordering.exhaustive import ExhaustiveSearch, search_exhaustive, search_exhaustive_votes
from orfeon.ordering.order_type import Order
from orfeon.ordering.ordering import order as put_in_order
from orfeon.ordering.ordering import order_votes
from orfeon.ordering.rule import Rule
from orfeon.rendering.display import Display
from orfeon.rendering.figure import put_title
from orfeon.rendering.palette import class_colours
from orfeon.utils.types import Floats, Integers, Mask


@dataclass(frozen=True, eq=False)
class Coincidence:
    """A coincidence matrix.

    Parameters
    ----------
    values : ndarray of shape (n_row_sizes, n_columns)
        From 0 to 1.
    sizes : ndarray of shape (n_row_sizes,)
        Sizes of the subsets in the rows.
    columns : ndarray of shape (n_columns,)
        Places in the order, from 1; or sizes of other subsets.
    kind : {"members", "subsets"}
        What the columns are.
    n_runs : int, default=1
        Number of pairs of a search and an order that were averaged.

    Examples
    --------
    >>> from orfeon.ordering import order_votes
    >>> from orfeon.inspection import member_coincidence
    >>> from orfeon.ordering import search_exhaustive_votes
    >>> votes = [[1, 0, 1, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0]]
    >>> y = [0, 1, 1, 1, 1]
    >>> greedy = order_votes(votes, y, rule="reduce_error")
    >>> found = member_coincidence(search_exhaustive_votes(votes, y), greedy)
    >>> found.values
    array([[1., 0., 0., 0.],
           [0., 1., 1., 0.],
           [0., 1., 1., 1.],
           [1., 1., 1., 1.]])
    >>> found.found
    array([1.        , 0.5       , 0.66666667, 1.        ])
    """

    values: Floats
    sizes: Integers
    columns: Integers
    kind: Literal["members", "subsets"]
    n_runs: int = 1

    @property
    def found(self) -> Floats:
        """For each size, the share of the best subset that is among as many members of the order.

        For subsets, the share in common of the two of the same size; NaN where there is none.
        """
        if self.kind == "members":
            return np.array([
                row[:size].mean() for row, size in zip(self.values, self.sizes, strict=True)
            ])  # fmt: skip
        place = {size: column for column, size in enumerate(self.columns.tolist())}
        return np.array([
            row[place[size]] if size in place else np.nan
            for row, size in zip(self.values, self.sizes.tolist(), strict=True)
        ])  # fmt: skip


def member_coincidence(search: Any, order: Any) -> Coincidence:
    """Which members of an order are in the best subsets: the published matrix.

    Parameters
    ----------
    search : ExhaustiveSearch, or sequence of ExhaustiveSearch
        The best subsets of each size; or those of several runs, to be averaged.
    order : Order or array of shape (n_members,), or sequence of these
        An order of the same members; or one for each run.

    Returns
    -------
    Coincidence
        In row i and column j 1 if the member at place j is in the best subset of ``sizes[i]``, else
        0; or the share of runs in which it is. Where the order finds the best subsets, row i
        begins with ``sizes[i]`` ones.

    Notes
    -----
    If several subsets are equally good (see ``ExhaustiveSearch.n_optima``), the one most like the
    order counts, and all subsets are searched again to find it.

    Examples
    --------
    >>> from orfeon.inspection import member_coincidence
    >>> from orfeon.ordering import search_exhaustive_votes
    >>> search = search_exhaustive_votes([[0, 1, 1], [1, 0, 0], [0, 1, 0]], [0, 0, 0])
    >>> member_coincidence([search, search], [[1, 2, 0], [1, 0, 2]]).values
    array([[1., 0., 0.],
           [1., 1., 0.],
           [1., 1., 1.]])
    """
    is_one = isinstance(search, ExhaustiveSearch)
    searches = [search] if is_one else _runs("search", search)
    orders = [order] if is_one else _runs("order", order)
    if not searches or len(searches) != len(orders):
        raise ValueError(
            f"search holds {len(searches)} runs and order {len(orders)}; one order per run "
            "and at least one run are expected."
        )
    for one in searches:
        _check_search(one)
        if (
            not np.array_equal(one.sizes, searches[0].sizes)
            or one.n_members != searches[0].n_members
        ):
            raise ValueError(
                f"search holds runs over {one.n_members} members, sizes {one.sizes.tolist()}, and "
                f"over {searches[0].n_members}, sizes {searches[0].sizes.tolist()}; all runs must "
                "have the same."
            )
    each = [one.coincidence(its) for one, its in zip(searches, orders, strict=True)]
    places = np.arange(1, searches[0].n_members + 1)
    values = np.asarray(np.mean(each, axis=0, dtype=np.float64))
    return Coincidence(values, searches[0].sizes.copy(), places, "members", len(each))


def subset_coincidence(one: Any, other: Any = None) -> Coincidence:
    """How much subsets of different sizes overlap.

    Parameters
    ----------
    one : ExhaustiveSearch, Order or array of shape (n_members,)
        The best subsets of each size, or the first members of an order. Of several best subsets the
        one most like the order that they are compared with counts.
    other : ExhaustiveSearch, Order or array of shape (n_members,), optional
        What to compare them with; by default each other.

    Returns
    -------
    Coincidence
        In row i and column j the members that subset i of ``one`` and subset j of ``other`` share,
        as a fraction of the smaller subset: 1 where it is part of the larger. The first members
        of one order have 1 everywhere, the best subsets only where they are nested.

    Examples
    --------
    >>> from orfeon.inspection import subset_coincidence
    >>> from orfeon.ordering import search_exhaustive_votes
    >>> votes = [[1, 0, 1, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0]]
    >>> subset_coincidence(search_exhaustive_votes(votes, [0, 1, 1, 1, 1])).values
    array([[1., 0., 0., 1.],
           [0., 1., 1., 1.],
           [0., 1., 1., 1.],
           [1., 1., 1., 1.]])
    """
    other = one if other is None else other
    rows, columns = _subsets(one, other), _subsets(other, one)
    if rows.shape[1] != columns.shape[1]:
        raise ValueError(
            f"one has {rows.shape[1]} members and other has {columns.shape[1]}; both must be "
            "about the same members."
        )
    sizes, others = rows.sum(axis=1), columns.sum(axis=1)
    common = rows.astype(np.int64) @ columns.T.astype(np.int64)
    return Coincidence(common / np.minimum.outer(sizes, others), sizes, others, "subsets")


def _runs(name: str, given: Any) -> list[Any]:
    if isinstance(given, Iterable) and not isinstance(given, str | Order):
        return list(given)
    raise TypeError(
        f"{name} is of type {type(given).__name__}; give what search_exhaustive() returns and an "
        "order of the members, or lists of both, one per run."
    )


def _check_search(given: Any) -> None:
    if not isinstance(given, ExhaustiveSearch):
        raise TypeError(
            f"search holds a {type(given).__name__}; give what search_exhaustive() returns."
        )


def _subsets(given: Any, other: Any) -> Mask:
    """Subsets of growing size as rows of a matrix: whether each member is inside."""
    chosen: Sequence[Integers]
    if isinstance(given, ExhaustiveSearch):
        is_order = not isinstance(other, ExhaustiveSearch)
        fits = is_order and np.size(getattr(other, "order", other)) == given.n_members
        chosen = given.subsets_like(other) if fits else given.subsets
        n_members = given.n_members
    elif isinstance(given, Order) and given.subsets is not None:
        chosen, n_members = given.subsets, len(given)
    else:
        order = np.asarray(getattr(given, "order", given))
        n_members = order.size
        if order.ndim != 1 or not np.array_equal(np.sort(order), np.arange(n_members)):
            raise ValueError(
                f"{given!r} is not allowed; give an ExhaustiveSearch, an Order or an order of the "
                "members, each once."
            )
        chosen = [order[:size] for size in range(1, n_members + 1)]
    inside = np.zeros((len(chosen), n_members), bool)
    for row, some in zip(inside, chosen, strict=True):
        row[some] = True
    return inside


Kind = Literal["members", "subsets"]

_VERMILLION = class_colours(6)[5]


class CoincidenceDisplay(Display):
    """A coincidence matrix, darker where more coincides.

    For members there is a staircase: a perfect order is dark left of it and light right of it.

    Parameters
    ----------
    data : Coincidence
        The matrix, see :func:`member_coincidence` and :func:`subset_coincidence`.

    Attributes
    ----------
    <axes>
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

    _size = (5.2, 4.6)

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
        sample_weight: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Search the best subsets of an ensemble, and draw how an order coincides with them.

        Parameters
        ----------
        ensemble : fitted ensemble or list of estimators
            The ensemble, of at most 40 members; each one doubles the time.
        X, y, sample_weight
            The selection samples.
        rule : str, Rule or None, default="reduce_error"
            The rule that orders the members; with ``kind="subsets"``, None compares the best
            subsets with each other.
        kind : {"members", "subsets"}, default="members"
            Whether to look for members of the order in the best subsets, or to compare its first
            members with them as subsets.
        **options
            ``sizes``, ``n_jobs`` and ``verbose``, as for :func:`orfeon.ordering.search_exhaustive`.
        <ax>
        """
        given = {"X": X, "y": y, "sample_weight": sample_weight}
        search = search_exhaustive(ensemble, **given, **options)
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
        sample_weight: Any = None,
        no_vote: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Search the best subsets of a matrix of votes, and draw how an order coincides with them.

        Parameters
        ----------
        votes : array of shape (n_members, n_samples)
            Labels that each member votes for; at most 40 members.
        y, rule, kind, sample_weight, **options
            As for :meth:`from_estimator`.
        no_vote : optional
            The value that means "does not vote".
        <ax>
        """
        given = {"y": y, "sample_weight": sample_weight, "no_vote": no_vote}
        search = search_exhaustive_votes(votes, **given, **options)
        made = None
        if rule is not None:
            made = order_votes(votes, rule=rule, task="classification", **given)
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
        <ax>
        """
        check_choice("kind", kind, ("members", "subsets"))
        if kind == "subsets":
            return cls(subset_coincidence(search, order)).plot(ax)
        if order is None:
            raise ValueError('kind="members" needs an order.')
        return cls(member_coincidence(search, order)).plot(ax)

    def _draw(self) -> None:
        data = self.data
        ax = self.ax_
        from matplotlib import colormaps

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

    def _label(self) -> None:
        ax, data = self.ax_, self.data
        is_members = data.kind == "members"
        for axis, numbers in ((ax.xaxis, data.columns), (ax.yaxis, data.sizes)):
            every = max(1, -(-len(numbers) // 8))
            axis.set_ticks(np.arange(0, len(numbers), every) + 0.5, numbers[::every].tolist())
        ax.set_xlabel("place in the order" if is_members else "size of the other subset")
        ax.set_ylabel("size of the best subset" if is_members else "size of one subset")
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
            return f"On average {mean:.0%} of the smaller of two subsets is in the larger"
        # Any order finds the whole ensemble.
        found = data.found[data.sizes < len(data.columns)]
        mean = float(found.mean()) if found.size else 1.0
        runs = f" ({data.n_runs} runs)" if data.n_runs > 1 else ""
        return f"On average {mean:.0%} of a best subset is among as many first members{runs}"
