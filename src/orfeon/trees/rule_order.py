"""The order of rules of several classes, the class of what they leave, and which ones harm.

References
----------
Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann. Chapter 5.
"""

from __future__ import annotations

import numpy as np

from orfeon.utils.types import Floats, Integers, Mask


def order_rules(
    covered: Mask, labels: Integers, errors: Floats, y: Integers, weights: Floats, n_classes: int
) -> list[int]:
    """Rules class by class, and within a class by their pessimistic error.

    The next class is the one whose rules cover the least weight of other classes among the samples
    that no rule before covers.
    """
    order: list[int] = []
    left = np.ones(len(y), bool)
    waiting = list(range(n_classes))
    while waiting:
        wrong = [_false_positives(covered[labels == c], left & (y != c), weights) for c in waiting]
        c = waiting.pop(int(np.argmin(wrong)))
        its = np.flatnonzero(labels == c)
        order += its[np.argsort(errors[its], kind="stable")].tolist()
        left &= ~covered[its].any(axis=0)
    return order


def _false_positives(covered: Mask, others: Mask, weights: Floats) -> float:
    return float(weights[covered.any(axis=0) & others].sum())


def default_class(covered: Mask, y: Integers, weights: Floats, n_classes: int) -> int:
    """The class of most weight that no rule covers; of equals the heavier one, then the first."""
    left = ~covered.any(axis=0)
    outside = np.bincount(y[left], weights[left], n_classes)
    whole = np.bincount(y, weights, n_classes)
    return int(np.lexsort((-whole, -outside))[0])


def first_covering(covered: Mask) -> Integers:
    """The first rule that covers each sample, and the number of rules where none does."""
    none = np.ones((1, covered.shape[1]), bool)
    return np.asarray(np.argmax(np.concatenate([covered, none]), axis=0))


def drop_harmful(
    covered: Mask, labels: Integers, default: int, y: Integers, weights: Floats
) -> list[int]:
    """The rules that are left after dropping, one by one, the first whose omission saves errors."""
    kept = list(range(len(labels)))
    while True:
        harmful = _first_harmful(covered[kept], np.append(labels[kept], default), y, weights)
        if harmful is None:
            return kept
        kept.pop(harmful)


def _first_harmful(covered: Mask, answers: Integers, y: Integers, weights: Floats) -> int | None:
    first = first_covering(covered)
    decided = first < len(covered)
    rest = covered.copy()
    rest[first[decided], np.flatnonzero(decided)] = False
    is_right, would_be = answers[first] == y, answers[first_covering(rest)] == y
    harm = np.bincount(first, weights * (would_be.astype(float) - is_right), len(answers))
    worse = np.flatnonzero(harm[: len(covered)] > 0)
    return int(worse[0]) if len(worse) else None
