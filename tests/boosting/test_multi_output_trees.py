"""Gradient boosting with one tree a round for all classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import clone
from tests.boosting.first_order import FIRST_ORDER
from tests.oracles.newton import Rules, VectorOracle

from orfeon import (
    BaggedBoostingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    load,
    save,
)
from orfeon.boosting.gradient import AdditiveModel
from orfeon.boosting.gradient_trees import LEAST_CLASSES
from orfeon.datasets import make_waveform
from orfeon.inspection import shap_values
from orfeon.io import ModelFileError

#: Nothing is drawn and nothing is limited but the depth.
PLAIN = {
    **FIRST_ORDER, "order": 2, "n_estimators": 4, "min_hessian": 0.001, "tree_shape": "auto",
    "multi_strategy": "multi_output_tree", "random_state": 0,
}  # fmt: skip


def classifier(**settings):
    return GradientBoostingClassifier(**{**PLAIN, **settings})


def several_classes(n=80, n_classes=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.argmax(X @ rng.normal(size=(4, n_classes)) + rng.gumbel(size=(n, n_classes)), axis=1)
    return X, y


def with_categories(n=90, seed=0):
    X, y = several_classes(n, 4, seed)
    rng = np.random.default_rng(seed)
    X[rng.random(n) < 0.2, 0] = np.nan  # of many values
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(n) < 0.2, 1] = np.nan  # of few
    X[:, 2] = (y + rng.integers(0, 3, n)) % 7
    X[:, 3] = rng.integers(0, 3, n)
    X[rng.random(n) < 0.2, 2] = np.nan
    return X, y


def steps_of(model, X, y, w, rules):
    """Scores after each round, by brute force."""
    n_classes = len(model.classes_)
    rules.l2 /= np.sqrt(n_classes)
    scores = np.tile(model.init_, (len(y), 1))
    for _ in range(model.n_estimators_):
        p = softmax(scores, axis=1)
        gradients = (np.arange(n_classes) == y[:, None]) - p
        hessians = p * (1 - p) * n_classes / (n_classes - 1)
        tree = VectorOracle(X, gradients.T, hessians.T, w, rules)
        scores = scores + model.learning_rate * tree.values()
        yield scores, tree


@pytest.mark.parametrize(
    ("settings", "limits"),
    [
        ({"l2": 0.7, "min_hessian": 0.5}, {"l2": 0.7, "min_hessian": 0.5}),
        ({"l2": 0.0, "l1": 0.2, "max_depth": 2}, {"l1": 0.2, "max_depth": 2}),
        ({"l2": 0.1, "min_samples_leaf": 9}, {"l2": 0.1, "min_leaf": 9}),
        (
            {"interaction_cst": [[0, 1], [2, 3]]},
            {"groups": [(0, 1), (2, 3)]},
        ),
    ],
)
@pytest.mark.parametrize("n_classes", [3, 5, 8])
def test_rounds_are_those_of_brute_force(settings, limits, n_classes):
    X, y = several_classes(80, n_classes)
    w = np.random.default_rng(1).uniform(0.6, 1.4, len(y))  # no two tests are equally good
    if "min_leaf" in limits:
        w = np.ones(len(y))
    model = classifier(**settings).fit(X, y, sample_weight=w)
    rules = Rules(**{"min_hessian": 0.001, "max_depth": 3, **limits})
    rules.l2 = model.l2
    found = model.staged_decision_function(X)
    starts = model.forest_.tree_start
    for t, (shown, (scores, tree)) in enumerate(
        zip(found, steps_of(model, X, y, w, rules), strict=True)
    ):
        np.testing.assert_allclose(shown, scores, rtol=1e-8, atol=1e-10)
        nodes = np.arange(starts[t], starts[t + 1])
        gains = model._gains[nodes[~model.forest_.is_leaf[nodes]]]
        np.testing.assert_allclose(sorted(gains), tree.gains, rtol=1e-7)


def test_missing_values_and_categories_are_those_of_brute_force():
    X, y = with_categories()
    w = np.random.default_rng(1).uniform(0.6, 1.4, len(y))
    model = classifier(categorical_features=[2, 3], cat_smooth=2.0, max_cat_to_onehot=4)
    rules = Rules(
        l2=model.l2, min_hessian=0.001, max_depth=3, cat_smooth=2.0, max_onehot=4,
        categorical=(2, 3),
    )  # fmt: skip
    found = model.fit(X, y, sample_weight=w).staged_decision_function(X)
    for shown, (scores, _) in zip(found, steps_of(model, X, y, w, rules), strict=True):
        np.testing.assert_allclose(shown, scores, rtol=1e-8, atol=1e-10)


def test_a_round_has_one_tree_with_a_value_for_each_class():
    X, y = several_classes()
    model = classifier().fit(X, y)
    assert len(model.forest_) == 4
    assert model.forest_.value.shape[1] == 5
    assert model.n_outputs_ == 1
    single = clone(model).set_params(multi_strategy="one_output_per_tree").fit(X, y)
    assert len(single.forest_) == 4 * 5
    trees = sum(tree.predict(X) for tree in model.estimators_)
    np.testing.assert_allclose(model.init_ + trees, model.decision_function(X))


def test_auto_takes_them_from_some_number_of_classes_on():
    for n_classes, is_joint in [(LEAST_CLASSES - 1, False), (LEAST_CLASSES, True)]:
        X = np.arange(12.0 * n_classes)[:, None]
        y = np.repeat(np.arange(n_classes), 12)
        model = classifier(multi_strategy="auto", n_estimators=1)
        assert (len(model.fit(X, y).forest_) == 1) == is_joint
        free = clone(model).set_params(tree_shape="free").fit(X, y)
        assert len(free.forest_) == n_classes


@pytest.mark.parametrize(
    "settings",
    [
        {"order": 1}, {"max_depth": None}, {"max_leaf_nodes": 6}, {"tree_method": "histogram"},
        {"tree_shape": "free"},
    ],
)  # fmt: skip
def test_what_symmetric_trees_cannot_do_is_refused(settings):
    X, y = several_classes()
    with pytest.raises(ValueError, match="grows symmetric trees, which need"):
        classifier(**settings).fit(X, y)


def test_two_classes_have_one_score_in_any_case():
    X, y = several_classes()
    joint, single = (
        classifier(multi_strategy=strategy).fit(X, y > 1)
        for strategy in ("multi_output_tree", "one_output_per_tree")
    )
    np.testing.assert_array_equal(joint.predict_proba(X), single.predict_proba(X))


def test_a_warm_start_goes_on_with_trees_of_the_same_kind():
    X, y = several_classes()
    model = classifier(warm_start=True, n_estimators=2).fit(X, y)
    model.set_params(n_estimators=4, multi_strategy="one_output_per_tree")
    with pytest.raises(ValueError, match="trees for one class or for all"):
        model.fit(X, y)


def test_large_parts_and_rounds_that_are_several_calls_give_the_same(monkeypatch):
    X, y = several_classes(300)
    short = classifier(subsample=0.8).fit(X, y)
    monkeypatch.setattr("orfeon.boosting.gradient.PART", 10)
    long = classifier(subsample=0.8).fit(X, y)
    np.testing.assert_allclose(short.decision_function(X), long.decision_function(X), rtol=1e-12)


@pytest.mark.parametrize("early_stopping", ["auto", "validation", "cv"])
def test_early_stopping_and_snapshots(early_stopping):
    X, y = make_waveform(300, random_state=0)
    seen = []
    model = GradientBoostingClassifier(
        multi_strategy="multi_output_tree", early_stopping=early_stopping, n_estimators=60,
        learning_rate=0.4, random_state=0,
    )  # fmt: skip
    model.fit(X, y, callback=lambda so_far: seen.append(so_far.model()))
    assert 1 < model.n_estimators_ < 60
    assert model.n_estimators_ == len(model.forest_)
    np.testing.assert_array_equal(seen[2].predict_proba(X), model.with_rounds(3).predict_proba(X))


def test_shapley_values_add_up_to_the_scores():
    X, y = with_categories()
    model = classifier(categorical_features=[2, 3]).fit(X, y)
    for more in ({}, {"background": X[:7]}):
        found = shap_values(model, X[:9], **more)
        total = found.values.sum(axis=1) + found.base_values
        np.testing.assert_allclose(total, model.decision_function(X[:9]), atol=1e-10)


def test_importances_are_shares_of_the_gains():
    X, y = several_classes(200)
    X[:, 3] = 0.0
    importances = classifier().fit(X, y).feature_importances_
    assert importances[3] == 0.0
    assert importances.sum() == pytest.approx(1.0)


def test_bagged_and_saved(tmp_path):
    X, y = several_classes(200)
    boosting = classifier(early_stopping="validation")
    bag = BaggedBoostingClassifier(boosting, n_estimators=3, random_state=0).fit(X, y)
    save(bag, tmp_path / "bag.orfeon")
    np.testing.assert_array_equal(
        load(tmp_path / "bag.orfeon").predict_proba(X), bag.predict_proba(X)
    )


@pytest.mark.parametrize("n_scores", [1, 4, 6])
def test_leaves_that_do_not_fit_the_scores_are_no_model(n_scores, tmp_path):
    X, y = several_classes()
    model = classifier().fit(X, y)
    model._model = AdditiveModel(np.zeros(n_scores), model._model.forest)
    with pytest.raises(ModelFileError, match="a value for each score"):
        save(model, tmp_path / "model.orfeon")


def test_frames_with_strings_and_rows_one_by_one(tmp_path):
    X, y = several_classes(150)
    frame = pd.DataFrame({"a": X[:, 0], "b": np.array(list("klmnop"))[y % 3 + (X[:, 1] > 0)]})
    model = classifier(n_estimators=30).fit(frame, y)
    whole = model.decision_function(frame)
    single = np.concatenate([model.decision_function(frame[i : i + 1]) for i in range(20)])
    np.testing.assert_array_equal(whole[:20], single)
    assert model.score(frame, y) > 0.6
    save(model, tmp_path / "model.orfeon")
    loaded = load(tmp_path / "model.orfeon")
    np.testing.assert_array_equal(loaded.decision_function(frame), whole)


def test_regression_has_no_such_parameter():
    assert "multi_strategy" not in GradientBoostingRegressor().get_params()
