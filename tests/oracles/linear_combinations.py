"""CART's search for a linear combination, each candidate evaluated by counting anew."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

SHIFTS = (-0.25, 0.0, 0.25)
#: A score must be better by more than rounding.
TIED = 1.0 + 1e-15


def score_of(left: Any, y: Any, w: Any) -> float:
    """Sum of squared class weights over the weight, of both sides; -inf if one is empty."""
    total = 0.0
    for side in (left, ~left):
        weight = w[side].sum()
        if weight == 0:
            return -math.inf
        total += sum(float(w[side & (y == c)].sum()) ** 2 for c in np.unique(y)) / float(weight)
    return total


def gain_of(score: float, y: Any, w: Any) -> float:
    whole = sum(float(w[y == c].sum()) ** 2 for c in np.unique(y)) / float(w.sum())
    return score - whole if score > -math.inf else 0.0


def best_cut(value: Any, y: Any, w: Any) -> tuple[float, float]:
    best, cut = -math.inf, 0.0
    distinct = np.unique(value)
    for low, high in itertools.pairwise(distinct):
        score = score_of(value <= low, y, w)
        if score > best * TIED:
            best, cut = score, 0.5 * low + 0.5 * high
    return best, cut


def _best_change(value: Any, cut: float, z: Any, shift: float, y: Any, w: Any, best: float) -> Any:
    slope = z + shift
    crossings = np.unique((value - cut)[slope != 0] / slope[slope != 0])
    found = 0.0
    for low, high in itertools.pairwise(crossings):
        delta = 0.5 * low + 0.5 * high
        score = score_of(value - delta * slope <= cut, y, w)
        if score > best * TIED:
            best, found = score, delta
    return best, found


def _climb(Z: Any, used: set[int], state: tuple[Any, float, float], y: Any, w: Any) -> Any:
    a, cut, score = state
    for _ in range(50):
        before = gain_of(score, y, w)
        for j in sorted(used):
            delta = shift = 0.0
            for tried in SHIFTS:
                new, change = _best_change(Z @ a, cut, Z[:, j], tried, y, w, score)
                if change:
                    score, delta, shift = new, change, tried
            a = a - delta * np.eye(len(a))[j]
            cut += delta * shift
        score, cut = best_cut(Z @ a, y, w)
        if gain_of(score, y, w) - before <= 0.01 * gain_of(score, y, w):
            break
    return a, cut, score


def _delete(Z: Any, used: set[int], a: Any, y: Any, w: Any, deletion: float) -> bool:
    deleted = False
    while len(used) > 1:
        whole = gain_of(best_cut(Z @ a, y, w)[0], y, w)
        left = {j: gain_of(best_cut(Z @ a - a[j] * Z[:, j], y, w)[0], y, w) for j in sorted(used)}
        least = max(left, key=lambda j: (left[j], -j))
        if whole - left[least] > deletion * (whole - min(left.values())):
            break
        used.remove(least)
        a[least] = 0.0
        deleted = True
    return deleted


def search(X: Any, y: Any, w: Any, deletion: float = 0.2) -> tuple[Any, float]:
    """Coefficients of the original features, and the gain of the best cut."""
    ordered = np.sort(np.repeat(X, w, axis=0), axis=0)  # weight 2 is two samples
    n = len(ordered)
    scale = ordered[3 * n // 4] - ordered[n // 4]
    Z = (X - ordered[n // 2]) / scale
    cuts = [best_cut(Z[:, j], y, w) for j in range(X.shape[1])]
    first = max(range(len(cuts)), key=lambda j: (cuts[j][0], -j))
    used = set(range(X.shape[1]))
    state = (np.eye(X.shape[1])[first], cuts[first][1], cuts[first][0])
    a, cut, score = _climb(Z, used, state, y, w)
    while _delete(Z, used, a, y, w, deletion):
        score, cut = best_cut(Z @ a, y, w)
        a, cut, score = _climb(Z, used, (a, cut, score), y, w)
    return a / scale, gain_of(score, y, w)
