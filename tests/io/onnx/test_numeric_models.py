"""Pipelines on numeric inputs: onnxruntime gives the same labels, and the same numbers nearly."""

import numpy as np
import pandas
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from tests.io.onnx.running import session_of

from orfeon import EnsembleSelectionClassifier, RandomForestClassifier, to_onnx
from orfeon.combining.numeric_inputs import NumericInputs
from orfeon.io.onnx import NoOnnxFormError, as_inputs
from orfeon.workbench.experiment.methods import METHODS

# Networks of a study stop after a given number of iterations.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def table(n_rows, *, words=True, seed=0):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, 3)) * [1.0, 1e4, 1e-3] + [0.0, 1e5, 5.0]
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    frame = pandas.DataFrame(numbers, columns=["a", "b", "c"])
    if not words:
        return frame.to_numpy()
    for name, n_levels in (("word", 60), ("other", 3)):
        drawn = rng.integers(0, n_levels, n_rows) ** 2 // n_levels
        drawn = np.where(rng.random(n_rows) < 0.1, None, [f"w{code}" for code in drawn])
        frame[name] = pandas.Categorical(drawn)
    return frame[["word", "a", "b", "other", "c"]]


def target(X, n_classes):
    """Depends on the first number, so that models have something to learn."""
    x = np.nan_to_num(X[:, 0] if isinstance(X, np.ndarray) else X["a"].to_numpy())
    x = x + np.random.default_rng(1).normal(size=len(x))
    if not n_classes:
        return 100.0 + 20.0 * x
    codes = np.digitize(x, np.linspace(-1, 1, n_classes + 1)[1:-1])
    return np.array(["no", "maybe", "yes"])[codes]


def runtime(model, X):
    return session_of(to_onnx(model)).run(None, as_inputs(model, X))


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("name", ["linear", "naive_bayes", "kernel", "network"])
def test_models_of_a_study(name, n_classes, words):
    task = "classification" if n_classes else "regression"
    if task not in METHODS[name].tasks:
        return
    X, rows = table(400, words=words), table(300, words=words, seed=3)
    y = target(X, n_classes)
    model = METHODS[name].build(task, 0, X=X).fit(X, y)
    found = runtime(model, rows)
    expected = model.predict(rows)
    if n_classes:
        assert (found[0] == expected).all()
        assert len(set(expected)) > 1
        np.testing.assert_allclose(found[1], model.predict_proba(rows), rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_allclose(found[0], expected, rtol=1e-9)


@pytest.mark.parametrize("activation", ["logistic", "tanh", "identity"])
def test_other_networks_and_scales(activation):
    X = table(200, words=False)
    y = target(X, 0)
    network = MLPRegressor(
        hidden_layer_sizes=(5, 4), activation=activation, solver="lbfgs", max_iter=20
    )
    for last in (network, LinearRegression()):
        model = Pipeline([("inputs", NumericInputs()), ("model", last)]).fit(X, y)
        np.testing.assert_allclose(runtime(model, X)[0], model.predict(X), rtol=1e-9)


def test_a_selection_with_pipelines():
    X, rows = table(300), table(200, seed=4)
    y = target(X, 3)
    models = [
        ("forest", RandomForestClassifier(10, calibrate="sigmoid")),
        *((name, METHODS[name].build("classification", 0, X=X)) for name in ("linear", "network")),
    ]
    chosen = EnsembleSelectionClassifier(models, weights=[3, 2, 1], power=1.7, random_state=0)
    chosen.fit(X, y)
    label, shares = runtime(chosen, rows)
    assert (label == chosen.predict(rows)).all()
    np.testing.assert_allclose(shares, chosen.predict_proba(rows), rtol=1e-9, atol=1e-12)


def test_what_has_no_form_is_named():
    X = table(100, words=False)
    y = target(X, 2)
    model = METHODS["neighbors"].build("classification", 0, X=X).fit(X, y)
    with pytest.raises(NoOnnxFormError, match=r"^KNeighborsClassifier has no ONNX form: of models"):
        to_onnx(model)
    steps = [("inputs", NumericInputs()), ("scale", StandardScaler()), ("m", LogisticRegression())]
    with pytest.raises(NoOnnxFormError, match="StandardScaler has no ONNX form"):
        to_onnx(Pipeline(steps).fit(X, y))
    chosen = EnsembleSelectionClassifier([("near", model)], weights=[1]).fit(X, y)
    with pytest.raises(NoOnnxFormError, match="KNeighborsClassifier"):
        to_onnx(chosen)
    several = (np.random.default_rng(0).random((100, 2)) < 0.5).astype(int)
    network = Pipeline([("inputs", NumericInputs()), ("model", MLPClassifier(max_iter=2))])
    with pytest.raises(NoOnnxFormError):
        to_onnx(network.fit(X, several))
