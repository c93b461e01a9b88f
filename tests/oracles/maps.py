"""Maps by asking each tree at each point, ensemble walks by dot products, coincidences by sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from tests.oracles import Node, branch
from tests.oracles.combining import plurality, tally

Vector = Sequence[Any]


# -- maps ------------------------------------------------------------------------------------------


def answer(root: Node, point: Sequence[float]) -> int:
    """The class that a tree gives to a point.

    Examples
    --------
    >>> leaves = [Node(k, 1, k, np.zeros(2), 0, np.inf, None, 0, []) for k in (0, 1)]
    >>> root = Node(0, 0, 0, np.zeros(2), 1, 0.5, None, 0, leaves)
    >>> answer(root, [9.0, 0.5]), answer(root, [9.0, 0.6])
    (0, 1)
    """
    node = root
    while not node.is_leaf:
        node = node.children[branch(node, np.asarray(point, dtype=np.float64))]
    return node.label


def vote_map(trees: Sequence[Node], across: Vector, up: Vector) -> list[list[list[int]]]:
    """What every tree says at each point of a grid: a row for each height, a column across.

    Examples
    --------
    >>> leaves = [Node(k, 1, k, np.zeros(2), 0, np.inf, None, 0, []) for k in (0, 1)]
    >>> root = Node(0, 0, 0, np.zeros(2), 0, 0.5, None, 0, leaves)
    >>> vote_map([root, leaves[0]], [0.0, 1.0, 2.0], [7.0])
    [[[0, 0], [1, 0], [1, 0]]]
    """
    return [[[answer(tree, [x, y]) for tree in trees] for x in across] for y in up]


def decision_and_lead(
    votes: Sequence[int], n_classes: int, member_weights: Any = None
) -> tuple[int, Fraction]:
    """The voted class of a point, and its votes less those of the next, over all.

    Examples
    --------
    >>> decision_and_lead([2, 0, 2, 1, 2], 3), decision_and_lead([1, 0], 2)
    ((2, Fraction(2, 5)), (0, Fraction(0, 1)))
    """
    counts = tally(votes, n_classes, member_weights)
    decided = plurality(votes, n_classes, member_weights)
    others = [counts[k] for k in range(n_classes) if k != decided]
    return decided, Fraction(counts[decided] - max(others)) / Fraction(sum(counts))


# -- ensemble walks --------------------------------------------------------------------------------


def dot(a: Vector, b: Vector, weights: Vector) -> Any:
    """Weighted dot product.

    Examples
    --------
    >>> dot([1, 2, 3], [4, 5, 6], [1, 0, 2])
    40
    """
    total = 0
    for x, y, weight in zip(a, b, weights, strict=True):
        total += x * y * weight
    return total


def correctness(votes: Sequence[int | None], y: Sequence[int]) -> list[int]:
    """c_t: +1 where a member is right, -1 where it is wrong, 0 where it says nothing.

    Examples
    --------
    >>> correctness([0, 1, None], [0, 0, 0])
    [1, -1, 0]
    """
    return [0 if v is None else 1 if v == label else -1 for v, label in zip(votes, y, strict=True)]


def mean_vector(c: Sequence[Vector]) -> list[Fraction]:
    """c_ens: the mean of the members' vectors.

    Examples
    --------
    >>> mean_vector([[1, -1], [1, 1]])
    [Fraction(1, 1), Fraction(0, 1)]
    """
    return [Fraction(sum(row[i] for row in c), len(c)) for i in range(len(c[0]))]


def reference(ensemble: Vector, weights: Vector) -> list[Fraction]:
    """c_ref: the diagonal plus as much of c_ens as makes it normal to c_ens.

    Examples
    --------
    >>> c_ref = reference([Fraction(1), Fraction(1, 2), Fraction(-1, 2)], [1, 1, 1])
    >>> [str(value) for value in c_ref]
    ['1/3', '2/3', '4/3']
    """
    ones = [Fraction(1)] * len(ensemble)
    factor = -dot(ones, ensemble, weights) / dot(ensemble, ensemble, weights)
    return [1 + factor * value for value in ensemble]


def partial_sums(c: Sequence[Vector], order: Sequence[int]) -> list[list[Fraction]]:
    """The sum of the first u members' vectors, divided by the number of all, for u = 1, 2 ...

    Examples
    --------
    >>> [[str(v) for v in point] for point in partial_sums([[1, -1], [1, 1]], [1, 0])]
    [['1/2', '1/2'], ['1', '0']]
    """
    points = []
    point = [Fraction(0)] * len(c[0])
    for t in order:
        point = [value + Fraction(c[t][i], len(c)) for i, value in enumerate(point)]
        points.append(point)
    return points


def coordinates(
    point: Vector, ensemble: Vector, lacking: Vector, weights: Vector
) -> tuple[float, float, float]:
    """Lengths of a point along c_ens and along c_ref, and of what is left of it.

    Examples
    --------
    >>> coordinates([3, 4, 12], [0, 0, 2], [5, 0, 0], [1, 1, 1])
    (12.0, 3.0, 4.0)
    """
    left = [Fraction(value) for value in point]
    lengths = []
    for axis in (ensemble, lacking):
        along, squared = dot(point, axis, weights), dot(axis, axis, weights)
        lengths.append(float(along) / math.sqrt(squared))
        left = [
            v - Fraction(along) / Fraction(squared) * a for v, a in zip(left, axis, strict=True)
        ]
    return lengths[0], lengths[1], math.sqrt(dot(left, left, weights))


# -- coincidence -----------------------------------------------------------------------------------


def in_common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many members two subsets share.

    Examples
    --------
    >>> in_common([3, 1, 7], [1, 2, 3, 4])
    2
    """
    return len(set(one) & set(other))


def coincidence(subsets: Sequence[Sequence[int]], order: Sequence[int]) -> list[list[int]]:
    """O_ij: whether the member at place j of an order is in the subset i.

    Examples
    --------
    >>> coincidence([[2], [0, 1], [0, 1, 2]], [2, 0, 1])
    [[1, 0, 0], [0, 1, 1], [1, 1, 1]]
    """
    return [[int(member in set(subset)) for member in order] for subset in subsets]
