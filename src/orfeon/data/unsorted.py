"""A training table for random cuts, which need the values of each feature but not their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.data.coding import (
    CATEGORY_CODES,
    CATEGORY_KEYS,
    CODES,
    KEYS,
    MOST_CODES,
    N_SLICES,
    N_SLOTS,
    few_values,
    fill_columns,
    slice_values,
)
from orfeon.data.schema import Schema
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats, Integers

#: So few values are searched without slices.
_FEW_SEARCHED = 8


class UnsortedTable:
    """Features of the training samples by row and by column, for random cuts."""

    rows: Floats  # encoded values, row after row; NaN where missing
    kind: Integers  # CODES, KEYS, CATEGORY_CODES or CATEGORY_KEYS
    #: Features with few values, column after column, in the order of the values. Where missing:
    #: MISSING_CODE, or the number of categories.
    codes: npt.NDArray[np.uint8]
    keys: Integers  # the other features: keys in the order of the values, or category codes
    start: Integers  # where a feature begins in codes or in keys
    n_values: Integers  # number of categories, or of distinct values if they are coded
    values: Floats  # values of the codes of ordered features, ascending
    value_start: Integers  # where a feature begins in values
    #: Values of each feature in the slices before each (:func:`orfeon.data.coding.slice_values`).
    slices: npt.NDArray[np.uint8]
    slices_per_unit: Floats  # 0 where there are none

    def __init__(self, X: npt.NDArray[np.float64], schema: Schema) -> None:
        X = kernel_view(np.ascontiguousarray(X, dtype=np.float64))
        n_rows, n_features = X.shape
        self.rows = X.ravel()
        self.n_values = schema.n_categories.copy()
        self.kind = np.empty(n_features, np.int64)
        self.start = np.empty(n_features, np.int64)
        self.value_start = np.zeros(n_features, np.int64)
        values = np.empty((n_features, MOST_CODES))
        slots = np.empty(N_SLOTS, np.int64)
        n_coded = n_keyed = n_values = 0
        for f, is_categorical in enumerate(schema.is_categorical):
            if is_categorical:
                few = bool(self.n_values[f] <= MOST_CODES)
                self.kind[f] = CATEGORY_CODES if few else CATEGORY_KEYS
            else:
                count = few_values(self.rows, n_features, f, slots, values[f])
                few = count >= 0
                self.kind[f] = CODES if few else KEYS
                self.n_values[f] = max(count, 0)
                self.value_start[f] = n_values
                n_values += int(self.n_values[f])
            self.start[f] = (n_coded if few else n_keyed) * n_rows
            n_coded, n_keyed = n_coded + int(few), n_keyed + int(not few)
        self.values = np.empty(n_values)
        for coded in np.flatnonzero(self.kind == CODES):
            first, count = self.value_start[coded], self.n_values[coded]
            self.values[first : first + count] = values[coded, :count]
        self._slice()
        self.codes = np.empty(n_coded * n_rows, np.uint8)
        self.keys = np.empty(n_keyed * n_rows, np.int64)
        fill_columns(
            self.rows, self.kind, self.start, self.n_values, self.value_start, self.values,
            self.codes, self.keys,
        )  # fmt: skip

    def _slice(self) -> None:
        """Prepare the search for the code of a number."""
        n_features = len(self.kind)
        self.slices_per_unit = np.zeros(n_features)
        self.slices = np.zeros((n_features, N_SLICES + 1), np.uint8)
        for f in np.flatnonzero(self.kind == CODES):
            first, count = self.value_start[f], self.n_values[f]
            if count > _FEW_SEARCHED:
                own = self.values[first : first + count]
                self.slices_per_unit[f] = slice_values(own, self.slices[f])

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The arguments of the kernels."""
        return (
            self.rows, self.codes, self.keys, self.kind, self.start, self.n_values, self.values,
            self.value_start, self.slices.ravel(), self.slices_per_unit,
        )  # fmt: skip
