"""Operations on 64-bit words, one bit per sample."""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import array_step


@array_step
def count_ones(word):
    """Number of set bits, in a form that compiles to one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
