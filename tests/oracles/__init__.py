"""Slow, obvious, brute-force versions of what the engine does, and a plain view of its trees.

Nothing here is fast or clever, so that it can be checked by reading. :func:`nested` turns one tree
of a flat forest into nodes that point to their children; :func:`branch` is the routing rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.forest import Forest

Floats = npt.NDArray[np.float64]


@dataclass
class Node:
    """A node of an engine's tree, with its children."""

    index: int
    depth: int
    label: int
    value: npt.NDArray[Any]
    feature: int
    threshold: float
    branches: tuple[int, ...] | None
    missing: int
    children: list[Node]
    parent: Node | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no children."""
        return not self.children

    def walk(self) -> Iterator[Node]:
        """The node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def leaves(self) -> list[Node]:
        """The leaves below the node."""
        return [node for node in self.walk() if node.is_leaf]


def nested(forest: Forest, tree: int = 0) -> Node:
    """One tree of a forest as nodes that point to their children.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.forest import NODE
    >>> nodes = np.array([(0.5, 0, 1), (np.inf, 0, 1), (np.inf, 0, 2)], dtype=NODE)
    >>> forest = Forest(np.array([0, 3]), nodes, np.array([2, 0, 0], np.uint16),
    ...                 np.zeros(3, np.uint16), np.array([0, 0, 1], np.int32),
    ...                 np.array([[2.0, 1.0], [2.0, 0.0], [0.0, 1.0]]), 2, np.zeros(1, np.int64))
    >>> [leaf.label for leaf in nested(forest).leaves()]
    [0, 1]
    """
    base = int(forest.tree_start[tree])

    def build(index: int, depth: int, parent: Node | None) -> Node:
        at = base + index
        count = int(forest.n_children[at])
        feature = int(forest.feature[at])
        threshold = float(forest.threshold[at])
        branches = None
        if count and feature >= 0 and forest.n_categories[feature] > 0:
            start = int(threshold)
            table = forest.branches[start : start + int(forest.n_categories[feature])]
            branches, threshold = tuple(int(b) for b in table), math.nan
        label = int(forest.label[at]) if forest.n_classes else 0
        node = Node(
            index, depth, label, forest.value[at], feature, threshold, branches,
            int(forest.missing[at]), [], parent,
        )  # fmt: skip
        first = int(forest.first_child[at])
        node.children = [build(first + b, depth + 1, node) for b in range(count)]
        return node

    return build(0, 0, None)


def branch(node: Node, x: Floats) -> int:
    """The branch that a sample takes at an inner node.

    Examples
    --------
    >>> node = Node(0, 0, 0, np.zeros(2), 1, 2.5, None, 1, [])
    >>> branch(node, np.array([9.0, 2.5])), branch(node, np.array([9.0, np.nan]))
    (0, 1)
    """
    value = x[node.feature]
    if math.isnan(value):
        return node.missing
    if node.branches is not None:
        return node.branches[int(value)]
    return 0 if value <= node.threshold else 1


def frozen(node: Node) -> tuple[Any, ...]:
    """A tree as nested tuples: (label,) or (label, feature, test, missing, left, right).

    Examples
    --------
    >>> leaves = [Node(i, 1, i, np.zeros(2), 0, np.inf, None, 0, []) for i in (0, 1)]
    >>> frozen(Node(0, 0, 1, np.zeros(2), 2, 1.5, None, 0, leaves))
    (1, 2, 1.5, 0, (0,), (1,))
    """
    if node.is_leaf:
        return (node.label,)
    test = node.threshold if node.branches is None else node.branches
    return (node.label, node.feature, test, node.missing, *map(frozen, node.children))


def rows_by_node(root: Node, X: Floats) -> dict[int, list[int]]:
    """The rows of ``X`` that pass through each node, by node index.

    Examples
    --------
    >>> leaves = [Node(i, 1, 0, np.zeros(2), 0, np.inf, None, 0, []) for i in (1, 2)]
    >>> rows_by_node(Node(0, 0, 0, np.zeros(2), 0, 1.5, None, 0, leaves), np.array([[2.0], [1.0]]))
    {0: [0, 1], 1: [1], 2: [0]}
    """
    reached: dict[int, list[int]] = {node.index: [] for node in root.walk()}
    for row, x in enumerate(X):
        node = root
        reached[node.index].append(row)
        while not node.is_leaf:
            node = node.children[branch(node, x)]
            reached[node.index].append(row)
    return reached
