"""The outputs of scikit-learn's models of trees as sums over trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.tree import BaseDecisionTree
from sklearn.utils.validation import validate_data

from orfeon.forest import Forest
from orfeon.inspection.tree_sum_types import (
    AdditiveOutput,
    NoTreeSumError,
    Output,
    TreeSum,
    leaf_votes,
    one_model,
)
from orfeon.members.scikit_learn_trees import predictor_as_forest, tree_as_forest, tree_weights
from orfeon.utils.types import Floats, Integers

_FORESTS = (
    RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor,
)  # fmt: skip
_BAGS = (BaggingClassifier, BaggingRegressor)
_GRADIENT = (GradientBoostingClassifier, GradientBoostingRegressor)
_HISTOGRAM = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
_VOTING = (VotingClassifier, VotingRegressor)

Read = Callable[[Any, Output], AdditiveOutput]


def of_scikit_learn(model: Any, output: Output, read: Read) -> AdditiveOutput:
    """The output of a model of scikit-learn; ``read`` reads any model."""
    if isinstance(model, _GRADIENT):
        return _of_gradient(model, output)
    if isinstance(model, _HISTOGRAM):
        return _of_histogram(model, output)
    if isinstance(model, _VOTING):
        return _of_voting(model, output, read)
    if isinstance(model, (BaseDecisionTree, AdaBoostClassifier, *_FORESTS, *_BAGS)):
        return _of_trees(model, output)
    raise NoTreeSumError(model, "its output is not known to be a sum over trees")


def _single(model: Any) -> Callable[[Any], Floats]:
    """Rows in single precision, as scikit-learn's trees take them."""

    def encode(X: Any) -> Floats:
        rows = validate_data(model, X, reset=False, dtype=np.float32, ensure_all_finite="allow-nan")
        return np.ascontiguousarray(rows, dtype=np.float64)

    return encode


def _check_output(model: Any, output: Output, allowed: tuple[str, ...]) -> None:
    if output not in ("auto", *allowed):
        names = " or ".join(f'"{one}"' for one in ("auto", *allowed))
        raise ValueError(
            f"output={output!r} is not allowed for {type(model).__name__}; use {names}."
        )


def _joined(trees: list[Any], forests: list[Forest], values: Floats, **more: Any) -> TreeSum:
    forest = Forest.concatenate(forests)
    cover = np.concatenate([tree_weights(one) for one in trees])
    return TreeSum(
        forest, np.ascontiguousarray(values), cover=cover,
        **{
            "column": np.zeros(len(forest), np.int64), "players": np.arange(forest.n_features),
            **more,
        },
    )  # fmt: skip


def _of_trees(model: Any, output: Output) -> AdditiveOutput:
    """Trees, forests, bags of trees and AdaBoost."""
    is_boosted = isinstance(model, AdaBoostClassifier)
    votes_only = ("raw",) if is_boosted else ("supports", "votes")
    _check_output(model, output, votes_only if is_classifier(model) else ())
    trees = [model] if isinstance(model, BaseDecisionTree) else list(model.estimators_)
    for tree in trees:
        if not isinstance(tree, BaseDecisionTree):
            raise NoTreeSumError(model, f"its members are of type {type(tree).__name__}")
    classes = model.classes_ if is_classifier(model) else None
    n_classes = 0 if classes is None else len(classes)
    columns = model.estimators_features_ if isinstance(model, _BAGS) else [None] * len(trees)
    forests = []
    for tree, its in zip(trees, columns, strict=True):
        codes = None
        if classes is not None:
            known = np.asarray(tree.classes_)
            of_codes = isinstance(model, _FORESTS + _BAGS)  # their trees were fitted to codes
            codes = known.astype(np.int64) if of_codes else np.searchsorted(classes, known)
        forests.append(tree_as_forest(tree, n_classes, codes, model.n_features_in_, its))
    whole = Forest.concatenate(forests)
    start = np.zeros(max(n_classes, 1))
    encode = _single(model)
    if isinstance(model, AdaBoostClassifier):
        return _of_adaboost(model, trees, forests, encode)
    if output == "votes":
        part = _joined(trees, forests, leaf_votes(whole) / len(trees), encode=encode, is_vote=True)
        return AdditiveOutput((part,), start, "share of the votes", classes, ())
    values = whole._shares() if n_classes else whole.value
    what = "mean class share" if n_classes else "mean of the trees"
    part = _joined(trees, forests, values / len(trees), encode=encode)
    return AdditiveOutput((part,), start, what, classes, ())


def _of_adaboost(model: Any, trees: Any, forests: Any, encode: Any) -> AdditiveOutput:
    """Its ``decision_function``."""
    whole, n_classes = Forest.concatenate(forests), len(model.classes_)
    weights = np.asarray(model.estimator_weights_[: len(trees)], dtype=np.float64)
    each = np.repeat(weights / model.estimator_weights_.sum(), whole.n_nodes)[:, None]
    is_own = whole.label[:, None] == np.arange(n_classes)
    values = np.where(is_own, each, -each / max(n_classes - 1, 1))
    classes = model.classes_
    if n_classes == 2:
        values, classes = values[:, 1:] - values[:, :1], classes[1:]
    part = _joined(trees, forests, values, encode=encode, is_vote=True)
    return AdditiveOutput((part,), np.zeros(values.shape[1]), "raw score", classes, ())


def _of_gradient(model: Any, output: Output) -> AdditiveOutput:
    _check_output(model, output, ("raw",))
    if not (model.init_ == "zero" or isinstance(model.init_, DummyClassifier | DummyRegressor)):
        raise NoTreeSumError(
            model, f"its scores start from those of init={type(model.init_).__name__}",
            "explain a model with init=None",
        )  # fmt: skip
    grid = model.estimators_
    trees = list(grid.ravel())
    forests = [tree_as_forest(tree, 0, None, model.n_features_in_) for tree in trees]
    values = model.learning_rate * np.concatenate([one.value for one in forests])
    zero = np.zeros((1, model.n_features_in_), np.float32)
    start = np.asarray(model._raw_predict_init(zero), dtype=np.float64)[0]
    column = np.tile(np.arange(grid.shape[1]), len(grid))
    part = _joined(trees, forests, values, encode=_single(model), column=column)
    return AdditiveOutput((part,), start, "raw score", _scored(model, grid.shape[1]), ())


def _scored(model: Any, n_scores: int) -> Any:
    classes = getattr(model, "classes_", None)
    return classes if classes is None or n_scores > 1 else classes[-1:]


def _of_histogram(model: Any, output: Output) -> AdditiveOutput:
    _check_output(model, output, ("raw",))
    players, n_categories = _columns_of_histogram(model)
    rounds = model._predictors
    made = [predictor_as_forest(one, n_categories) for each in rounds for one in each]
    forest = Forest.concatenate([one for one, _ in made])
    start = np.ravel(model._baseline_prediction).astype(np.float64)

    def encode(X: Any) -> Floats:
        return np.ascontiguousarray(model._preprocess_X(X, reset=False), dtype=np.float64)

    column: Integers = np.tile(np.arange(len(start)), len(rounds))
    cover = np.concatenate([weights for _, weights in made])
    part = TreeSum(forest, forest.value, column, cover, encode, players)
    return AdditiveOutput((part,), start, "raw score", _scored(model, len(start)), ())


def _columns_of_histogram(model: Any) -> tuple[Integers, Integers]:
    """The feature of each column that its trees read, and the column's number of categories.

    Categories come first, as codes; those that were not seen in training are missing.
    """
    n_features = model.n_features_in_
    is_categorical = model.is_categorical_
    if is_categorical is None or not np.any(is_categorical):
        return np.arange(n_features), np.zeros(n_features, np.int64)
    players = np.concatenate([np.flatnonzero(is_categorical), np.flatnonzero(~is_categorical)])
    known = model._preprocessor.named_transformers_["encoder"].categories_
    n_categories = np.zeros(n_features, np.int64)
    n_categories[: len(known)] = [
        sum(one == one and one is not None for one in own) for own in known
    ]
    return players, n_categories


def _of_voting(model: Any, output: Output, read: Read) -> AdditiveOutput:
    if isinstance(model, VotingClassifier) and model.voting != "soft":
        raise NoTreeSumError(model, "its members vote for classes", 'fit it with voting="soft"')
    _check_output(model, output, ("supports",) if is_classifier(model) else ())
    found = []
    for member in model.estimators_:
        one = read(member, "supports" if is_classifier(model) else "auto")
        if is_classifier(model) and len(one.start) != len(model.classes_):
            raise NoTreeSumError(model, f"its member {type(member).__name__} has no class shares")
        found.append(one)
    weights = np.ones(len(found)) if model.weights is None else model._weights_not_none
    whole = one_model(found, np.asarray(weights, dtype=np.float64))
    classes = model.classes_ if is_classifier(model) else None
    return replace(whole, classes=classes, names=())
