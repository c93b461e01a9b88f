"""The members of any fitted ensemble: their votes, and ensembles of some of the members.

:func:`adapt` accepts ensembles of orfeon and scikit-learn, pipelines that end in one, lists of
fitted estimators, and containers such as a :class:`orfeon.forest.Forest`. What it returns is a
:class:`Members`; ordering, combining and inspection use nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from orfeon.forest import Forest
from orfeon.members.members import CommitteeMembers, class_supports
from orfeon.members.protocol import (
    Members,
    member_codes,
    one_output,
)
from orfeon.utils.types import Floats, Integers, Mask
from orfeon.utils.unwrapping import unpruned

KINDS = (
    "ensembles of orfeon, pruned or not; BaggingClassifier, BaggingRegressor, "
    "RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor, "
    "AdaBoostClassifier, VotingClassifier and VotingRegressor of scikit-learn; pipelines that "
    "end in one of these; FrozenEstimators of all of these; lists of fitted classifiers or "
    "regressors, or of (name, estimator)"
)


def adapt(ensemble: Any) -> Members:
    """Give access to the members of a fitted ensemble.

    Parameters
    ----------
    ensemble : ensemble, pipeline, or list of fitted estimators
        An ensemble of orfeon; scikit-learn's bagging, forests, voting or AdaBoost for
        classification; a pipeline whose last step is one of these; any of them as a
        :class:`sklearn.frozen.FrozenEstimator`; or a list or tuple of fitted estimators, or of
        (name, estimator), all classifiers or all regressors.

    Returns
    -------
    Members
        Its members.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from orfeon.members import adapt
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    >>> members = adapt(forest)
    >>> members.n_members, members.classes.tolist(), members.answers(X).shape
    (5, ['a', 'b'], (5, 4))
    >>> members.subset([3, 1])
    RandomForestClassifier(n_estimators=2, random_state=0)
    """
    ensemble = unpruned(ensemble)
    own: Callable[[Any], Members] | None = getattr(type(ensemble), "_adapted", None)
    if own is not None:  # ensembles of orfeon know what they are made of
        return own(ensemble)
    if hasattr(ensemble, "votes") and hasattr(ensemble, "subset"):
        return BareMembers(ensemble)
    if isinstance(ensemble, Sequence) and not isinstance(ensemble, str | bytes):
        return FittedEstimators.of(ensemble)
    if isinstance(ensemble, Pipeline):
        return EnsembleInPipeline(ensemble, adapt(ensemble.steps[-1][1]))
    # Importing scikit-learn's ensembles is slow, and orfeon's do not need it.
    from orfeon.members.scikit_learn import adapt_scikit_learn

    adapted = None if isinstance(ensemble, type) else adapt_scikit_learn(ensemble)
    if adapted is None:
        named = ensemble if isinstance(ensemble, type) else type(ensemble)
        what = "the class" if isinstance(ensemble, type) else "of type"
        raise TypeError(
            f"ensemble is {what} {named.__name__}, not a fitted ensemble whose members can be "
            f"queried individually. Allowed are {KINDS}."
        )
    return adapted


# -- containers, lists and pipelines ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BareMembers(Members):
    """Members without an ensemble, such as a forest; their classes are codes."""

    @property
    def n_members(self) -> int:
        return len(self.ensemble)

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        return np.arange(self.ensemble.n_classes) if self.ensemble.n_classes else None

    def answers(self, X: Any) -> npt.NDArray[Any]:
        if self.classes is None:
            return self._supports(X)[:, :, 0]
        return np.asarray(self.ensemble.votes(self._rows(X)))

    def _rows(self, X: Any) -> Any:
        is_trees = isinstance(self.ensemble, Forest | CommitteeMembers)
        return np.ascontiguousarray(X, dtype=np.float64) if is_trees else X

    def _supports(self, X: Any) -> Floats:
        return np.asarray(self.ensemble.supports(self._rows(X)))

    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        raise self._no_out_of_bag("members alone do not record what they were trained on")

    def _keep(self, index: Integers) -> Any:
        return self.ensemble.subset(index)


@dataclass(frozen=True, eq=False)
class FittedEstimators(Members):
    """A list of fitted estimators, all classifiers or all regressors."""

    estimators: Sequence[Any]
    known: npt.NDArray[Any] | None

    @classmethod
    def of(cls, given: Sequence[Any]) -> FittedEstimators:
        """Check the estimators and find their classes."""
        if len(given) == 0:
            raise ValueError("the list of estimators is empty; give at least one fitted estimator.")
        named = all(_is_named(item) for item in given)
        estimators = [item[1] for item in given] if named else list(given)
        tasks = [_check_estimator(estimator, t) for t, estimator in enumerate(estimators)]
        for t, task in enumerate(tasks):
            if task != tasks[0]:
                raise ValueError(
                    f"estimator 0 is a {tasks[0]} and estimator {t}, "
                    f"{type(estimators[t]).__name__}, is a {task}; give all classifiers or all "
                    "regressors."
                )
        known = _union_of_classes(estimators) if tasks[0] == "classifier" else None
        return cls(given, estimators, known)

    @property
    def n_members(self) -> int:
        return len(self.estimators)

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        return self.known

    def answers(self, X: Any) -> npt.NDArray[Any]:
        answers = [one_output(e.predict(X), t, e) for t, e in enumerate(self.estimators)]
        if self.known is None:
            return np.asarray(answers, dtype=np.float64)
        return np.stack([member_codes(one, self.known, t) for t, one in enumerate(answers)])

    def _supports(self, X: Any) -> Floats:
        assert self.known is not None
        return np.stack([class_supports(e, X, self.known) for e in self.estimators])

    def part(self, first: int, last: int) -> Self:
        return replace(super().part(first, last), estimators=self.estimators[first:last])

    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        raise self._no_out_of_bag("it is not known which samples each estimator was fitted to")

    def _keep(self, index: Integers) -> Any:
        kept = [self.ensemble[t] for t in index]
        return tuple(kept) if isinstance(self.ensemble, tuple) else kept

    @property
    def _name(self) -> str:
        return f"a {type(self.ensemble).__name__} of estimators"


def _is_named(item: Any) -> bool:
    return isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str)


def _check_estimator(estimator: Any, index: int) -> str:
    """Whether an estimator of a list is a classifier or a regressor; others are rejected."""
    if isinstance(estimator, type) or not hasattr(estimator, "predict"):
        kind = "a class" if isinstance(estimator, type) else "without predict"
        raise TypeError(
            f"estimator {index} of the list, {estimator!r}, is {kind}; give fitted classifiers or "
            "regressors, or (name, estimator) for each."
        )
    task = _task(estimator)
    if task is None:
        raise TypeError(
            f"estimator {index} of the list, {type(estimator).__name__}, is neither a classifier "
            "nor a regressor; leave it out, or derive it from ClassifierMixin or RegressorMixin of "
            "scikit-learn."
        )
    try:
        if hasattr(estimator, "__sklearn_tags__"):  # others cannot be checked
            check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError(
            f"estimator {index} of the list, {type(estimator).__name__}, is not fitted; call its "
            "fit first."
        ) from error
    return task


def _task(estimator: Any) -> str | None:
    if not hasattr(estimator, "__sklearn_tags__"):
        kind = getattr(estimator, "_estimator_type", None)
        return kind if kind in ("classifier", "regressor") else None
    if is_classifier(estimator):
        return "classifier"
    return "regressor" if is_regressor(estimator) else None


def _union_of_classes(estimators: Sequence[Any]) -> npt.NDArray[Any]:
    found = []
    for t, estimator in enumerate(estimators):
        classes = getattr(estimator, "classes_", None)
        if classes is None or any(np.ndim(c) for c in classes):
            what = "no classes_" if classes is None else "the classes of several outputs"
            raise ValueError(
                f"estimator {t} of the list, {type(estimator).__name__}, has {what}; give "
                "classifiers of one output with classes_."
            )
        found.append(np.asarray(classes))
    strings = [all(isinstance(c, str) for c in classes.tolist()) for classes in found]
    if len(set(strings)) == 2:
        t = strings.index(not strings[0])
        raise ValueError(
            f"estimator 0 has the classes {found[0].tolist()} and estimator {t} "
            f"{found[t].tolist()}; give classifiers of one problem, fitted to the same labels."
        )
    return np.unique(np.concatenate(found))


@dataclass(frozen=True, eq=False)
class EnsembleInPipeline(Members):
    """A fitted pipeline whose last step is an ensemble."""

    last: Members

    @property
    def n_members(self) -> int:
        return self.last.n_members

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        return self.last.classes

    @property
    def member_weights(self) -> Floats | None:
        return self.last.member_weights

    @property
    def averages_supports(self) -> bool:
        return self.last.averages_supports

    def answers(self, X: Any) -> npt.NDArray[Any]:
        return self.last.answers(self.transform(X))

    def _supports(self, X: Any) -> Floats:
        return self.last._supports(self.transform(X))

    def transform(self, X: Any) -> Any:
        """Rows as the ensemble gets them from the steps before it."""
        return self.ensemble[:-1].transform(X) if len(self.ensemble.steps) > 1 else X

    def part(self, first: int, last: int) -> Self:
        return replace(super().part(first, last), last=self.last.part(first, last))

    def _seen(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        return self.last._seen(self.transform(X), y, sample_weight)

    def _drawn(self, X: Any, y: Any, sample_weight: Any) -> Mask:
        return self.last._drawn(self.transform(X), y, sample_weight)

    @property
    def _can_verify(self) -> bool:
        return self.last._can_verify

    def _check_indices(self, indices: Any) -> Integers:
        return self.last._check_indices(indices)

    def _keep(self, index: Integers) -> Any:
        smaller = copy(self.ensemble)
        name = self.ensemble.steps[-1][0]
        smaller.steps = [*self.ensemble.steps[:-1], (name, self.last._keep(index))]
        return smaller

    @property
    def _name(self) -> str:
        return self.last._name
