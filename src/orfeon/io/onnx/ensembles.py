"""Decisions of trees, and of ensembles of trees that vote or average, in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier

from orfeon.ensembles.decision import COUNTS
from orfeon.forest import Forest
from orfeon.io.onnx.decision import (
    Decision,
    column_sums,
    divided,
    first_of_greatest,
    leaf_shares,
    levelled,
    member_numbers,
    member_votes,
    squeezed,
)
from orfeon.io.onnx.errors import NoOnnxFormError
from orfeon.io.onnx.graph import DOUBLE, INT64
from orfeon.io.onnx.prediction import PredictionGraph, one_hot
from orfeon.members.members import CommitteeMembers
from orfeon.rules.decider import Decider
from orfeon.rules.supports import Average
from orfeon.rules.votes import _TIED, WeightedVote
from orfeon.utils.types import Floats

#: Sums of shares this close to 1 differ from it only by rounding.
_NEARLY_ONE = 1e-9


def forest_of(model: Any) -> Forest:
    """The trees of an ensemble; raises if its members are not trees."""
    if isinstance(model.members_, Forest):
        return model.members_
    inside = getattr(model.members_, "estimators", None)
    kinds = sorted({type(one).__name__ for one in inside}) if inside else []
    raise NoOnnxFormError(
        f"{type(model).__name__} of {' and '.join(kinds) or 'these members'}",
        "only trees of orfeon have one as members",
        "train it with a tree of orfeon, such as CARTClassifier or CARTRegressor",
    )


def decide_tree(
    prediction: PredictionGraph, forest: Forest, classes: npt.NDArray[Any] | None
) -> Decision:
    if classes is None:
        return decide_mean(prediction, forest)
    votes = member_votes(prediction, forest)
    shares = prediction.ordered_row_sums(forest, leaf_shares(forest))
    return Decision(classes, squeezed(prediction.graph, votes()), shares, votes, 1)


def decide_count(
    prediction: PredictionGraph, forest: Forest, classes: npt.NDArray[Any]
) -> Decision:
    shares = divided(prediction.graph, prediction.counts(forest), len(forest))
    decided = first_of_greatest(prediction.graph, shares)
    return Decision(classes, decided, shares, member_votes(prediction, forest), len(forest))


def decide_shares(
    prediction: PredictionGraph, forest: Forest, classes: npt.NDArray[Any], value: Floats
) -> Decision:
    """The decision by the mean of class shares."""
    graph = prediction.graph
    shares = divided(graph, prediction.ordered_row_sums(forest, value), len(forest))
    votes = member_votes(prediction, forest)
    return Decision(classes, first_of_greatest(graph, shares), shares, votes, len(forest))


def decide_mean(prediction: PredictionGraph, forest: Forest) -> Decision:
    """The mean of the trees' predictions."""
    graph = prediction.graph
    total = prediction.ordered_sum(forest, forest.value[:, 0])
    mean = squeezed(graph, divided(graph, total, len(forest)))
    return Decision(None, mean, None, member_numbers(prediction, forest), len(forest))


def decide_committees(prediction: PredictionGraph, model: Any) -> Decision:
    """The decision of committees: trees vote within their committee, then committees vote."""
    graph, committees = prediction.graph, model.members_.committees
    n_committees, n_classes = len(committees), model.members_.n_classes
    sizes = np.array([len(committee) for committee in committees])
    group = np.repeat(np.arange(n_committees), sizes)
    counts = prediction.grouped_counts(Forest.concatenate(list(committees)), group, n_committees)
    shape = graph.constant(np.array([0, n_committees, n_classes]))
    counts = graph.add("Reshape", counts, shape)
    votes = graph.add("ArgMax", counts, axis=2, keepdims=0, select_last_index=0)
    if model._simple_rule in COUNTS:
        shares = divided(graph, count_codes(prediction, votes, n_classes), n_committees)
    elif model._simple_rule == "soft":
        each = graph.add("Div", counts, graph.constant(sizes[:, None].astype(np.float64)))
        shares = divided(graph, prediction._last(each, 1, n_committees), n_committees)
    else:
        raise _rule_refused(model)
    decided = first_of_greatest(graph, shares)
    return Decision(model.classes_, decided, shares, lambda: votes, n_committees)


def count_codes(prediction: PredictionGraph, votes: str, n_classes: int) -> str:
    graph = prediction.graph
    raised = graph.add("Unsqueeze", votes, graph.constant(np.array([2])))
    is_for = graph.add("Equal", raised, graph.constant(np.arange(n_classes, dtype=np.int64)))
    ones = graph.add("Cast", is_for, to=DOUBLE)
    return graph.add("ReduceSum", ones, graph.constant(np.array([1])), keepdims=0)


def _rule_refused(model: Any) -> NoOnnxFormError:
    plain = "majority" if is_classifier(model) else "mean"
    return NoOnnxFormError(
        f"combine={model.combine!r} of {type(model).__name__}",
        "of the rules, the votes, the means and their weighted forms have one",
        f'set_params(combine="{plain}") on the fitted model and export that, if it may decide so',
    )


# -- by the rules of orfeon.combining --------------------------------------------------------------


def decide_voting(prediction: PredictionGraph, model: Any) -> Decision:
    if isinstance(model.members_, CommitteeMembers):
        return decide_committees(prediction, model)
    forest = forest_of(model)
    if model._simple_rule in COUNTS:
        return decide_count(prediction, forest, model.classes_)
    if model._simple_rule == "soft":
        return decide_shares(prediction, forest, model.classes_, leaf_shares(forest))
    return decide_by_rule(prediction, model, forest)


def decide_averaging(prediction: PredictionGraph, model: Any) -> Decision:
    forest = forest_of(model)
    if model._simple_rule == "mean":
        return decide_mean(prediction, forest)
    return decide_by_rule(prediction, model, forest)


def decide_by_rule(prediction: PredictionGraph, model: Any, forest: Forest) -> Decision:
    decider: Decider = model.decider_
    graph, weights = prediction.graph, getattr(decider, "weights", None)
    each = np.ones(len(forest)) if weights is None else np.asarray(weights, dtype=np.float64)
    total = float(np.cumsum(each)[-1])
    if type(decider) is Average and forest.n_classes == 0:
        value = np.repeat(each, forest.n_nodes) * forest.value[:, 0]
        mean = squeezed(graph, divided(graph, prediction.ordered_sum(forest, value), total))
        return Decision(None, mean, None, member_numbers(prediction, forest), len(forest))
    if type(decider) is Average:
        value = np.repeat(each, forest.n_nodes)[:, None] * forest._shares()
        means = divided(graph, prediction.ordered_row_sums(forest, value), total)
        shares = _concluded(prediction, means, forest.n_classes)
    elif type(decider) is WeightedVote:
        shares = _weighted_shares(prediction, forest, each)
    else:
        raise _rule_refused(model)
    votes = member_votes(prediction, forest)
    decided = first_of_greatest(graph, shares)
    return Decision(model.classes_, decided, shares, votes, len(forest))


def _weighted_shares(prediction: PredictionGraph, forest: Forest, weights: Floats) -> str:
    """Shares of weighted votes; a negative weight counts for all other classes."""
    graph, n_classes = prediction.graph, forest.n_classes
    against = 0.0
    for weight in weights[weights < 0].tolist():
        against -= weight
    sums = prediction.ordered_row_sums(forest, one_hot(forest, weights))
    raised = graph.add("Add", sums, graph.constant(np.array(against)))
    votes = graph.add("Max", raised, graph.constant(np.array(0.0)))
    shares = graph.add("Div", votes, column_sums(graph, votes, n_classes))
    level = levelled(graph, shares, _TIED)
    again = graph.add("Div", level, column_sums(graph, level, n_classes))
    equal = graph.add("Cast", graph.add("Equal", level, shares), to=INT64)
    untouched = graph.add("ReduceMin", equal, graph.constant(np.array([1])), keepdims=1)
    same = graph.add("Equal", untouched, graph.constant(np.array(1)))
    return _concluded(prediction, graph.add("Where", same, level, again), n_classes)


def _concluded(prediction: PredictionGraph, values: str, n_classes: int) -> str:
    """Class supports normalised to sum to 1."""
    graph = prediction.graph
    sums = column_sums(graph, values, n_classes)
    one = graph.constant(np.array(1.0))
    difference = graph.add("Abs", graph.add("Sub", sums, one))
    is_one = graph.add("LessOrEqual", difference, graph.constant(np.array(_NEARLY_ONE)))
    shares = graph.add("Div", values, graph.add("Where", is_one, one, sums))
    unknown = graph.add("IsNaN", shares)
    return graph.add("Where", unknown, graph.constant(np.array(1.0 / n_classes)), shares)
