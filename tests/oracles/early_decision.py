"""Early decision one row and one member at a time, in exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache


def decided_class(sums: Sequence[int | Fraction]) -> int:
    """The class of most votes, the first of those that are tied.

    Examples
    --------
    >>> decided_class([1, 3, 3])
    1
    """
    return list(sums).index(max(sums))


@cache
def chance_of_change(counts: tuple[int, ...], n_left: int, leader: int) -> Fraction:
    """Probability that another class wins after ``n_left`` more votes, every outcome looked at.

    The next vote is for a class with a probability that grows with its votes so far, plus one.

    Examples
    --------
    >>> chance_of_change((1, 0), 2, 0)  # both of the others must be for the second class
    Fraction(1, 6)
    """
    if n_left == 0:
        return Fraction(decided_class(counts) != leader)
    total = sum(counts) + len(counts)
    chance = Fraction(0)
    for k, count in enumerate(counts):
        more = (*counts[:k], count + 1, *counts[k + 1 :])
        chance += Fraction(count + 1, total) * chance_of_change(more, n_left - 1, leader)
    return chance


def bound_of_change(counts: tuple[int, ...], n_left: int, leader: int) -> Fraction:
    """Sum over the rivals of the largest probability of ending before the leader.

    Largest over the numbers of votes, up to ``n_left``, that the two of them may still get. A lead
    of one over a rival that wins ties counts as one half, which is more.

    Examples
    --------
    >>> bound_of_change((2, 0, 0), 3, 0)
    Fraction(1, 10)
    """
    bound = Fraction(0)
    for rival, count in enumerate(counts):
        if rival == leader:
            continue
        first, second = min(rival, leader), max(rival, leader)
        pair, place = (counts[first], counts[second]), int(leader == second)
        largest = max(chance_of_change(pair, n, place) for n in range(n_left + 1))
        if rival < leader and counts[leader] == count + 1:
            assert largest < Fraction(1, 2)
            largest = Fraction(1, 2)
        bound += largest
    return bound


def early_decision_of_row(
    votes: Sequence[int],
    n_classes: int,
    confidence: Fraction = Fraction(1),
    block: int = 1,
    weights: Sequence[Fraction] | None = None,
) -> tuple[int, int]:
    """The decided class of one row, and how many members were asked.

    Examples
    --------
    >>> early_decision_of_row([1, 1, 0, 0, 0], 2), early_decision_of_row([0, 0, 1, 1], 2)
    ((0, 5), (0, 2))
    """
    weights = [Fraction(1)] * len(votes) if weights is None else weights
    sums = [Fraction(0)] * n_classes
    for queried, (vote, weight) in enumerate(zip(votes, weights, strict=True), start=1):
        sums[vote] += weight
        leader = decided_class(sums)
        if queried == len(votes):
            break
        if queried % block:
            continue
        if confidence == 1:
            to_come = sum(weights[queried:])
            gaps = [(sums[leader] - sums[b], leader < b) for b in range(n_classes) if b != leader]
            if all(gap > to_come or (gap == to_come and wins) for gap, wins in gaps):
                break
        else:
            counts = tuple(int(n) for n in sums)
            chance = chance_of_change if n_classes == 2 else bound_of_change
            if chance(counts, len(votes) - queried, leader) <= 1 - confidence:
                break
    return leader, queried
