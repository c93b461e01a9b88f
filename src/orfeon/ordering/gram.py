"""Sums over samples that determine margin distance and orientation.

With c_t in {-1, +1} for each sample (0 where a member does not vote), these rules need only the
products c_t.c_s and the sums of the c_t. Both add up over chunks, partitions and machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.members.votes import EXACT_IN_SINGLE, NothingCountsError, Selection
from orfeon.utils.types import Integers

#: Whole numbers below this are exact in float64.
_DOUBLE = 2**53
#: Samples multiplied at once, and members per block of rows: the matrix is symmetric.
_SAMPLES, _ROWS = 4096, 1024


class CorrectnessGram:
    """Products of the members' correctness vectors, summed over the samples.

    Parameters
    ----------
    n_members : int
        Number of members.
    with_products : bool, default=True
        Whether all pairs are multiplied, which margin distance needs; orientation does not, and
        then memory grows only with the number of members.

    Attributes
    ----------
    totals : ndarray of int64 of shape (n_members,)
        Sum of each c_t.
    sizes : ndarray of int64 of shape (n_members,)
        Squared length of each c_t: the weight of the samples it votes on.
    with_all : ndarray of int64 of shape (n_members,)
        Product of each c_t with the sum of all c_t.
    total_weight : int
        Weight of all samples.

    Examples
    --------
    >>> from orfeon.ordering import CorrectnessGram, read_selection
    >>> first = read_selection([[0, 1], [1, 1]], [0, 1])
    >>> second = read_selection([[0, 0, 1], [0, 1, 1]], [0, 1, 1])
    >>> gram = CorrectnessGram(2)
    >>> gram.add(first)
    >>> gram.add(second)
    >>> gram.matrix
    array([[5., 1.],
           [1., 5.]], dtype=float32)
    """

    def __init__(self, n_members: int, *, with_products: bool = True) -> None:
        if n_members < 1:
            raise ValueError(f"n_members={n_members} is not allowed; at least 1 is needed.")
        self.totals = np.zeros(n_members, np.int64)
        self.sizes = np.zeros(n_members, np.int64)
        self.with_all = np.zeros(n_members, np.int64)
        self.total_weight = 0
        self.step: float | None = None
        self._upper: npt.NDArray[Any] | None = None
        if with_products:
            self._upper = np.zeros((n_members, n_members), np.float32)

    def __len__(self) -> int:
        return len(self.totals)

    @property
    def matrix(self) -> npt.NDArray[Any]:
        """The products of all pairs: whole numbers, in floats."""
        if self._upper is None:
            raise ValueError(
                "this CorrectnessGram was made with_products=False; margin distance needs them."
            )
        matrix = self._upper
        for first in range(0, len(self), _ROWS):  # blocks below the diagonal mirror those above
            last = min(first + _ROWS, len(self))
            matrix[last:, first:last] = matrix[first:last, last:].T
        return matrix

    def add(self, selection: Selection) -> None:
        """Add samples.

        Parameters
        ----------
        selection : Selection
            Votes of the same members on more samples.
        """
        if selection.is_regression:
            raise ValueError(
                "members that predict numbers have no correctness; classes are needed."
            )
        if selection.n_members != len(self):
            raise ValueError(
                f"the chunk has votes of {selection.n_members} members, and there are {len(self)}."
            )
        if self.step not in (None, selection.step):
            raise ValueError(
                f"sample weights come in steps of {selection.step:g} in this chunk and of "
                f"{self.step:g} before; give weights that are whole numbers in all chunks."
            )
        self._reserve(selection.total_weight)
        self.step = selection.step
        for first in range(0, selection.n_samples, _SAMPLES):
            self._add(selection.samples(slice(first, first + _SAMPLES)))

    def _reserve(self, more: int) -> None:
        """Widen the floats before sums could be rounded."""
        total = self.total_weight + more
        if total >= _DOUBLE // len(self):
            raise ValueError(
                f"the samples weigh {total:g} steps together, too much for exact sums; divide the "
                "sample weights until they are no longer whole numbers."
            )
        self.total_weight = total
        if self._upper is not None and self.total_weight >= EXACT_IN_SINGLE:
            self._upper = self._upper.astype(np.float64, copy=False)

    def _add(self, selection: Selection) -> None:
        single = selection.total_weight < EXACT_IN_SINGLE
        signs: Any = selection.correctness.astype(np.float32 if single else np.float64)
        weighted = signs
        if selection.weights.max() > 1:
            weighted = signs * selection.weights.astype(signs.dtype)
        everyone = signs.sum(axis=0, dtype=np.float64)
        self.totals += _whole(weighted.sum(axis=1, dtype=np.float64))
        self.with_all += _whole(weighted.astype(np.float64) @ everyone)
        self.sizes += (
            np.int64(selection.total_weight)
            if selection.is_complete
            else _whole((weighted * signs).sum(axis=1, dtype=np.float64))
        )
        if self._upper is not None:
            for first in range(0, len(self), _ROWS):
                rows = slice(first, min(first + _ROWS, len(self)))
                self._upper[rows, first:] += weighted[rows] @ signs[first:].T

    def __add__(self, other: CorrectnessGram) -> CorrectnessGram:
        if len(self) != len(other) or (self._upper is None) != (other._upper is None):
            raise ValueError("only sums over the same members, and of the same kind, can be added.")
        if None not in (self.step, other.step) and self.step != other.step:
            raise ValueError("sample weights come in other steps; they cannot be added.")
        both = CorrectnessGram(len(self), with_products=False)
        both.step = other.step if self.step is None else self.step
        both._upper = None if self._upper is None else self._upper.copy()
        both._reserve(self.total_weight + other.total_weight)
        for name in ("totals", "sizes", "with_all"):
            setattr(both, name, getattr(self, name) + getattr(other, name))
        if both._upper is not None:
            both._upper += other._upper
        return both


def _whole(values: npt.NDArray[np.float64]) -> Integers:
    return np.asarray(values.astype(np.int64))


def gram_of_chunks(
    chunks: Iterable[Any], read: Callable[..., Selection], *, with_products: bool
) -> CorrectnessGram:
    """Add up chunks."""
    gram: CorrectnessGram | None = None
    for selection in read_chunks(chunks, read):
        if gram is None:
            gram = CorrectnessGram(selection.n_members, with_products=with_products)
        gram.add(selection)
    if gram is None:
        raise ValueError("chunks holds no sample that counts; votes and labels are needed.")
    return gram


def read_chunks(chunks: Iterable[Any], read: Callable[..., Selection]) -> Iterator[Selection]:
    """Read chunks one by one; those in which no sample counts are left out."""
    for chunk in chunks:
        if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
            raise ValueError(
                f"chunks holds a {type(chunk).__name__}; each chunk is (votes, y) or (votes, y, "
                "sample_weight)."
            )
        try:
            yield read(*chunk)
        except NothingCountsError:
            continue
