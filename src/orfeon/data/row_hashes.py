"""Rows known by their content: a hash for each, and which rows are copies of one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from orfeon.utils.types import Integers

Hashes = npt.NDArray[np.uint64]

#: Values hashed at once.
_BLOCK = 1 << 18


def hash_rows(X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> Hashes:
    """A number for each sample that depends on its values and its target alone."""
    n_rows, n_features = X.shape
    factors = _mix(np.arange(1, n_features + 2, dtype=np.uint64)) | np.uint64(1)
    hashes = _words(np.asarray(y)) * factors[-1]
    width = max(1, _BLOCK // max(n_rows, 1))
    for first in range(0, n_features, width):
        columns = slice(first, min(first + width, n_features))
        hashes += (_words(X[:, columns]) * factors[columns]).sum(axis=1, dtype=np.uint64)
    return _mix(hashes)


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


def copies(rows: Any, y: npt.NDArray[Any]) -> Integers:
    """A number for each sample that its copies share."""
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "biuf":
        return np.unique(hash_rows(rows, y), return_inverse=True)[1]
    if issparse(rows):
        plain = rows.tocsr().copy()
        plain.sum_duplicates()
        plain.eliminate_zeros()
        bounds = zip(plain.indptr, plain.indptr[1:], strict=False)
        spans = [slice(a, b) for a, b in bounds]
        values = [(plain.indices[s].tolist(), plain.data[s].tolist()) for s in spans]
    else:
        values = np.asarray(rows, dtype=object).tolist()
    # Spelled out, missing values of all kinds are equal to themselves.
    known: dict[tuple[str, Any], int] = {}
    spelled = zip(map(repr, values), y.tolist(), strict=True)
    return np.array([known.setdefault(sample, len(known)) for sample in spelled])


def seen_with_copies(seen: npt.NDArray[np.bool_], group: Integers) -> npt.NDArray[np.bool_]:
    """Whether members saw rows or any copy of them."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.asarray(np.logical_or.reduceat(seen[:, order], starts, axis=1)[:, group])
