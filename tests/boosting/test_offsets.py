"""Where scores start: offsets of rows, other models, and validation sets that are given."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC
from tests.boosting.first_order import FIRST_ORDER

import orfeon
from orfeon import (
    CARTClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = np.round(64 * (X[:, 0] + RNG.normal(size=200))) / 64  # sums with offsets are exact
COUNTS = RNG.poisson(np.exp(X[:, 0])).astype(float)
CLASSES = np.array(["a", "b", "c"])[np.digitize(Y, [-0.5, 0.5])]
MARGIN = np.round(RNG.normal(size=200), 3)
SMALL = {**FIRST_ORDER, "n_estimators": 12, "random_state": 0}
LOSSES = ["squared_error", "absolute_error", "huber", "quantile", "poisson"]


def regressor(**given):
    return GradientBoostingRegressor(**{**SMALL, **given})


def classifier(**given):
    return GradientBoostingClassifier(**{**SMALL, **given})


# -- offsets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_a_constant_offset_shifts_the_constant(loss):
    y = COUNTS if loss == "poisson" else Y
    plain, shifted = regressor(loss=loss).fit(X, y), regressor(loss=loss)
    shifted.fit(X, y, base_margin=np.full(200, 0.5))
    np.testing.assert_allclose(shifted.init_, plain.init_ - 0.5, atol=1e-9)
    alike = shifted.predict(X, base_margin=np.full(200, 0.5))
    np.testing.assert_allclose(alike, plain.predict(X), rtol=1e-9, atol=1e-9)
    nothing = regressor(loss=loss).fit(X, y, base_margin=np.zeros(200))
    np.testing.assert_allclose(nothing.init_, plain.init_, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("order", [1, 2])
def test_a_constant_offset_of_classes(n_classes, order):
    y = CLASSES if n_classes == 3 else CLASSES == "a"
    offset = np.array([0.5, -1.0, 0.25])[None, :n_classes] if n_classes == 3 else np.array([[0.75]])
    margin = np.repeat(offset, 200, axis=0)
    plain, shifted = classifier(order=order).fit(X, y), classifier(order=order)
    shifted.fit(X, y, base_margin=margin)
    np.testing.assert_allclose(
        shifted.predict_proba(X, base_margin=margin), plain.predict_proba(X), atol=1e-6
    )


def test_squared_error_with_offsets_is_the_rest_of_the_target():
    """Offsets of squared error are subtracted from the target."""
    margin = np.round(MARGIN * 8) / 8
    with_offsets = regressor().fit(X, Y, base_margin=margin)
    rest = regressor().fit(X, Y - margin)
    np.testing.assert_allclose(with_offsets.predict(X), rest.predict(X), atol=1e-9)
    shown = with_offsets.predict(X, base_margin=margin)
    np.testing.assert_allclose(shown, rest.predict(X) + margin, atol=1e-9)
    # The loss shown is that of the predictions with their offsets.
    assert with_offsets.train_loss_[-1] == pytest.approx(0.5 * np.mean((Y - shown) ** 2), rel=1e-12)
    stages = list(with_offsets.staged_predict(X, base_margin=margin))
    np.testing.assert_array_equal(stages[-1], shown)


def test_exposure_is_an_offset_of_counts():
    """Rates per year from counts over unequal times."""
    rng = np.random.default_rng(1)
    rows, exposure = rng.uniform(size=(1500, 2)), rng.uniform(0.1, 4.0, 1500)
    rate = np.exp(2 * rows[:, 0])
    counts = rng.poisson(rate * exposure).astype(float)
    model = GradientBoostingRegressor(loss="poisson", max_depth=2)
    model.fit(rows, counts, base_margin=np.log(exposure))
    assert np.abs(model.predict(rows) / rate - 1).mean() < 0.15
    without = GradientBoostingRegressor(loss="poisson", max_depth=2).fit(rows, counts)
    assert np.abs(without.predict(rows) / rate - 1).mean() > 0.5


@pytest.mark.parametrize("model", [regressor(loss="absolute_error"), regressor(subsample=0.6)])
def test_weights_are_exact_with_offsets(model):
    weights = RNG.integers(0, 3, 200).astype(float)
    twice = np.repeat(np.arange(200), weights.astype(int))
    twice = twice[RNG.permutation(len(twice))]
    one = clone(model).fit(X, Y, weights, base_margin=MARGIN)
    other = clone(model).fit(X[twice], Y[twice], base_margin=MARGIN[twice])
    np.testing.assert_array_equal(one.predict(X, MARGIN), other.predict(X, MARGIN))


def test_rows_that_differ_in_their_offsets_alone_are_no_copies():
    rows, y = np.zeros((4, 1)), np.zeros(4)
    margin = np.array([0.0, 0.0, 4.0, 8.0])
    model = regressor(n_estimators=1).fit(rows, y, base_margin=margin)
    assert model.init_[0] == -3.0


def test_a_warm_start_with_offsets_is_a_single_run():
    for given in ({}, {"subsample": 0.5}, {"n_iter_no_change": 20}):
        whole = regressor(n_estimators=15, **given).fit(X, Y, base_margin=MARGIN)
        grown = regressor(n_estimators=6, warm_start=True, **given).fit(X, Y, base_margin=MARGIN)
        grown.set_params(n_estimators=15).fit(X, Y, base_margin=MARGIN)
        np.testing.assert_array_equal(grown.predict(X, MARGIN), whole.predict(X, MARGIN))
        for other in (None, MARGIN + 1.0, np.zeros(200)):
            with pytest.raises(ValueError, match="samples of the previous fit"):
                grown.set_params(n_estimators=20).fit(X, Y, base_margin=other)


@pytest.mark.parametrize(
    ("margin", "message"),
    [
        (np.zeros(5), r"base_margin has shape \(5,\), .* shape \(200,\)"),
        (np.zeros((200, 2)), r"base_margin has shape \(200, 2\)"),
        (np.full(200, np.nan), "base_margin has values that are missing or infinite"),
        (["x"] * 200, "base_margin must hold numbers only"),
    ],
)
def test_offsets_are_checked(margin, message):
    with pytest.raises(ValueError, match=message):
        regressor().fit(X, Y, base_margin=margin)
    with pytest.raises(ValueError, match=message):
        regressor().fit(X, Y).predict(X, base_margin=margin)


# -- other models ----------------------------------------------------------------------------------


def test_zero_starts_at_zero():
    assert regressor(init="zero").fit(X, Y).init_ == [0.0]
    one = regressor(init="zero").fit(X, Y, base_margin=MARGIN)
    np.testing.assert_allclose(
        one.predict(X), regressor(init="zero").fit(X, Y - MARGIN).predict(X), atol=1e-9
    )


def test_boosting_improves_another_model():
    line = LinearRegression()
    model = regressor(init=line).fit(X, Y)
    assert not hasattr(line, "coef_")  # a clone was fitted
    fitted = LinearRegression().fit(X, Y)
    np.testing.assert_array_equal(model.init_estimator_.coef_, fitted.coef_)
    by_hand = regressor(init="zero").fit(X, Y, base_margin=fitted.predict(X))
    expected = by_hand.predict(X, base_margin=fitted.predict(X))
    np.testing.assert_array_equal(model.predict(X), expected)
    given = regressor(init=fitted).fit(X, Y)
    assert given.init_estimator_ is fitted
    np.testing.assert_array_equal(given.predict(X), expected)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_boosting_starts_from_class_probabilities(n_classes, loss):
    if loss == "exponential" and n_classes == 3:
        return
    y = CLASSES if n_classes == 3 else np.where(CLASSES == "c", "c", "a")
    first = LogisticRegression().fit(X, y)
    model = classifier(init=first, loss=loss, learning_rate=1e-9, n_estimators=1).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), first.predict_proba(X), atol=1e-6)
    better = classifier(init=LogisticRegression(), loss=loss).fit(X, y)
    assert better.score(X, y) > first.score(X, y)


def test_a_poisson_model_starts_from_the_log_of_predicted_means():
    means = np.exp(X[:, 0])
    forest = RandomForestRegressor(5, random_state=0).fit(X, means)
    model = regressor(init=forest, loss="poisson", learning_rate=1e-9).fit(X, COUNTS)
    np.testing.assert_allclose(model.predict(X), forest.predict(X), rtol=1e-6)


def test_the_validation_set_is_not_seen_by_the_first_model():
    """Pure noise: a tree that saw the validation set would seem perfect on it."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    model = classifier(
        init=CARTClassifier(), early_stopping="validation", n_iter_no_change=3,
        validation_fraction=0.3,
    )  # fmt: skip
    model.fit(rows, y)
    held_loss = model.validation_loss_[0]
    assert held_loss > 2.0  # half of the confident answers are wrong
    assert len(model.init_estimator_.forest_.nodes) > 50
    assert model.init_estimator_.score(rows, y) < 0.95


@pytest.mark.parametrize("early_stopping", ["auto", "validation"])
def test_boosting_from_a_first_model_goes_on(early_stopping):
    first = CARTClassifier(max_depth=2)
    settings = {"init": first, "early_stopping": early_stopping, "n_iter_no_change": 5}
    warm = classifier(n_estimators=12, warm_start=True, **settings).fit(X, CLASSES)
    warm.set_params(n_estimators=20).fit(X, CLASSES)
    whole = classifier(n_estimators=20, **settings).fit(X, CLASSES)
    np.testing.assert_array_equal(warm.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(warm.validation_loss_, whole.validation_loss_)


def test_a_model_with_a_first_model_is_saved(tmp_path):
    model = classifier(init=CARTClassifier(max_depth=2), warm_start=True).fit(X, CLASSES)
    orfeon.save(model, tmp_path / "m.orfeon")
    again = orfeon.load(tmp_path / "m.orfeon")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    model.set_params(n_estimators=15).fit(X, CLASSES)
    again.set_params(n_estimators=15).fit(X, CLASSES)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (regressor(init=LogisticRegression()), "is not a regressor"),
        (classifier(init=LinearRegression()), "is not a classifier"),
        (classifier(init=LinearSVC()), "has no predict_proba"),
        (regressor(init="best"), "'init' parameter"),
        (
            regressor(init=LinearRegression(), n_iter_no_change=3, early_stopping="cv"),
            'early_stopping="cv" needs a fitted init',
        ),
    ],
)
def test_first_models_are_checked(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, CLASSES if isinstance(model, GradientBoostingClassifier) else Y)


def test_the_classes_of_a_first_model_are_checked():
    first = LogisticRegression().fit(X, CLASSES == "a")
    with pytest.raises(ValueError, match=r"init knows the classes \[False, True\], and y has"):
        classifier(init=first).fit(X, CLASSES)


# -- validation sets -------------------------------------------------------------------------------


def test_a_validation_set_says_when_to_stop():
    model = regressor(n_estimators=500, early_stopping="auto")
    model.fit(X[:100], Y[:100], X_val=X[100:], y_val=Y[100:])
    assert model.n_estimators_ == 1 + int(np.argmin(model.validation_loss_)) < 500
    assert len(model.validation_loss_) == model.n_estimators_ + 10
    whole = regressor(n_estimators=model.n_estimators_).fit(X[:100], Y[:100])
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    error = 0.5 * np.mean((Y[100:] - model.predict(X[100:])) ** 2)
    assert model.validation_loss_.min() == pytest.approx(error, rel=1e-12)


def test_a_validation_set_has_weights_and_offsets():
    weights = np.where(np.arange(100) < 30, 0.0, 1.0)
    one = regressor(n_estimators=40, early_stopping=True).fit(
        X[:100], Y[:100], None, MARGIN[:100], X_val=X[100:], y_val=Y[100:],
        sample_weight_val=weights, base_margin_val=MARGIN[100:],
    )  # fmt: skip
    other = regressor(n_estimators=40, early_stopping=True).fit(
        X[:100], Y[:100], None, MARGIN[:100], X_val=X[130:], y_val=Y[130:],
        base_margin_val=MARGIN[130:],
    )  # fmt: skip
    np.testing.assert_array_equal(one.validation_loss_, other.validation_loss_)
    classes = classifier(n_estimators=40, early_stopping=True)
    classes.fit(X, CLASSES, X_val=X[:50], y_val=CLASSES[:50])
    assert (np.diff(classes.validation_loss_) < 0).all()  # the training set itself


def test_validation_sets_are_checked():
    with pytest.raises(ValueError, match="X_val is given without y_val"):
        regressor(early_stopping=True).fit(X, Y, X_val=X)
    with pytest.raises(ValueError, match="early_stopping=False does not use it"):
        regressor().fit(X, Y, X_val=X, y_val=Y)
    with pytest.raises(ValueError, match="early_stopping='cv' does not use it"):
        regressor(early_stopping="cv", n_iter_no_change=3).fit(X, Y, X_val=X, y_val=Y)
    with pytest.raises(ValueError, match="y_val has the class 'z'"):
        classifier(early_stopping=True).fit(X, CLASSES, X_val=X, y_val=np.full(200, "z"))


# -- fewer rounds ----------------------------------------------------------------------------------


def test_the_first_rounds_are_a_model():
    model = classifier(n_estimators=30).fit(X[:100], CLASSES[:100])
    n_rounds = model.best_rounds(X[100:], CLASSES[100:])
    stages = [
        -np.mean(np.log(p[np.arange(100), np.searchsorted(model.classes_, CLASSES[100:])]))
        for p in model.staged_predict_proba(X[100:])
    ]
    assert n_rounds == 1 + int(np.argmin(stages)) < 30
    smaller = model.with_rounds(n_rounds)
    again = classifier(n_estimators=n_rounds).fit(X[:100], CLASSES[:100])
    np.testing.assert_array_equal(smaller.predict_proba(X), again.predict_proba(X))
    np.testing.assert_array_equal(smaller.feature_importances_, again.feature_importances_)
    assert len(smaller.forest_) == 3 * n_rounds
    assert model.n_estimators_ == 30
    with pytest.raises(ValueError, match="n_rounds=31 is not allowed: the model has 30 rounds"):
        model.with_rounds(31)
