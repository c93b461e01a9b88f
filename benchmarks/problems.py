"""The data of the benchmarks, and the perturbations that make ensembles of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import make_classification

from orfeon.datasets import make_twonorm, make_waveform

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Switched share of the labels, relative to its upper limit (K - 1) / K.
RELATIVE_SWITCH_RATE = 0.6


@dataclass(frozen=True)
class Data:
    """A training set that all libraries see alike."""

    #: What it is.
    name: str
    #: Rounded to float32, so that scikit-learn's trees lose nothing.
    X: Floats
    #: Class codes.
    y: Integers
    #: The features whose values are codes of categories.
    categorical: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return len(self.X), self.X.shape[1]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1

    @cached_property
    def narrow(self) -> npt.NDArray[np.float32]:
        """X in the type that scikit-learn's trees want, so that they need not convert it."""
        return self.X.astype(np.float32, copy=False)

    @cached_property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The narrow X column by column, as ydf wants it."""
        return {f"x{j}": np.ascontiguousarray(column) for j, column in enumerate(self.narrow.T)}


def _data(name: str, X: Any, y: Any) -> Data:
    return Data(name, np.asarray(X, np.float32).astype(np.float64), np.asarray(y, np.int64))


def waveform(n_rows: int = 300, seed: int = 0) -> Data:
    return _data("waveform", *make_waveform(n_rows, random_state=seed))


def twonorm(n_rows: int = 300, seed: int = 0) -> Data:
    return _data("twonorm", *make_twonorm(n_rows, random_state=seed))


def clusters(n_rows: int, n_features: int, seed: int = 0) -> Data:
    """Three classes of gaussian clusters; some features are redundant, some are noise."""
    X, y = make_classification(
        n_rows, n_features, n_informative=n_features // 2, n_redundant=n_features // 5,
        n_classes=3, flip_y=0.05, random_state=seed,
    )  # fmt: skip
    return _data("clusters", X, y)


def with_test(make: Callable[[int], Data], n_rows: int, n_test: int) -> tuple[Data, Data]:
    """A training set, and rows of the same problem that are not in it.

    Examples
    --------
    >>> training, test = with_test(waveform, 300, 1000)
    >>> training.shape, test.shape
    ((300, 21), (1000, 21))
    """
    whole = make(n_rows + n_test)
    training = Data(whole.name, whole.X[:n_rows].copy(), whole.y[:n_rows])
    return training, Data(whole.name, whole.X[n_rows:].copy(), whole.y[n_rows:])


def bootstrap_counts(n_rows: int, n_trees: int, seed: int = 0) -> Integers:
    """How often each row is in each tree's bootstrap sample, of shape (n_trees, n_rows)."""
    rng = np.random.default_rng(seed)
    drawn = (rng.integers(n_rows, size=n_rows) for _ in range(n_trees))
    return np.stack([np.bincount(rows, minlength=n_rows) for rows in drawn])


def switched_labels(data: Data, n_trees: int, seed: int = 0) -> Integers:
    """Labels of which a share was switched to another class, of shape (n_trees, n_rows)."""
    rng = np.random.default_rng(seed)
    n_rows, n_classes = len(data.y), data.n_classes
    n_switched = round(RELATIVE_SWITCH_RATE * (n_classes - 1) / n_classes * n_rows)
    labels = np.tile(data.y, (n_trees, 1))
    for tree in labels:
        rows = rng.choice(n_rows, n_switched, replace=False)
        tree[rows] = (tree[rows] + rng.integers(1, n_classes, size=n_switched)) % n_classes
    return labels
