"""Measures of pairs of members in the obvious way: one pair after the other.

Each takes votes of shape (n_members, n_samples), class codes from 0, and the labels, and gives the
values of each measure by name, for the pairs (0, 1), (0, 2), ..., (1, 2), ...
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import cohen_kappa_score, confusion_matrix

Votes = npt.NDArray[np.int32]
Labels = npt.NDArray[np.int64]
Values = dict[str, list[float]]

#: The measures of a pair that see right and wrong only.
_OF_RIGHT = ("q_statistic", "correlation", "disagreement", "double_fault")
#: All measures of a pair.
MEASURES = (*_OF_RIGHT, "kappa")


@dataclass(frozen=True)
class Peer:
    """A peer that measures pairs."""

    #: What it is called.
    name: str
    #: Takes votes and labels; gives values by measure, maybe not of all.
    measure: Callable[[Votes, Labels], Values]
    #: What is imported.
    package: str = "numpy"

    @property
    def is_installed(self) -> bool:
        """Whether it can be imported."""
        return importlib.util.find_spec(self.package) is not None


def n_pairs(n_members: int) -> int:
    """How many pairs so many members make.

    Examples
    --------
    >>> n_pairs(1000)
    499500
    """
    return n_members * (n_members - 1) // 2


def _of_counts(both: int, first: int, second: int, neither: int) -> tuple[float, ...]:
    """Q, correlation, disagreement and double fault from the four counts of a pair."""
    alike, unlike = both * neither, first * second
    spread = (both + first) * (second + neither) * (both + second) * (first + neither)
    total = both + first + second + neither
    return (
        (alike - unlike) / (alike + unlike),
        (alike - unlike) / math.sqrt(spread),
        (first + second) / total,
        neither / total,
    )


def by_masks(votes: Votes, y: Labels) -> Values:
    """With NumPy alone: masks of right votes, and tables of the votes."""
    n_classes = 1 + int(max(votes.max(), y.max()))
    right = votes == y
    values: Values = {name: [] for name in MEASURES}
    for i, k in combinations(range(len(votes)), 2):
        counts = [
            int(np.count_nonzero(first & second))
            for first in (right[i], ~right[i])
            for second in (right[k], ~right[k])
        ]
        for name, value in zip(_OF_RIGHT, _of_counts(*counts), strict=True):
            values[name].append(value)
        table = np.bincount(votes[i] * n_classes + votes[k], minlength=n_classes**2)
        shares = table.reshape(n_classes, n_classes) / len(y)
        by_chance = float(shares.sum(axis=0) @ shares.sum(axis=1))
        values["kappa"].append((float(np.trace(shares)) - by_chance) / (1 - by_chance))
    return values


def by_scikit_learn(votes: Votes, y: Labels) -> Values:
    """With scikit-learn's table of two labellings, and its kappa."""
    right = votes == y
    values: Values = {name: [] for name in MEASURES}
    for i, k in combinations(range(len(votes)), 2):
        table = confusion_matrix(right[i], right[k], labels=[True, False])
        for name, value in zip(_OF_RIGHT, _of_counts(*table.ravel().tolist()), strict=True):
            values[name].append(value)
        values["kappa"].append(float(cohen_kappa_score(votes[i], votes[k])))
    return values


def by_deslib(votes: Votes, y: Labels) -> Values:
    """With DESlib's functions of two classifiers; it has no kappa."""
    functions: Any = importlib.import_module("deslib.util.diversity")
    measures = dict(
        zip(
            _OF_RIGHT,
            (
                functions.Q_statistic, functions.correlation_coefficient,
                functions.disagreement_measure, functions.double_fault,
            ),
            strict=True,
        )
    )  # fmt: skip
    pairs = list(combinations(range(len(votes)), 2))
    return {
        name: [float(measure(y, votes[i], votes[k])) for i, k in pairs]
        for name, measure in measures.items()
    }


#: Who is compared with, where installed.
PEERS = (
    Peer("NumPy, pair by pair", by_masks),
    Peer("scikit-learn, pair by pair", by_scikit_learn, "sklearn"),
    Peer("DESlib, without kappa", by_deslib, "deslib"),
)
