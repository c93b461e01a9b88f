"""Trees with constrained features: brute force, grids, scikit-learn's trees, and bad input."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
import sklearn.tree
from scipy import sparse
from sklearn.base import is_classifier
from tests.shared import assert_same_forest

import orfeon
from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    CARTClassifier,
    CARTRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreeClassifier,
    RandomTreeRegressor,
)

SIGNS = np.array([1, -1, 0, 0])


def problem(n_rows=120, seed=0):
    """Numbers, two classes, and fractional weights; one feature repeats values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    X[:, 3] = rng.integers(0, 4, n_rows)
    X = X.astype(np.float32).astype(np.float64)
    y = X[:, 0] - X[:, 1] + np.sin(3 * X[:, 2]) + 0.3 * X[:, 3] + rng.normal(size=n_rows)
    return X, y, (y > 0.5).astype(int), rng.uniform(0.5, 2.0, n_rows)


# -- every split is the best of those allowed ------------------------------------------------------


def impurity_sum(y, w, criterion):
    if criterion == "variance":
        return float(w @ (y - np.average(y, weights=w)) ** 2)
    p = np.bincount(y, weights=w, minlength=2) / w.sum()
    if criterion == "gini":
        return float(w.sum() * (1.0 - (p**2).sum()))
    inside = p[p > 0]
    return float(-w.sum() * (inside * np.log2(inside)).sum())


def allowed_gains(X, y, w, criterion, signs, bounds, least_rows):
    """Yield the gain and the two sides of each cut that is allowed."""
    whole = impurity_sum(y, w, criterion)
    for f in range(X.shape[1]):
        known = ~np.isnan(X[:, f])
        values = np.unique(X[known, f])
        cuts = list(0.5 * values[:-1] + 0.5 * values[1:])
        for cut in [*cuts, np.inf] if not known.all() else cuts:
            for missing_left in (False, True) if not known.all() else (False,):
                left = (X[:, f] <= cut) | (~known & missing_left)
                if min(left.sum(), (~left).sum()) < max(least_rows, 1):
                    continue
                low, high = (np.average(y[side], weights=w[side]) for side in (left, ~left))
                if signs[f] < 0:
                    low, high = high, low
                if signs[f] and not bounds[0] <= low <= high <= bounds[1]:
                    continue
                gain = whole - impurity_sum(y[left], w[left], criterion)
                yield gain - impurity_sum(y[~left], w[~left], criterion)


def check_node(tree, node, X, y, w, criterion, bounds, least_rows):
    forest = tree.forest_
    mean = np.average(y, weights=w)
    value = forest.value[node]
    found = value[1] / value.sum() if forest.n_classes else value[0]
    assert found == pytest.approx(np.clip(mean, *bounds), abs=1e-6)
    pure = len(np.unique(y)) == 1
    possible = () if pure else allowed_gains(X, y, w, criterion, SIGNS, bounds, least_rows)
    gains = list(possible)
    if forest.n_children[node] == 0:
        assert not gains
        return 1
    f, child = int(forest.feature[node]), int(forest.first_child[node])
    left = X[:, f] <= forest.threshold[node]
    left |= np.isnan(X[:, f]) & (forest.missing[node] == 0)
    best = impurity_sum(y, w, criterion)
    best -= impurity_sum(y[left], w[left], criterion) + impurity_sum(y[~left], w[~left], criterion)
    assert best == pytest.approx(max(gains), abs=1e-7)
    halfway = (np.average(y[left], weights=w[left]) + np.average(y[~left], weights=w[~left])) / 2
    below, above = (bounds[0], halfway), (halfway, bounds[1])
    on_left = {1: below, -1: above, 0: bounds}[SIGNS[f]]
    on_right = {1: above, -1: below, 0: bounds}[SIGNS[f]]
    rest = criterion, on_left, least_rows
    return (
        1
        + check_node(tree, child, X[left], y[left], w[left], *rest)
        + check_node(tree, child + 1, X[~left], y[~left], w[~left], criterion, on_right, least_rows)
    )


@pytest.mark.parametrize("criterion", ["variance", "gini", "entropy"])
@pytest.mark.parametrize("how", ["plain", "missing", "weights", "large leaves"])
def test_each_split_is_the_best_of_those_allowed(criterion, how):
    X, y, codes, weights = problem(70)
    if how == "missing":
        X[::6, 0] = X[::5, 2] = np.nan
    if how != "weights":
        weights = np.ones(70)
    least = 6 if how == "large leaves" else 1
    settings = {"monotonic_cst": SIGNS, "min_samples_leaf": least, "random_state": 0}
    if criterion == "variance":
        tree, target = CARTRegressor(**settings), y
    else:
        tree, target = CARTClassifier(criterion=criterion, **settings), codes
    tree.fit(X, target, weights)
    unbounded = (-np.inf, np.inf)
    n_nodes = check_node(tree, 0, X, target, weights, criterion, unbounded, least)
    assert n_nodes == len(tree.forest_.nodes) > 5


@pytest.mark.parametrize("seed", range(3))
def test_trees_are_those_of_scikit_learn(seed):
    X, y, codes, _ = problem(300, seed)
    new = problem(300, seed + 100)[0]
    settings = {"monotonic_cst": SIGNS, "min_samples_leaf": 12, "random_state": 0}
    ours = CARTRegressor(**settings).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(**settings).fit(X, y)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new))
    # Equal gains of small classes are frequent, so trees of classes are shallow here.
    settings["max_leaf_nodes"] = 6
    ours = CARTClassifier(**settings).fit(X, codes)
    theirs = sklearn.tree.DecisionTreeClassifier(**settings).fit(X, codes)
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-6)


# -- no prediction breaks a constraint -------------------------------------------------------------

MODELS = [
    CARTRegressor(),
    CARTRegressor(ccp_alpha=0.02, max_features=2),
    RandomTreeRegressor(max_features=2),
    RandomForestRegressor(12),
    ExtraTreesRegressor(12),
    BaggingRegressor(CARTRegressor(), 12),
    CARTClassifier(criterion="entropy"),
    CARTClassifier(criterion="error", pruning=0.01),
    RandomTreeClassifier(max_features=2),
    RandomForestClassifier(12, class_weight="balanced_subsample"),
    RandomForestClassifier(12, combine="soft", calibrate="beta"),
    ExtraTreesClassifier(12, max_leaf_nodes=9),
    BaggingClassifier(CARTClassifier(), 12, combine="soft"),
    AdaBoostClassifier(CARTClassifier(max_depth=3), 6),
]


def constrained(model, signs):
    inner = getattr(model, "estimator", None)
    own = sklearn.base.clone(model).set_params(random_state=0)
    name = "monotonic_cst" if inner is None else "estimator__monotonic_cst"
    return own.set_params(**{name: signs})


def answers(model, X):
    if not is_classifier(model):
        return [model.predict(X)]
    return [model.predict_proba(X)[:, 1], model.predict(X)]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_no_prediction_on_a_grid_breaks_a_constraint(model):
    X, y, codes, weights = problem()
    X[::9, 0] = X[::7, 2] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["d"] = np.array(["p", "q", "r", "s"])[X[:, 3].astype(int)]
    target = codes if is_classifier(model) else y
    fitted = constrained(model, {"a": 1, "b": -1}).fit(frame, target, weights)
    rows = frame.sample(25, random_state=0)
    n_steps = 0
    for name, sign in (("a", 1), ("b", -1)):
        grid = np.linspace(-4, 4, 120)
        many = rows.loc[rows.index.repeat(len(grid))].reset_index(drop=True)
        many[name] = np.tile(grid, len(rows))
        for found in answers(fitted, many):
            steps = np.diff(found.reshape(len(rows), len(grid)), axis=1)
            assert (sign * steps >= 0).all()
            n_steps += int((steps != 0).sum())
    assert n_steps > 0
    free = constrained(model, None).fit(frame, target, weights)
    assert fitted.score(frame, target) > 0.5 * free.score(frame, target)


def test_zeros_are_no_constraint_and_each_tree_is_a_member(tmp_path):
    X, y, codes, _ = problem()
    free = CARTRegressor(random_state=0).fit(X, y)
    zeros = CARTRegressor(monotonic_cst=[0, 0, 0, 0], random_state=0).fit(X, y)
    assert_same_forest(free.forest_, zeros.forest_)
    settings = {"monotonic_cst": SIGNS, "random_state": 0}
    forest = RandomForestClassifier(9, **settings).fit(X, codes)
    again = RandomForestClassifier(9, n_jobs=2, **settings).fit(X, codes)
    assert_same_forest(forest.forest_, again.forest_)
    weights = np.arange(120) % 3
    heavy = RandomForestClassifier(9, **settings).fit(X, codes, weights)
    copies = np.repeat(np.arange(120), weights)
    copied = RandomForestClassifier(9, **settings).fit(X[copies], codes[copies])
    assert_same_forest(heavy.forest_, copied.forest_)
    orfeon.save(forest, tmp_path / "model.orfeon")
    loaded = orfeon.load(tmp_path / "model.orfeon")
    np.testing.assert_array_equal(loaded.predict_proba(X), forest.predict_proba(X))
    one = CARTClassifier(**settings).fit(X, np.zeros(120))
    assert one.predict_proba(X[:1]).tolist() == [[1.0]]


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signs", "target", "message"),
    [
        ([1, 0], "two", "monotonic_cst has shape 2 but the input data X has 4 features."),
        ([1, 0, 0, 3], "two", "monotonic_cst must be None or an array-like of -1, 0 or 1, but got"),
        (SIGNS, "three", "Monotonicity constraints are not supported with multiclass classific"),
        (SIGNS, "outputs", "Monotonicity constraints are not supported with multiple outputs"),
    ],
)
def test_messages_begin_as_those_of_scikit_learn(signs, target, message):
    X, _, codes, _ = problem()
    y = {"two": codes, "three": np.arange(120) % 3, "outputs": np.column_stack([codes, codes])}
    for make in (sklearn.tree.DecisionTreeClassifier, sklearn.ensemble.ExtraTreesClassifier):
        with pytest.raises(ValueError, match=re.escape(message.rstrip("."))):
            make(monotonic_cst=signs).fit(X, y[target])
    for make in (CARTClassifier, ExtraTreesClassifier, RandomForestClassifier):
        with pytest.raises(ValueError, match=re.escape(message.rstrip("."))):
            make(monotonic_cst=signs).fit(X, y[target])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pruning": "cv"}, 'pruning="cv" does not know monotonic_cst'),
        ({"n_best": 3}, "monotonic_cst excludes linear combinations, n_best and max_split"),
        ({"linear_combinations": True}, "monotonic_cst excludes linear combinations"),
    ],
)
def test_what_excludes_constraints_is_named(settings, message):
    X, _, codes, _ = problem()
    with pytest.raises(ValueError, match=message):
        CARTClassifier(monotonic_cst=SIGNS, **settings).fit(X, codes)


def test_sparse_tables_need_to_be_dense():
    X, y, _, _ = problem()
    for make in (CARTRegressor, RandomForestRegressor, ExtraTreesRegressor):
        with pytest.raises(TypeError, match=r"needs dense data. Use X.toarray\(\)"):
            make(monotonic_cst=SIGNS).fit(sparse.csr_array(X), y)
