"""A training table, sorted once and shared by all members and threads.

Trees need each feature in sorted order. A :class:`Table` sorts every feature once; each tree then
only filters and partitions.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.data.schema import CategoricalFeatures, Schema
from orfeon.data.sorting import (
    CATEGORICAL,
    COUNTED,
    N_DIGITS,
    SORTED,
    code_column,
    order_column,
    rank_column,
)
from orfeon.data.unsorted import UnsortedTable

#: Features with at most this many distinct values are searched by counting.
FEW_VALUES = 64
#: The same where each value has this many rows or more on average.
_MANY_VALUES, _ROWS_PER_VALUE = 255, 32
#: A feature is sparse if it has more values, and less than one in so many rows is above the least.
_SPARSE_VALUES, _SPARSE_ROWS = 16, 3
#: Up to this many rows a rank and a row fit together in 32 bits.
MAX_NARROW_ROWS = 65_535
#: Up to this many rows columns are sorted by comparison, beyond that by digits.
MAX_COMPARED_ROWS = 2048
#: Held while a large table is sorted again.
_SORTING = threading.Lock()


class Table:
    """Features of the training samples, rank-coded and sorted.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Encoded values (see :meth:`orfeon.data.Schema.encode`): codes for categorical features,
        NaN where missing.
    schema : Schema, optional
        The features; default: all ordered.

    Attributes
    ----------
    ranks : ndarray of shape (n_features, n_rows)
        Rank of each value among the feature's distinct values, or its category code. A missing
        value has the rank ``n_values``.
    records : ndarray of shape (n_sorted, n_rows)
        ``rank << shift | row`` in ascending order, for the features of kind ``SORTED``.
    segment : ndarray of shape (n_features,)
        Row of ``records`` that holds a feature, or -1.
    values : ndarray
        Distinct values of all ordered features, one feature after the other, ascending.
    value_start : ndarray of shape (n_features + 1,)
        Where each feature's values begin.
    n_values : ndarray of shape (n_features,)
        Number of distinct known values, or of categories.
    kind : ndarray of shape (n_features,)
        ``SORTED``, ``COUNTED`` or ``CATEGORICAL``.
    shift, mask : integer scalars of the records' type
        To split a record into rank and row.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.data import Table
    >>> table = Table(np.array([[0.5, 2.0], [np.nan, 1.0], [0.1, 2.0]]))
    >>> table.ranks
    array([[1, 2, 0],
           [1, 0, 1]], dtype=uint16)
    >>> table.values
    array([0.1, 0.5, 1. , 2. ])
    """

    #: Threads that sort large tables.
    n_threads = 1

    def __init__(self, X: npt.NDArray[np.float64], schema: Schema | None = None) -> None:
        self.n_rows, self.n_features = X.shape
        self.schema = Schema.ordered(self.n_features) if schema is None else schema
        self._X = X
        record_type = self._record_type
        self.shift = record_type(16 if self._is_narrow else 32)
        self.mask = record_type(0xFFFF if self._is_narrow else 0xFFFFFFFF)

    @classmethod
    def from_data(cls, X: Any, categorical_features: CategoricalFeatures = "auto") -> Table:
        """Learn the schema of any table of data and prepare it.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            The training data.
        categorical_features : "auto", None, or a list of names, indices or a mask, default="auto"
            Which features are categorical; see :meth:`orfeon.data.Schema.learn`.

        Returns
        -------
        Table
            The prepared table.
        """
        schema, encoded = Schema.learn_and_encode(X, categorical_features)
        return cls(encoded, schema)

    @cached_property
    def unsorted(self) -> UnsortedTable:
        """The features for random cuts, which need no order."""
        return UnsortedTable(self._X, self.schema)

    @property
    def ranks(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        return self.in_order.ranks

    @property
    def records(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        known = self._with_records()
        if known is None:  # large tables have none until they are needed
            with _SORTING:
                known = self._with_records()
                if known is None:
                    self.__dict__["in_order"] = self._sort(with_records=True)
                    known = self._with_records()
        assert known is not None
        return known

    def _with_records(self) -> npt.NDArray[np.unsignedinteger[Any]] | None:
        sorted_ = self.in_order if self._is_narrow else self.__dict__.get("in_order")
        return None if sorted_ is None else sorted_.records

    @cached_property
    def ranks_by_row(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        """The ranks, flat, and behind them the same row after row."""
        ranks = self.ranks
        room: Any = ranks.base
        if getattr(room, "shape", None) != (2 * ranks.size,) or not room.flags.writeable:
            # The table comes from another process.
            room = np.empty(2 * ranks.size, ranks.dtype)
            room[: ranks.size] = ranks.ravel()
        room[ranks.size :].reshape(ranks.T.shape)[:] = ranks.T
        return np.asarray(room)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "ranks_by_row"}

    @property
    def segment(self) -> npt.NDArray[np.int64]:
        return self.in_order.segment

    @property
    def values(self) -> npt.NDArray[np.float64]:
        return self.in_order.values

    @property
    def value_start(self) -> npt.NDArray[np.int64]:
        return self.in_order.value_start

    @property
    def n_values(self) -> npt.NDArray[np.int64]:
        return self.in_order.n_values

    @property
    def kind(self) -> npt.NDArray[np.uint8]:
        return self.in_order.kind

    @cached_property
    def is_sparse(self) -> npt.NDArray[np.bool_]:
        """Whether an ordered feature has many values, of which most samples have the least."""
        above = np.array([np.count_nonzero(own) for own in self.ranks])
        many = (self.kind != CATEGORICAL) & (self.n_values > _SPARSE_VALUES)
        return np.asarray(many & (_SPARSE_ROWS * above < self.n_rows))

    @property
    def _is_narrow(self) -> bool:
        return bool(self.n_rows <= MAX_NARROW_ROWS)

    @property
    def _record_type(self) -> type[np.unsignedinteger[Any]]:
        return np.uint32 if self._is_narrow else np.uint64

    @cached_property
    def in_order(self) -> _Sorted:
        """The features in order, on first use."""
        return self._sort(with_records=self._is_narrow)

    def _sort(self, *, with_records: bool) -> _Sorted:
        X, n_rows, n_features = self._X, self.n_rows, self.n_features
        # Room for the ranks by row, too; pages never written take no memory.
        room = np.empty(2 * n_features * n_rows, np.uint16 if self._is_narrow else np.uint32)
        ranks = room[: n_features * n_rows].reshape(n_features, n_rows)
        segment = np.full(n_features, -1, dtype=np.int64)
        kind = np.full(n_features, CATEGORICAL, dtype=np.uint8)
        counts = self.schema.n_categories
        ordered = np.flatnonzero(~self.schema.is_categorical)
        for j in np.flatnonzero(self.schema.is_categorical):
            code_column(np.ascontiguousarray(X[:, j]), counts[j], ranks[j])
        # The maximum size.
        shape = (len(ordered), n_rows if with_records else 0)
        records = np.empty(shape, dtype=self._record_type)
        values = np.empty(len(ordered) * n_rows)
        value_counts = np.zeros(n_features, dtype=np.int64)
        n_sorted = n_values = 0
        most_counted = max(FEW_VALUES, min(_MANY_VALUES, n_rows // _ROWS_PER_VALUE))
        # Columns are sorted in blocks: few NumPy calls for few rows, little memory for many.
        n_threads = 1 if self._is_narrow else self.n_threads
        block = max(n_threads, (1 << 20) // max(n_rows, 1))
        for start in range(0, len(ordered), block):
            features = ordered[start : start + block]
            columns = np.ascontiguousarray(X[:, features].T)
            for j, column, order in zip(
                features, columns, _orders(columns, n_threads), strict=True
            ):
                own = records[n_sorted]
                count = rank_column(column, order, ranks[j], own, values[n_values:], self.shift)
                counts[j] = value_counts[j] = count
                n_values += count
                if count <= most_counted:
                    kind[j] = COUNTED
                    continue
                kind[j] = SORTED
                if count < n_rows <= MAX_COMPARED_ROWS:
                    own.sort()  # the order of equal values depends on the machine
                segment[j] = n_sorted
                n_sorted += 1
        return _Sorted(
            ranks, records[:n_sorted] if with_records else None, segment, values[:n_values],
            np.concatenate([[0], np.cumsum(value_counts)]).astype(np.int64), counts, kind,
        )  # fmt: skip


class _Sorted(NamedTuple):
    """The sorted part of a table."""

    ranks: npt.NDArray[np.unsignedinteger[Any]]
    records: npt.NDArray[np.unsignedinteger[Any]] | None
    segment: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    value_start: npt.NDArray[np.int64]
    n_values: npt.NDArray[np.int64]
    kind: npt.NDArray[np.uint8]


def _orders(columns: npt.NDArray[np.float64], n_threads: int = 1) -> npt.NDArray[np.int64]:
    """Permutations that sort columns; beyond ``MAX_COMPARED_ROWS`` rows they are stable."""
    n_rows = columns.shape[1]
    if n_rows <= MAX_COMPARED_ROWS:
        return np.argsort(columns, axis=1)
    orders = np.empty(columns.shape, np.int64)

    def sort(part: slice) -> None:
        keys, rows = np.empty((2, n_rows), np.uint64), np.empty((2, n_rows), np.uint32)
        count = np.empty(N_DIGITS, np.uint32)
        for column, order in zip(columns[part], orders[part], strict=True):
            order_column(column, keys, rows, count, order)

    if n_threads == 1:
        sort(slice(None))
        return orders
    with ThreadPoolExecutor(n_threads) as threads:
        list(threads.map(sort, [slice(k, None, n_threads) for k in range(n_threads)]))
    return orders


def copy_groups(table: Table, y: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Number the samples so that copies of one sample share a number.

    Parameters
    ----------
    table : Table
        The features.
    y : ndarray of shape (n_rows,)
        Class codes or targets.

    Returns
    -------
    ndarray of shape (n_rows,)
        Group of each row. Groups are numbered by content, so the order of the rows does not
        matter.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.data import Table
    >>> from orfeon.growth import copy_groups
    >>> copy_groups(Table(np.array([[2.0], [1.0], [2.0], [2.0]])), np.array([0, 0, 0, 1]))
    array([1, 0, 1, 2])
    """
    keys = (y, *table.ranks)
    order = np.lexsort(keys)
    new = np.zeros(len(order), dtype=bool)
    for key in keys:
        sorted_key = key[order]
        new[1:] |= sorted_key[1:] != sorted_key[:-1]
    groups = np.empty(len(order), np.int64)
    groups[order] = np.cumsum(new)
    return groups
