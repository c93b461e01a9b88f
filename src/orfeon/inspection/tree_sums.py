"""Models whose output is a sum over trees: what a leaf adds, for every kind of model.

Exact Shapley values and partial dependence by routing need nothing else of a model. Shares of
votes, mean class shares, means, and the raw scores of boosting are such sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from orfeon.base import TabularEstimator
from orfeon.data.schema import names_of
from orfeon.forest import Forest
from orfeon.inspection.display import check_choice
from orfeon.kernels.routing.route import ALL_BRANCHES
from orfeon.utils.types import Floats, Integers

Output = Literal["auto", "supports", "votes", "raw"]

#: Outputs that are shares of the classes.
SHARES = ("share of the votes", "mean class share", "share of the weighted votes", "weighted mean")
_INSTEAD = (
    "use shap.Explainer(model.predict, X) of the package shap, or "
    'orfeon.inspection.importances(model, X, y, kind="permutation")'
)


class NoTreeSumError(TypeError):
    """A model's output is no sum over trees."""

    def __init__(self, model: Any, reason: str, instead: str = _INSTEAD) -> None:
        name = model if isinstance(model, str) else type(model).__name__
        super().__init__(f"{name} has no exact explanation by its trees: {reason}; {instead}.")
        self.args_of = (name, reason, instead)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args_of


@dataclass(frozen=True, eq=False)
class TreeSum:
    """A forest, and what its leaves add to the outputs.

    Parameters
    ----------
    forest : Forest
        The tests.
    values : ndarray of shape (n_nodes, n_columns)
        What each leaf adds.
    column : ndarray of shape (n_trees,)
        The output to which the first of these columns is added.
    cover : ndarray of shape (n_nodes,) or None
        Weight of the training samples in each node, if known.
    encode : callable
        Turns rows into numbers as the trees take them.
    players : ndarray of shape (n_columns_of_rows,)
        The feature that each column of encoded rows belongs to.
    is_vote : bool
        Whether each tree votes: then a row must not go down several branches.
    """

    forest: Forest
    values: Floats
    column: Integers
    cover: Floats | None
    encode: Callable[[Any], Floats]
    players: Integers
    is_vote: bool = False

    @cached_property
    def tests(self) -> tuple[Any, ...]:
        """The tests of all nodes, as kernels take them."""
        forest, whole = self.forest, np.ascontiguousarray
        return (
            forest.tree_start, whole(forest.feature), whole(forest.threshold),
            whole(forest.first_child), forest.n_children, forest.missing, forest.n_categories > 0,
            forest.branches,
        )  # fmt: skip

    @cached_property
    def player_at(self) -> Integers:
        """The feature of X that each node tests."""
        return np.asarray(self.players, dtype=np.int64)[self.forest.feature]

    @cached_property
    def shares(self) -> Floats | None:
        """Share of each node in the training samples of its parent."""
        if self.cover is None:
            return None
        parent = self.forest.parents()
        inner = np.flatnonzero(parent >= 0)
        above = parent[inner]
        total = np.bincount(above, self.cover[inner], len(parent))
        shares = np.ones(len(parent))
        equal = 1.0 / self.forest.n_children[above]
        known = total[above] > 0
        shares[inner] = np.where(
            known, self.cover[inner] / np.where(known, total[above], 1.0), equal
        )
        return shares

    def in_part(self, rows: Floats) -> npt.NDArray[np.bool_]:
        """Which encoded rows may go down several branches of some node."""
        forest = self.forest
        found = np.zeros(len(rows), bool)
        of_missing = np.unique(forest.feature[forest.missing == ALL_BRANCHES])
        if len(of_missing):
            found |= np.isnan(rows[:, of_missing]).any(axis=1)
        for j, codes in self._split_codes.items():
            found |= np.isin(rows[:, j], codes)
        return found

    @cached_property
    def _split_codes(self) -> dict[int, Integers]:
        """Codes of categories that go down all branches of some node, by feature."""
        forest, found = self.forest, {}
        if not (forest.branches == ALL_BRANCHES).any():
            return {}
        for j in np.flatnonzero(forest.n_categories):
            at = np.flatnonzero((forest.feature == j) & (forest.n_children > 0))
            start = forest.threshold[at].astype(np.int64)
            tables = forest.branches[start[:, None] + np.arange(forest.n_categories[j])]
            codes = np.flatnonzero((tables == ALL_BRANCHES).any(axis=0))
            if len(codes):
                found[int(j)] = codes
        return found

    def add_predictions(self, rows: Floats, out: Floats) -> None:
        """Add the sums of encoded rows to ``out``, of shape (n_rows, n_outputs)."""
        forest = self.forest
        leaves = forest.apply(rows)
        for t, start in enumerate(forest.tree_start[:-1]):
            k = slice(self.column[t], self.column[t] + self.values.shape[1])
            out[:, k] += self.values[start + leaves[:, t]]
        several = np.flatnonzero(self.in_part(rows))
        if len(several):
            self._check_no_vote(several)
            out[several] += self._in_part(rows[several], leaves[several], out.shape[1])

    def _in_part(self, rows: Floats, leaves: Integers, n_outputs: int) -> Floats:
        """What the leaves that rows reach in part add, less what those that were counted added."""
        from orfeon.kernels.routing import fractional

        forest, more = self.forest, np.zeros((len(rows), n_outputs))
        one = np.empty((len(rows), self.values.shape[1]))
        for t, start in enumerate(forest.tree_start[:-1]):
            fractional.supports_fractional(
                forest.feature, forest.threshold, forest.first_child, forest.n_children,
                forest.missing, self.cover, self.values, *forest._tests(), t,  # type: ignore[call-arg]
                forest.tree_start, rows, one,
            )  # fmt: skip
            k = slice(self.column[t], self.column[t] + self.values.shape[1])
            more[:, k] += one - self.values[start + leaves[:, t]]
        return more

    def _check_no_vote(self, several: Integers) -> None:
        if self.is_vote:
            raise ValueError(
                f"row {several[0]} has missing values that go down several branches of a tree, "
                "whose vote is then no sum over leaves; fill them in, or use "
                'output="supports" where the model has it.'
            )

    def check(self, rows: Floats) -> npt.NDArray[np.bool_]:
        """Check encoded rows; returns which go down several branches."""
        self.forest._check_rows(rows)
        self.forest._check_codes(rows)
        several = self.in_part(rows)
        if self.is_vote and several.any():
            self._check_no_vote(np.flatnonzero(several))
        return several


@dataclass(frozen=True, eq=False)
class AdditiveOutput:
    """The output of a model: a constant, and sums over trees.

    Parameters
    ----------
    parts : tuple of TreeSum
        What is added.
    start : ndarray of shape (n_outputs,)
        The constant.
    what : str
        What the output is.
    classes : ndarray or None
        The classes, in the order of the outputs; that of the one output of a binary score.
    names : tuple of str
        Names of the features.
    """

    parts: tuple[TreeSum, ...]
    start: Floats
    what: str
    classes: npt.NDArray[Any] | None
    names: tuple[str, ...]

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.start)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.names)

    def predict(self, X: Any) -> Floats:
        """The outputs of rows, of shape (n_rows, n_outputs)."""
        out: Floats | None = None
        for part in self.parts:
            rows = part.encode(X)
            if out is None:
                out = np.tile(self.start, (len(rows), 1))
            part.add_predictions(rows, out)
        assert out is not None
        return out


def additive_output(model: Any, output: Output = "auto", X: Any = None) -> AdditiveOutput:
    """The output of a fitted model as a sum over trees; raises if there is none.

    Parameters
    ----------
    model : estimator or Forest
        Fitted.
    output : {"auto", "supports", "votes", "raw"}, default="auto"
        Class shares of the leaves, votes, or raw scores; "auto" is what the model decides by,
        before shares are smoothed or calibrated.
    X : data frame, optional
        Rows whose columns name the features where the model does not.
    """
    check_choice("output", output, ("auto", "supports", "votes", "raw"))
    if issparse(X):
        raise ValueError("X is sparse; explanations need dense rows: pass some_rows.toarray().")
    found = _read(model, output)
    if len(found.names):
        return found
    n_features = 1 + max(int(part.players.max()) for part in found.parts)
    named = model[-1] if isinstance(model, Pipeline) and len(model) == 1 else model
    return replace(found, names=names_of(named, n_features, X))


def _read(model: Any, output: Output) -> AdditiveOutput:
    from orfeon.ordering.pruned_base import PrunedEnsemble

    if isinstance(model, type | str) or model is None:
        raise TypeError(f"model is {model!r}; a fitted tree, or ensemble of trees, is expected.")
    if isinstance(model, Forest):
        return _forest_alone(model, output)
    if isinstance(model, FrozenEstimator):
        return _read(model.estimator, output)
    if isinstance(model, Pipeline):
        return _of_pipeline(model, output)
    if not hasattr(model, "predict"):
        raise TypeError(
            f"model is of type {type(model).__name__}; a fitted tree, or ensemble of trees, is "
            "expected."
        )
    check_is_fitted(model)
    n_outputs = getattr(model, "n_outputs_", 1)
    if isinstance(n_outputs, int) and n_outputs > 1:
        raise NoTreeSumError(
            model, f"it has {n_outputs} outputs", "explain a model for each of them"
        )
    if isinstance(model, PrunedEnsemble):
        return _of_pruned(model, output)
    if isinstance(model, TabularEstimator) or type(model).__module__.startswith("orfeon."):
        return _of_own(model, output)
    from orfeon.inspection.tree_sums_scikit_learn import of_scikit_learn

    return of_scikit_learn(model, output, _read)


def _of_pipeline(model: Pipeline, output: Output) -> AdditiveOutput:
    found = _read(model.steps[-1][1], output)
    before = model[:-1] if len(model.steps) > 1 else None
    if before is None:
        return found
    names = found.names
    if not names:
        n_features = 1 + max(int(part.players.max()) for part in found.parts)
        try:
            names = tuple(map(str, before.get_feature_names_out()))
        except (AttributeError, ValueError):
            names = names_of(model.steps[-1][1], n_features)
    return replace(_after(found, before.transform), names=names)


def _after(found: AdditiveOutput, transform: Callable[[Any], Any]) -> AdditiveOutput:
    """The output of rows that are transformed first."""

    def both(encode: Callable[[Any], Floats]) -> Callable[[Any], Floats]:
        return lambda X: encode(transform(X))

    parts = tuple(replace(part, encode=both(part.encode)) for part in found.parts)
    return replace(found, parts=parts)


def _of_pruned(model: Any, output: Output) -> AdditiveOutput:
    if not model.order_.has_own_weights:
        return _read(model.ensemble_, output)
    weights = model.order_.member_weights[: len(model.kept_)]
    if output not in ("auto", "votes") or not is_classifier(model):
        raise ValueError(
            f"output={output!r} is not allowed: the rule of this {type(model).__name__} weights "
            'votes; use "votes", or explain its ensemble_.'
        )
    found = _read(model.ensemble_, "votes")
    (part,) = found.parts
    factor = np.repeat(weights * len(weights) / weights.sum(), part.forest.n_nodes)
    part = replace(part, values=part.values * factor[:, None])
    return replace(found, parts=(part,), what="share of the weighted votes")


# -- models of orfeon ------------------------------------------------------------------------------


def leaf_votes(forest: Forest, weights: Floats | None = None) -> Floats:
    """The vote of each node, as a row with one entry that is not 0."""
    votes = np.zeros((len(forest.nodes), forest.n_classes))
    each = 1.0 if weights is None else np.repeat(weights, forest.n_nodes)
    votes[np.arange(len(votes)), forest.label] = each
    return votes


def own_part(
    forest: Forest, values: Floats, encode: Any, *, of_scores: bool = False, **more: Any
) -> TreeSum:
    """A sum over trees of orfeon that all add to the same outputs."""
    if len(forest.projections[1]):
        raise NoTreeSumError(
            "A forest of oblique trees",
            "a test of several features at once belongs to none of them",
        )
    if forest.n_outputs > 1 and not of_scores:
        raise NoTreeSumError(
            "A forest of several outputs", "explanations are of one output: fit a model for each"
        )
    known = forest.n_classes > 0 or forest.leaf_weight is not None
    given = {
        "column": np.zeros(len(forest), np.int64),
        "players": np.arange(forest.n_features),
        **more,
    }
    values = np.ascontiguousarray(values, dtype=np.float64)
    return TreeSum(
        forest, values, cover=forest.weights() if known else None, encode=encode, **given
    )


def _forest_alone(forest: Forest, output: Output) -> AdditiveOutput:
    def encode(X: Any) -> Floats:
        return np.ascontiguousarray(X, dtype=np.float64)

    if forest.n_classes == 0:
        _check_numbers(forest, output)
        part = own_part(forest, forest.value / len(forest), encode)
        return AdditiveOutput((part,), np.zeros(1), "mean of the trees", None, ())
    return _shares(forest, encode, np.arange(forest.n_classes), output, "supports")


def _check_numbers(model: Any, output: Output) -> None:
    if output in ("supports", "votes"):
        raise ValueError(
            f"output={output!r} is not allowed: {type(model).__name__} predicts numbers; use "
            '"auto".'
        )


def _shares(
    forest: Forest, encode: Any, classes: Any, output: Output, usual: Output
) -> AdditiveOutput:
    """Shares of the votes, or mean class shares."""
    kind = usual if output in ("auto", "raw") else output
    is_vote = kind == "votes"
    values = leaf_votes(forest) if is_vote else forest._shares()
    part = own_part(forest, values / len(forest), encode, is_vote=is_vote)
    what = "share of the votes" if is_vote else "mean class share"
    return AdditiveOutput((part,), np.zeros(forest.n_classes), what, np.asarray(classes), ())


def _of_own(model: Any, output: Output) -> AdditiveOutput:
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
        return _read(model.estimator_, output)
    if isinstance(model, CalibratedEnsemble):
        return _read(model.ensemble_, output)
    if isinstance(model, ConformalClassifier | ConformalRegressor):
        return _after(_read(model.estimator_, output), model._rows)
    if isinstance(model, EnsembleSelection):
        return _of_selection(model, output)
    if isinstance(model, BaseTree):
        return _of_tree(model, output)
    if isinstance(model, GradientBoosting):
        return _of_gradient(model, output)
    if isinstance(model, WeightedVoteMixin):
        return _of_weighted(model, output)
    if isinstance(model, WeightedMedianMixin) and model._is_own:
        raise NoTreeSumError(
            model, "it predicts the weighted median of its members, which is no sum",
            'set_params(combine="mean") on the fitted model explains their mean, or ' + _INSTEAD,
        )  # fmt: skip
    if isinstance(model, VotingClassifierMixin):
        return _of_voting(model, output)
    if isinstance(model, AveragingRegressorMixin | WeightedMedianMixin):
        return _of_averaging(model, output)
    raise NoTreeSumError(model, "its output is not a sum over trees")


def _of_tree(model: Any, output: Output) -> AdditiveOutput:
    if getattr(model, "soft_bounds_", None) is not None:
        raise NoTreeSumError(
            model, "with soft thresholds a row near a cut goes down both branches",
            "fit it with soft_thresholds=False",
        )  # fmt: skip
    forest: Forest = model.forest_
    if forest.n_classes == 0:
        _check_numbers(model, output)
        part = own_part(forest, forest.value, model._encode)
        return AdditiveOutput((part,), np.zeros(1), "prediction", None, ())
    found = _shares(forest, model._encode, model.classes_, output, "supports")
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
    raise NoTreeSumError(model, f"its members are no trees of orfeon, but of type {kind}")


def _of_voting(model: Any, output: Output) -> AdditiveOutput:
    from orfeon.ensembles.decision import COUNTS
    from orfeon.members.members import CommitteeMembers, EstimatorMembers

    usual: dict[str, Output] = {**dict.fromkeys(COUNTS, "votes"), "soft": "supports"}
    simple = model._simple_rule
    kind = usual.get(simple, "auto") if output in ("auto", "raw") else output
    if isinstance(model.members_, CommitteeMembers):
        return _of_committees(model, kind)
    if isinstance(model.members_, EstimatorMembers):
        return _of_estimators(model, model.members_, kind)
    forest = _members_forest(model)
    if kind == "auto":
        return _by_rule(model, forest)
    return _shares(forest, model._encode, model.classes_, kind, kind)


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
    instead = 'use output="votes" or "supports"' if forest.n_classes else _INSTEAD
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


def _of_estimators(model: Any, members: Any, kind: Output) -> AdditiveOutput:
    """The mean over estimators that are sums over trees themselves."""
    classes = getattr(model, "classes_", None)
    if kind == "auto":
        raise NoTreeSumError(model, f"combine={model.combine!r} is not a sum over its members")
    found = []
    for member in members.estimators:
        try:
            one = _read(member, kind if classes is not None else "auto")
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


def _of_selection(model: Any, output: Output) -> AdditiveOutput:
    """The weighted mean of models that are sums over trees: of class shares, or of numbers."""
    classes = getattr(model, "classes_", None)
    n_outputs = 1 if classes is None else len(classes)
    parts: list[TreeSum] = []
    start = np.zeros(n_outputs)
    shares = model.weights_[model.weights_ > 0]
    for share, member in zip(shares, model.estimators_, strict=True):
        kind = type(member).__name__
        try:
            one = _read(member, output)
        except (TypeError, ValueError) as error:
            raise NoTreeSumError(
                model, f"it takes the mean with {kind}, which is no sum over trees",
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
        after = _after(one, model._rows)
        parts.extend(_member_part(part, codes, n_outputs, None, 1 / share) for part in after.parts)
    what = "weighted mean" if classes is not None else "prediction"
    return AdditiveOutput(tuple(parts), start, what, classes, ())


def _of_averaging(model: Any, output: Output) -> AdditiveOutput:
    from orfeon.members.members import EstimatorMembers

    _check_numbers(model, output)
    if isinstance(model.members_, EstimatorMembers) and model._simple_rule == "mean":
        return _of_estimators(model, model.members_, "supports")
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
            return _shares(forest, model._encode, model.classes_, output, output)
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
            reason = "its members are no trees of orfeon"
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


def one_model(models: Sequence[AdditiveOutput], weights: Floats) -> AdditiveOutput:
    """A weighted mean of outputs."""
    total = weights / weights.sum()
    parts = [
        replace(part, values=part.values * share)
        for one, share in zip(models, total, strict=True)
        for part in one.parts
    ]
    start = np.sum([one.start * share for one, share in zip(models, total, strict=True)], axis=0)
    first = models[0]
    return AdditiveOutput(tuple(parts), start, "weighted mean", first.classes, first.names)
