"""Sparse rows through estimators made of others: the models and predictions of dense rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags

from orfeon import (
    ArbiterClassifier,
    CARTClassifier,
    CARTRegressor,
    CascadeClassifier,
    CascadeRegressor,
    ConformalClassifier,
    ConformalRegressor,
    CostCascadeClassifier,
    DynamicSelectionClassifier,
    EnsembleSelectionClassifier,
    ExtraTreesClassifier,
    OutputCodeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
)

TREE, FOREST = CARTClassifier(max_depth=3), RandomForestClassifier(3)
TWO = [("tree", TREE), ("forest", FOREST)]
NUMBERS = [("tree", CARTRegressor(max_depth=3)), ("forest", RandomForestRegressor(3))]
BAGS = [("forest", RandomForestClassifier(12)), ("trees", ExtraTreesClassifier(12, bootstrap=True))]
MODELS = {
    "stack": StackingClassifier(TWO, cv=2),
    "stack that passes features through": StackingClassifier(TWO, TREE, cv=2, passthrough=True),
    "stack out of bag": StackingClassifier(BAGS, cv="out_of_bag"),
    "stack of given folds": StackingRegressor(
        NUMBERS, NUMBERS[0][1], cv=KFold(2), passthrough=True
    ),
    "meta tree": StackingClassifier(TWO, "meta_tree", cv=2),
    "cascade": CascadeClassifier(TWO, cv=2),
    "cascade of numbers": CascadeRegressor(NUMBERS, in_sample=True),
    "cost cascade": CostCascadeClassifier(TWO, costs=[1, 2], cv=2),
    "arbiter": ArbiterClassifier(TWO, TREE, cv=2),
    "selection": EnsembleSelectionClassifier(TWO, cv=2, n_bags=2),
    "output codes": OutputCodeClassifier(TREE),
    "intervals": ConformalRegressor(NUMBERS[0][1], cv=2),
    "intervals out of bag": ConformalRegressor(RandomForestRegressor(12), on="out_of_bag"),
    "sets": ConformalClassifier(TREE, cv=2),
    "sets out of bag": ConformalClassifier(RandomForestClassifier(12), on="out_of_bag"),
}  # fmt: skip
#: What is compared; a model has some of them.
METHODS = ("predict", "predict_proba", "answers", "predict_interval", "predict_set", "construct")


def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    X[rng.random(X.shape) < 0.7] = 0
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0)
    return X, y, rng.integers(0, 3, len(X)).astype(float)


@pytest.mark.filterwarnings("ignore:.*seen by every member:UserWarning")
@pytest.mark.filterwarnings("ignore:.*the cascade costs:UserWarning")
@pytest.mark.parametrize("name", MODELS)
def test_models_are_those_of_dense_rows(name):
    X, y, weights = problem()
    model = clone(MODELS[name]).set_params(random_state=0)
    assert get_tags(model).input_tags.sparse
    dense = clone(model).fit(X, y, weights)
    wide = clone(model).fit(sparse.coo_array(X), y, weights)
    for method in [method for method in METHODS if hasattr(dense, method)]:
        expected = getattr(dense, method)(X)
        assert_array_equal(getattr(wide, method)(sparse.csc_matrix(X)), expected)
        assert_array_equal(getattr(wide, method)(X), expected)


def test_a_fitted_forest_of_sparse_rows_gets_intervals():
    X, y, _ = problem()
    rows = sparse.csc_array(X)
    forest = FrozenEstimator(RandomForestRegressor(20, random_state=0).fit(rows, y))
    found = ConformalRegressor(forest, on="out_of_bag").fit(rows, y).predict_interval(rows)
    dense = ConformalRegressor(forest, on="out_of_bag").fit(X, y).predict_interval(X)
    assert_array_equal(found, dense)


def test_features_are_passed_through_without_densifying():
    X, y, _ = problem()
    rows = sparse.csr_array(X)
    stack = StackingClassifier(TWO, LogisticRegression(), cv=2, passthrough=True, random_state=0)
    seen = stack.fit(rows, y).transform(rows)
    assert sparse.issparse(seen)
    assert_array_equal(seen.toarray(), stack.transform(X))
    out = stack.fit_transform_out_of_fold(rows, y)
    assert sparse.issparse(out)
    assert_array_equal(out.toarray()[:, -X.shape[1] :], X)
    few = [0, 40]  # one sample of each class: nothing to learn from, the mean of the models
    assert sparse.issparse(stack.fit(rows[few], y[few]).transform(rows))
    assert_array_equal(stack.predict(rows), stack.predict(X))


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (StackingClassifier([("bayes", GaussianNB())], cv=2), "dense data is required"),
        (StackingClassifier(), r"CARTClassifier.* needs dense data"),
        (CascadeClassifier(), "GradientBoosting.* needs dense data"),
        (ConformalClassifier(GaussianNB()), "dense data is required"),
        (StackingClassifier(TWO, "meta_tree", passthrough=True), "meta decision tree .* needs"),
        (DynamicSelectionClassifier(FOREST), "dense data is required"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_needs_dense_rows_says_so(model, what):
    X, y, _ = problem()
    assert not get_tags(model).input_tags.sparse
    with pytest.raises(TypeError, match=what):
        model.fit(sparse.csr_matrix(X), y)


def test_sparse_rows_have_no_categories():
    X = np.array([["a", 1.0], ["b", 2.0]] * 6, dtype=object)
    stack = StackingClassifier(TWO, cv=2, random_state=0).fit(X, [0, 1] * 6)
    with pytest.raises(TypeError, match="trained on categories"):
        stack.predict(sparse.eye_array(2, format="csr"))
