"""Every public estimator is exported and decides alike to the last bit, or is refused by name."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.naive_bayes import GaussianNB
from tests.io.onnx.running import hard_rows, run
from tests.shared import public_estimators

from orfeon import CARTClassifier, EnsembleSelectionClassifier, to_onnx
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.forest import Forest
from orfeon.io.onnx import NoOnnxFormError

ESTIMATORS = public_estimators()
#: Not made of trees, or of models of any kind.
REFUSED = {
    "ArbiterClassifier", "BaggedBoostingClassifier", "BaggedBoostingRegressor",
    "C45RulesClassifier", "CascadeClassifier", "CascadeRegressor",
    "ConformalClassifier", "ConformalRegressor", "CostCascadeClassifier",
    "DynamicSelectionClassifier",
    "HierarchicalExpertsClassifier", "HierarchicalExpertsRegressor", "MixtureOfExpertsClassifier",
    "MixtureOfExpertsRegressor", "OutputCodeClassifier", "PPBoostClassifier", "PPTSSClassifier",
    "ParallelPerceptronClassifier", "ParallelPerceptronRegressor", "StackingClassifier",
    "StackingRegressor",
}  # fmt: skip
#: Their trees are C4.5's unless others are given: a missing value goes down all branches.
PARTING = {"C45Classifier", "CombinedMultipleModels", "MultiBoostClassifier"}
#: Probabilities that are made of sums by the logistic function, the softmax or the tangent, or by
#: the inverse of a matrix.
BY_FUNCTIONS = {
    "AdaBoostPairwiseClassifier", "CalibratedEnsemble", "ClassSwitchingClassifier",
    "EnsembleSelectionClassifier", "FlippingClassifier", "GradientBoostingClassifier",
    "RealAdaBoostClassifier",
}  # fmt: skip
#: Members of which each has no vote of its own.
WITHOUT_VOTES = {"AdaBoostMHClassifier", "AdaBoostPairwiseClassifier", "GradientBoostingClassifier"}
BINARY = {"CostThresholdClassifier", "PPBoostClassifier", "PPTSSClassifier"}


@cache
def fitted(name: str):
    kind = ESTIMATORS[name]
    names = kind().get_params()
    sizes = {"n_estimators": 12, "max_iter": 3, "n_generated": 100}
    given = {key: value for key, value in sizes.items() if key in names}
    model = kind(**given, **({"random_state": 0} if "random_state" in names else {}))
    X, y = (make_waveform if is_classifier(model) else make_friedman1)(120, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what so few members learn is not asked here
        return model.fit(X, (y > 0).astype(int) if name in BINARY else y), X


def forests_of(model) -> list[Forest]:
    if hasattr(model, "forest_"):
        return [model.forest_]
    if hasattr(model, "estimators_"):
        return [forest for one in model.estimators_ for forest in forests_of(one)]
    return forests_of(model.estimator_)


def test_a_selection_of_models_that_read_rows_differently_is_refused():
    X, y = make_waveform(90, random_state=0)
    models = [("tree", CARTClassifier()), ("bayes", GaussianNB())]
    model = EnsembleSelectionClassifier(models, weights=[0.5, 0.5]).fit(X, y)
    with pytest.raises(NoOnnxFormError, match=r"GaussianNB.*does not read the rows as the others"):
        to_onnx(model)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_not_made_of_trees_is_refused_by_name(name):
    model, _ = fitted(name)
    with pytest.raises(NoOnnxFormError, match=rf"^{name} has no ONNX form: .*orfeon\.save"):
        to_onnx(model)


@pytest.mark.parametrize("name", sorted(PARTING))
def test_trees_that_part_missing_values_are_refused_unless_there_are_none(name):
    with pytest.raises(NoOnnxFormError, match=r'down all branches, as C4\.5 does.*missing="never"'):
        to_onnx(fitted(name)[0])


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - REFUSED))
def test_all_others_decide_alike(name):
    model, X = fitted(name)
    rows = hard_rows(forests_of(model), X, 1500)
    answers = run(to_onnx(model, missing="never" if name in PARTING else "auto"), rows)
    if not is_classifier(model):
        assert list(answers) == ["prediction"]
        assert answers["prediction"].tobytes() == model.predict(rows).tobytes()
        return
    assert list(answers) == ["label", "probabilities"]
    assert np.array_equal(answers["label"], model.predict(rows))
    if hasattr(model, "predict_proba"):
        gap = np.abs(answers["probabilities"] - model.predict_proba(rows)).max()
        assert gap <= (1e-15 if name in BY_FUNCTIONS else 0.0)


def members_of(name: str) -> str:
    return "votes" if is_classifier(ESTIMATORS[name]()) else "predictions"


@pytest.mark.parametrize(
    "name",
    [n for n, kind in ESTIMATORS.items() if hasattr(kind, members_of(n)) and n not in REFUSED],
)
def test_members_say_the_same_one_by_one(name):
    model, X = fitted(name)
    output, missing = members_of(name), "never" if name in PARTING else "auto"
    if name in WITHOUT_VOTES:
        with pytest.raises(ValueError, match=f"single members of {name} have none"):
            to_onnx(model, outputs=["votes"])
        return
    rows = hard_rows(forests_of(model), X, 500)
    answers = run(to_onnx(model, outputs=[output], missing=missing), rows)[output]
    expected = getattr(model, output)(rows).T
    if name == "AdaBoostRRegressor":  # it hears predictions within the range of the targets
        expected = np.clip(expected, *model.target_range_)
    assert answers.shape == expected.shape
    assert np.array_equal(answers, expected)
