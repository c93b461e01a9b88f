"""scikit-learn's trees, forests, bags and AdaBoost, whole and pruned, decide alike in ONNX."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor
from tests.io.onnx.running import hard_rows, run

import orfeon
from orfeon import PrunedClassifier, prune, to_onnx
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.io.onnx import NoOnnxFormError
from orfeon.io.onnx.scikit_learn import scikit_learn_forest
from orfeon.ordering.boosting_based import BoostingBased

X, Y = make_waveform(200, random_state=0)
NUMBERS, TARGET = make_friedman1(200, random_state=0)

MODELS = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(30, random_state=0),
    "forest of impure leaves": RandomForestClassifier(100, min_samples_leaf=7, random_state=0),
    "extra trees": ExtraTreesClassifier(30, max_depth=5, random_state=0),
    "bag": BaggingClassifier(n_estimators=20, max_features=0.5, random_state=0),
    "boosted": AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=30),
    "regression tree": DecisionTreeRegressor(random_state=0),
    "extra regression tree": ExtraTreeRegressor(random_state=0),
    "regression forest": RandomForestRegressor(100, random_state=0),
    "extra regression trees": ExtraTreesRegressor(20, random_state=0),
    "regression bag": BaggingRegressor(n_estimators=20, max_features=3, random_state=0),
}
NAMES = np.array(["west", "east", "north"])


def rows_near(model, table) -> np.ndarray:
    """Rows at the thresholds: also where single precision puts a number on the other side."""
    return hard_rows([scikit_learn_forest(model)], table, 2000)


@pytest.mark.parametrize("name", MODELS)
def test_decisions_are_alike(name):
    model = MODELS[name]
    if not is_classifier(model):
        model.fit(NUMBERS, TARGET)
        rows = rows_near(model, NUMBERS)
        assert run(to_onnx(model), rows)["prediction"].tobytes() == model.predict(rows).tobytes()
        return
    model.fit(X, NAMES[Y])
    rows = rows_near(model, X)
    answers = run(to_onnx(model), rows)
    assert np.array_equal(answers["label"], model.predict(rows))
    gap = np.abs(answers["probabilities"] - model.predict_proba(rows)).max()
    assert gap <= (2e-15 if name == "boosted" else 0.0)


def test_two_classes_of_adaboost():
    model = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, Y > 0)
    rows = rows_near(model, X)
    answers = run(to_onnx(model), rows)
    assert np.array_equal(answers["label"], model.predict(rows))
    assert np.abs(answers["probabilities"] - model.predict_proba(rows)).max() < 2e-15


def test_numbers_are_compared_in_single_precision():
    table = np.array([[0.0], [1.0]]) + 1e-9 * np.arange(40)[:, None, None]
    rows = table.reshape(-1, 1)
    model = RandomForestClassifier(10, random_state=0).fit(rows, np.arange(80) % 2)
    cut = scikit_learn_forest(model).threshold[0]
    near = cut + np.linspace(-1e-7, 1e-7, 2001)[:, None]
    differs = (near.astype(np.float32) <= cut) != (near <= cut)
    assert differs.sum() > 100
    assert np.array_equal(run(to_onnx(model), near)["label"], model.predict(near))


def test_missing_values_go_where_the_trees_send_them():
    rng = np.random.default_rng(0)
    table = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    for model in (
        RandomForestClassifier(20, random_state=0), ExtraTreesClassifier(20, random_state=0),
    ):  # fmt: skip
        model.fit(table, Y)
        rows = hard_rows([scikit_learn_forest(model)], X, 2000, missing=0.2)
        answers = run(to_onnx(model), rows)
        assert np.array_equal(answers["label"], model.predict(rows))
        assert np.array_equal(answers["probabilities"], model.predict_proba(rows))


def test_a_pruned_forest_is_exported_in_three_lines(tmp_path):
    forest = RandomForestClassifier(100, random_state=0).fit(X, Y)
    small = prune(forest, X, Y, keep=0.2)
    exported = to_onnx(small, tmp_path / "small.onnx", outputs=["label", "votes"])
    assert (tmp_path / "small.onnx").read_bytes() == exported.SerializeToString()
    test, _ = make_waveform(2000, random_state=1)
    answers = run(exported, test)
    assert answers["votes"].shape == (2000, 20)
    assert np.array_equal(answers["label"], small.predict(test))
    codes = [tree.predict(test) for tree in small.estimators_]
    assert np.array_equal(answers["votes"], np.stack(codes, axis=1).astype(int))


@pytest.mark.parametrize(
    "base",
    [
        RandomForestClassifier(30, max_depth=3),
        BaggingClassifier(DecisionTreeClassifier(max_depth=3), 30),
        orfeon.BaggingClassifier(orfeon.CARTClassifier(max_depth=3), 30),
    ],
)
def test_weights_of_the_rule_count_in_the_pruned_vote(base):
    rule = BoostingBased(weighted_vote=True)
    pruned = PrunedClassifier(base, rule=rule, keep=10, random_state=0).fit(X, Y)
    weights = pruned.order_.member_weights[:10]
    assert pruned.order_.has_own_weights
    assert len(np.unique(weights)) > 1
    test, _ = make_waveform(2000, random_state=1)
    answers = run(to_onnx(pruned), test)
    assert np.array_equal(answers["label"], pruned.predict(test))
    assert np.array_equal(answers["probabilities"], pruned.predict_proba(test))


def test_several_outputs_are_refused():
    model = RandomForestRegressor(2).fit(X, np.stack([Y, Y], axis=1))
    with pytest.raises(NoOnnxFormError, match="RandomForestRegressor of 2 outputs"):
        to_onnx(model)
