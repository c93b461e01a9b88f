"""Every binary split of a node, by enumeration, with its exact impurity decrease.

Weights and targets are floats, hence fractions: Gini and variance are computed without rounding, so
that two splits are tied exactly when they should be. Entropy is summed with :func:`math.fsum`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Number = Fraction | float

#: Stands for a missing value among the category codes.
MISSING = -1
#: Weights this close, as a share of the node's weight, are tied.
TIE = Fraction(1, 10**13)


@dataclass(frozen=True)
class Split:
    """A candidate: the rows that go left, and what it gains.

    ``threshold`` is NaN for a categorical feature; ``missing_left`` is None when no row of the
    node misses the feature. A categorical split has no direction: its left side is the one with
    the lowest category.
    """

    feature: int
    threshold: float
    missing_left: bool | None
    left: frozenset[int]
    gain: Number


def whole_numbers(values: Sequence[float] | Floats) -> tuple[list[int], int]:
    """Floats as whole multiples of one over a common denominator.

    Examples
    --------
    >>> whole_numbers([0.5, 3.0, 0.25])
    ([2, 12, 1], 4)
    """
    fractions = [Fraction(float(v)) for v in values]
    common = math.lcm(*(f.denominator for f in fractions)) if fractions else 1
    return [int(f * common) for f in fractions], common


class Samples:
    """Targets and weights of some rows, ready to give the impurity of any subset.

    Examples
    --------
    >>> Samples([0, 1, 1, 1], [1.0, 1.0, 1.0, 1.0], "gini").impurity([0, 1, 2, 3])
    Fraction(3, 8)
    >>> Samples([1.0, 4.0], [2.0, 1.0], "variance").impurity([0, 1])
    Fraction(2, 1)
    """

    def __init__(
        self, y: Sequence[float] | Floats, weights: Sequence[float] | Floats, criterion: str
    ) -> None:
        self.criterion = criterion
        self.weights, self.unit = whole_numbers(weights)
        self.y, self.y_unit = whole_numbers(y)

    def weight(self, rows: Sequence[int]) -> Fraction:
        """Weight of some rows."""
        return Fraction(sum(self.weights[r] for r in rows), self.unit)

    def class_weights(self, rows: Sequence[int]) -> dict[int, int]:
        """Weight of each class present among some rows, in the common unit."""
        total: dict[int, int] = {}
        for r in rows:
            total[self.y[r]] = total.get(self.y[r], 0) + self.weights[r]
        return total

    def is_pure(self, rows: Sequence[int]) -> bool:
        """Whether all rows have the same target."""
        return len({self.y[r] for r in rows}) <= 1

    def impurity(self, rows: Sequence[int]) -> Number:
        """Impurity of some rows."""
        if self.criterion == "variance":
            total = sum(self.weights[r] for r in rows)
            first = sum(self.weights[r] * self.y[r] for r in rows)
            second = sum(self.weights[r] * self.y[r] ** 2 for r in rows)
            return Fraction(total * second - first**2, (total * self.y_unit) ** 2)
        counts = list(self.class_weights(rows).values())
        total = sum(counts)
        if self.criterion == "gini":
            return Fraction(sum(a * b for a, b in itertools.permutations(counts, 2)), total**2)
        if self.criterion == "entropy":
            return math.fsum(-(c / total) * math.log2(c / total) for c in counts)
        if self.criterion == "error":
            return 1 - Fraction(max(counts), total)
        raise ValueError(f"criterion={self.criterion!r} is none of the impurities.")

    def mean(self, rows: Sequence[int]) -> Fraction:
        """Weighted mean target of some rows."""
        total = sum(self.weights[r] for r in rows)
        return Fraction(sum(self.weights[r] * self.y[r] for r in rows), total * self.y_unit)

    def gain(self, rows: Sequence[int], left: frozenset[int]) -> Number:
        """Decrease of impurity when ``left`` is split off from ``rows``."""
        sides = [r for r in rows if r in left], [r for r in rows if r not in left]
        total = sum(self.weights[r] for r in rows)
        decrease = self.impurity(rows)
        for side in sides:
            share: Number = Fraction(sum(self.weights[r] for r in side), total)
            if self.criterion == "entropy":
                share = float(share)
            decrease = decrease - share * self.impurity(side)
        return decrease


def midpoint(low: float, high: float) -> float:
    """The float next to the middle of two floats, below the upper one.

    Examples
    --------
    >>> midpoint(1.0, 2.0), midpoint(1.0, math.nextafter(1.0, 2.0))
    (1.5, 1.0)
    """
    middle = float((Fraction(low) + Fraction(high)) / 2)
    return middle if middle < high else low


def ordered_splits(
    values: Floats, rows: Sequence[int], feature: int, samples: Samples
) -> list[Split]:
    """All splits of an ordered feature: thresholds, each with both ways for missing values.

    Examples
    --------
    >>> x, y = np.array([1.0, 2.0, math.nan]), Samples([0, 0, 1], [1.0, 1.0, 1.0], "gini")
    >>> for s in ordered_splits(x, [0, 1, 2], 0, y):
    ...     print(s.threshold, s.missing_left, sorted(s.left), s.gain)
    1.5 True [0, 2] 1/9
    1.5 False [0] 1/9
    inf False [0, 1] 4/9
    """
    known = sorted({float(values[r]) for r in rows if not math.isnan(values[r])})
    missing = frozenset(r for r in rows if math.isnan(values[r]))
    found = []

    def add(threshold: float, missing_left: bool | None) -> None:
        left = {r for r in rows if values[r] <= threshold}
        side = frozenset(left | missing) if missing_left else frozenset(left)
        found.append(Split(feature, threshold, missing_left, side, samples.gain(rows, side)))

    for low, high in itertools.pairwise(known):
        for missing_left in (True, False) if missing else (None,):
            add(midpoint(low, high), missing_left)
    if missing and known:
        add(math.inf, False)
    return found


def categories_of(values: Floats, rows: Sequence[int]) -> list[int]:
    """Categories present among some rows; a missing value is a category of its own.

    Examples
    --------
    >>> categories_of(np.array([2.0, math.nan, 0.0]), [0, 1])
    [-1, 2]
    """
    return sorted({MISSING if math.isnan(values[r]) else int(values[r]) for r in rows})


def categorical_splits(
    values: Floats, rows: Sequence[int], feature: int, samples: Samples
) -> list[Split]:
    """All splits of a categorical feature: every way to part its categories in two.

    Examples
    --------
    >>> x, y = np.array([0.0, 1.0, 2.0]), Samples([0, 1, 0], [1.0, 1.0, 1.0], "gini")
    >>> [(sorted(s.left), str(s.gain)) for s in categorical_splits(x, [0, 1, 2], 0, y)]
    [([0], '1/9'), ([0, 1], '1/9'), ([0, 2], '4/9')]
    """
    present = categories_of(values, rows)
    code = {r: MISSING if math.isnan(values[r]) else int(values[r]) for r in rows}
    found = []
    for size in range(len(present) - 1):
        for others in itertools.combinations(present[1:], size):
            chosen = {present[0], *others}
            side = frozenset(r for r in rows if code[r] in chosen)
            missing_left = (MISSING in chosen) if MISSING in present else None
            gain = samples.gain(rows, side)
            found.append(Split(feature, math.nan, missing_left, side, gain))
    return found


def all_splits(
    X: Floats, is_categorical: Sequence[bool], rows: Sequence[int], samples: Samples
) -> list[Split]:
    """Every candidate split of the node that holds ``rows``.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0]])
    >>> splits = all_splits(X, [False, True], [0, 1], Samples([0, 1], [1.0, 1.0], "gini"))
    >>> [(s.feature, float(s.gain)) for s in splits]
    [(0, 0.5), (1, 0.5)]
    """
    found = []
    for j in range(X.shape[1]):
        search = categorical_splits if is_categorical[j] else ordered_splits
        found += search(X[:, j], rows, j, samples)
    return found


def prefix_splits(
    X: Floats, rows: Sequence[int], feature: int, key: dict[int, Number], splits: list[Split]
) -> list[Split]:
    """Those splits of a categorical feature that cut its categories where a key changes.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> splits = categorical_splits(X[:, 0], [0, 1, 2], 0, Samples([0, 1, 0], np.ones(3), "gini"))
    >>> [sorted(s.left) for s in prefix_splits(X, [0, 1, 2], 0, {0: 0, 1: 1, 2: 0}, splits)]
    [[0, 2]]
    """
    column = X[:, feature]
    of_row = {r: key[MISSING if math.isnan(column[r]) else int(column[r])] for r in rows}
    prefixes = set()
    for cut in set(of_row.values()):
        side = frozenset(r for r in rows if of_row[r] <= cut)
        prefixes |= {side, frozenset(rows) - side}
    return [s for s in splits if s.feature == feature and s.left in prefixes]


def sizes_of(weights: Floats) -> list[Fraction]:
    """Weights as numbers of samples: copies when whole, else scaled to mean one where present.

    Examples
    --------
    >>> [[str(size) for size in sizes_of(np.array(w))] for w in ([2.0, 0.0], [0.5, 0.0, 0.25])]
    [['2', '0'], ['4/3', '0', '2/3']]
    """
    exact = [Fraction(float(w)) for w in weights]
    if all(w.denominator == 1 for w in exact):
        return exact
    present = sum(1 for w in exact if w > 0)
    return [w * present / sum(exact) for w in exact]


def leaves_enough(
    split: Split, rows: Sequence[int], sizes: Sequence[Fraction], least: float
) -> bool:
    """Whether both sides of a split have at least the size ``least``.

    Examples
    --------
    >>> leaves_enough(Split(0, 1.5, None, frozenset([0]), 0.0), [0, 1, 2], [Fraction(1)] * 3, 2)
    False
    """
    left = sum(sizes[r] for r in rows if r in split.left)
    right = sum(sizes[r] for r in rows if r not in split.left)
    return min(left, right) >= least


def majority(samples: Samples, rows: Sequence[int], parent_label: int | None) -> int:
    """Label of a node: the heaviest class; a tie takes the parent's label, else the lowest class.

    Examples
    --------
    >>> tied = Samples([0, 1, 2, 1, 2], [1.0] * 5, "gini")
    >>> [majority(tied, range(5), parent) for parent in (None, 0, 1, 2)]
    [1, 1, 1, 2]
    """
    counts = samples.class_weights(rows)
    heaviest, total = max(counts.values()), sum(counts.values())
    tied = sorted(k for k, c in counts.items() if heaviest - c <= TIE * total)
    classes = [k // samples.y_unit for k in tied]
    return parent_label if parent_label in classes else classes[0]
