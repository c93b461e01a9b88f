"""Weights and copies of the samples of gradient boosting."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from tests.boosting.first_order import mart_classifier, mart_regressor
from tests.boosting.gradient_settings import data, each, scores
from tests.shared import assert_same_forest

from orfeon import CARTRegressor
from orfeon.boosting.gradient import gather_samples
from orfeon.data.schema import Schema
from orfeon.datasets import make_friedman1
from orfeon.growth.binning import bin_table

METHODS = pytest.mark.parametrize("tree_method", ["exact", "histogram"])


def gathered(X, y, weights=None):
    sample, word, _ = gather_samples(CARTRegressor()._read(X, y, weights))
    return sample.with_encoded_rows(), word


def test_copies_are_one_row_however_they_are_given():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (200, 2)).astype(float), rng.integers(0, 2, 200).astype(float)
    X[X == 2] = np.nan
    sample, word = gathered(X, y)
    assert len(sample.y) == 18
    assert sample.copies.sum() == sample.n_samples == 200
    np.testing.assert_array_equal(sample.weights, sample.copies)
    order = rng.permutation(200)
    again, same = gathered(X[order], y[order])
    for one, other in zip(sample[:4], again[:4], strict=True):
        np.testing.assert_array_equal(one, other)
    weighted, alike = gathered(sample.X, sample.y, sample.weights)
    np.testing.assert_array_equal(weighted.weights, sample.weights)
    assert word == same == alike
    assert gathered(X, y, np.full(200, 2))[1] != word


def test_rows_that_differ_are_never_copies(monkeypatch):
    """Not even those of the same hash."""
    monkeypatch.setattr(
        "orfeon.boosting.gradient.hash_rows", lambda X, y, *_: np.zeros(len(y), np.uint64)
    )
    X, y = np.array([[1.0], [1.0], [2.0], [2.0]]), np.array([3.0, 3.0, 3.0, 4.0])
    assert gathered(X, y)[0].weights.tolist() == [2.0, 1.0, 1.0]


def test_fractions_stay_as_many_rows_of_about_one():
    X, y = np.zeros((3, 1)), np.zeros(3)
    sample, _ = gathered(X, y, [3e-9, 5e-9, 5e-9])
    assert sample.copies is None
    assert sample.n_samples == 3
    assert 0.7 < sample.weights.mean() < 1.42
    np.testing.assert_allclose(sample.weights / sample.weights[0], [1, 5 / 3, 5 / 3], rtol=1e-15)
    for weight in (0.3, 1e300):  # equal ones are those of the same rows without weights
        assert gathered(X, y, [weight] * 3)[0].weights.tolist() == [3.0]
    assert gathered(X, y, None)[0].weights.tolist() == [3.0]


@METHODS
def test_heavy_rows_cost_no_more_than_light_ones(tree_method):
    """A thousand rows of weight a million: as copies they would not fit into memory."""
    X, y = make_friedman1(999, random_state=0)
    how = {"n_estimators": 10, "tree_method": tree_method, "min_samples_leaf": 0.02}
    model = mart_regressor(random_state=0, **how)
    for factor in (3, 1_000_000):
        heavy = clone(model).fit(X, y, sample_weight=np.full(999, factor))
        assert heavy.forest_.node_weight[0] == 999 * factor
        light = clone(model).fit(X, y)
        np.testing.assert_allclose(heavy.predict(X), light.predict(X), rtol=1e-9)
    half = clone(model).set_params(subsample=0.5).fit(X, y, sample_weight=np.full(999, 1_000_000))
    roots = half.forest_.node_weight[half.forest_.tree_start[:-1]]
    assert roots.tolist() == [999 * 500_000] * 10


@each
@pytest.mark.parametrize("early_stopping", ["validation", "cv"])
def test_copies_stop_early_as_weights_do_to_the_bit(estimator, early_stopping):
    X, y = data(estimator, 90)
    rng = np.random.default_rng(2)
    weights = rng.integers(1, 40, 90)
    copies = rng.permutation(np.repeat(np.arange(90), weights))
    model = clone(estimator).set_params(
        n_iter_no_change=3, early_stopping=early_stopping, n_folds=3, n_estimators=20
    )
    weighted = clone(model).fit(X, y, sample_weight=weights)
    copied = clone(model).fit(X[copies], y[copies])
    assert_same_forest(weighted.forest_, copied.forest_)
    np.testing.assert_array_equal(scores(weighted, X), scores(copied, X))
    np.testing.assert_array_equal(weighted.validation_loss_, copied.validation_loss_)


@METHODS
@pytest.mark.parametrize("share", [0.3, 0.41, 0.42, 0.6])
def test_whole_class_weights_are_sample_weights(share, tree_method):
    rng = np.random.default_rng(0)
    X, y = np.round(rng.normal(size=(2000, 3)), 1), (rng.random(2000) < share).astype(int)
    model = mart_classifier(
        n_estimators=5, max_depth=6, min_samples_leaf=20, tree_method=tree_method, random_state=0
    )
    by_class = clone(model).set_params(class_weight={0: 1, 1: 2}).fit(X, y)
    by_sample = clone(model).fit(X, y, sample_weight=1 + y)
    assert_same_forest(by_class.forest_, by_sample.forest_)
    assert by_class.forest_.leaf_weight.min() == 20


@METHODS
def test_limits_count_copies_also_where_classes_weigh_fractions(tree_method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)), (rng.random(500) < 0.3).astype(int)
    model = mart_classifier(
        n_estimators=5, max_depth=6, class_weight="balanced", tree_method=tree_method,
        random_state=0,
    )  # fmt: skip
    once = clone(model).set_params(min_samples_leaf=15, min_samples_split=50).fit(X, y)
    thrice = clone(model).set_params(min_samples_leaf=45, min_samples_split=150)
    thrice.fit(X, y, sample_weight=np.full(500, 3))
    np.testing.assert_allclose(thrice.predict_proba(X), once.predict_proba(X), rtol=1e-9)
    shares = clone(model).set_params(min_samples_leaf=0.03, min_samples_split=0.1)
    shares.fit(X, y, sample_weight=np.full(500, 3))
    np.testing.assert_allclose(shares.predict_proba(X), once.predict_proba(X), rtol=1e-9)


def test_bins_hold_about_as_many_copies():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 50, 300)])
    copies = rng.integers(1, 30, 300).astype(float)
    schema, encoded = Schema.learn_and_encode(X, [1])
    weighted = bin_table(encoded, schema, 10, copies=copies)
    rows = np.repeat(np.arange(300), copies.astype(int))
    copied = bin_table(encoded[rows], schema, 10)
    for j in range(2):
        np.testing.assert_array_equal(weighted.column(j)[rows], copied.column(j))
    plain = bin_table(encoded, schema, 10)
    assert (plain.column(0) != weighted.column(0)).any()
    heavy = bin_table(encoded, schema, 10, copies=copies * 1e6)
    each = np.bincount(heavy.column(0), weights=copies)[:10] / copies.sum()
    assert each.min() > 0.08
    assert each.max() < 0.12
