"""Several classes: softmax calibrators, one against the rest, the choice of a method, folds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from tests.oracles.probabilities import log_loss

from orfeon.calibration.methods import (
    METHODS,
    best_method,
    cross_fitted,
    cross_fitted_log_loss,
    learn,
    learn_without_folds,
)
from orfeon.calibration.one_against_rest import OneAgainstRest
from orfeon.calibration.samples import ScoredSamples, log_shares
from orfeon.calibration.softmax import SoftmaxCalibrator


def drawn(seed=0, n=600, n_classes=3, slope=2.0):
    """Flat shares of classes whose true probabilities are sharper."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(n_classes), n)
    truth = softmax(slope * np.log(shares), axis=1)
    y = (rng.random(n)[:, None] > np.cumsum(truth, axis=1)).sum(axis=1).clip(0, n_classes - 1)
    return shares, y, np.ones(n), rng.integers(0, 5, n)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("method", METHODS)
def test_probabilities_are_better_and_sum_to_one(method, n_classes):
    shares, y, weights, fold = drawn(n_classes=n_classes, slope=2.5)
    calibrator = learn(ScoredSamples.of(shares, y, weights, fold), method)
    assert calibrator.n_classes == n_classes
    assert method in (calibrator.method, "auto")
    new, y_new, *_ = drawn(1, 4000, n_classes, slope=2.5)
    found = calibrator.probabilities(new)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    assert found.min() > 0
    assert log_loss(found, y_new) < log_loss(new, y_new)
    np.testing.assert_array_equal(found[:7], calibrator.probabilities(new[:7]))  # row by row


def test_the_softmax_of_one_slope_finds_it():
    shares, y, weights, fold = drawn(n=20_000, slope=2.0)
    found = SoftmaxCalibrator.learn_scaling(ScoredSamples.of(shares, y, weights, fold))
    assert found.slopes.ravel() == pytest.approx([2.0], rel=0.05)
    np.testing.assert_allclose(found.intercepts, 0.0, atol=0.1)


@pytest.mark.parametrize("learn_softmax", ["learn_matrix", "learn_scaling"])
def test_the_gradient_is_that_of_the_loss(learn_softmax):
    """At the coefficients found, no small change lowers the penalised loss."""
    shares, y, weights, fold = drawn(n=200)
    samples = ScoredSamples.of(shares, y, weights, fold)
    found = getattr(SoftmaxCalibrator, learn_softmax)(samples)
    is_matrix = learn_softmax == "learn_matrix"

    def loss(slopes, intercepts):
        scores = (slopes[0, 0] * log_shares(shares) if len(slopes) == 1 else
                  log_shares(shares) @ slopes.T) + intercepts  # fmt: skip
        value = log_loss(softmax(scores, axis=1), y) * len(y)
        own = 0.1 if is_matrix else 1.0
        pull = np.full(slopes.shape, 100.0)
        np.fill_diagonal(pull, own)
        neutral = np.eye(len(slopes))
        return value + (pull * (slopes - neutral) ** 2).sum() / 2 + own * (intercepts**2).sum() / 2

    best = loss(found.slopes, found.intercepts)
    rng = np.random.default_rng(0)
    for _ in range(40):
        near = loss(
            found.slopes + 0.02 * rng.normal(size=found.slopes.shape),
            found.intercepts + 0.02 * rng.normal(size=3),
        )
        assert near > best - 1e-3


def test_one_against_the_rest_by_hand():
    class Fixed:
        name = "fixed"

        def __init__(self, factor):
            self.factor = factor

        def probability(self, shares):
            return self.factor * shares

    both = OneAgainstRest((Fixed(0.5),))
    np.testing.assert_allclose(both.probabilities(np.array([[0.2, 0.8]])), [[0.6, 0.4]])
    three = OneAgainstRest((Fixed(0.5), Fixed(1.0), Fixed(0.25)))
    found = three.probabilities(np.array([[0.4, 0.2, 0.4]]))
    np.testing.assert_allclose(found, [[0.4, 0.4, 0.2]])


def test_copies_and_the_order_of_samples_do_not_change_a_bit():
    shares, y, _, fold = drawn(n=120)
    weights = np.arange(120) % 3.0
    copies = np.random.default_rng(1).permutation(np.repeat(np.arange(120), weights.astype(int)))
    for method in METHODS:
        one = learn(ScoredSamples.of(shares, y, weights, fold), method)
        given = (shares[copies], y[copies], np.ones(len(copies)), fold[copies])
        two = learn(ScoredSamples.of(*given), method)
        np.testing.assert_array_equal(one.probabilities(shares), two.probabilities(shares))


def test_auto_has_the_least_loss_on_folds():
    shares, y, weights, fold = drawn()
    samples = ScoredSamples.of(shares, y, weights, fold)
    losses = {name: cross_fitted_log_loss(samples, name) for name in METHODS[:-1]}
    assert losses[best_method(samples)] == min(losses.values())
    assert learn(samples, "auto").method == best_method(samples)
    alone = ScoredSamples.of(shares, y, weights, np.zeros(len(y), int))
    assert best_method(alone) == "sigmoid"
    assert np.isnan(cross_fitted_log_loss(alone, "beta"))


@pytest.mark.parametrize("method", METHODS)
def test_each_fold_is_calibrated_by_the_others(method):
    shares, y, weights, fold = drawn(n=150)
    shares[7] = np.nan  # no member left it out
    samples = ScoredSamples.of(shares, y, weights, fold)
    assert len(samples) == 149
    found = cross_fitted(learn_without_folds(samples, method), shares, fold)
    for f in range(5):
        rest = (fold != f) & ~np.isnan(shares[:, 0])
        alone = learn(ScoredSamples.of(shares[rest], y[rest], weights[rest], fold[rest]), method)
        mine = (fold == f) & ~np.isnan(shares[:, 0])
        np.testing.assert_array_equal(found[mine], alone.probabilities(shares[mine]))
    assert np.isnan(found[7]).all()
    known = ~np.isnan(found[:, 0])
    loss = log_loss(found[known], y[known])
    assert cross_fitted_log_loss(samples, method) == pytest.approx(loss)


@pytest.mark.parametrize("method", METHODS)
def test_tossed_labels_cannot_be_predicted(method):
    """The honest log loss is not below the entropy of the labels, but by chance."""
    excess = []
    for seed in range(6):
        shares, _, weights, fold = drawn(seed, 400, 2)
        y = np.random.default_rng(100 + seed).integers(0, 2, 400)
        loss = cross_fitted_log_loss(ScoredSamples.of(shares, y, weights, fold), method)
        excess.append(loss - np.log(2))
    assert np.mean(excess) > -0.002
    assert max(excess) < 0.1


def test_classes_that_a_fold_lacks_keep_a_probability():
    shares, y, weights, fold = drawn(n=200)
    y = np.where(y == 2, 0, y)  # no sample is of the last class
    for method in METHODS:
        found = learn(ScoredSamples.of(shares, y, weights, fold), method).probabilities(shares)
        assert found[:, 2].min() > 0
        assert found[:, 2].mean() < 0.1
