"""Means of the samples that come earlier in an order."""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import kernel


@kernel
def write_ordered_means(codes, first, order, deviations, weights, strength, sums, means):
    """Write to ``means`` the shrunken mean deviation of the earlier samples with the same code.

    ``order`` is of units, and unit u has the rows from ``first[u]`` to ``first[u + 1]``, copies of
    one sample, which do not see each other. ``sums`` are zeros for each code: a sum, and a weight.
    """
    for place in range(order.shape[0]):
        unit = np.uint64(order[place])
        begin, end = np.int64(first[unit]), np.int64(first[unit + np.uint64(1)])
        code = np.uint64(codes[np.uint64(begin)])
        total = sums[code, np.uint64(0)]
        weight = sums[code, np.uint64(1)]
        mean = total / (weight + strength)
        for i in range(begin, end):
            row = np.uint64(i)
            means[row] = mean
            total += weights[row] * deviations[row]
            weight += weights[row]
        sums[code, np.uint64(0)] = total
        sums[code, np.uint64(1)] = weight
