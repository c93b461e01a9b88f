"""The best of random cuts of a whole table, with the kernel's random numbers, in plain Python."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracles.growth import Problem

_MASK = (1 << 64) - 1


class Stream:
    """Splitmix64 to seed, then xorshift64*."""

    def __init__(self, seed: int) -> None:
        z = (seed + 0x9E3779B97F4A7C15) & _MASK
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
        self.state = (z ^ (z >> 31)) or 1

    def word(self) -> int:
        x = self.state
        x ^= x >> 12
        x = (x ^ (x << 25)) & _MASK
        self.state = x ^ (x >> 27)
        return (self.state * 0x2545F4914F6CDD1D & _MASK) >> 32

    def below(self, n: int) -> int:
        return self.word() * n >> 32

    def unit(self) -> float:
        return (self.word() + 0.5) / 2.0**32


@dataclass
class Cut:
    """A test: the side of each known value or category, and of missing values if there are any."""

    feature: int
    threshold: float
    left_categories: set[int] | None
    right_categories: set[int]
    missing_left: bool | None

    def is_left(self, x: float) -> bool:
        if math.isnan(x):
            return bool(self.missing_left)
        if self.left_categories is not None:
            return int(x) in self.left_categories
        return x <= self.threshold


def _cut(problem: Problem, f: int, values: list[float], stream: Stream) -> Cut | None:
    """A random cut of one feature, None if it does not vary."""
    known = sorted({x for x in values if not math.isnan(x)})
    any_missing = any(math.isnan(x) for x in values)
    n_categories = problem.n_categories[f]
    if n_categories:
        present = [int(x) for x in known] + [n_categories] * any_missing
        n = len(present)
        if n < 2:
            return None
        for i in range(n - 1, 0, -1):
            q = stream.below(i + 1)
            present[i], present[q] = present[q], present[i]
        size = 1 + stream.below(n - 1)
        left, right = set(present[:size]), set(present[size:])
        return Cut(f, math.inf, left, right, n_categories in left if any_missing else None)
    missing_left = bool(stream.below(2)) if any_missing else None
    if len(known) > 1:
        low, high = known[0], known[-1]
        threshold = low + stream.unit() * (high - low)
        assert low <= threshold < high
        return Cut(f, threshold, None, set(), missing_left)
    if known and any_missing:
        return Cut(f, math.inf, None, set(), False)
    return None


def _gain(problem: Problem, rows: list[int], cut: Cut) -> Fraction | float:
    """What orders cuts: less impurity is more."""

    def purity(side: list[int]) -> Any:
        weights = [Fraction(problem.all_weights[r]) for r in side]
        total = sum(weights)
        by_class: dict[Any, Fraction] = {}
        for r, w in zip(side, weights, strict=True):
            by_class[problem.y[r]] = by_class.get(problem.y[r], Fraction(0)) + w
        if problem.n_classes == 0:
            mean = sum(w * Fraction(problem.y[r]) for r, w in zip(side, weights, strict=True))
            return mean * mean / total
        return sum(w * w for w in by_class.values()) / total

    column = problem.X[:, cut.feature]
    left = [r for r in rows if cut.is_left(column[r])]
    right = [r for r in rows if not cut.is_left(column[r])]
    return purity(left) + purity(right)


def best_cut(problem: Problem, max_features: int, seed: int) -> Cut | None:
    """The root of a random tree, for the Gini index or the variance."""
    stream, rows = Stream(seed), problem.present
    candidates = list(range(problem.X.shape[1]))
    best: Cut | None = None
    gain: Any = None
    visited = first = 0
    while first < len(candidates):
        drawn = min(max(max_features - visited, 1), len(candidates) - first)
        for j in range(first, first + drawn):
            q = j + stream.below(len(candidates) - j)
            candidates[j], candidates[q] = candidates[q], candidates[j]
        for f in candidates[first : first + drawn]:
            cut = _cut(problem, f, problem.X[rows, f].tolist(), stream)
            if cut is None:
                continue
            visited += 1
            found = _gain(problem, rows, cut)
            if best is None or found > gain:
                best, gain = cut, found
        first += drawn
        if visited >= max_features and best is not None:
            break
    return best
