"""From ``random_state`` to one independent seed per member."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

RandomState = int | np.random.Generator | np.random.RandomState | None


def seed_sequence(random_state: RandomState) -> np.random.SeedSequence:
    """The root of all randomness of one fit.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None
        An integer gives the same sequence each time; a Generator or RandomState is drawn from.

    Returns
    -------
    numpy.random.SeedSequence
        To spawn from.
    """
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, int | np.integer):
        return np.random.SeedSequence(int(random_state))
    if isinstance(random_state, np.random.Generator):
        drawn = random_state.integers(0, 2**31 - 1, size=4)
    else:
        from sklearn.utils import check_random_state  # slow to import, seldom needed

        drawn = check_random_state(random_state).randint(0, 2**31 - 1, size=4)
    return np.random.SeedSequence([int(word) for word in drawn])


def tree_seeds(sequence: np.random.SeedSequence, n_trees: int) -> npt.NDArray[np.uint64]:
    """Seeds of the first ``n_trees`` trees; a longer request begins with the same ones.

    Parameters
    ----------
    sequence : numpy.random.SeedSequence
        The root.
    n_trees : int
        How many.

    Returns
    -------
    ndarray of uint64 of shape (n_trees,)
        The seeds.
    """
    return np.random.Generator(np.random.PCG64(sequence)).integers(
        0, 2**64 - 1, size=n_trees, dtype=np.uint64
    )
