"""Smoothing, and the inverse of switched labels."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles.probabilities import on_simplex, smoothed_row

from orfeon.calibration.label_noise import (
    least_eigenvalue,
    nearest_shares,
    without_noise,
)
from orfeon.calibration.smoothing import keep_decision, smooth


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


def test_noise_alone_is_left_as_it_is():
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    np.testing.assert_array_equal(without_noise(shares, switching(3, 2 / 3)), shares)


def test_one_row_by_hand():
    # Of 10 votes 7 are for the first class, and 3 in 10 labels were switched: all is of the first.
    row = smoothed_row([0.7, 0.3], 10, switching(2, 0.3))
    count = 10 * 0.4**2
    np.testing.assert_allclose(row, [(count + 0.25) / (count + 0.5), 0.25 / (count + 0.5)])
