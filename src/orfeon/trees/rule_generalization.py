"""Rules from the leaves of a tree, each without the conditions that do not help it.

A rule is evaluated by its pessimistic error rate on all training samples, not only on those of the
leaf. The condition without which that rate is lowest is deleted, as long as it does not rise. A
condition on a missing value does not hold.

References
----------
Quinlan (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann. Chapter 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from orfeon.forest import Forest
from orfeon.forest.conditions import Condition, Missing, Subset, branch_conditions
from orfeon.utils.types import Floats, Integers, Mask

#: Errors expected on new samples, from a weight and the errors within it.
Pessimism = Callable[[float, float], float]

#: A leaf gives a rule if it holds at least one sample, apart from rounding.
_ONE_SAMPLE = 1.0 - 1e-6
#: A rule that is wrong more often is not used.
_LARGEST_ERROR = 0.7


@dataclass(frozen=True)
class Generalized:
    """A generalised rule: its conditions, and what they cover in training."""

    conditions: tuple[Condition, ...]
    label: int
    error: float  # pessimistic rate
    covered: Mask


def leaf_paths(forest: Forest) -> Iterator[tuple[int, tuple[Condition, ...]]]:
    """Every leaf of a tree that holds a sample, and the tests on its path."""
    weight = forest.weights()
    pending: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while pending:
        node, path = pending.pop()
        width = int(forest.n_children[node])
        if width == 0 and weight[node] >= _ONE_SAMPLE:
            yield node, path
        if width > 0:
            first = int(forest.first_child[node])
            branches = enumerate(branch_conditions(forest, node))
            pending.extend(reversed([(first + b, (*path, _known(c))) for b, c in branches]))


def _known(condition: Condition) -> Condition:
    """The condition on known values: neither missing ones nor categories new to the node."""
    if isinstance(condition, Subset):
        condition = replace(condition, shared=frozenset())
    return replace(condition, missing=Missing.NO)


def generalize(
    conditions: Sequence[Condition],
    label: int,
    X: Floats,
    y: Integers,
    weights: Floats,
    pessimism: Pessimism,
) -> Generalized | None:
    """Delete conditions; ``None`` if none is left, or if the rule does not beat its class's share.

    The share is (class weight + 1) / (weight + 2). A rule that is wrong in more than 70% of the
    samples is dropped, too.
    """
    wrong = np.where(y == label, 0.0, weights)
    total = float(weights.sum())
    default = 1.0 - (total - float(wrong.sum()) + 1.0) / (total + 2.0)
    fails = np.array([~c.covers(X) for c in conditions], bool).reshape(len(conditions), len(X))
    n_failed = fails.sum(axis=0)
    # Where a sample fails one condition, the sum of the failed ones' numbers is its number.
    which = np.arange(len(conditions)) @ fails
    kept = list(range(len(conditions)))

    def rate(weight: float, errors: float) -> float:
        return pessimism(weight, errors) / weight if weight > 0 else default

    while True:
        inside, nearly = n_failed == 0, n_failed == 1
        weight, errors = float(weights[inside].sum()), float(wrong[inside].sum())
        error = rate(weight, errors)
        more = np.bincount(which[nearly], weights[nearly], len(conditions))
        more_wrong = np.bincount(which[nearly], wrong[nearly], len(conditions))
        without = [rate(weight + more[d], errors + more_wrong[d]) for d in kept]
        if not kept or min(without) > error:
            break
        # The last of equals is the test furthest down.
        place = len(without) - 1 - int(np.argmin(without[::-1]))
        deleted = kept.pop(place)
        n_failed = n_failed - fails[deleted]
        which = which - deleted * fails[deleted]
    if not kept or weight == 0 or error >= default or error > _LARGEST_ERROR:
        return None
    return Generalized(tuple(conditions[d] for d in kept), label, error, inside)
