"""Exports add up what the model adds up, in its order: in any batch, with any number of threads."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.base import is_classifier
from tests.io.onnx.running import hard_rows, run, session_of
from tests.shared import cases

import orfeon
from orfeon import to_onnx
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.forest import Forest
from orfeon.io.onnx.tree_arrays import as_tree_arrays
from orfeon.rules.supports import Mean
from orfeon.rules.votes import Plurality, WeightedVote

X, Y = make_waveform(200, random_state=0)
NUMBERS, TARGET = make_friedman1(200, random_state=0)

MANY = {
    "regression": orfeon.RandomForestRegressor(150, random_state=0),
    "gradient": orfeon.GradientBoostingRegressor(n_estimators=150, early_stopping=False),
    "soft": orfeon.RandomForestClassifier(150, min_samples_leaf=5, combine="soft", random_state=0),
    "boosted": orfeon.AdaBoostClassifier(orfeon.CARTClassifier(max_depth=3), 150, random_state=0),
    "oblique": orfeon.ObliqueForestRegressor(30, random_state=0),
}


@cache
def fitted(name):
    model = MANY[name]
    return model.fit(X, Y) if is_classifier(model) else model.fit(NUMBERS, TARGET)


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_row_is_the_same_in_any_company(name, threads):
    # Runtimes add up the trees of few rows in parallel, and in another order.
    model = fitted(name)
    rows = hard_rows([model.forest_], X if hasattr(model, "classes_") else NUMBERS, 400)
    session = session_of(to_onnx(model), threads)
    expected = model.predict_proba(rows) if hasattr(model, "classes_") else model.predict(rows)
    for size in (1, 7, 50, 400):
        answers = session.run(None, {"X": rows[:size]})[-1]
        assert answers.tobytes() == expected[:size].tobytes()


def test_no_rows_give_no_answers():
    answers = run(to_onnx(fitted("soft")), np.empty((0, 21)))
    assert answers["label"].shape == (0,)
    assert answers["probabilities"].shape == (0, 3)


RULES = {
    "weighted": orfeon.BaggingClassifier(n_estimators=15, combine="weighted", random_state=0),
    "tied": orfeon.BaggingClassifier(
        n_estimators=4, combine=Plurality([0.1, 0.2, 0.3, 0.6]), random_state=0
    ),
    "boosted": orfeon.AdaBoostClassifier(n_estimators=15, combine="soft", random_state=0),
    "counted": orfeon.AdaBoostClassifier(n_estimators=15, combine="majority", random_state=0),
    "committees": orfeon.IGPCommitteesClassifier(4, 3, combine="soft", random_state=0),
    "mean": orfeon.BaggingRegressor(n_estimators=3, combine=Mean([0.5, 1.5, 0.1]), random_state=0),
    "inverse errors": orfeon.BaggingRegressor(n_estimators=15, combine="weighted", random_state=0),
    "mean of medians": orfeon.AdaBoostR2Regressor(n_estimators=15, combine="mean", random_state=0),
}


@pytest.mark.parametrize("name", RULES)
def test_rules_that_weigh_decide_alike(name):
    model = RULES[name]
    is_number = "Regressor" in type(model).__name__
    model.fit(*((NUMBERS, TARGET) if is_number else (X, Y)))
    rows = hard_rows([model.forest_], NUMBERS if is_number else X, 2000)
    answers = run(to_onnx(model), rows)
    if is_number:
        assert answers["prediction"].tobytes() == model.predict(rows).tobytes()
    else:
        assert np.array_equal(answers["label"], model.predict(rows))
        assert np.array_equal(answers["probabilities"], model.predict_proba(rows))


@pytest.mark.parametrize("weights", [[2.0, -1.0, 1.0, -2.0], [0.0] * 4, [-1.0, -0.1, -0.7, -0.2]])
def test_votes_may_count_against_a_class_or_not_at_all(weights):
    model = orfeon.BaggingClassifier(n_estimators=4, combine="weighted", random_state=0).fit(X, Y)
    model._learnt = model._learnt[0], WeightedVote(np.array(weights))
    answers = run(to_onnx(model), X)
    assert np.array_equal(answers["label"], model.predict(X))
    assert np.array_equal(answers["probabilities"], model.predict_proba(X))


def test_small_trees_of_all_shapes():
    for seed in range(cases(32)):
        rng = np.random.default_rng(seed)
        table = rng.integers(0, 4, (12, 2)).astype(float)
        table[rng.random(table.shape) < 0.2] = np.nan
        labels, numbers = rng.integers(0, 3, 12), rng.normal(size=12)
        categorical = [0] if seed % 2 else None
        rows = np.array([[a, b] for a in (0, 1, 2, 3, np.nan, 9) for b in (0, 1, 2, 3, np.nan)])
        tree = orfeon.CARTClassifier(categorical_features=categorical, max_depth=seed % 4 + 1)
        for combine in ("majority", "soft"):
            bag = orfeon.BaggingClassifier(tree, 5, combine=combine, random_state=seed)
            bag.fit(table, labels)
            answers = run(to_onnx(bag, outputs=["probabilities", "votes"]), rows)
            assert np.array_equal(answers["probabilities"], bag.predict_proba(rows))
            assert np.array_equal(answers["votes"], bag.votes(rows).T)
        growing = orfeon.CARTRegressor(categorical_features=categorical, max_depth=seed % 4 + 1)
        means = orfeon.BaggingRegressor(growing, 5, random_state=seed).fit(table, numbers)
        answers = run(to_onnx(means, outputs=["prediction", "predictions"]), rows)
        assert np.array_equal(answers["prediction"], means.predict(rows))
        assert np.array_equal(answers["predictions"], means.predictions(rows).T)


def test_a_root_with_a_leaf_of_the_same_number_is_no_leaf():
    # Two equal trees: a test whose first branch is a test and whose second is a leaf.
    tree = orfeon.CARTClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 2]).forest_
    assert (tree.n_children[1:3] > 0).tolist() in ([True, False], [False, True])
    both = Forest.concatenate([tree] * 4)
    arrays = as_tree_arrays(both)
    mixed = arrays.true_is_leaf[arrays.roots] != arrays.false_is_leaf[arrays.roots]
    assert mixed.all()
    assert (arrays.true[arrays.roots] != arrays.false[arrays.roots]).all()
    rows = np.array([[0.0], [1.0], [2.0]])
    assert run(to_onnx(both), rows)["probabilities"].tolist() == np.eye(3).tolist()


def test_categories_that_lead_to_other_classes_are_told_apart():
    # onnxruntime would merge tests of one feature whose leaves differ in their class alone.
    frame = np.array([["a"], ["b"], ["c"], ["d"]] * 5, dtype=object)
    tree = orfeon.C45Classifier(pruning=False)
    bag = orfeon.BaggingClassifier(tree, 3, random_state=0).fit(frame, [0, 1, 2, 3] * 5)
    assert bag.forest_.n_children[0] == 4
    session = session_of(to_onnx(bag, missing="never"))
    label, probabilities = session.run(None, {"x0": frame[:4]})
    assert label.tolist() == [0, 1, 2, 3]
    assert np.array_equal(probabilities, bag.predict_proba(frame[:4]))


def test_one_class_and_one_leaf():
    model = orfeon.BaggingClassifier(n_estimators=3, random_state=0).fit([[0.0], [1.0]], ["a", "a"])
    answers = run(to_onnx(model), [[5.0], [np.nan]])
    assert answers["label"].tolist() == ["a", "a"]
    assert answers["probabilities"].tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [False, True], [-3, 7], [2.0, 3.0], np.array([1, 200], np.uint8)],
    ids=["words", "truth", "whole", "double", "small"],
)
def test_labels_keep_their_kind(labels):
    y = np.asarray(labels)[[0, 1, 1, 0]]
    model = orfeon.CARTClassifier().fit([[0.0], [1.0], [2.0], [3.0]], y)
    answers = run(to_onnx(model), [[0.0], [1.0], [2.0], [3.0]])["label"]
    assert answers.tolist() == y.tolist()
    assert answers.dtype.kind == {"u": "i", "U": "O"}.get(y.dtype.kind, y.dtype.kind)


def test_a_bare_forest_gives_codes():
    forest = fitted("boosted").forest_
    answers = run(to_onnx(forest), X)
    assert np.array_equal(answers["label"], forest.predict(X))
    assert np.array_equal(answers["probabilities"], forest.count_votes(X) / len(forest))
    means = fitted("regression").forest_
    assert np.array_equal(run(to_onnx(means), NUMBERS)["prediction"], means.predict(NUMBERS))


def test_the_same_model_makes_the_same_bytes():
    model = fitted("soft")
    assert to_onnx(model).SerializeToString() == to_onnx(model).SerializeToString()
