"""Poisson, gamma and Tweedie: derivatives, exact leaves, scikit-learn's deviances, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.metrics import mean_gamma_deviance, mean_poisson_deviance, mean_tweedie_deviance
from tests.boosting.first_order import mart_regressor

from orfeon import GradientBoostingRegressor
from orfeon.boosting.deviance import TweedieDeviance

POWERS = [1.0, 1.1, 1.5, 1.9, 2.0]
powers = pytest.mark.parametrize("power", POWERS)
LOSS_NAMES = {1.0: {"loss": "poisson"}, 2.0: {"loss": "gamma"}}


def settings(power):
    return LOSS_NAMES.get(power, {"loss": "tweedie", "power": power})


def problem(power, n_rows=40, seed=0):
    """Targets, log means and weights."""
    rng = np.random.default_rng(seed)
    y = rng.gamma(2.0, 1.0, n_rows)
    if power < 2:
        y[::4] = 0.0
    return y, rng.normal(size=(1, n_rows)), rng.uniform(0.2, 3.0, n_rows)


@powers
def test_derivatives_are_those_of_the_loss(power):
    loss = TweedieDeviance(power)
    y, scores, weights = problem(power)
    gradient, hessian = loss.derivatives(y, scores, weights)
    np.testing.assert_array_equal(gradient, loss.negative_gradient(y, scores, weights))
    np.testing.assert_array_equal(hessian, loss.hessian(y, scores, weights))
    assert (hessian > 0).all() or power == 2.0
    for i in (0, 7, 12, 39):
        one, step = (y[[i]], weights[[i]]), 1e-5
        up, here, down = (
            loss.value(one[0], scores[:, [i]] + d, one[1]) for d in (step, 0.0, -step)
        )
        assert gradient[0, i] == pytest.approx(-(up - down) / (2 * step), abs=1e-8)
        assert hessian[0, i] == pytest.approx((up - 2 * here + down) / step**2, abs=1e-4)


@powers
def test_values_are_half_of_the_deviances_of_scikit_learn(power):
    y, scores, weights = problem(power)
    theirs = mean_tweedie_deviance(y, np.exp(scores[0]), sample_weight=weights, power=power)
    assert TweedieDeviance(power).value(y, scores, weights) == pytest.approx(theirs / 2, rel=1e-12)


@powers
@pytest.mark.parametrize("penalties", [(0.0, 0.0), (1.0, 0.0), (0.3, 2.0), (0.0, 5.0)])
def test_leaves_are_exact_minima(power, penalties):
    l2, l1 = penalties
    loss = TweedieDeviance(power)
    y, scores, weights = problem(power, 60, seed=1)
    leaves = (np.arange(60) % 5)[None]
    if l2 == l1 == 0:
        residuals = loss.negative_gradient(y, scores, weights)
        values = loss.leaf_values(y, scores, weights, residuals, leaves, 5)
        again = loss.penalized_leaf_values(y, scores, weights, leaves, 5, 0.0, 0.0)
        np.testing.assert_array_equal(values, again)
    values = loss.penalized_leaf_values(y, scores, weights, leaves, 5, l2, l1)
    for leaf, value in enumerate(values):
        mine = leaves[0] == leaf
        total = weights[mine].sum()

        def cost(d, mine=mine, total=total):
            inner = total * loss.value(y[mine], scores[:, mine] + d, weights[mine])
            return inner + 0.5 * l2 * d * d + l1 * abs(d)

        best = minimize_scalar(cost, bounds=(-8, 8), method="bounded", options={"xatol": 1e-10})
        assert cost(value) <= best.fun + 1e-9
        assert value == pytest.approx(best.x, abs=1e-4)


def test_a_leaf_of_zeros_stays_finite_in_any_unit():
    loss = TweedieDeviance(1.5)
    y, weights, leaves = np.zeros(3), np.array([1.0, 2.0, 1.0]), np.zeros((1, 3), int)
    for scale in (0.0, 5.0):
        scores = np.full((1, 3), scale)
        residuals = loss.negative_gradient(y, scores, weights)
        (value,) = loss.leaf_values(y, scores, weights, residuals, leaves, 1)
        assert value == pytest.approx(-np.log(9.0), rel=1e-14)


@pytest.mark.parametrize("order", [1, 2])
@powers
def test_means_are_learnt_on_the_scale_of_the_target(power, order):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, 2))
    mean = np.exp(2.0 * X[:, 0])
    y = rng.poisson(mean).astype(float) if power < 2 else rng.gamma(3.0, mean / 3.0)
    model = mart_regressor(n_estimators=60, max_depth=2, order=order, **settings(power)).fit(X, y)
    predicted = model.predict(X)
    assert (predicted > 0).all()
    assert np.abs(predicted - mean).mean() < 0.12 * mean.mean()
    deviances = {1.0: mean_poisson_deviance, 2.0: mean_gamma_deviance}
    deviance = deviances.get(power, lambda a, b: mean_tweedie_deviance(a, b, power=power))
    assert model.train_loss_[-1] == pytest.approx(deviance(y, predicted) / 2, rel=1e-10)
    assert (np.diff(model.train_loss_) <= 1e-12).all()
    # The unit of the target changes nothing but the unit of the predictions.
    if order == 1:
        scaled = mart_regressor(n_estimators=60, max_depth=2, **settings(power))
        np.testing.assert_allclose(scaled.fit(X, 8 * y).predict(X), 8 * predicted, rtol=1e-6)


def test_poisson_is_better_for_counts_than_squared_error():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1000, 3))
    mean = np.exp(3 * X[:, 0] - 2.5)
    y, fresh = rng.poisson(mean).astype(float), rng.poisson(mean).astype(float)
    means = {
        name: np.maximum(GradientBoostingRegressor(loss=name).fit(X, y).predict(X), 1e-3)
        for name in ("poisson", "squared_error")
    }
    assert mean_poisson_deviance(fresh, means["poisson"]) < mean_poisson_deviance(
        fresh, means["squared_error"]
    )


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
def test_targets_that_are_all_zero_give_predictions_of_about_zero(loss, order):
    X = np.arange(20.0)[:, None]
    model = GradientBoostingRegressor(n_estimators=5, loss=loss, order=order).fit(X, np.zeros(20))
    assert (model.predict(X) < 1e-12).all()


@pytest.mark.parametrize(
    ("given", "low", "message"),
    [
        ({"loss": "poisson"}, -3.0, r'loss="poisson" needs targets of 0 or more, .* y is -3\.'),
        ({"loss": "tweedie"}, -0.5, r'loss="tweedie" needs targets of 0 or more, .* y is -0\.5\.'),
        ({"loss": "gamma"}, 0.0, r'loss="gamma" needs targets above 0, .* y is 0; loss="tweedie"'),
    ],
)
def test_targets_that_cannot_be_are_refused(given, low, message):
    X, y = np.arange(10.0)[:, None], np.arange(1.0, 11.0)
    y[3] = low
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(**given).fit(X, y)
    # A sample of weight 0 is absent.
    weights = np.where(np.arange(10) == 3, 0.0, 1.0)
    GradientBoostingRegressor(n_estimators=2, **given).fit(X, y, weights)
    with pytest.raises(ValueError, match="power"):
        GradientBoostingRegressor(loss="tweedie", power=2.0).fit(X, np.abs(y))
