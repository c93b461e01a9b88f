"""Exhaustive search: of all subsets of the members, the best of each size.

T members have 2^T subsets, so this is for up to 40 members. It shows how close greedy orders come
to the optimum, and how the best subsets of different sizes differ.

References
----------
Martínez-Muñoz, Hernández-Lobato and Suárez (2009). An analysis of ensemble pruning techniques based
on ordered aggregation. IEEE Transactions on Pattern Analysis and Machine Intelligence 31(2),
245-259.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.growth.blocks import run_in_blocks
from orfeon.kernels.ordering import subset_search as kernels
from orfeon.members.vote_input import (
    Source,
    is_deprecated_matrix,
    read_ensemble,
    read_votes,
    without_vote_options,
)
from orfeon.ordering.contests import Contests, check_equal_votes, find_contests
from orfeon.ordering.rule import documented
from orfeon.utils.progress import ProgressBar
from orfeon.utils.types import Floats, Integers, Words

#: Maximum number of members: an hour or two with a few hundred samples.
MOST_MEMBERS = 40
#: Members whose subsets are expanded at once: more would not fit into the cache.
_LOW = 11
#: Operations on words between two checks for Ctrl-C, about a twentieth of a second.
_PATIENCE = 5e7
#: Blocks of such parts at most.
_BLOCKS = 4096


@dataclass(frozen=True, eq=False)
class ExhaustiveSearch:
    """The best subsets of each size.

    Parameters
    ----------
    n_members : int
        Number of members that subsets were drawn from.
    sizes : ndarray of shape (n_sizes,)
        The sizes searched: all, or the odd ones.
    error_curve : ndarray of shape (n_sizes,)
        For each size the lowest error of a subset on the selection samples.
    n_optima : ndarray of shape (n_sizes,)
        How many subsets of each size have that error.
    subsets : tuple of ndarray
        One of these for each size: the first in lexicographic order. Members are in ascending
        order.
    packed : tuple of ndarray or None
        The votes, to search again for the best subsets most like an order.

    Examples
    --------
    >>> from orfeon.ordering import search_exhaustive_votes
    >>> votes = [[1, 0, 1, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0]]
    >>> search = search_exhaustive_votes(votes, [0, 1, 1, 1, 1])
    >>> search.error_curve, search.n_optima
    (array([0.4, 0.6, 0.4, 0.8]), array([1, 2, 1, 1]))
    >>> search.subset(1), search.subset(3)
    (array([1]), array([0, 2, 3]))
    """

    n_members: int
    sizes: Integers
    error_curve: Floats
    n_optima: Integers
    subsets: tuple[Integers, ...]
    packed: _Packed | None = field(default=None, repr=False)

    def subset(self, size: int) -> Integers:
        """One best subset of a size.

        Parameters
        ----------
        size : int
            How many members; one of ``sizes``.

        Returns
        -------
        ndarray of shape (size,)
            Its members, in ascending order.
        """
        sizes: list[int] = self.sizes.tolist()
        if size not in sizes:
            kind = "an odd number" if len(sizes) < self.n_members else "a number"
            raise ValueError(
                f"size={size!r} was not searched; it is {kind} from 1 to {self.n_members}."
            )
        return self.subsets[sizes.index(size)]

    def subsets_like(
        self, order: Any, *, n_jobs: int | None = None, verbose: int | bool = 0
    ) -> tuple[Integers, ...]:
        """For each size, the best subset that is most like an order.

        Parameters
        ----------
        order : Order or array of shape (n_members,)
            An order of the same members, best first.
        n_jobs, verbose
            As for :func:`search_exhaustive`: where several subsets are equally good, all are
            searched again.

        Returns
        -------
        tuple of ndarray
            For each of ``sizes`` the best subset that shares the most members with as many first
            members of the order; of several the first.
        """
        places = self._places(order)
        if self.packed is None or not (self.n_optima > 1).any():
            return self.subsets
        firsts = getattr(order, "subsets", None)
        if firsts is None:
            firsts = [places[:size] for size in range(1, self.n_members + 1)]
        like = np.array([0, *(_code(first, self.n_members) for first in firsts)], np.int64)
        found = _search(self.packed, self.n_members, n_jobs, verbose, like)
        return tuple(_members(int(code), self.n_members) for code in found.code[self.sizes])

    def coincidence(self, order: Any) -> npt.NDArray[np.int64]:
        """Which members of an order are in the best subsets.

        Parameters
        ----------
        order : Order or array of shape (n_members,)
            An order of the same members, best first.

        Returns
        -------
        ndarray of shape (n_sizes, n_members)
            1 in row i and column j if the member that the order puts at place j is in the best
            subset of size ``sizes[i]``, else 0; if several subsets are best, the one most like the
            order counts (see :meth:`subsets_like`). Where the first members of the order are a best
            subset, the ones of row i are on the left.

        Examples
        --------
        >>> from orfeon.ordering import order_votes, search_exhaustive_votes
        >>> votes = [[1, 0, 1, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0]]
        >>> y = [0, 1, 1, 1, 1]
        >>> greedy = order_votes(votes, y, rule="reduce_error")
        >>> greedy.order
        array([1, 0, 2, 3])
        >>> search_exhaustive_votes(votes, y).coincidence(greedy)
        array([[1, 0, 0, 0],
               [0, 1, 1, 0],
               [0, 1, 1, 1],
               [1, 1, 1, 1]])
        """
        places, subsets = self._places(order), self.subsets_like(order)
        return np.array([np.isin(places, subset) for subset in subsets], dtype=np.int64)

    def _places(self, order: Any) -> Integers:
        places = np.asarray(getattr(order, "order", order))
        if places.shape != (self.n_members,) or not np.array_equal(
            np.sort(places), np.arange(self.n_members)
        ):
            raise ValueError(
                f"order={order!r} is not allowed; each of the {self.n_members} members must be in "
                "it once."
            )
        return places


@documented
def search_exhaustive(
    ensemble: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    no_vote: Any = None,
    sizes: Literal["all", "odd"] = "all",
    n_jobs: int | None = None,
    verbose: int | bool = 0,
) -> ExhaustiveSearch:
    """Search all subsets of the members for the best of each size.

    The best subset is the one whose vote has the lowest error on the selection samples. All subsets
    are tried: the time doubles with each member, and grows with the number of distinct samples.

    Parameters
    ----------
    <ensemble>
        At most 40 members.
    X : array or data frame of shape (n_samples, n_features)
        The selection samples.
    y : array of shape (n_samples,)
        Their labels.
    <sample_weight>
    no_vote : optional
        Deprecated, for :func:`search_exhaustive_votes`.
    sizes : {"all", "odd"}, default="all"
        Which sizes to report. Odd sizes have no ties between two classes.
    n_jobs : int, optional
        Threads; the result does not depend on it.
    verbose : int or bool, default=0
        Whether to show a progress bar.

    Returns
    -------
    ExhaustiveSearch
        Lowest error, number of best subsets and one of them, for each size.

    See Also
    --------
    search_exhaustive_votes : The same from a matrix of votes.
    search_genetic : Searches some of the subsets, of any number of members.

    Examples
    --------
    >>> from orfeon import BaggingClassifier, CARTClassifier, order
    >>> from orfeon.ordering import search_exhaustive
    >>> from orfeon.datasets import make_waveform
    >>> X, y = make_waveform(300, random_state=0)
    >>> bag = BaggingClassifier(CARTClassifier(pruning="cv"), 15, random_state=0).fit(X, y)
    >>> search_exhaustive(bag, X, y).error_curve[[0, 4, 9, 14]].round(3)
    array([0.157, 0.08 , 0.083, 0.14 ])
    >>> order(bag, X, y, rule="reduce_error").error_curve[[0, 4, 9, 14]].round(3)
    array([0.157, 0.103, 0.083, 0.14 ])
    """
    if is_deprecated_matrix(ensemble, X, "search_exhaustive"):
        return search_exhaustive_votes(
            ensemble, y, sample_weight=sample_weight, no_vote=no_vote, sizes=sizes, n_jobs=n_jobs,
            verbose=verbose,
        )  # fmt: skip
    without_vote_options({"no_vote": no_vote}, "search_exhaustive_votes")
    return _search_all(read_ensemble(ensemble, X, y, sample_weight), sizes, n_jobs, verbose)


@documented
def search_exhaustive_votes(
    votes: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    no_vote: Any = None,
    sizes: Literal["all", "odd"] = "all",
    n_jobs: int | None = None,
    verbose: int | bool = 0,
) -> ExhaustiveSearch:
    """Search all subsets of the members of a matrix of votes for the best of each size.

    Parameters
    ----------
    <votes>
        At most 40 members.
    <y_of_votes>
    <sample_weight>
    <no_vote>
        A subset is wrong on a sample where none of its members votes.
    sizes, n_jobs, verbose
        As for :func:`search_exhaustive`.

    Returns
    -------
    ExhaustiveSearch
        Lowest error, number of best subsets and one of them, for each size.

    Examples
    --------
    >>> from orfeon.ordering import search_exhaustive_votes
    >>> votes = [[1, 0, 1, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0]]
    >>> search_exhaustive_votes(votes, [0, 1, 1, 1, 1]).subset(3)
    array([0, 2, 3])
    """
    source = read_votes(votes, y, sample_weight, no_vote=no_vote)
    return _search_all(source, sizes, n_jobs, verbose)


def _search_all(
    source: Source, sizes: str, n_jobs: int | None, verbose: int | bool
) -> ExhaustiveSearch:
    if sizes not in ("all", "odd"):
        raise ValueError(f'sizes={sizes!r} is not allowed; use "all" or "odd".')
    selection = check_equal_votes(source.selection)
    n_members = selection.n_members
    if n_members > MOST_MEMBERS:
        raise ValueError(
            f"There are {n_members} members, which have {2**n_members - 1:.2g} subsets; at most "
            f"{MOST_MEMBERS} members can be searched exhaustively. search_genetic() and order() "
            "take any number."
        )
    contests = find_contests(selection)
    packed = _pack(contests)
    found = _search(packed, n_members, n_jobs, verbose)
    shown = np.arange(1, n_members + 1, 1 if sizes == "all" else 2)
    wrong = contests.total_weight - contests.always_right - found.right[shown]
    return ExhaustiveSearch(
        n_members=n_members,
        sizes=shown,
        error_curve=wrong / contests.total_weight,
        n_optima=found.n_best[shown],
        subsets=tuple(_members(int(code), n_members) for code in found.code[shown]),
        packed=packed,
    )


def _members(code: int, n_members: int) -> Integers:
    """Members of the subset of a number; the first member is its highest bit."""
    inside = [t for t in range(n_members) if code >> (n_members - 1 - t) & 1]
    return np.array(inside, dtype=np.int64)


def _code(members: Sequence[int] | Integers, n_members: int) -> int:
    """Number of the subset of some members."""
    return sum(1 << (n_members - 1 - int(t)) for t in members)


class _Best(NamedTuple):
    """By size, from 0: the most weight that a subset gets right, how many subsets do, and one."""

    right: Integers
    n_best: Integers
    code: Integers

    @staticmethod
    def of_nothing(n_members: int) -> _Best:
        """Before any subset has been tried."""
        zeros = np.zeros(n_members + 1, np.int64)
        return _Best(zeros - 1, zeros.copy(), zeros.copy())

    def and_also(self, later: _Best, like: Integers) -> _Best:
        """The better ones of two runs, the second with higher numbers."""
        most = np.maximum(self.right, later.right)
        mine, theirs = self.right == most, later.right == most
        # Among subsets of a size, the greatest number has the lowest members.
        is_liker = np.ones(len(most), bool)
        if len(like):
            is_liker = _n_shared(later.code, like) >= _n_shared(self.code, like)
        return _Best(
            most,
            self.n_best * mine + later.n_best * theirs,
            np.where(theirs & (is_liker | ~mine), later.code, self.code),
        )


def _n_shared(codes: Integers, others: Integers) -> Integers:
    """How many members two subsets share, for each pair of numbers."""
    return np.array([bin(both).count("1") for both in (codes & others).tolist()])


class _Packed(NamedTuple):
    """Contests of 64 samples to a word: the arguments of the kernel."""

    start: Words
    gains: Words
    keeps: Words
    words: Integers
    planes: Integers
    mask: Words
    shift: Words


def _search(
    packed: _Packed,
    n_members: int,
    n_jobs: int | None,
    verbose: int | bool,
    like: Integers | None = None,
) -> _Best:
    """The best of each size; of several the one that shares most members with ``like``."""
    like = np.zeros(0, np.int64) if like is None else like
    n_low = min(_LOW, n_members)
    cost = 1 + len(packed.start)
    n_part = int(np.clip(np.log2(_PATIENCE / cost), n_low, n_members))
    parts = range(1 << (n_members - n_part))
    given_up = threading.Event()

    def work(block: slice) -> _Best:
        best = _Best.of_nothing(n_members)
        # Counting bits uses a product that overflows, about which plain Python would warn.
        with np.errstate(over="ignore"):
            for part in range(block.start, block.stop):
                if given_up.is_set():
                    break
                kernels.search_part(part, n_part, n_low, *packed, like, *best)
        return best

    try:
        with ProgressBar(1 << n_members, verbose=verbose, label="Exhaustive search") as bar:
            blocks = run_in_blocks(
                work, parts, n_jobs, lambda n: bar.update(n << n_part),
                most=max(1, len(parts) // _BLOCKS),
            )  # fmt: skip
    except BaseException:
        given_up.set()  # or other threads would finish their blocks first
        raise
    return functools.reduce(lambda one, later: one.and_also(later, like), blocks)


def _pack(contests: Contests) -> _Packed:
    """Put the samples into words; each word has a row for each round that its first one is in."""
    n_members = contests.n_members
    n_words = -(-contests.round_sizes // 64)
    height = (np.arange(n_words.max(initial=0))[:, None] < n_words).sum(axis=1)
    words = np.concatenate([[0], np.cumsum(height)]).astype(np.int64)
    gains, loses = (np.zeros((n_members, words[-1]), np.uint64) for _ in range(2))
    handicap = np.zeros((1, words[-1]), np.uint64)
    for turn, here in enumerate(contests.rounds):
        rows = words[: n_words[turn]] + turn
        # The first member is the highest bit of a subset's number.
        signs = contests.signs[::-1, here]
        gains[:, rows], loses[:, rows] = _as_words(signs > 0), _as_words(signs < 0)
        handicap[:, rows] = _as_words(contests.needed[None, here] > 0)
    # No class leads yet. A sample without a contest in a row never has one there, and needs no
    # lead.
    start = np.zeros((words[-1], 2 * n_members + 3), np.uint64)
    start[:, : n_members + 1] = ~np.uint64(0)
    start[:, n_members + 1] = ~handicap[0]
    return _Packed(start, gains, ~loses, words, *_planes(contests.weights))


def _as_words(bits: npt.NDArray[np.bool_]) -> Words:
    """Rows of bits, 64 to a word, the first one lowest."""
    padded = np.zeros((len(bits), -(-bits.shape[1] // 64) * 64), bool)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def _planes(weights: Integers) -> tuple[Integers, Words, Words]:
    """Weights of 64 samples at a time, bit by bit: where planes begin, the bits, their powers."""
    start, mask, shift = [0], [], []
    for first in range(0, len(weights), 64):
        some = weights[first : first + 64]
        for power in range(int(some.max()).bit_length()):
            plane = _as_words((some[None] >> power) % 2 > 0)[0, 0]
            if plane:
                mask.append(plane)
                shift.append(power)
        start.append(len(mask))
    return np.array(start, np.int64), np.array(mask, np.uint64), np.array(shift, np.uint64)
