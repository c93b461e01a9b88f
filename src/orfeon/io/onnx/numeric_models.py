"""Pipelines of numeric inputs and a model of scikit-learn in ONNX: linear, naive Bayes, networks.

Runtimes add and multiply in another order than NumPy: answers may differ in the last digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from orfeon.combining.numeric_inputs import NumericInputs
from orfeon.io.onnx.decision import Decision, first_of_greatest, squeezed
from orfeon.io.onnx.errors import NoOnnxFormError
from orfeon.io.onnx.graph import INT64, Graph
from orfeon.io.onnx.prediction import PredictionGraph
from orfeon.utils.types import Floats

#: Operators of the activations of networks.
_ACTIVATIONS = {"relu": "Relu", "logistic": "Sigmoid", "tanh": "Tanh", "softmax": "Softmax"}
_LINEAR = (LinearRegression, Ridge, RidgeCV)


def decide_on_numbers(prediction: PredictionGraph, model: Pipeline) -> Decision:
    """The decision of a pipeline that begins with numeric inputs."""
    (_, inputs), *steps = model.steps
    return _decide(prediction.graph, _columns(prediction, inputs), [step for _, step in steps])


# -- inputs ----------------------------------------------------------------------------------------


def _columns(prediction: PredictionGraph, inputs: NumericInputs) -> str:
    """The columns that the inputs make of encoded rows."""
    graph, rows = prediction.graph, prediction.rows
    is_categorical = inputs.schema_.is_categorical
    parts = []
    if not is_categorical.all():
        numbers = _gathered(graph, rows, np.flatnonzero(~is_categorical))
        numbers = _filled(graph, numbers, inputs.fills_)
        numbers = graph.add("Sub", numbers, graph.constant(inputs.means_))
        parts.append(graph.add("Div", numbers, graph.constant(inputs.scales_)))
    start, first = 0, len(inputs.fills_)
    for feature in np.flatnonzero(is_categorical):
        n_codes = int(inputs.schema_.n_categories[feature])
        places = inputs.columns_[start : start + n_codes + 1]
        start += n_codes + 1
        width = int(places.max()) + 1 - first
        if width <= 0:
            continue
        codes = _filled(graph, _gathered(graph, rows, np.array([feature])), np.array([n_codes]))
        code = squeezed(graph, graph.add("Cast", codes, to=INT64))
        of_code = (places[:, None] == first + np.arange(width)).astype(np.float64)
        parts.append(graph.add("Gather", graph.constant(of_code), code, axis=0))
        first += width
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)


def _gathered(graph: Graph, rows: str, features: Any) -> str:
    return graph.add("Gather", rows, graph.constant(features.astype(np.int64)), axis=1)


def _filled(graph: Graph, values: str, fills: Any) -> str:
    given = graph.constant(np.asarray(fills, np.float64))
    return graph.add("Where", graph.add("IsNaN", values), given, values)


# -- models ----------------------------------------------------------------------------------------


def _decide(graph: Graph, columns: str, steps: list[Any]) -> Decision:
    model, *others = steps
    if isinstance(model, Pipeline):
        return _decide(graph, columns, [*(step for _, step in model.steps), *others])
    if others:
        if not isinstance(model, Nystroem) or model.kernel != "rbf":
            raise _no_form(model)
        return _decide(graph, _basis(graph, columns, model), others)
    if isinstance(model, LogisticRegression):
        return _logistic(graph, columns, model)
    if isinstance(model, GaussianNB):
        return _naive_bayes(graph, columns, model)
    if isinstance(model, MLPClassifier):
        return _of_network(graph, _network(graph, columns, model), model)
    if isinstance(model, MLPRegressor):
        return Decision(None, squeezed(graph, _network(graph, columns, model)))
    if isinstance(model, _LINEAR):
        coefficients = np.asarray(model.coef_, np.float64).reshape(1, -1)
        sums = _affine(graph, columns, coefficients.T, np.reshape(model.intercept_, -1))
        return Decision(None, squeezed(graph, sums))
    scaler = getattr(model, "transformer_", None)
    if isinstance(model, TransformedTargetRegressor) and isinstance(scaler, StandardScaler):
        inner = _decide(graph, columns, [model.regressor_]).decided
        scaled = graph.add("Mul", inner, graph.constant(np.array(float(scaler.scale_[0]))))
        moved = graph.add("Add", scaled, graph.constant(np.array(float(scaler.mean_[0]))))
        return Decision(None, moved)
    raise _no_form(model)


def _affine(graph: Graph, columns: str, weights: Floats, start: Any) -> str:
    product = graph.add("MatMul", columns, graph.constant(np.asarray(weights, np.float64)))
    return graph.add("Add", product, graph.constant(np.asarray(start, np.float64)))


def _logistic(graph: Graph, columns: str, model: LogisticRegression) -> Decision:
    scores = _affine(graph, columns, model.coef_.T, model.intercept_)
    if len(model.classes_) == 2:
        return _of_score(graph, graph.add("Sigmoid", scores), model)
    shares = graph.add("Softmax", scores, axis=1)
    return Decision(model.classes_, first_of_greatest(graph, scores), shares)


def _of_score(graph: Graph, second: str, model: Any) -> Decision:
    """The decision between two classes by the probability of the second."""
    rest = graph.add("Sub", graph.constant(np.array(1.0)), second)
    shares = graph.add("Concat", rest, second, axis=1)
    return Decision(model.classes_, first_of_greatest(graph, shares), shares)


def _naive_bayes(graph: Graph, columns: str, model: GaussianNB) -> Decision:
    each = graph.add("Unsqueeze", columns, graph.constant(np.array([1])))
    difference = graph.add("Sub", each, graph.constant(model.theta_))
    square = graph.add("Mul", difference, difference)
    scaled = graph.add("Div", square, graph.constant(model.var_))
    sums = graph.add("ReduceSum", scaled, graph.constant(np.array([2])), keepdims=0)
    with np.errstate(divide="ignore"):
        constants = np.log(model.class_prior_) - 0.5 * np.log(2 * np.pi * model.var_).sum(axis=1)
    half = graph.add("Mul", sums, graph.constant(np.array(-0.5)))
    scores = graph.add("Add", half, graph.constant(constants))
    shares = graph.add("Softmax", scores, axis=1)
    return Decision(model.classes_, first_of_greatest(graph, scores), shares)


def _network(graph: Graph, columns: str, model: Any) -> str:
    values = columns
    layers = list(zip(model.coefs_, model.intercepts_, strict=True))
    for layer, (weights, start) in enumerate(layers):
        values = _affine(graph, values, weights, start)
        is_last = layer == len(layers) - 1
        operator = _ACTIVATIONS.get(model.out_activation_ if is_last else model.activation)
        if operator == "Softmax":
            values = graph.add(operator, values, axis=1)
        elif operator is not None:
            values = graph.add(operator, values)
    return values


def _of_network(graph: Graph, values: str, model: MLPClassifier) -> Decision:
    if model.out_activation_ == "logistic":
        if len(model.classes_) != 2 or model.coefs_[-1].shape[1] != 1:
            raise _no_form(model)
        return _of_score(graph, values, model)
    return Decision(model.classes_, first_of_greatest(graph, values), values)


def _basis(graph: Graph, columns: str, basis: Nystroem) -> str:
    """Radial basis functions around rows, and their combination."""
    centres = np.asarray(basis.components_, np.float64)
    gamma = 1.0 / centres.shape[1] if basis.gamma is None else float(basis.gamma)
    own = graph.add("Mul", columns, columns)
    lengths = graph.add("ReduceSum", own, graph.constant(np.array([1])), keepdims=1)
    products = _affine(graph, columns, -2.0 * centres.T, (centres**2).sum(axis=1))
    squares = graph.add("Max", graph.add("Add", products, lengths), graph.constant(np.array(0.0)))
    values = graph.add("Exp", graph.add("Mul", squares, graph.constant(np.array(-gamma))))
    return graph.add("MatMul", values, graph.constant(np.ascontiguousarray(basis.normalization_.T)))


def _no_form(model: Any) -> NoOnnxFormError:
    return NoOnnxFormError(
        type(model).__name__,
        "of models on numeric inputs, orfeon exports linear and logistic regression, naive Bayes, "
        "networks and radial basis functions",
        "leave it out, or save it with orfeon.save",
    )
