"""Finite-sample quantiles."""

from __future__ import annotations

import numpy as np
import pytest

from orfeon.uncertainty.ranks import check_coverage, lower_bound, upper_bound, upper_rank


@pytest.mark.parametrize(
    ("n_samples", "coverage", "rank"), [(9, 0.9, 9), (19, 0.9, 18), (10, 0.5, 6), (99, 0.99, 99)]
)
def test_the_rank_is_that_of_n_plus_one(n_samples, coverage, rank):
    assert upper_rank(np.ones(n_samples), coverage) == rank


def test_a_bound_covers_the_next_of_exchangeable_numbers_as_often_as_it_says():
    # All orders of n + 1 different numbers are equally likely: count them.
    for n_samples in (9, 14, 19):
        numbers = np.arange(n_samples + 1.0)
        covered = [
            number <= upper_bound(np.delete(numbers, k), np.ones(n_samples), 0.8)
            for k, number in enumerate(numbers)
        ]
        assert 0.8 <= np.mean(covered) <= 0.8 + 1 / (n_samples + 1)


def test_weights_are_copies():
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=(7, 30)), rng.integers(1, 4, 30).astype(float)
    copies = np.repeat(values, weights.astype(int), axis=1)
    for coverage in (0.5, 0.77, 0.9):
        assert np.array_equal(
            upper_bound(values, weights, coverage),
            upper_bound(copies, np.ones(copies.shape[1]), coverage),
        )
        assert np.array_equal(
            lower_bound(values, weights, coverage),
            lower_bound(copies, np.ones(copies.shape[1]), coverage),
        )


def test_too_few_samples_are_counted_in_the_message():
    with pytest.raises(ValueError, match=r"needs at least 99 samples.*there are 98"):
        upper_bound(np.zeros(98), np.ones(98), 0.99)
    assert upper_bound(np.zeros(99), np.ones(99), 0.99) == 0.0


@pytest.mark.parametrize("coverage", [0, 1, 1.5, -0.1, "0.9", None, True, np.nan])
def test_a_coverage_is_between_0_and_1(coverage):
    with pytest.raises(ValueError, match=r"coverage=.* is not allowed"):
        check_coverage(coverage)
