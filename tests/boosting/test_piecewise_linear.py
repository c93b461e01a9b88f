"""Weights that are functions of y: their integrals, exactly and numerically, and their scale."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import shared
from tests.oracles.boosting_regression import AdaBoostR

from orfeon.boosting import piecewise_linear
from orfeon.boosting.piecewise_linear import PiecewiseLinearWeights


def shares(parts, whole):
    return parts / whole.sum()


def by_grid(targets, rounds, betas, weights, n_cells=2000):
    """Masses from the definition alone, by the midpoint rule on a grid that has all the cuts.

    The weight is linear within each cell, so the rule is exact.
    """
    y = ((np.arange(n_cells) + 0.5) / n_cells)[:, None]
    density = weights * np.abs(y - targets)
    for answers, beta in zip(rounds, betas, strict=True):
        inside = (np.minimum(targets, answers) <= y) & (y <= np.maximum(targets, answers))
        density = np.where(inside, density, density * beta)
    return y, density / n_cells


def random_run(seed, n_rows=25, n_rounds=12, n_cells=2000):
    """Targets and points on a grid, some of them the same, and factors."""
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, n_cells + 1, n_rows) / n_cells
    rounds = np.round(targets + rng.normal(size=(n_rounds, n_rows)) / 5, 3).clip(0, 1)
    rounds[:2, :5] = targets[:5]
    rounds[2, 5:8], rounds[3, 5:8] = 0.0, 1.0
    return targets, rounds, rng.uniform(0.05, 1, n_rounds), rng.integers(1, 5, n_rows) / 2


def test_masses_equal_numerical_integration():
    for seed in range(8):
        targets, rounds, betas, sample_weights = random_run(seed)
        weights = PiecewiseLinearWeights(targets, sample_weights)
        for t, (answers, beta) in enumerate(zip(rounds, betas, strict=True)):
            y, cells = by_grid(targets, rounds[:t], betas[:t], sample_weights)
            between = (np.minimum(targets, answers) <= y) & (y <= np.maximum(targets, answers))
            whole = weights.mass()
            expected = shares(cells.sum(axis=0), cells)
            np.testing.assert_allclose(shares(whole, whole), expected, rtol=1e-9, atol=0)
            np.testing.assert_allclose(
                shares(weights.mass_between(answers), whole),
                shares((cells * between).sum(axis=0), cells), rtol=1e-9, atol=1e-15,
            )  # fmt: skip
            weights.scale_outside(answers, np.log(beta))


def test_the_density_is_what_the_definition_says_and_integrates_to_the_mass():
    targets, rounds, betas, sample_weights = random_run(3)
    weights = PiecewiseLinearWeights(targets, sample_weights)
    for answers, beta in zip(rounds, betas, strict=True):
        weights.scale_outside(answers, np.log(beta))
    y, cells = by_grid(targets, rounds, betas, sample_weights)
    mine = np.stack([weights.density(float(one)) for one in y[:, 0]]) / len(y)
    np.testing.assert_allclose(shares(mine, mine), shares(cells, cells), rtol=1e-11, atol=0)
    np.testing.assert_allclose(mine.sum(axis=0), weights.mass(), rtol=1e-11)


UNIT = st.integers(0, 64).map(lambda k: k / 64) | st.floats(0, 1, width=32)


@st.composite
def runs(draw):
    """Targets, weights that count, and what some members say."""
    n_rows = draw(st.integers(1, 5))
    rows = st.lists(UNIT, min_size=n_rows, max_size=n_rows)
    counts = draw(st.lists(st.integers(1, 4), min_size=n_rows, max_size=n_rows))
    return draw(rows), counts, draw(st.lists(rows, min_size=1, max_size=5))


@settings(max_examples=shared.cases(150), deadline=None)
@given(runs())
def test_masses_and_errors_are_those_of_exact_fractions(run):
    targets, counts, rounds = run
    exact = AdaBoostR([Fraction(t) for t in targets], [Fraction(c) for c in counts])
    weights = PiecewiseLinearWeights(np.array(targets), np.array(counts, dtype=float))
    for answers in rounds:
        mass = weights.mass()
        expected = [float(one) for one in exact.masses()]
        np.testing.assert_allclose(shares(mass, mass), expected, rtol=1e-12)
        points = [Fraction(point) for point in answers]
        error = weights.mass_between(np.array(answers)).sum() / mass.sum()
        assert error == pytest.approx(float(exact.error(points)), rel=1e-12)
        if not exact.predict_train(points):
            break
        # All that was wrong stays, the rest becomes as much: the member now errs on one half.
        assert exact.error(points) == Fraction(1, 2)
        beta = exact.betas[-1]
        log_beta = math.log(beta.numerator) - math.log(beta.denominator)
        weights.scale_outside(np.array(answers), log_beta)
        now = weights.mass_between(np.array(answers)).sum() / weights.mass().sum()
        assert now == pytest.approx(0.5, rel=1e-11)


def test_at_first_the_mass_is_the_mean_of_two_squares():
    """The integral of |y - t| is (t**2 + (1 - t)**2) / 2."""
    weights = PiecewiseLinearWeights(np.array([0.0, 0.5, 0.25, 1.0]))
    assert weights.mass().tolist() == [0.5, 0.25, 0.3125, 0.5]
    assert weights.mass_between(np.array([1.0, 0.5, 0.0, 0.5])).tolist() == [0.5, 0, 0.03125, 0.125]
    assert weights.cuts.shape == (3, 4)


def test_pieces_by_hand():
    """Target 1/4, point 3/4, factor 1/2; then point 1/2, factor 1/4; then point 0."""
    weights = PiecewiseLinearWeights(np.array([0.25]))
    weights.scale_outside(np.array([0.75]), np.log(1 / 2))
    weights.scale_outside(np.array([0.5]), np.log(1 / 4))
    weights.scale_outside(np.array([0.0]), np.log(1 / 8))
    assert weights.cuts[:, 0].tolist() == [0, 0, 0.25, 0.5, 0.75, 1]
    # 0 to 1/4: 1/2 * 1/4; 1/4 to 1/2: 1/8; 1/2 to 3/4: 1/4 * 1/8; 3/4 to 1: 1/2 * 1/4 * 1/8.
    factors = np.exp(weights.log_factors[1:, 0])
    np.testing.assert_allclose(factors, [1, 1, 1 / 4, 1 / 8], rtol=1e-14)


def test_factors_of_many_rounds_do_not_underflow():
    """One side falls to 1e-361, which no float holds, and comes back."""
    weights = PiecewiseLinearWeights(np.array([0.5, 0.5]))
    up, down = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    for _ in range(600):
        weights.scale_outside(up, np.log(0.25))
        assert 0 < weights.mass().sum() < np.inf
    assert weights.mass_between(down).tolist() == [0, 0]  # too little for a float ...
    for _ in range(600):
        weights.scale_outside(down, np.log(0.25))
    np.testing.assert_allclose(weights.mass_between(down), 0.125, rtol=1e-9)  # ... and not lost
    np.testing.assert_allclose(weights.mass(), 0.25, rtol=1e-9)


def test_weight_on_slivers_does_not_vanish():
    """Members that are always right but for a little put all the weight on that little."""
    targets = np.array([0.3, 0.6])
    weights = PiecewiseLinearWeights(targets)
    for _ in range(300):
        weights.scale_outside(targets + 1e-9, np.log(1e-5))
    mass = weights.mass()
    assert (mass > 0).all()
    np.testing.assert_array_equal(weights.mass_between(targets + 1e-9), mass)


def test_a_weight_of_two_is_two_copies_to_the_last_bit():
    targets, rounds, betas, sample_weights = random_run(5)
    doubled = PiecewiseLinearWeights(targets, 2 * sample_weights)
    copies = PiecewiseLinearWeights(np.tile(targets, 2), np.tile(sample_weights, 2))
    for answers, beta in zip(rounds, betas, strict=True):
        doubled.scale_outside(answers, np.log(beta))
        copies.scale_outside(np.tile(answers, 2), np.log(beta))
    first, second = copies.mass().reshape(2, -1)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first + second, doubled.mass())


def test_blocks_of_samples_make_no_difference(monkeypatch):
    targets, rounds, betas, sample_weights = random_run(6, n_rows=200)
    masses = []
    for block in (piecewise_linear._BLOCK, 1):  # one block, and blocks of 64
        monkeypatch.setattr(piecewise_linear, "_BLOCK", block)
        weights = PiecewiseLinearWeights(targets, sample_weights)
        for answers, beta in zip(rounds, betas, strict=True):
            weights.scale_outside(answers, np.log(beta))
        masses.append(np.concatenate([weights.mass(), weights.mass_between(rounds[-1])]))
    np.testing.assert_array_equal(*masses)


def test_a_copy_goes_on_by_itself():
    weights = PiecewiseLinearWeights(np.array([0.2, 0.9]))
    weights.scale_outside(np.array([0.4, 0.4]), -1.0)
    other = pickle.loads(pickle.dumps(weights))
    before = weights.mass()
    other.scale_outside(np.array([0.1, 1.0]), -2.0)
    np.testing.assert_array_equal(weights.mass(), before)
    weights.scale_outside(np.array([0.1, 1.0]), -2.0)
    np.testing.assert_array_equal(weights.mass(), other.mass())


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, np.inf])
def test_what_is_not_from_0_to_1_is_refused(value):
    with pytest.raises(ValueError, match="targets must be numbers from 0 to 1"):
        PiecewiseLinearWeights(np.array([0.5, value]))
    weights = PiecewiseLinearWeights(np.array([0.5, 0.5]))
    with pytest.raises(ValueError, match="points must be numbers from 0 to 1"):
        weights.mass_between(np.array([0.5, value]))
    with pytest.raises(ValueError, match=r"points has shape \(3,\); one for each of 2 targets"):
        weights.scale_outside(np.zeros(3), -1.0)
