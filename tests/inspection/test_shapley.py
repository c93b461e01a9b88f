"""Shapley values: equal to their definition, and they sum to the prediction."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn import ensemble as sklearn_ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.oracles import shapley as oracle

import orfeon
from orfeon.forest import NODE, Forest
from orfeon.inspection import shap_values
from orfeon.inspection.tree_sum_types import NoTreeSumError
from orfeon.inspection.tree_sums import additive_output

SMALL = 1e-12


def table(n_rows=70, *, missing=0.15, seed=0):
    """Numbers with ties, categories and missing values, and three classes that need all."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n_rows, 4)).astype(float)
    y = ((X[:, 0] > 2) ^ (X[:, 2] > 3)).astype(int) + (X[:, 3] > 4)
    columns = {name: X[:, j] for j, name in enumerate("wxyz")}
    for name in "wxz":
        columns[name] = np.where(rng.random(n_rows) < missing, np.nan, columns[name])
    letters = np.array(list("abcdef"), dtype=object)[X[:, 2].astype(int)]
    columns["y"] = np.where(rng.random(n_rows) < missing, None, letters)
    return pd.DataFrame(columns), y


TREES = {
    "CART": orfeon.CARTClassifier(max_depth=5),
    "C4.5": orfeon.C45Classifier(),
    "C4.5, unpruned": orfeon.C45Classifier(pruning=False, grouping=True),
    "forest": orfeon.RandomForestClassifier(n_estimators=3, combine="soft", random_state=0),
    "regression": orfeon.CARTRegressor(max_depth=5),
}


@pytest.fixture(scope="module", params=TREES)
def fitted(request):
    X, y = table()
    model = TREES[request.param].fit(X, y)
    part = additive_output(model, "auto").parts[0]
    return model, part.forest, part.values, X.iloc[:6], X.iloc[30:37]


def test_path_dependent_values_are_those_of_the_definition(fitted):
    model, forest, values, X, _ = fitted
    found = shap_values(model, X)
    for row, its in zip(model._encode(X), found.values, strict=True):
        wanted = oracle.shapley_values(oracle.games(forest, values, row), 4)
        assert np.allclose(its.reshape(wanted.shape), wanted, atol=SMALL, rtol=0)
    assert np.abs(found.values).max() > 0.05


def test_interventional_values_are_those_of_the_definition(fitted):
    model, forest, values, X, background = fitted
    found = shap_values(model, X, background=background)
    others = model._encode(background)
    for row, its in zip(model._encode(X), found.values, strict=True):
        wanted = oracle.shapley_values(oracle.games(forest, values, row, others), 4)
        assert np.allclose(its.reshape(wanted.shape), wanted, atol=SMALL, rtol=0)


@pytest.mark.parametrize("has_background", [False, True])
def test_interactions_are_those_of_the_definition(fitted, has_background):
    model, forest, values, X, background = fitted
    given = background if has_background else None
    found = shap_values(model, X, background=given, interactions=True)
    others = model._encode(background) if has_background else None
    for row, its in zip(model._encode(X), found.values, strict=True):
        wanted = oracle.interactions(oracle.games(forest, values, row, others), 4)
        assert np.allclose(its.reshape(wanted.shape), wanted, atol=SMALL, rtol=0)
    own = shap_values(model, X, background=given).values
    assert np.allclose(found.values.sum(axis=2), own, atol=SMALL)


# -- additivity, for every kind of model -----------------------------------------------------------


def shares(model, X):
    """Class shares, neither smoothed nor calibrated."""
    model = getattr(model, "ensemble_", model)
    return model._raw_shares(X) if hasattr(model, "_raw_shares") else model.predict_proba(X)


def _predictions(model, X):
    return model.predict(X)


def _scores(model, X):
    return model.decision_function(X)


CLASSIFIERS = {
    "tree": (orfeon.CARTClassifier(), shares),
    "C4.5": (orfeon.C45Classifier(), shares),
    "bag of votes": (orfeon.BaggingClassifier(n_estimators=9, random_state=0), shares),
    "bag of shares": (
        orfeon.BaggingClassifier(n_estimators=9, combine="soft", random_state=0),
        shares,
    ),
    "forest": (orfeon.RandomForestClassifier(n_estimators=9, random_state=0), shares),
    "extra-trees": (orfeon.ExtraTreesClassifier(n_estimators=9, random_state=0), shares),
    "weighted votes": (
        orfeon.BaggingClassifier(n_estimators=9, combine="weighted", random_state=0),
        shares,
    ),
    "IGP ensemble": (orfeon.IGPEnsembleClassifier(n_estimators=9, random_state=0), shares),
    "class-switching": (
        orfeon.ClassSwitchingClassifier(n_estimators=9, random_state=0),
        shares,
    ),
    "subspaces": (orfeon.RandomSubspaceClassifier(n_estimators=9, random_state=0), shares),
    "AdaBoost": (
        orfeon.AdaBoostClassifier(orfeon.StumpClassifier(), 9, random_state=0),
        shares,
    ),
    "real AdaBoost": (orfeon.RealAdaBoostClassifier(n_estimators=9, random_state=0), _scores),
    "AdaBoost.M2": (
        orfeon.AdaBoostM2Classifier(orfeon.StumpClassifier(), 9, random_state=0),
        shares,
    ),
    "AdaBoost.MH": (orfeon.AdaBoostMHClassifier(n_estimators=9, random_state=0), _scores),
    "AdaBoost.OC": (orfeon.AdaBoostOCClassifier(n_estimators=9, random_state=0), _scores),
    "gradient boosting": (
        orfeon.GradientBoostingClassifier(n_estimators=9, random_state=0),
        _scores,
    ),
    "pruned": (
        orfeon.PrunedClassifier(orfeon.BaggingClassifier(n_estimators=20), random_state=0),
        shares,
    ),
    "bag of scikit-learn's trees": (
        orfeon.BaggingClassifier(DecisionTreeClassifier(), 5, combine="soft", random_state=0),
        shares,
    ),
    "scikit-learn's tree": (DecisionTreeClassifier(random_state=0), shares),
    "scikit-learn's forest": (
        sklearn_ensemble.RandomForestClassifier(9, random_state=0),
        shares,
    ),
    "scikit-learn's bagging": (
        sklearn_ensemble.BaggingClassifier(n_estimators=9, max_features=0.5, random_state=0),
        shares,
    ),
    "scikit-learn's AdaBoost": (
        sklearn_ensemble.AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=2), n_estimators=9, random_state=0
        ),
        _scores,
    ),
    "scikit-learn's gradient boosting": (
        sklearn_ensemble.GradientBoostingClassifier(n_estimators=9, random_state=0),
        _scores,
    ),
    "histograms": (sklearn_ensemble.HistGradientBoostingClassifier(max_iter=9), _scores),
    "soft voting": (
        sklearn_ensemble.VotingClassifier(
            [
                ("tree", DecisionTreeClassifier(max_depth=2)),
                ("forest", sklearn_ensemble.ExtraTreesClassifier(5, random_state=0)),
            ],
            voting="soft", weights=[1, 2],
        ),
        shares,
    ),
    "pipeline": (
        make_pipeline(StandardScaler(), SelectKBest(k=3), orfeon.CARTClassifier()),
        shares,
    ),
}  # fmt: skip
REGRESSORS = {
    "tree": orfeon.CARTRegressor(max_depth=6),
    "bag": orfeon.BaggingRegressor(n_estimators=9, random_state=0),
    "forest": orfeon.RandomForestRegressor(n_estimators=9, random_state=0),
    "gradient boosting": orfeon.GradientBoostingRegressor(n_estimators=20, random_state=0),
    "pruned": orfeon.PrunedRegressor(orfeon.BaggingRegressor(n_estimators=12), random_state=0),
    "boosted mean": orfeon.AdaBoostR2Regressor(n_estimators=5, combine="mean", random_state=0),
    "scikit-learn's tree": DecisionTreeRegressor(max_depth=6, random_state=0),
    "scikit-learn's forest": sklearn_ensemble.RandomForestRegressor(9, random_state=0),
    "scikit-learn's boosting": sklearn_ensemble.GradientBoostingRegressor(random_state=0),
    "histograms": sklearn_ensemble.HistGradientBoostingRegressor(max_iter=20),
    "mean": sklearn_ensemble.VotingRegressor(
        [("a", DecisionTreeRegressor(max_depth=3)), ("b", orfeon.CARTRegressor(max_depth=3))]
    ),
}


@pytest.mark.parametrize("has_background", [False, True])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_values_of_classifiers_sum_to_their_output(name, has_background):
    model, output = CLASSIFIERS[name]
    for load in (load_iris, load_breast_cancer):
        X, y = load(return_X_y=True)
        X, y = X[::3], y[::3]
        model.fit(X, y)
        found = shap_values(model, X[:20], background=X[30:45] if has_background else None)
        wanted = output(model, X[:20])
        if wanted.ndim == 1 and found.n_outputs == 2:
            assert np.allclose(found.outputs @ [-1, 1], wanted, atol=1e-9)
        else:
            assert np.allclose(found.outputs, wanted, atol=1e-9)
        assert np.ptp(found.values, axis=0).max() > 0.01


@pytest.mark.parametrize("has_background", [False, True])
@pytest.mark.parametrize("name", REGRESSORS)
def test_values_of_regressors_sum_to_their_prediction(name, has_background):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150], y[:150] / y.std()
    model = REGRESSORS[name].fit(X, y)
    found = shap_values(model, X[:20], background=X[30:45] if has_background else None)
    assert found.values.shape == (20, 10)
    assert np.allclose(found.outputs, model.predict(X[:20]), atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        orfeon.GradientBoostingClassifier(n_estimators=5, random_state=0),
        orfeon.GradientBoostingClassifier(
            n_estimators=5, categorical_encoding="ordered", random_state=0
        ),
        orfeon.ExtraTreesClassifier(n_estimators=5, random_state=0),
    ],
)
def test_categories_and_missing_values_of_boosters(model):
    X, y = table(300, missing=0.1)
    model.fit(X, y)
    rows = X.iloc[:40].copy()
    rows.loc[rows.index[:5], "y"] = "never seen"
    for background in (None, X.iloc[50:60]):
        found = shap_values(model, rows, background=background)
        has_scores = isinstance(model, orfeon.GradientBoostingClassifier)
        wanted = model.decision_function(rows) if has_scores else shares(model, rows)
        assert found.names == ("w", "x", "y", "z")
        assert np.allclose(found.outputs, wanted, atol=1e-9)


@pytest.mark.parametrize("is_frame", [True, False])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_categories_of_histogram_boosting_are_read(is_frame, n_classes):
    X, y = table(200, missing=0.1)
    rows = X.iloc[:12].assign(y=["never seen"] * 3 + list(X["y"].iloc[3:12]))
    if is_frame:
        known = pd.CategoricalDtype(list("abcdef"))
        X = X.astype({"y": known})
        rows = rows.astype({"y": pd.CategoricalDtype([*"abcdef", "never seen"])})
    else:  # category 30 is missing in training
        codes = {letter: 3.0 * k for k, letter in enumerate("abcdef")} | {"never seen": 30.0}
        X, rows = (one.assign(y=one["y"].map(codes)).to_numpy(float) for one in (X, rows))
    kinds = {"categorical_features": "from_dtype" if is_frame else [2], "max_leaf_nodes": 6}
    kinds |= {"max_iter": 4, "min_samples_leaf": 5}
    if n_classes:
        model = sklearn_ensemble.HistGradientBoostingClassifier(**kinds)
        wanted = model.fit(X, np.minimum(y, n_classes - 1)).decision_function(rows)
    else:
        model = sklearn_ensemble.HistGradientBoostingRegressor(**kinds)
        wanted = model.fit(X, y.astype(float)).predict(rows)
    assert model.is_categorical_.tolist() == [False, False, True, False]
    background = X.iloc[50:54] if is_frame else X[50:54]
    part = additive_output(model, "auto", rows).parts[0]
    assert (part.forest.feature[part.forest.n_children > 0] == 0).any()  # categories come first
    for others in (None, background):
        found = shap_values(model, rows, background=others)
        assert np.allclose(found.outputs, wanted, atol=1e-9)
    if n_classes == 3:
        return
    given = part.encode(background)
    for row, its in zip(part.encode(rows), found.values, strict=True):
        by_column = oracle.shapley_values(oracle.games(part.forest, part.values, row, given), 4)
        assert np.allclose(its[part.players].ravel(), by_column.ravel(), atol=SMALL, rtol=0)
    if n_classes:
        with pytest.raises(NoTreeSumError, match="do not test the features themselves"):
            orfeon.inspection.counterfactual(model, rows[:1], X=X)


def test_wrapped_models_are_those_inside():
    X, y = load_iris(return_X_y=True)
    forest = orfeon.RandomForestClassifier(n_estimators=15, random_state=0)
    for wrapper in (orfeon.CalibratedEnsemble(forest), orfeon.ConformalClassifier(forest)):
        fitted = wrapper.fit(X, y)
        inside = getattr(fitted, "ensemble_", None) or fitted.estimator_
        found = shap_values(fitted, X[:9])
        assert np.allclose(found.outputs, inside.vote_shares(X[:9]), atol=1e-9)
        assert np.array_equal(found.values, shap_values(inside, X[:9]).values)


# -- what values mean ------------------------------------------------------------------------------


def test_a_feature_that_no_tree_tests_gets_nothing():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.ones(len(X))])
    found = shap_values(orfeon.RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y), X)
    assert not found.values[:, 4].any()
    assert np.abs(found.values[:, 2]).mean() > 0.05


def test_twins_share_equally():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 2)).astype(float)
    y = X[:, 0] + X[:, 1]
    found = shap_values(orfeon.CARTRegressor().fit(X, y), [[1.0, 1.0]], background=[[0.0, 0.0]])
    assert np.allclose(found.values, [[1.0, 1.0]])
    product = shap_values(
        orfeon.CARTRegressor().fit(X, X[:, 0] * X[:, 1]), [[1.0, 1.0]], background=[[0.0, 0.0]],
        interactions=True,
    )  # fmt: skip
    assert np.allclose(product.values, [[[0.0, 0.5], [0.5, 0.0]]])


def test_weights_of_samples_count_as_copies():
    X, y = load_iris(return_X_y=True)
    weights = np.arange(len(y)) % 3
    weighted = orfeon.CARTClassifier(random_state=0).fit(X, y, weights)
    copied = orfeon.CARTClassifier(random_state=0).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert np.array_equal(shap_values(weighted, X).values, shap_values(copied, X).values)


def chain(n_features, leaf_weight=None):
    """A tree whose longest path tests all features, one after the other."""
    n_nodes = 2 * n_features + 1
    nodes = np.zeros(n_nodes, NODE)
    nodes["threshold"], nodes["first_child"] = np.inf, np.arange(n_nodes)
    inner = np.arange(0, n_nodes - 1, 2)
    nodes["threshold"][inner], nodes["first_child"][inner] = 0.5, inner + 1
    nodes["feature"][inner] = np.arange(n_features)
    n_children = np.zeros(n_nodes, np.uint16)
    n_children[inner] = 2
    rng = np.random.default_rng(0)
    return Forest(
        np.array([0, n_nodes]), nodes, n_children, np.zeros(n_nodes, np.uint16),
        np.zeros(0, np.int32), rng.normal(size=(n_nodes, 1)), 0, np.zeros(n_features, np.int64),
        leaf_weight=rng.integers(1, 9, n_features + 1).astype(np.float64)
        if leaf_weight is None
        else np.array(leaf_weight, dtype=np.float64),
    ).validate()  # fmt: skip


def test_many_features_on_one_path():
    """More than fit into a word, and quadrature of high order."""
    tree = chain(80)
    rows = np.triu(np.ones((81, 80)))[::9]
    for background in (None, rows[2:4]):
        found = shap_values(tree, rows, background=background)
        assert np.allclose(found.outputs, tree.predict(rows), atol=1e-12)
    short = chain(7)
    rows = np.triu(np.ones((8, 7)))
    for row, its in zip(rows, shap_values(short, rows).values, strict=True):
        wanted = oracle.shapley_values(oracle.games(short, short.value[:, 0], row), 7)
        assert np.allclose(its, wanted, atol=1e-13)


@pytest.mark.parametrize("weights", [[2, 0, 1, 0, 3], [1, 1, 0, 0, 0]])
def test_leaves_without_training_samples(weights):
    """Unknown rows never come there, known ones do."""
    tree = chain(4, weights)
    rows = np.triu(np.ones((5, 4)))
    found = shap_values(tree, rows)
    pairs = shap_values(tree, rows, interactions=True)
    for k, row in enumerate(rows):
        games = oracle.games(tree, tree.value[:, 0], row)
        assert np.allclose(found.values[k], oracle.shapley_values(games, 4), atol=1e-14)
        assert np.allclose(pairs.values[k], oracle.interactions(games, 4), atol=1e-14)
    assert np.allclose(found.outputs, tree.predict(rows), atol=1e-14)


# -- the same bits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("has_background", [False, True])
def test_threads_and_other_rows_change_no_bit(has_background):
    X, y = load_breast_cancer(return_X_y=True)
    forest = orfeon.RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    background = X[:40] if has_background else None
    whole = shap_values(forest, X, background=background).values
    threads = shap_values(forest, X, background=background, n_jobs=2).values
    alone = shap_values(forest, X[300:301], background=background).values
    assert np.array_equal(whole, threads)
    assert np.array_equal(whole[300:301], alone)


# -- beside the package shap -----------------------------------------------------------------------


@pytest.mark.parametrize("has_background", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        sklearn_ensemble.RandomForestClassifier(20, random_state=0),
        sklearn_ensemble.ExtraTreesClassifier(20, max_depth=4, random_state=0),
        sklearn_ensemble.GradientBoostingClassifier(random_state=0),
    ],
)
def test_equal_to_the_package_shap(model, has_background):
    shap = pytest.importorskip("shap")
    X, y = load_breast_cancer(return_X_y=True)
    X = X.astype(np.float32).astype(float)
    model.fit(X, y)
    kind = "interventional" if has_background else "tree_path_dependent"
    background = X[::20] if has_background else None
    peer = shap.TreeExplainer(model, background, feature_perturbation=kind)
    theirs = np.asarray(peer.shap_values(X[:60], check_additivity=False))
    found = shap_values(model, X[:60], background=background)
    assert np.abs(found.values - theirs).max() < 1e-6
    assert np.allclose(found.base_values, peer.expected_value, atol=1e-6)
    if not has_background:
        theirs = np.asarray(peer.shap_interaction_values(X[:5]))
        assert np.abs(shap_values(model, X[:5], interactions=True).values - theirs).max() < 1e-6


def test_the_plots_of_the_package_shap_take_our_values():
    shap = pytest.importorskip("shap")
    X, y = load_iris(return_X_y=True, as_frame=True)
    found = shap_values(orfeon.RandomForestClassifier(random_state=0).fit(X, y), X)
    given = found.to_shap()
    assert isinstance(given, shap.Explanation)
    assert given.values.shape == (150, 4, 3)
    assert list(given.output_names) == ["0", "1", "2"]
    one = found.for_class(2).to_shap()
    assert one.values.shape == (150, 4)
    assert one.feature_names == list(X.columns)
    assert np.allclose(one.base_values + one.values.sum(axis=1), found.outputs[:, 2])


# -- what cannot be explained ----------------------------------------------------------------------


def _oblique(X, y):
    return orfeon.ObliqueForestClassifier(n_estimators=3, random_state=0).fit(X, y)


REFUSED = [
    (_oblique, "several features at once"),
    (lambda X, y: orfeon.AdaBoostR2Regressor(n_estimators=3).fit(X, y), "weighted median"),
    (
        lambda X, y: orfeon.BaggingClassifier(n_estimators=3, combine="product").fit(X, y),
        'output="votes"',
    ),
    (lambda X, y: orfeon.StackingClassifier([("t", orfeon.CARTClassifier())]).fit(X, y), "sum"),
    (
        lambda X, y: orfeon.C45Classifier(soft_thresholds=True).fit(X, y),
        "soft_thresholds=False",
    ),
    (
        lambda X, y: sklearn_ensemble.VotingClassifier([("t", DecisionTreeClassifier())]).fit(X, y),
        'voting="soft"',
    ),
    (lambda X, y: DecisionTreeClassifier().fit(X, np.column_stack([y, y])), "2 outputs"),
    (
        lambda X, y: orfeon.GradientBoostingClassifier(n_estimators=2, init=orfeon.CARTClassifier())
        .fit(X, y),
        "init=None",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("fit", "message"), REFUSED)
def test_models_without_a_sum_are_refused_with_a_way_out(fit, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NoTreeSumError, match=message) as raised:
        shap_values(fit(X, y), X[:2])
    assert "; " in str(raised.value)


def test_bad_arguments():
    X, y = load_iris(return_X_y=True)
    tree = orfeon.CARTClassifier().fit(X, y)
    with pytest.raises(ValueError, match="output='margin' is not allowed"):
        shap_values(tree, X, output="margin")
    with pytest.raises(ValueError, match=r"background is empty|minimum of 1"):
        shap_values(tree, X, background=np.zeros((0, 4)))
    with pytest.raises(ValueError, match="X is sparse"):
        shap_values(tree, csr_matrix(X))
    with pytest.raises(TypeError, match="a fitted tree"):
        shap_values(orfeon.CARTClassifier, X)
    with pytest.raises(ValueError, match="is not a class"):
        shap_values(tree, X).for_class("rose")
    with pytest.raises(ValueError, match="predicts numbers"):
        shap_values(orfeon.CARTRegressor().fit(X, y), X, output="votes")
    boosting = orfeon.GradientBoostingClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="do not vote"):
        shap_values(boosting, X, output="votes")


def test_a_vote_that_is_split_is_refused():
    X, y = table()
    model = orfeon.BaggingClassifier(orfeon.C45Classifier(), 5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="go down several branches"):
        shap_values(model, X)
    found = shap_values(model, X, output="supports")
    assert np.allclose(found.outputs, model.mean_supports(X), atol=1e-9)


def test_values_of_a_weighted_mean_are_the_weighted_mean_of_the_values():
    X, y = load_iris(return_X_y=True)
    names = np.array(["c", "a", "b"])
    rare = orfeon.CARTClassifier(max_depth=3)
    models = [
        ("forest", orfeon.RandomForestClassifier(8, random_state=0)),
        ("trees", orfeon.ExtraTreesClassifier(8, random_state=0)),
        ("tree", rare),
    ]
    weights = [0.5, 0.3, 0.2]
    model = orfeon.EnsembleSelectionClassifier(models, weights=weights, random_state=0)
    model.fit(X, names[y])
    found = shap_values(model, X[::10])
    parts = [shap_values(one, X[::10]) for one in model.estimators_]
    expected = sum(w * part.values for w, part in zip(weights, parts, strict=True))
    np.testing.assert_allclose(found.values, expected, atol=1e-12)
    assert found.classes.tolist() == ["a", "b", "c"]
    by_background = shap_values(model, X[::10], background=X[5::10])
    expected = sum(
        w * shap_values(one, X[::10], background=X[5::10]).values
        for w, one in zip(weights, model.estimators_, strict=True)
    )
    np.testing.assert_allclose(by_background.values, expected, atol=1e-12)
    boosted = [("boost", orfeon.GradientBoostingRegressor(n_estimators=5)), models[0]]
    boosted[1] = ("forest", orfeon.RandomForestRegressor(5, random_state=0))
    X, y = load_diabetes(return_X_y=True)
    mean = orfeon.EnsembleSelectionRegressor(boosted, weights=[1, 3], random_state=0)
    mean.fit(X[:200], y[:200])
    np.testing.assert_allclose(shap_values(mean, X[::50]).outputs, mean.predict(X[::50]))


def test_a_weighted_mean_with_scores_is_refused_by_name():
    X, y = load_iris(return_X_y=True)
    models = [
        ("boost", orfeon.GradientBoostingClassifier(n_estimators=3)),
        ("forest", orfeon.RandomForestClassifier(3)),
    ]
    model = orfeon.EnsembleSelectionClassifier(models, weights=[1, 1]).fit(X, y)
    with pytest.raises(NoTreeSumError, match="GradientBoostingClassifier, whose trees add to"):
        shap_values(model, X[:2])
    models[0] = ("stack", orfeon.StackingClassifier([("tree", orfeon.CARTClassifier())], cv=2))
    model = orfeon.EnsembleSelectionClassifier(models, weights=[1, 1]).fit(X, y)
    with pytest.raises(NoTreeSumError, match="StackingClassifier, which is not a sum over trees"):
        shap_values(model, X[:2])
