"""All stumps of a table as a pool, without evaluating each stump in every round.

With K classes, each cut makes K (K - 1) stumps, one for each pair of classes on its branches. All
their weighted errors follow from the weight of each class on one branch of each cut, a cumulative
sum over the values of the feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.boosting.loop import MemberOutput
from orfeon.data.presorted import Table
from orfeon.data.training_set import TrainingSet
from orfeon.forest import NODE, Forest
from orfeon.utils import saved
from orfeon.utils.types import Floats, Integers

#: Errors that differ by at most this share of the weight are equal: rounding does not decide.
TIE = 1e-12
FIRST, SECOND = 0, 1


@saved.attributes(
    feature=saved.in_files("attribute", saved.indices),
    cut=saved.array("i8", 1, low=-1),
    threshold=saved.floats,
    missing=saved.indices,
)
class Cuts(NamedTuple):
    """Tests of single features."""

    feature: Integers
    cut: Integers
    threshold: Floats
    missing: Integers


def evenly_spread(n_places: int, n_most: int | None) -> Integers:
    if n_most is None or n_places <= n_most:
        return np.arange(n_places)
    return (2 * np.arange(n_most) + 1) * n_places // (2 * n_most)


def _tests_of(table: Table, j: int, n_most: int | None, weights: Floats) -> Cuts:
    ranks, n_values = table.ranks[j], int(table.n_values[j])
    sums = np.bincount(ranks, weights=weights, minlength=n_values + 1)
    occurs = np.bincount(ranks, minlength=n_values + 1) > 0
    is_missing = bool(occurs[-1])
    if table.schema.is_categorical[j]:
        places = np.flatnonzero(occurs[:-1])
        # Of two categories, testing for one is enough.
        places = places[: len(places) if len(places) > 2 else len(places) - 1]
        threshold, below = np.full(len(places), np.inf), sums[places]
    else:
        places = evenly_spread(max(n_values - 1, 0), n_most)
        values = table.values[table.value_start[j] : table.value_start[j + 1]]
        low, high = values[places], values[places + 1] if len(places) else values[:0]
        middle = 0.5 * low + 0.5 * high
        threshold = np.where(middle < high, middle, low)
        below = np.cumsum(sums[:-1])[places]
    cut, missing = places, np.where(below >= sums[:-1].sum() - below, FIRST, SECOND)
    if is_missing:  # on either branch, and alone on one
        both = np.tile([SECOND, FIRST], len(cut))
        cut, threshold, missing = np.repeat(cut, 2), np.repeat(threshold, 2), both
        if occurs[:-1].any():
            cut, threshold = np.append(cut, -1), np.append(threshold, np.inf)
            missing = np.append(missing, SECOND)
    return Cuts(np.full(len(cut), j), cut, threshold, missing)


@saved.attributes(
    tests=saved.instance("Cuts"), n_classes=saved.integer(1), n_categories=saved.indices
)
@dataclass(frozen=True)
class StumpPool:
    """Each test with each pair of classes on its branches, and each class alone."""

    tests: Cuts
    n_classes: int
    n_categories: Integers

    @classmethod
    def of(
        cls,
        table: Table,
        n_classes: int,
        n_thresholds: int | None = None,
        weights: Floats | None = None,
    ) -> StumpPool:
        given = np.ones(table.n_rows) if weights is None else weights
        parts = [_tests_of(table, j, n_thresholds, given) for j in range(table.n_features)]
        tests = Cuts(*map(np.concatenate, zip(*parts, strict=True)))
        return cls(tests, n_classes, np.asarray(table.schema.n_categories, dtype=np.int64))

    @property
    def n_pairs(self) -> int:
        return self.n_classes * (self.n_classes - 1)

    def __len__(self) -> int:
        return len(self.tests.cut) * self.n_pairs + self.n_classes

    def index(self, test: int, first: int, second: int) -> int:
        """Index of the stump with this test and classes."""
        pair = first * (self.n_classes - 1) + second - (second > first)
        return test * self.n_pairs + pair

    def classes_of(self, index: int) -> tuple[int | None, int, int]:
        """Test of a stump (None if it has none), and the classes on its branches."""
        if not 0 <= index < len(self):
            raise IndexError(f"index={index} is not in this pool of {len(self)} stumps.")
        n_stumps = len(self) - self.n_classes
        if index >= n_stumps:
            return None, index - n_stumps, index - n_stumps
        test, pair = divmod(index, self.n_pairs)
        first, other = divmod(pair, self.n_classes - 1)
        return test, first, other + (other >= first)

    def forest(self, indices: Any) -> Forest:
        return Forest.concatenate([self._tree(int(i)) for i in indices])

    def _tree(self, index: int) -> Forest:
        test, *classes = self.classes_of(index)
        n_nodes = 1 if test is None else 3
        nodes = np.zeros(n_nodes, NODE)
        nodes["threshold"], nodes["first_child"] = np.inf, np.arange(n_nodes)
        n_children, missing = np.zeros(n_nodes, np.uint16), np.zeros(n_nodes, np.uint16)
        label = np.array([classes[0], *classes][:n_nodes], np.int32)
        branches = np.zeros(0, np.uint16)
        if test is not None:
            j, cut = int(self.tests.feature[test]), int(self.tests.cut[test])
            nodes[0] = (self.tests.threshold[test], j, 1)
            n_children[0], missing[0] = 2, self.tests.missing[test]
            if self.n_categories[j]:
                nodes["threshold"][0] = 0
                others = np.arange(self.n_categories[j]) != cut
                branches = (others & (cut >= 0)).astype(np.uint16)
        value = np.eye(self.n_classes)[label]
        value[0] = value[-n_nodes + 1 :].sum(axis=0) if n_nodes > 1 else value[0]
        return Forest(
            np.array([0, n_nodes]), nodes, n_children, missing, label, value, self.n_classes,
            self.n_categories, branches,
        )  # fmt: skip


class StumpLearner:
    """Chooses the stump with the lowest weighted error; ties go to the first."""

    def __init__(self, pool: StumpPool, data: TrainingSet, chosen: list[int]) -> None:
        self.pool = pool
        self.data = data
        self.chosen = chosen
        ranks, tests = data.table.ranks, pool.tests
        n_features, n_rows = ranks.shape
        self._order = np.argsort(ranks, axis=1, kind="stable")
        # Begin and end of the first branch of each test in the cumulative sums of its feature,
        # which start with 0; missing values come last.
        begin, end = np.zeros((2, len(tests.cut)), np.int64)
        last = np.zeros(n_features, np.int64)
        bounds = np.searchsorted(tests.feature, np.arange(n_features + 1))
        for j in range(n_features):
            counts = np.bincount(ranks[j], minlength=int(data.table.n_values[j]) + 1)
            ends = np.cumsum(counts)
            last[j] = n_rows - counts[-1]
            mine = slice(bounds[j], bounds[j + 1])
            cut = tests.cut[mine]
            end[mine] = np.where(cut < 0, last[j], ends[cut])
            if data.schema.is_categorical[j]:
                begin[mine] = np.where(cut < 0, 0, ends[cut] - counts[cut])
        start = tests.feature * (n_rows + 1)
        known = last[tests.feature]
        self._end = start + end
        self._inside = np.flatnonzero(begin)
        self._begin = (start + begin)[self._inside]
        self._with_missing = np.flatnonzero((tests.missing == FIRST) & (known < n_rows))
        self._missing = (start + known)[self._with_missing], (start + n_rows)[self._with_missing]

    def sum_first(self, values: Floats) -> Floats:
        """Sum ``values`` over the first branch of each test."""
        running = np.zeros((len(self._order), len(values) + 1))
        np.cumsum(values[self._order], axis=1, out=running[:, 1:])
        flat = running.ravel()
        sums = flat[self._end]
        sums[self._inside] -= flat[self._begin]
        known, everything = self._missing
        sums[self._with_missing] += flat[everything] - flat[known]
        return np.asarray(sums)

    def choose(self, weights: Floats, labels: npt.NDArray[Any]) -> int:
        n_classes = self.pool.n_classes
        totals = np.bincount(labels, weights=weights, minlength=n_classes)
        if n_classes == 2:
            # One sum gives the correct weight for the classes (0, 1) and (1, 0).
            surplus = self.sum_first(np.where(labels == 1, weights, -weights))
            right = np.maximum(totals[1] - surplus, totals[0] + surplus)
        else:
            first = self._first_branch(weights, labels)
            right = _best_pairs(first, totals - first)
        enough = max(right.max(initial=0.0), totals.max()) - TIE * weights.sum()
        good = np.flatnonzero(right >= enough)
        if not len(good):
            alone = int(np.flatnonzero(totals >= enough)[0])
            return len(self.pool) - n_classes + alone
        test = int(good[0])
        if n_classes == 2:
            pairs = np.array([[0.0, totals[1] - surplus[test]], [totals[0] + surplus[test], 0.0]])
        else:
            pairs = first[test, :, None] + (totals - first[test])
        np.fill_diagonal(pairs, -np.inf)
        # The best pair may have been summed in another order, and be slightly below the maximum.
        best = int(np.flatnonzero(pairs.ravel() >= min(enough, pairs.max()))[0])
        return self.pool.index(test, *divmod(best, n_classes))

    def _first_branch(self, weights: Floats, labels: npt.NDArray[Any]) -> Floats:
        """Weight of each class on the first branch of each test."""
        if self.pool.n_classes < 2:
            return np.zeros((0, 1))
        classes = range(self.pool.n_classes)
        return np.stack([self.sum_first(np.where(labels == k, weights, 0.0)) for k in classes], 1)

    def train(self, weights: Floats, labels: npt.NDArray[Any], rng: np.random.Generator) -> Forest:
        index = self.choose(weights, labels)
        self.chosen.append(index)
        tree = self.pool.forest([index])
        leaf = tree.apply(self.data.X)[:, 0]
        value = np.zeros_like(tree.value)
        np.add.at(value, (leaf, labels), weights * (len(weights) / weights.sum()))
        if len(value) > 1:
            value[0] = value[1] + value[2]
        return tree._replace(value=value)

    def predict_train(self, member: Forest, what: MemberOutput) -> npt.NDArray[Any]:
        return member.predict(self.data.X)


def _best_pairs(first: Floats, second: Floats) -> Floats:
    """Largest weight each test classifies correctly, with different classes on its branches."""
    if not len(first):
        return np.zeros(0)
    everyone = np.arange(len(first))
    tops = []
    for side in (first, second):
        best = side.argmax(axis=1)
        rest = side.copy()
        rest[everyone, best] = -np.inf
        tops.append((best, side[everyone, best], rest.max(axis=1)))
    (a, top_a, next_a), (b, top_b, next_b) = tops
    same = np.maximum(top_a + next_b, next_a + top_b)
    return np.asarray(np.where(a == b, same, top_a + top_b))
