"""Intervals and sets around any estimator."""

from __future__ import annotations

import math

import joblib
import numpy as np
import pytest
from sklearn.ensemble import BaggingRegressor as TheirBagging
from sklearn.ensemble import RandomForestClassifier as TheirClassifier
from sklearn.ensemble import RandomForestRegressor as TheirForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from tests.oracles.uncertainty import (
    adaptive_set,
    jackknife_plus_after_bootstrap,
    order_statistic,
)

import orfeon
from orfeon import (
    ConformalClassifier,
    ConformalRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from orfeon.datasets import make_friedman1, make_waveform


@pytest.fixture(scope="module")
def data():
    return make_friedman1(60, random_state=0)


@pytest.fixture(scope="module")
def new():
    return make_friedman1(10, random_state=1)[0]


@pytest.mark.parametrize("quantile", [False, True])
def test_folds_are_cv_plus(data, new, quantile):
    X, y = data
    base = LinearRegression()
    if quantile:
        base = GradientBoostingRegressor(
            loss="quantile", alpha=(0.2, 0.8), n_estimators=8, random_state=0
        )
    splits = list(KFold(4).split(X))
    model = ConformalRegressor(base, cv=splits).fit(X, y)
    lower, upper = [], []
    for train, test in splits:
        fitted = base.fit(X[train], y[train])
        low, high = (fitted.predict(rows).reshape(len(rows), -1) for rows in (X[test], new))
        for i, row in zip(test, low, strict=True):
            error = max(row[0] - y[i], y[i] - row[-1])
            lower.append(high[:, 0] - error)
            upper.append(high[:, -1] + error)
    rank = math.ceil(61 * 0.8)
    for k, (a, b) in enumerate(model.predict_interval(new, 0.8)):
        assert a == pytest.approx(-order_statistic([-one[k] for one in lower], rank))
        assert b == pytest.approx(order_statistic([one[k] for one in upper], rank))
    whole = base.fit(X, y).predict(new)
    assert model.predict(new) == pytest.approx(whole.mean(axis=1) if quantile else whole)


@pytest.mark.parametrize("make", [TheirForest, TheirBagging])
def test_a_fitted_forest_of_scikit_learn(data, new, make, tmp_path):
    X, y = data
    forest = make(n_estimators=40, random_state=0).fit(X, y)
    model = ConformalRegressor(FrozenEstimator(forest), on="out_of_bag").fit(X, y)
    out = np.ones((40, 60), bool)
    for row, drawn in zip(out, forest.estimators_samples_, strict=True):
        row[drawn] = False
    each = [np.array([tree.predict(rows) for tree in forest.estimators_]) for rows in (new, X)]
    expected = jackknife_plus_after_bootstrap(*each, out, y, 0.9)
    assert model.predict_interval(new) == pytest.approx(expected)
    assert np.array_equal(model.predict(new), forest.predict(new))


def test_an_ensemble_of_orfeon_answers_as_with_its_own_method(data, new):
    X, y = data
    forest = RandomForestRegressor(40, oob_score=True, random_state=0).fit(X, y)
    model = ConformalRegressor(FrozenEstimator(forest), on="out_of_bag").fit(X, y)
    assert model.predict_interval(new) == pytest.approx(forest.predict_interval(new))
    X, y = make_waveform(100, random_state=0)
    forest = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, y)
    model = ConformalClassifier(FrozenEstimator(forest), on="out_of_bag").fit(X, y)
    assert np.array_equal(model.predict_set(X), forest.predict_set(X))


def test_sets_of_a_forest_of_scikit_learn():
    X, y = make_waveform(100, random_state=0)
    new = make_waveform(30, random_state=1)[0]
    forest = TheirClassifier(60, oob_score=True, random_state=0).fit(X, y)
    model = ConformalClassifier(FrozenEstimator(forest), on="out_of_bag").fit(X, y)
    assert model.unseen_shares_ == pytest.approx(forest.oob_decision_function_)
    known, shares = model.unseen_shares_, forest.predict_proba(new)
    expected = [adaptive_set(row, known, y, 0.8) for row in shares]
    assert np.array_equal(model.predict_set(new, 0.8), expected)


def test_coverage_on_new_samples():
    intervals, sets = [], []
    for seed in range(8):
        X, y = make_friedman1(120, random_state=seed)
        X_test, y_test = make_friedman1(500, random_state=1000 + seed)
        model = ConformalRegressor(LinearRegression(), cv=6, random_state=seed).fit(X, y)
        low, high = model.predict_interval(X_test, 0.8).T
        intervals.append(((low <= y_test) & (y_test <= high)).mean())
        X, y = make_waveform(200, random_state=seed)
        X_test, y_test = make_waveform(500, random_state=1000 + seed)
        base = GaussianNB()
        model = ConformalClassifier(base, cv=5, random_state=seed).fit(X, y)
        sets.append(model.predict_set(X_test, 0.95)[np.arange(500), y_test].mean())
    assert 0.77 < np.mean(intervals) < 0.86
    assert 0.93 < np.mean(sets) < 0.98


@pytest.mark.parametrize("on", ["folds", "out_of_bag"])
def test_saved_seeded_and_in_threads(data, new, on, tmp_path):
    X, y = data
    base = RandomForestRegressor(30)
    model = ConformalRegressor(base, on=on, cv=3, random_state=0).fit(X, y)
    expected = model.predict_interval(new)
    orfeon.save(model, tmp_path / "model.orfeon")
    assert np.array_equal(orfeon.load(tmp_path / "model.orfeon").predict_interval(new), expected)
    with joblib.parallel_config("threading"):
        again = ConformalRegressor(base, on=on, cv=3, random_state=0, n_jobs=2).fit(X, y)
    assert np.array_equal(again.predict_interval(new), expected)
    X, y = make_waveform(80, random_state=0)
    model = ConformalClassifier(RandomForestClassifier(30), on=on, cv=3, random_state=0).fit(X, y)
    orfeon.save(model, tmp_path / "model.orfeon")
    loaded = orfeon.load(tmp_path / "model.orfeon")
    assert np.array_equal(loaded.predict_set(X), model.predict_set(X))
    assert np.array_equal(loaded.predict_or_abstain(X, 0.5)[1], model.predict_or_abstain(X, 0.5)[1])


@pytest.mark.parametrize("on", ["folds", "out_of_bag"])
def test_weight_2_is_two_copies(data, new, on):
    X, y = data
    weights = np.random.default_rng(0).integers(0, 3, 60)
    copies = np.repeat(np.arange(60), weights)
    base = RandomForestRegressor(50, random_state=0)
    model = ConformalRegressor(base, on=on, cv=4, random_state=0)
    weighted = model.fit(X, y, weights).predict_interval(new)
    assert np.array_equal(weighted, model.fit(X[copies], y[copies]).predict_interval(new))


def test_what_cannot_be_is_said(data):
    X, y = data
    frozen = FrozenEstimator(LinearRegression().fit(X, y))
    with pytest.raises(ValueError, match='on="folds" trains it again; use on="out_of_bag"'):
        ConformalRegressor(frozen).fit(X, y)
    with pytest.raises(TypeError, match="whose members can be"):
        ConformalRegressor(frozen, on="out_of_bag").fit(X, y)
    with pytest.raises(ValueError, match="is not a regressor"):
        ConformalRegressor(LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match="copies of 1 sample"):
        ConformalRegressor(LinearRegression()).fit([[1.0], [1.0]], [2.0, 2.0])
