"""Soft thresholds by recursion, row by row; their intervals by moving the cut to each value."""

from __future__ import annotations

import itertools
import math
from typing import Any


def interval(values: Any, left: Any, right: Any, weights: Any, cut: float) -> tuple[float, float]:
    """``left`` and ``right``: the weight of each sample that is wrong on that side."""
    rows = range(len(values))

    def errors(at: float) -> float:
        return float(sum(left[i] if values[i] <= at else right[i] for i in rows))

    base, total = errors(cut), float(sum(weights))
    limit = base + math.sqrt((base + 0.5) * (total - base + 0.5) / (total + 1))
    distinct = sorted(set(values))
    lower, upper = min(cut, distinct[0]), max(cut, distinct[-1])
    entered = False
    for a, b in itertools.pairwise(distinct):
        if b <= cut and errors(a) > limit >= errors(b) and not entered:
            entered = True
            lower = b - (b - a) * (limit - errors(b)) / (errors(a) - errors(b))
        if b > cut and errors(a) <= limit < errors(b):
            upper = max(cut, a + (b - a) * (limit - errors(a)) / (errors(b) - errors(a)))
    return lower, upper


def left_share(x: float, lower: float, cut: float, upper: float) -> float:
    if x <= lower:
        return 1.0
    if x >= upper:
        return 0.0
    if x <= cut:
        return 1 - 0.5 * (x - lower) / (cut - lower)
    return 0.5 - 0.5 * (x - cut) / (upper - cut)


def supports(forest: Any, bounds: Any, row: Any, node: int = 0) -> list[float]:
    """Class shares of a row below a node."""
    value = [float(v) for v in forest.value[node]]
    width, first = int(forest.n_children[node]), int(forest.first_child[node])
    if width == 0:
        return [v / sum(value) for v in value]
    f, threshold = int(forest.feature[node]), float(forest.threshold[node])
    sizes = [float(forest.value[first + b].sum()) for b in range(width)]
    parts = [size / sum(sizes) for size in sizes]
    if not math.isnan(row[f]):
        if forest.n_categories[f] == 0:
            share = left_share(row[f], bounds[node][0], threshold, bounds[node][1])
            parts = [share, 1 - share]
        else:
            goes = int(forest.branches[int(threshold) + int(row[f])])
            if goes < width:
                parts = [float(b == goes) for b in range(width)]
    found = [0.0] * len(value)
    for b, part in enumerate(parts):
        if part > 0:
            below = supports(forest, bounds, row, first + b)
            found = [a + part * c for a, c in zip(found, below, strict=True)]
    return found


def intervals(forest: Any, X: Any, y: Any, weights: Any) -> dict[int, tuple[float, float]]:
    """The interval of each cut that training samples reach."""
    found: dict[int, tuple[float, float]] = {}
    hard = [(float(t), float(t)) for t in forest.threshold]

    def wrong(node: int, i: int) -> float:
        shares = supports(forest, hard, X[i], node)
        return float(weights[i]) if shares.index(max(shares)) != y[i] else 0.0

    def walk(node: int, rows: list[int]) -> None:
        width, first = int(forest.n_children[node]), int(forest.first_child[node])
        if width == 0:
            return
        f, threshold = int(forest.feature[node]), float(forest.threshold[node])
        rows = [i for i in rows if not math.isnan(X[i][f])]
        if forest.n_categories[f]:
            goes = {i: int(forest.branches[int(threshold) + int(X[i][f])]) for i in rows}
        else:
            goes = {i: int(X[i][f] > threshold) for i in rows}
            if rows:
                found[node] = interval(
                    [float(X[i][f]) for i in rows], [wrong(first, i) for i in rows],
                    [wrong(first + 1, i) for i in rows], [weights[i] for i in rows], threshold,
                )  # fmt: skip
        for b in range(width):
            walk(first + b, [i for i in rows if goes[i] == b])

    walk(0, [i for i in range(len(y)) if weights[i] > 0])
    return found
