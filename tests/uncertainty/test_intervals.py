"""Intervals and quantiles of regression ensembles."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from tests.oracles.uncertainty import jackknife_plus_after_bootstrap, weighted_quantile

import orfeon
from orfeon import (
    BaggedBoostingRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
    RandomSubspaceRegressor,
)
from orfeon.datasets import make_friedman1
from orfeon.ensembles import remembering
from orfeon.members import adapt

METHODS = ("jackknife", "residuals", "quantile")


@pytest.fixture(scope="module")
def data():
    return make_friedman1(80, random_state=0)


@pytest.fixture(scope="module")
def new():
    return make_friedman1(12, random_state=1)[0]


@pytest.fixture(scope="module")
def forest(data):
    return RandomForestRegressor(30, oob_score=True, quantiles=True, random_state=0).fit(*data)


def covered(interval, y):
    return float(((interval[:, 0] <= y) & (y <= interval[:, 1])).mean())


@pytest.mark.parametrize("coverage", [0.5, 0.9])
@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(25, oob_score=True, random_state=0),
        BaggingRegressor(Ridge(), 20, oob_score=True, random_state=0),
        ExtraTreesRegressor(20, bootstrap=True, oob_score=True, random_state=0),
        BaggingRegressor(n_estimators=9, bootstrap=False, max_samples=0.5, oob_score=True),
        BaggedBoostingRegressor(
            GradientBoostingRegressor(n_estimators=5), 4, oob_score=True, random_state=0
        ),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore:.*were seen by every member")
def test_the_jackknife_is_its_definition(model, coverage, data, new):
    X, y = data
    model.fit(X, y)
    out = adapt(model).out_of_bag(X, y)
    some = out.any(axis=0)
    expected = jackknife_plus_after_bootstrap(
        model.predictions(new), model.predictions(X)[:, some], out[:, some], y[some], coverage
    )
    found = model.predict_interval(new, coverage, method="jackknife")
    assert found == pytest.approx(expected, abs=1e-9)
    assert np.array_equal(model.predict_interval(new, coverage), found)


def test_residuals_are_the_quantile_of_out_of_bag_errors(forest, data, new):
    errors = np.sort(np.abs(data[1] - forest.oob_prediction_))
    width = errors[int(np.ceil(81 * 0.9)) - 1]
    found = forest.predict_interval(new, method="residuals")
    assert found == pytest.approx(forest.predict(new)[:, None] + np.array([-width, width]))


def test_large_training_sets_get_residuals_by_default(forest, new, monkeypatch):
    monkeypatch.setattr(remembering, "MOST_FOR_JACKKNIFE", 79)
    assert np.array_equal(
        forest.predict_interval(new), forest.predict_interval(new, method="residuals")
    )


@pytest.mark.parametrize("model", [RandomForestRegressor, ExtraTreesRegressor, BaggingRegressor])
def test_quantiles_are_those_of_the_forest_weights(model, data, new):
    X, y = data
    levels = (0.05, 0.25, 0.5, 0.9)
    fitted = model(n_estimators=15, quantiles=True, random_state=0).fit(X, y)
    weights = fitted.training_weights(new, X, y)
    expected = [[weighted_quantile(row, y, level) for level in levels] for row in weights]
    assert np.array_equal(fitted.predict_quantiles(new, levels), expected)
    assert np.array_equal(fitted.predict_quantiles(new, 0.5), np.array(expected)[:, 2])
    turned = fitted.predict_quantiles(new, (0.9, 0.05, 0.9))
    assert np.array_equal(turned, np.array(expected)[:, [3, 0, 3]])


def test_quantiles_of_large_leaves_are_exact_too(data, new):
    X, y = data
    y = np.round(y)  # ties
    fitted = RandomForestRegressor(8, min_samples_leaf=20, quantiles=True, random_state=0).fit(X, y)
    weights = fitted.training_weights(new, X, y)
    expected = [[weighted_quantile(row, y, level) for level in (0.1, 0.5)] for row in weights]
    assert np.array_equal(fitted.predict_quantiles(new, (0.1, 0.5)), expected)


def test_quantile_intervals_are_widened_by_what_they_lack_out_of_bag(forest, data, new):
    X, y = data
    out, leaves = adapt(forest).out_of_bag(X, y), forest.apply(X)
    in_bag = forest.in_bag(X, y)
    errors = []
    for i in range(len(y)):
        weights = np.zeros(len(y))
        for t in np.flatnonzero(out[:, i]):
            same = (leaves[:, t] == leaves[i, t]) * in_bag[t]
            weights += same / same.sum()
        low, high = (weighted_quantile(weights, y, level) for level in (0.1, 0.9))
        errors.append(max(low - y[i], y[i] - high))
    width = np.sort(errors)[int(np.ceil(81 * 0.8)) - 1]
    ends = forest.predict_quantiles(new, (0.1, 0.9))
    found = forest.predict_interval(new, 0.8, method="quantile")
    assert found == pytest.approx(ends + np.array([-width, width]))


@pytest.mark.parametrize("method", METHODS)
def test_coverage_on_new_samples(method):
    shares = []
    for seed in range(12):
        X, y = make_friedman1(150, random_state=seed)
        X_test, y_test = make_friedman1(500, random_state=1000 + seed)
        forest = RandomForestRegressor(40, oob_score=True, quantiles=True, random_state=seed)
        shares.append(covered(forest.fit(X, y).predict_interval(X_test, method=method), y_test))
    assert 0.88 < np.mean(shares) < 0.95


@pytest.mark.parametrize("method", METHODS)
def test_weight_2_is_two_copies(method, data, new):
    X, y = data
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    copies = np.repeat(np.arange(len(y)), weights)
    forest = RandomForestRegressor(40, oob_score=True, quantiles=True, random_state=0)
    weighted = forest.fit(X, y, weights).predict_interval(new, method=method)
    repeated = forest.fit(X[copies], y[copies]).predict_interval(new, method=method)
    assert np.array_equal(weighted, repeated)


def test_fractional_weights_move_intervals(data, new):
    X, y = data
    weights = np.where(y > np.median(y), 0.3, 1.7)
    forest = RandomForestRegressor(40, oob_score=True, quantiles=True, random_state=0)
    forest.fit(X, y, weights)
    again = forest.predict_interval(new), forest.predict_quantiles(new)
    forest.fit(X, y, 2.5 * weights)  # only their ratios count
    assert again[0] == pytest.approx(forest.predict_interval(new))
    assert np.array_equal(again[1], forest.predict_quantiles(new))
    assert (again[1][:, 1] <= RandomForestRegressor(40, quantiles=True, random_state=0).fit(X, y)
            .predict_quantiles(new)[:, 1]).mean() > 0.6  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_threads_and_the_other_rows_change_no_bit(method, forest, new, monkeypatch):
    rows = np.tile(new, (20, 1))
    alone = forest.predict_interval(rows, method=method)
    monkeypatch.setattr("orfeon.ensembles.ensemble._FEWEST_IN_THREADS", 1)
    forest.set_params(n_jobs=2)
    assert np.array_equal(forest.predict_interval(rows, method=method), alone)
    assert np.array_equal(forest.predict_interval(rows[:7], method=method), alone[:7])
    forest.set_params(n_jobs=None)


def test_missing_values_and_categories(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = make_friedman1(100, random_state=0)
    frame = pandas.DataFrame(X)
    frame.columns = [f"x{j}" for j in range(X.shape[1])]
    frame["x1"] = pandas.cut(frame["x1"], 4, labels=list("abcd")).astype(str)
    frame.loc[::5, "x0"] = np.nan
    forest = RandomForestRegressor(30, oob_score=True, quantiles=True, random_state=0)
    forest.fit(frame, y)
    expected = [forest.predict_interval(frame, method=method) for method in METHODS]
    orfeon.save(forest, tmp_path / "forest.orfeon")
    loaded = orfeon.load(tmp_path / "forest.orfeon")
    for method, one in zip(METHODS, expected, strict=True):
        assert np.array_equal(loaded.predict_interval(frame, method=method), one)
        assert (one[:, 0] < one[:, 1]).all()
    assert np.array_equal(loaded.predict_quantiles(frame), forest.predict_quantiles(frame))


def test_what_is_missing_is_named(forest, data, new):
    X, y = data
    plain = RandomForestRegressor(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="oob_score=True"):
        plain.predict_interval(new)
    with pytest.raises(ValueError, match="quantiles=True"):
        plain.predict_quantiles(new)
    with pytest.raises(ValueError, match="bootstrap=True"):
        ExtraTreesRegressor(5, quantiles=True).fit(X, y).predict_interval(new)
    with pytest.raises(ValueError, match="ConformalRegressor"):
        RandomSubspaceRegressor(n_estimators=5).fit(X, y).predict_interval(new)
    only = RandomForestRegressor(40, quantiles=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="set oob_score=True"):
        only.predict_interval(new)
    assert only.predict_interval(new, method="quantile").shape == (12, 2)
    with pytest.raises(ValueError, match="quantiles=True needs trees"):
        BaggingRegressor(Ridge(), 5, quantiles=True).fit(X, y)
    with pytest.raises(ValueError, match=r"needs at least 999 samples.*there are 80"):
        forest.predict_interval(new, coverage=0.999)
    with pytest.raises(ValueError, match="method='exact' is not allowed"):
        forest.predict_interval(new, method="exact")
    median = RandomForestRegressor(40, combine="median", oob_score=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r'combine="mean".*method="residuals"'):
        median.predict_interval(new, method="jackknife")
    assert median.predict_interval(new).shape == (12, 2)
    for quantiles in (0.0, (0.5, 1.0), (), "0.5", True, [[0.5]]):
        with pytest.raises(ValueError, match=r"quantiles=.* is not allowed"):
            forest.predict_quantiles(new, quantiles)


def test_another_fit_forgets_and_a_subset_too(data, new):
    X, y = data
    forest = RandomForestRegressor(30, oob_score=True, quantiles=True, random_state=0).fit(X, y)
    smaller = adapt(forest).subset([0, 1, 2])
    with pytest.raises(ValueError, match="fit again"):
        smaller.predict_interval(new)
    with pytest.raises(ValueError, match="fit again"):
        smaller.predict_quantiles(new)
    forest.set_params(oob_score=False, quantiles=False).fit(X, y)
    with pytest.raises(ValueError, match="fit again"):
        forest.predict_interval(new)


def test_a_warm_start_is_one_long_fit(data, new):
    X, y = data
    at_once = RandomForestRegressor(40, oob_score=True, quantiles=True, random_state=0).fit(X, y)
    grown = RandomForestRegressor(30, oob_score=True, quantiles=True, random_state=0).fit(X, y)
    grown.set_params(n_estimators=40, warm_start=True).fit(X, y)
    for method in METHODS:
        assert np.array_equal(
            at_once.predict_interval(new, method=method), grown.predict_interval(new, method=method)
        )


def test_boosted_quantiles(data, new):
    X, y = data
    boosted = GradientBoostingRegressor(
        loss="quantile", alpha=(0.1, 0.5, 0.9), n_estimators=10, random_state=0
    ).fit(X, y)
    every = boosted.predict(new)
    assert np.array_equal(boosted.predict_quantiles(new), every)
    assert np.array_equal(boosted.predict_quantiles(new, 0.9), every[:, 2])
    assert np.array_equal(boosted.predict_quantiles(new, (0.9, 0.1)), every[:, [2, 0]])
    with pytest.raises(ValueError, match="among the fitted levels alpha="):
        boosted.predict_quantiles(new, 0.3)
    with pytest.raises(ValueError, match='set loss="quantile"'):
        GradientBoostingRegressor(n_estimators=2).fit(X, y).predict_quantiles(new)
    one = GradientBoostingRegressor(loss="quantile", alpha=0.9, n_estimators=5).fit(X, y)
    assert np.array_equal(one.predict_quantiles(new, 0.9), one.predict(new))
