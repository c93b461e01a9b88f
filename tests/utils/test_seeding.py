"""From ``random_state`` to the seeds of trees."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon.utils.seeding import seed_sequence, tree_seeds


def words(random_state: object, n: int = 4) -> list[int]:
    return seed_sequence(random_state).generate_state(n).tolist()  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, np.int64(5), np.uint8(7)])
def test_an_integer_gives_the_same_sequence_each_time(seed):
    assert words(seed) == words(seed) == words(int(seed))
    assert words(seed) != words(int(seed) + 1)


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_generator_is_drawn_from(make):
    source = make(3)
    first, second = words(source), words(source)
    assert first != second
    again = make(3)
    assert [words(again), words(again)] == [first, second]


def test_nothing_gives_another_sequence_each_time():
    assert words(None) != words(None)


def test_numpys_own_state_is_a_source():
    state = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(11)  # noqa: NPY002
        one = words(np.random.mtrand._rand)
        np.random.seed(11)  # noqa: NPY002
        assert words(np.random.mtrand._rand) == one
    finally:
        np.random.set_state(state)  # noqa: NPY002


def test_a_longer_request_begins_with_the_same_seeds():
    many = tree_seeds(np.random.SeedSequence(4), 1000)
    assert many.dtype == np.uint64
    assert len(np.unique(many)) == 1000
    for n in (1, 2, 17, 999):
        np.testing.assert_array_equal(tree_seeds(np.random.SeedSequence(4), n), many[:n])


def test_seeds_fill_all_64_bits():
    seeds = tree_seeds(np.random.SeedSequence(5), 4000)
    ones = ((seeds[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).mean(axis=0)
    assert np.abs(ones - 0.5).max() < 0.05
