"""Gradient boosting as it comes: Newton trees, and rounds that are found on a validation set."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from tests.boosting.first_order import mart_classifier, mart_regressor
from tests.boosting.gradient_settings import scores
from tests.shared import assert_same_forest

from orfeon import GradientBoostingClassifier, GradientBoostingRegressor
from orfeon.boosting import gradient_stopping
from orfeon.datasets import make_friedman1, make_waveform

DEFAULTS = [
    GradientBoostingClassifier(learning_rate=0.16, random_state=0),
    GradientBoostingRegressor(learning_rate=0.16, random_state=0),
]
each = pytest.mark.parametrize("estimator", DEFAULTS, ids=["classes", "numbers"])


def data(estimator, n_rows=200, seed=0):
    make = make_waveform if isinstance(estimator, GradientBoostingClassifier) else make_friedman1
    return make(n_rows, random_state=seed)


@each
def test_all_samples_are_boosted_for_the_rounds_that_were_best_on_some(estimator):
    X, y = data(estimator)
    found = clone(estimator).fit(X, y)
    curve = found.validation_loss_
    assert 5 < found.n_estimators_ < estimator.n_estimators
    # A round of the search stands for two, and patience is 10 without an improvement by ``tol``.
    assert 2 * (len(curve) - 10) == found.n_estimators_
    assert curve[len(curve) - 11] <= curve[:-10].min() + 1e-4 * curve[0] * 10
    plain = clone(estimator).set_params(n_estimators=found.n_estimators_, early_stopping=False)
    assert_same_forest(found.forest_, plain.fit(X, y).forest_)


@each
def test_the_validation_set_is_a_fifth_and_the_curve_is_that_of_boosting_without_it(estimator):
    X, y = data(estimator)
    found = clone(estimator).fit(X, y)
    aside = clone(estimator).set_params(early_stopping="validation", n_iter_no_change=10)
    aside.set_params(learning_rate=2 * estimator.learning_rate)  # the search takes large steps
    np.testing.assert_array_equal(aside.fit(X, y).validation_loss_, found.validation_loss_)
    assert 2 * aside.n_estimators_ == found.n_estimators_
    assert aside.forest_.node_weight[0] == pytest.approx(0.7 * 160, abs=2)
    assert found.forest_.node_weight[0] == pytest.approx(0.7 * 200, abs=1)


@each
@pytest.mark.parametrize("settings", [{"learning_rate": 0.3}, {"n_estimators": 20}], ids=str)
def test_the_search_takes_no_large_steps_where_steps_are_large_or_rounds_few(estimator, settings):
    X, y = data(estimator)
    found = clone(estimator).set_params(**settings).fit(X, y)
    aside = clone(estimator).set_params(early_stopping="validation", n_iter_no_change=10)
    aside.set_params(**settings).fit(X, y)
    np.testing.assert_array_equal(aside.validation_loss_, found.validation_loss_)
    assert aside.n_estimators_ == found.n_estimators_


def test_the_search_ends_with_the_rounds_that_are_allowed():
    X, y = make_friedman1(400, random_state=0)
    model = GradientBoostingRegressor(n_estimators=50, random_state=0).fit(X, y)
    assert model.n_estimators_ == 50
    assert len(model.validation_loss_) == 25


@each
def test_few_samples_or_rounds_are_not_stopped(estimator):
    X, y = data(estimator)
    few = clone(estimator).set_params(n_estimators=25).fit(X[:29], y[:29])
    assert few.n_estimators_ == 25
    short = clone(estimator).set_params(n_estimators=10).fit(X, y)
    assert short.n_estimators_ == 10
    for model in (few, short):
        assert not hasattr(model, "validation_loss_")
    never = clone(estimator).set_params(n_estimators=10, early_stopping=False).fit(X, y)
    assert_same_forest(short.forest_, never.forest_)


@each
def test_many_samples_are_boosted_once(estimator, monkeypatch):
    X, y = data(estimator)
    monkeypatch.setattr(gradient_stopping, "MOST_REFITTED", 199)
    once = clone(estimator).fit(X, y)
    aside = clone(estimator).set_params(early_stopping="validation", n_iter_no_change=10)
    assert_same_forest(once.forest_, aside.fit(X, y).forest_)


@each
def test_weights_are_copies_and_warm_starts_and_threads_change_nothing(estimator):
    X, y = data(estimator, 120)
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 3, 120)
    copies = rng.permutation(np.repeat(np.arange(120), weights))
    weighted = clone(estimator).fit(X, y, sample_weight=weights)
    copied = clone(estimator).fit(X[copies], y[copies])
    assert_same_forest(weighted.forest_, copied.forest_)
    np.testing.assert_array_equal(weighted.validation_loss_, copied.validation_loss_)
    many = clone(estimator).set_params(n_jobs=2).fit(X, y, sample_weight=weights)
    assert_same_forest(weighted.forest_, many.forest_)
    warm = clone(estimator).set_params(warm_start=True, n_estimators=4)
    warm.fit(X, y, sample_weight=weights)
    warm.set_params(n_estimators=estimator.n_estimators).fit(X, y, sample_weight=weights)
    assert_same_forest(weighted.forest_, warm.forest_)
    np.testing.assert_array_equal(scores(weighted, X), scores(warm, X))


def test_nothing_to_learn_is_learnt_briefly():
    """Without early stopping, 400 rounds would learn the labels by heart."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    model = GradientBoostingClassifier(random_state=0).fit(X, y)
    assert model.n_estimators_ <= 10
    new, truth = rng.normal(size=(2000, 5)), rng.integers(0, 2, 2000)
    loss = -np.log(model.predict_proba(new)[np.arange(2000), truth]).mean()
    assert loss < np.log(2) + 0.02


def test_the_defaults_are_better_for_classes_than_those_of_the_first_order():
    """And for smooth noisy numbers about as good."""
    losses = {"new": [], "old": []}
    for seed in range(3):
        X, y = make_waveform(2000, random_state=seed)
        for name, make in (("new", GradientBoostingClassifier), ("old", mart_classifier)):
            p = make(random_state=0).fit(X[:200], y[:200]).predict_proba(X[200:])
            losses[name].append(-np.log(p[np.arange(1800), y[200:]]).mean())
    assert np.mean(losses["new"]) < 0.9 * np.mean(losses["old"])
    X, y = make_friedman1(1500, random_state=0)
    new, old = (
        np.mean((make(random_state=0).fit(X[:300], y[:300]).predict(X[300:]) - y[300:]) ** 2)
        for make in (GradientBoostingRegressor, mart_regressor)
    )
    assert new < 1.1 * old


def test_a_validation_set_that_is_given_is_used():
    X, y = make_waveform(300, random_state=0)
    model = GradientBoostingClassifier(random_state=0)
    model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert model.n_estimators_ < 400
    assert model.forest_.node_weight[0] == pytest.approx(0.7 * 200, abs=1)
    stages = list(model.staged_predict_proba(X[200:]))
    last = -np.log(stages[-1][np.arange(100), y[200:]]).mean()
    assert model.validation_loss_[model.n_estimators_ - 1] == pytest.approx(last, rel=1e-9)


def test_a_loss_without_a_value_is_not_stopped():
    X, y = make_friedman1(60, random_state=0)

    def squared(y, raw_predictions):
        return raw_predictions - y, np.ones_like(y)

    model = GradientBoostingRegressor(loss=squared, n_estimators=15, random_state=0).fit(X, y)
    assert model.n_estimators_ == 15


def test_samples_of_many_copies_are_not_stopped():
    """Copies stay together: a validation set would be other samples than those trained on."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (600, 3)).astype(float)
    y = rng.random(600) < 0.2 + 0.5 * X[:, 0] * X[:, 1]
    model = GradientBoostingClassifier(n_estimators=200, random_state=0).fit(X, y)
    assert model.n_estimators_ == 200
    cell = (X == [1.0, 1.0, 0.0]).all(axis=1)
    assert model.predict_proba([[1.0, 1.0, 0.0]])[0, 1] == pytest.approx(y[cell].mean(), abs=0.03)
