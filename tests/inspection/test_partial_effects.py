"""Partial dependence, single rows and local effects, against prediction at every point."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.inspection import partial_dependence as by_prediction
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.inspection.test_shapley import shares, table

import orfeon
from orfeon.inspection import accumulated_effects, partial_dependence


class Shares(orfeon.RandomForestClassifier):
    """A forest whose probabilities are the shares of the votes."""

    def predict_proba(self, X):
        return shares(self, X)


MODELS = [
    Shares(n_estimators=20, random_state=0),
    Shares(n_estimators=9, combine="soft", random_state=0),
    orfeon.CARTClassifier(),
    RandomForestClassifier(10, random_state=0),
    make_pipeline(StandardScaler(), orfeon.CARTClassifier()),
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("features", [[2], [0, 3], [1, 2, 3]])
def test_equal_to_brute_force(model, features):
    X, y = load_iris(return_X_y=True)
    model.fit(X, y)
    ours = partial_dependence(model, X, features, grid_resolution=7, kind="both")
    theirs = by_prediction(
        model, X, features, grid_resolution=7, method="brute", kind="both",
        response_method="predict_proba",
    )  # fmt: skip
    for one, other in zip(ours.grid, theirs.grid_values, strict=True):
        assert np.array_equal(one, other)
    assert np.allclose(np.moveaxis(ours.average, -1, 0), theirs.average, atol=1e-12)
    individual = np.moveaxis(ours.individual, -1, 0)
    assert np.allclose(individual, theirs.individual, atol=1e-12)
    alone = partial_dependence(model, X, features, grid_resolution=7)
    assert np.allclose(alone.average, ours.average, atol=1e-13)
    assert alone.individual is None


@pytest.mark.parametrize(
    "model",
    [
        orfeon.GradientBoostingRegressor(n_estimators=30, random_state=0),
        orfeon.RandomForestRegressor(n_estimators=10, random_state=0),
        HistGradientBoostingRegressor(max_iter=10),
    ],
)
def test_numbers_and_weights(model):
    X, y = load_diabetes(return_X_y=True)
    model.fit(X, y)
    weights = np.arange(len(y)) % 3
    ours = partial_dependence(model, X, 2, sample_weight=weights)
    theirs = by_prediction(model, X, [2], method="brute", sample_weight=weights)
    assert ours.average.shape == (100, 1)
    assert np.allclose(ours.average[:, 0], theirs.average[0], rtol=1e-12)
    copied = partial_dependence(model, np.repeat(X, weights, axis=0), 2, grid=ours.grid[0])
    assert np.allclose(ours.average, copied.average, rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        orfeon.CARTClassifier(),
        orfeon.C45Classifier(),
        orfeon.RandomForestClassifier(n_estimators=5, combine="soft", random_state=0),
        orfeon.GradientBoostingClassifier(
            n_estimators=5, categorical_encoding="ordered", random_state=0
        ),
    ],
)
def test_categories_and_missing_values(model):
    X, y = table()
    model.fit(X, y)
    found = partial_dependence(model, X, ["y", "w"], grid=[["a", "c", None], [1.0, 4.0]])
    scores = isinstance(model, orfeon.GradientBoostingClassifier)
    predict = model.decision_function if scores else partial(shares, model)
    for a, letter in enumerate(["a", "c", None]):
        for b, number in enumerate([1.0, 4.0]):
            changed = X.assign(y=pd.Series([letter] * len(X), dtype=object), w=number)
            assert np.allclose(found.average[a, b], predict(changed).mean(axis=0), atol=1e-12)
    everything = partial_dependence(model, X, "y")
    assert everything.grid[0].tolist() == list("abcdef")


def test_local_effects_equal_their_definition():
    X, y = load_diabetes(return_X_y=True)
    model = orfeon.GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, y)
    found = accumulated_effects(model, X, 2, n_intervals=8)
    edges = np.quantile(X[:, 2], np.linspace(0, 1, 9), method="inverted_cdf")
    assert np.allclose(found.edges, edges)
    level, means = [0.0], []
    for k in range(8):
        low = X[:, 2] >= edges[0] if k == 0 else X[:, 2] > edges[k]
        rows = X[low & (X[:, 2] <= edges[k + 1])]
        ends = []
        for edge in edges[k : k + 2]:
            rows[:, 2] = edge
            ends.append(model.predict(rows).mean())
        level.append(level[-1] + ends[1] - ends[0])
        means.append((len(rows), (level[-1] + level[-2]) / 2))
    wanted = np.array(level) - sum(n * m for n, m in means) / len(X)
    assert found.counts.sum() == len(X)
    assert np.allclose(found.effect[:, 0], wanted, atol=1e-9)


def test_correlated_features_have_their_own_local_effects():
    """Partial dependence leaves the data, local effects do not."""
    rng = np.random.default_rng(0)
    first = rng.random(1000)
    X = np.column_stack([first, first + 0.02 * rng.normal(size=1000)])
    y = X[:, 0]
    model = orfeon.RandomForestRegressor(n_estimators=30, random_state=0).fit(X, y)
    effect = accumulated_effects(model, X, 0, n_intervals=20).effect[:, 0]
    other = accumulated_effects(model, X, 1, n_intervals=20).effect[:, 0]
    both = np.ptp(effect) + np.ptp(other)
    assert 0.8 < both < 1.3


def test_a_step_that_mixes_features_is_refused():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(PCA(3), orfeon.CARTClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="mix features"):
        partial_dependence(model, X, 0)


def test_bad_arguments():
    X, y = load_iris(return_X_y=True)
    tree = orfeon.CARTClassifier().fit(X, y)
    with pytest.raises(ValueError, match="numbered from 0 to 3"):
        partial_dependence(tree, X, 4)
    with pytest.raises(ValueError, match="no feature of the model"):
        partial_dependence(tree, X, "petal")
    with pytest.raises(ValueError, match="twice"):
        partial_dependence(tree, X, [1, 1])
    with pytest.raises(ValueError, match="percentiles"):
        partial_dependence(tree, X, 1, percentiles=(0.9, 0.1))
    with pytest.raises(ValueError, match="grid has values of 1"):
        partial_dependence(tree, X, [0, 1], grid=[[1.0]])
    Z, z = table()
    with pytest.raises(ValueError, match="no order"):
        accumulated_effects(orfeon.CARTClassifier().fit(Z, z), Z, "y")
