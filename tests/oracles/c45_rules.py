"""C4.5RULES by loops over samples: every rule, every deletion and every subset counted anew.

A test is (feature, "<=", cut), (feature, ">", cut) or (feature, "in", codes).
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from tests.oracles.c45 import added_errors

Test = tuple[int, str, Any]


def holds(test: Test, row: Any) -> bool:
    feature, sign, bound = test
    x = float(row[feature])
    if math.isnan(x):
        return False
    if sign == "in":
        return x in bound
    return x <= bound if sign == "<=" else x > bound


def tests_of_leaves(forest: Any) -> list[tuple[int, list[Test]]]:
    """Label and tests of each leaf that holds at least one sample, from left to right."""
    found = []

    def walk(node: int, path: list[Test]) -> None:
        width = int(forest.n_children[node])
        if width == 0:
            if forest.value[node].sum() > 1 - 1e-6:
                found.append((int(forest.label[node]), path))
            return
        feature, bound = int(forest.feature[node]), float(forest.threshold[node])
        for b in range(width):
            if forest.n_categories[feature] == 0:
                test = (feature, "<=" if b == 0 else ">", bound)
            else:
                codes = range(forest.n_categories[feature])
                goes = [c for c in codes if forest.branches[int(bound) + c] == b]
                test = (feature, "in", frozenset(goes))
            walk(int(forest.first_child[node]) + b, [*path, test])

    walk(0, [])
    return found


class Rules:
    """The rules of a tree for samples with weights, and what becomes of them."""

    def __init__(self, X: Any, y: Any, w: Any, n_categories: Any, n_classes: int, settings: Any):
        self.X, self.y, self.w = X, [int(c) for c in y], [float(v) for v in w]
        self.n_categories, self.n_classes = n_categories, n_classes
        self.confidence = settings.get("confidence", 0.25)
        self.coding = settings.get("exceptions", "biased")
        self.grouped = settings.get("grouping", False)
        self.redundancy = settings.get("redundancy", 1.0)
        self.total = sum(self.w)

    def covered(self, tests: list[Test]) -> set[int]:
        return {i for i, row in enumerate(self.X) if all(holds(t, row) for t in tests)}

    def weigh(self, rows: Any) -> float:
        return sum(self.w[i] for i in rows)

    # -- generalisation ------------------------------------------------------------------------

    def default_error(self, label: int) -> float:
        own = sum(w for w, c in zip(self.w, self.y, strict=True) if c == label)
        return 1 - (own + 1) / (self.total + 2)

    def error(self, tests: list[Test], label: int) -> float:
        rows = self.covered(tests)
        n, e = self.weigh(rows), self.weigh(i for i in rows if self.y[i] != label)
        if n == 0:
            return self.default_error(label)
        return (e + added_errors(n, e, self.confidence)) / n

    def generalize(self, tests: list[Test], label: int) -> list[Test] | None:
        while tests:
            shorter = [tests[:d] + tests[d + 1 :] for d in range(len(tests))]
            errors = [self.error(one, label) for one in shorter]
            if min(errors) > self.error(tests, label) + 1e-12:
                break
            best = max(d for d, e in enumerate(errors) if e <= min(errors) + 1e-12)
            tests = shorter[best]
        error = self.error(tests, label)
        if not tests or not self.covered(tests) or error > 0.7:
            return None
        return tests if error < self.default_error(label) else None

    # -- bits ----------------------------------------------------------------------------------

    def value_bits(self, feature: int) -> float:
        known = [
            (r[feature], w) for r, w in zip(self.X, self.w, strict=True) if r[feature] == r[feature]
        ]
        if self.n_categories[feature]:
            shares = [
                sum(w for x, w in known if x == c) / self.total
                for c in range(self.n_categories[feature])
            ]
            return -sum(p * math.log2(p) for p in shares if p)
        n_values = len({x for x, _ in known})
        return 1 + math.log2(n_values) / 2 if n_values > 1 else 0.0

    def rule_bits(self, tests: list[Test]) -> float:
        each = [self.value_bits(f) for f in range(len(self.n_categories))]
        shares = [b / sum(each) for b in each if b]
        feature = -sum(p * math.log2(p) for p in shares) / self.redundancy
        bits = math.log2(len(tests)) - math.log2(math.factorial(len(tests)))
        for f, sign, _ in tests:
            bits += feature
            bits += self.n_categories[f] if sign == "in" and self.grouped else each[f]
        return bits

    def exception_bits(self, covered: float, positives: float, negatives: float) -> float:
        n = self.total
        if self.coding == "binomial":
            ways = math.comb(int(covered), int(positives))
            return math.log2(ways * math.comb(int(n - covered), int(negatives)))
        half = (positives + negatives) / 2
        expected = (half, negatives) if covered > n / 2 else (positives, half)
        bits = math.log2(n)
        for size, errors, one in (
            (covered, positives, expected[0]),
            (n - covered, negatives, expected[1]),
        ):
            if one <= 1e-6:
                bits += 0 if errors == 0 else 1e6
            elif one >= size - 1e-6:
                bits += 0 if errors == size else 1e6
            else:
                bits -= errors * math.log2(one / size)
                bits -= (size - errors) * math.log2(1 - one / size)
        return bits

    def subset_bits(self, rules: list[list[Test]], label: int) -> float:
        rows = set().union(*[self.covered(r) for r in rules])
        positives = self.weigh(i for i in rows if self.y[i] != label)
        negatives = self.weigh(
            i for i in range(len(self.y)) if i not in rows and self.y[i] == label
        )
        bits = sum(self.rule_bits(r) for r in rules) - math.log2(math.factorial(len(rules)))
        return bits / 2 + self.exception_bits(self.weigh(rows), positives, negatives)

    def subsets(self, rules: list[list[Test]]) -> list[list[list[Test]]]:
        """All subsets; the first rule changes fastest."""
        masks = itertools.product([False, True], repeat=len(rules))
        return [list(itertools.compress(rules, mask[::-1])) for mask in masks]

    # -- the whole -----------------------------------------------------------------------------

    def build(self, forest: Any) -> tuple[list[tuple[int, list[Test]]], int]:
        """Label and tests of each rule, in order, and the default class."""
        found: list[tuple[int, list[Test]]] = []
        for label, tests in tests_of_leaves(forest):
            short = self.generalize(tests, label)
            if short and (label, set(short)) not in [(c, set(r)) for c, r in found]:
                found.append((label, short))
        chosen = []
        for label in range(self.n_classes):
            its = [r for c, r in found if c == label]
            if its:
                bits = [self.subset_bits(some, label) for some in self.subsets(its)]
                first = next(k for k, b in enumerate(bits) if b <= min(bits) + 1e-9)
                chosen += [(label, r) for r in self.subsets(its)[first]]
        ordered = self.order(chosen)
        default = self.default(ordered)
        return self.polish(ordered, default), default

    def order(self, rules: list[tuple[int, list[Test]]]) -> list[tuple[int, list[Test]]]:
        left, waiting = set(range(len(self.y))), list(range(self.n_classes))
        ordered = []
        while waiting:
            wrong = []
            for label in waiting:
                rows = set().union(*[self.covered(r) for c, r in rules if c == label])
                wrong.append(self.weigh(i for i in rows & left if self.y[i] != label))
            label = waiting.pop(wrong.index(min(wrong)))
            its = sorted(
                (r for c, r in rules if c == label), key=lambda r: round(self.error(r, label), 12)
            )
            ordered += [(label, r) for r in its]
            left -= set().union(*[self.covered(r) for r in its])
        return ordered

    def default(self, rules: list[tuple[int, list[Test]]]) -> int:
        rows = set(range(len(self.y))) - set().union(*[self.covered(r) for _, r in rules])

        def weight(label: int, among: Any) -> float:
            return self.weigh(i for i in among if self.y[i] == label)

        every = range(len(self.y))
        return max(range(self.n_classes), key=lambda c: (weight(c, rows), weight(c, every), -c))

    def predict(self, rules: list[tuple[int, list[Test]]], default: int, row: Any) -> int:
        return next((c for c, r in rules if all(holds(t, row) for t in r)), default)

    def errors(self, rules: list[tuple[int, list[Test]]], default: int) -> float:
        return self.weigh(
            i for i, row in enumerate(self.X) if self.predict(rules, default, row) != self.y[i]
        )

    def polish(self, rules: list[tuple[int, list[Test]]], default: int) -> Any:
        """Drop the first rule without which fewer training errors are made, and try again."""
        for k in range(len(rules)):
            rest = rules[:k] + rules[k + 1 :]
            if self.errors(rest, default) < self.errors(rules, default) - 1e-9:
                return self.polish(rest, default)
        return rules
