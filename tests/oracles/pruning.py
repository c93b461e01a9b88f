"""Pruning by looking at every pruned subtree.

A pruned subtree keeps the root and cuts any set of branches; it is named by the set of its leaves.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

Leaves = frozenset[int]


@dataclass(frozen=True)
class Tree:
    """A node with its name and the trees below it."""

    name: int
    children: tuple[Tree, ...] = ()

    def walk(self) -> Iterator[Tree]:
        """The node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def pruned_subtrees(tree: Tree) -> list[Leaves]:
    """Leaves of every pruned subtree.

    Examples
    --------
    >>> tree = Tree(0, (Tree(1, (Tree(3), Tree(4))), Tree(2)))
    >>> [sorted(leaves) for leaves in pruned_subtrees(tree)]
    [[0], [1, 2], [2, 3, 4]]
    """
    found = [frozenset([tree.name])]
    if tree.children:
        below = [pruned_subtrees(child) for child in tree.children]
        found += [frozenset().union(*parts) for parts in itertools.product(*below)]
    return found


def smallest_minimiser(tree: Tree, risk: Mapping[int, Fraction], alpha: Fraction) -> Leaves:
    """The smallest of the pruned subtrees with the least ``risk + alpha * leaves``.

    Examples
    --------
    >>> tree = Tree(0, (Tree(1), Tree(2)))
    >>> risk = {0: Fraction(3), 1: Fraction(1), 2: Fraction(1)}
    >>> [sorted(smallest_minimiser(tree, risk, Fraction(a, 2))) for a in (1, 2)]
    [[1, 2], [0]]
    """
    costs = {
        leaves: (sum(risk[t] for t in leaves) + alpha * len(leaves), len(leaves))
        for leaves in pruned_subtrees(tree)
    }
    least = min(costs.values())
    best = [leaves for leaves, cost in costs.items() if cost == least]
    if len(best) > 1:
        raise AssertionError(
            f"{len(best)} smallest minimisers at alpha={alpha}; theory allows one."
        )
    return best[0]


def sequence(tree: Tree, risk: Mapping[int, Fraction]) -> list[tuple[Fraction, Leaves]]:
    """Breakpoints alpha_k and trees T_k: T_k is best from alpha_k until the next breakpoint.

    The cost of a subtree is a line in alpha. The cheapest line from alpha onwards is left at the
    nearest point where a line of fewer leaves crosses it.

    Examples
    --------
    >>> tree = Tree(0, (Tree(1, (Tree(3), Tree(4))), Tree(2)))
    >>> risk = dict(enumerate(map(Fraction, (6, 2, 1, 0, 1))))
    >>> [(str(alpha), sorted(leaves)) for alpha, leaves in sequence(tree, risk)]
    [('0', [2, 3, 4]), ('1', [1, 2]), ('3', [0])]
    """
    lines = [(sum((risk[t] for t in s), Fraction(0)), len(s)) for s in pruned_subtrees(tree)]
    alpha, steps = Fraction(0), []
    while True:
        leaves = smallest_minimiser(tree, risk, alpha)
        steps.append((alpha, leaves))
        if len(leaves) == 1:
            return steps
        here = sum((risk[t] for t in leaves), Fraction(0)), len(leaves)
        alpha = min((r - here[0]) / (here[1] - n) for r, n in lines if n < here[1])


def reduced_error(
    tree: Tree, errors: Mapping[int, Fraction], tie: Fraction = Fraction(0)
) -> Leaves:
    """Leaves after reduced-error pruning: a node is cut when its leaves err no less than it does.

    Examples
    --------
    >>> tree = Tree(0, (Tree(1, (Tree(3), Tree(4))), Tree(2)))
    >>> errors = dict(enumerate(map(Fraction, (5, 2, 2, 1, 1))))
    >>> sorted(reduced_error(tree, errors))
    [1, 2]
    """
    below: Leaves = frozenset().union(*(reduced_error(c, errors, tie) for c in tree.children))
    if not tree.children or sum(errors[t] for t in below) >= errors[tree.name] - tie:
        return frozenset([tree.name])
    return below
