"""Iterative growing and pruning, word for word (Gelfand et al. 1991), on nodes that are dicts.

A node is ``{"label": class, "test": None or Test, "children": [] or [left, right]}``. Its label is
given when it is created and never changed. Equally good splits are left to ``choose``;
:func:`all_outcomes` follows every way to choose among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.oracles.splits import TIE, Samples, Split, all_splits, majority

Floats = npt.NDArray[np.float64]
Node = dict[str, Any]
Choose = Callable[[list[Split]], Split]


@dataclass(frozen=True)
class Test:
    """The test of a split, for samples it was not made from."""

    __test__ = False  # not for pytest to collect

    feature: int
    threshold: float
    left: frozenset[int] | None  # categories, when the feature is categorical
    missing_left: bool
    heavier_left: bool
    present: frozenset[int]  # categories that the node had

    def goes_left(self, x: Floats) -> bool:
        """Whether a sample goes to the left child."""
        value = float(x[self.feature])
        if math.isnan(value):
            return self.missing_left
        if self.left is None:
            return value <= self.threshold
        return int(value) in self.left if int(value) in self.present else self.heavier_left


def make_test(split: Split, X: Floats, rows: Sequence[int], samples: Samples) -> Test:
    """The test of a split; what the node had not seen goes to its heavier child, ties left."""
    left = [r for r in rows if r in split.left]
    heavier_left = samples.weight(left) >= samples.weight([r for r in rows if r not in split.left])
    missing_left = heavier_left if split.missing_left is None else split.missing_left
    column = X[:, split.feature]
    if not math.isnan(split.threshold):
        return Test(split.feature, split.threshold, None, missing_left, heavier_left, frozenset())
    codes = [
        frozenset(int(column[r]) for r in rs if not math.isnan(column[r])) for rs in (left, rows)
    ]
    return Test(split.feature, math.nan, codes[0], missing_left, heavier_left, codes[1])


def leaf(label: int) -> Node:
    """A node without test."""
    return {"label": label, "test": None, "children": []}


def first(splits: list[Split]) -> Split:
    """The first of several equally good splits."""
    return splits[0]


@dataclass
class Halves:
    """The two halves of the data, and how impurity is measured."""

    X: Floats
    y: npt.NDArray[np.int64]
    weights: Floats
    half: npt.NDArray[np.int64]
    n_categories: Sequence[int]
    criterion: str = "gini"
    samples: Samples = field(init=False)

    def __post_init__(self) -> None:
        self.samples = Samples(self.y.astype(np.float64), self.weights, self.criterion)

    @property
    def is_categorical(self) -> list[bool]:
        """Which features are categorical."""
        return [n > 0 for n in self.n_categories]

    def rows(self, half: int) -> list[int]:
        """Rows of a half that are there (weight above zero)."""
        return [r for r in range(len(self.y)) if self.half[r] == half and self.weights[r] > 0]

    def error(self, label: int, rows: Sequence[int]) -> Fraction:
        """Weight of the rows that a label gets wrong."""
        return self.samples.weight([r for r in rows if self.y[r] != label])


def part(node: Node, data: Halves, rows: Sequence[int]) -> tuple[list[int], list[int]]:
    """The rows that go to each child."""
    test = node["test"]
    left = [r for r in rows if test.goes_left(data.X[r])]
    return left, [r for r in rows if not test.goes_left(data.X[r])]


def both_ways(splits: list[Split], rows: Sequence[int], data: Halves) -> list[Split]:
    """Add the mirror of every categorical split whose sides weigh the same.

    What the node has not seen goes to the first of them, and which one is first is open.
    """
    found = []
    for s in splits:
        found.append(s)
        other = frozenset(rows) - s.left
        same = data.samples.weight(list(other)) == data.samples.weight(list(s.left))
        if math.isnan(s.threshold) and same:
            missing_left = None if s.missing_left is None else not s.missing_left
            found.append(Split(s.feature, s.threshold, missing_left, other, s.gain))
    return found


def grow(node: Node, data: Halves, rows: Sequence[int], choose: Choose) -> None:
    """Grow a tree on from its leaves until they are pure or have no boundary."""
    if node["test"] is None:
        if not rows or data.samples.is_pure(rows):
            return
        splits = all_splits(data.X, data.is_categorical, rows, data.samples)
        if not splits:
            return
        best = max(s.gain for s in splits)
        split = choose(both_ways([s for s in splits if s.gain == best], rows, data))
        node["test"] = make_test(split, data.X, rows, data.samples)
        sides = part(node, data, rows)
        node["children"] = [leaf(majority(data.samples, side, node["label"])) for side in sides]
    for child, side in zip(node["children"], part(node, data, rows), strict=True):
        grow(child, data, side, choose)


def prune(node: Node, data: Halves, rows: Sequence[int], tie: Fraction) -> Fraction:
    """Cut, bottom up, every node whose leaves err no less than it does; return the error left."""
    error = data.error(node["label"], rows)
    if node["test"] is None:
        return error
    below = sum(
        prune(child, data, side, tie)
        for child, side in zip(node["children"], part(node, data, rows), strict=True)
    )
    if below >= error - tie:
        node["test"], node["children"] = None, []
        return error
    return Fraction(below)


def n_leaves(node: Node) -> int:
    """Number of leaves of a tree."""
    return sum(n_leaves(child) for child in node["children"]) or 1


def frozen(node: Node, n_categories: Sequence[int] = ()) -> tuple[Any, ...]:
    """A tree as nested tuples, in the form of :func:`tests.oracles.frozen`.

    A categorical test has no direction: it is the set of (categories, missing, child) of its sides.

    Examples
    --------
    >>> frozen(leaf(3))
    (3,)
    """
    if node["test"] is None:
        return (node["label"],)
    test = node["test"]
    children = [frozen(c, n_categories) for c in node["children"]]
    if test.left is None:
        return (
            node["label"],
            test.feature,
            test.threshold,
            int(not test.missing_left),
            *children,
        )
    row = np.zeros(len(n_categories))
    sides: list[set[int]] = [set(), set()]
    for code in range(n_categories[test.feature]):
        row[test.feature] = code
        sides[0 if test.goes_left(row) else 1].add(code)
    pairs = [
        (frozenset(side), (i == 0) == test.missing_left, children[i])
        for i, side in enumerate(sides)
    ]
    return (node["label"], test.feature, frozenset(pairs))


def undirected(node: tuple[Any, ...]) -> tuple[Any, ...]:
    """A frozen tree of the engine with its categorical tests in the form of :func:`frozen`.

    Examples
    --------
    >>> undirected((1, 0, (0, 1), 1, (0,), (1,))) == undirected((1, 0, (1, 0), 0, (1,), (0,)))
    True
    """
    if len(node) == 1:
        return node
    label, feature, test, missing, *children = node
    children = [undirected(child) for child in children]
    if isinstance(test, float):
        return (label, feature, test, missing, *children)
    sides = [frozenset(c for c, side in enumerate(test) if side == i) for i in (0, 1)]
    pairs = [(sides[i], missing == i, children[i]) for i in (0, 1)]
    return (label, feature, frozenset(pairs))


@dataclass
class Outcome:
    """A tree grown and pruned in turns, and the tree after every pruning."""

    root: Node
    rounds: list[tuple[Any, ...]]
    sizes: list[int]


def igp(data: Halves, choose: Choose = first, max_rounds: int = 100) -> Outcome:
    """Grow on one half and prune with the other, in turns, until the size no longer changes.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [0.5], [2.5]])
    >>> y, half = np.array([0, 0, 1, 1, 0, 1]), np.array([1, 1, 1, 1, 2, 2])
    >>> data = Halves(X, y, np.ones(6), half, [0])
    >>> outcome = igp(data)
    >>> outcome.sizes, outcome.rounds[-1]
    ([2, 2], (0, 0, 1.5, 0, (0,), (1,)))
    """
    halves = {1: data.rows(1), 2: data.rows(2)}
    root = leaf(majority(data.samples, halves[1], None))
    rounds: list[tuple[Any, ...]] = []
    sizes: list[int] = []
    for k in range(max_rounds):
        i, j = (1, 2) if k % 2 == 0 else (2, 1)
        grow(root, data, halves[i], choose)
        prune(root, data, halves[j], TIE * data.samples.weight(halves[j]))
        rounds.append(frozen(root, data.n_categories))
        sizes.append(n_leaves(root))
        if k > 0 and sizes[-1] == sizes[-2]:
            return Outcome(root, rounds, sizes)
    raise AssertionError(f"no convergence in {max_rounds} rounds: sizes {sizes}.")


class Script:
    """Choices among equally good splits, taken from a list, then the first."""

    def __init__(self, choices: Sequence[int]) -> None:
        self.choices = list(choices)
        self.options: list[int] = []

    def __call__(self, splits: list[Split]) -> Split:
        """Choose, and remember how many there were."""
        at = len(self.options)
        if at == len(self.choices):
            self.choices.append(0)
        self.options.append(len(splits))
        return splits[self.choices[at]]


def all_outcomes(data: Halves, limit: int) -> list[Outcome] | None:
    """The outcomes of every way to choose among equally good splits; None when over ``limit``.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 1.0], [1.0, 2.0]])
    >>> data = Halves(X, np.array([0, 1, 0, 1]), np.ones(4), np.array([1, 1, 2, 2]), [0, 0])
    >>> [outcome.rounds[-1] for outcome in all_outcomes(data, 10)]
    [(0, 0, 0.5, 0, (0,), (1,)), (0, 1, 1.5, 0, (0,), (1,))]
    """
    found: list[Outcome] = []
    choices: list[int] = []
    while len(found) < limit:
        script = Script(choices)
        found.append(igp(data, script))
        choices = script.choices
        while choices and choices[-1] + 1 == script.options[len(choices) - 1]:
            choices.pop()
        if not choices:
            return found
        choices[-1] += 1
    return None
