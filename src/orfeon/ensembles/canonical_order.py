"""Training samples as units in an order that depends on their content alone.

Whole-number weights are copies, and each copy is a unit of its own: a bootstrap sample may hold one
copy of a sample and not the other. Units are sorted by a hash of their values and target, so that
the same set of samples gives the same ensemble however it was written down.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import numpy as np

from orfeon.base import TrainingSet, are_counts
from orfeon.data.row_hashes import hash_rows

#: Whole-number weights are taken as copies up to this many units, or ten for each row.
MAX_UNITS = 10_000_000


def as_units(data: TrainingSet) -> tuple[TrainingSet, str]:
    """The same training set as units, in an order that depends on their content alone."""
    hashes = hash_rows(data.X, data.y)
    order = np.lexsort((data.weights, hashes))
    weights = data.weights[order]
    if are_counts(weights) and weights.sum() <= max(MAX_UNITS, 10 * len(weights)):
        order = np.repeat(order, weights.astype(np.int64))
        weights = np.ones(len(order))
    units = replace(data, X=data.X[order], y=data.y[order], weights=weights, rows=data.rows[order])
    return units, sha256(hashes[order].tobytes() + weights.tobytes()).hexdigest()
