"""Sums of the answers of chosen members, for many choices at once."""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import kernel


@kernel
def add_up_chosen(answers, chosen, factor, sums):
    """Add ``factor`` times the sum of the chosen members' answers, for each row and sample.

    ``chosen`` has one bit per member, eight in a byte. For each row, a table has the sums of all
    subsets of eight members, so each byte of a sample costs one look-up.
    """
    n_bytes = chosen.shape[1]
    table = np.zeros((n_bytes, 256))
    for row in range(answers.shape[0]):
        for byte in range(n_bytes):
            for bit in range(8):
                t = 8 * byte + bit
                answer = answers[row, t] if t < answers.shape[1] else 0.0
                size = 1 << bit
                for other in range(size):
                    table[byte, size + other] = table[byte, other] + answer
        for sample in range(chosen.shape[0]):
            total = 0.0
            for byte in range(n_bytes):
                total += table[byte, chosen[sample, byte]]
            sums[row, sample] += factor * total
