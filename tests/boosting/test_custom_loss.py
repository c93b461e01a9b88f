"""Losses of the user: equal to ours, checked in a sentence, and saved without their code."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import orfeon
from orfeon import GradientBoostingClassifier, GradientBoostingRegressor
from orfeon.boosting.class_losses import LogLoss

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = X[:, 0] + RNG.normal(size=150)
CODES = (Y > 0.3).astype(int)


def squares(y, raw):
    return raw - y, np.ones(len(y))


class Logistic:
    """The log-loss by ours, so that bits can be compared."""

    def __call__(self, y, raw):
        residuals, hessian = LogLoss().derivatives(y.astype(int), raw[None].copy(), np.ones(len(y)))
        return -residuals[0], hessian[0]

    def start(self, y, weights):
        return LogLoss().start(y, weights)

    def value(self, y, raw, weights):
        return LogLoss().value(y.astype(int), raw[None].copy(), weights)


class Exponential:
    """Exponential mean, link log: the Poisson deviance, up to a constant."""

    link = "log"

    def __call__(self, y, raw):
        return np.exp(raw) - y, np.exp(raw)

    def value(self, y, raw, weights):
        return np.average(np.exp(raw) - y * raw, weights=weights)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("tree_method", ["exact", "histogram"])
def test_squares_are_the_squared_error_to_the_bit(order, tree_method):
    weights = RNG.integers(0, 4, 150).astype(float)
    given = {"init": "zero", "order": order, "tree_method": tree_method, "l2": 0.0}
    given |= {"n_estimators": 20, "subsample": 0.7, "random_state": 0, "early_stopping": False}
    mine = GradientBoostingRegressor(loss=squares, **given).fit(X, Y, weights)
    ours = GradientBoostingRegressor(**given).fit(X, Y, weights)
    np.testing.assert_array_equal(mine.predict(X), ours.predict(X))
    assert np.isnan(mine.train_loss_).all()


@pytest.mark.parametrize("tree_method", ["exact", "histogram"])
def test_the_logistic_loss_is_ours_to_the_bit(tree_method):
    given = {"order": 2, "n_estimators": 20, "tree_method": tree_method, "random_state": 0}
    given |= {"n_iter_no_change": 5, "class_weight": {0: 1, 1: 2}}
    mine = GradientBoostingClassifier(loss=Logistic(), **given).fit(X, CODES)
    ours = GradientBoostingClassifier(**given).fit(X, CODES)
    np.testing.assert_array_equal(mine.predict_proba(X), ours.predict_proba(X))
    np.testing.assert_array_equal(mine.train_loss_, ours.train_loss_)
    np.testing.assert_array_equal(mine.validation_loss_, ours.validation_loss_)
    np.testing.assert_array_equal(mine.predict_log_proba(X), ours.predict_log_proba(X))


def test_first_order_leaves_are_newton_steps():
    given = {"n_estimators": 20, "order": 1, "random_state": 0}
    mine = GradientBoostingClassifier(loss=Logistic(), **given).fit(X, CODES)
    ours = GradientBoostingClassifier(**given).fit(X, CODES)
    np.testing.assert_allclose(mine.decision_function(X), ours.decision_function(X), rtol=1e-9)


def test_the_constant_is_found_from_the_derivatives():
    def without_start(y, raw):
        p = expit(raw)
        return p - y, p * (1 - p)

    rare = (np.arange(150) % 50 == 0).astype(int)
    model = GradientBoostingClassifier(loss=without_start, n_estimators=1).fit(X, rare)
    share = rare.mean()
    assert model.init_[0] == pytest.approx(np.log(share / (1 - share)), rel=1e-9)
    model = GradientBoostingRegressor(loss=squares, n_estimators=1).fit(X, 1e6 + Y)
    assert model.init_[0] == pytest.approx(1e6 + Y.mean(), rel=1e-12)


def test_a_link_makes_predictions_of_scores():
    y = RNG.poisson(np.exp(X[:, 0])).astype(float)
    mine = GradientBoostingRegressor(loss=Exponential(), order=2, l2=0.0, n_estimators=30).fit(X, y)
    assert (mine.predict(X) > 0).all()
    np.testing.assert_array_equal(mine.predict(X), np.exp(mine._scores(X)[:, 0]))
    assert mine.init_[0] == pytest.approx(np.log(y.mean()), rel=1e-9)
    wrong = Exponential()
    wrong.link = "probit"
    with pytest.raises(ValueError, match="the link 'probit' of loss=Exponential is not allowed"):
        GradientBoostingRegressor(loss=wrong).fit(X, y)
    with pytest.raises(ValueError, match="the link 'log' of loss=Exponential is not allowed"):
        GradientBoostingClassifier(loss=Exponential()).fit(X, CODES)


def test_weights_are_passed_to_functions_that_take_them():
    seen = []

    def weighed(y, raw, weights):
        seen.append(weights.copy())
        with pytest.raises(ValueError, match="read-only"):
            raw += 1
        return raw - y, np.ones(len(y))

    weights = np.array([1.0, 2.0, 0.0] * 50)
    model = GradientBoostingRegressor(loss=weighed, n_estimators=3, random_state=0).fit(
        X, Y, weights
    )
    assert len(seen[0]) == 100  # copies are one row, and weight 0 is absent
    assert sorted(set(seen[0])) == [1.0, 2.0]
    plain = GradientBoostingRegressor(loss=squares, n_estimators=3, random_state=0).fit(
        X, Y, weights
    )
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def broken(result):
    def broken_loss(y, raw):
        return result(len(y))

    return broken_loss


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda n: np.zeros(n), "must return two arrays.*not an array of shape"),
        (lambda n: (np.zeros(n),) * 3, "must return two arrays.*not a tuple"),
        (lambda n: None, "must return two arrays.*not a NoneType"),
        (lambda n: (np.zeros(3), np.ones(n)), r"gradient of .* has shape \(3,\).* shape \(150,\)"),
        (lambda n: (np.zeros(n), np.ones((n, 1))), r"hessian of .* has shape \(150, 1\)"),
        (lambda n: (np.zeros(n), -np.ones(n)), "hessian of loss=broken_loss is negative for 150"),
        (lambda n: (np.full(n, np.nan), np.ones(n)), "gradient .* is not finite for 150 of 150"),
        (lambda n: (["a"] * n, np.ones(n)), "gradient of loss=broken_loss must hold numbers"),
    ],
)
def test_what_a_loss_returns_is_checked(result, message):
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(loss=broken(result)).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        GradientBoostingClassifier(loss=broken(result)).fit(X, CODES)


def test_what_needs_more_than_derivatives_says_so():
    with pytest.raises(ValueError, match="early stopping needs the value of loss=squares"):
        GradientBoostingRegressor(loss=squares, early_stopping=True).fit(X, Y)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        GradientBoostingClassifier(loss=Logistic()).fit(X, np.arange(150) % 3)
    model = GradientBoostingRegressor(loss=squares, n_estimators=3).fit(X, Y)
    with pytest.raises(ValueError, match="the value of loss=squares is not known"):
        model.best_rounds(X, Y)


@pytest.mark.parametrize("loss", [squares, Exponential()])
def test_a_loaded_model_predicts_without_the_function(tmp_path, loss):
    y = np.abs(Y)
    model = GradientBoostingRegressor(loss=loss, n_estimators=6, warm_start=True).fit(X, y)
    orfeon.save(model, tmp_path / "m.orfeon")
    again = orfeon.load(tmp_path / "m.orfeon")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert model.loss is loss  # saving changes nothing
    name = getattr(loss, "__name__", "Exponential")
    again.set_params(n_estimators=9)
    with pytest.raises(ValueError, match=f"the function of loss={name} is not known"):
        again.fit(X, y)
    # With the function it goes on, to the same bits.
    model.set_params(n_estimators=9).fit(X, y)
    again.set_params(loss=loss).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    other = broken(lambda n: (np.zeros(n), np.ones(n)))
    with pytest.raises(ValueError, match="the loss of the previous fit"):
        model.set_params(loss=other, n_estimators=12).fit(X, y)
