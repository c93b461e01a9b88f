"""All subsets of a few members, one after the other, and how fit a string of bits is.

``said[t][i]`` is the class code that member t gives sample i, -1 where it does not vote. Weights
of samples are whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

Votes = Sequence[Sequence[int]]


class Best(NamedTuple):
    """The best subsets of a size: weight of the samples that they get wrong, and the subsets."""

    wrong: int
    subsets: list[tuple[int, ...]]


def decision(answers: Votes, subset: Iterable[int], i: int) -> int:
    """The class that most of a subset vote for, the lowest of equals; -1 when none of it votes.

    Examples
    --------
    >>> said = [[2], [1], [-1]]
    >>> decision(said, [0, 1, 2], 0), decision(said, [2], 0)
    (1, -1)
    """
    votes = [answers[t][i] for t in subset if answers[t][i] >= 0]
    return min(set(votes), key=lambda c: (-votes.count(c), c)) if votes else -1


def wrong_weight(answers: Votes, y: Sequence[int], weights: Sequence[int], subset: Any) -> int:
    """Weight of the samples on which the vote of a subset is wrong.

    Examples
    --------
    >>> wrong_weight([[0, 1, 1], [1, 1, 0]], [0, 0, 0], [1, 10, 100], [0, 1])
    10
    """
    return sum(w for i, w in enumerate(weights) if decision(answers, subset, i) != y[i])


def best_subsets(answers: Votes, y: Sequence[int], weights: Sequence[int]) -> list[Best]:
    """For each size, from 1, the best subsets, sorted.

    Examples
    --------
    >>> best_subsets([[0, 1], [0, 0], [0, 0]], [0, 1], [1, 1])
    [Best(wrong=0, subsets=[(0,)]), Best(wrong=1, subsets=[(0, 1), (0, 2), (1, 2)]), Best(wrong=1, subsets=[(0, 1, 2)])]
    """  # noqa: E501
    found = []
    for size in range(1, len(answers) + 1):
        wrong = {
            s: wrong_weight(answers, y, weights, s) for s in combinations(range(len(answers)), size)
        }
        least = min(wrong.values())
        found.append(Best(least, sorted(s for s, w in wrong.items() if w == least)))
    return found


def fitness(
    answers: Votes, y: Sequence[int], weights: Sequence[int], string: Sequence[int]
) -> Fraction:
    """1 / (1 + error + zeros / (2 T N)) of a string of bits; without ones the error is 1.

    Examples
    --------
    >>> fitness([[0, 1], [0, 0]], [0, 1], [1, 1], [1, 0])
    Fraction(8, 9)
    >>> fitness([[0, 1], [0, 0]], [0, 1], [1, 1], [0, 0])
    Fraction(4, 9)
    """
    subset = [t for t, bit in enumerate(string) if bit]
    total = sum(weights)
    error = Fraction(wrong_weight(answers, y, weights, subset), total) if subset else Fraction(1)
    return 1 / (1 + error + Fraction(len(string) - len(subset), 2 * len(string) * total))
