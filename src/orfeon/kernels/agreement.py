"""How many bits two rows of words have in common, for all pairs of rows."""

from __future__ import annotations

import numpy as np

from orfeon.kernels.bits import count_ones
from orfeon.utils.jit import kernel


@kernel
def count_common_bits(rows, others, found):
    """Write the number of bits that are set in both rows of each pair to ``found``."""
    for i in range(rows.shape[0]):
        for j in range(others.shape[0]):
            total = np.uint64(0)
            for word in range(rows.shape[1]):
                total += count_ones(rows[i, word] & others[j, word])
            found[i, j] = total
