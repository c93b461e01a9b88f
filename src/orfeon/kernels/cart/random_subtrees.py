"""Subtrees of random cuts in the cache, as :mod:`orfeon.kernels.cart.subtree` for sorted features.

The values of a small node's rows are copied to columns, and its items refer to the copy from then
on.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.coding import CATEGORY_CODES, CATEGORY_KEYS, CODES, KEYS
from orfeon.data.sorting import MISSING_KEY, key_of
from orfeon.kernels.cart.grow import NO_LIMIT
from orfeon.kernels.cart.random_cuts import row_of_item
from orfeon.kernels.cart.random_records import BEGIN, END, Features
from orfeon.kernels.cart.subtree import LEAST_ROWS, MOST_FEATURES, MOST_ROWS
from orfeon.utils.jit import array_step, inlined, step

#: Tables of so many numbers do not stay in the cache.
FAR_APART = 1 << 19
#: Rows are copied in groups, which stay in the cache while they are turned into columns.
_GROUP = 16
_LOW = (1 << 32) - 1


@step
def make_copy(features, max_leaves, regression):
    """Features with room for the rows of a small node, and for how many; 0 where it is no use."""
    width = features.kind.shape[0]
    room = np.int64(0)
    is_large = features.rows.shape[0] >= FAR_APART
    if is_large and width <= MOST_FEATURES and max_leaves >= NO_LIMIT and not regression:
        room = np.int64(MOST_ROWS)
    start = np.empty(width, np.int64)
    n_keys = np.int64(0)
    n_codes = np.int64(0)
    for f in range(width):
        if features.kind[f] == KEYS or features.kind[f] == CATEGORY_KEYS:
            start[f] = n_keys
            n_keys += room
        else:
            start[f] = n_codes
            n_codes += room
    near = Features(
        np.empty(0), np.empty(n_codes, np.uint8), np.empty(n_keys, np.int64), features.kind, start,
        features.n_values, features.values, features.value_start, features.slices,
        features.slices_per_unit,
    )  # fmt: skip
    return near, room


@array_step
def copy_values(rows, codes, kind, start, n_values, items, begin, n, near_codes, near_keys,
                near_start):  # fmt: skip
    """Copy the values of a node's rows to columns."""
    width = kind.shape[0]
    for first in range(0, n, _GROUP):
        last = min(first + _GROUP, n)
        for f in range(width):
            put = np.uint64(near_start[f] + first)
            if kind[f] == CODES or kind[f] == CATEGORY_CODES:
                for i in range(first, last):
                    row = row_of_item(items[np.uint64(begin + i)])
                    near_codes[put] = codes[np.uint64(start[f]) + row]
                    put += np.uint64(1)
                continue
            missing = np.int64(MISSING_KEY) if kind[f] == KEYS else n_values[f]
            for i in range(first, last):
                row = row_of_item(items[np.uint64(begin + i)])
                x = rows[row * np.uint64(width) + np.uint64(f)]
                key = missing
                if x == x:
                    key = key_of(x) if kind[f] == KEYS else np.int64(x)
                near_keys[put] = key
                put += np.uint64(1)
    for i in range(n):
        item = items[np.uint64(begin + i)]
        items[np.uint64(begin + i)] = (item & np.uint64(_LOW)) | (np.uint64(i) << np.uint64(32))


@inlined
def copy_rows(features, near, items, begin, n):
    copy_values(
        features.rows, features.codes, features.kind, features.start, features.n_values, items,
        begin, n, near.codes, near.keys, near.start,
    )  # fmt: skip


@inlined
def is_copied(room, entry):
    """Whether a node's rows are copied before it is split."""
    n = entry[END] - entry[BEGIN]
    return LEAST_ROWS <= n <= room
