"""Bad input is refused with an error that names the argument and what is allowed."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from tests.shared import public_estimators

import orfeon
from orfeon import CARTClassifier, CARTRegressor
from orfeon.data import Table
from orfeon.forest import Forest

# Labels drawn at random end boosting early, and it warns.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.* requested, because:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*the first member:UserWarning"),
]

X = np.random.default_rng(0).normal(size=(30, 3))
Y = np.arange(30) % 2

each_estimator = pytest.mark.parametrize("estimator", public_estimators().values())


def with_infinity() -> np.ndarray:
    infinite = X.copy()
    infinite[3, 1] = -np.inf
    return infinite


BAD_TABLES: dict[str, tuple[Any, type[Exception], str]] = {
    "one dimension": (X[:, 0], ValueError, r"X must be a table .* its shape is \(30,\)"),
    "three dimensions": (X[None], ValueError, r"X must be a table .* its shape is \(1, 30, 3\)"),
    "a number": (3, ValueError, r"X must be a table .* its shape is \(\)"),
    "nothing": (None, ValueError, "X must be a table"),
    "no rows": (X[:0], ValueError, r"X has 0 sample\(s\) .* a minimum of 1 is required"),
    "no columns": (X[:, :0], ValueError, r"X has 0 feature\(s\) .* a minimum of 1 is required"),
    "infinity": (with_infinity(), ValueError, "Feature 'x1', row 3. Finite numbers and NaN"),
    "sparse matrix": (sparse.csr_matrix(X), TypeError, "Sparse data was passed for X"),
    "sparse array": (sparse.csr_array(X), TypeError, r"Use X.toarray\(\)"),
    "complex": (X + 1j, ValueError, "Complex data not supported: Feature 'x0'"),
    "dates": (X.astype("datetime64[s]"), TypeError, "Feature 'x0' holds dates"),
    "objects": ([[{}]] * 30, TypeError, "Feature 'x0' holds a value of type 'dict'"),
    "ragged": ([[1, 2]] * 29 + [[3]], ValueError, "X must be a table whose rows have equal"),
}


@each_estimator
def test_tables(estimator):
    fitted = estimator().fit(X, Y)
    for name, (table, error, message) in BAD_TABLES.items():
        if "sparse" in name and get_tags(estimator()).input_tags.sparse:
            continue
        with pytest.raises(error, match=message):
            estimator().fit(table, Y[: len(table)] if name == "no rows" else Y)
        if name == "no columns":
            message = "X has 0 features, but .* is expecting 3|X has 0 feature"
        with pytest.raises(error, match=message):
            fitted.predict(table)


#: What takes rows; perceptrons have no leaves to apply them to.
ROW_METHODS = ("predict", "apply", "decision_path")


@each_estimator
def test_columns_of_rows_to_predict(estimator):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    fitted = estimator().fit(X, Y)
    for method in [name for name in ROW_METHODS if hasattr(estimator, name)]:
        with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
            getattr(fitted, method)(X[:, :2])
        with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 3 features"):
            getattr(fitted, method)(np.column_stack([X, X[:, 0]]).tolist())
    fitted = estimator().fit(frame, Y)
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- z\n.*now missing:\n- a"):
        fitted.predict(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        fitted.predict(frame[["b", "a", "c"]])
    with pytest.raises(ValueError, match=r"(unique|duplicate) column names"):
        estimator().fit(frame.rename(columns={"a": "b"}), Y)


BAD_TARGETS: dict[str, tuple[Any, str]] = {
    "nothing": (None, "requires y to be passed, but the target y is None"),
    "too short": (Y[:20], "y has 20 values and X has 30 rows"),
    "too long": (np.repeat(Y, 2), "y has 60 values and X has 30 rows"),
    "two columns": (np.column_stack([Y, Y]), r"y should be a 1d array, got .* \(30, 2\)"),
    "missing": (np.where(Y > 0, 1.0, np.nan), "Input y contains NaN"),
    "infinite": (np.where(Y > 0, 1.0, np.inf), "Input y contains infinity"),
    "complex": (Y + 1j, "Complex data not supported|Unknown label type: unknown|y .*complex"),
}
BAD_CLASSES: dict[str, tuple[Any, str]] = {
    "continuous": (X[:, 0], "Unknown label type: continuous"),
    "strings and numbers": (["a", 1, 2] * 10, "y mixes strings with other values"),
    "strings and none": (["a", None, "b"] * 10, "y mixes strings with other values"),
}
BAD_NUMBERS: dict[str, tuple[Any, str]] = {
    "strings": (["a", "b"] * 15, "y must hold numbers only"),
    "none": ([None, 1.0] * 15, "Input y contains NaN"),
    "too large": (np.where(Y > 0, 1.0, -2e150), r"y has values beyond 1e\+150"),
}


@each_estimator
def test_targets(estimator):
    bad = BAD_TARGETS | (BAD_NUMBERS if is_regressor(estimator()) else BAD_CLASSES)
    if get_tags(estimator()).target_tags.multi_output:
        bad.pop("two columns")
    for (target, message), weights in product(bad.values(), (None, np.arange(30) % 3)):
        y = np.array(target, dtype=object) if isinstance(target, list) else target
        with pytest.raises(ValueError, match=message):
            estimator().fit(X, y, sample_weight=weights)


BAD_WEIGHTS: dict[str, tuple[Any, str]] = {
    "negative": (-np.ones(30), "[Nn]egative values in data passed to `?sample_weight"),
    "one negative": (np.where(np.arange(30) == 7, -1e-9, 1.0), "[Nn]egative .*sample_weight"),
    "all zero": (np.zeros(30), "[Ss]ample.weight.* at least one"),
    "missing": (np.full(30, np.nan), "sample_weight contains NaN"),
    "infinite": (np.full(30, np.inf), "sample_weight contains infinity"),
    "too short": (np.ones(29), r"sample_weight.shape == \(29,\), expected \(30,\)"),
    "two columns": (np.ones((30, 2)), "Sample weights must be 1D"),
}


@each_estimator
def test_weights(estimator):
    for weights, message in BAD_WEIGHTS.values():
        with pytest.raises(ValueError, match=message):
            estimator().fit(X, Y, sample_weight=weights)


BAD_PARAMETERS: list[tuple[str, Any, str]] = [
    ("criterion", "gain", r"must be a str among \{.*gini.*\}. Got 'gain'"),
    ("max_depth", 0, r"must be an int in the range \[1, inf\) or None. Got 0"),
    ("max_depth", 2.5, r"must be an int in the range \[1, inf\) or None. Got 2.5"),
    ("max_leaf_nodes", 1, r"must be an int in the range \[2, inf\) or None. Got 1"),
    ("min_samples_split", 1, r"must be an int in the range \[2, inf\) or a float .* Got 1"),
    ("min_samples_split", 1.5, r"a float in the range \(0.0, 1.0\). Got 1.5"),
    ("min_samples_leaf", 0, r"must be an int in the range \[1, inf\) or a float .* Got 0"),
    ("min_samples_leaf", 1.0, r"a float in the range \(0.0, 1.0\). Got 1.0"),
    ("min_impurity_decrease", -0.1, r"must be a float in the range \[0.0, inf\). Got -0.1"),
    ("max_features", 0, r"must be an int in the range \[1, inf\), a float .* Got 0"),
    ("max_features", 1.5, r"a float in the range \(0.0, 1.0\], .* Got 1.5"),
    ("max_features", "all", "a str among .* Got 'all'"),
    ("max_features", 4, "max_features=4 is more than the 3 features of X"),
    ("pruning", -1, r"(\{'cv'\}, a float in the range \[0.0, inf\) or None|'bool').* Got -1"),
    ("pruning", "yes", r"(a str among \{'cv'\}|'bool').* Got 'yes'"),
    ("pruning", np.nan, r"(a str among \{'cv'\}|'bool').* Got nan"),
    ("pruning_rule", "2se", "must be a str among .* Got '2se'"),
    ("n_folds", 1, r"must be an int in the range \[2, inf\)( or None)?. Got 1"),
    ("keep_a_split", "no", "'path'.* Got 'no'"),
    ("equal_rows", "split", "must be a str among .* Got 'split'"),
    ("n_best", 0, r"must be an int in the range \[1, inf\). Got 0"),
    ("random_state", -1, r"must be an int in the range \[0, 4294967295\], .* Got -1"),
    ("random_state", "dice", "random.* Got 'dice'"),
    ("class_weight", "even", "must be an instance of 'dict',.* a str among .* Got 'even'"),
    ("class_weight", {0: -1.0, 1: 1.0}, "class_weight=.*finite, not negative, and not all zero"),
    ("class_weight", {0: 0.0, 1: 0.0}, "class_weight=.*finite, not negative, and not all zero"),
    ("class_weight", {0: np.nan, 1: 1.0}, "class_weight=.*finite, not negative, and not all"),
    ("class_weight", {0: np.inf, 1: 1.0}, "class_weight=.*finite, not negative, and not all"),
    ("categorical_features", 3, "categorical_features' parameter .* Got 3"),
    ("categorical_features", [3], "categorical_features has 3; .* indices from -3 to 2"),
    ("categorical_features", ["a"], "categorical_features has the unknown column 'a'"),
    ("categorical_features", [True], "categorical_features is a mask of length 1; X has 3"),
    ("categorical_features", "all", "categorical_features.*'all'"),
]


@each_estimator
def test_parameters(estimator):
    accepted = estimator().get_params()
    for parameter, value, message in [bad for bad in BAD_PARAMETERS if bad[0] in accepted]:
        with pytest.raises(ValueError, match=message) as caught:
            estimator(**{parameter: value}).fit(X, Y)
        assert parameter in str(caught.value)


def test_unknown_columns_are_named_with_the_known_ones():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"unknown column 'z'; the columns are \['a', 'b', 'c'\]"):
        CARTClassifier(categorical_features=["z"]).fit(frame, Y)


@each_estimator
def test_what_is_not_fitted_says_so(estimator):
    for use in [name for name in ("get_n_leaves", "get_depth") if hasattr(estimator, name)]:
        with pytest.raises(NotFittedError, match=r"not fitted yet\. Call 'fit'"):
            getattr(estimator(), use)()
    for use in [name for name in ROW_METHODS if hasattr(estimator, name)]:
        with pytest.raises(NotFittedError, match=r"not fitted yet\. Call 'fit'"):
            getattr(estimator(), use)(X)
    if hasattr(estimator, "feature_importances_"):
        with pytest.raises(NotFittedError, match=r"not fitted yet\. Call 'fit'"):
            _ = estimator().feature_importances_


@pytest.mark.parametrize("estimator", [CARTClassifier(), CARTRegressor()], ids=str)
def test_an_unknown_risk_is_refused(estimator):
    allowed = r"\['variance'\]" if is_regressor(estimator) else r"\['error', 'gini', 'entropy'\]"
    for risk in ("cost", "error" if is_regressor(estimator) else "variance"):
        with pytest.raises(ValueError, match=f"risk='{risk}' is not allowed: .* {allowed}"):
            estimator.cost_complexity_pruning_path(X, Y, risk=risk)


def test_more_classes_than_fit_in_the_labels_are_refused():
    n = np.iinfo(np.uint16).max + 1
    with pytest.raises(ValueError, match="y has 65536 classes; at most 65535 are allowed"):
        CARTClassifier().fit(np.zeros((3 * n, 1)), np.arange(3 * n) % n)


def test_forests_refuse_what_is_not_theirs():
    forest = CARTClassifier().fit(X, Y).forest_
    other = CARTClassifier().fit(X[:, :2], Y).forest_
    with pytest.raises(ValueError, match="forests differ in their features, classes or outputs"):
        Forest.concatenate([forest, other])
    with pytest.raises(ValueError, match="forests is empty; give at least one"):
        Forest.concatenate([])
    with pytest.raises(ValueError, match="trees is empty; a forest needs at least one"):
        forest.subset([])
    with pytest.raises(IndexError):
        forest.subset([1])


def test_an_unknown_name_of_the_package_is_an_feature_error():
    with pytest.raises(AttributeError, match="module 'orfeon' has no attribute 'Nonsense'"):
        _ = orfeon.Nonsense


def test_a_table_without_rows_or_columns_is_refused():
    with pytest.raises(ValueError, match="a minimum of 1 is required"):
        Table.from_data(X[:0])
