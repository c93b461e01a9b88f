"""Gradient tree boosting as Friedman (2001) writes it: slow, obvious, one row at a time.

Trees are nested dictionaries, found by trying every split; leaves follow the paper's formulas in
its own notation. Nothing of the library is used.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from math import exp, inf, isnan, log
from typing import Any

Row = list[float]


def grow(
    X: list[Row], r: list[float], w: list[float], rows: list[int], depth: int, categorical: set[int]
) -> dict[str, Any]:
    """The tree of least squares on the residuals ``r``; ties are not expected."""
    best: tuple[float, Any] = (inf, None)
    if depth > 0 and len({r[i] for i in rows}) > 1:
        for j in range(len(X[0])):
            for test in tests_of([X[i][j] for i in rows], j in categorical):
                left = [i for i in rows if goes_left(test, X[i][j])]
                right = [i for i in rows if not goes_left(test, X[i][j])]
                if left and right:
                    error = squares(r, w, left) + squares(r, w, right)
                    if error < best[0] - 1e-12:
                        best = (error, (j, test, left, right))
    if best[1] is None:
        return {"rows": rows}
    j, test, left, right = best[1]
    # What was not seen in training follows the heavier branch.
    heavier = sum(w[i] for i in left) >= sum(w[i] for i in right)
    return {
        "feature": j,
        "test": test,
        "heavier": "left" if heavier else "right",
        "seen": {X[i][j] for i in rows if not isnan(X[i][j])} if j in categorical else None,
        "missing_seen": any(isnan(X[i][j]) for i in rows),
        "left": grow(X, r, w, left, depth - 1, categorical),
        "right": grow(X, r, w, right, depth - 1, categorical),
    }


def tests_of(values: list[float], is_categorical: bool) -> list[Any]:
    """Every test of a feature: (threshold or set of categories, whether missing goes left)."""
    known = sorted({v for v in values if not isnan(v)})
    sides = [True, False] if any(isnan(v) for v in values) else [False]
    if is_categorical:
        sets = [set(c) for k in range(len(known) + 1) for c in combinations(known, k)]
        return [(s, side) for s in sets for side in sides]
    cuts = [(a + b) / 2 for a, b in pairwise(known)] + [inf]
    return [(cut, side) for cut in cuts for side in sides]


def goes_left(test: Any, value: float) -> bool:
    what, missing_left = test
    if isnan(value):
        return bool(missing_left)
    return value in what if isinstance(what, set) else value <= what


def squares(r: list[float], w: list[float], rows: list[int]) -> float:
    mean = sum(w[i] * r[i] for i in rows) / sum(w[i] for i in rows)
    return sum(w[i] * (r[i] - mean) ** 2 for i in rows)


def leaves(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [tree] if "rows" in tree else leaves(tree["left"]) + leaves(tree["right"])


def find(tree: dict[str, Any], x: Row) -> dict[str, Any]:
    while "rows" not in tree:
        value = x[tree["feature"]]
        unseen = tree["seen"] is not None and not isnan(value) and value not in tree["seen"]
        if unseen or (isnan(value) and not tree["missing_seen"]):
            tree = tree[tree["heavier"]]
        else:
            tree = tree["left" if goes_left(tree["test"], value) else "right"]
    return tree


def quantile(values: list[float], weights: list[float], share: float) -> float:
    """The least value with this share of the weight at or below it."""
    total, running = sum(weights), 0.0
    for value, weight in sorted(zip(values, weights, strict=True)):
        running += weight
        if running >= share * total * (1 - 1e-12):
            return value
    raise AssertionError


# -- the algorithms of the paper, by their numbers -------------------------------------------------


class LeastSquares:
    """Algorithm 2."""

    def start(self, y, w):
        return sum(a * b for a, b in zip(w, y, strict=True)) / sum(w)

    def gradient(self, y, F, w):
        return [a - f for a, f in zip(y, F, strict=True)]

    def step(self, y, F, w, r, rows):
        return sum(w[i] * r[i] for i in rows) / sum(w[i] for i in rows)


class LeastAbsolute:
    """Algorithm 3, for any quantile."""

    def __init__(self, share=0.5, high=1.0, low=-1.0):
        self.share, self.high, self.low = share, high, low

    def start(self, y, w):
        return quantile(y, w, self.share)

    def gradient(self, y, F, w):
        if self.share == 0.5:  # the derivative of the absolute value
            return [float((a > f) - (a < f)) for a, f in zip(y, F, strict=True)]
        return [self.high if a >= f else self.low for a, f in zip(y, F, strict=True)]

    def step(self, y, F, w, r, rows):
        return quantile([y[i] - F[i] for i in rows], [w[i] for i in rows], self.share)


class MTreeBoost:
    """Algorithm 4: the Huber loss."""

    def __init__(self, alpha):
        self.alpha = alpha

    def start(self, y, w):
        return quantile(y, w, 0.5)

    def gradient(self, y, F, w):
        gap = [a - f for a, f in zip(y, F, strict=True)]
        self.delta = quantile([abs(g) for g in gap], w, self.alpha)
        return [g if abs(g) <= self.delta else self.delta * (1 if g > 0 else -1) for g in gap]

    def step(self, y, F, w, r, rows):
        gap = {i: y[i] - F[i] for i in rows}
        middle = quantile(list(gap.values()), [w[i] for i in rows], 0.5)
        more = sum(
            w[i] * (1 if gap[i] > middle else -1) * min(self.delta, abs(gap[i] - middle))
            for i in rows
        )
        return middle + more / sum(w[i] for i in rows)


class L2TreeBoost:
    """Algorithm 5: classes -1 and 1; the paper's F is half the log odds."""

    def start(self, y, w):
        mean = sum(a * b for a, b in zip(w, y, strict=True)) / sum(w)
        return 0.5 * log((1 + mean) / (1 - mean))

    def gradient(self, y, F, w):
        return [2 * a / (1 + exp(2 * a * f)) for a, f in zip(y, F, strict=True)]

    def step(self, y, F, w, r, rows):
        above = sum(w[i] * r[i] for i in rows)
        return above / sum(w[i] * abs(r[i]) * (2 - abs(r[i])) for i in rows)


class ExponentialTreeBoost:
    """The loss exp(-y F), classes -1 and 1; its minimum in a leaf of both classes."""

    def start(self, y, w):
        return L2TreeBoost().start(y, w)

    def gradient(self, y, F, w):
        return [a * exp(-a * f) for a, f in zip(y, F, strict=True)]

    def step(self, y, F, w, r, rows):
        up = sum(w[i] * exp(-F[i]) for i in rows if y[i] > 0)
        down = sum(w[i] * exp(F[i]) for i in rows if y[i] < 0)
        if up > 0 and down > 0:
            return 0.5 * log(up / down)
        weight = sum(w[i] for i in rows)
        return 0.5 * log(1 + 2 * weight) * (1 if up > 0 else -1)


def boost(
    X: list[Row], y: list[float], w: list[float], how: Any, n_rounds: int, rate: float, depth: int,
    categorical: frozenset[int] = frozenset(),
) -> tuple[float, list[dict[str, Any]]]:  # fmt: skip
    """The constant, and the trees with a ``value`` in each leaf."""
    start = how.start(y, w)
    F, trees = [start] * len(y), []
    for _ in range(n_rounds):
        r = how.gradient(y, F, w)
        tree = grow(X, r, w, list(range(len(y))), depth, set(categorical))
        for leaf in leaves(tree):
            leaf["value"] = rate * how.step(y, F, w, r, leaf["rows"])
        F = [f + find(tree, x)["value"] for f, x in zip(F, X, strict=True)]
        trees.append(tree)
    return start, trees


def predict(model: tuple[float, list[dict[str, Any]]], X: list[Row]) -> list[float]:
    start, trees = model
    return [start + sum(find(tree, x)["value"] for tree in trees) for x in X]


def boost_classes(
    X: list[Row], y: list[int], w: list[float], n_classes: int, n_rounds: int, rate: float,
    depth: int,
) -> list[tuple[float, list[dict[str, Any]]]]:  # fmt: skip
    """Algorithm 6: one model for each class; probabilities are the softmax of what they say."""
    n = len(y)
    shares = [sum(w[i] for i in range(n) if y[i] == k) / sum(w) for k in range(n_classes)]
    middle = sum(log(s) for s in shares) / n_classes
    models = [(log(s) - middle, list[dict[str, Any]]()) for s in shares]
    F = [[start] * n for start, _ in models]
    for _ in range(n_rounds):
        total = [sum(exp(F[k][i]) for k in range(n_classes)) for i in range(n)]
        p = [[exp(F[k][i]) / total[i] for i in range(n)] for k in range(n_classes)]
        for k in range(n_classes):
            r = [(y[i] == k) - p[k][i] for i in range(n)]
            tree = grow(X, r, w, list(range(n)), depth, set())
            for leaf in leaves(tree):
                above = sum(w[i] * r[i] for i in leaf["rows"])
                below = sum(w[i] * abs(r[i]) * (1 - abs(r[i])) for i in leaf["rows"])
                leaf["value"] = rate * (n_classes - 1) / n_classes * above / below
            F[k] = [f + find(tree, x)["value"] for f, x in zip(F[k], X, strict=True)]
            models[k][1].append(tree)
    return models
