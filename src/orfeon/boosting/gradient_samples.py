"""The samples of gradient boosting, in a form that depends on what they are alone.

Whole-number weights are copies. Copies of a sample become one row with a weight, so that it does
not matter, to the last bit, how they were given, and a heavy row costs no more than a light one.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.boosting.gradient import Sample
from orfeon.data.row_hashes import hash_rows
from orfeon.data.training_set import TrainingSet, are_counts
from orfeon.utils.types import Floats

#: Whole-number weights of a lower sum are taken as copies; copies are drawn up to this sum.
MOST_COPIES = 1e9


def gather_samples(data: TrainingSet) -> tuple[Sample, str]:
    """The samples of a training set, copies of one in one row."""
    hashes = hash_rows(data.X, data.y)
    order = np.lexsort((data.sample_weights, hashes))
    X, y, weights, hashes = data.X[order], data.y[order], data.sample_weights[order], hashes[order]
    copies = None
    if are_counts(weights) and weights.sum() < MOST_COPIES:
        first = _first_copies(X, y, hashes)
        copies = np.add.reduceat(weights, first)
        X, y, hashes = X[first], y[first], hashes[first]
    factors = 1.0 if data.class_factors is None else data.class_factors[y]
    if copies is None:
        sample = Sample(X, y, _scaled(weights * factors, np.ones(len(y))))
    else:
        own = _scaled(factors * np.ones(len(y)), copies)
        sample = Sample(X, y, own * copies, None if (copies == 1).all() else copies)
    return sample, sha256(hashes.tobytes() + sample.weights.tobytes()).hexdigest()


def _first_copies(
    X: Floats, y: npt.NDArray[Any], hashes: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """Where the copies of each sample begin, among rows sorted by their hashes."""
    again = np.flatnonzero(hashes[1:] == hashes[:-1]) + 1
    same = (X[again] == X[again - 1]) | (np.isnan(X[again]) & np.isnan(X[again - 1]))
    again = again[same.all(axis=1) & (y[again] == y[again - 1])]
    return np.delete(np.arange(len(hashes)), again)


def _scaled(weights: Floats, copies: Floats) -> Floats:
    """Weights of one copy: whole numbers as they are, others of about 1 on average."""
    if are_counts(weights) and np.sum(weights * copies) < MOST_COPIES:
        return weights
    if (weights == weights[0]).all():
        return np.ones(len(weights))
    # By powers of two, so that no bit is lost; first to where no mean can overflow.
    weights = weights * np.exp2(-np.round(np.log2(weights.max())))
    mean = np.sum(weights * copies) / copies.sum()
    return np.asarray(weights * np.exp2(-np.round(np.log2(mean))))
