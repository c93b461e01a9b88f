"""Weighted means of whole models, as ensemble selection makes them, in ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from orfeon.combining.numeric_inputs import inputs_of
from orfeon.io.onnx.decision import Decision, first_of_greatest
from orfeon.io.onnx.errors import NoOnnxFormError
from orfeon.io.onnx.prediction import PredictionGraph


def decide_selection(
    prediction: PredictionGraph, model: Any, decide: Callable[[PredictionGraph, Any], Decision]
) -> Decision:
    """The weighted mean of the selected models, added one by one."""
    graph, classes = prediction.graph, getattr(model, "classes_", None)
    total = ""
    for weight, one in zip(model.weights_[model.weights_ > 0], model.estimators_, strict=True):
        _check_alike(model, one)
        decision = decide(prediction, one)
        values = decision.decided if classes is None else decision.shares
        assert values is not None
        term = graph.add("Mul", values, graph.constant(np.array(float(weight))))
        total = graph.add("Add", total, term) if total else term
    if classes is None:
        return Decision(None, total)
    decided, shares = first_of_greatest(graph, total), total
    if model.power_ != 1.0:
        raised = graph.add("Pow", total, graph.constant(np.array(float(model.power_))))
        whole = graph.add("ReduceSum", raised, graph.constant(np.array([1])), keepdims=1)
        shares = graph.add("Div", raised, whole)
    return Decision(classes, decided, shares)


def _check_alike(model: Any, one: Any) -> None:
    """Reject members that read rows in another way, or know other classes."""
    name = type(one).__name__
    if getattr(inputs_of(one) or one, "schema_", None) != model.schema_:
        raise NoOnnxFormError(
            f"{type(model).__name__} with {name}",
            "it does not read the rows as the others do",
            "select among orfeon's trees, forests and boosters, or save it with orfeon.save",
        )
    if hasattr(model, "classes_") and not np.array_equal(one.classes_, model.classes_):
        raise NoOnnxFormError(
            f"{type(model).__name__} with {name}",
            "it does not know all classes",
            "save it with orfeon.save",
        )
