"""Drawing samples: sizes, uniformity, proportion to the weights, balance."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.ensembles.twins import LEVEL, table

from orfeon import RandomForestClassifier
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.perturbation import (
    deal_balanced,
    draw_with_replacement,
    draw_without_replacement,
    sample_size,
)


def samples(weights):
    weights = np.asarray(weights, dtype=np.float64)
    return TrainingSet(np.zeros((len(weights), 1)), np.zeros(len(weights), np.int64), weights, 1)


# -- with replacement ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 60])
def test_a_bootstrap_sample_holds_sixty_three_percent_distinct_samples(n):
    rng, n_samples = np.random.default_rng(0), 3000
    distinct = [
        np.count_nonzero(draw_with_replacement(samples(np.ones(n)), rng, n))
        for _ in range(n_samples)
    ]
    expected = n * (1 - (1 - 1 / n) ** n)
    assert 0.63 < expected / n < 0.652
    # The variance of the number of empty cells when n balls fall into n cells.
    empty = n * (1 - 1 / n) ** n
    variance = empty + n * (n - 1) * (1 - 2 / n) ** n - empty**2
    error = np.sqrt(variance / n_samples)
    assert stats.norm.sf(abs(np.mean(distinct) - expected) / error) * 2 > LEVEL
    low, high = stats.chi2.ppf([LEVEL / 2, 1 - LEVEL / 2], n_samples - 1) / (n_samples - 1)
    assert low < np.var(distinct, ddof=1) / variance < high


@pytest.mark.parametrize("weights", [np.ones(7), np.full(7, 0.25), np.arange(1, 8) / 3])
def test_samples_are_drawn_in_proportion_to_their_weights(weights):
    counts = draw_with_replacement(samples(weights), np.random.default_rng(1), 20_000)
    assert counts.sum() == 20_000
    assert stats.chisquare(counts, 20_000 * weights / weights.sum()).pvalue > LEVEL


def test_a_light_sample_between_heavy_ones_is_hardly_drawn():
    counts = draw_with_replacement(
        samples([1.0, 1e-12, 1.0, 1e300, 1e300]), np.random.default_rng(2), 1000
    )
    assert counts[:3].tolist() == [0, 0, 0]
    assert counts[3:].sum() == 1000


@pytest.mark.parametrize("weights", [np.ones(49), np.arange(1.0, 50.0) / 7])
def test_a_place_at_the_very_end_is_the_last_sample(weights):
    class AtTheEnd:
        def random(self, n):
            return np.full(n, np.nextafter(1.0, 0.0))

    counts = draw_with_replacement(samples(weights), AtTheEnd(), 5)
    assert counts.tolist() == [0] * 48 + [5]


# -- without replacement ---------------------------------------------------------------------------


@settings(deadline=None, derandomize=True)
@given(st.integers(1, 40), st.data())
def test_a_subsample_has_the_size_asked_for(n, data):
    n_drawn = data.draw(st.integers(1, n))
    weights = data.draw(st.lists(st.floats(1e-3, 1e3), min_size=n, max_size=n))
    counts = draw_without_replacement(samples(weights), np.random.default_rng(0), n_drawn)
    assert counts.sum() == n_drawn
    assert set(counts.tolist()) <= {0, 1}


@pytest.mark.parametrize("weights", [np.ones(5), np.array([1.0, 2.0, 3.0, 4.0, 0.5])])
def test_pairs_are_drawn_as_if_one_after_the_other(weights):
    """The first in proportion to the weights, the second in proportion among the rest."""
    rng, n_samples = np.random.default_rng(3), 8000
    seen = dict.fromkeys(combinations(range(5), 2), 0)
    for _ in range(n_samples):
        drawn = np.flatnonzero(draw_without_replacement(samples(weights), rng, 2))
        seen[tuple(drawn.tolist())] += 1
    w = weights / weights.sum()
    expected = [w[i] * w[j] / (1 - w[i]) + w[j] * w[i] / (1 - w[j]) for i, j in seen]
    assert sum(expected) == pytest.approx(1.0)
    p_value = stats.chisquare(list(seen.values()), n_samples * np.array(expected)).pvalue
    assert p_value > LEVEL


@pytest.mark.parametrize("n_drawn", [1, 2, 3, 4, 5])
def test_what_weighs_nothing_is_never_drawn(n_drawn):
    weights = np.array([0.0, 1.0, 0.0, 2.0, 3.0])
    rng = np.random.default_rng(7)
    for _ in range(50):
        counts = draw_without_replacement(samples(weights), rng, n_drawn)
        assert counts[weights == 0].tolist() == [0, 0]
        assert counts.sum() == min(n_drawn, 3)


@pytest.mark.parametrize("max_samples", [0.5, 80, 1.0])
def test_a_class_of_weight_zero_is_never_predicted(max_samples):
    X, y = table(RandomForestClassifier())
    forest = RandomForestClassifier(
        5,
        class_weight={0: 0.0, 1: 1.0, 2: 1.0},
        bootstrap=False,
        max_samples=max_samples,
        random_state=0,
    ).fit(X, y)
    assert set(forest.votes(X).ravel().tolist()) == {1, 2}


# -- balanced --------------------------------------------------------------------------------------


@settings(deadline=None, derandomize=True)
@given(st.integers(1, 12), st.integers(1, 9), st.data())
def test_balanced_samples_hold_every_sample_equally_often(n, n_members, data):
    n_drawn = data.draw(st.integers(1, n))
    dealt = deal_balanced(samples(np.ones(n)), np.random.default_rng(0), n_members, n_drawn)
    assert dealt.shape == (n_members, n)
    assert (dealt.sum(axis=1) == n_drawn).all()
    totals = dealt.sum(axis=0)
    assert totals.max() - totals.min() == (1 if n_members * n_drawn % n else 0)


def test_a_balanced_sample_is_a_random_hand_of_the_cards():
    """Each sample's count is hypergeometric: 3 of its cards among 15, of which 5 are dealt."""
    rng, n_deals = np.random.default_rng(4), 2000
    hands = [deal_balanced(samples(np.ones(5)), rng, 3, 5) for _ in range(n_deals)]
    expected = stats.hypergeom(15, 3, 5).pmf(np.arange(4)) * n_deals
    for member in range(3):
        for sample in (0, 4):
            counts = np.bincount([hand[member, sample] for hand in hands], minlength=4)
            assert stats.chisquare(counts, expected).pvalue > LEVEL


def test_the_odd_samples_out_are_any():
    rng, n_deals = np.random.default_rng(5), 2000
    extra = np.zeros(4)
    for _ in range(n_deals):
        totals = deal_balanced(samples(np.ones(4)), rng, 3, 3).sum(axis=0)
        assert sorted(totals.tolist()) == [2, 2, 2, 3]
        extra[np.argmax(totals)] += 1
    assert stats.chisquare(extra).pvalue > LEVEL


@settings(deadline=None, derandomize=True)
@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_balanced_samples_hold_weighted_samples_in_proportion(n, n_members, seed):
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=n) + 1e-6
    dealt = deal_balanced(samples(weights), rng, n_members, n)
    assert (dealt.sum(axis=1) == n).all()
    expected = n_members * n * weights / weights.sum()
    assert np.abs(dealt.sum(axis=0) - expected).max() < 1 + 1e-9


def test_what_a_weighted_balance_rounds_it_rounds_without_bias():
    weights = np.array([1.0, 2.0, 0.3, 0.7, 5.0])
    rng, n_deals = np.random.default_rng(6), 4000
    totals = np.array(
        [deal_balanced(samples(weights), rng, 1, 5).sum(axis=0)[:4] for _ in range(n_deals)]
    )
    share = 5 * weights[:4] / weights.sum()
    for j in range(4):
        above = int((totals[:, j] > np.floor(share[j])).sum())
        assert stats.binomtest(above, n_deals, share[j] - np.floor(share[j])).pvalue > LEVEL


# -- how many --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_samples", "n_samples", "size"),
    [(1.0, 7, 7), (0.5, 7, 4), (0.5, 10, 5), (1e-9, 10, 1), (1, 10, 1), (10, 10, 10), (0.63, 9, 6)],
)
def test_sizes_are_numbers_or_shares(max_samples, n_samples, size):
    assert sample_size(max_samples, n_samples) == size
    assert sample_size(np.asarray(max_samples)[()], n_samples) == size


def test_more_than_there_are_is_refused():
    with pytest.raises(ValueError, match=r"max_samples=11 is more than the 10 training samples"):
        sample_size(11, 10)
