"""Calibrated ensembles give the same probabilities after export."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from tests.io.onnx.running import hard_rows, run

from orfeon import (
    AdaBoostClassifier,
    CalibratedEnsemble,
    CARTClassifier,
    ClassSwitchingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RealAdaBoostClassifier,
    prune,
    to_onnx,
)
from orfeon.calibration.binary import IsotonicCalibrator
from orfeon.calibration.methods import METHODS
from orfeon.calibration.one_against_rest import OneAgainstRest
from orfeon.datasets import make_waveform
from orfeon.io.onnx.calibrators import calibrated
from orfeon.io.onnx.graph import Graph

X, Y = make_waveform(150, random_state=0)
MODELS = [
    RandomForestClassifier(25, random_state=0),
    RandomForestClassifier(15, combine="soft", max_depth=4, random_state=0),
    ClassSwitchingClassifier(n_estimators=25, random_state=0),
    AdaBoostClassifier(CARTClassifier(max_depth=2), 6, random_state=0),
    RealAdaBoostClassifier(n_estimators=6, random_state=0),
    GradientBoostingClassifier(n_estimators=6, random_state=0),
]


@pytest.mark.parametrize("method", [method for method in METHODS if method != "auto"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_exported_probabilities_are_those_of_the_model(model, method, n_classes):
    y = np.minimum(Y, n_classes - 1)
    fitted = clone(model).set_params(calibrate=method).fit(X, y)
    rows = np.concatenate([X, hard_rows([fitted.forest_], X, 150)])
    answers, expected = run(to_onnx(fitted), rows), fitted.predict_proba(rows)
    np.testing.assert_allclose(answers["probabilities"], expected, rtol=1e-9, atol=1e-13)
    ordered = np.sort(expected, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > 1e-9
    np.testing.assert_array_equal(answers["label"][clear], fitted.predict(rows)[clear])
    if isinstance(model, RandomForestClassifier) and method in ("isotonic", "venn_abers"):
        assert answers["probabilities"].tobytes() == expected.tobytes()


OUTSIDE = [
    RandomForestClassifier(25, random_state=0),
    RandomForestClassifier(15, combine="soft", max_depth=4, random_state=0),
    ClassSwitchingClassifier(n_estimators=25, random_state=0),
    AdaBoostClassifier(CARTClassifier(max_depth=2), 6, random_state=0),
    sklearn.ensemble.RandomForestClassifier(15, random_state=0),
    sklearn.ensemble.BaggingClassifier(n_estimators=15, random_state=0),
    make_pipeline(sklearn.ensemble.ExtraTreesClassifier(15, bootstrap=True, random_state=0)),
]


@pytest.mark.parametrize("method", ["sigmoid", "beta", "venn_abers"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", OUTSIDE, ids=str)
def test_ensembles_that_were_calibrated_after_training(model, method, n_classes):
    y = np.minimum(Y, n_classes - 1)
    # As scikit-learn's trees read them.
    X32 = X.astype(np.float32).astype(np.float64)
    fitted = clone(model).fit(X32[:100], y[:100])
    found = CalibratedEnsemble(FrozenEstimator(fitted), calibrate=method, on="held_out")
    found.fit(X32[100:], y[100:])
    rows = np.random.default_rng(0).normal(2.0, 2.0, (200, 21)).astype(np.float32).astype(float)
    answers, expected = run(to_onnx(found), rows), found.predict_proba(rows)
    np.testing.assert_allclose(answers["probabilities"], expected, rtol=1e-9, atol=1e-13)
    ordered = np.sort(expected, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > 1e-9
    np.testing.assert_array_equal(answers["label"][clear], found.predict(rows)[clear])
    assert not np.array_equal(expected, fitted.predict_proba(rows))


def test_an_ensemble_that_is_pruned_or_calibrated_out_of_bag():
    forest = RandomForestClassifier(30, random_state=0).fit(X, Y)
    for found in (
        CalibratedEnsemble(forest).fit(X, Y),
        CalibratedEnsemble(prune(forest, X, Y, keep=0.4), on="held_out").fit(X, Y),
    ):
        answers = run(to_onnx(found), X)
        np.testing.assert_allclose(answers["probabilities"], found.predict_proba(X), rtol=1e-9)
    one = CalibratedEnsemble(RandomForestClassifier(3).fit(X, 0 * Y)).fit(X, 0 * Y)
    np.testing.assert_array_equal(run(to_onnx(one), X)["probabilities"], one.predict_proba(X))


def test_steps_are_those_of_numpy_on_and_beyond_all_corners():
    corners = np.array([0.1, 0.25, 0.4, 0.9])
    levels = np.array([0.2, 0.2, 0.5, 1.0])
    calibrator = OneAgainstRest((IsotonicCalibrator(corners, levels),))
    shares = np.concatenate([corners, np.nextafter(corners, 1), np.linspace(0, 1, 101)])
    graph = Graph()
    given = graph.add_input("X", np.float64, ["rows", 2])
    graph.add_output("p", calibrated(graph, calibrator, given), np.float64, [2])
    rows = np.column_stack([1.0 - shares, shares])
    found = run(graph.model("calibrator"), rows)["p"]
    np.testing.assert_array_equal(found, calibrator.probabilities(rows))


def test_one_point_is_a_constant():
    calibrator = OneAgainstRest((IsotonicCalibrator(np.array([0.4]), np.array([0.3])),))
    graph = Graph()
    given = graph.add_input("X", np.float64, ["rows", 2])
    graph.add_output("p", calibrated(graph, calibrator, given), np.float64, [2])
    rows = np.array([[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]])
    np.testing.assert_array_equal(
        run(graph.model("calibrator"), rows)["p"], calibrator.probabilities(rows)
    )
