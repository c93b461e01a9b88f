"""Calibrators of two classes against brute force; all keep the order of samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from tests.oracles.probabilities import isotonic, venn_abers

from orfeon.calibration.binary import (
    BetaCalibrator,
    IsotonicCalibrator,
    SigmoidCalibrator,
    platt_targets,
)
from orfeon.calibration.venn_abers import VennAbersCalibrator

ALL = (SigmoidCalibrator, BetaCalibrator, IsotonicCalibrator, VennAbersCalibrator)


def drawn(seed, n=300, slope=0.5):
    """Shares, and labels whose log odds are those of the share times a slope."""
    rng = np.random.default_rng(seed)
    shares = rng.beta(1.0, 1.0, n).clip(0.01, 0.99)
    return shares, (rng.random(n) < expit(slope * logit(shares))).astype(float), np.ones(n)


def few(seed, n):
    rng = np.random.default_rng(seed)
    shares = rng.integers(1, 8, n) / 8
    return shares, rng.integers(0, 2, n).astype(float), rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("seed", range(25))
def test_venn_abers_is_isotonic_regression_with_the_new_sample(seed):
    shares, labels, weights = few(seed, n=1 + seed % 12)
    calibrator = VennAbersCalibrator.learn(shares, labels, weights)
    new = np.array([0.01, 0.99, *shares[:3], 0.3, 0.56])
    low, high = calibrator.interval(new)
    expected = [venn_abers(shares, labels, weights, s) for s in new.tolist()]
    np.testing.assert_allclose(np.column_stack([low, high]), expected, atol=1e-12)
    np.testing.assert_allclose(calibrator.probability(new), high / (1 - low + high))


@pytest.mark.parametrize("seed", range(8))
def test_isotonic_steps_are_those_of_two_more_samples_at_the_ends(seed):
    shares, labels, weights = few(seed, n=2 + seed)
    ends = [shares.min(), shares.max()]
    values, expected = isotonic([*shares, *ends], [*labels, 1, 0], [*weights, 1, 1])
    found = IsotonicCalibrator.learn(shares, labels, weights).probability(np.array(values))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("kind", [SigmoidCalibrator, BetaCalibrator])
def test_coefficients_minimise_the_log_loss_of_softened_labels(kind):
    shares, labels, weights = drawn(1)
    weights = weights + (np.arange(300) % 3)
    target = platt_targets(labels, weights)

    def loss(coefficients):
        p = np.clip(kind(*coefficients).probability(shares), 1e-12, 1 - 1e-12)
        return -weights @ (target * np.log(p) + (1 - target) * np.log(1 - p))

    found = kind.learn(shares, labels, weights)
    mine = np.array(list(vars(found).values()))
    bounds = [(0, None)] * (len(mine) - 1) + [(None, None)]
    best = minimize(loss, np.ones(len(mine)), bounds=bounds, method="L-BFGS-B")
    assert loss(mine) <= best.fun + 1e-6 * abs(best.fun)


def test_platts_targets_by_hand():
    targets = platt_targets(np.array([1.0, 1.0, 0.0]), np.array([1.0, 2.0, 1.0]))
    np.testing.assert_allclose(targets, [4 / 5, 4 / 5, 1 / 3])


def test_true_slopes_are_found():
    for slope in (0.3, 1.0, 2.5):
        shares, labels, weights = drawn(2, 20_000, slope)
        found = SigmoidCalibrator.learn(shares, labels, weights)
        assert found.slope == pytest.approx(slope, rel=0.08)
        assert found.intercept == pytest.approx(0.0, abs=0.1)
    both = BetaCalibrator.learn(shares, labels, weights)
    assert [both.slope, both.opposite_slope] == pytest.approx([slope, slope], rel=0.1)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("labels", ["true", "reversed", "all of one class", "tossed"])
def test_the_order_is_kept_and_nothing_is_certain(kind, labels):
    shares, drawn_labels, weights = drawn(3)
    rng = np.random.default_rng(0)
    given = {
        "true": drawn_labels, "reversed": 1 - drawn_labels, "all of one class": np.zeros(300),
        "tossed": rng.integers(0, 2, 300).astype(float),
    }[labels]  # fmt: skip
    found = kind.learn(shares, given, weights).probability(np.linspace(0, 1, 401))
    assert (np.diff(found) >= -1e-12).all()
    assert found.min() > 0
    assert found.max() < 1
    if labels == "all of one class":
        assert found.max() < 0.2 or kind is VennAbersCalibrator


@pytest.mark.parametrize("kind", ALL)
def test_a_weight_is_copies(kind):
    shares, labels, weights = few(5, 40)
    copies = np.repeat(np.arange(40), weights.astype(int))
    new = np.linspace(0, 1, 50)
    weighted = kind.learn(shares, labels, weights).probability(new)
    copied = kind.learn(shares[copies], labels[copies], np.ones(len(copies))).probability(new)
    np.testing.assert_allclose(weighted, copied, rtol=1e-6)
