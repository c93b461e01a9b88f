"""The outputs of orfeon's models of trees as sums over trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from orfeon.forest import Forest
from orfeon.inspection.tree_sum_types import (
    INSTEAD,
    AdditiveOutput,
    NoTreeSumError,
    Output,
    TreeSum,
    after_transform,
    check_numbers,
    leaf_votes,
    own_part,
    shares_output,
)
from orfeon.utils.types import Floats, Integers

Read = Callable[[Any, Output], AdditiveOutput]


def of_own(model: Any, output: Output, read: Read) -> AdditiveOutput:
    """The output of a model of orfeon; ``read`` reads any model."""
    from orfeon.boosting.gradient_base import GradientBoosting
    from orfeon.boosting.weighted_vote import WeightedMedianMixin, WeightedVoteMixin
    from orfeon.combining.calibrated_ensemble import CalibratedEnsemble
    from orfeon.combining.conformal import ConformalClassifier, ConformalRegressor
    from orfeon.combining.ensemble_selection import EnsembleSelection
    from orfeon.ensembles.voting import AveragingRegressorMixin, VotingClassifierMixin
    from orfeon.imbalance.cost_classifier import CostClassifier
    from orfeon.ordering.combined_multiple_models import CombinedMultipleModels
    from orfeon.trees.base import BaseTree

    if isinstance(model, CostClassifier | CombinedMultipleModels):
        return read(model.estimator_, output)
    if isinstance(model, CalibratedEnsemble):
        return read(model.ensemble_, output)
    if isinstance(model, ConformalClassifier | ConformalRegressor):
        return after_transform(read(model.estimator_, output), model._rows)
    if isinstance(model, EnsembleSelection):
        return _of_selection(model, output, read)
    if isinstance(model, BaseTree):
        return _of_tree(model, output)
    if isinstance(model, GradientBoosting):
        return _of_gradient(model, output)
    if isinstance(model, WeightedVoteMixin):
        return _of_weighted(model, output)
    if isinstance(model, WeightedMedianMixin) and model._is_own:
        raise NoTreeSumError(
            model, "it predicts the weighted median of its members, which is not a sum",
            'set_params(combine="mean") on the fitted model explains their mean, or ' + INSTEAD,
        )  # fmt: skip
    if isinstance(model, VotingClassifierMixin):
        return _of_voting(model, output, read)
    if isinstance(model, AveragingRegressorMixin | WeightedMedianMixin):
        return _of_averaging(model, output, read)
    raise NoTreeSumError(model, "its output is not a sum over trees")


def _of_tree(model: Any, output: Output) -> AdditiveOutput:
    if getattr(model, "soft_bounds_", None) is not None:
        raise NoTreeSumError(
            model, "with soft thresholds a row near a cut goes down both branches",
            "fit it with soft_thresholds=False",
        )  # fmt: skip
    forest: Forest = model.forest_
    if forest.n_classes == 0:
        check_numbers(model, output)
        part = own_part(forest, forest.value, model._encode)
        return AdditiveOutput((part,), np.zeros(1), "prediction", None, ())
    found = shares_output(forest, model._encode, model.classes_, output, "supports")
    return replace(found, what="vote" if output == "votes" else "class share")


def _of_gradient(model: Any, output: Output) -> AdditiveOutput:
    if output in ("supports", "votes"):
        raise ValueError(
            f"output={output!r} is not allowed: the trees of {type(model).__name__} do not vote, "
            'they add to a score; use "raw".'
        )
    if hasattr(model, "init_estimator_"):
        raise NoTreeSumError(
            model, f"its scores start from those of init={type(model.init_estimator_).__name__}",
            "explain a model with init=None",
        )  # fmt: skip
    additive = model._model
    column = np.arange(len(additive.forest)) % additive.n_trees_of_round
    part = own_part(
        additive.forest, additive.forest.value, model._encode, of_scores=True, column=column,
        players=model.tree_features_,
    )  # fmt: skip
    classes = getattr(model, "classes_", None)
    if classes is not None and additive.n_scores == 1:
        classes = classes[-1:]
    return AdditiveOutput((part,), np.asarray(additive.start), "raw score", classes, ())


def _members_forest(model: Any) -> Forest:
    members = model.members_
    if isinstance(members, Forest):
        return members
    kind = type(getattr(members, "estimators", [members])[0]).__name__
    raise NoTreeSumError(model, f"its members are not trees of orfeon, but of type {kind}")


def _of_voting(model: Any, output: Output, read: Read) -> AdditiveOutput:
    from orfeon.ensembles.decision import COUNTS
    from orfeon.members.members import CommitteeMembers, EstimatorMembers

    usual: dict[str, Output] = {**dict.fromkeys(COUNTS, "votes"), "soft": "supports"}
    simple = model._simple_rule
    kind = usual.get(simple, "auto") if output in ("auto", "raw") else output
    if isinstance(model.members_, CommitteeMembers):
        return _of_committees(model, kind)
    if isinstance(model.members_, EstimatorMembers):
        return _of_estimators(model, model.members_, kind, read)
    forest = _members_forest(model)
    if kind == "auto":
        return _by_rule(model, forest)
    return shares_output(forest, model._encode, model.classes_, kind, kind)


def _by_rule(model: Any, forest: Forest) -> AdditiveOutput:
    """Weighted votes and weighted means."""
    from orfeon.rules.supports import Average
    from orfeon.rules.votes import WeightedVote

    decider = model.decider_
    weights = getattr(decider, "weights", None)
    each = np.ones(len(forest)) if weights is None else np.asarray(weights, dtype=np.float64)
    if type(decider) in (Average, WeightedVote) and (each >= 0).all() and each.any():
        each = each / each.sum()
        is_vote = type(decider) is WeightedVote
        if is_vote:
            values = leaf_votes(forest, each)
        else:
            values = forest._shares() * np.repeat(each, forest.n_nodes)[:, None]
        part = own_part(forest, values, model._encode, is_vote=is_vote)
        what = "share of the weighted votes" if is_vote else "weighted mean"
        start = np.zeros(values.shape[1])
        return AdditiveOutput((part,), start, what, getattr(model, "classes_", None), ())
    instead = 'use output="votes" or "supports"' if forest.n_classes else INSTEAD
    raise NoTreeSumError(model, f"combine={model.combine!r} is not a sum over its members", instead)


def _of_committees(model: Any, kind: Output) -> AdditiveOutput:
    if kind != "supports":
        raise NoTreeSumError(
            model, "its committees decide by a vote of their own before they vote",
            'use output="supports", the mean share of the trees of a committee',
        )  # fmt: skip
    committees = model.members_.committees
    forest = Forest.concatenate(list(committees))
    sizes = np.array([len(one) for one in committees])
    weights = np.repeat(1.0 / (len(sizes) * sizes), sizes)
    part = own_part(forest, leaf_votes(forest, weights), model._encode, is_vote=True)
    start = np.zeros(forest.n_classes)
    return AdditiveOutput((part,), start, "mean share of the committees", model.classes_, ())


def _of_estimators(model: Any, members: Any, kind: Output, read: Read) -> AdditiveOutput:
    """The mean over estimators that are sums over trees themselves."""
    classes = getattr(model, "classes_", None)
    if kind == "auto":
        raise NoTreeSumError(model, f"combine={model.combine!r} is not a sum over its members")
    found = []
    for member in members.estimators:
        try:
            one = read(member, kind if classes is not None else "auto")
        except (TypeError, ValueError) as error:
            raise NoTreeSumError(
                model, f"of its member {type(member).__name__}: {error}"
            ) from error
        if classes is not None and one.what == "raw score":
            raise NoTreeSumError(
                model, f"its members, {type(member).__name__}, add scores and not class shares"
            )
        found.append(one)
    n_outputs = 1 if classes is None else len(classes)
    parts: list[TreeSum] = []
    start = np.zeros(n_outputs)
    for t, one in enumerate(found):
        codes = np.arange(n_outputs) if one.classes is None else np.asarray(one.classes, np.int64)
        start[codes] += one.start / len(found)
        columns = None if members.features is None else members.features[t]
        parts.extend(
            _member_part(part, codes, n_outputs, columns, len(found)) for part in one.parts
        )
    what = "mean of the members" if classes is None else f"mean of the members' {kind}"
    return AdditiveOutput(tuple(parts), start, what, classes, ())


def _member_part(
    part: TreeSum, codes: Integers, n_outputs: int, columns: Integers | None, n_members: float
) -> TreeSum:
    """The part of a member, for the outputs and the features of the ensemble."""
    values = np.zeros((len(part.values), n_outputs))
    if part.column.any():  # trees that add to one output each
        values[np.arange(len(values)), np.repeat(part.column, part.forest.n_nodes)] = part.values[
            :, 0
        ]
    else:
        values[:, codes] = part.values
    encode, players = part.encode, part.players
    if columns is not None:
        from orfeon.utils.scikit_learn import _safe_indexing

        def encode_own(X: Any) -> Floats:
            return part.encode(_safe_indexing(X, columns, axis=1))

        encode, players = encode_own, np.asarray(columns)[players]
    column = np.zeros(len(part.forest), np.int64)
    return replace(part, values=values / n_members, column=column, encode=encode, players=players)


def _of_selection(model: Any, output: Output, read: Read) -> AdditiveOutput:
    """The weighted mean of models that are sums over trees: of class shares, or of numbers."""
    classes = getattr(model, "classes_", None)
    n_outputs = 1 if classes is None else len(classes)
    parts: list[TreeSum] = []
    start = np.zeros(n_outputs)
    shares = model.weights_[model.weights_ > 0]
    for share, member in zip(shares, model.estimators_, strict=True):
        kind = type(member).__name__
        try:
            one = read(member, output)
        except (TypeError, ValueError) as error:
            raise NoTreeSumError(
                model, f"it takes the mean with {kind}, which is not a sum over trees",
                "explain the others in estimators_ one by one",
            ) from error  # fmt: skip
        if classes is not None and one.what.startswith(("raw", "sum")):
            raise NoTreeSumError(
                model, f"it takes the mean with {kind}, whose trees add to scores and not to class "
                "shares", "explain the models in estimators_ one by one",
            )  # fmt: skip
        codes = np.arange(n_outputs)
        if classes is not None and one.classes is not None:
            codes = np.searchsorted(classes, one.classes)
        start[codes] += share * one.start
        after = after_transform(one, model._rows)
        parts.extend(_member_part(part, codes, n_outputs, None, 1 / share) for part in after.parts)
    what = "weighted mean" if classes is not None else "prediction"
    return AdditiveOutput(tuple(parts), start, what, classes, ())


def _of_averaging(model: Any, output: Output, read: Read) -> AdditiveOutput:
    from orfeon.members.members import EstimatorMembers

    check_numbers(model, output)
    if isinstance(model.members_, EstimatorMembers) and model._simple_rule == "mean":
        return _of_estimators(model, model.members_, "supports", read)
    forest = _members_forest(model)
    if model._simple_rule != "mean":
        return _by_rule(model, forest)
    part = own_part(forest, forest.value / len(forest), model._encode)
    return AdditiveOutput((part,), np.zeros(1), "mean of the trees", None, ())


def _of_weighted(model: Any, output: Output) -> AdditiveOutput:
    """Boosting by weighted votes."""
    from orfeon.boosting.adaboost_mh import _BinaryProblems
    from orfeon.boosting.output_codes import AdaBoostOCClassifier
    from orfeon.boosting.real_adaboost import RealAdaBoostClassifier

    if isinstance(model, _BinaryProblems):
        return _of_problems(model)
    if not model._is_own:
        if output in ("votes", "supports"):
            forest = _members_forest(model)
            return shares_output(forest, model._encode, model.classes_, output, output)
        return _by_rule(model, _members_forest(model))
    if output == "supports" and model._member_output == "votes":
        raise ValueError(
            f'output="supports" is not allowed: the members of {type(model).__name__} vote with '
            'weights; use "votes" or "raw".'
        )
    forest, votes = _members_forest(model), model.member_weights_
    is_vote = False
    if isinstance(model, AdaBoostOCClassifier):
        each = np.repeat(votes, forest.n_nodes, axis=0)
        has_colour = forest.label[:, None] == (each > 0)
        values, what, is_vote = np.where(has_colour, np.abs(each), 0.0), "sum of the votes", True
    elif model._member_output == "supports":
        values = np.repeat(votes, forest.n_nodes)[:, None] * model._leaf_outputs(forest._shares())
        what = "sum of the supports"
    else:
        values, what, is_vote = leaf_votes(forest, votes), "sum of the votes", True
    curved = isinstance(model, AdaBoostOCClassifier) or (
        isinstance(model, RealAdaBoostClassifier) and model.confidence == "log_odds"
    )
    if not curved and output != "raw":
        values, what = values / float(model._total_vote), "share of the weighted votes"
    several_parts = isinstance(model, RealAdaBoostClassifier) and curved
    part = own_part(forest, values, model._encode, is_vote=is_vote or several_parts)
    return AdditiveOutput((part,), np.zeros(values.shape[1]), what, model.classes_, ())


def _of_problems(model: Any) -> AdditiveOutput:
    """Boosting of one problem for each class: a weighted vote of its own for each."""
    if model._squashes or not isinstance(model.members_.rounds[0], Forest):
        reason = "the outputs of its problems are not added as they are"
        if not model._squashes:
            reason = "its members are not trees of orfeon"
        raise NoTreeSumError(model, reason)
    values, column = [], []
    rounds = zip(model.members_.rounds, model.members_.problems, model.member_weights_, strict=True)
    for forest, problems, votes in rounds:
        each = np.repeat(np.atleast_1d(votes)[problems], forest.n_nodes)
        values.append((2 * forest.label - 1) * each)
        column.append(problems)
    part = own_part(
        model.forest_, np.concatenate(values)[:, None], model._encode,
        column=np.concatenate(column).astype(np.int64), is_vote=True,
    )  # fmt: skip
    start = np.zeros(model.n_classes_)
    return AdditiveOutput((part,), start, "sum of the votes", model.classes_, ())
