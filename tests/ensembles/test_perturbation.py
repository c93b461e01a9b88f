"""Seeds of the members, and what methods know of the samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.ensembles.twins import LEVEL

from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.perturbation import (
    draw_seed,
    draw_with_replacement,
    member_generator,
)


def test_a_member_has_the_generator_that_spawning_would_give_it():
    """Whoever trains it and whenever: nothing is counted, so nothing depends on the order."""
    children = np.random.SeedSequence(7).spawn(5)
    root = np.random.SeedSequence(7)
    for member in (4, 0, 3, 3):
        expected = np.random.Generator(np.random.PCG64(children[member]))
        got = member_generator(root, member)
        np.testing.assert_array_equal(got.random(8), expected.random(8))
    assert root.n_children_spawned == 0


def test_the_root_may_itself_be_a_child():
    one, other = np.random.SeedSequence(7).spawn(2)
    places = [
        member_generator(root, 0).random() for root in (one, other, np.random.SeedSequence(7))
    ]
    assert len(set(places)) == 3


def test_seeds_are_spread_over_all_words():
    root = np.random.SeedSequence(0)
    seeds = np.array([draw_seed(member_generator(root, t)) for t in range(2000)])
    assert seeds.dtype == np.uint64
    assert len(np.unique(seeds)) == 2000
    assert stats.kstest(seeds / 2.0**64, "uniform").pvalue > LEVEL
    bits = (seeds[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    for count in bits.sum(axis=0):
        assert stats.binomtest(int(count), 2000, 0.5).pvalue > LEVEL / 64


def test_samples_know_their_shares():
    labels, weights = np.array([0, 2, 2, 0]), np.array([1.0, 2.0, 4.0, 1.0])
    samples = TrainingSet(np.zeros((4, 1)), labels, weights, 3)
    assert len(samples) == 4
    assert samples.class_shares.tolist() == [0.25, 0.0, 0.75]
    assert samples.cumulative.tolist() == [1.0, 3.0, 7.0, 8.0]
    assert not samples.are_equal
    assert TrainingSet(np.zeros((4, 1)), labels, np.full(4, 0.3), 3).are_equal
    with pytest.raises(AttributeError):
        samples.n_classes = 5


class Places:
    """In place of a generator: given places."""

    def __init__(self, *places):
        self.places = np.array(places)

    def random(self, n):
        return self.places[:n].copy()


@pytest.mark.parametrize("weights", [np.ones(4), np.array([1.0, 2.0, 4.0, 1.0])])
def test_a_place_rounded_up_to_the_end_draws_the_last_sample(weights):
    samples = TrainingSet(np.zeros((4, 1)), np.zeros(4, int), weights, 1)
    counts = draw_with_replacement(samples, Places(0.0, 0.99, 1.0), 3)
    assert counts.tolist() == [1, 0, 0, 2]
    assert draw_with_replacement(samples, Places(0.0, 0.1), 2).tolist() == [2, 0, 0, 0]
