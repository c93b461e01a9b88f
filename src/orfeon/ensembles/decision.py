"""How an ensemble combines its members: by a rule, which may learn from held-out samples.

Rules that learn (weights, confusion matrices) need outputs on samples that the members were not
trained on. Ensembles that leave samples out use the out-of-bag outputs. The others are retrained
without each of a few folds, which the member in the same position predicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import check_is_fitted

from orfeon.base import class_codes, class_factors
from orfeon.data.training_set import relative_weights
from orfeon.ensembles.holdout import deal_folds, hash_samples
from orfeon.ensembles.perturbation import member_generator
from orfeon.rules.decider import Decider
from orfeon.rules.rule import CombiningRule, as_combining_rule
from orfeon.utils import saved
from orfeon.utils.scikit_learn import _safe_indexing
from orfeon.utils.seeding import Purpose
from orfeon.utils.types import Floats, Integers

#: A rule, or the name of one.
Combine = str | CombiningRule

#: The method's own decision, where it is not one of the rules.
OWN = "own"
#: Rules whose shares are those of the votes.
COUNTS = ("majority", "plurality")
#: Rules for which ensembles have shortcuts; none of them learns.
SIMPLE = (*COUNTS, "soft", "mean", OWN)
#: Number of folds that a rule learns from; the ensemble is trained without each in turn.
N_FOLDS = 5
#: Members queried at once.
_BLOCK = 32
#: Outputs processed at once.
_ANSWERS = 1 << 23


@saved.attributes(
    kept_=saved.optional(saved.indices),  # these three by prune()
    order_=saved.optional(saved.instance("Order")),
    error_curve_=saved.optional(saved.array("f8", 1, 2)),
)
class QueryMixin:
    """Members that an ensemble can query for rows."""

    members_: Any
    _sequence: np.random.SeedSequence

    if TYPE_CHECKING:

        def _rows(self, X: Any) -> Any: ...
        def _query(self, query: Callable[[Any], Any], rows: Any, axis: int) -> Any: ...


@saved.attributes(
    _learnt=saved.one_of(
        saved.none,
        saved.tuple_with(
            saved.subclass("CombiningRule"), saved.subclass("CombiningRule", "Decider")
        ),
    )
)
class CombinesMixin(QueryMixin):
    """Members whose answers are combined by ``combine``."""

    #: The rule of copies that are trained only for their members.
    _plain_rule: ClassVar[Combine]

    combine: Combine
    _learnt: tuple[CombiningRule, Decider] | None = None

    @property
    def _rule(self) -> CombiningRule | None:
        """The rule; None where the method has its own decision."""
        return None if self._is_own else as_combining_rule(self.combine)

    @property
    def _simple_rule(self) -> str:
        """The name of a rule with default options, which may have a shortcut."""
        if isinstance(self.combine, str):
            return self.combine
        name = self.combine.name
        return name if self.combine == as_combining_rule(name) else ""

    @property
    def _is_own(self) -> bool:
        return self._simple_rule == OWN

    @property
    def decider_(self) -> Decider:
        """The fitted combining rule."""
        check_is_fitted(self, "members_")
        rule = self._rule
        if rule is None:
            raise AttributeError(
                f'combine="own" decides as {type(self).__name__} does, without a decider_.'
            )
        if not rule.learns:
            decider = rule.learn(None, None, self._n_outputs)
            if decider.n_members not in (None, len(self.members_)):
                raise ValueError(
                    f"combine={self.combine!r} has weights of {decider.n_members} members, and "
                    f"there are {len(self.members_)}."
                )
            return decider
        if self._learnt is None or self._learnt[0] != rule:
            raise ValueError(
                f"combine={self.combine!r} must learn from samples that the members did not see, "
                "but was not set in fit; call fit again."
            )
        return self._learnt[1]

    @property
    def _n_outputs(self) -> int:
        """Number of classes, 0 in regression."""
        return int(getattr(self, "n_classes_", 0))

    # -- deciding ------------------------------------------------------------------------------

    def _answers(self, members: Any, rows: Any, reads: str) -> npt.NDArray[Any]:
        """Outputs of the members: votes or supports, or predictions in regression."""
        if self._n_outputs == 0:
            return np.asarray(members.supports(rows)[:, :, 0])
        return np.asarray(members.votes(rows) if reads == "votes" else members.supports(rows))

    def _decide_by_rule(self, X: Any) -> Floats:
        """Shares of the classes by the rule, or predictions."""
        decider = self.decider_
        rows = self._rows(X)
        return np.asarray(self._query(lambda part: self._decide_rows(decider, part), rows, 0))

    def _decide_rows(self, decider: Decider, rows: Any) -> Floats:
        n_rows = rows.shape[0]
        step = max(1, _ANSWERS // (len(self.members_) * max(self._n_outputs, 1)))
        parts = []
        for first in range(0, n_rows, step):
            part = slice_rows(rows, first, min(first + step, n_rows))
            answers = self._answers(self.members_, part, decider.reads)
            parts.append(decider.decide(answers, self._n_outputs))
        return np.concatenate(parts)

    def _staged_by_rule(self, X: Any) -> Iterator[Floats]:
        """Shares, or predictions, of the first member, of the first two, and so on."""
        decider, rows = self.decider_, self._rows(X)
        answers = (self._answers(some, rows, decider.reads) for _, some in self._blocks())
        yield from decider.decide_in_stages(answers, self._n_outputs)

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        """The members in blocks, and their positions."""
        n_members = len(self.members_)
        for first in range(0, n_members, _BLOCK):
            last = min(first + _BLOCK, n_members)
            yield slice(first, last), self.members_.subset(range(first, last))

    # -- learning ------------------------------------------------------------------------------

    @property
    def _must_calibrate(self) -> bool:
        """Whether shares are calibrated in fit."""
        return False

    @property
    def _must_learn(self) -> bool:
        if self._simple_rule in SIMPLE:
            return False
        rule = self._rule
        return rule is not None and rule.learns

    def _forget_decider(self) -> None:
        self._learnt = None

    def _keep_decider(self, index: Integers) -> None:
        """Keep what the rule learnt about some of the members."""
        if isinstance(self.combine, CombiningRule):
            self.combine = self.combine.subset(index)
        if self._learnt is not None:
            rule, decider = self._learnt
            self._learnt = rule.subset(index), decider.subset(index)

    def _check_rule(self) -> None:
        """Reject a rule for another task; names are checked with the parameters."""
        if isinstance(self.combine, CombiningRule):
            self.combine.check(is_regression=is_regressor(self))

    def _check_decider(self) -> None:
        """Reject a rule with options for another number of members."""
        if isinstance(self.combine, CombiningRule) and not self._is_own:
            _ = self.decider_

    def _learning_weights(self, y: npt.NDArray[Any], weights: Floats) -> Floats:
        """Relative weights of the samples that a rule learns from, times class weights."""
        weights = relative_weights(weights)
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None:
            return weights
        classes = self.classes_  # type: ignore[attr-defined]
        return np.asarray(weights * class_factors(class_weight, classes, y, weights)[y])

    def _learn(self, answers: npt.NDArray[Any], y: npt.NDArray[Any], weights: Floats) -> None:
        rule = self._rule
        assert rule is not None
        decider = rule.learn(answers, y, self._n_outputs, self._learning_weights(y, weights))
        self._learnt = rule, decider

    def _learn_from_left_out(
        self, rows: Any, y: npt.NDArray[Any], weights: Floats, out: npt.NDArray[np.bool_]
    ) -> None:
        """Learn from predictions on samples that the members did not see."""
        rule = self._rule
        assert rule is not None
        if not out.any():  # left to _learn_by_folds
            return
        answers = (
            only_left_out(self._answers(some, rows, rule.reads), out[part], self._n_outputs)
            for part, some in self._blocks()
        )
        given = self._learning_weights(y, weights)
        self._learnt = rule, rule.learn_in_parts(answers, y, self._n_outputs, given)

    def _learn_by_folds(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn from the members of ensembles that are each trained without a fold."""
        if not self._must_learn or self._learnt is not None:
            return
        reader: Any = copy(self)
        X, y, weights, *_ = reader._read_samples(X, y, sample_weight)
        folds = self._folds_of(X, y, weights, f"combine={self.combine!r}")
        rule = self._rule
        assert rule is not None
        outputs = self._no_answers(rule.reads, len(folds.y))
        for other, rest, test in folds.each(self._without_learning()):
            answers = self._foreign(other, rest, rule.reads)
            n_both = min(len(answers), len(outputs))
            outputs[:n_both, test] = answers[:n_both]
        self._learn(outputs, folds.y, folds.weights)

    def _folds_of(self, X: Any, y: Any, weights: Floats, what: str) -> Folds:
        """Samples of positive weight in folds."""
        if not hasattr(X, "shape") and not isinstance(X, list):
            X = np.asarray(X)
        classes = getattr(self, "classes_", None)
        target = np.asarray(y, float) if classes is None else class_codes(y, classes)
        fold = self._fold_of(X, target, weights)
        if (fold == fold[0]).all():
            raise ValueError(
                f"{what} learns from samples that members did not see, but all samples are copies "
                "of 1 sample; give at least two different ones."
            )
        rows = X.tocsr() if issparse(X) else X  # not every sparse format has rows
        return Folds(rows, y, target, weights, fold)

    def _fold_of(self, X: Any, target: npt.NDArray[Any], weights: Floats) -> Integers:
        """A fold for each sample, by its content: copies share a fold."""
        ranks = np.unique(target, return_inverse=True)[1]
        rng = member_generator(self._sequence, Purpose.COMBINING)
        return deal_folds(
            hash_samples(X, ranks), ranks, weights, N_FOLDS, rng, by_class=self._n_outputs > 0
        )

    def _no_answers(self, reads: str, n_rows: int) -> npt.NDArray[Any]:
        n_members, n_classes = len(self.members_), self._n_outputs
        if n_classes and reads == "votes":
            return np.full((n_members, n_rows), -1, np.int32)
        shape = (n_members, n_rows, n_classes) if n_classes else (n_members, n_rows)
        return np.full(shape, np.nan)

    def _without_learning(self) -> Any:
        """An ensemble like this one, not fitted, whose members are drawn in the same way."""
        other: Any = clone(self)
        given = other.get_params(deep=False)
        quiet = {
            "oob_score": False, "importance": "impurity", "warm_start": False, "verbose": 0,
            "combine": self._plain_rule, "calibrate": None,
        }  # fmt: skip
        other.set_params(**{name: value for name, value in quiet.items() if name in given})
        other.random_state = self._sequence
        return other

    def _foreign(self, other: Any, X: Any, reads: str) -> npt.NDArray[Any]:
        """Outputs of the members of another ensemble, in the classes of this one."""
        answers = other._answers(other.members_, other._rows(X), reads)
        if not self._n_outputs or len(other.classes_) == self._n_outputs:
            return np.asarray(answers)
        place = class_codes(other.classes_, self.classes_)  # type: ignore[attr-defined]
        if reads == "votes":
            return np.asarray(place[answers])
        whole = np.zeros((*answers.shape[:2], self._n_outputs))
        whole[:, :, place] = answers
        return whole


@dataclass(frozen=True, eq=False)
class Folds:
    """Samples in folds: rows and targets as given, with codes of classes or numbers."""

    X: Any
    given: npt.NDArray[Any]
    y: npt.NDArray[Any]
    weights: Floats
    fold: Integers

    def each(self, ensemble: Any) -> Iterator[tuple[Any, Any, Integers]]:
        """The ensemble trained without each fold, with the rows of the fold and their indices."""
        for number in np.unique(self.fold):
            train, test = np.flatnonzero(self.fold != number), np.flatnonzero(self.fold == number)
            fitted = clone(ensemble)
            fitted.random_state = ensemble.random_state
            fitted.fit(_safe_indexing(self.X, train), self.given[train], self.weights[train])
            yield fitted, _safe_indexing(self.X, test), test


def only_left_out(
    answers: npt.NDArray[Any], out: npt.NDArray[np.bool_], n_classes: int
) -> npt.NDArray[Any]:
    """Answers on samples that members did not see; the others are absent."""
    if n_classes and answers.ndim == 2:
        return np.where(out, answers, -1)
    return np.where(out if answers.ndim == 2 else out[:, :, None], answers, np.nan)


def slice_rows(X: Any, first: int, last: int) -> Any:
    return X.iloc[first:last] if hasattr(X, "iloc") else X[first:last]
