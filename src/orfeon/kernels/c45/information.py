"""Entropy terms and tolerances shared by C4.5's kernels."""

from __future__ import annotations

import math

import numpy as np

from orfeon.utils.jit import array_step

#: Weights this close are equal, or enough: fractional samples do not add up exactly.
SLACK = 1e-6
#: Gains and gain ratios this close are tied, so that rounding does not decide.
TINY = 1e-9
#: C4.5's tolerance on the average gain, and the least split information of a test.
EPSILON = 1e-3
#: Weights are multiples of one over this: sums below a million are exact in any order.
GRAINS = 2.0**32
#: Bits in a nat.
PER_BIT = 1.0 / math.log(2.0)


@array_step
def x_ln_x(x):
    if x > 0.0:
        return x * math.log(x)
    return 0.0


@array_step
def rounded(weight):
    """Round a weight, or a share of one, to a whole number of grains."""
    return np.floor(weight * GRAINS + 0.5) / GRAINS
