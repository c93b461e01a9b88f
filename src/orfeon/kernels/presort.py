"""Rank-coding of the attributes, done once for a whole ensemble.

Every ordered attribute is replaced by the ranks of its distinct values. A *record* packs the rank
and the row into one integer (``rank << shift | row``), so that a sorted attribute is a sorted array
of integers and a scan needs one load per example. Missing values get the rank after the last one.
"""

from __future__ import annotations

from orfeon.kernels.jit import kernel


@kernel
def rank_column(column, order, ranks, records, values, shift):
    """Ranks, sorted records and distinct values of one attribute, given its sorting permutation.

    Missing values (NaN) come last in ``order``. Returns the number of distinct known values.
    """
    n_rows = column.shape[0]
    n_values = 0
    previous = 0.0
    write_records = records.shape[0] > 0
    for i in range(n_rows):
        row = order[i]
        x = column[row]
        if x == x and (n_values == 0 or x != previous):
            values[n_values] = x
            previous = x
            n_values += 1
        rank = n_values - 1 if x == x else n_values
        ranks[row] = rank
        if write_records:
            records[i] = (records.dtype.type(rank) << shift) | records.dtype.type(row)
    return n_values


@kernel
def code_column(column, n_categories, ranks):
    """Ranks of a categorical attribute: its codes, missing values after the last one."""
    for row in range(column.shape[0]):
        x = column[row]
        ranks[row] = int(x) if x == x else n_categories
