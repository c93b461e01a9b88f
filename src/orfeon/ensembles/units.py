"""Training examples as units in an order that depends on their content alone.

Whole-number weights are copies, and each copy is a unit of its own: a bootstrap sample may hold one
copy of an example and not the other. Units are sorted by a hash of their values and target, so that
the same set of examples gives the same ensemble however it was written down.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.tabular import TrainingData, are_counts

#: Whole-number weights are taken as copies up to this many units, or ten for each row.
MAX_UNITS = 10_000_000
#: Values hashed at once.
_BLOCK = 1 << 18

Hashes = npt.NDArray[np.uint64]


def _mix(words: Hashes) -> Hashes:
    """Scramble the bits of some words (the finaliser of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _words(values: npt.NDArray[Any]) -> Hashes:
    """Numbers as words: equal numbers are equal words, and so are all missing values."""
    numbers = values.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    numbers[np.isnan(numbers)] = np.nan
    return _mix(numbers.view(np.uint64))


def hash_rows(X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> Hashes:
    """A number for each example that depends on its values and its target alone."""
    n_rows, n_attributes = X.shape
    factors = _mix(np.arange(1, n_attributes + 2, dtype=np.uint64)) | np.uint64(1)
    hashes = _words(np.asarray(y)) * factors[-1]
    width = max(1, _BLOCK // max(n_rows, 1))
    for first in range(0, n_attributes, width):
        columns = slice(first, min(first + width, n_attributes))
        hashes += (_words(X[:, columns]) * factors[columns]).sum(axis=1, dtype=np.uint64)
    return _mix(hashes)


def as_units(data: TrainingData) -> tuple[TrainingData, str]:
    """The same training set as units, in an order that depends on their content alone."""
    hashes = hash_rows(data.X, data.y)
    order = np.lexsort((data.weights, hashes))
    weights = data.weights[order]
    if are_counts(weights) and weights.sum() <= max(MAX_UNITS, 10 * len(weights)):
        order = np.repeat(order, weights.astype(np.int64))
        weights = np.ones(len(order))
    units = replace(data, X=data.X[order], y=data.y[order], weights=weights, rows=data.rows[order])
    return units, sha256(hashes[order].tobytes() + weights.tobytes()).hexdigest()
