"""A vote as contests: the true class against each class that any member votes for instead.

The vote of a sub-ensemble is right on a sample when the true class wins all its contests there.
This needs no counter per class, and most samples have few contests or none, which speeds up
searches over very many subsets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orfeon.members.votes import NO_VOTE, Selection
from orfeon.utils.types import Integers

#: The opponent where the true class only needs a vote to win.
_SILENCE = -2


@dataclass(frozen=True)
class Contests:
    """The contests of all samples on which the choice of members matters, in rounds.

    Each sample has one contest in round 0, and one more in each round until it runs out of
    opponents. Those with the most contests come first, so the contests of a round belong to the
    first samples. Samples with the same votes and class are merged, and their weights added up;
    those that every subset gets right, or every one wrong, have no contests and are left out.
    """

    signs: npt.NDArray[np.int8]
    needed: npt.NDArray[np.int8]
    round_sizes: Integers
    weights: Integers
    always_right: int
    total_weight: int

    @property
    def n_members(self) -> int:
        return int(self.signs.shape[0])

    @property
    def rounds(self) -> list[slice]:
        """Where the contests of each round are."""
        ends = np.cumsum(self.round_sizes).tolist()
        return [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]


def check_equal_votes(selection: Selection) -> Selection:
    """Votes for classes that all count the same; others are rejected."""
    if selection.is_regression:
        raise ValueError(
            "y holds numbers with fractions, or the members predict numbers; subsets are searched "
            'for votes only. order(..., rule="reduce_error") orders members that predict numbers.'
        )
    if selection.member_weights is not None:
        raise ValueError(
            "The members of this ensemble vote with different weights; subsets are searched for "
            "equal votes only. The functions that take votes search as if they were equal."
        )
    return selection


def find_contests(selection: Selection) -> Contests:
    """Find the contests that decide the vote of any subset of the members."""
    answers, y, weights = _distinct(selection)
    is_right = answers == y
    hopeless = ~is_right.any(axis=0)
    sample, opponent = _opponents(answers, y, selection.n_classes)
    n_contests = np.bincount(sample, minlength=len(y)) * ~hopeless
    matters = n_contests > 0
    samples = np.lexsort((weights, -n_contests))[: np.count_nonzero(matters)]
    place = np.empty(len(y), np.int64)
    place[samples] = np.arange(len(samples))
    turn = np.arange(len(sample)) - np.searchsorted(sample, sample)
    order = np.lexsort((place[sample], turn))
    order = order[matters[sample[order]]]
    sample, opponent = sample[order], opponent[order]
    signs = is_right[:, sample].view(np.int8) - (answers[:, sample] == opponent).view(np.int8)
    return Contests(
        signs=signs,
        needed=(opponent < y[sample]).astype(np.int8),
        round_sizes=np.bincount(turn[order]),
        weights=weights[samples],
        always_right=int(weights[~matters & ~hopeless].sum()),
        total_weight=selection.total_weight,
    )


def _distinct(selection: Selection) -> tuple[npt.NDArray[np.int32], Integers, Integers]:
    """Votes, class and weight of the samples that differ in votes or class."""
    rows = np.empty((selection.n_samples, selection.n_members + 1), np.int32)
    rows[:, 0], rows[:, 1:] = selection.y, selection.answers.T
    # Compared as bytes: np.unique would compare rows value by value.
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))[:, 0]
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    weights = np.zeros(len(first), np.int64)
    np.add.at(weights, group.reshape(-1), selection.weights)
    return np.ascontiguousarray(rows[first, 1:].T), rows[first, 0].astype(np.int64), weights


def _opponents(
    answers: npt.NDArray[np.int32], y: Integers, n_classes: int
) -> tuple[Integers, Integers]:
    """For each sample, in order, each wrong class that a member votes for, and perhaps no vote."""
    pairs = np.arange(len(y)) * n_classes + answers
    pairs = np.unique(pairs[(answers != y) & (answers != NO_VOTE)])
    sample, opponent = pairs // n_classes, pairs % n_classes
    # Winning a contest in which ties are lost takes a vote.
    has_answer = np.zeros(len(y), bool)
    has_answer[sample[opponent < y[sample]]] = True
    unanswered = np.flatnonzero((answers == NO_VOTE).any(axis=0) & ~has_answer)
    sample = np.concatenate([sample, unanswered])
    opponent = np.concatenate([opponent, np.full(len(unanswered), _SILENCE)])
    order = np.argsort(sample, kind="stable")
    return sample[order], opponent[order]
