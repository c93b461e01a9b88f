"""Which members left out which training samples, one bit each, and sums over those members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.kernels.left_out_sums import add_up_chosen
from orfeon.utils import saved
from orfeon.utils.types import Bits, Floats, Integers, Mask

#: Number of ones of each byte.
_N_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)


def pack(chosen: npt.NDArray[Any]) -> Bits:
    """Members by samples as bits: a row of bytes per sample, of eight members each."""
    return np.packbits(np.ascontiguousarray(chosen.T), axis=1, bitorder="little")


def narrow(counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Whole numbers in the smallest type that holds them; others as they are."""
    most = counts.max(initial=0)
    if most >= 1 << 32 or not np.array_equal(counts, np.rint(counts)):
        return counts
    return counts.astype(np.min_scalar_type(int(most)))


def unpack(bits: Bits, n_members: int) -> Mask:
    """Members by samples, from bits."""
    return np.unpackbits(bits, axis=1, count=n_members, bitorder="little").T.astype(bool)


def is_chosen(bits: Bits, member: int) -> Mask:
    """Whether a member is chosen, for each sample."""
    return np.asarray(bits[:, member >> 3] >> (member & 7) & 1, dtype=bool)


def sums_over_chosen(answers: Floats, bits: Bits, factor: float = 1.0) -> Floats:
    """Sum of the chosen members' answers, of shape (n_rows, n_samples), for each of the samples."""
    sums = np.zeros((answers.shape[1], len(bits)))
    add_up_chosen(np.ascontiguousarray(answers.T, np.float64), bits, factor, sums)
    return sums


@saved.attributes(
    rows=saved.indices,
    targets=saved.array(("f8", "i8"), 1, finite=True),
    weights=saved.array("f8", 1, finite=True, low=0.0),
    left_out=saved.array("u1", 2),
    n_members=saved.integer(1),
)
@dataclass(frozen=True, eq=False)
class LeftOutSamples:
    """Training samples, and the members that were trained on no copy of them."""

    #: Positions of the samples among the rows passed to ``fit``; of shape (n_samples,).
    rows: Integers
    #: Numbers, or class codes; of shape (n_samples,).
    targets: npt.NDArray[Any]
    #: Numbers of copies, or weights of mean 1; of shape (n_samples,).
    weights: Floats
    #: Members that left the sample out, as bits; of shape (n_samples, n_bytes).
    left_out: Bits
    #: Number of members.
    n_members: int

    def n_left_out(self) -> Integers:
        """How many members left each sample out."""
        return np.asarray(_N_ONES[self.left_out].sum(axis=1, dtype=np.int64))

    def taken(self, some: npt.NDArray[Any]) -> LeftOutSamples:
        """Some of the samples."""
        return LeftOutSamples(
            self.rows[some], self.targets[some], self.weights[some], self.left_out[some],
            self.n_members,
        )  # fmt: skip
