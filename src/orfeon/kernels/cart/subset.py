"""Best subset of categories to send left.

For two classes and for regression, the optimum is a prefix of the categories ordered by the share
of class 1, or by mean (Breiman et al. 1984, section 4.2). For more classes every subset of up to
``EXHAUSTIVE`` present categories is tried; beyond that, as a heuristic, the prefixes of the K
orders by the share of each class. A missing value is one more category.
"""

from __future__ import annotations

import numpy as np

from orfeon.kernels.cart.criteria import VARIANCE, is_better, split_score
from orfeon.utils.jit import array_step

EXHAUSTIVE = 10


@array_step
def sort_by_key(order, n, key):
    """Sort ``order[:n]`` by ``key[order]`` in place (Shell sort: no allocation)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            item = order[i]
            j = i
            while j >= gap and key[order[j - gap]] > key[item]:
                order[j] = order[j - gap]
                j -= gap
            order[j] = item
        gap //= 3


@array_step
def _weight_of(criterion, stats):
    if criterion == VARIANCE:
        return stats[0]
    weight = np.int64(0)
    for c in range(stats.shape[0]):
        weight += stats[c]
    return weight


@array_step
def _scan_prefixes(criterion, histogram, order, n, left, total, weight, min_leaf, best, chosen):
    """Best prefix of ``order``, marked in ``chosen`` if it beats ``best``."""
    found = -1
    left[:] = 0
    for i in range(n - 1):
        for c in range(total.shape[0]):
            left[c] += histogram[order[i], c]
        weight_left = _weight_of(criterion, left)
        if weight_left >= min_leaf and weight - weight_left >= min_leaf:
            score = split_score(criterion, left, total)
            if is_better(criterion, score, best, weight):
                best = score
                found = i
    if found >= 0:
        for i in range(n):
            chosen[order[i]] = 1 if i <= found else 0
    return best, found >= 0


@array_step
def _try_all(criterion, histogram, present, n, left, total, weight, min_leaf, best, chosen):
    """Every subset of the present categories, one category moved at a time (Gray code)."""
    found = False
    best_code = 0
    left[:] = 0
    code = 0
    for k in range(1, 1 << (n - 1)):
        moved = 0
        while not (k >> moved) & 1:
            moved += 1
        code ^= 1 << moved
        if (code >> moved) & 1:
            for c in range(total.shape[0]):
                left[c] += histogram[present[moved], c]
        else:
            for c in range(total.shape[0]):
                left[c] -= histogram[present[moved], c]
        weight_left = _weight_of(criterion, left)
        if weight_left >= min_leaf and weight - weight_left >= min_leaf:
            score = split_score(criterion, left, total)
            if is_better(criterion, score, best, weight):
                best = score
                best_code = code
                found = True
    if found:
        for i in range(n):
            chosen[present[i]] = (best_code >> i) & 1
    return best, found


@array_step
def best_subset(criterion, histogram, present, n, key, left, total, min_leaf, best, chosen):
    """Best subset of the ``n`` categories in ``present``: (score, whether it beat ``best``)."""
    # ``chosen`` is 1 for the categories that go left.
    if n < 2:
        return best, False
    weight = _weight_of(criterion, total)
    if criterion == VARIANCE or total.shape[0] == 2:
        for i in range(n):
            stats = histogram[present[i]]
            size = stats[0] if criterion == VARIANCE else stats[0] + stats[1]
            key[present[i]] = float(stats[1]) / float(size)
        sort_by_key(present, n, key)
        return _scan_prefixes(
            criterion, histogram, present, n, left, total, weight, min_leaf, best, chosen
        )
    if n <= EXHAUSTIVE:
        return _try_all(
            criterion, histogram, present, n, left, total, weight, min_leaf, best, chosen
        )
    found = False
    for k in range(total.shape[0]):
        if total[k] == 0:
            continue
        for i in range(n):
            stats = histogram[present[i]]
            key[present[i]] = float(stats[k]) / float(_weight_of(criterion, stats))
        sort_by_key(present, n, key)
        best, improved = _scan_prefixes(
            criterion, histogram, present, n, left, total, weight, min_leaf, best, chosen
        )
        found = found or improved
    return best, found
