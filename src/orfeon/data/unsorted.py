"""A training table for random cuts, which need the values of each feature but not their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.schema import Schema
from orfeon.data.sorting import MISSING_KEY, key_of, value_of
from orfeon.utils.jit import array_step, kernel, kernel_view

#: How the values of a feature are stored by column: codes of 8 bits or keys of 64 bits, of ordered
#: values or of categories.
CODES, KEYS, CATEGORY_CODES, CATEGORY_KEYS = 0, 1, 2, 3
#: The most values that codes of 8 bits distinguish, besides missing values.
MOST_CODES = 254
#: The code of a missing value of an ordered feature.
MISSING_CODE = 255
#: Slots of the hash table that the values of a feature are counted in.
_SLOTS = 1024


class UnsortedTable:
    """Features of the training samples by row and by column, for random cuts.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Encoded values: codes for categorical features, NaN where missing.
    schema : Schema
        The features.

    Attributes
    ----------
    rows : ndarray of shape (n_rows * n_features,)
        The encoded values, row after row.
    kind : ndarray of shape (n_features,)
        ``CODES``, ``KEYS``, ``CATEGORY_CODES`` or ``CATEGORY_KEYS``.
    codes : ndarray of uint8
        Codes of the features with few values, one feature after the other, in the order of the
        values; ``MISSING_CODE`` where missing, or the number of categories.
    keys : ndarray of int64
        The same for the other features: keys in the order of the values, or category codes.
    start : ndarray of shape (n_features,)
        Where a feature begins in ``codes`` or in ``keys``.
    n_values : ndarray of shape (n_features,)
        Number of categories, or of distinct values if they are coded.
    values : ndarray
        The values of the codes of ordered features, ascending, one feature after the other.
    value_start : ndarray of shape (n_features,)
        Where a feature's values begin.
    """

    def __init__(self, X: npt.NDArray[np.float64], schema: Schema) -> None:
        X = kernel_view(np.ascontiguousarray(X, dtype=np.float64))
        n_rows, n_features = X.shape
        self.rows = X.ravel()
        self.n_values = schema.n_categories.copy()
        self.kind = np.empty(n_features, np.int64)
        self.start = np.empty(n_features, np.int64)
        self.value_start = np.zeros(n_features, np.int64)
        values, n_values = np.empty((n_features, MOST_CODES)), 0
        slots = np.empty(_SLOTS, np.int64)
        n_coded = n_keyed = 0
        for f, is_categorical in enumerate(schema.is_categorical):
            if is_categorical:
                few = self.n_values[f] <= MOST_CODES
                self.kind[f] = CATEGORY_CODES if few else CATEGORY_KEYS
            else:
                count = few_values(self.rows, n_features, f, slots, values[f])
                few = count >= 0
                self.kind[f] = CODES if few else KEYS
                self.n_values[f] = max(count, 0)
                self.value_start[f] = n_values
                n_values += self.n_values[f]
            self.start[f] = (n_coded if few else n_keyed) * n_rows
            n_coded, n_keyed = n_coded + int(few), n_keyed + int(not few)
        self.values = np.empty(n_values)
        for f in np.flatnonzero(self.kind == CODES):
            first = self.value_start[f]
            self.values[first : first + self.n_values[f]] = values[f, : self.n_values[f]]
        self.codes = np.empty(n_coded * n_rows, np.uint8)
        self.keys = np.empty(n_keyed * n_rows, np.int64)
        fill_columns(
            self.rows, self.kind, self.start, self.n_values, self.value_start, self.values,
            self.codes, self.keys,
        )  # fmt: skip

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The arguments of the kernels."""
        return (
            self.rows, self.codes, self.keys, self.kind, self.start, self.n_values, self.values,
            self.value_start,
        )  # fmt: skip


@array_step
def code_of(values, first, last, x):
    """The last of the ascending ``values[first:last]`` that is at most ``x``, from 0 on."""
    low = np.int64(first)
    size = np.int64(last - first)
    while size > 1:
        half = size >> np.int64(1)
        low += half if values[np.uint64(low + half)] <= x else np.int64(0)
        size -= half
    return low - first


@kernel
def few_values(rows, width, f, slots, values):
    """Write the distinct values of a feature, ascending; returns how many, -1 if too many."""
    # Open addressing: a slot holds a key, or that of a missing value if it is empty.
    for s in range(slots.shape[0]):
        slots[s] = MISSING_KEY
    most = values.shape[0]
    count = 0
    for i in range(f, rows.shape[0], width):
        x = rows[i]
        if x != x:
            continue
        key = key_of(x)
        s = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(54)
        while slots[s] != key and slots[s] != MISSING_KEY:
            s = (s + np.uint64(1)) & np.uint64(_SLOTS - 1)
        if slots[s] == key:
            continue
        if count == most:
            return -1
        slots[s] = key
        value = value_of(key)
        at = count
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
        count += 1
    return count


@kernel
def fill_columns(rows, kind, start, n_values, value_start, values, codes, keys):
    """Write the codes and keys of all features, a few rows at a time."""
    width = kind.shape[0]
    n_rows = rows.shape[0] // width
    for begin in range(0, n_rows, 64):
        end = min(begin + 64, n_rows)
        for f in range(width):
            first = start[f]
            known = n_values[f]
            if kind[f] == KEYS:
                for i in range(begin, end):
                    x = rows[i * width + f]
                    keys[first + i] = key_of(x) if x == x else MISSING_KEY
            elif kind[f] == CATEGORY_KEYS:
                for i in range(begin, end):
                    x = rows[i * width + f]
                    keys[first + i] = np.int64(x) if x == x else known
            elif kind[f] == CATEGORY_CODES:
                for i in range(begin, end):
                    x = rows[i * width + f]
                    codes[first + i] = np.int64(x) if x == x else known
            else:
                own = value_start[f]
                for i in range(begin, end):
                    x = rows[i * width + f]
                    codes[first + i] = code_of(values, own, own + known, x) if x == x else MISSING_CODE
