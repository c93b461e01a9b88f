"""A random generator for kernels: xorshift64*, one word of state per tree."""

from __future__ import annotations

import numpy as np

from orfeon.utils.jit import array_step


@array_step
def seed_state(state, seed):
    """Seed the state by splitmix64, so that neighbouring seeds give unrelated streams."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    state[0] = z if z != np.uint64(0) else np.uint64(1)


@array_step
def random_word(state):
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return (x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(32)


@array_step
def random_below(state, n):
    """A random integer in 0..n-1, for n up to 2**31."""
    return np.int64((random_word(state) * np.uint64(n)) >> np.uint64(32))


@array_step
def random_unit(state):
    """A random number strictly between 0 and 1."""
    return (float(np.int64(random_word(state))) + 0.5) / 4294967296.0
