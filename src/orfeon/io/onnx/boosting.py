"""Decisions of boosted trees in ONNX: weighted votes, weighted medians, additive models."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orfeon.boosting.adaboost_mh import _BinaryProblems
from orfeon.boosting.adaboost_r import AdaBoostRRegressor
from orfeon.boosting.class_losses import ExponentialLoss, MultinomialLoss
from orfeon.boosting.custom_loss import CustomLoss
from orfeon.boosting.deviance import TweedieDeviance
from orfeon.boosting.filtering import _EDGE
from orfeon.boosting.output_codes import AdaBoostOCClassifier
from orfeon.boosting.quantiles import QuantileErrors
from orfeon.boosting.real_adaboost import RealAdaBoostClassifier
from orfeon.boosting.vote_sums import _TIED, _in_steps
from orfeon.forest import Forest
from orfeon.io.onnx.decision import (
    Decision,
    column_sums,
    divided,
    first_of_greatest,
    greatest,
    levelled,
    member_votes,
    squeezed,
)
from orfeon.io.onnx.ensembles import count_codes, decide_by_rule, forest_of
from orfeon.io.onnx.errors import NoOnnxFormError
from orfeon.io.onnx.graph import INT64, Graph
from orfeon.io.onnx.prediction import PredictionGraph, one_hot
from orfeon.utils.types import Floats

# -- weighted votes --------------------------------------------------------------------------------


def decide_weighted(prediction: PredictionGraph, model: Any) -> Decision:
    if isinstance(model, _BinaryProblems):
        return _decide_problems(prediction, model)
    forest = forest_of(model)
    if not model._is_own:
        return decide_by_rule(prediction, model, forest)
    graph, votes = prediction.graph, model.member_weights_
    if isinstance(model, AdaBoostOCClassifier):
        has_colour = forest.label[:, None] == (np.repeat(votes, forest.n_nodes, axis=0) > 0)
        value = np.where(has_colour, np.abs(np.repeat(votes, forest.n_nodes, axis=0)), 0.0)
    elif model._member_output == "supports":
        value = np.repeat(votes, forest.n_nodes)[:, None] * model._leaf_outputs(forest._shares())
    else:
        value = one_hot(forest, votes)
    sums = prediction.ordered_row_sums(forest, value)
    sums = levelled(graph, sums, _TIED * float(np.max(model._total_vote)))
    if isinstance(model, AdaBoostOCClassifier):
        shares = graph.add("Div", sums, column_sums(graph, sums, value.shape[1]))
    elif isinstance(model, RealAdaBoostClassifier) and model.confidence == "log_odds":
        doubled = graph.add("Mul", sums, graph.constant(np.array(2.0)))
        shares = graph.add("Softmax", doubled, axis=1)
    else:
        shares = divided(graph, sums, float(model._total_vote))
    decided = first_of_greatest(graph, sums)
    return Decision(model.classes_, decided, shares, member_votes(prediction, forest), len(forest))


def _decide_problems(prediction: PredictionGraph, model: Any) -> Decision:
    """The decision of boosters that solve several binary problems in parallel."""
    graph, members = prediction.graph, model.members_
    if not isinstance(members.rounds[0], Forest):
        kind = type(members.rounds[0].estimators[0]).__name__
        raise NoOnnxFormError(
            f"{type(model).__name__} of {kind}",
            "only trees of orfeon have one as members",
            "train it with a tree of orfeon, such as StumpClassifier",
        )
    decoding = model._decoding()
    outputs = _problem_outputs(prediction, model, len(decoding))
    if model._squashes:
        outputs = graph.add("Tanh", outputs)
        sums = graph.add("MatMul", outputs, graph.constant(decoding.astype(np.float64)))
    else:  # one problem per class
        sums = outputs
    total = np.cumsum(model.member_weights_, axis=0)[-1]
    sums = levelled(graph, sums, _TIED * float(np.max(total)))
    return Decision(
        model.classes_, first_of_greatest(graph, sums), _shifted(prediction, model, sums, total)
    )


def _problem_outputs(prediction: PredictionGraph, model: Any, n_problems: int) -> str:
    """Weighted sums of the members' predictions for each problem, round by round."""
    graph, members = prediction.graph, model.members_
    columns = []
    for problem in range(n_problems):
        trees, values = [], []
        rounds = zip(members.rounds, members.problems, model.member_weights_, strict=True)
        for forest, problems, votes in rounds:
            for k in np.flatnonzero(problems == problem):
                tree = forest.subset([k])
                trees.append(tree)
                values.append((2 * tree.label - 1) * votes[problem])
        columns.append(prediction.ordered_sum(Forest.concatenate(trees), np.concatenate(values)))
    return columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=1)


def _shifted(prediction: PredictionGraph, model: Any, sums: str, total: Any) -> str:
    """Sums shifted so that the smallest possible is 0, and normalised to sum to 1."""
    graph, decoding = prediction.graph, model._decoding()
    votes = np.ones(len(decoding)) if model._squashes else np.atleast_1d(total)
    most = float((np.abs(decoding).T @ votes).max())
    above = graph.add("Add", sums, graph.constant(np.array(most)))
    whole = column_sums(graph, above, decoding.shape[1])
    is_positive = graph.add("Greater", whole, graph.constant(np.array(0.0)))
    shares = graph.add("Div", above, whole)
    return graph.add("Where", is_positive, shares, graph.constant(np.array(1 / decoding.shape[1])))


def decide_filtered(prediction: PredictionGraph, model: Any) -> Decision:
    """The decision of nested committees of three."""
    graph, forest = prediction.graph, forest_of(model)
    make_votes = member_votes(prediction, forest)
    votes = make_votes()
    tops = [_majority(prediction, votes, np.asarray(who)) for who in model.committees_]
    decided = _of_three(prediction, *tops)
    raised = graph.add("Concat", *tops, axis=1)
    counts = count_codes(prediction, raised, model.n_classes_)
    # Where all three differ, the first decides, so its share is slightly larger.
    first = count_codes(prediction, tops[0], model.n_classes_)
    alone = graph.add("Equal", greatest(graph, counts), graph.constant(np.array(1.0)))
    edge = graph.add("Mul", counts, graph.constant(np.array(_EDGE)))
    shares = divided(graph, counts, 3)
    parted = graph.add(
        "Add", graph.add("Sub", shares, edge),
        graph.add("Mul", first, graph.constant(np.array(3 * _EDGE))),
    )  # fmt: skip
    shares = graph.add("Where", alone, parted, shares)
    return Decision(model.classes_, squeezed(graph, decided), shares, make_votes, len(forest))


def _majority(prediction: PredictionGraph, votes: str, who: npt.NDArray[Any]) -> str:
    """The majority of nested committees of three, of shape (n_rows, 1)."""
    if who.ndim == 0:
        index = prediction.graph.constant(np.array([int(who)]))
        return prediction.graph.add("Gather", votes, index, axis=1)
    return _of_three(prediction, *(_majority(prediction, votes, one) for one in who))


def _of_three(prediction: PredictionGraph, first: str, second: str, third: str) -> str:
    agree = prediction.graph.add("Equal", second, third)
    return prediction.graph.add("Where", agree, second, first)


# -- regression and gradient boosting --------------------------------------------------------------


def decide_median(prediction: PredictionGraph, model: Any) -> Decision:
    """The weighted median of the members' predictions."""
    graph, forest = prediction.graph, forest_of(model)
    if not model._is_own:
        return decide_by_rule(prediction, model, forest)
    value = forest.value[:, 0].astype(np.float64)
    if isinstance(model, AdaBoostRRegressor):
        value = np.clip(value, *model.target_range_)
    answers = prediction.numbers(forest, value)
    steps = _in_steps(np.asarray(model.member_weights_, dtype=np.float64))
    n_members = len(forest)
    ordered, place = graph.add_many(
        "TopK", answers, graph.constant(np.array([n_members])), n_outputs=2, axis=1, largest=0,
        sorted=1,
    )  # fmt: skip
    counted = graph.add("Gather", graph.constant(steps), place, axis=0)
    running = graph.add("CumSum", counted, graph.constant(np.array(1)))
    half = graph.constant(np.array((int(steps.sum()) + 1) // 2))
    enough = graph.add("Cast", graph.add("GreaterOrEqual", running, half), to=INT64)
    first = graph.add("ArgMax", enough, axis=1, keepdims=1, select_last_index=0)
    median = squeezed(graph, graph.add("GatherElements", ordered, first, axis=1))
    return Decision(None, median, None, lambda: answers, n_members)


def decide_gradient(prediction: PredictionGraph, model: Any) -> Decision:
    """The scores of gradient boosting, and the predictions and probabilities made of them."""
    if hasattr(model, "init_estimator_"):
        raise NoOnnxFormError(
            f"{type(model).__name__} with init={type(model.init_estimator_).__name__}",
            "its scores start from those of another model",
            "export a model with init=None",
        )
    if isinstance(model._fitted_loss, QuantileErrors):
        raise NoOnnxFormError(
            f"{type(model).__name__} of several quantiles",
            "it predicts several numbers for a row",
            "export a model for each quantile",
        )
    graph, additive = prediction.graph, model._model
    loss = model._fitted_loss
    if additive.forest.n_outputs > 1:
        forest = additive.forest
        scores = prediction.ordered_row_sums(forest, forest.value, start=additive.start)
        decided = first_of_greatest(graph, scores)
        return Decision(model.classes_, decided, graph.add("Softmax", scores, axis=1))
    n_scores, trees = additive.n_scores, np.arange(len(additive.forest))
    columns = []
    for k, start in enumerate(additive.start):
        forest = additive.forest.subset(trees[k::n_scores])
        columns.append(prediction.ordered_sum(forest, forest.value[:, 0], start=float(start)))
    if not hasattr(model, "classes_"):
        return Decision(None, _by_link(graph, loss, squeezed(graph, columns[0])))
    if len(columns) > 1 or isinstance(loss, MultinomialLoss):
        scores = graph.add("Concat", *columns, axis=1)
        decided = first_of_greatest(graph, scores)
        if len(columns) == 1:  # one class has one score
            above = graph.add("Greater", scores, graph.constant(np.array(0.0)))
            decided = squeezed(graph, graph.add("Cast", above, to=INT64))
        return Decision(model.classes_, decided, graph.add("Softmax", scores, axis=1))
    (score,) = columns
    above = graph.add("Greater", score, graph.constant(np.array(0.0)))
    odds = graph.add("Concat", graph.add("Neg", score), score, axis=1)
    if isinstance(loss, ExponentialLoss):
        odds = graph.add("Mul", odds, graph.constant(np.array(2.0)))
    decided = squeezed(graph, graph.add("Cast", above, to=INT64))
    return Decision(model.classes_, decided, graph.add("Sigmoid", odds))


def _by_link(graph: Graph, loss: Any, score: str) -> str:
    """Predictions made of scores."""
    link = loss.link if isinstance(loss, CustomLoss) else ""
    if link == "log" or isinstance(loss, TweedieDeviance):
        return graph.add("Exp", score)
    return graph.add("Sigmoid", score) if link == "logit" else score


def decide_by_weights(
    prediction: PredictionGraph, forest: Forest, weights: Floats, classes: npt.NDArray[Any]
) -> Decision:
    """The decision of a vote with the weights of an ordering rule."""
    graph = prediction.graph
    sums = prediction.ordered_row_sums(forest, one_hot(forest, weights))
    shares = divided(graph, sums, float(weights.sum()))
    decided = first_of_greatest(graph, shares)
    return Decision(classes, decided, shares, member_votes(prediction, forest), len(forest))


def decide_by_costs(prediction: PredictionGraph, model: Any, inner: Decision) -> Decision:
    """The class of least expected cost."""
    costs = model.cost_matrix_
    if len(costs) > 2:
        raise NoOnnxFormError(
            f"CostThresholdClassifier of {len(costs)} classes",
            "its expected costs are sums whose last bits, which differ between machines, may "
            "decide a tie",
            "export its estimator_, and multiply the probabilities by cost_matrix_",
        )
    graph = prediction.graph
    differences = costs - costs.max(axis=1, keepdims=True)
    assert inner.shares is not None
    expected = graph.add("MatMul", inner.shares, graph.constant(differences))
    decided = graph.add("ArgMin", expected, axis=1, keepdims=0, select_last_index=0)
    return Decision(model.classes_, decided, inner.shares, inner.members, inner.n_members)
