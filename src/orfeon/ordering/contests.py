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
    """What members with equal votes say of the selection examples."""
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
    """Find the contests that decide the vote of any subset of the members."""
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
