"""Sparse rows through the estimators: the same models, predictions and estimates as dense ones."""

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
    BaggingClassifier,
    CARTClassifier,
    CARTRegressor,
    ClassSwitchingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    FlippingClassifier,
    OutputSmearingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceClassifier,
    RandomTreeClassifier,
    WaggingClassifier,
)

MODELS = [
    CARTClassifier(random_state=0),
    CARTRegressor(ccp_alpha=0.01, random_state=0),
    RandomTreeClassifier(random_state=0),
    RandomForestClassifier(12, oob_score=True, random_state=0),
    RandomForestClassifier(6, features_per="tree", combine="soft", random_state=0),
    RandomForestRegressor(12, oob_score=True, random_state=0),
    ExtraTreesClassifier(6, bootstrap=True, class_weight="balanced_subsample", random_state=0),
    ExtraTreesRegressor(4, random_state=0),
    BaggingClassifier(n_estimators=5, random_state=0),
    WaggingClassifier(n_estimators=5, random_state=0),
    RandomSubspaceClassifier(n_estimators=5, random_state=0),
    ClassSwitchingClassifier(n_estimators=5, random_state=0),
    FlippingClassifier(n_estimators=5, random_state=0),
    OutputSmearingRegressor(n_estimators=5, random_state=0),
]
#: What is compared; a model has some of them.
METHODS = (
    "predict", "predict_proba", "votes", "vote_shares", "mean_supports", "predictions", "apply",
)  # fmt: skip


def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 40))
    X[rng.random(X.shape) < 0.8] = 0
    X[::11, 3] = np.nan
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0)
    return X, y, rng.integers(0, 3, len(X)).astype(float)


@pytest.mark.filterwarnings("ignore:.*seen by every member:UserWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_models_and_predictions_are_those_of_dense_rows(model):
    X, y, weights = problem()
    for given, kind in ((None, sparse.csr_matrix), (weights, sparse.csc_array)):
        dense = clone(model).fit(X, y, given)
        wide = clone(model).fit(kind(X), y, given)
        assert_same_forest(dense.forest_, wide.forest_)
        for name in [name for name in METHODS if hasattr(dense, name)]:
            expected = getattr(dense, name)(X)
            assert_array_equal(getattr(wide, name)(kind(X)), expected)
            assert_array_equal(getattr(wide, name)(X), expected)  # dense rows, too
        assert_array_equal(wide.feature_importances_, dense.feature_importances_)
        if hasattr(dense, "oob_error_curve_"):
            assert_array_equal(wide.oob_error_curve_, dense.oob_error_curve_)
        if hasattr(dense, "in_bag"):
            assert_array_equal(wide.in_bag(kind(X), y, given), dense.in_bag(X, y, given))


def test_copies_are_weights_and_threads_change_nothing():
    X, y, weights = problem()
    rows = np.repeat(np.arange(len(X)), weights.astype(int))[::-1]
    forest = RandomForestClassifier(8, random_state=0)
    weighted = clone(forest).fit(sparse.csr_matrix(X), y, weights)
    copied = clone(forest).set_params(n_jobs=2).fit(sparse.csr_matrix(X[rows]), y[rows])
    assert_same_forest(weighted.forest_, copied.forest_)


def test_paths_proximities_and_staged_predictions():
    X, y, _ = problem()
    rows = sparse.csr_matrix(X)
    dense = RandomForestClassifier(5, random_state=0).fit(X, y)
    wide = RandomForestClassifier(5, random_state=0).fit(rows, y)
    assert (dense.decision_path(X)[0] != wide.decision_path(rows)[0]).nnz == 0
    assert_array_equal(dense.proximities(X[:9]), wide.proximities(rows[:9]))
    assert_array_equal(dense.training_weights(X, X, y), wide.training_weights(rows, rows, y))
    for one, other in zip(dense.staged_predict(X), wide.staged_predict(rows), strict=True):
        assert_array_equal(one, other)


def test_a_member_predicts_sparse_rows():
    X, y, _ = problem()
    bag = BaggingClassifier(n_estimators=3, random_state=0).fit(sparse.csr_matrix(X), y)
    assert_array_equal(bag.estimators_[1].predict(sparse.csr_matrix(X)), bag.votes(X)[1])


def test_a_saved_forest_predicts_sparse_rows(tmp_path):
    X, y, _ = problem()
    rows = sparse.csr_matrix(X)
    forest = RandomForestClassifier(5, random_state=0).fit(rows, y)
    orfeon.save(forest, tmp_path / "wide.orfeon")
    loaded = orfeon.load(tmp_path / "wide.orfeon")
    assert_array_equal(loaded.predict_proba(rows), forest.predict_proba(rows))


def test_tags_say_what_takes_sparse_rows():
    assert all(get_tags(model).input_tags.sparse for model in MODELS)
    for model in (
        CARTClassifier(pruning="cv"),
        BaggingClassifier(CARTClassifier(pruning="cv")),
        BaggingClassifier(orfeon.C45Classifier()),
        orfeon.IGPEnsembleClassifier(),
        orfeon.GradientBoostingClassifier(order=1),
        orfeon.AdaBoostM2Classifier(),
        orfeon.AdaBoostClassifier(orfeon.C45Classifier()),
    ):
        assert not get_tags(model).input_tags.sparse
        with pytest.raises(TypeError, match="Sparse data was passed for X"):
            model.fit(sparse.eye(10, format="csr"), np.arange(10) % 2)


def test_a_table_that_would_not_fit_in_memory_does():
    shape = (2_000, 2_000_000)  # 32 GB as a dense table
    rng = np.random.default_rng(0)
    columns = rng.integers(0, shape[1], (shape[0], 20))
    rows = np.repeat(np.arange(shape[0]), 20)
    X = sparse.coo_array((rng.random(columns.size), (rows, columns.ravel())), shape=shape)
    y = np.arange(shape[0]) % 2
    forest = RandomForestClassifier(2, max_features=0.001, max_depth=3, random_state=0)
    assert forest.fit(X, y).predict(X).shape == (2_000,)
