"""Editing and border selection, one sample after the other, in fractions: nothing is rounded.

Coordinates are floats, which are fractions; equally near samples go by their rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from fractions import Fraction

Points = Sequence[Sequence[float]]
Labels = Sequence[Hashable]


def squared_distance(a: Sequence[float], b: Sequence[float]) -> Fraction:
    """The square of the Euclidean distance.

    Examples
    --------
    >>> squared_distance([0.0, 0.5], [1.0, 0.0])
    Fraction(5, 4)
    """
    return sum(((Fraction(p) - Fraction(q)) ** 2 for p, q in zip(a, b, strict=True)), Fraction(0))


def weighted_order(X: Points, y: Labels, i: int) -> list[int]:
    """All rows but i, by the distance to i times (n_c / n)^(1/m), c their class.

    To the power 2m the distances are whole powers: n_c^2 (d^2)^m / n^2, and n is the same for all.

    Examples
    --------
    The rows are 2 * 3/4 and 4 * 1/4 away from row 0, and 5 * 3/4.

    >>> weighted_order([[0], [2], [-4], [5]], "aaba", 0)
    [2, 1, 3]
    """
    sizes, m = Counter(y), len(X[0])
    others = [j for j in range(len(X)) if j != i]
    return sorted(others, key=lambda j: (sizes[y[j]] ** 2 * squared_distance(X[i], X[j]) ** m, j))


def vote(labels: Sequence[Hashable]) -> Hashable:
    """The commonest label; of several the one that comes first.

    Examples
    --------
    >>> vote("cbba"), vote("cab")
    ('b', 'c')
    """
    return max(labels, key=lambda label: (labels.count(label), -labels.index(label)))


def weighted_editing(
    X: Points, y: Labels, n_neighbors: int, edited: Collection[Hashable]
) -> list[int]:
    """Rows that stay: those of other classes, and those that their neighbours get right.

    Examples
    --------
    >>> weighted_editing([[0], [2], [3], [4.2], [4.4]], "cccrr", 1, {"c"})
    [0, 1, 3, 4]
    """
    decided = [vote([y[j] for j in weighted_order(X, y, i)[:n_neighbors]]) for i in range(len(X))]
    return [i for i in range(len(X)) if y[i] not in edited or decided[i] == y[i]]


def border(
    X: Points, y: Labels, rows: Sequence[int], n_neighbors: int, selected: Collection[Hashable]
) -> list[int]:
    """Rows of some that stay: those of other classes, and the nearest to a row of another class.

    Examples
    --------
    >>> border([[0], [1], [2], [4]], "aaab", range(4), 1, {"a"})
    [2, 3]
    """
    kept = {i for i in rows if y[i] not in selected}
    for i in rows:
        for label in set(selected) - {y[i]}:
            of_class = [j for j in rows if y[j] == label]
            of_class.sort(key=lambda j: (squared_distance(X[i], X[j]), j))
            kept.update(of_class[:n_neighbors])
    return sorted(kept)


def border_selection(
    X: Points, y: Labels, n_neighbors: int, selected: Collection[Hashable], n_rounds: int | None
) -> list[int]:
    """Rows that stay when the border is taken so often, with None until nothing changes.

    Examples
    --------
    >>> X, y = [[0], [10], [1], [20]], "aabb"
    >>> [border_selection(X, y, 1, "ab", n) for n in (1, None)]
    [[0, 1, 2], [0, 2]]
    """
    rows = list(range(len(X)))
    for _ in range(len(X) + 1 if n_rounds is None else n_rounds):
        rows = border(X, y, rows, n_neighbors, selected)
    return rows
