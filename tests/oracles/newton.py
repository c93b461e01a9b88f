"""Newton trees by brute force: every split of every node, in plain floats."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Rules:
    """Penalties, limits and constraints, as the engine has them."""

    l2: float = 0.0
    l1: float = 0.0
    min_hessian: float = 0.0
    min_leaf: float = 0.0
    max_depth: int = 3
    cat_smooth: float = 0.0
    max_onehot: int = 1
    min_gain: float = 0.0
    signs: dict = field(default_factory=dict)
    categorical: tuple = ()
    groups: list | None = None


@dataclass
class Node:
    rows: np.ndarray
    low: float = -math.inf
    high: float = math.inf
    value: float = 0.0
    gain: float = 0.0
    feature: int = -1
    left: Node | None = None
    right: Node | None = None
    path: frozenset = frozenset()


class Oracle:
    """Grows one tree and keeps its root."""

    def __init__(self, X, g, h, w, rules):
        self.X, self.g, self.h, self.w, self.rules = X, g, h, w, rules
        self.root = self.grow(Node(np.flatnonzero(w > 0)), 0)

    def value(self, rows, low, high):
        moment, hessian = (self.w * self.g)[rows].sum(), (self.w * self.h)[rows].sum()
        soft = math.copysign(max(abs(moment) - self.rules.l1, 0.0), moment)
        below = hessian + self.rules.l2
        return min(max(soft / below if below > 0 else 0.0, low), high)

    def score(self, rows, value):
        """Twice what a leaf of this value takes from the penalised loss, up to third order."""
        moment, hessian = (self.w * self.g)[rows].sum(), (self.w * self.h)[rows].sum()
        return (
            2 * moment * value
            - 2 * self.rules.l1 * abs(value)
            - (hessian + self.rules.l2) * value**2
        )

    def sides(self, rows, f):
        """Every way in which a feature may split the rows: which go left."""
        x = self.X[rows, f]
        missing = np.isnan(x)
        if f in self.rules.categorical:
            codes = np.where(missing, np.inf, x)
            levels = np.unique(codes)
            if len(levels) < 2:
                return
            if len(levels) <= self.rules.max_onehot:
                for level in levels:
                    yield codes == level
                return
            sums = [
                (
                    (self.w * self.g)[rows[codes == level]].sum()
                    / ((self.w * self.h)[rows[codes == level]].sum() + self.rules.cat_smooth),
                    level,
                )
                for level in levels
            ]
            order = [level for _, level in sorted(sums)]
            for k in range(1, len(order)):
                yield np.isin(codes, order[:k])
            return
        levels = np.unique(x[~missing])
        for level in levels[:-1]:
            yield ~missing & (np.nan_to_num(x, nan=np.inf) <= level)
            if missing.any():
                yield missing | (np.nan_to_num(x, nan=np.inf) <= level)
        if missing.any() and len(levels):
            yield ~missing

    def allowed(self, path):
        features = range(self.X.shape[1])
        if self.rules.groups is None:
            return features
        return sorted(set(itertools.chain(*(g for g in self.rules.groups if path <= set(g)))))

    def best(self, node):
        rules = self.rules
        own = self.score(node.rows, self.value(node.rows, node.low, node.high))
        best = (max(rules.min_gain, 1e-10 * abs(own)), None, None)
        for f in self.allowed(node.path):
            for goes in self.sides(node.rows, f):
                left, right = node.rows[goes], node.rows[~goes]
                weights = [self.w[left].sum(), self.w[right].sum()]
                hessians = [(self.w * self.h)[s].sum() for s in (left, right)]
                if min(weights) < rules.min_leaf or min(hessians) < rules.min_hessian * (1 - 1e-9):
                    continue
                values = [self.value(s, node.low, node.high) for s in (left, right)]
                if rules.signs.get(f, 0) * (values[1] - values[0]) < 0:
                    continue
                gain = self.score(left, values[0]) + self.score(right, values[1]) - own
                if gain > best[0]:
                    best = (gain, f, goes)
        return best

    def grow(self, node, depth):
        node.value = self.value(node.rows, node.low, node.high)
        if depth >= self.rules.max_depth or len(node.rows) < 2:
            return node
        gain, f, goes = self.best(node)
        if f is None:
            return node
        node.gain, node.feature = gain, f
        left, right = node.rows[goes], node.rows[~goes]
        a, b = (self.value(s, node.low, node.high) for s in (left, right))
        middle, sign = (a + b) / 2, self.rules.signs.get(f, 0)
        bounds = [(node.low, node.high), (node.low, node.high)]
        if sign:
            bounds = [(node.low, middle), (middle, node.high)][::sign]
        path = node.path | {f}
        node.left = self.grow(Node(left, *bounds[0], path=path), depth + 1)
        node.right = self.grow(Node(right, *bounds[1], path=path), depth + 1)
        return node

    def nodes(self, node=None):
        node = self.root if node is None else node
        yield node
        if node.left is not None:
            yield from self.nodes(node.left)
            yield from self.nodes(node.right)

    @property
    def gains(self):
        return sorted(n.gain for n in self.nodes() if n.left is not None)

    def values(self):
        """Value of each row with positive weight."""
        found = np.full(len(self.X), np.nan)
        for node in self.nodes():
            if node.left is None:
                found[node.rows] = node.value
        return found


class SymmetricOracle(Oracle):
    """Grows one tree whose nodes of a level share a test."""

    def splits(self, f, rows):
        """Every test of a feature: which of all samples go left."""
        for goes in self.sides(rows, f):
            left = np.zeros(len(self.X), bool)
            left[rows[goes]] = True
            yield left

    def tried(self, node, f, goes):
        """What a test does to a node: its gain and its sides; None if it must not be split so."""
        rules = self.rules
        if len(node.rows) < 2 or f not in self.allowed(node.path):
            return None
        sides = node.rows[goes[node.rows]], node.rows[~goes[node.rows]]
        if min(map(len, sides)) == 0 or min(self.w[s].sum() for s in sides) < rules.min_leaf:
            return None
        if min((self.w * self.h)[s].sum() for s in sides) < rules.min_hessian * (1 - 1e-9):
            return None
        values = [self.value(s, node.low, node.high) for s in sides]
        if np.any(rules.signs.get(f, 0) * (values[1] - values[0]) < 0):
            return None
        own = self.score(node.rows, self.value(node.rows, node.low, node.high))
        return self.score(sides[0], values[0]) + self.score(sides[1], values[1]) - own, sides

    def grow(self, node, depth):
        node.value = self.value(node.rows, node.low, node.high)
        level, rows = [node], node.rows
        for _ in range(self.rules.max_depth):
            owns = [self.score(n.rows, self.value(n.rows, n.low, n.high)) for n in level]
            best = (max(self.rules.min_gain, 1e-10 * abs(sum(owns))), None, None)
            for f in range(self.X.shape[1]):
                for goes in self.splits(f, rows):
                    gain = sum((self.tried(n, f, goes) or (0.0,))[0] for n in level)
                    if gain > best[0]:
                        best = (gain, f, goes)
            if best[1] is None:
                break
            level = [child for n in level for child in self.split(n, *best[1:])]
        return node

    def split(self, node, f, goes):
        """The children of a node by the test of its level, or the node itself."""
        found = self.tried(node, f, goes)
        if found is None:
            return [node]
        node.gain, (left, right) = found
        node.feature = f
        a, b = (self.value(s, node.low, node.high) for s in (left, right))
        middle, sign = (a + b) / 2, self.rules.signs.get(f, 0)
        bounds = [(node.low, node.high), (node.low, node.high)]
        if sign:
            bounds = [(node.low, middle), (middle, node.high)][::sign]
        node.left, node.right = (
            Node(s, *limits, path=node.path | {f})
            for s, limits in zip((left, right), bounds, strict=True)
        )
        for child in (node.left, node.right):
            child.value = self.value(child.rows, child.low, child.high)
        return [node.left, node.right]


class VectorOracle(SymmetricOracle):
    """Grows one symmetric tree for several scores, whose gains are summed."""

    def __init__(self, X, gradients, hessians, w, rules):
        self.gradients, self.hessians = gradients, hessians
        # Limits are about the sum of all hessians.
        super().__init__(X, gradients[0], hessians.sum(axis=0), w, rules)

    def sums(self, rows):
        both = self.w * np.array([self.gradients, self.hessians])
        return both[:, :, rows].sum(axis=2)

    def value(self, rows, low, high):
        moment, hessian = self.sums(rows)
        soft = np.sign(moment) * np.maximum(np.abs(moment) - self.rules.l1, 0.0)
        return soft / (hessian + self.rules.l2)

    def score(self, rows, value):
        moment, hessian = self.sums(rows)
        penalty = 2 * self.rules.l1 * np.abs(value) + (hessian + self.rules.l2) * value**2
        return (2 * moment * value - penalty).sum()

    def splits(self, f, rows):
        """Categories are tried in the order of each score."""
        total, found = self.h, []
        for g, h in zip(self.gradients, self.hessians, strict=True):
            self.g, self.h = g, h
            found += list(super().splits(f, rows))
            if f not in self.rules.categorical:
                break
        self.h = total
        return found

    def values(self):
        found = np.full((len(self.X), len(self.gradients)), np.nan)
        for node in self.nodes():
            if node.left is None:
                found[node.rows] = node.value
        return found
