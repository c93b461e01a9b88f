"""Errors against complexity: what is measured, at which samples, and what is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from orfeon import CARTClassifier, CARTRegressor
from orfeon.datasets import Friedman1, TwoNorm
from orfeon.inspection import ComplexityDisplay, complexity_curve, resample_predictions
from orfeon.inspection.retraining import Seeds, read_training_samples

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402

FEW = {"n_train": 80, "n_test": 60, "n_repetitions": 6, "random_state": 3}


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def of_trees():
    return complexity_curve(
        CARTRegressor(), Friedman1(), parameter="max_leaf_nodes", values=(2, 8, 60), **FEW
    )


@pytest.mark.parametrize(("tree", "problem"), [
    (CARTClassifier(random_state=0), TwoNorm()), (CARTRegressor(random_state=0), Friedman1()),
])  # fmt: skip
def test_errors_are_those_of_a_loop_over_trainings(tree, problem):
    depths = (1, 4)
    found = complexity_curve(tree, problem, parameter="max_depth", values=depths, **FEW)
    seeds = Seeds.of(3)
    samples = read_training_samples(problem, None, None, 80, 60, seeds)
    X_test = samples.test_set()[0]
    for place, depth in enumerate(depths):
        model = clone(tree).set_params(max_depth=depth)
        for k in range(6):
            X, y = samples.draw(seeds.of_repetition(k)[0])
            answers = model.fit(X, y).predict(X)
            wrong = (answers - y) ** 2 if isinstance(tree, CARTRegressor) else answers != y
            assert found.training_errors[place, k] == pytest.approx(np.mean(wrong), abs=1e-12)
            assert len(X_test) == 60
        parts = resample_predictions(model, problem, **FEW).decompose()
        for part in ("error", "bias", "variance", "noise"):
            assert getattr(found.parts[place], part) == getattr(parts, part)
    np.testing.assert_allclose(found.bias + found.variance + found.noise, found.test_error)


def test_training_error_falls_bias_falls_and_variance_grows_with_the_tree(of_trees):
    assert (np.diff(of_trees.training_error) < 0).all()
    assert (np.diff(of_trees.bias) < 0).all()
    assert of_trees.variance[0] < of_trees.variance[2]
    assert of_trees.best == of_trees.values[of_trees.test_error.argmin()]
    assert of_trees.is_regression


def test_without_a_seed_all_values_have_the_same_samples():
    found = complexity_curve(
        CARTClassifier(random_state=0), TwoNorm(), parameter="max_depth", values=(2, 2),
        n_train=50, n_test=20, n_repetitions=3,
    )  # fmt: skip
    assert (found.training_errors[0] == found.training_errors[1]).all()
    assert found.test_error[0] == found.test_error[1]


def test_parameters_of_inner_estimators_and_data_sets():
    X, y = TwoNorm().sample(120, random_state=0)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier())
    found = complexity_curve(
        model, X, y.astype(str), parameter="kneighborsclassifier__n_neighbors", values=(15, 1),
        definition="breiman", n_repetitions=4, random_state=0,
    )  # fmt: skip
    assert found.training_error[1] == 0  # every sample is its own neighbour
    assert found.parts[0].definition == "breiman"


def test_pictures_of_errors_and_of_parts(of_trees):
    display = ComplexityDisplay(of_trees).plot()
    assert list(display.lines_) == ["training error", "test error"]
    assert (display.lines_["test error"].get_ydata() == of_trees.test_error).all()
    assert (display.lines_["training error"].get_ydata() == of_trees.training_error).all()
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["2", "8", "60"]
    assert display.ax_.get_xlabel() == "max_leaf_nodes"
    assert f"with max_leaf_nodes={of_trees.best}" in display.ax_.get_title().replace("\n", " ")
    _, ax = pyplot.subplots()
    parts = ComplexityDisplay(of_trees).plot(ax, show="parts")
    assert parts.ax_ is ax
    assert list(parts.lines_) == ["squared bias", "variance", "noise", "test error"]
    total = sum(parts.lines_[name].get_ydata() for name in ("squared bias", "variance", "noise"))
    np.testing.assert_allclose(total, parts.lines_["test error"].get_ydata())


def test_classification_errors_are_in_percent_and_many_values_are_thinned():
    display = ComplexityDisplay.from_estimator(
        CARTClassifier(), TwoNorm(), parameter="max_depth", values=range(1, 26), n_train=30,
        n_test=20, n_repetitions=2, random_state=0, show="parts",
    )  # fmt: skip
    curve = display.curve
    assert (display.lines_["bias"].get_ydata() == 100 * curve.bias).all()
    assert display.ax_.get_ylabel() == "error, %"
    assert len(display.ax_.get_xticks()) <= 12


@pytest.mark.parametrize(("change", "message"), [
    ({"values": ()}, "values is empty"),
    ({"parameter": "depth"}, "parameter='depth' is not allowed: CARTClassifier has .*max_depth"),
    ({"n_repetitions": 0}, "n_repetitions=0 is not allowed"),
])  # fmt: skip
def test_what_cannot_be_measured_is_refused(change, message):
    given = {"parameter": "max_depth", "values": (1, 2), "n_train": 20, "n_test": 10, **change}
    with pytest.raises(ValueError, match=message):
        complexity_curve(CARTClassifier(), TwoNorm(), **given)


def test_other_pictures_are_refused(of_trees):
    with pytest.raises(ValueError, match="show='noise' is not allowed"):
        ComplexityDisplay(of_trees).plot(show="noise")
