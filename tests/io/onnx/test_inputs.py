"""What exports take: numbers, words, missing values, categories that training did not see."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.io.onnx.running import run, session_of

import orfeon
from orfeon import to_onnx
from orfeon.io.onnx import NoOnnxFormError, as_inputs

WORDS = ["red", "blue", "green", "", "émeraude", "very dark blue"]


def make_table(n_rows: int, seed: int, *, n_codes: int = 12, missing: float = 0.15) -> pd.DataFrame:
    """Numbers, words, numbers that are categories, and truth values, some of them missing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "colour": rng.choice(WORDS[:3], n_rows),
            "code": rng.integers(0, n_codes, n_rows) * 10.0,
            "is new": rng.choice([0.0, 1.0], n_rows),
        }
    )
    for name in frame:
        frame.loc[rng.random(n_rows) < missing, name] = None
    return frame


def make_target(frame: pd.DataFrame) -> np.ndarray:
    rng = np.random.default_rng(7)
    good = (frame["colour"] == "red") ^ (frame["code"].isin([10, 30, 70, 110]))
    score = frame["size"].fillna(2.0) + 2.0 * good + rng.normal(0, 0.5, len(frame))
    return np.digitize(score, [0.0, 1.5])


CATEGORICAL = ["colour", "code", "is new"]
MODELS = {
    "cart": orfeon.CARTClassifier(categorical_features=CATEGORICAL),
    "bagging": orfeon.BaggingClassifier(
        orfeon.CARTClassifier(categorical_features=CATEGORICAL), 20, random_state=0
    ),
    "extra trees": orfeon.ExtraTreesClassifier(
        20, categorical_features=CATEGORICAL, random_state=0
    ),
    "oblique": orfeon.ObliqueForestClassifier(10, categorical_features=CATEGORICAL, random_state=0),
    "adaboost": orfeon.AdaBoostClassifier(
        orfeon.CARTClassifier(categorical_features=CATEGORICAL, max_depth=3), 20, random_state=0
    ),
    "pool": orfeon.PoolBoostClassifier(n_estimators=20, random_state=0),
    "gradient": orfeon.GradientBoostingClassifier(
        n_estimators=10, categorical_features=CATEGORICAL, random_state=0
    ),
    "histogram": orfeon.GradientBoostingClassifier(
        n_estimators=10, categorical_features=CATEGORICAL, tree_method="histogram", random_state=0
    ),
    "newton": orfeon.GradientBoostingClassifier(
        n_estimators=10, categorical_features=CATEGORICAL, order=2, random_state=0
    ),
    "vectors": orfeon.GradientBoostingClassifier(
        n_estimators=10,
        categorical_features=CATEGORICAL,
        multi_strategy="multi_output_tree",
        random_state=0,
    ),
}


@pytest.mark.filterwarnings("ignore:.* requested, because:UserWarning")
@pytest.mark.parametrize("name", MODELS)
def test_words_and_missing_values_go_where_the_model_sends_them(name):
    train, test = make_table(300, 0), make_table(2000, 1)
    model = MODELS[name].fit(train, make_target(train))
    test.loc[test.index % 17 == 0, "colour"] = "violet"  # never seen: counts as missing
    if name != "pool":
        test.loc[test.index % 19 == 0, "code"] = 55.0
    answers = run(to_onnx(model), test)
    assert np.array_equal(answers["label"], model.predict(test))
    gap = np.abs(answers["probabilities"] - model.predict_proba(test)).max()
    assert gap <= (1e-15 if name in ("gradient", "histogram", "newton", "vectors") else 0.0)


@pytest.mark.parametrize("grouping", [False, True])
@pytest.mark.parametrize("n_codes", [3, 12, 150])
def test_tests_of_many_branches_become_chains(grouping, n_codes):
    train = make_table(400, 0, n_codes=n_codes, missing=0.0)
    tree = orfeon.C45Classifier(grouping=grouping, categorical_features=CATEGORICAL)
    model = orfeon.BaggingClassifier(tree, 10, random_state=0).fit(train, make_target(train))
    assert n_codes < 12 or grouping or model.forest_.n_children.max() == len(set(train["code"]))
    test = make_table(2000, 1, n_codes=n_codes, missing=0.0)
    test = test[test["code"].isin(train["code"])]
    answers = run(to_onnx(model, outputs=["votes"], missing="never"), test)
    assert np.array_equal(answers["votes"], model.votes(test).T)


@pytest.mark.parametrize("n_codes", [2, 31, 32, 33, 63, 64, 65, 500])
def test_sets_of_any_size(n_codes):
    rng = np.random.default_rng(n_codes)
    X = np.column_stack([rng.integers(0, n_codes, 3000), rng.normal(size=3000)]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    odd = np.isin(X[:, 0], rng.choice(n_codes, n_codes // 2, replace=False))
    tree = orfeon.CARTClassifier(categorical_features=[0], random_state=0)
    model = tree.fit(X[:1500], odd[:1500] ^ (X[:1500, 1] > 1))
    exported = to_onnx(model)
    assert [given.name for given in session_of(exported).get_inputs()] == ["X"]
    answers = run(exported, X)
    assert answers["label"].dtype == bool
    assert np.array_equal(answers["label"], model.predict(X))
    assert np.array_equal(answers["probabilities"], model.predict_proba(X))


def test_deep_trees_of_many_categories_stay_small():
    # A runtime that takes sets apart copies what follows a test once for each category in it.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, (1500, 3)).astype(float)
    tree = orfeon.CARTClassifier(categorical_features=[0, 1, 2], random_state=0)
    model = tree.fit(X, rng.integers(0, 3, 1500))
    assert model.get_depth() > 8
    exported = to_onnx(model)
    assert len(exported.SerializeToString()) < 100 * model.forest_.n_nodes.sum() + 1_000_000
    rows = rng.integers(0, 40, (3000, 3)).astype(float)
    rows[rng.random(rows.shape) < 0.05] = np.nan
    assert np.array_equal(run(exported, rows)["label"], model.predict(rows))


@pytest.mark.parametrize("name", ["cart", "bagging"])
def test_rows_become_inputs(name):
    train, test = make_table(200, 0), make_table(500, 1)
    model = MODELS[name].fit(train, make_target(train))
    test.loc[test.index % 7 == 0, "colour"] = "violet"
    answers = session_of(to_onnx(model)).run(["label"], as_inputs(model, test))[0]
    assert np.array_equal(answers, model.predict(test))


def test_rows_become_inputs_where_the_empty_word_is_a_category():
    frame = pd.DataFrame({"word": ["", "a", None] * 20, "x": np.arange(60.0)})
    model = orfeon.CARTClassifier().fit(frame, [0, 1, 2] * 20)
    given = as_inputs(model, frame)
    assert given["word"].ravel().tolist()[:3] == ["", "a", "?"]
    assert session_of(to_onnx(model)).run(["label"], given)[0].tolist() == [0, 1, 2] * 20


def test_rows_of_numbers_become_one_matrix():
    X, y = [[1, 2], [3, 4], [5, 6]], [0, 1, 1]
    for model in (orfeon.CARTClassifier(), DecisionTreeClassifier()):
        given = as_inputs(model.fit(X, y), X)
        assert list(given) == ["X"]
        assert given["X"].dtype == np.float64
        assert given["X"].tolist() == X
    categorical = orfeon.CARTClassifier(categorical_features=[0]).fit(X, y)
    unseen = as_inputs(categorical, [[1, 2], [7, 4]])["X"]
    assert np.array_equal(unseen, [[1.0, 2.0], [np.nan, 4.0]], equal_nan=True)


def test_inputs_are_named_and_typed():
    train = make_table(200, 0)
    model = MODELS["cart"].fit(train, make_target(train))
    given = session_of(to_onnx(model)).get_inputs()
    assert [(one.name, one.type) for one in given] == [
        ("size", "tensor(double)"), ("colour", "tensor(string)"), ("code", "tensor(double)"),
        ("is new", "tensor(double)"),
    ]  # fmt: skip
    assert all(one.shape == ["rows", 1] for one in given)


def test_words_that_are_odd_come_through():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"colour": rng.choice(WORDS, 300), "x": rng.normal(size=300)})
    y = frame["colour"].map({word: i % 3 for i, word in enumerate(WORDS)})
    model = orfeon.CARTClassifier().fit(frame, y)
    assert np.array_equal(run(to_onnx(model), frame)["label"], y)


def test_an_feature_may_have_the_name_of_an_output():
    frame = pd.DataFrame({"label": ["a", "b"] * 20, "probabilities": np.arange(40.0)})
    model = orfeon.CARTClassifier().fit(frame, [0, 1] * 20)
    answers = run(to_onnx(model), frame)
    assert list(answers) == ["_label", "_probabilities"]
    assert answers["_label"].tolist() == [0, 1] * 20


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (["a", 1.0] * 10, "both strings and numbers"),
        ([True, 2.0] * 10, "both booleans and numbers"),
    ],
)
def test_categories_of_two_kinds_are_refused(column, why):
    X = np.array([column, np.arange(20.0)], dtype=object).T
    model = orfeon.CARTClassifier(categorical_features=[0]).fit(X, [0, 1] * 10)
    with pytest.raises(NoOnnxFormError, match=rf"'x0' has no ONNX form: .*{why}.*strings"):
        to_onnx(model)


@pytest.mark.parametrize("column", [[2**53, 2**53 + 1], [2**53 + 1, 3]])
def test_categories_that_are_no_doubles_are_refused(column):
    """As doubles 2^53 and 2^53 + 1 are one category."""
    X = np.array([column * 10, np.arange(20.0)], dtype=object).T
    model = orfeon.CARTClassifier(categorical_features=[0]).fit(X, [0, 1] * 10)
    with pytest.raises(NoOnnxFormError, match=r"'x0' has no ONNX form: .*too large for doubles"):
        to_onnx(model)


def test_categories_that_are_doubles_are_told_apart():
    X = np.array([[2**53, 2**53 + 2] * 10, np.arange(20.0)], dtype=object).T
    model = orfeon.CARTClassifier(categorical_features=[0]).fit(X, [0, 1] * 10)
    assert run(to_onnx(model), X.astype(np.float64))["label"].tolist() == [0, 1] * 10


@pytest.mark.parametrize("name", ["", "/size"])
def test_names_that_no_input_may_have_are_refused(name):
    frame = pd.DataFrame({name: np.arange(10.0), "kind": ["a", "b"] * 5})
    model = orfeon.CARTClassifier().fit(frame, [0, 1] * 5)
    with pytest.raises(NoOnnxFormError, match="must not be empty or begin with a slash"):
        to_onnx(model)


def test_truth_values_are_0_and_1():
    frame = pd.DataFrame({"flag": [True, False] * 20, "word": ["a"] * 40})
    model = orfeon.CARTClassifier().fit(frame, [1, 0] * 20)
    assert run(to_onnx(model), frame)["label"].tolist() == [1, 0] * 20


def test_an_feature_that_training_never_saw_is_missing():
    X = np.array([[None, 1.0], [None, 2.0]] * 10, dtype=object)
    model = orfeon.CARTClassifier(categorical_features=[0]).fit(X, [0, 1] * 10)
    rows = np.array([[5.0, 1.0], [np.nan, 2.0]])
    assert run(to_onnx(model), rows)["label"].tolist() == [0, 1]
