"""From class shares to the probabilities of an ensemble, in ONNX."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from orfeon.boosting.real_adaboost import RealAdaBoostClassifier
from orfeon.calibration.label_noise import inverse_of, least_eigenvalue
from orfeon.calibration.smoothing import LIFT, SMOOTHING
from orfeon.calibration.switched_votes import is_noise, mean_shares
from orfeon.ensembles.decision import COUNTS
from orfeon.ensembles.switched_labels import SwitchedLabels
from orfeon.io.onnx.calibrators import calibrated, column, interpolated, product
from orfeon.io.onnx.decision import Decision, column_sums, first_of_greatest
from orfeon.io.onnx.graph import DOUBLE, INT64, Graph
from orfeon.members import adapt
from orfeon.utils.types import Floats


def with_probabilities(graph: Graph, decision: Decision, model: Any) -> Decision:
    """The decision with the probabilities that the model makes of its shares."""
    calibrator, shares = getattr(model, "calibrator_", None), decision.shares
    if shares is None or getattr(model, "n_classes_", 0) < 2:
        return decision
    smoothed = _smoothed_shares(graph, shares, model, is_calibrated=calibrator is not None)
    if calibrator is not None:
        probabilities = calibrated(graph, calibrator, smoothed)
        decided = first_of_greatest(graph, probabilities)
        return replace(decision, decided=decided, shares=probabilities)
    if smoothed == shares:
        return decision
    return replace(decision, shares=_keeping(graph, smoothed, shares, model.n_classes_))


def calibrate_from_outside(graph: Graph, decision: Decision, model: Any, ensemble: Any) -> Decision:
    """The decision by the calibrated shares of an ensemble, which are not smoothed yet."""
    if model.calibrator_ is None:
        return decision
    shares, n_members = decision.shares, float(adapt(ensemble).n_members)
    assert shares is not None
    if getattr(ensemble, "_smoothing", None) is not None:
        smoothed = _smoothed_shares(graph, shares, ensemble, is_calibrated=True)
    else:
        smoothed = _smoothed(graph, shares, n_members, SMOOTHING, model.n_classes_)
    probabilities = calibrated(graph, model.calibrator_, smoothed)
    decided = first_of_greatest(graph, probabilities)
    return replace(decision, decided=decided, shares=probabilities)


def _smoothed_shares(graph: Graph, shares: str, model: Any, *, is_calibrated: bool) -> str:
    """Shares of the votes that are neither 0 nor 1; the same name if they are not smoothed."""
    strength = getattr(model, "_smoothing", None)
    is_softmax = isinstance(model, RealAdaBoostClassifier) and model._has_softmax
    if strength is None or is_softmax:
        return shares
    n_members = float(len(model.members_))
    if isinstance(model, SwitchedLabels) and model._simple_rule in (*COUNTS, "soft"):
        if not is_calibrated and not is_noise(model._switching):
            return _mean_given_votes(graph, shares, model._switching, n_members)
        inverse = inverse_of(model._switching)
        n_members = n_members * least_eigenvalue(model._switching) ** 2
        if inverse is not None:
            shares = _nearest_shares(graph, product(graph, shares, inverse), model.n_classes_)
    return _smoothed(graph, shares, n_members, strength, model.n_classes_)


def _smoothed(graph: Graph, shares: str, n_members: float, strength: float, n_classes: int) -> str:
    votes = graph.add("Mul", shares, graph.constant(np.array(n_members)))
    more = graph.add("Add", votes, graph.constant(np.array(strength / n_classes)))
    return graph.add("Div", more, graph.constant(np.array(n_members + strength)))


def _keeping(graph: Graph, shares: str, raw: str, n_classes: int) -> str:
    """Shares in which the first class of the greatest raw shares is the first of the greatest."""
    decided = first_of_greatest(graph, raw)
    place = graph.add("Unsqueeze", decided, graph.constant(np.array([1])))
    own = graph.add("GatherElements", shares, place, axis=1)
    is_above = graph.add("GreaterOrEqual", shares, own)
    zero = graph.constant(np.array(0.0))
    total = column_sums(graph, graph.add("Where", is_above, shares, zero), n_classes)
    number = column_sums(graph, graph.add("Cast", is_above, to=DOUBLE), n_classes)
    level = graph.add("Div", total, number)
    raised = graph.add("Where", is_above, level, shares)
    codes = graph.constant(np.arange(n_classes, dtype=np.int64)[None, :])
    # A factor so close to 1 would be optimised away.
    lifted = graph.add("Add", level, graph.add("Mul", level, graph.constant(np.array(LIFT))))
    kept = graph.add("Where", graph.add("Equal", codes, place), lifted, raised)
    is_same = graph.add("Equal", first_of_greatest(graph, shares), decided)
    is_same = graph.add("Unsqueeze", is_same, graph.constant(np.array([1])))
    return graph.add("Where", is_same, shares, kept)


def _mean_given_votes(graph: Graph, shares: str, switching: Floats, n_members: float) -> str:
    """Shares as of labels that were not switched."""
    columns = [
        interpolated(graph, *table, column(graph, shares, k))
        for k, table in enumerate(mean_shares(switching, n_members))
    ]
    found = graph.add("Concat", *columns, axis=1)
    return graph.add("Div", found, column_sums(graph, found, len(columns)))


def _nearest_shares(graph: Graph, values: str, n_classes: int) -> str:
    """The nearest shares that are not negative."""
    every = graph.constant(np.array([n_classes]))
    descending, _ = graph.add_many("TopK", values, every, n_outputs=2, axis=1)
    running = graph.add("CumSum", descending, graph.constant(np.array(1)))
    excess = graph.add("Sub", running, graph.constant(np.array(1.0)))
    sizes = graph.constant(np.arange(1, n_classes + 1, dtype=np.float64)[None, :])
    is_positive = graph.add("Greater", graph.add("Mul", descending, sizes), excess)
    number = graph.add(
        "ReduceSum", graph.add("Cast", is_positive, to=INT64), graph.constant(np.array([1])),
        keepdims=1,
    )  # fmt: skip
    number = graph.add("Max", number, graph.constant(np.array([[1]])))
    last = graph.add("Sub", number, graph.constant(np.array([[1]])))
    at = graph.add("GatherElements", excess, last, axis=1)
    threshold = graph.add("Div", at, graph.add("Cast", number, to=DOUBLE))
    difference = graph.add("Sub", values, threshold)
    return graph.add("Max", difference, graph.constant(np.array(0.0)))
