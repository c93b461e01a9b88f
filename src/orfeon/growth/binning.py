"""Binning the features, once for all trees.

A feature with few distinct values gets one bin per value; others are cut into bins of about equally
many rows. Missing values have their own bin. Each category has a bin; if there are more categories
than bins, the rarest share one.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orfeon.data.schema import Schema
from orfeon.data.sorting import N_DIGITS
from orfeon.kernels.histogram.bins import (
    PER_WORD,
    code_categories,
    code_ordered,
    cut_into_bins,
    sort_known,
)
from orfeon.utils.jit import kernel_view
from orfeon.utils.types import Floats, Integers

#: A code is one byte; one value is reserved for missing values.
MOST_BINS = 255
#: Maximum number of copies of samples to sort, unless there are more rows.
_MOST_COPIES = 1 << 18


@dataclass(frozen=True)
class Bins:
    """A binned table."""

    codes: npt.NDArray[np.uint64]
    n_bins: Integers
    offset: npt.NDArray[np.uint64]
    low: Floats
    high: Floats
    categories: list[npt.NDArray[np.uint8]]

    def column(self, feature: int) -> npt.NDArray[np.uint8]:
        """Bin of each row in one feature."""
        word, place = divmod(feature, PER_WORD)
        return np.asarray(self.codes[word] >> np.uint64(8 * place)).astype(np.uint8)


def bin_table(
    X: npt.NDArray[Any],
    schema: Schema,
    max_bins: int = MOST_BINS,
    n_threads: int = 1,
    copies: Floats | None = None,
    rows: Integers | None = None,
) -> Bins:
    """Bin the features of some rows, one after the other: X may have any type and layout."""
    if not 2 <= max_bins <= MOST_BINS:
        raise ValueError(f"max_bins={max_bins} is not allowed: it must be from 2 to {MOST_BINS}.")
    n_rows, n_features = X.shape if rows is None else (len(rows), X.shape[1])
    n_words = -(-n_features // PER_WORD)
    codes = np.zeros((n_words, n_rows), np.uint64)
    n_bins = np.zeros(n_features, np.int64)
    low, high = np.zeros((2, n_features, max_bins))
    categories = [np.zeros(0, np.uint8)] * n_features
    is_categorical = schema.is_categorical
    each = _limited_copies(copies)
    # The bins do not depend on the order of the rows, unless each has its number of copies.
    is_selection = rows is not None and (len(rows) < len(X) or each is not None)

    def code(j: int, scratch: _Scratch) -> None:
        column, keys, coded = X[:, j], scratch.keys, scratch.coded
        if column.dtype != np.float64 or not column.flags.c_contiguous:
            scratch.column[:] = column
            column = scratch.column
        column = kernel_view(column)
        chosen = column[rows] if is_selection else column
        if is_categorical[j]:
            categories[j] = _bin_categories(chosen, int(schema.n_categories[j]), max_bins, each)
            n_bins[j] = int(categories[j].max(initial=0)) + 1
            code_categories(column, categories[j], n_bins[j], coded)
        else:
            if each is None:
                n_known = sort_known(chosen, keys, np.empty(N_DIGITS, np.uint32))
                known, counts = keys[0, :n_known].view(np.float64), keys[1].view(np.uint32)
            else:
                known = _sorted_copies(chosen, each)
                known = known[: len(known) - int(np.isnan(known).sum())]  # missing values come last
                counts = np.empty(len(known), np.uint32)
            # A column without known values has one empty bin before that of missing values.
            n_bins[j] = cut_into_bins(known, max_bins, low[j], high[j], counts) or 1
            code_ordered(column, high[j], n_bins[j], n_bins[j], coded)
        words = codes[j // PER_WORD].view(np.uint8)
        words[j % PER_WORD :: PER_WORD] = coded if rows is None else coded[rows]

    # Made here and not by the threads, so that the memory is used again after them.
    n_threads = max(1, min(n_threads, n_words))
    spare = [_Scratch.of(len(X), n_rows if is_selection else len(X)) for _ in range(n_threads)]

    def code_word(word: int) -> None:
        scratch = spare.pop()
        for j in range(PER_WORD * word, min(PER_WORD * (word + 1), n_features)):
            code(j, scratch)
        spare.append(scratch)

    if n_threads == 1:
        for word in range(n_words):
            code_word(word)
    else:  # threads that wrote the same words would wait for each other
        with ThreadPoolExecutor(n_threads) as threads:
            list(threads.map(code_word, range(n_words)))
    width = np.ones(n_words * PER_WORD, np.int64)
    width[:n_features] = n_bins + 1
    offset = np.concatenate([[0], np.cumsum(width)])
    used = np.arange(max_bins) <= n_bins[:, None] - 1
    at = (offset[:n_features, None] + np.arange(max_bins))[used]
    lows, highs = np.zeros((2, offset[-1]))
    lows[at], highs[at] = low[used], high[used]
    return Bins(codes, n_bins, offset.astype(np.uint64), lows, highs, categories)


class _Scratch(NamedTuple):
    """Space for what is made of one column on the way."""

    column: Floats
    keys: npt.NDArray[np.uint64]
    coded: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, n_rows: int, n_chosen: int) -> _Scratch:
        keys = np.empty((2, n_chosen), np.uint64)
        return cls(np.empty(n_rows), keys, np.empty(n_rows, np.uint8))


def _limited_copies(copies: Floats | None) -> npt.NDArray[np.int64] | None:
    """Numbers of copies in the same proportions, fewer if they would not fit in memory."""
    if copies is None or (copies == copies[0]).all():
        return None
    least = max(1.0, float(copies.sum()) / max(_MOST_COPIES, len(copies)))
    return np.maximum(np.rint(copies / least), 1).astype(np.int64)


def _sorted_copies(column: Floats, copies: npt.NDArray[np.int64]) -> Floats:
    order = np.argsort(column)
    return np.asarray(np.repeat(column[order], copies[order]))


def _bin_categories(
    column: Floats, n_categories: int, max_bins: int, copies: npt.NDArray[np.int64] | None
) -> npt.NDArray[np.uint8]:
    """Bin of each category."""
    if n_categories <= max_bins:
        return np.arange(n_categories, dtype=np.uint8)
    known = ~np.isnan(column)
    of_known = None if copies is None else copies[known]
    counts = np.bincount(column[known].astype(np.int64), of_known, minlength=n_categories)
    frequent = np.sort(np.argsort(-counts, kind="stable")[: max_bins - 1])
    bins = np.full(n_categories, max_bins - 1, np.uint8)
    bins[frequent] = np.arange(max_bins - 1)
    return bins
