"""The log-loss computed by polynomials, against the functions of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_expit

from orfeon.boosting.class_losses import LogLoss

EPSILON = np.finfo(np.float64).eps


def scores_of_all_sizes():
    rng = np.random.default_rng(0)
    sizes = rng.uniform(-1, 1, 20_000) * 10.0 ** rng.uniform(-12, 2.84, 20_000)
    return np.concatenate([sizes, [0.0, -0.0, 707.9, -707.9, 5e-324], np.arange(-40.0, 40.0, 0.25)])


@pytest.mark.parametrize("label", [0, 1])
def test_the_loss_of_each_row_is_that_of_scipy(label):
    scores = scores_of_all_sizes()[::97]
    for score, expected in zip(scores, -log_expit((2 * label - 1) * scores), strict=True):
        loss = LogLoss().value(np.array([label]), np.array([[score]]), np.ones(1))
        assert loss == pytest.approx(expected, rel=6 * EPSILON)


@pytest.mark.parametrize("label", [0, 1])
def test_the_gradient_is_class_code_minus_probability(label):
    scores = scores_of_all_sizes()
    y = np.full(len(scores), label)
    residuals = LogLoss().negative_gradient(y, scores[None], np.ones(len(scores)))[0]
    np.testing.assert_allclose(residuals, label - expit(scores), rtol=1e-15, atol=2 * EPSILON)


def test_scores_without_bounds_have_their_limits():
    y, scores = np.array([1, 0, 1, 0]), np.array([[np.inf, -np.inf, 1e300, -1e300]])
    assert LogLoss().value(y, scores, np.ones(4)) == pytest.approx(0.0, abs=1e-300)
    np.testing.assert_allclose(LogLoss().negative_gradient(y, scores, np.ones(4)), 0.0, atol=1e-300)
    assert LogLoss().value(1 - y, scores, np.ones(4)) == np.inf


def test_scores_that_are_no_numbers_are_not_hidden():
    y, scores = np.array([1, 0]), np.array([[np.nan, np.nan]])
    assert np.isnan(LogLoss().value(y, scores, np.ones(2)))
    assert np.isnan(LogLoss().negative_gradient(y, scores, np.ones(2))).all()
