"""What is refused, in words that help: models, parts of them, arguments, a missing package."""

from __future__ import annotations

import importlib.util
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.io.onnx.running import run

import orfeon
from orfeon import to_onnx
from orfeon.datasets import make_waveform
from orfeon.io.onnx import NoOnnxFormError

X, Y = make_waveform(100, random_state=0)
BAG = orfeon.BaggingClassifier(n_estimators=5, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "part", "instead"),
    [
        (orfeon.BaggingClassifier(GaussianNB(), 3), "BaggingClassifier of GaussianNB", "tree"),
        (orfeon.AdaBoostClassifier(GaussianNB(), 3), "AdaBoostClassifier of GaussianNB", "tree"),
        (
            orfeon.AdaBoostMHClassifier(GaussianNB(), 3),
            "AdaBoostMHClassifier of GaussianNB",
            "StumpClassifier",
        ),
        (BaggingClassifier(GaussianNB(), 3), "BaggingClassifier of GaussianNB", "skl2onnx"),
        (GradientBoostingClassifier(n_estimators=2), "GradientBoostingClassifier", "skl2onnx"),
        (
            GridSearchCV(orfeon.CARTClassifier(), {"max_depth": [1, 2]}, cv=2),
            "GridSearchCV",
            "best_estimator_",
        ),
        (LogisticRegression(tol=1.0), "LogisticRegression", "skl2onnx"),
        (
            orfeon.CostThresholdClassifier(orfeon.CARTClassifier()),
            "CostThresholdClassifier of 3 classes",
            "cost_matrix_",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_refusal_names_the_part_and_a_way_out(model, part, instead):
    with pytest.raises(NoOnnxFormError, match=f"^{part} has no ONNX form: .*{instead}") as caught:
        to_onnx(model.fit(X, Y))
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.part, str(copy)) == (part, str(caught.value))


@pytest.mark.parametrize(
    "rule", ["product", "max", "min", "median", "trimmed_mean", "naive_bayes", "model_averaging"]
)
def test_rules_that_need_more_than_sums_are_refused(rule):
    model = orfeon.BaggingClassifier(n_estimators=5, combine=rule, random_state=0).fit(X, Y)
    with pytest.raises(NoOnnxFormError, match=rf"combine='{rule}' of Bagging.*majority"):
        to_onnx(model)
    # The way out that the message names.
    answers = run(to_onnx(model.set_params(combine="majority")), X)
    assert np.array_equal(answers["label"], model.predict(X))


def test_steps_before_a_model_are_refused_and_its_last_step_is_not():
    pipeline = make_pipeline(StandardScaler(), orfeon.CARTClassifier()).fit(X, Y)
    match = r"step 'standardscaler', StandardScaler, has no ONNX form: .*pipeline\[-1\]"
    with pytest.raises(NoOnnxFormError, match=match):
        to_onnx(pipeline)
    answers = run(to_onnx(pipeline[-1]), pipeline[:-1].transform(X))
    assert np.array_equal(answers["label"], pipeline.predict(X))
    alone = make_pipeline("passthrough", orfeon.CARTClassifier()).fit(X, Y)
    assert np.array_equal(run(to_onnx(alone), X)["label"], alone.predict(X))


def test_a_pipeline_without_an_estimator_is_refused():
    with pytest.raises(NoOnnxFormError, match="a Pipeline without an estimator has no ONNX form"):
        to_onnx(Pipeline([("nothing", "passthrough")]))


def test_a_forest_with_categories_does_not_know_their_names():
    forest = orfeon.CARTClassifier().fit([["a"], ["b"]], [0, 1]).forest_
    with pytest.raises(NoOnnxFormError, match="a Forest with categories has no ONNX form"):
        to_onnx(forest)


def test_what_is_not_fitted_and_what_is_no_model():
    with pytest.raises(NotFittedError):
        to_onnx(orfeon.BaggingClassifier())
    with pytest.raises(NotFittedError):
        to_onnx(orfeon.PrunedClassifier())
    with pytest.raises(TypeError, match="model is the class CARTClassifier; to_onnx takes a fit"):
        to_onnx(orfeon.CARTClassifier)
    with pytest.raises(TypeError, match=r"model is 'model\.orfeon'; to_onnx takes a fitted"):
        to_onnx("model.orfeon")


@pytest.mark.parametrize(
    ("outputs", "match"),
    [
        ("label", "outputs='label' is not allowed; give a list"),
        ([], r"outputs=\[\] is not allowed"),
        (["labels"], "outputs has 'labels'.*label.*allowed are"),
        (["prediction"], "outputs has 'prediction'"),
        (["label", "label"], "names an output twice"),
    ],
)
def test_outputs_that_there_are_not(outputs, match):
    with pytest.raises(ValueError, match=match):
        to_onnx(BAG, outputs=outputs)


def test_missing_is_auto_or_never():
    with pytest.raises(ValueError, match='missing=None is not allowed; use "auto" or "never"'):
        to_onnx(BAG, missing=None)


def test_a_missing_package_is_named(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "onnx" else find(name)
    )
    with pytest.raises(ImportError, match=r'not installed: pip install "orfeon\[onnx\]"'):
        to_onnx(BAG)


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        to_onnx(BAG, tmp_path / "nowhere" / "bag.onnx")
    assert list(tmp_path.iterdir()) == []


def test_the_file_says_what_it_is():
    made = to_onnx(BAG)
    about = {entry.key: entry.value for entry in made.metadata_props}
    assert about["estimator"] == "BaggingClassifier"
    assert json.loads(about["classes"]) == [0, 1, 2]
    assert json.loads(about["features"])[:2] == ["x0", "x1"]
    assert (made.producer_name, made.producer_version) == ("orfeon", orfeon.__version__)
    assert {one.domain: one.version for one in made.opset_import} == {"": 21, "ai.onnx.ml": 5}


def test_a_known_category_that_goes_down_all_branches_is_refused():
    model = orfeon.CARTClassifier().fit([["a"], ["b"]] * 5, [0, 1] * 5)
    everywhere = np.full_like(model.forest_.branches, 65_535)
    model.forest_ = replace(model.forest_, branches=everywhere)
    for missing in ("auto", "never"):
        with pytest.raises(NoOnnxFormError, match="sends a known category down all branches has"):
            to_onnx(model, missing=missing)


def test_whole_numbers_that_a_file_cannot_hold_are_refused_as_classes():
    large = 2**63
    model = orfeon.CARTClassifier().fit([[0.0], [1.0]], np.array([large - 1, large], np.uint64))
    with pytest.raises(NoOnnxFormError, match=f"of the class {large} has no ONNX form"):
        to_onnx(model)
    held = orfeon.CARTClassifier().fit([[0.0], [1.0]], np.array([1, large - 1], np.uint64))
    assert run(to_onnx(held), [[0.2], [0.9]])["label"].tolist() == [1, large - 1]
