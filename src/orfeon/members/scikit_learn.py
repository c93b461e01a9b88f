"""The members of scikit-learn's ensembles."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
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
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.tree import BaseDecisionTree
from sklearn.utils import Bunch
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from orfeon.data.training_set import copies, seen_with_copies
from orfeon.members.members import class_supports
from orfeon.members.protocol import (
    Members,
    MembersNotVotingError,
    check_training_set,
    member_codes,
    one_output,
    unless_equal,
)
from orfeon.utils.types import Floats, Integers, Mask
from orfeon.utils.user_warning import expect_renewed_workers

#: Trees that are compared with the samples, to check that these are the training set.
_WITNESSES = 10
#: Minimum number of their splits: with fewer, other samples might be split in the same way.
_SPLITS = 10

#: Ensembles whose members cannot be selected: why, and what to do instead.
_REFUSED = {
    (AdaBoostRegressor,): (
        "it predicts the weighted median of its members, not their mean",
        "give list(ensemble.estimators_) to average some of them",
    ),
    (
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
    ): (
        "its trees do not vote, each corrects the sum of all before it",
        "use fewer iterations, or early stopping",
    ),
    (StackingClassifier, StackingRegressor): (
        "its members do not vote, a final estimator is trained on their predictions",
        "use VotingClassifier or VotingRegressor, or a list of estimators",
    ),
}


class _ScikitLearn(Members):
    """Ensembles with ``estimators_`` and ``classes_``."""

    @property
    def n_members(self) -> int:
        return len(self.ensemble.estimators_)

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        return self.ensemble.classes_ if is_classifier(self.ensemble) else None

    def _coded(self, answers: list[Any]) -> npt.NDArray[Any]:
        """Predictions of members that were fitted to class codes or numbers."""
        members = self.ensemble.estimators_
        found = [one_output(one, t, members[t]) for t, one in enumerate(answers)]
        return np.asarray(found, dtype=np.float64 if self.classes is None else np.int32)

    def _keep(self, index: Integers) -> Any:
        smaller = copy(self.ensemble)
        for name in [n for n in vars(smaller) if n.startswith("oob_") and n.endswith("_")]:
            delattr(smaller, name)
        smaller.estimators_ = [self.ensemble.estimators_[t] for t in index]
        if hasattr(smaller, "n_estimators"):
            smaller.n_estimators = len(index)
        if hasattr(smaller, "warm_start"):
            # Members added later would reuse the seeds of some that were kept.
            smaller.warm_start = False
        return smaller


class _Resampled(_ScikitLearn):
    """Ensembles that sample for each member."""

    @abstractmethod
    def _rows(self, X: Any) -> Any:
        """Rows in the form that the members take."""

    @abstractmethod
    def _leaves(self, member: int, rows: Any) -> Integers:
        """The leaf that each row reaches in a member that is a tree."""

    def _drawn(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        n_rows = self.ensemble._n_samples
        check_training_set(X, y, n_rows, self._name)
        drawn = self.ensemble.estimators_samples_
        self._check_content(self._rows(X), drawn, sample_weight)
        seen = np.zeros((self.n_members, n_rows), dtype=bool)
        for row, its in zip(seen, drawn, strict=True):
            row[its] = True
        return seen

    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        seen = self._drawn(X, y, sample_weight)
        labels = (
            np.zeros(seen.shape[1]) if y is None else np.unique(np.ravel(y), return_inverse=True)[1]
        )
        rows = X if hasattr(X, "shape") else np.asarray(X)
        return seen_with_copies(seen, copies(rows, labels))

    @property
    def _can_verify(self) -> bool:
        members = self.ensemble.estimators_
        splits: int = sum(members[t].tree_.n_leaves - 1 for t in self._witnesses)
        return splits >= _SPLITS

    @property
    def _witnesses(self) -> list[int]:
        """Some of the members that are trees with splits, from the first to the last."""
        able = [
            t
            for t, member in enumerate(self.ensemble.estimators_)
            if isinstance(member, BaseDecisionTree) and member.tree_.node_count > 1
        ]
        if len(able) <= _WITNESSES:
            return able
        return [able[k] for k in np.linspace(0, len(able) - 1, _WITNESSES).astype(int)]

    def _check_content(self, rows: Any, drawn: list[Integers], sample_weight: Any) -> None:
        """Reject other rows of the same number, by the number of rows in each leaf."""
        for t in self._witnesses:
            tree = self.ensemble.estimators_[t].tree_
            expected = np.where(tree.children_left < 0, tree.n_node_samples, 0)
            if not any(
                np.array_equal(
                    np.bincount(self._leaves(t, rows[some]), minlength=len(expected)), expected
                )
                for some in _counted(drawn[t], sample_weight)
            ):
                raise ValueError(
                    f"X is not the training set of this {self._name}, or its rows are in another "
                    "order; out-of-bag votes need the training set in the same order."
                )


def _counted(drawn: Integers, sample_weight: Any) -> Iterator[Integers]:
    """The drawn rows that the nodes of a tree count, in each of the possible ways."""
    some = np.unique(drawn)
    yield some  # rows drawn twice have a weight of 2, which is not counted
    yield drawn  # unless rows were copied, as bagging does with routed metadata
    if sample_weight is not None:
        yield some[np.asarray(sample_weight).ravel()[some] > 0]  # older versions draw weight 0 too


@dataclass(frozen=True, eq=False)
class ForestOfScikitLearn(_Resampled):
    def __post_init__(self) -> None:
        if self.ensemble.n_outputs_ > 1:
            raise ValueError(
                f"this {self._name} has {self.ensemble.n_outputs_} outputs; members have one. "
                "Train a forest for each."
            )

    def answers(self, X: Any) -> npt.NDArray[Any]:
        """Votes of the trees: the heaviest class in the leaf, or its mean."""
        leaves = self.ensemble.apply(X)
        answers = np.empty(leaves.T.shape, np.float64 if self.classes is None else np.int32)
        for answer, leaf, tree in zip(answers, leaves.T, self.ensemble.estimators_, strict=True):
            value = tree.tree_.value[:, 0]
            if self.classes is None:
                answer[:] = value[leaf, 0]
            else:
                answer[:] = tree.classes_[value.argmax(axis=1)][leaf]
        return answers

    def _supports(self, X: Any) -> Floats:
        leaves = self.ensemble.apply(X)
        supports = np.zeros((self.n_members, len(leaves), self.n_classes))
        for support, leaf, tree in zip(supports, leaves.T, self.ensemble.estimators_, strict=True):
            value = tree.tree_.value[:, 0][leaf]
            support[:, tree.classes_.astype(np.int64)] = value / value.sum(axis=1, keepdims=True)
        return supports

    @property
    def averages_supports(self) -> bool:
        return True

    def _rows(self, X: Any) -> Any:
        return validate_data(
            self.ensemble, X, reset=False, accept_sparse="csr", dtype=np.float32,
            ensure_all_finite=False,
        )  # fmt: skip

    def _leaves(self, member: int, rows: Any) -> Integers:
        return np.asarray(self.ensemble.estimators_[member].apply(rows))

    def _drawn(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        if not self.ensemble.bootstrap:
            raise self._no_out_of_bag("with bootstrap=False each of its trees saw all the samples")
        return super()._drawn(X, y, sample_weight)


@dataclass(frozen=True, eq=False)
class BaggingOfScikitLearn(_Resampled):
    """A fitted bagging ensemble of scikit-learn."""

    def answers(self, X: Any) -> npt.NDArray[Any]:
        return self._coded(self._query_each(_predict, X))

    def _supports(self, X: Any) -> Floats:
        codes = np.arange(self.n_classes)
        return np.stack(self._query_each(partial(class_supports, classes=codes), X))

    @property
    def averages_supports(self) -> bool:
        return hasattr(self.ensemble.estimators_[0], "predict_proba")

    def _rows(self, X: Any) -> Any:
        return validate_data(
            self.ensemble, X, reset=False, accept_sparse=["csr", "csc"], dtype=None,
            ensure_all_finite=False,
        )  # fmt: skip

    def _leaves(self, member: int, rows: Any) -> Integers:
        columns = self.ensemble.estimators_features_[member]
        return np.asarray(self.ensemble.estimators_[member].apply(rows[:, columns]))

    def _query_each(self, query: Callable[[Any, Any], Any], X: Any) -> list[Any]:
        """Results of each member on its own features."""
        bag, rows = self.ensemble, self._rows(X)
        members = zip(bag.estimators_, bag.estimators_features_, strict=True)
        expect_renewed_workers()
        return list(
            Parallel(n_jobs=bag.n_jobs)(
                delayed(query)(estimator, rows[:, columns]) for estimator, columns in members
            )
        )

    def _drawn(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        if not self._knows_samples:
            raise self._no_out_of_bag(
                "it has members of several fits, by warm_start=True, and scikit-learn records only "
                "the samples of the last fit"
            )
        return super()._drawn(X, y, sample_weight)

    @property
    def _knows_samples(self) -> bool:
        return len(getattr(self.ensemble, "_seeds", ())) == self.n_members

    def _keep(self, index: Integers) -> Any:
        smaller = super()._keep(index)
        smaller.estimators_features_ = [self.ensemble.estimators_features_[t] for t in index]
        if self._knows_samples:
            smaller._seeds = self.ensemble._seeds[index]
        else:
            vars(smaller).pop("_seeds", None)
        return smaller


def _predict(estimator: Any, X: Any) -> Any:
    return estimator.predict(X)


@dataclass(frozen=True, eq=False)
class AdaBoostOfScikitLearn(_ScikitLearn):
    """A fitted AdaBoost classifier of scikit-learn, whose members have unequal votes."""

    @property
    def member_weights(self) -> Floats | None:
        # If boosting stopped early, there are more weights than members.
        return unless_equal(self.ensemble.estimator_weights_[: self.n_members])

    def answers(self, X: Any) -> npt.NDArray[Any]:
        rows = self._rows(X)
        answers = [e.predict(rows) for e in self.ensemble.estimators_]
        classes = self.ensemble.classes_
        return np.stack([member_codes(one, classes, t) for t, one in enumerate(answers)])

    def _rows(self, X: Any) -> Any:
        return validate_data(
            self.ensemble, X, reset=False, accept_sparse=["csr", "csc"], allow_nd=True, dtype=None
        )

    def _supports(self, X: Any) -> Floats:
        rows, classes = self._rows(X), self.ensemble.classes_
        return np.stack([class_supports(e, rows, classes) for e in self.ensemble.estimators_])

    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        raise self._no_out_of_bag("each of its members was fitted to all the samples, weighted")

    def _keep(self, index: Integers) -> Any:
        smaller = super()._keep(index)
        smaller.estimator_weights_ = self.ensemble.estimator_weights_[index]
        smaller.estimator_errors_ = self.ensemble.estimator_errors_[index]
        return smaller


@dataclass(frozen=True, eq=False)
class VotingOfScikitLearn(_ScikitLearn):
    """A fitted voting ensemble of scikit-learn, without the estimators that were dropped."""

    def __post_init__(self) -> None:
        fitted = [n for n, e in self.ensemble.named_estimators_.items() if e != "drop"]
        if fitted != [name for name, _ in self._given]:
            raise ValueError(
                f"estimators of this {self._name} are no longer those that were fitted, "
                f"{fitted}; call its fit again."
            )

    @property
    def _given(self) -> list[Any]:
        """The unfitted estimators that are not dropped, with their names."""
        return [pair for pair in self.ensemble.estimators if pair[1] != "drop"]

    @property
    def _weights(self) -> list[Any] | None:
        """The weights of the estimators that are not dropped."""
        if self.ensemble.weights is None:
            return None
        pairs = zip(self.ensemble.estimators, self.ensemble.weights, strict=True)
        return [weight for pair, weight in pairs if pair[1] != "drop"]

    @property
    def member_weights(self) -> Floats | None:
        return unless_equal(self._weights)

    @property
    def averages_supports(self) -> bool:
        return getattr(self.ensemble, "voting", "") == "soft"

    def answers(self, X: Any) -> npt.NDArray[Any]:
        return self._coded([e.predict(X) for e in self.ensemble.estimators_])

    def _supports(self, X: Any) -> Floats:
        # Its members were fitted to codes of the classes.
        codes = np.arange(self.n_classes)
        return np.stack([class_supports(e, X, codes) for e in self.ensemble.estimators_])

    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        raise self._no_out_of_bag("each of its members was fitted to all the samples")

    def _keep(self, index: Integers) -> Any:
        smaller = super()._keep(index)
        smaller.estimators = [self._given[t] for t in index]
        names = [name for name, _ in smaller.estimators]
        smaller.named_estimators_ = Bunch(**dict(zip(names, smaller.estimators_, strict=True)))
        weights = self._weights
        if weights is not None:
            smaller.weights = [weights[t] for t in index]
        return smaller

    def _check_indices(self, indices: Any) -> Integers:
        index, weights = super()._check_indices(indices), self._weights
        if weights is not None and sum(weights[t] for t in index) == 0:
            raise ValueError(
                f"indices={index.tolist()} are members of weight 0 only; keep one of positive "
                f"weight in weights={weights}."
            )
        return index


_ADAPTERS: list[tuple[tuple[type, ...], type[_ScikitLearn]]] = [
    (
        (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor),
        ForestOfScikitLearn,
    ),
    ((BaggingClassifier, BaggingRegressor), BaggingOfScikitLearn),
    ((AdaBoostClassifier,), AdaBoostOfScikitLearn),
    ((VotingClassifier, VotingRegressor), VotingOfScikitLearn),
]


def adapt_scikit_learn(ensemble: Any) -> Members | None:
    """The members of a fitted ensemble of scikit-learn; None for other objects."""
    for kinds, (reason, instead) in _REFUSED.items():
        if isinstance(ensemble, kinds):
            name = type(ensemble).__name__
            refused = f"the members of {name} cannot be selected: {reason}; {instead}."
            raise MembersNotVotingError(refused, name, reason)
    for kinds, adapter in _ADAPTERS:
        if isinstance(ensemble, kinds):
            check_is_fitted(ensemble, "estimators_")
            return adapter(ensemble)
    return None
