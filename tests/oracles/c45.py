"""C4.5 Release 8, written to be read: lists of (row, share), every count taken anew.

A share is the part of a sample that reached a node; its weight is the row's weight times the
share. Both are rounded to whole grains, so that sums are exact in any order. Numbers closer than
``TINY`` are equal, weights closer than ``SLACK`` are enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from orfeon.growth.c45 import C45Growth

TINY, SLACK, EPSILON, LEAST_SHARE = 1e-9, 1e-6, 1e-3, 1e-6

Samples = list[tuple[int, float]]


@dataclass
class Leaf:
    """A node: a leaf as long as it has no children."""

    counts: list[float]
    children: list[Leaf] = field(default_factory=list)
    feature: int = -1
    cut: float = math.nan  # midpoint of an ordered test
    branches: tuple[int, ...] | None = None  # branch of each category

    @property
    def weight(self) -> float:
        """Weight of the samples."""
        return sum(self.counts)

    @property
    def errors(self) -> float:
        """Weight of the samples that are not of the majority class."""
        return self.weight - max(self.counts)


def rounded(weight: float) -> float:
    """A weight in whole grains."""
    return math.floor(weight * 2.0**32 + 0.5) / 2.0**32


def term(x: float) -> float:
    """``x log2 x``."""
    return x * math.log2(x) if x > 0 else 0.0


def entropy(counts: list[float]) -> float:
    """Information in some counts, in bits times weight."""
    return term(sum(counts)) - sum(term(c) for c in counts)


def deviate(confidence: float, error_limit: str) -> float:
    """The deviate of the normal distribution that pessimistic errors are taken at."""
    if error_limit == "normal":
        return max(float(norm.isf(confidence)), 0.0)
    levels = [0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00]
    deviates = [4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00]
    i = next(i for i, level in enumerate(levels) if confidence <= level)
    share = (confidence - levels[i - 1]) / (levels[i] - levels[i - 1])
    return deviates[i - 1] + share * (deviates[i] - deviates[i - 1])


def added_errors(n: float, e: float, confidence: float, error_limit: str = "table") -> float:
    """Errors to add to ``e`` among ``n`` to reach the upper confidence limit."""
    none = n * (1.0 - confidence ** (1.0 / n))
    if e < 1e-6:
        return none
    if e < 0.9999:
        return none + e * (added_errors(n, 1.0, confidence, error_limit) - none)
    if e + 0.5 >= n:
        return (1.0 if error_limit == "normal" else 0.67) * max(n - e, 0.0)
    z = deviate(confidence, error_limit) ** 2
    f = (e + 0.5) / n
    limit = f + z / (2 * n) + math.sqrt(z) * math.sqrt(f * (1 - f) / n + z / (4 * n * n))
    return n * limit / (1 + z / n) - e


class C45:
    """One tree, grown, collapsed and pruned as the options say."""

    def __init__(
        self,
        X: npt.NDArray[np.float64],
        n_categories: list[int],
        y: npt.NDArray[Any],
        weights: npt.NDArray[np.float64],
        n_classes: int,
        growth: C45Growth,
    ) -> None:
        self.X, self.n_categories, self.y, self.n_classes = X, n_categories, y, n_classes
        self.growth = growth
        present = weights[weights > 0]
        whole = bool((present == np.floor(present)).all()) and present.sum() < 2**31
        self.unit = 1.0 if whole else float(present.sum() / len(present))
        self.weights = np.array(
            [max(rounded(w / self.unit), 2.0**-32) if w > 0 else 0.0 for w in weights]
        )
        self.total = float(self.weights.sum())
        self.many = self._many_values()
        samples = [(row, 1.0) for row in range(len(y)) if weights[row] > 0]
        self.root = self.grow(samples, 0)
        if growth.collapse:
            self.collapse(self.root)
        if growth.pruning:
            self.prune(self.root, samples)

    # -- counting ------------------------------------------------------------------------------

    def _many_values(self) -> float:
        """Categorical features of at least so many values do not count in the average gain."""
        many = 0.3 * self.total
        if self.growth.grouping or all(n and n >= many for n in self.n_categories):
            return math.inf
        return many

    def weigh(self, samples: Samples) -> float:
        return sum(rounded(self.weights[row] * share) for row, share in samples)

    def count(self, samples: Samples) -> list[float]:
        counts = [0.0] * self.n_classes
        for row, share in samples:
            counts[self.y[row]] += rounded(self.weights[row] * share)
        return counts

    def known(self, samples: Samples, feature: int) -> Samples:
        return [e for e in samples if not math.isnan(self.X[e[0], feature])]

    def enough(self, weight: float, least: float | None = None) -> bool:
        return weight >= (self.growth.min_samples_leaf if least is None else least) - SLACK

    def measure(self, parts: list[Samples], samples: Samples) -> tuple[float, float]:
        """Gain and split information of a partition of the known samples."""
        weight = self.weigh(samples)
        known = [e for part in parts for e in part]
        after = sum(entropy(self.count(part)) for part in parts)
        gain = (entropy(self.count(known)) - after) / weight
        sizes = [self.weigh(part) for part in parts]
        unknown = max(weight - sum(sizes), 0.0) if len(known) < len(samples) else 0.0
        info = (term(weight) - sum(map(term, sizes)) - term(unknown)) / weight
        return gain, info

    # -- tests ---------------------------------------------------------------------------------

    def ordered_test(self, samples: Samples, j: int) -> tuple[float, float, Any] | None:
        known = self.known(samples, j)
        weight = self.weigh(known)
        if not self.enough(weight, 2 * self.growth.min_samples_leaf):
            return None
        least = 0.1 * weight / self.n_classes
        if least <= self.growth.min_samples_leaf:
            least = self.growth.min_samples_leaf
        else:
            least = min(least, max(25.0, self.growth.min_samples_leaf))
        values = sorted({self.X[row, j] for row, _ in known})
        cuts = []
        for low, high in pairwise(values):
            below = [e for e in known if self.X[e[0], j] <= low]
            above = [e for e in known if self.X[e[0], j] >= high]
            if self.enough(self.weigh(below), least) and self.enough(self.weigh(above), least):
                cuts.append((*self.measure([below, above], samples), low, high))
        if not cuts:
            return None
        best = max(gain for gain, *_ in cuts)
        gain, info, low, high = next(cut for cut in cuts if cut[0] > best - TINY)
        if self.growth.mdl_penalty:
            gain -= math.log2(len(cuts)) / self.weigh(samples)
        if gain <= TINY:
            return None
        middle = low / 2 + high / 2
        return gain, info, middle if middle < high else low

    def categorical_test(self, samples: Samples, j: int) -> tuple[float, float, Any] | None:
        known = self.known(samples, j)
        parts: list[Samples] = [[] for _ in range(self.n_categories[j])]
        for row, share in known:
            parts[int(self.X[row, j])].append((row, share))
        if self.growth.grouping and self.n_categories[j] > 2:
            return self.grouped_test(samples, parts)
        if sum(self.enough(self.weigh(part)) for part in parts) < 2:
            return None
        return *self.measure(parts, samples), tuple(range(len(parts)))

    def worth(self, gain: float, info: float) -> float:
        if not self.growth.gain_ratio:
            return gain
        return gain / info if gain >= -TINY and info > EPSILON else -EPSILON

    def grouped_test(
        self, samples: Samples, parts: list[Samples]
    ) -> tuple[float, float, Any] | None:
        groups = [[value] for value, part in enumerate(parts) if part]

        def pooled(some: list[list[int]]) -> list[Samples]:
            return [[e for value in group for e in parts[value]] for group in some]

        def united(some: list[list[int]], a: int, b: int) -> list[list[int]]:
            """The groups with two of them as one, in the first's place; the last moves up."""
            result = [list(group) for group in some]
            result[a] += result[b]
            result[b] = result[-1]
            return result[:-1]

        a = 0
        while a < len(groups) - 1:
            b = a + 1
            while b < len(groups):
                classes = {
                    self.y[row] for part in pooled([groups[a], groups[b]]) for row, _ in part
                }
                if len(classes) == 1:
                    groups = united(groups, a, b)
                else:
                    b += 1
            a += 1
        gain, info = self.measure(pooled(groups), samples)
        value, half = self.worth(gain, info), gain / 2
        while len(groups) > 2:
            sizes = [self.weigh(part) for part in pooled(groups)]
            large = sum(map(self.enough, sizes))
            barred = -1 if large >= 3 else sizes.index(max(sizes))
            forced = not self.growth.gain_ratio or large < 2
            best, best_gain, best_pair = 0.0, -EPSILON, None
            for a in range(len(groups) - 1):
                for b in range(a + 1, len(groups)):
                    if barred in (a, b):
                        continue
                    gain, info = self.measure(pooled(united(groups, a, b)), samples)
                    this = self.worth(gain, info)
                    enough = gain >= half - TINY and best_gain < half - TINY
                    if enough or this >= best - TINY or (best_pair is None and forced):
                        best, best_gain, best_pair = this, gain, (a, b)
            if not forced and (best_pair is None or best < value + 1e-5):
                break
            assert best_pair is not None
            value = best
            groups = united(groups, *best_pair)
        final = pooled(groups)
        if value <= TINY or sum(self.enough(self.weigh(part)) for part in final) < 2:
            return None
        branch = {v: k for k, group in enumerate(groups) for v in group}
        branches = tuple(branch.get(v, len(groups)) for v in range(len(parts)))
        return *self.measure(final, samples), branches

    # -- growing -------------------------------------------------------------------------------

    def best_test(self, samples: Samples) -> tuple[int, Any] | None:
        found = []
        for j, n in enumerate(self.n_categories):
            test = self.categorical_test(samples, j) if n else self.ordered_test(samples, j)
            if test is not None and test[1] > 0:
                found.append((j, *test))
        counted = [gain for j, gain, _, _ in found if self.n_categories[j] < self.many]
        if self.growth.gain_ratio:
            if not counted:
                return None
            least = sum(counted) / len(counted) - EPSILON
            found = [f for f in found if f[1] >= least and f[2] > EPSILON]
            worths = [gain / info for _, gain, info, _ in found]
        else:
            worths = [gain for _, gain, _, _ in found]
        best: int | None = None
        for k, worth in enumerate(worths):
            if best is None or worth > worths[best] + TINY:
                best = k
        return None if best is None else (found[best][0], found[best][3])

    def parts(self, node: Leaf, samples: Samples) -> list[Samples]:
        """The samples of each branch, unknown ones in all of them by their shares."""
        width = 2 if node.branches is None else max(node.branches) + 1
        parts: list[Samples] = [[] for _ in range(width)]
        for row, share in self.known(samples, node.feature):
            x = self.X[row, node.feature]
            k = int(x > node.cut) if node.branches is None else node.branches[int(x)]
            parts[k].append((row, share))
        sizes = [self.weigh(part) for part in parts]
        known = sum(sizes)
        for row, share in samples:
            if math.isnan(self.X[row, node.feature]):
                for part, size in zip(parts, sizes, strict=True):
                    less = rounded(share * (size / known)) if known > 0 else 0.0
                    if less > LEAST_SHARE:
                        part.append((row, less))
        return parts

    def grow(self, samples: Samples, depth: int) -> Leaf:
        node = Leaf(self.count(samples))
        limit = self.growth.max_depth
        if (
            sum(c > 0 for c in node.counts) < 2
            or not self.enough(node.weight, 2 * self.growth.min_samples_leaf)
            or (limit is not None and depth >= limit)
        ):
            return node
        test = self.best_test(samples)
        if test is None:
            return node
        node.feature = test[0]
        if self.n_categories[node.feature]:
            node.branches = test[1]
        else:
            node.cut = test[1]
        node.children = [self.grow(part, depth + 1) for part in self.parts(node, samples)]
        return node

    # -- pruning -------------------------------------------------------------------------------

    def training_errors(self, node: Leaf) -> float:
        if not node.children:
            return node.errors
        return sum(self.training_errors(child) for child in node.children)

    def collapse(self, node: Leaf) -> None:
        for child in node.children:
            self.collapse(child)
        if node.children and self.training_errors(node) >= node.errors - EPSILON:
            node.children = []

    def leaf_estimate(self, counts: list[float]) -> float:
        n = sum(counts)
        if n < SLACK:
            return 0.0
        e = n - max(counts)
        return e + added_errors(n, e, self.growth.confidence, self.growth.error_limit)

    def estimate(self, node: Leaf, samples: Samples) -> float:
        """Estimated errors of a subtree when it gets these samples."""
        if not node.children:
            return self.leaf_estimate(self.count(samples))
        parts = self.parts(node, samples)
        return sum(self.estimate(c, p) for c, p in zip(node.children, parts, strict=True))

    def recount(self, node: Leaf, samples: Samples) -> None:
        node.counts = self.count(samples)
        if node.children:
            for child, part in zip(node.children, self.parts(node, samples), strict=True):
                self.recount(child, part)

    def prune(self, node: Leaf, samples: Samples) -> None:
        if not node.children:
            return
        for child, part in zip(node.children, self.parts(node, samples), strict=True):
            self.prune(child, part)
        heaviest = max(child.weight for child in node.children)
        largest = [c for c in node.children if c.weight >= heaviest - SLACK][-1]
        as_leaf = self.leaf_estimate(node.counts)
        as_is = self.estimate(node, samples)
        raised = self.estimate(largest, samples) if self.growth.subtree_raising else math.inf
        if as_leaf <= as_is + 0.1 + SLACK and as_leaf <= raised + 0.1 + SLACK:
            node.children = []
        elif raised <= as_is + 0.1 + SLACK:
            node.feature, node.cut = largest.feature, largest.cut
            node.branches, node.children = largest.branches, largest.children
            self.recount(node, samples)
            self.prune(node, samples)

    # -- reading -------------------------------------------------------------------------------

    def threshold(self, node: Leaf) -> float:
        """The greatest training value that is at most the midpoint."""
        column = self.X[self.weights > 0, node.feature]
        return float(column[column <= node.cut].max())

    def shares(self, x: npt.NDArray[np.float64], node: Leaf | None = None) -> list[float]:
        """Class shares for a row; an empty leaf speaks for its parent."""
        node = self.root if node is None else node
        if not node.children:
            return [c / node.weight for c in node.counts]
        value = x[node.feature]
        if math.isnan(value):
            chosen = [c for c in node.children if c.weight > 0]
        elif node.branches is None:
            chosen = [node.children[int(value > self.threshold(node))]]
        else:
            chosen = [node.children[node.branches[int(value)]]]
        total = sum(c.weight for c in chosen)
        if total == 0:
            return [c / node.weight for c in node.counts]
        parts = [(c.weight / total, self.shares(x, c)) for c in chosen]
        return [sum(w * p[k] for w, p in parts) for k in range(self.n_classes)]
