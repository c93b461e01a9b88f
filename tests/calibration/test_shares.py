"""Smoothing, and the inverse of switched labels."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles.probabilities import mean_by_quadrature, on_simplex, unswitched

from orfeon.calibration.label_noise import least_eigenvalue, nearest_shares, without_noise
from orfeon.calibration.smoothing import keep_decision, smooth
from orfeon.calibration.switched_votes import is_noise, mean_given_votes


def test_half_a_vote_by_hand():
    found = smooth(np.array([[1.0, 0.0], [0.25, 0.75]]), 4, 0.5)
    np.testing.assert_allclose(found, [[4.25 / 4.5, 0.25 / 4.5], [1.25 / 4.5, 3.25 / 4.5]])
    each = smooth(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1.0, 9.0]), 0.5)
    np.testing.assert_allclose(each[:, 0], [1.25 / 1.5, 9.25 / 9.5])


def test_votes_that_tie_still_tie():
    counts = np.random.default_rng(0).multinomial(7, [0.2] * 5, size=500)
    found = smooth(counts / 7, 7, 0.5)
    np.testing.assert_array_equal(found.argmax(axis=1), counts.argmax(axis=1))
    for row, count in zip(found, counts, strict=True):
        assert len(set(row.tolist())) == len(set(count.tolist()))


def test_the_decision_is_kept_where_others_come_above_it():
    shares = np.array([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.2, 0.5, 0.3]])
    found = keep_decision(shares, np.array([1, 1, 0]))
    np.testing.assert_allclose(found, [[0.4, 0.4, 0.2], [0.4, 0.4, 0.2], [1 / 3] * 3])
    assert found.argmax(axis=1).tolist() == [1, 1, 0]
    np.testing.assert_array_equal(keep_decision(shares, shares.argmax(axis=1)), shares)


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_shares(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(0.3, 0.5, (20, 2 + seed))
    found = nearest_shares(values)
    np.testing.assert_allclose(found, [on_simplex(row) for row in values.tolist()], atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    others = rng.dirichlet(np.ones(2 + seed), 300)
    for row, near in zip(values, found, strict=True):  # no other shares are nearer
        assert ((others - row) ** 2).sum(axis=1).min() >= ((near - row) ** 2).sum() - 1e-12


def switching(n_classes, rate):
    matrix = np.full((n_classes, n_classes), rate / (n_classes - 1))
    np.fill_diagonal(matrix, 1 - rate)
    return matrix


def test_switched_shares_are_switched_back():
    rng = np.random.default_rng(0)
    for matrix in (switching(4, 0.45), rng.dirichlet(np.ones(4), 4) / 2 + np.eye(4) / 2):
        truth = rng.dirichlet(np.ones(4), 50)
        np.testing.assert_allclose(without_noise(truth @ matrix, matrix), truth, atol=1e-12)
    assert least_eigenvalue(switching(3, 0.4)) == pytest.approx(0.4)  # 1 - 0.4 * 3 / 2


@pytest.mark.parametrize("n_members", [1, 7, 60, 200])
@pytest.mark.parametrize(
    "matrix",
    [switching(2, 0.3), switching(5, 0.48), np.array([[0.8, 0.2], [0.5, 0.5]]), switching(2, 0.7)],
    ids=["two", "five", "flipped", "mostly switched"],
)
def test_shares_are_means_given_the_votes(n_members, matrix):
    counts = np.random.default_rng(0).multinomial(n_members, np.ones(len(matrix)) / len(matrix), 9)
    counts[:2] = 0
    counts[0, 0] = counts[1, -1] = n_members
    found = mean_given_votes(counts / n_members, matrix, n_members)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert 0 < found.min() < found.max() < 1
    for row, its in zip(counts / n_members, found, strict=True):
        wanted = [unswitched(share, n_members, matrix, k) for k, share in enumerate(row)]
        np.testing.assert_allclose(its, np.array(wanted) / sum(wanted), rtol=1e-7)


def test_many_votes_are_switched_back():
    rng = np.random.default_rng(0)
    for matrix in (switching(4, 0.45), switching(2, 0.3), np.array([[0.9, 0.1], [0.4, 0.6]])):
        truth = rng.dirichlet(np.ones(len(matrix)), 50)
        found = mean_given_votes(truth @ matrix, matrix, 20_000)
        np.testing.assert_allclose(found, truth, atol=0.02)


@pytest.mark.parametrize("n_members", [3, 50, 1000])
def test_more_votes_for_a_class_never_make_it_less_probable(n_members):
    votes = np.arange(n_members + 1) / n_members
    shares = np.column_stack([1.0 - votes, votes])
    p = mean_given_votes(shares, switching(2, 0.3), n_members)[:, 1]
    assert (np.diff(p) > 0).all()
    each = mean_given_votes(shares, switching(2, 0.3), np.full(n_members + 1, float(n_members)))
    np.testing.assert_array_equal(each[:, 1], p)


def test_votes_beyond_the_rates_count_as_less_than_one():
    # In coarse leaves all members may vote alike, although 3 in 10 of their labels were switched.
    shares = np.array([[0.7, 0.3], [1.0, 0.0]])
    at_rate, beyond = mean_given_votes(shares, switching(2, 0.3), 250)[:, 0]
    assert at_rate < beyond < mean_by_quadrature(176, 250, 0.7, 0.3, 0.05, 0.05)


def test_noise_alone_is_left_as_it_is():
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    assert is_noise(switching(3, 2 / 3))
    np.testing.assert_array_equal(without_noise(shares, switching(3, 2 / 3)), shares)
    np.testing.assert_array_equal(mean_given_votes(shares, switching(3, 2 / 3), 9), shares)


def test_one_vote_by_hand():
    # A member votes for the first class, and 3 in 10 labels were switched: its probability was one
    # half, and the mean of its square is (a + 1) / (2 (2 a + 1)) with a = 0.05.
    square = 1.05 / 2.2
    expected = (0.3 * 0.5 + 0.4 * square) / 0.5
    found = mean_given_votes(np.array([[1.0, 0.0]]), switching(2, 0.3), 1)
    np.testing.assert_allclose(found, [[expected, 1.0 - expected]])
