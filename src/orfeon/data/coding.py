"""Codes and keys of the values of each feature, for random cuts.

Random cuts need no order of the samples, but numbers that compare as the values do: codes of 8 bits
for features of few values, which many rows of fit in the cache, and keys of 64 bits for others.
"""

from __future__ import annotations

import numpy as np

from orfeon.data.sorting import MISSING_KEY, key_of, value_of
from orfeon.utils.jit import array_step, kernel

#: How the values of a feature are stored by column: codes of 8 bits or keys of 64 bits, of ordered
#: values or of categories.
CODES, KEYS, CATEGORY_CODES, CATEGORY_KEYS = 0, 1, 2, 3
#: The most values that codes of 8 bits distinguish, besides missing values.
MOST_CODES = 254
#: The code of a missing value of an ordered feature.
MISSING_CODE = 255
#: Slices of equal width between the least and the greatest value of a feature.
N_SLICES = 256
#: Slots of the hash table that the values of a feature are counted in, a power of two.
N_SLOTS = 1024
#: What is left of a 64-bit hash when it is shifted to a slot.
_HASH_SHIFT = 54


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


@array_step
def code_near(values, first, low, high, x, slices, at, scale):
    """The code of ``x``, as ``low + code_of(values, first + low, first + high, x)``."""
    # ``slices`` counts the values in the slices before each. Rounding is monotone, so values of a
    # lower slice than that of x are below x, and those of a higher one are above.
    if scale > 0.0:
        k = np.uint64((x - values[np.uint64(first)]) * scale)
        k = np.uint64(at) + min(k, np.uint64(N_SLICES - 1))
        low = max(low, np.int64(slices[k]) - np.int64(1))
        high = min(high, np.int64(slices[k + np.uint64(1)]))
    return low + code_of(values, first + low, first + high, x)


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
        s = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(_HASH_SHIFT)
        while slots[s] != key and slots[s] != MISSING_KEY:
            s = (s + np.uint64(1)) & np.uint64(N_SLOTS - 1)
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
def slice_values(values, slices):
    """Count the values in the slices before each; returns slices per unit, 0 if that is no use."""
    n = values.shape[0]
    width = values[n - 1] - values[0] if n > 1 else 0.0
    scale = N_SLICES / width if width > 0.0 else 0.0
    if not scale * width < np.inf:
        return 0.0
    count = 0
    for k in range(N_SLICES + 1):
        while count < n and np.int64(min((values[count] - values[0]) * scale, N_SLICES - 1.0)) < k:
            count += 1
        slices[k] = count
    return scale


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
                    codes[first + i] = (
                        code_of(values, own, own + known, x) if x == x else MISSING_CODE
                    )
