"""Decisions of scikit-learn's trees, forests, bags of trees and AdaBoost, in ONNX.

scikit-learn's trees compare numbers in single precision with thresholds in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import BaseDecisionTree

from orfeon.forest import Forest
from orfeon.io.onnx.boosting import decide_by_weights
from orfeon.io.onnx.decision import (
    Decision,
    column_sums,
    divided,
    first_of_greatest,
    member_votes,
    squeezed,
)
from orfeon.io.onnx.ensembles import decide_mean, decide_shares
from orfeon.io.onnx.errors import NoOnnxFormError
from orfeon.io.onnx.graph import INT64
from orfeon.io.onnx.prediction import PredictionGraph
from orfeon.members.scikit_learn_trees import tree_as_forest

FORESTS = (
    RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor,
)  # fmt: skip
BAGS = (BaggingClassifier, BaggingRegressor)
#: Classes of scikit-learn that can be exported.
KINDS = (BaseDecisionTree, *FORESTS, *BAGS, AdaBoostClassifier)


def _check_one_output(model: Any, trees: Sequence[Any]) -> None:
    for tree in trees:
        if not isinstance(tree, BaseDecisionTree):
            raise NoOnnxFormError(
                f"{type(model).__name__} of {type(tree).__name__}",
                "of scikit-learn's members only its trees have one",
                "export it with skl2onnx, or train it with DecisionTreeClassifier or "
                "DecisionTreeRegressor",
            )
        if tree.n_outputs_ > 1:
            raise NoOnnxFormError(
                f"{type(model).__name__} of {tree.n_outputs_} outputs",
                "orfeon's exports have one output",
                "train a model for each",
            )


def scikit_learn_forest(model: Any) -> Forest:
    trees = [model] if isinstance(model, BaseDecisionTree) else list(model.estimators_)
    _check_one_output(model, trees)
    n_classes = len(model.classes_) if is_classifier(model) else 0
    every = [None] * len(trees)
    columns = model.estimators_features_ if isinstance(model, BAGS) else every
    made = []
    for tree, mine in zip(trees, columns, strict=True):
        codes = None
        if n_classes:
            known = np.asarray(tree.classes_)
            codes = np.searchsorted(model.classes_, known)
            if isinstance(model, (*FORESTS, *BAGS)):  # their trees were fitted to codes
                codes = known.astype(np.int64)
        made.append(tree_as_forest(tree, n_classes, codes, model.n_features_in_, mine))
    return Forest.concatenate(made)


def decide_scikit_learn(
    prediction: PredictionGraph, model: Any, weights: npt.NDArray[np.float64] | None = None
) -> Decision:
    forest = scikit_learn_forest(model)
    if weights is not None:
        return decide_by_weights(prediction, forest, weights, model.classes_)
    if not is_classifier(model):
        return decide_mean(prediction, forest)
    if isinstance(model, AdaBoostClassifier):
        return _decide_adaboost(prediction, model, forest)
    return decide_shares(prediction, forest, model.classes_, forest.value)


def _decide_adaboost(prediction: PredictionGraph, model: Any, forest: Forest) -> Decision:
    """The decision of SAMME: a vote counts for its class, and a little against the others."""
    graph, n_classes = prediction.graph, len(model.classes_)
    weights = np.asarray(model.estimator_weights_[: len(forest)], dtype=np.float64)
    if n_classes == 1:
        raise NoOnnxFormError(
            "AdaBoostClassifier of one class", "it decides nothing", "export a tree of it"
        )
    each = np.repeat(weights, forest.n_nodes)[:, None]
    is_own = forest.label[:, None] == np.arange(n_classes)
    value = np.where(is_own, each, -1 / (n_classes - 1) * each)
    sums = prediction.ordered_row_sums(forest, value)
    scores = divided(graph, sums, float(model.estimator_weights_.sum()))
    votes = member_votes(prediction, forest)
    if n_classes == 2:
        scores = graph.add("Mul", scores, graph.constant(np.array([-1.0, 1.0])))
        score = column_sums(graph, scores, 2)
        above = graph.add("Greater", score, graph.constant(np.array(0.0)))
        decided = squeezed(graph, graph.add("Cast", above, to=INT64))
        both = graph.add("Concat", graph.add("Neg", score), score, axis=1)
        shares = graph.add("Softmax", divided(graph, both, 2.0), axis=1)
        return Decision(model.classes_, decided, shares, votes, len(forest))
    shares = graph.add("Softmax", divided(graph, scores, n_classes - 1), axis=1)
    return Decision(model.classes_, first_of_greatest(graph, scores), shares, votes, len(forest))
