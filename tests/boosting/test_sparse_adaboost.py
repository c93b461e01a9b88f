"""AdaBoost of sparse rows: the model of the dense table, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags
from tests.shared import assert_same_forest

from orfeon import (
    AdaBoostClassifier,
    AdaBoostR2Regressor,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    StumpClassifier,
    StumpRegressor,
)

MODELS = [
    StumpClassifier(random_state=0),
    StumpRegressor(random_state=0),
    AdaBoostClassifier(n_estimators=12, random_state=0),
    AdaBoostClassifier(
        CARTClassifier(max_depth=3, max_features=0.5), 8, sampling="resample", random_state=0
    ),
    AdaBoostClassifier(
        CARTClassifier(max_depth=2), 20, n_iter_no_change=4, calibrate="sigmoid", random_state=0
    ),
    AdaBoostR2Regressor(CARTRegressor(max_depth=6), 8, random_state=0),
]


def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30)).round(1)
    X[rng.random(X.shape) < 0.8] = 0
    X[::11, 3] = np.nan
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=200) > 0).astype(int) + (X[:, 2] > 0)
    return X, y, rng.integers(0, 3, 200).astype(float)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("with_missing", [False, True])
def test_models_are_those_of_dense_rows(model, with_missing):
    X, y, weights = problem()
    if not is_classifier(model):
        y = np.nan_to_num(X)[:, :3].sum(axis=1)
    if not with_missing:
        X = np.nan_to_num(X)
    assert get_tags(model).input_tags.sparse
    for given, kind in ((None, sparse.csr_matrix), (weights, sparse.csc_array)):
        dense, wide = clone(model).fit(X, y, given), clone(model).fit(kind(X), y, given)
        assert_same_forest(dense.forest_, wide.forest_)
        for name in ("predict", "predict_proba", "decision_function"):
            if hasattr(dense, name):
                assert_array_equal(getattr(dense, name)(X), getattr(wide, name)(kind(X)))
        if hasattr(dense, "staged_predict"):
            assert_array_equal(dense.member_weights_, wide.member_weights_)
            staged = zip(dense.staged_predict(X), wide.staged_predict(kind(X)), strict=True)
            assert all((one == other).all() for one, other in staged)


def test_what_needs_dense_data_says_so():
    X, y, _ = problem()
    model = AdaBoostClassifier(C45Classifier(), 3)
    assert not get_tags(model).input_tags.sparse
    with pytest.raises(TypeError, match="Sparse data was passed for X"):
        model.fit(sparse.csr_array(X), y)
