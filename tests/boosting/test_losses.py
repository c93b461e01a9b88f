"""The losses of gradient boosting: derivatives, minima, weights, and what they do at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from orfeon.boosting.class_losses import (
    LARGEST_STEP,
    ExponentialLoss,
    LogLoss,
    MultinomialLoss,
)
from orfeon.boosting.losses import (
    AbsoluteError,
    HuberError,
    QuantileError,
    SquaredError,
    grouped_quantiles,
    weighted_quantile,
)

OF_NUMBERS = [SquaredError(), AbsoluteError(), HuberError(0.7), QuantileError(0.3)]
OF_CLASSES = [LogLoss(), ExponentialLoss(), MultinomialLoss(4)]
EVERY = pytest.mark.parametrize("loss", OF_NUMBERS + OF_CLASSES, ids=lambda loss: repr(loss))


def problem(loss, n_rows=30, seed=0, spread=1.0):
    """Targets, scores and weights for a loss."""
    rng = np.random.default_rng(seed)
    n_classes = 2 if loss.n_scores == 1 else loss.n_scores
    y = rng.normal(size=n_rows) if loss in OF_NUMBERS else np.arange(n_rows) % n_classes
    return y, spread * rng.normal(size=(loss.n_scores, n_rows)), rng.uniform(0.2, 3.0, n_rows)


def measured_at(loss, y, scores, weights):
    """The loss, with the width that its gradient has at these scores."""
    if isinstance(loss, HuberError):
        return HuberError(loss.alpha, weighted_quantile(np.abs(y - scores[0]), weights, loss.alpha))
    return loss


# -- derivatives -----------------------------------------------------------------------------------


@EVERY
def test_the_gradient_is_the_derivative_of_the_loss(loss):
    y, scores, weights = problem(loss)
    gradient = loss.negative_gradient(y, scores, weights)
    assert gradient.shape == scores.shape
    loss = measured_at(loss, y, scores, weights)
    share = weights / weights.sum()
    for k, i in [(0, 0), (loss.n_scores - 1, 7), (loss.n_scores // 2, 29)]:
        up, down = scores.copy(), scores.copy()
        up[k, i] += 1e-6
        down[k, i] -= 1e-6
        slope = (loss.value(y, up, weights) - loss.value(y, down, weights)) / 2e-6
        np.testing.assert_allclose(gradient[k, i] * share[i], -slope, atol=1e-9)


@pytest.mark.parametrize("loss", OF_CLASSES, ids=lambda loss: repr(loss))
def test_the_hessian_is_the_second_derivative(loss):
    y, scores, weights = problem(loss)
    hessian = loss.hessian(y, scores, weights)
    assert hessian.shape == scores.shape
    assert (hessian >= 0).all()
    gradient, curvature = loss.derivatives(y, scores, weights)
    np.testing.assert_array_equal(gradient, loss.negative_gradient(y, scores, weights))
    np.testing.assert_array_equal(curvature, hessian)
    k = loss.n_scores
    factor = k / (k - 1) if k > 1 else 1.0  # of several scores, whose mean is free
    for k, i in [(0, 0), (loss.n_scores - 1, 7), (loss.n_scores // 2, 29)]:
        up, down = scores.copy(), scores.copy()
        up[k, i] += 1e-6
        down[k, i] -= 1e-6
        slope = loss.negative_gradient(y, up, weights) - loss.negative_gradient(y, down, weights)
        np.testing.assert_allclose(hessian[k, i], -factor * slope[k, i] / 2e-6, atol=1e-8)


def test_losses_of_numbers_count_every_second_derivative_as_one():
    for loss in OF_NUMBERS:
        assert loss.has_constant_hessian
        np.testing.assert_array_equal(loss.hessian(*problem(loss)), np.ones((1, 30)))
    assert not any(loss.has_constant_hessian for loss in OF_CLASSES)


def test_the_hessian_of_the_log_loss_is_precise_far_from_the_border():
    scores = np.array([[-700.0, -50.0, 0.0, 50.0, 700.0]])
    curvature = LogLoss().hessian(np.array([0, 1, 0, 1, 0]), scores, np.ones(5))[0]
    expected = [np.exp(-700.0), np.exp(-50.0), 0.25, np.exp(-50.0), np.exp(-700.0)]
    np.testing.assert_allclose(curvature, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (SquaredError(), 0.5 * (0.2 * 1.0 + 0.8 * 4.0)),
        (AbsoluteError(), 0.2 * 1.0 + 0.8 * 2.0),
        (QuantileError(0.75), 0.2 * 0.25 * 1.0 + 0.8 * 0.75 * 2.0),
        (HuberError(0.5, width=1.5), 0.2 * 0.5 + 0.8 * 1.5 * (2.0 - 0.75)),
    ],
)
def test_the_loss_is_a_weighted_mean(loss, expected):
    y, scores, weights = np.array([0.0, 3.0]), np.array([[1.0, 1.0]]), np.array([1.0, 4.0])
    np.testing.assert_allclose(loss.value(y, scores, weights), expected, rtol=1e-15)


def test_the_losses_of_classes_by_hand():
    y, weights = np.array([0, 1]), np.array([1.0, 3.0])
    scores = np.array([[0.5, 2.0]])
    expected = 0.25 * np.log1p(np.exp(0.5)) + 0.75 * np.log1p(np.exp(-2.0))
    assert LogLoss().value(y, scores, weights) == pytest.approx(expected, rel=1e-14)
    expected = 0.25 * np.exp(0.5) + 0.75 * np.exp(-2.0)
    assert ExponentialLoss().value(y, scores, weights) == pytest.approx(expected, rel=1e-14)
    # With two classes and opposite scores the multinomial loss is the binomial one.
    both = np.vstack([-scores, scores]) / 2
    assert MultinomialLoss(2).value(y, both, weights) == pytest.approx(
        LogLoss().value(y, scores, weights), rel=1e-14
    )


# -- constants to start from -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "loss", [*OF_NUMBERS, LogLoss(), ExponentialLoss()], ids=lambda loss: repr(loss)
)
def test_no_constant_has_a_smaller_loss(loss):
    y, scores, weights = problem(loss, 41)
    start = loss.start(y, weights)
    if isinstance(loss, HuberError):  # it starts from the median, as Friedman has it
        np.testing.assert_array_equal(start, AbsoluteError().start(y, weights))
        return

    def cost(constant):
        return loss.value(y, np.full_like(scores, constant), weights)

    best = minimize_scalar(cost, bracket=(-1.0, 1.0), tol=1e-12)
    assert cost(start[0]) <= best.fun + 1e-12


def test_the_constants_of_several_classes_are_their_shares():
    y, _, weights = problem(MultinomialLoss(4), 33)
    start = MultinomialLoss(4).start(y, weights)
    shares = np.bincount(y, weights=weights) / weights.sum()
    np.testing.assert_allclose(MultinomialLoss(4).probabilities(start[None])[0], shares, rtol=1e-14)
    assert abs(start.sum()) < 1e-14


def test_classes_without_weight_start_from_finite_scores():
    weights = np.array([1.0, 0.0])
    for loss in (LogLoss(), ExponentialLoss(), MultinomialLoss(2)):
        start = loss.start(np.array([0, 1]), weights)
        assert np.isfinite(start).all()
        assert loss.probabilities(start[None])[0, 0] > 1 - 1e-12


# -- leaves ----------------------------------------------------------------------------------------


def leaf_problem(loss, seed):
    y, scores, weights = problem(loss, 60, seed, spread=0.7)
    rng = np.random.default_rng(seed)
    leaves = rng.integers(0, 5, (loss.n_scores, 60)) + 5 * np.arange(loss.n_scores)[:, None]
    residuals = loss.negative_gradient(y, scores, weights)
    steps = loss.leaf_values(y, scores, weights, residuals, leaves, 5 * loss.n_scores)
    return y, scores, weights, leaves, residuals, steps


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "loss",
    [SquaredError(), AbsoluteError(), QuantileError(0.3), ExponentialLoss()],
    ids=lambda loss: repr(loss),
)
def test_exact_leaves_have_the_least_loss(loss, seed):
    y, scores, weights, leaves, _, steps = leaf_problem(loss, seed)
    for leaf in range(5):
        mine = leaves[0] == leaf

        def cost(step, mine=mine):
            return loss.value(y[mine], scores[:, mine] + step, weights[mine])

        best = minimize_scalar(cost, bracket=(-1.0, 1.0), tol=1e-12)
        assert cost(steps[leaf]) <= best.fun + 1e-12


def test_the_huber_leaf_is_one_step_from_the_median():
    loss = HuberError(0.7)
    y, scores, weights, leaves, residuals, steps = leaf_problem(loss, 0)
    width = weighted_quantile(np.abs(y - scores[0]), weights, 0.7)
    assert np.abs(residuals).max() == width
    for leaf in range(5):
        mine = leaves[0] == leaf
        gap = (y - scores[0])[mine]
        median = weighted_quantile(gap, weights[mine], 0.5)
        cut = np.sign(gap - median) * np.minimum(width, np.abs(gap - median))
        expected = median + np.average(cut, weights=weights[mine])
        assert steps[leaf] == pytest.approx(expected, abs=1e-14)
        # Not the minimum, but better than the median.
        yardstick = HuberError(0.7, width)
        costs = [yardstick.value(gap, np.full((1, len(gap)), s), weights[mine])
                 for s in (steps[leaf], median)]  # fmt: skip
        assert costs[0] <= costs[1]


@pytest.mark.parametrize("loss", [LogLoss(), MultinomialLoss(4)], ids=lambda loss: repr(loss))
def test_newton_leaves_are_gradient_over_curvature(loss):
    y, scores, weights, leaves, _, steps = leaf_problem(loss, 1)
    damping = 1.0 if loss.n_scores == 1 else 3 / 4
    for k in range(loss.n_scores):
        for leaf in range(5 * k, 5 * k + 5):
            mine = leaves[k] == leaf

            def cost(step, k=k, mine=mine):
                moved = scores.copy()
                moved[k, mine] += step
                return loss.value(y, moved, weights)

            h = 1e-4
            slope = (cost(h) - cost(-h)) / (2 * h)
            curvature = (cost(h) - 2 * cost(0.0) + cost(-h)) / h**2
            assert steps[leaf] == pytest.approx(-damping * slope / curvature, rel=1e-4)


def test_numbers_that_no_sample_has_get_zero():
    for loss in OF_NUMBERS + OF_CLASSES:
        y, scores, weights = problem(loss, 12)
        leaves = np.full((loss.n_scores, 12), 2)
        residuals = loss.negative_gradient(y, scores, weights)
        steps = loss.leaf_values(y, scores, weights, residuals, leaves, 4)
        assert steps[[0, 1, 3]].tolist() == [0.0, 0.0, 0.0]
        assert np.isfinite(steps).all()


def test_a_leaf_of_one_class_says_what_its_weight_is_worth():
    loss, y = ExponentialLoss(), np.array([1, 1, 0])
    weights = np.array([1.0, 2.0, 1.5])
    scores = np.zeros((1, 3))
    residuals = loss.negative_gradient(y, scores, weights)
    steps = loss.leaf_values(y, scores, weights, residuals, np.array([[0, 0, 1]]), 2)
    np.testing.assert_allclose(steps, [0.5 * np.log(7.0), -0.5 * np.log(4.0)], rtol=1e-14)


def test_a_newton_step_is_bounded_where_the_curvature_vanishes():
    for score, expected in ((-800.0, LARGEST_STEP), (-60.0, LARGEST_STEP), (800.0, 0.0)):
        scores = np.full((1, 2), score)
        y, weights = np.array([1, 1]), np.ones(2)
        residuals = LogLoss().negative_gradient(y, scores, weights)
        steps = LogLoss().leaf_values(y, scores, weights, residuals, np.zeros((1, 2), int), 1)
        assert steps[0] == expected
    assert pytest.approx(36.04, abs=0.01) == LARGEST_STEP


def test_a_shrunk_newton_step_never_raises_the_log_loss():
    """Whatever the scores: this is what the bound on the step is for."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        loss = LogLoss()
        y, weights = rng.integers(0, 2, 40), rng.uniform(0.1, 2.0, 40)
        scores = rng.normal(size=(1, 40)) * 10.0 ** rng.integers(-2, 4)
        leaves = rng.integers(0, 6, (1, 40))
        residuals = loss.negative_gradient(y, scores, weights)
        steps = loss.leaf_values(y, scores, weights, residuals, leaves, 6)
        before, after = (
            loss.value(y, scores + rate * steps[leaves], weights) for rate in (0.0, 0.1)
        )
        assert after <= before + 1e-15


# -- weights ---------------------------------------------------------------------------------------


@EVERY
def test_weights_are_copies(loss):
    y, scores, _ = problem(loss, 24)
    weights = np.arange(24) % 4
    copies = np.repeat(np.arange(24), weights)
    given = weights.astype(float)
    ones = np.ones(len(copies))
    residuals = loss.negative_gradient(y, scores, given)
    copied = loss.negative_gradient(y[copies], scores[:, copies], ones)
    np.testing.assert_array_equal(residuals[:, copies], copied)
    leaves = np.arange(24)[None] % 3 + 3 * np.arange(loss.n_scores)[:, None]
    many = 3 * loss.n_scores
    np.testing.assert_allclose(
        loss.leaf_values(y, scores, given, residuals, leaves, many),
        loss.leaf_values(y[copies], scores[:, copies], ones, copied, leaves[:, copies], many),
        rtol=1e-13,
    )
    np.testing.assert_allclose(
        loss.start(y, given), loss.start(y[copies], ones), rtol=1e-13, atol=1e-15
    )


def test_quantiles_are_the_least_values_that_reach_the_share():
    rng = np.random.default_rng(3)
    for _ in range(50):
        values = rng.integers(0, 6, 12).astype(float)
        weights = rng.integers(0, 3, 12).astype(float)
        weights[0] = 1.0
        share = float(rng.choice([0.1, 0.25, 0.5, 0.75, 0.9, 1.0]))
        found = weighted_quantile(values, weights, share)
        copies = np.sort(np.repeat(values, weights.astype(int)))
        at = int(np.ceil(round(share * len(copies), 9))) - 1
        assert found == copies[at]


def test_quantiles_of_groups_are_those_of_each_alone():
    rng = np.random.default_rng(4)
    values, weights = rng.normal(size=500), rng.uniform(0, 2, 500)
    groups = rng.integers(0, 9, 500)
    groups[groups == 4] = 3  # nobody is in 4
    found = grouped_quantiles(values, weights, groups, 10, 0.37)
    for g in range(10):
        mine = groups == g
        expected = weighted_quantile(values[mine], weights[mine], 0.37) if mine.any() else 0.0
        assert found[g] == expected


def test_quantiles_of_very_many_groups():
    groups = np.arange(40_000)
    np.testing.assert_array_equal(
        grouped_quantiles(1.0 * groups, np.ones(40_000), groups, 40_000, 0.5), groups
    )


# -- probabilities ---------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", OF_CLASSES, ids=lambda loss: repr(loss))
def test_probabilities_sum_to_one_and_their_logarithms_stay_finite(loss):
    scores = np.linspace(-700, 700, 8 * loss.n_scores).reshape(8, loss.n_scores)
    p, logarithms = loss.probabilities(scores), loss.log_probabilities(scores)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.exp(logarithms), p, atol=1e-14)
    assert np.isfinite(logarithms).all()


def test_probabilities_are_what_the_losses_are_minimised_by():
    """P(second class) = expit(F) with the log-loss, expit(2 F) with the exponential loss."""
    y, weights = np.array([0, 1]), np.array([1.0, 3.0])
    for loss in (LogLoss(), ExponentialLoss()):
        p = loss.probabilities(loss.start(y, weights)[None])
        np.testing.assert_allclose(p, [[0.25, 0.75]], rtol=1e-14)


def test_extreme_margins_give_finite_losses():
    y, weights = np.array([0, 1]), np.ones(2)
    scores = np.array([[1e6, -1e6]])
    for loss in (LogLoss(), ExponentialLoss()):
        assert np.isfinite(loss.value(y, scores, weights))
        assert np.isfinite(loss.negative_gradient(y, scores, weights)).all()


def test_the_mean_of_equal_targets_is_the_target():
    for value in (0.1, 1e150, -3.5):
        y = np.full(7, value)
        assert SquaredError().start(y, np.full(7, 0.3)).tolist() == [value]


def test_light_groups_are_not_lost_among_heavy_ones():
    values, groups = np.array([5.0, 5.0, 7.0, 7.0, 9.0]), np.array([0, 0, 1, 1, 2])
    for weights in (
        [1e6, 1, 1e-12, 1e-12, 1e6],
        [1e-300, 0, 1e250, 1e250, 1],
        [1, 1, 1, 0, 2**-1070],
    ):
        found = grouped_quantiles(values, np.array(weights, float), groups, 4, 0.5)
        assert found.tolist() == [5.0, 7.0, 9.0, 0.0]
