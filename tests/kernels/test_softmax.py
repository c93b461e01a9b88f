"""The log-loss of several classes computed by polynomials, against the functions of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from orfeon.boosting.class_losses import LogLoss, MultinomialLoss

EPSILON = np.finfo(np.float64).eps


def problem(n_classes, size, n_rows=500):
    rng = np.random.default_rng(n_classes)
    scores = rng.normal(size=(n_classes, n_rows)) * size
    scores[:, 0] = 0.0
    return rng.integers(0, n_classes, n_rows), scores, rng.uniform(0.1, 3.0, n_rows)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 26])
@pytest.mark.parametrize("size", [1e-9, 1.0, 30.0, 1e5])
def test_losses_and_derivatives_are_those_of_scipy(n_classes, size):
    y, scores, weights = problem(n_classes, size)
    loss = MultinomialLoss(n_classes)
    for row in range(0, 500, 50):
        one = slice(row, row + 1)
        own = -log_softmax(scores[:, row])[y[row]]
        value = loss.value(y[one], scores[:, one], np.ones(1))
        assert value == pytest.approx(own, rel=1e-14, abs=1e-14)
    expected = -np.sum(weights * log_softmax(scores, axis=0)[y, np.arange(500)]) / weights.sum()
    assert loss.value(y, scores, weights) == pytest.approx(expected, rel=1e-13, abs=1e-14)
    gradients, hessians = loss.derivatives(y, scores, weights)
    p = softmax(scores, axis=0)
    # A difference of scores of 700 is rounded by as many units.
    off = 4 * EPSILON * max(1.0, np.abs(scores).max())
    np.testing.assert_allclose(gradients, (y == np.arange(n_classes)[:, None]) - p, atol=off)
    factor = n_classes / max(n_classes - 1, 1)
    np.testing.assert_allclose(hessians, factor * p * (1 - p), atol=2 * off)
    np.testing.assert_array_equal(loss.negative_gradient(y, scores, weights), gradients)
    np.testing.assert_array_equal(loss.hessian(y, scores, weights), hessians)


def test_two_classes_have_the_loss_of_their_log_odds():
    y, scores, weights = problem(2, 3.0)
    odds = LogLoss().value(y, scores[1:] - scores[:1], weights)
    assert MultinomialLoss(2).value(y, scores, weights) == pytest.approx(odds, rel=1e-14)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_are_not_hidden(bad):
    y, scores, weights = problem(3, 1.0)
    for k in range(3):
        some = scores.copy()
        some[k, 7] = bad
        assert not np.isfinite(MultinomialLoss(3).value(y, some, weights))
        assert not np.isfinite(MultinomialLoss(3).negative_gradient(y, some, weights)).all()
