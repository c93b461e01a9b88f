"""Coincidence matrices: how far greedy orders find the best subsets.

Exhaustive search gives the best subset of each size, an order of the members only subsets that grow
by one. Two matrices tell how far they coincide. The published one asks for each member: is the one
that the order puts at place j in the best subset of size i? The other compares subsets: what share
of the smaller one is in the larger?

References
----------
Martínez-Muñoz, Hernández-Lobato and Suárez (2009). An analysis of ensemble pruning techniques based
on ordered aggregation. IEEE Transactions on Pattern Analysis and Machine Intelligence 31(2),
245-259.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orfeon.ordering.exhaustive import ExhaustiveSearch
from orfeon.ordering.ordering import Order
from orfeon.utils.types import Floats, Integers

Members = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Coincidence:
    """A coincidence matrix.

    Parameters
    ----------
    values : ndarray of shape (n_row_sizes, n_columns)
        From 0 to 1.
    sizes : ndarray of shape (n_row_sizes,)
        Sizes of the subsets that the rows stand for.
    columns : ndarray of shape (n_columns,)
        Places in the order, from 1; or sizes of other subsets.
    kind : {"members", "subsets"}
        Whether columns are members or subsets.
    n_runs : int, default=1
        Over how many pairs of a search and an order it is the mean.

    Examples
    --------
    >>> from orfeon import order
    >>> from orfeon.inspection import member_coincidence
    >>> from orfeon.ordering import search_exhaustive
    >>> votes = [[1, 0, 1, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0]]
    >>> y = [0, 1, 1, 1, 1]
    >>> greedy = order(votes, y=y, rule="reduce_error")
    >>> found = member_coincidence(search_exhaustive(votes, y=y), greedy)
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
        The best subsets of each size; or those of several runs, over which the mean is taken.
    order : Order or array of shape (n_members,), or sequence of these
        An order of the same members; or one for each run.

    Returns
    -------
    Coincidence
        In row i and column j 1 if the member at place j is in the best subset of ``sizes[i]``, else
        0; or the share of the runs in which it is. Where the order finds the best subsets, row i
        has ``sizes[i]`` ones at the left.

    Notes
    -----
    Where several subsets are best, the search gives the first of them, and an order that finds
    another does not coincide: see ``ExhaustiveSearch.n_optima``.

    Examples
    --------
    >>> from orfeon.inspection import member_coincidence
    >>> from orfeon.ordering import search_exhaustive
    >>> search = search_exhaustive([[0, 1, 1], [1, 0, 0], [0, 1, 0]], y=[0, 0, 0])
    >>> member_coincidence([search, search], [[1, 2, 0], [1, 0, 2]]).values
    array([[1. , 0. , 0. ],
           [1. , 0.5, 0.5],
           [1. , 1. , 1. ]])
    """
    is_one = isinstance(search, ExhaustiveSearch)
    searches = [search] if is_one else _runs("search", search)
    orders = [order] if is_one else _runs("order", order)
    if not searches or len(searches) != len(orders):
        raise ValueError(
            f"search holds {len(searches)} runs and order {len(orders)}; one order for each run, "
            "and at least one run, are expected."
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
    """How far subsets of different sizes coincide.

    Parameters
    ----------
    one : ExhaustiveSearch, Order or array of shape (n_members,)
        The best subsets of each size, or the first members of an order.
    other : ExhaustiveSearch, Order or array of shape (n_members,), optional
        What they are compared with; by default each other.

    Returns
    -------
    Coincidence
        In row i and column j the members that subset i of the one and subset j of the other have in
        common, as a share of the smaller subset: 1 where it is part of the larger. The first
        members of one order have 1 everywhere, and the best subsets only where they are nested.

    Examples
    --------
    >>> from orfeon.inspection import subset_coincidence
    >>> from orfeon.ordering import search_exhaustive
    >>> votes = [[1, 0, 1, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0]]
    >>> subset_coincidence(search_exhaustive(votes, y=[0, 1, 1, 1, 1])).values
    array([[1., 0., 0., 1.],
           [0., 1., 1., 1.],
           [0., 1., 1., 1.],
           [1., 1., 1., 1.]])
    """
    rows, columns = _subsets(one), _subsets(one if other is None else other)
    if rows.shape[1] != columns.shape[1]:
        raise ValueError(
            f"one has {rows.shape[1]} members and other has {columns.shape[1]}; both are of the "
            "same members."
        )
    sizes, others = rows.sum(axis=1), columns.sum(axis=1)
    common = rows.astype(np.int64) @ columns.T.astype(np.int64)
    return Coincidence(common / np.minimum.outer(sizes, others), sizes, others, "subsets")


def _runs(name: str, given: Any) -> list[Any]:
    """What several runs gave."""
    if isinstance(given, Iterable) and not isinstance(given, str | Order):
        return list(given)
    raise TypeError(
        f"{name} is of type {type(given).__name__}; give what search_exhaustive() returns and an "
        "order of the members, or lists of both, one for each run."
    )


def _check_search(given: Any) -> None:
    if not isinstance(given, ExhaustiveSearch):
        raise TypeError(
            f"search holds a {type(given).__name__}; give what search_exhaustive() returns."
        )


def _subsets(given: Any) -> Members:
    """Subsets of growing size as rows of a matrix: whether each member is inside."""
    chosen: Sequence[Integers]
    if isinstance(given, ExhaustiveSearch):
        chosen, n_members = given.subsets, given.n_members
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
