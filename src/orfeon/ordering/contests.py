"""A vote as contests: the true class against each class that any member votes for instead.

The vote of a sub-ensemble is right on an example when the true class wins all its contests there.
That needs no counters of all classes, and most examples have few contests or none. Searches that
try very many subsets start from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.votes.selection import NO_VOTE, Selection
from orfeon.votes.source import read_source

Integers = npt.NDArray[np.int64]

#: The opponent in a contest against silence: the true class needs a vote.
_SILENCE = -2


@dataclass(frozen=True)
class Contests:
    """The contests of all examples on which the choice of members matters, in rounds.

    Each example has one contest in round 0, and one more in each round until its opponents are
    used up. Those with most contests come first, so that the contests of a round belong to the
    first examples. Examples that are the same to all members are one, with the sum of their
    weights; those that all subsets get right, or none, have no contests and are left out.

    Parameters
    ----------
    signs : ndarray of int8 of shape (n_members, n_contests)
        +1 where a member votes for the true class, -1 where it votes for the opponent, else 0;
        round after round.
    needed : ndarray of int8 of shape (n_contests,)
        The lead that the true class needs: 0, or 1 where a tie goes to the opponent.
    round_sizes : ndarray of int64 of shape (n_rounds,)
        How many examples, from the first, have a contest in each round.
    weights : ndarray of int64 of shape (n_examples,)
        Weights of the examples.
    always_right : int
        Weight of the examples that every subset gets right.
    total_weight : int
        Weight of all examples.

    Examples
    --------
    >>> from orfeon.ordering import read_selection
    >>> from orfeon.ordering.contests import find_contests
    >>> votes = [[0, 1, 1, 2], [0, 0, 1, 2], [0, 2, 1, 2]]
    >>> contests = find_contests(read_selection(votes, [0, 1, 1, 0]))
    >>> contests.signs.tolist(), contests.needed.tolist(), contests.round_sizes.tolist()
    ([[1, 1], [-1, 0], [0, -1]], [1, 0], [1, 1])
    >>> contests.weights.tolist(), contests.always_right, contests.total_weight
    ([1], 2, 4)
    """

    signs: npt.NDArray[np.int8]
    needed: npt.NDArray[np.int8]
    round_sizes: Integers
    weights: Integers
    always_right: int
    total_weight: int

    @property
    def n_members(self) -> int:
        """Number of members."""
        return int(self.signs.shape[0])

    @property
    def rounds(self) -> list[slice]:
        """Where the contests of each round are."""
        ends = np.cumsum(self.round_sizes).tolist()
        return [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]


def read_votes(
    members_or_votes: Any, X: Any, y: Any, sample_weight: Any, no_vote: Any
) -> Selection:
    """What members with equal votes say of the selection examples.

    Parameters
    ----------
    members_or_votes, X, y, sample_weight, no_vote
        As for :func:`orfeon.order`.

    Returns
    -------
    Selection
        The votes; regression and weighted votes are refused.

    Examples
    --------
    >>> from orfeon.ordering.contests import read_votes
    >>> read_votes([["a", "b"], ["b", "b"]], None, ["a", "b"], None, None).said.tolist()
    [[0, 1], [1, 1]]
    """
    selection = read_source(members_or_votes, X, y, sample_weight, no_vote=no_vote).selection
    if selection.is_regression:
        raise ValueError(
            "y holds numbers with fractions, or the members predict numbers; subsets are searched "
            'for votes only. order(..., rule="reduce_error") orders members that predict numbers.'
        )
    if selection.member_weights is not None:
        raise ValueError(
            "The members of this ensemble vote with different weights; subsets are searched for "
            "equal votes only. Give the matrix of their votes to search as if they were equal."
        )
    return selection


def find_contests(selection: Selection) -> Contests:
    """Find the contests that decide the vote of any subset of the members.

    Parameters
    ----------
    selection : Selection
        What the members say; each has one vote.

    Returns
    -------
    Contests
        The contests. A member that does not vote on an example is 0 in all its contests; where a
        subset may be silent altogether, the true class has to win against silence too.

    Examples
    --------
    >>> from orfeon.ordering import read_selection
    >>> from orfeon.ordering.contests import find_contests
    >>> contests = find_contests(read_selection([[0, 1], [1, -1]], [0, 1], no_vote=-1))
    >>> contests.signs.tolist(), contests.needed.tolist()
    ([[1, 1], [-1, 0]], [0, 1])
    """
    said, y, weights = _distinct(selection)
    is_right = said == y
    hopeless = ~is_right.any(axis=0)
    example, opponent = _opponents(said, y, selection.n_classes)
    n_contests = np.bincount(example, minlength=len(y)) * ~hopeless
    matters = n_contests > 0
    examples = np.lexsort((weights, -n_contests))[: np.count_nonzero(matters)]
    place = np.empty(len(y), np.int64)
    place[examples] = np.arange(len(examples))
    turn = np.arange(len(example)) - np.searchsorted(example, example)
    order = np.lexsort((place[example], turn))
    order = order[matters[example[order]]]
    example, opponent = example[order], opponent[order]
    signs = is_right[:, example].view(np.int8) - (said[:, example] == opponent).view(np.int8)
    return Contests(
        signs=signs,
        needed=(opponent < y[example]).astype(np.int8),
        round_sizes=np.bincount(turn[order]),
        weights=weights[examples],
        always_right=int(weights[~matters & ~hopeless].sum()),
        total_weight=selection.total_weight,
    )


def _distinct(selection: Selection) -> tuple[npt.NDArray[np.int32], Integers, Integers]:
    """Votes, class and weight of the examples that differ in votes or class."""
    rows = np.empty((selection.n_examples, selection.n_members + 1), np.int32)
    rows[:, 0], rows[:, 1:] = selection.y, selection.said.T
    # Compared as bytes: NumPy's own way to find distinct rows compares them value by value.
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))[:, 0]
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    weights = np.zeros(len(first), np.int64)
    np.add.at(weights, group.reshape(-1), selection.weights)
    return np.ascontiguousarray(rows[first, 1:].T), rows[first, 0].astype(np.int64), weights


def _opponents(
    said: npt.NDArray[np.int32], y: Integers, n_classes: int
) -> tuple[Integers, Integers]:
    """For each example, in order, each wrong class that a member votes for, and perhaps silence."""
    pairs = np.arange(len(y)) * n_classes + said
    pairs = np.unique(pairs[(said != y) & (said != NO_VOTE)])
    example, opponent = pairs // n_classes, pairs % n_classes
    # Who wins a contest in which ties are lost has a vote.
    is_heard = np.zeros(len(y), bool)
    is_heard[example[opponent < y[example]]] = True
    unheard = np.flatnonzero((said == NO_VOTE).any(axis=0) & ~is_heard)
    example = np.concatenate([example, unheard])
    opponent = np.concatenate([opponent, np.full(len(unheard), _SILENCE)])
    order = np.argsort(example, kind="stable")
    return example[order], opponent[order]
