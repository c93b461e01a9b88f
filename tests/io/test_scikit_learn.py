"""Estimators of scikit-learn within models, and around them."""

from __future__ import annotations

import importlib.util
import zipfile
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.io.mutations import Opened, opened, signed

import orfeon
from orfeon.io import ModelFileError


def frame(X: Any, y: Any) -> Any:
    table = pd.DataFrame(X[:, :4], columns=list("abcd"))
    table["colour"] = np.array(["red", "green", "blue"])[y]
    table.loc[::9, "a"] = np.nan
    return table


COLUMNS = ColumnTransformer(
    [
        ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b"]),
        ("one_hot", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["colour"]),
        ("codes", OrdinalEncoder(), ["colour"]),
    ],
    remainder="passthrough",
)

MODELS = [
    orfeon.BaggingClassifier(GaussianNB(), 4, random_state=0),
    orfeon.BaggingClassifier(DecisionTreeClassifier(max_depth=3), 4, random_state=0),
    orfeon.RandomSubspaceClassifier(LogisticRegression(max_iter=300), 3, random_state=0),
    orfeon.BaggingRegressor(LinearRegression(), 4, random_state=0),
    orfeon.AdaBoostClassifier(GaussianNB(), 4, random_state=0),
    orfeon.AdaBoostMHClassifier(DecisionTreeClassifier(max_depth=2), 4, random_state=0),
    orfeon.AdaBoostR2Regressor(Ridge(), 4, random_state=0),
    orfeon.FilterBoostClassifier(GaussianNB(), depth=2, random_state=0),
    orfeon.PoolBoostClassifier([GaussianNB(), orfeon.StumpClassifier()], 4, random_state=0),
    orfeon.StackingClassifier(
        [("bayes", GaussianNB()), ("tree", orfeon.CARTClassifier())],
        final_estimator=LogisticRegression(), random_state=0,
    ),
    orfeon.MixtureOfExpertsClassifier(GaussianNB(), n_experts=2, max_iter=3, random_state=0),
    orfeon.PrunedClassifier(ensemble.RandomForestClassifier(10), random_state=0),
    orfeon.PrunedRegressor(ensemble.BaggingRegressor(n_estimators=10), random_state=0),
    orfeon.PrunedClassifier(ensemble.AdaBoostClassifier(n_estimators=8), random_state=0),
    make_pipeline(StandardScaler(), MinMaxScaler(), RobustScaler(), orfeon.C45Classifier()),
    ensemble.ExtraTreesRegressor(5, random_state=0),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:PoolBoostClassifier. boosting ended")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model)[:60])
def test_estimators_that_are_known_need_no_other_package(model, tmp_path, waveform):
    X, y = (part[:120] for part in waveform)
    model.fit(X, y)
    path = tmp_path / "model.orfeon"
    orfeon.save(model, path)
    loaded = orfeon.load(path)
    for name in ("predict", "predict_proba"):
        if hasattr(model, name):
            assert getattr(loaded, name)(X).tobytes() == getattr(model, name)(X).tobytes()
    orfeon.save(loaded, tmp_path / "again.orfeon")
    assert (tmp_path / "again.orfeon").read_bytes() == path.read_bytes()


def test_a_pipeline_with_columns_of_all_kinds_comes_back(tmp_path, waveform):
    X, y = waveform
    model = make_pipeline(COLUMNS, orfeon.RandomForestClassifier(5, random_state=0))
    table = frame(X, y)
    model.fit(table, y)
    orfeon.save(model, tmp_path / "model.orfeon")
    loaded = orfeon.load(tmp_path / "model.orfeon")
    assert loaded.predict_proba(table).tobytes() == model.predict_proba(table).tobytes()
    assert loaded[0].get_feature_names_out().tolist() == model[0].get_feature_names_out().tolist()


def test_a_pruned_forest_of_scikit_learn_comes_back(tmp_path, waveform):
    X, y = waveform
    forest = ensemble.RandomForestClassifier(20, random_state=0).fit(X, y)
    small = orfeon.prune(forest, X, y, keep=5)
    orfeon.save(small, tmp_path / "small.orfeon")
    loaded = orfeon.load(tmp_path / "small.orfeon")
    assert type(loaded) is ensemble.RandomForestClassifier
    assert loaded.predict_proba(X).tobytes() == small.predict_proba(X).tobytes()
    assert loaded.kept_.tolist() == small.kept_.tolist()


@pytest.mark.parametrize("kind", [ensemble.RandomForestClassifier, orfeon.RandomForestClassifier])
def test_a_frozen_ensemble_that_was_pruned_comes_back(kind, tmp_path, waveform):
    X, y = waveform
    whole = kind(12, random_state=0).fit(X, y)
    model = orfeon.PrunedClassifier(FrozenEstimator(whole), keep=3).fit(X, y)
    orfeon.save(model, tmp_path / "model.orfeon")
    with zipfile.ZipFile(tmp_path / "model.orfeon") as archive:
        assert not any(name.endswith(".skops") for name in archive.namelist())
    loaded = orfeon.load(tmp_path / "model.orfeon")
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert loaded.estimator.predict_proba(X).tobytes() == whole.predict_proba(X).tobytes()
    assert loaded.fit(X, y).kept_.tolist() == model.kept_.tolist()


def test_missing_values_go_the_same_way(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X[:, 0] + (X[:, 1] > 0)
    X[::3, 0] = np.nan
    tree = DecisionTreeRegressor(max_depth=5).fit(X, y)
    orfeon.save(tree, tmp_path / "tree.orfeon")
    assert orfeon.load(tmp_path / "tree.orfeon").predict(X).tobytes() == tree.predict(X).tobytes()


# -- neighbours and networks, which compiled code and memory depend on -----------------------------


NEAR = KNeighborsClassifier(3, algorithm="brute")
NETWORK = MLPClassifier((4,), max_iter=3, early_stopping=True, random_state=0)
TARGETS = TransformedTargetRegressor(
    MLPRegressor(hidden_layer_sizes=(4,), max_iter=3, random_state=0), transformer=StandardScaler()
)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize(
    "model",
    [
        NEAR, KNeighborsRegressor(3, algorithm="brute", weights="distance"), NETWORK, TARGETS,
        MLPClassifier((4,), solver="lbfgs", max_iter=200, tol=0.1, random_state=0),
        make_pipeline(Nystroem(n_components=20, random_state=0), LogisticRegression()),
    ],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_neighbours_networks_and_kernels_need_no_other_package(
    model, tmp_path, waveform, monkeypatch
):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    X, y = (part[:120] for part in waveform)
    model = clone(model).fit(X, y)
    orfeon.save(model, tmp_path / "model.orfeon")
    loaded = orfeon.load(tmp_path / "model.orfeon")
    assert loaded.predict(X).tobytes() == model.predict(X).tobytes()
    if hasattr(model, "predict_proba"):
        assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert np.isfinite(np.asarray(loaded.fit(X, y).predict(X), dtype=float)).all()


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize(
    ("model", "change", "message"),
    [
        (NEAR, {"_fit_X": np.zeros((120, 3))}, "_fit_X must hold n_samples_fit_ rows"),
        (NEAR, {"n_samples_fit_": 10**9}, "_fit_X must hold n_samples_fit_ rows"),
        (NEAR, {"_y": np.full(120, 3)}, "_y must hold codes of classes_"),
        (NEAR, {"_y": np.full(120, -1)}, "_y must hold codes of classes_"),
        (NEAR, {"_y": np.zeros(3, int)}, "_y must have n_samples_fit_ numbers"),
        (NEAR, {"effective_metric_params_": {"p": 3}}, "effective_metric_params_ must be empty"),
        (NETWORK, {"n_layers_": 9}, "must have n_layers_ - 1 entries"),
        (NETWORK, {"coefs_": [np.zeros((21, 4)), np.zeros((5, 3))]}, "must fit together"),
        (NETWORK, {"n_outputs_": 2}, "coefs_ must end with n_outputs_ outputs"),
        (NETWORK, {"classes_": np.arange(2)}, "_label_binarizer must encode classes_"),
    ],
)
def test_forged_neighbours_and_networks_are_refused(model, change, message, tmp_path, waveform):
    X, y = (part[:120] for part in waveform)
    forged = clone(model).fit(X, y)
    vars(forged).update(change)
    with pytest.raises(ModelFileError, match=message):
        orfeon.save(forged, tmp_path / "forged.orfeon")  # the same checks as on loading


# -- forged trees of scikit-learn, which it would load itself --------------------------------------


@pytest.fixture(scope="module")
def tree(tmp_path_factory, waveform):
    X, _ = waveform
    path = tmp_path_factory.mktemp("tree") / "tree.orfeon"
    # So many classes that the tree is large and its arrays are members of their own.
    orfeon.save(DecisionTreeClassifier(random_state=0).fit(X, np.arange(len(X)) % 140), path)
    return path.read_bytes()


def change(forged: Opened, name: str, at: int, value: float) -> None:
    (fields,) = (
        one["fields"] for one in forged.content["objects"] if one["class"] == "sklearn.Tree"
    )
    index = fields[name]["array"]
    entries = np.frombuffer(forged.arrays[index], forged.content["arrays"][index][0]).copy()
    entries[at] = value
    forged.arrays[index] = entries.tobytes()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("left_child", 10**6, "a child comes before its parent or is out of bounds"),
        ("left_child", 0, "a child comes before its parent or is out of bounds"),
        ("right_child", 1, "a node has no parent, or several"),
        ("left_child", -1, "a leaf has a child"),
        ("feature", 21, "a node tests a feature that does not exist"),
        ("feature", -2, "a node tests a feature that does not exist"),
        ("threshold", np.nan, "a threshold is NaN"),
    ],
)
def test_a_tree_that_leads_astray_is_refused(tree, tmp_path, name, value, message):
    forged = opened(tree)
    change(forged, name, 0, value)
    (tmp_path / "forged.orfeon").write_bytes(signed(forged))
    with pytest.raises(ModelFileError, match=message):
        orfeon.load(tmp_path / "forged.orfeon")


def test_a_tree_of_more_features_than_its_estimator_is_refused(tree, tmp_path):
    forged = opened(tree)
    forged.content["objects"][-1]["fields"]["n_features_in_"] = 3
    (tmp_path / "forged.orfeon").write_bytes(signed(forged))
    with pytest.raises(ModelFileError, match="tree_ must have n_features_in_ features"):
        orfeon.load(tmp_path / "forged.orfeon")


def test_a_depth_that_is_not_that_of_the_tree_is_refused(tree, tmp_path):
    """Paths would be written beyond the memory that scikit-learn takes for them."""
    forged = opened(tree)
    (fields,) = (
        one["fields"] for one in forged.content["objects"] if one["class"] == "sklearn.Tree"
    )
    assert fields["max_depth"] > 3
    fields["max_depth"] = 1
    (tmp_path / "forged.orfeon").write_bytes(signed(forged))
    with pytest.raises(ModelFileError, match="max_depth is not the depth of its nodes"):
        orfeon.load(tmp_path / "forged.orfeon")


@pytest.fixture(scope="module")
def forest(tmp_path_factory, waveform):
    path = tmp_path_factory.mktemp("forest") / "forest.orfeon"
    orfeon.save(ensemble.RandomForestClassifier(70, random_state=0).fit(*waveform), path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("left_child", 0, 10**6, "a child comes before its parent or is out of bounds"),
        ("left_child", 0, 0, "a child comes before its parent or is out of bounds"),
        ("right_child", 0, 1, "a node has no parent, or several"),
        ("feature", 0, 21, "a node tests a feature that does not exist"),
        ("missing_go_to_left", 0, 2, "missing_go_to_left must be 0 or 1"),
        ("tree_start", 1, 0, "tree_start must begin at 0 and increase"),
        ("tree_start", 1, 2, "a child comes before its parent|a node has no parent, or several"),
        ("tree_start", 0, 1, "tree_start must begin at 0 and increase"),
    ],
)
def test_trees_end_to_end_that_lead_astray_are_refused(forest, tmp_path, name, at, value, message):
    forged = opened(forest)
    (fields,) = (one["fields"] for one in forged.content["objects"] if one["class"] == "AlikeTrees")
    where = fields[name]["array"]
    entries = np.frombuffer(forged.arrays[where], forged.content["arrays"][where][0]).copy()
    entries[at] = value
    forged.arrays[where] = entries.tobytes()
    (tmp_path / "forged.orfeon").write_bytes(signed(forged))
    with pytest.raises(ModelFileError, match=message):
        orfeon.load(tmp_path / "forged.orfeon")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_features": 3}, "trees must have n_features_in_ features"),
        (
            {"max_depth": {"inline": ["<i8", [0], "C", ""]}},
            "max_depth must have one entry per tree",
        ),
        (
            {"random_state": {"inline": ["<i8", [0], "C", ""]}},
            "random_state must have one entry per tree",
        ),
        ({"first": None}, "AlikeTrees.first must be a tree of scikit-learn without nodes"),
    ],
)
def test_what_trees_have_in_common_is_checked(forest, tmp_path, change, message):
    forged = opened(forest)
    (fields,) = (one["fields"] for one in forged.content["objects"] if one["class"] == "AlikeTrees")
    fields.update(change)
    (tmp_path / "forged.orfeon").write_bytes(signed(forged))
    with pytest.raises(ModelFileError, match=message):
        orfeon.load(tmp_path / "forged.orfeon")


def test_trees_that_are_not_alike_are_saved_one_by_one(tmp_path, waveform):
    X, y = waveform
    forest = ensemble.RandomForestClassifier(3, random_state=0).fit(X, y)
    forest.estimators_[1].max_depth = 77
    orfeon.save(forest, tmp_path / "forest.orfeon")
    parts = orfeon.io.describe(tmp_path / "forest.orfeon")["parts"]
    assert (parts["sklearn.Tree"], "AlikeTrees" in parts) == (3, False)
    loaded = orfeon.load(tmp_path / "forest.orfeon")
    assert [one.max_depth for one in loaded.estimators_] == [None, 77, None]
    assert loaded.predict_proba(X).tobytes() == forest.predict_proba(X).tobytes()


def test_a_forest_of_scikit_learn_is_described_and_its_paths_are_the_same(tmp_path, waveform):
    X, y = waveform
    forest = ensemble.RandomForestClassifier(7, random_state=0).fit(X, y)
    orfeon.save(forest, tmp_path / "forest.orfeon")
    found = orfeon.io.describe(tmp_path / "forest.orfeon")
    assert (found["n_trees"], found["n_members"], found["parts"]["AlikeTrees"]) == (7, 7, 1)
    assert found["n_nodes"] == sum(one.tree_.node_count for one in forest.estimators_)
    assert found["max_depth"] == max(one.get_depth() for one in forest.estimators_)
    loaded = orfeon.load(tmp_path / "forest.orfeon")
    assert (loaded.decision_path(X)[0] != forest.decision_path(X)[0]).nnz == 0
    assert [one.random_state for one in loaded.estimators_] == [
        one.random_state for one in forest.estimators_
    ]


# -- others, through skops -------------------------------------------------------------------------


def test_without_skops_the_estimator_and_the_extra_are_named(tmp_path, waveform, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    bag = orfeon.BaggingClassifier(KNeighborsClassifier(metric="chebyshev"), 2, random_state=0).fit(
        *waveform
    )
    with pytest.raises(
        ModelFileError, match=r'KNeighborsClassifier.*pip install "orfeon\[skops\]"'
    ):
        orfeon.save(bag, tmp_path / "bag.orfeon")
    assert list(tmp_path.iterdir()) == []


def test_with_skops_others_come_back(tmp_path, waveform):
    pytest.importorskip("skops")
    X, y = waveform
    bag = orfeon.BaggingClassifier(KNeighborsClassifier(metric="chebyshev"), 2, random_state=0).fit(
        X, y
    )
    orfeon.save(bag, tmp_path / "bag.orfeon")
    loaded = orfeon.load(tmp_path / "bag.orfeon")
    assert loaded.predict_proba(X).tobytes() == bag.predict_proba(X).tobytes()
    with pytest.raises(ModelFileError, match="saved by skops; pass foreign=True to load it"):
        orfeon.load(tmp_path / "bag.orfeon", foreign=False)


def test_what_skops_does_not_trust_is_not_saved(tmp_path, waveform):
    pytest.importorskip("skops")
    X, y = (part[:60] for part in waveform)
    model = ensemble.HistGradientBoostingClassifier(max_iter=1).fit(X, y)
    bag = orfeon.BaggingClassifier(model, 2, random_state=0).fit(X, y)
    with pytest.raises(ModelFileError, match="which skops would not load again"):
        orfeon.save(bag, tmp_path / "bag.orfeon")
