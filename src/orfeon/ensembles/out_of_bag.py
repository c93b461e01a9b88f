"""Methods that leave samples out: out-of-bag estimates and importances.

For each sample, only members that did not see it are queried. A sample that every member saw has no
such estimate: it is NaN, not a guess. A sample of weight 2 counts as seen if one of its copies was.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from orfeon.data.training_set import TrainingSet, hash_rows, seen_with_copies
from orfeon.ensembles.base import IndependentEnsemble
from orfeon.ensembles.decision import COUNTS, CombinesMixin, only_left_out
from orfeon.ensembles.ensemble import origin_of
from orfeon.ensembles.holdout import hash_samples
from orfeon.ensembles.probabilities import fold_of_units
from orfeon.ensembles.remembering import RemembersSamplesMixin, drawn_weights
from orfeon.ensembles.several_outputs import out_of_bag_outputs, voting_forest
from orfeon.forest import Forest
from orfeon.forest.neighbourhood import forest_weights, proximities
from orfeon.forest.permutation import PermutationImportances, oob_permutation_importances
from orfeon.rules.decider import Decider
from orfeon.rules.rule import CombiningRule
from orfeon.utils import saved
from orfeon.utils.scikit_learn import StrOptions, _safe_indexing
from orfeon.utils.seeding import Purpose, branch
from orfeon.utils.types import Floats, Mask
from orfeon.utils.user_warning import AdvisedWarning, warn_user

#: Members queried at once.
_BLOCK = 32

Importance = Literal["impurity", "permutation"]

LEAVING_OUT: dict[str, list[Any]] = {
    "oob_score": ["boolean", callable],
    "importance": [StrOptions({"impurity", "permutation"})],
}


@saved.attributes(
    oob_score_=saved.optional(saved.anything),
    oob_error_=saved.optional(saved.anything),
    oob_error_curve_=saved.optional(saved.floats),
    oob_votes_=saved.optional(saved.array("i4", 2)),
    oob_decision_function_=saved.optional(saved.one_of(saved.matrix, saved.list_of(saved.matrix))),
    oob_prediction_=saved.optional(saved.array("f8", 1, 2)),
    permutation_importances_=saved.optional(saved.instance("PermutationImportances")),
)
class LeavingOut(RemembersSamplesMixin, CombinesMixin, IndependentEnsemble):
    """An ensemble whose members do not see all the samples."""

    oob_score: Any
    importance: Importance
    oob_score_: float
    oob_error_: float
    oob_error_curve_: npt.NDArray[np.float64]
    oob_votes_: npt.NDArray[np.int32]
    oob_decision_function_: Any  # an array, or a list of one for each of several outputs
    oob_prediction_: npt.NDArray[np.float64]
    permutation_importances_: PermutationImportances

    def _to_state(self) -> dict[str, Any]:
        """The attributes that are saved: model files hold no code."""
        state = dict(vars(self))
        if callable(self.oob_score):
            state["oob_score"] = True
        return state

    def _leaves_out(self) -> bool:
        is_estimated = bool(self.oob_score) or self.importance == "permutation"
        is_estimated |= self._keeps_leaves
        return is_estimated or self._must_learn or self._must_calibrate

    def in_bag(self, X: Any, y: Any, sample_weight: Any = None) -> npt.NDArray[Any]:
        """How often each training sample is in each member's bootstrap sample.

        The counts are not stored but redrawn, so the training set must be passed again.

        Parameters
        ----------
        X, y, sample_weight
            The training set passed to ``fit``; its rows may come in another order.

        Returns
        -------
        ndarray of shape (n_members, n_rows)
            Counts, or weights where members weigh samples; 0 where the member did not see it.
        """
        samples, drawn = self._redrawn(X, y, sample_weight)
        counts = np.zeros((len(self.members_), samples.n_given))
        for row, weights in zip(counts, drawn, strict=True):
            np.add.at(row, samples.rows, weights)
        return counts

    def _redrawn(self, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingSet, list[Any]]:
        """The training set, copies as samples of their own, and their weights in each member."""
        check_is_fitted(self, "members_")
        reader = copy(self)
        samples = reader._read_all(X, y, sample_weight)
        key = self._drawing_key(samples)
        origin = origin_of(self)
        if not origin.history or any(other != key for _, other in origin.history):
            raise ValueError(
                "X, y and sample_weight are not the training set of all members, or the parameters "
                "have changed since; it is unknown which samples the members saw."
            )
        # Members chosen from others are redrawn as they were drawn then.
        reader._sequence, reader._history = origin.sequence, origin.history
        reader._prepare(samples, range(len(self.members_), len(self.members_)))
        drawn = drawn_weights(reader, samples, origin.sequence, origin.members)
        found = [samples.weights if weights is None else weights for weights in drawn]
        return samples, found

    def proximities(self, X: Any, Z: Any = None) -> npt.NDArray[np.float64]:
        """Share of the trees in which two rows reach the same leaf.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Rows.
        Z : array or data frame of shape (n_others, n_features), optional
            Other rows; by default the same.

        Returns
        -------
        ndarray of shape (n_rows, n_others)
            Proximities.
        """
        others = None if Z is None else self._rows(Z)
        return proximities(self.forest_, self._rows(X), others)

    def training_weights(
        self, X_new: Any, X: Any, y: Any, sample_weight: Any = None
    ) -> npt.NDArray[np.float64]:
        """The forest as a weighted neighbourhood: the weight of each training sample for a new row.

        Parameters
        ----------
        X_new : array or data frame of shape (n_new, n_features)
            Rows to be predicted.
        X, y, sample_weight
            The training set passed to ``fit``.

        Returns
        -------
        ndarray of shape (n_new, n_rows)
            Weights W(x_i, x) that sum to one for each new row. The prediction of a regression
            forest, and the class supports of a classification forest, are weighted means of the
            training targets with these weights.
        """
        in_bag = self.in_bag(X, y, sample_weight)
        return forest_weights(self.forest_, self._rows(X), self._rows(X_new), in_bag)

    def _finish(self, samples: TrainingSet, seen: npt.NDArray[np.bool_] | None) -> None:
        self._forget_estimates()
        if seen is None:
            return
        out, one = left_out(seen, samples)
        X, y = _safe_indexing(samples.X, one), samples.y[one]
        # A member that saw a copy of a sample has seen it.
        ranks = np.unique(y, axis=0, return_inverse=True)[1].ravel()
        hashes = hash_rows(X, ranks) if self._has_trees else hash_samples(X, ranks)
        out = ~seen_with_copies(~out, np.unique(hashes, return_inverse=True)[1])
        weights = np.bincount(
            np.unique(samples.rows, return_inverse=True)[1], weights=samples.sample_weights
        ).astype(np.float64)
        if self._must_learn:
            self._learn_from_left_out(X, y, weights, out)
        if self._must_calibrate and not seen.all():  # if all were seen, it is left to folds
            self._calibrate_left_out(samples, ~seen)
        if self.oob_score:
            self._keep_estimates(X, y, weights, out, samples.rows[one], samples.n_given)
        if y.ndim == 1 and (self.oob_score or self._keeps_leaves):
            self._remember(samples, X, y, weights, out, one)
        if self.importance == "permutation":
            if issparse(X):
                raise ValueError(
                    'importance="permutation" needs dense data; pass X.toarray(), or '
                    'importance="impurity".'
                )
            if not isinstance(self.members_, Forest):
                raise ValueError(
                    'importance="permutation" is measured on trees; with other base learners use '
                    "sklearn.inspection.permutation_importance on held-out data."
                )
            self.permutation_importances_ = oob_permutation_importances(
                self.members_, X, y, out, weights=weights, random_state=self._importance_state()
            )

    def _forget_estimates(self) -> None:
        """Drop what was estimated for other members."""
        for name in [n for n in self.__dict__ if n.startswith("oob_") and n.endswith("_")]:
            delattr(self, name)
        self.__dict__.pop("permutation_importances_", None)
        self._forget_samples()

    def _importance_state(self) -> np.random.Generator:
        return np.random.default_rng(branch(self._sequence, Purpose.IMPORTANCE))

    def _calibrate_left_out(self, samples: TrainingSet, out: Mask) -> None:
        """Calibrate out-of-bag shares, of each copy of a sample on its own.

        New rows may be copies of samples, too, as often as samples are of each other.
        """
        mixin: Any = self
        weights = samples.sample_weights
        estimate = self._estimate(samples.X, samples.y, weights, out)
        shares = mixin._smoothed(estimate.outputs, np.maximum(out.sum(axis=0), 1))
        fold = fold_of_units(samples.y, weights, self._sequence)
        mixin._calibrate_shares(shares, samples.y, weights, fold, samples.rows, samples.n_given)

    def _keep_estimates(
        self, X: Any, y: Any, weights: Any, out: Any, rows: Any, n_given: int
    ) -> None:
        never = int((~out.any(axis=0)).sum())
        if never:
            warn_user(
                AdvisedWarning(
                    f"{never} of {out.shape[1]} samples were seen by every member: they have no "
                    "out-of-bag estimate (NaN).",
                    "More members, or smaller samples, would give them one.",
                )
            )
        estimate = self._estimate(X, y, weights, out)
        if y.ndim > 1:
            self._keep_outputs(estimate.outputs, y, weights, rows, n_given)
        elif is_classifier(self):
            self._keep_classes(estimate, rows, n_given)
            self.oob_score_ = 1.0 - estimate.error
        else:
            self.oob_prediction_ = np.full(n_given, np.nan)
            self.oob_prediction_[rows] = estimate.outputs[:, 0]
            known = ~np.isnan(estimate.outputs[:, 0])
            self.oob_score_ = np.nan
            if known.sum() > 1:
                self.oob_score_ = float(
                    r2_score(y[known], estimate.outputs[known, 0], sample_weight=weights[known])
                )
        if y.ndim == 1 and callable(self.oob_score):
            self.oob_score_ = self._measured(estimate.outputs, y)
        self.oob_error_ = estimate.error
        self.oob_error_curve_ = estimate.error_curve

    def _keep_outputs(self, outputs: Floats, y: Any, weights: Any, rows: Any, n_given: int) -> None:
        """Keep estimates of several outputs, and the score that ``score`` would give."""
        mixin: Any = self
        known = ~np.isnan(outputs[:, 0])
        found = np.full((n_given, outputs.shape[1]), np.nan)
        found[rows] = outputs
        if is_classifier(self):
            self.oob_decision_function_ = mixin._by_output(found)
            decided = mixin._decide_outputs(mixin._by_output(outputs[known]))
            pairs = zip(mixin.classes_, y[known].T, strict=True)
            true = np.column_stack([classes[codes] for classes, codes in pairs])
            right = (decided == true).all(axis=1)
        else:
            self.oob_prediction_ = found
            decided, true = outputs[known], y[known]
        self.oob_score_ = np.nan
        if callable(self.oob_score):
            self.oob_score_ = float(self.oob_score(true, decided)) if known.any() else np.nan
        elif is_classifier(self) and known.any():
            self.oob_score_ = float(np.average(right, weights=weights[known]))
        elif known.sum() > 1:
            self.oob_score_ = float(r2_score(true, decided, sample_weight=weights[known]))

    def _measured(self, outputs: Floats, y: npt.NDArray[Any]) -> float:
        """The user's metric on the samples that have an estimate."""
        known = ~np.isnan(outputs[:, 0])
        if not known.any():
            return np.nan
        if is_classifier(self):
            classes = self._classes
            return float(self.oob_score(classes[y[known]], classes[outputs[known].argmax(axis=1)]))
        return float(self.oob_score(y[known], outputs[known, 0]))

    def _estimate(self, X: Any, y: Any, weights: Any, out: Any) -> OutOfBag:
        """The out-of-bag estimate by the rule ``combine``."""
        name = self._simple_rule
        if y.ndim > 1:
            n_classes: tuple[int, ...] = getattr(self, "_output_classes", ())
            is_count = bool(n_classes) and name != "soft"
            members = voting_forest(self.members_, n_classes) if is_count else self.members_
            return OutOfBag(None, *out_of_bag_outputs(members, X, y, weights, out, n_classes))
        if name in (*COUNTS, "soft"):
            return out_of_bag_classes(self.members_, X, y, weights, out, name == "soft")
        if name == "mean":
            return out_of_bag_predictions(self.members_, X, y, weights, out)
        assert self._rule is not None
        fold = self._fold_of(X, y, weights)
        learning = self._learning_weights(y, weights)
        return out_of_bag_by_rule(self.members_, X, y, weights, out, self._rule, fold, learning)

    def _keep_classes(self, estimate: OutOfBag, rows: Any, n_given: int) -> None:
        assert estimate.votes is not None
        self.oob_votes_ = np.full((len(self.members_), n_given), -1, np.int32)
        self.oob_votes_[:, rows] = estimate.votes
        self.oob_decision_function_ = np.full((n_given, estimate.outputs.shape[1]), np.nan)
        self.oob_decision_function_[rows] = estimate.outputs


# -- estimates -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OutOfBag:
    """Outputs of members on samples that they did not see."""

    votes: npt.NDArray[np.int32] | None
    outputs: Floats
    error_curve: Floats

    @property
    def error(self) -> float:
        """Error of all members."""
        return float(self.error_curve[-1])


def left_out(seen: Mask, samples: TrainingSet) -> tuple[Mask, npt.NDArray[np.int64]]:
    """Which rows each member left out with all their copies, and one sample of each row."""
    _, one, row = np.unique(samples.rows, return_index=True, return_inverse=True)
    out = np.ones((len(seen), len(one)), dtype=bool)
    for member, units in zip(out, seen, strict=True):
        member[row[units]] = False
    return out, one


def out_of_bag_classes(
    members: Any, X: Any, y: npt.NDArray[Any], weights: Floats, out: Mask, soft: bool
) -> OutOfBag:
    """Out-of-bag votes and error of a classifier."""
    n_members, n_rows = out.shape
    n_classes = members.n_classes
    votes = np.full((n_members, n_rows), -1, np.int32)
    sums = np.zeros((n_rows, n_classes))
    queried = np.zeros(n_rows, np.int64)
    curve = np.full(n_members, np.nan)
    for first in range(0, n_members, _BLOCK):
        block = range(first, min(first + _BLOCK, n_members))
        some = members.subset(list(block))
        answers = some.votes(X)
        supports = some.supports(X) if soft else None
        for k, t in enumerate(block):
            mine = np.flatnonzero(out[t])
            votes[t, mine] = answers[k, mine]
            if supports is None:
                sums[mine, answers[k, mine]] += 1.0
            else:
                sums[mine] += supports[k, mine]
            queried[mine] += 1
            curve[t] = _weighted_mean(sums.argmax(axis=1) != y, weights, queried > 0)
    with np.errstate(invalid="ignore"):
        outputs = sums / np.where(queried > 0, queried, np.nan)[:, None]
    return OutOfBag(votes, outputs, curve)


def out_of_bag_predictions(members: Any, X: Any, y: Floats, weights: Floats, out: Mask) -> OutOfBag:
    """Out-of-bag predictions and squared error of a regressor."""
    n_members, n_rows = out.shape
    sums, queried = np.zeros(n_rows), np.zeros(n_rows, np.int64)
    curve = np.full(n_members, np.nan)
    for first in range(0, n_members, _BLOCK):
        block = range(first, min(first + _BLOCK, n_members))
        answers = members.subset(list(block)).supports(X)[:, :, 0]
        for k, t in enumerate(block):
            mine = out[t]
            sums[mine] += answers[k, mine]
            queried += mine
            mean = sums / np.maximum(queried, 1)
            curve[t] = _weighted_mean((mean - y) ** 2, weights, queried > 0)
    outputs = np.where(queried > 0, sums / np.maximum(queried, 1), np.nan)
    return OutOfBag(None, outputs[:, None], curve)


def out_of_bag_by_rule(
    members: Any,
    X: Any,
    y: npt.NDArray[Any],
    weights: Floats,
    out: Mask,
    rule: CombiningRule,
    fold: npt.NDArray[np.int64],
    learning_weights: Floats,
) -> OutOfBag:
    """Out-of-bag outputs combined by a rule, and their error."""
    n_classes = members.n_classes
    votes = only_left_out(members.votes(X), out, n_classes) if n_classes else None
    answers = votes
    if votes is None or rule.reads == "supports":
        supports = members.supports(X)
        answers = only_left_out(supports if n_classes else supports[:, :, 0], out, n_classes)
    assert answers is not None
    outputs = np.full((len(y), max(n_classes, 1)), np.nan)
    losses = np.zeros(out.shape)
    queried = np.logical_or.accumulate(out, axis=0)
    for part in [fold == f for f in np.unique(fold)] if rule.learns else [queried[-1]]:
        rest = ~part
        if not out[:, part].any() or (rule.learns and not out[:, rest].any()):
            queried[:, part] = False  # no member can vote, or the rule has nothing to learn from
            continue
        decider = rule.learn(answers[:, rest], y[rest], n_classes, learning_weights[rest])
        for loss, decided in zip(
            losses, _stages(decider, answers[:, part], n_classes), strict=True
        ):
            wrong = decided.argmax(axis=1) != y[part] if n_classes else decided[:, 0] - y[part]
            loss[part] = np.square(wrong, dtype=np.float64)
            outputs[part] = decided
    outputs[~queried[-1]] = np.nan
    losses[~queried] = 0.0
    stages = zip(losses, queried, strict=True)
    curve = np.array([_weighted_mean(loss, weights, taken) for loss, taken in stages])
    return OutOfBag(votes, outputs, curve)


def _stages(decider: Decider, answers: npt.NDArray[Any], n_classes: int) -> Iterator[Floats]:
    """Decisions of the first member, the first two, and so on, in columns."""
    if n_classes:
        yield from decider.staged_shares(answers, n_classes)
    else:
        for numbers in decider.staged_predict(answers):
            yield numbers[:, None]


def _weighted_mean(loss: npt.NDArray[Any], weights: Floats, taken: Mask) -> float:
    total = weights[taken].sum()
    return float(weights[taken] @ loss[taken] / total) if total > 0 else np.nan
