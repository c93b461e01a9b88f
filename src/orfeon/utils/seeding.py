"""From ``random_state`` to one independent seed per member."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

RandomState = int | np.random.Generator | np.random.RandomState | np.random.SeedSequence | None


class Purpose(IntEnum):
    """Spawn keys of randomness for other purposes than members; no member has so high a key."""

    IMPORTANCE = 2**32 - 1
    DEALING_SAMPLES = 2**32 - 2
    PARTING_DATA = 2**32 - 3
    MEMBERS_AFTER_A_SUBSET = 2**32 - 4
    ORDERING = 2**32 - 5
    FIRST_WEIGHTS = 2**32 - 6
    SETTING_ASIDE = 2**32 - 7
    SHUFFLING = 2**32 - 8
    FITTING_A_POOL = 2**32 - 9
    ATTEMPTS = 2**32 - 10
    PARTING_CLASSES = 2**32 - 11
    COMBINING = 2**32 - 12
    STACKING = 2**32 - 13
    EXPERTS = 2**32 - 14
    REPEATING = 2**32 - 15
    LOOKING = 2**32 - 16
    ORDERING_CATEGORIES = 2**32 - 17
    CALIBRATING = 2**32 - 18


def branch(sequence: np.random.SeedSequence, *keys: int) -> np.random.SeedSequence:
    """An independent seed sequence for a member or purpose, the same whenever it is requested."""
    key = (*sequence.spawn_key, *(int(one) for one in keys))
    return np.random.SeedSequence(sequence.entropy, spawn_key=key)


def seed_sequence(random_state: RandomState) -> np.random.SeedSequence:
    """The seed sequence of one fit."""
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if isinstance(random_state, int | np.integer):
        return np.random.SeedSequence(int(random_state))
    if isinstance(random_state, np.random.Generator):
        drawn = random_state.integers(0, 2**31 - 1, size=4)
    else:
        from sklearn.utils import check_random_state  # slow to import, seldom needed

        drawn = check_random_state(random_state).randint(0, 2**31 - 1, size=4)
    return np.random.SeedSequence([int(word) for word in drawn])


def tree_seeds(sequence: np.random.SeedSequence, n_trees: int) -> npt.NDArray[np.uint64]:
    """Seeds of the first ``n_trees`` trees; more trees get the same first seeds."""
    return np.random.Generator(np.random.PCG64(sequence)).integers(
        0, 2**64 - 1, size=n_trees, dtype=np.uint64
    )
