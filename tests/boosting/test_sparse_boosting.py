"""Gradient boosting of sparse rows: the model of the dense table with bins, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags
from tests.shared import assert_same_forest

import orfeon
from orfeon import (
    BaggedBoostingClassifier,
    BaggedBoostingRegressor,
    CARTClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from orfeon.data.sparse import read_sparse
from orfeon.data.training_set import same_rows

FAST = {"n_estimators": 12, "max_depth": 3, "random_state": 0}
CLASSIFIERS = {
    "default": {},
    "every sample and feature": {"subsample": 1.0, "max_features": None, "early_stopping": False},
    "validation": {"early_stopping": "validation", "n_iter_no_change": 3},
    "folds": {"early_stopping": "cv", "n_iter_no_change": 3, "n_folds": 3},
    "few bins and leaves": {"max_bins": 4, "max_leaf_nodes": 5, "max_features_per_tree": 0.5},
    "gradient sampling": {"sampling": "gradient", "subsample": 1.0},
    "limits": {"l1": 0.1, "min_samples_leaf": 4, "interaction_cst": [[0, 1], [2, 3]]},
    "class weights": {"class_weight": "balanced"},
    "a model to start from": {"init": "tree"},
}
REGRESSORS = {
    "default": {},
    "absolute error": {"loss": "absolute_error"},
    "monotone": {"monotonic_cst": [1, 0, -1] + 27 * [0]},
    "quantiles": {"loss": "quantile", "alpha": (0.1, 0.9)},
}  # fmt: skip


def problem(seed=0, n_rows=160):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 30)).round(1)
    X[rng.random(X.shape) < 0.8] = 0
    X[::11, 3] = np.nan
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0)
    return X, y, rng.integers(0, 3, n_rows).astype(float)


def both(model, X, y, weights, kind=sparse.csr_matrix, **given):
    """The model of the dense rows, whose trees have bins, and that of the sparse ones."""
    dense = clone(model).set_params(tree_method="histogram").fit(X, y, weights, **given)
    given = {name: kind(part) if name == "X_val" else part for name, part in given.items()}
    return dense, clone(model).fit(kind(X), y, weights, **given)


def assert_same(dense, wide, X, kind=sparse.csr_matrix):
    assert wide.tree_method_ == "histogram"
    assert_same_forest(dense.forest_, wide.forest_)
    assert_array_equal(dense.train_loss_, wide.train_loss_)
    assert_array_equal(dense.feature_importances_, wide.feature_importances_)
    for name in ("predict", "predict_proba", "decision_function", "apply"):
        if hasattr(dense, name):
            expected = getattr(dense, name)(X)
            assert_array_equal(getattr(wide, name)(kind(X)), expected)
            assert_array_equal(getattr(wide, name)(X), expected)
    staged = zip(dense.staged_predict(X), wide.staged_predict(kind(X)), strict=True)
    for one, other in staged:
        assert_array_equal(one, other)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers(name, n_classes):
    settings = dict(CLASSIFIERS[name])
    X, y, weights = problem()
    y = np.minimum(y, n_classes - 1)
    if "init" in settings:
        settings["init"] = CARTClassifier(max_depth=2, random_state=0).fit(X, y)
    model = GradientBoostingClassifier(**FAST, **settings)
    for given, kind in ((None, sparse.csr_matrix), (weights, sparse.csc_array)):
        assert_same(*both(model, X, y, given, kind), X, kind)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name):
    X, _, weights = problem(1)
    y = np.nan_to_num(X)[:, :3].sum(axis=1) + np.random.default_rng(0).normal(size=len(X)).round(2)
    model = GradientBoostingRegressor(**FAST, **REGRESSORS[name])
    for given, kind in ((None, sparse.csr_matrix), (weights, sparse.coo_array)):
        assert_same(*both(model, X, y, given, kind), X, kind)


def test_many_samples_of_several_seeds():
    for seed in range(4):
        X, y, _ = problem(seed, 2_000)
        fractions = np.random.default_rng(seed).random(len(X))
        model = GradientBoostingClassifier(n_estimators=8, random_state=seed)
        assert_same(*both(model, X, y, fractions), X)


def test_a_validation_set_offsets_and_calibration():
    X, y, weights = problem(2)
    y = np.minimum(y, 1)
    margin = np.linspace(-1, 1, len(X))
    model = GradientBoostingClassifier(**FAST, calibrate="sigmoid")
    given = {"X_val": X[:40], "y_val": y[:40], "base_margin_val": margin[:40]}
    given["base_margin"] = margin
    dense, wide = both(model, X, y, weights, **given)
    assert_same(dense, wide, X)
    assert_array_equal(
        dense.predict_proba(X, margin), wide.predict_proba(sparse.csr_array(X), margin)
    )
    rows = sparse.csr_array(X)
    assert dense.best_rounds(X, y) == wide.best_rounds(rows, y)
    assert_array_equal(wide.with_rounds(2).predict(rows), dense.with_rounds(2).predict(X))


def test_a_warm_start_copies_and_threads():
    X, y, weights = problem(3)
    rows = sparse.csr_array(X)
    model = GradientBoostingClassifier(**FAST, early_stopping=False)
    once = clone(model).fit(rows, y, weights)
    again = clone(model).set_params(n_estimators=5, warm_start=True).fit(rows, y, weights)
    again.set_params(n_estimators=12).fit(rows, y, weights)
    repeated = np.repeat(np.arange(len(X)), weights.astype(int))[::-1]
    copied = clone(model).set_params(n_jobs=2).fit(rows[repeated], y[repeated])
    for other in (again, copied):
        assert_same_forest(once.forest_, other.forest_)


def test_a_dense_model_predicts_sparse_rows_and_is_saved(tmp_path):
    X, y, _ = problem(4)
    rows = sparse.csr_array(X)
    exact = GradientBoostingClassifier(**FAST).fit(X, y)
    assert exact.tree_method_ == "exact"
    assert_array_equal(exact.predict_proba(rows), exact.predict_proba(X))
    wide = GradientBoostingClassifier(**FAST).fit(rows, y)
    orfeon.save(wide, tmp_path / "wide.orfeon")
    assert_array_equal(
        orfeon.load(tmp_path / "wide.orfeon").predict_proba(rows), wide.predict_proba(rows)
    )
    tree = wide.estimators_[3]
    assert_array_equal(tree.predict(rows), tree.predict(X))


@pytest.mark.filterwarnings("ignore:.*seen by every member:UserWarning")
@pytest.mark.parametrize("n_folds", [3, None])
def test_bagged_boosting(n_folds):
    X, y, weights = problem(5)
    n_models = 3 if n_folds else 12
    settings = {"n_estimators": n_models, "n_folds": n_folds, "oob_score": True, "random_state": 0}
    for kind, base, target in (
        (BaggedBoostingClassifier, GradientBoostingClassifier(n_estimators=9, max_depth=2), y),
        (BaggedBoostingRegressor, GradientBoostingRegressor(n_estimators=9, max_depth=2), X[:, 0]),
    ):
        by_bins = clone(base).set_params(tree_method="histogram")
        for given in (None, weights + 1):
            dense = kind(by_bins, **settings).fit(X, target, given)
            wide = kind(base, **settings).fit(sparse.csr_matrix(X), target, given)
            assert_array_equal(dense.predict(X), wide.predict(sparse.csc_matrix(X)))
            assert_array_equal(dense.n_rounds_, wide.n_rounds_)
            is_classifier = kind is BaggedBoostingClassifier
            name = "oob_decision_function_" if is_classifier else "oob_prediction_"
            assert_array_equal(getattr(dense, name), getattr(wide, name))


def test_tags_say_what_takes_sparse_rows():
    takes = GradientBoostingClassifier(), GradientBoostingRegressor(), BaggedBoostingClassifier()
    assert all(get_tags(model).input_tags.sparse for model in takes)
    for settings in ({"order": 1}, {"tree_method": "exact"}, {"tree_shape": "symmetric"}):
        base = GradientBoostingClassifier(**settings)
        assert not get_tags(base).input_tags.sparse
        assert not get_tags(BaggedBoostingClassifier(base)).input_tags.sparse


BAD = {
    "order": ({"order": 1}, "order=1 needs dense data; give order=2"),
    "exact": ({"tree_method": "exact"}, 'give tree_method="histogram"'),
    "symmetric": ({"tree_shape": "symmetric"}, 'give tree_shape="free"'),
}


@pytest.mark.parametrize("name", BAD)
def test_what_needs_dense_data_says_what_to_give(name):
    settings, message = BAD[name]
    X, y, _ = problem()
    with pytest.raises(TypeError, match=message):
        GradientBoostingClassifier(**FAST, **settings).fit(sparse.csr_array(X), y)


def test_categories_are_dense():
    X, y, _ = problem()
    X[:, 5] = np.arange(len(X)) % 3
    with pytest.raises(ValueError, match="not allowed with a sparse X"):
        GradientBoostingClassifier(**FAST, categorical_features=[5]).fit(sparse.csr_array(X), y)
    model = GradientBoostingClassifier(**FAST, categorical_features=[5]).fit(X, y)
    with pytest.raises(TypeError, match="trained on categories"):
        model.predict(sparse.csr_array(X))


def test_equal_rows():
    X = np.array([[0, 1, 0], [0, np.nan, 2], [0, 0, 0], [0, 0, 5.0]])
    Z = np.array([[0, 1, 0], [0, np.nan, 2], [0, 0, 1], [0, 5.0, 0]])
    one, other = (read_sparse(sparse.csr_array(part)) for part in (X, Z))
    assert_array_equal(same_rows(one, other), [True, True, False, False])
    assert_array_equal(same_rows(X, Z), [True, True, False, False])
    assert same_rows(one[:0], other[:0]).shape == (0,)


def test_a_table_that_would_not_fit_in_memory_does():
    shape = (1_000, 2_000_000)  # 16 GB as a dense table
    rng = np.random.default_rng(0)
    columns = rng.integers(0, shape[1], (shape[0], 20))
    columns[:, 0] = np.arange(shape[0]) % 7
    rows = np.repeat(np.arange(shape[0]), 20)
    X = sparse.coo_array((rng.random(columns.size) + 1, (rows, columns.ravel())), shape=shape)
    y = np.arange(shape[0]) % 7 < 3
    model = GradientBoostingClassifier(
        n_estimators=2, max_features=None, max_depth=3, early_stopping="validation", random_state=0
    )
    assert model.fit(X, y).score(X, y) > 0.9
