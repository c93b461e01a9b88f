"""A training table, prepared once and shared by all members and all threads.

Growing a tree needs each attribute in sorted order. A :class:`Table` sorts every attribute once,
whatever the number of trees grown from it; each tree then only filters and partitions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.kernels.presort import code_column, rank_column
from orfeon.schema import CategoricalFeatures, Schema

#: Attributes with at most this many distinct values are sorted by counting, node by node.
FEW_VALUES = 64
#: Up to this many rows a rank and a row fit together in 32 bits.
MAX_NARROW_ROWS = 65_535
#: How an attribute is searched for splits.
SORTED, COUNTED, CATEGORICAL = 0, 1, 2


class Table:
    """Attributes of the training examples, rank-coded and sorted.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_attributes)
        Encoded values (see :meth:`orfeon.schema.Schema.encode`): codes for categorical attributes,
        NaN where missing.
    schema : Schema, optional
        What the attributes are; all ordered by default.

    Attributes
    ----------
    ranks : ndarray of shape (n_attributes, n_rows)
        Rank of each value among the attribute's distinct values, or its category code. A missing
        value has the rank ``n_values``.
    records : ndarray of shape (n_sorted, n_rows)
        ``rank << shift | row`` in ascending order, for the attributes of kind ``SORTED``.
    segment : ndarray of shape (n_attributes,)
        Row of ``records`` that holds an attribute, or -1.
    values : ndarray
        Distinct values of all ordered attributes, one attribute after the other, ascending.
    value_start : ndarray of shape (n_attributes + 1,)
        Where each attribute's values begin.
    n_values : ndarray of shape (n_attributes,)
        Number of distinct known values, or of categories.
    kind : ndarray of shape (n_attributes,)
        ``SORTED``, ``COUNTED`` or ``CATEGORICAL``.
    shift, mask : integer scalars of the records' type
        How to take a record apart.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.table import Table
    >>> table = Table(np.array([[0.5, 2.0], [np.nan, 1.0], [0.1, 2.0]]))
    >>> table.ranks
    array([[1, 2, 0],
           [1, 0, 1]], dtype=uint16)
    >>> table.values
    array([0.1, 0.5, 1. , 2. ])
    """

    def __init__(self, X: npt.NDArray[np.float64], schema: Schema | None = None) -> None:
        n_rows, n_attributes = X.shape
        self.schema = Schema.ordered(n_attributes) if schema is None else schema
        self.n_rows = n_rows
        self.n_attributes = n_attributes
        narrow = n_rows <= MAX_NARROW_ROWS
        record_type: type[np.unsignedinteger[Any]] = np.uint32 if narrow else np.uint64
        self.shift = record_type(16 if narrow else 32)
        self.mask = record_type(0xFFFF if narrow else 0xFFFFFFFF)
        self.ranks = np.empty((n_attributes, n_rows), dtype=np.uint16 if narrow else np.uint32)
        self.segment = np.full(n_attributes, -1, dtype=np.int64)
        self.kind = np.full(n_attributes, CATEGORICAL, dtype=np.uint8)
        self.n_values = self.schema.n_categories
        self._sort(X, record_type)

    @classmethod
    def from_data(cls, X: Any, categorical_features: CategoricalFeatures = "auto") -> Table:
        """Learn the schema of any table of data and prepare it.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            The training data.
        categorical_features : "auto", None, or a list of names, indices or a mask, default="auto"
            Which attributes are categorical; see :meth:`orfeon.schema.Schema.learn`.

        Returns
        -------
        Table
            The prepared table.
        """
        schema, encoded = Schema.learn_and_encode(X, categorical_features)
        return cls(encoded, schema)

    def _sort(self, X: npt.NDArray[np.float64], record_type: type[Any]) -> None:
        n_rows = self.n_rows
        ordered = np.flatnonzero(~self.schema.is_categorical)
        for j in np.flatnonzero(self.schema.is_categorical):
            code_column(np.ascontiguousarray(X[:, j]), self.n_values[j], self.ranks[j])
        records: list[npt.NDArray[Any]] = []
        values: list[npt.NDArray[np.float64]] = []
        value_counts = np.zeros(self.n_attributes, dtype=np.int64)
        # Columns are sorted in blocks: few NumPy calls when there are few rows, little memory
        # when there are many.
        block = max(1, (1 << 20) // max(n_rows, 1))
        for start in range(0, len(ordered), block):
            attributes = ordered[start : start + block]
            columns = np.ascontiguousarray(X[:, attributes].T)
            orders = np.argsort(columns, axis=1)
            for j, column, order in zip(attributes, columns, orders, strict=True):
                sorted_records = np.empty(n_rows, dtype=record_type)
                distinct = np.empty(n_rows)
                count = rank_column(
                    column, order, self.ranks[j], sorted_records, distinct, self.shift
                )
                self.n_values[j] = value_counts[j] = count
                values.append(distinct[:count].copy() if count < n_rows else distinct)
                if count > FEW_VALUES:
                    if count < n_rows:  # equal values came in an order that depends on the machine
                        sorted_records.sort()
                    self.kind[j] = SORTED
                    self.segment[j] = len(records)
                    records.append(sorted_records)
                else:
                    self.kind[j] = COUNTED
        self.records = np.array(records, dtype=record_type).reshape(len(records), n_rows)
        self.values = np.concatenate(values) if values else np.empty(0)
        self.value_start = np.concatenate([[0], np.cumsum(value_counts)]).astype(np.int64)
