"""Sparse matrices: checked rows, and training tables that hold the values other than zero.

A value that is not stored is 0, and a stored 0 is one, too. NaN is missing.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from orfeon.data.columns import infinity_error
from orfeon.data.frames import check_shape, default_name
from orfeon.data.schema import CategoricalFeatures, Schema, _categorical_mask
from orfeon.data.sorting import SORTED

#: Up to this many rows a rank and a row fit together in 32 bits.
MAX_NARROW_ROWS = 65_535
#: In place of the rank of zero: the feature has no zeros.
NO_ZEROS = (1 << 32) - 1
#: Values and rows are counted in 32 bits.
_MOST = (1 << 32) - 2


def read_sparse(X: Any) -> sparse.csr_matrix:
    """Check a sparse matrix: rows of floats, sorted by feature, without duplicates and zeros."""
    if X.ndim != 2:
        check_shape(X.shape)
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is a sparse matrix of dtype {X.dtype}.")
    check_shape(X.shape)
    rows = sparse.csr_matrix(X, dtype=np.float64, copy=False)
    if max(rows.shape[0], rows.nnz) > _MOST:
        raise ValueError(
            f"X has {rows.shape[0]:,} rows and {rows.nnz:,} stored values; at most {_MOST:,} of "
            "both are allowed."
        )
    if not rows.has_canonical_format or not rows.data.all():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    infinite = np.isinf(rows.data)
    if infinite.any():
        at = int(np.argmax(infinite))
        row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
        raise infinity_error(f"Feature {default_name(int(rows.indices[at]))!r}, row {row}")
    return rows


def learn_sparse(
    X: Any, categorical_features: CategoricalFeatures
) -> tuple[Schema, sparse.csr_matrix]:
    """The schema of a sparse matrix, all of whose features are ordered, and its rows."""
    rows = read_sparse(X)
    mask = _categorical_mask(categorical_features, rows.shape[1], None)
    if mask is not None and mask.any():
        raise ValueError(
            f"categorical_features={categorical_features!r} is not allowed with a sparse X, whose "
            "features are all ordered; pass X.toarray()."
        )
    return Schema.ordered(rows.shape[1]), rows


class SparseTable:
    """Features of the training samples for growing trees: non-zero values by column and by row."""

    def __init__(self, rows: sparse.csr_matrix, schema: Schema) -> None:
        self.n_rows, self.n_features = rows.shape
        self.schema = schema
        self.n_threads = 1
        self._rows = rows
        self.is_narrow = self.n_rows <= MAX_NARROW_ROWS
        record_type: Any = np.uint32 if self.is_narrow else np.uint64
        self.shift = record_type(16 if self.is_narrow else 32)
        self.mask = record_type(0xFFFF if self.is_narrow else 0xFFFFFFFF)

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """The arguments of the kernels."""
        # Records are ``rank << shift | row``, column after column, in ascending order. Ranks are
        # those of the dense table (:class:`orfeon.data.Table`), where zero has one, too. By row:
        # the rank of zero in each feature, where each row begins, and features and ranks of all
        # values, row after row.
        n_rows, n_features = self.n_rows, self.n_features
        counts = np.bincount(self._rows.indices, minlength=n_features)
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        row = np.repeat(np.arange(n_rows), np.diff(self._rows.indptr))
        column, value = self._rows.indices, self._rows.data
        order = np.lexsort((row, value, column))  # NaN comes last
        column, value = column[order], value[order]
        before = np.flatnonzero(column[1:] == column[:-1]) + 1
        is_new = np.ones(len(value), dtype=bool)
        is_new[before] = (value[before] != value[before - 1]) & ~np.isnan(value[before - 1])
        is_known = ~np.isnan(value)
        is_first = is_new & is_known
        n_negative = np.bincount(column[is_first & (value < 0)], minlength=n_features)
        has_zeros = counts < n_rows
        n_values = np.bincount(column[is_first], minlength=n_features) + has_zeros
        value_start = np.concatenate([[0], np.cumsum(n_values)]).astype(np.int64)
        # Ranks within the column: distinct values before it, and zero before the positive ones.
        known = np.cumsum(is_first) - 1
        first_known = np.concatenate([[0], np.cumsum(is_first)])[start[:-1]]
        rank = known - first_known[column] + (has_zeros[column] & ~(value < 0))
        rank = np.where(is_known, rank, n_values[column])
        values = np.zeros(int(value_start[-1]))
        values[(value_start[:-1][column] + rank)[is_first]] = value[is_first]
        record_type = type(self.shift)
        records = (rank.astype(record_type) << self.shift) | row[order].astype(record_type)
        by_row = np.empty(n_features + n_rows + 1 + 2 * len(rank), np.uint32)
        by_row[:n_features] = np.where(has_zeros, n_negative, NO_ZEROS)
        by_row[n_features : n_features + n_rows + 1] = self._rows.indptr
        rest = by_row[n_features + n_rows + 1 :]
        rest[: len(rank)] = self._rows.indices
        rest[len(rank) :][order] = rank
        kind = np.full(n_features, SORTED, np.uint8)
        return (
            records, by_row, start, kind, n_values.astype(np.int64), value_start, values,
            self.shift, self.mask, n_rows,
        )  # fmt: skip

    @property
    def arrays_for_cuts(self) -> tuple[Any, ...]:
        """The arguments of the kernels of random cuts."""
        records, by_row, start, kind, n_values, value_start, values, *packing = self.arrays
        no_codes = np.zeros(len(kind), np.int64)
        packed = np.array([int(one) for one in packing], dtype=np.int64)
        no_slices = np.zeros(0, np.uint8), np.zeros(0)
        return records, by_row, start, no_codes, n_values, values, value_start, packed, *no_slices
