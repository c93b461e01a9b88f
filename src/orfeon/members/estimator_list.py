"""Lists of fitted estimators as members to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from orfeon.members.adapter import FittedEnsemble, member_codes, one_output
from orfeon.members.members import class_supports
from orfeon.utils.types import Floats, Integers, Mask


@dataclass(frozen=True, eq=False)
class FittedEstimators(FittedEnsemble):
    """Fitted estimators of any kind, all classifiers or all regressors."""

    estimators: Sequence[Any]
    known: npt.NDArray[Any] | None

    @classmethod
    def of(cls, given: Sequence[Any]) -> FittedEstimators:
        """Check some estimators and find their classes."""
        if len(given) == 0:
            raise ValueError("the list of estimators is empty; give at least one fitted estimator.")
        named = all(_is_named(item) for item in given)
        estimators = [item[1] for item in given] if named else list(given)
        tasks = [_check(estimator, t) for t, estimator in enumerate(estimators)]
        for t, task in enumerate(tasks):
            if task != tasks[0]:
                raise ValueError(
                    f"estimator 0 is a {tasks[0]} and estimator {t}, "
                    f"{type(estimators[t]).__name__}, is a {task}; give all classifiers or all "
                    "regressors."
                )
        known = _union(estimators) if tasks[0] == "classifier" else None
        return cls(given, estimators, known)

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.estimators)

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """The classes, sorted; None in regression."""
        return self.known

    def answers(self, X: Any) -> npt.NDArray[Any]:
        """What each estimator predicts."""
        answers = [one_output(e.predict(X), t, e) for t, e in enumerate(self.estimators)]
        if self.known is None:
            return np.asarray(answers, dtype=np.float64)
        return np.stack([member_codes(one, self.known, t) for t, one in enumerate(answers)])

    def _supports(self, X: Any) -> Floats:
        assert self.known is not None
        return np.stack([class_supports(e, X, self.known) for e in self.estimators])

    def part(self, first: int, last: int) -> Self:
        """Estimators that follow each other, to be asked alone: the classes stay those of all."""
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


def _check(estimator: Any, index: int) -> str:
    """Whether an estimator of the list is a classifier or a regressor; refuses all others."""
    if isinstance(estimator, type) or not hasattr(estimator, "predict"):
        kind = "a class" if isinstance(estimator, type) else "without predict"
        raise TypeError(
            f"estimator {index} of the list, {estimator!r}, is {kind}; give fitted classifiers or "
            "regressors, or (name, estimator) for every one of them."
        )
    task = _task(estimator)
    if task is None:
        raise TypeError(
            f"estimator {index} of the list, {type(estimator).__name__}, is neither a classifier "
            "nor a regressor; leave it out, or let it say what it is by ClassifierMixin or "
            "RegressorMixin of scikit-learn."
        )
    try:
        if hasattr(estimator, "__sklearn_tags__"):  # others have their own ways to be fitted
            check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError(
            f"estimator {index} of the list, {type(estimator).__name__}, is not fitted; call its "
            "fit first."
        ) from error
    return task


def _task(estimator: Any) -> str | None:
    if not hasattr(estimator, "__sklearn_tags__"):
        answers = getattr(estimator, "_estimator_type", None)
        return answers if answers in ("classifier", "regressor") else None
    if is_classifier(estimator):
        return "classifier"
    return "regressor" if is_regressor(estimator) else None


def _union(estimators: Sequence[Any]) -> npt.NDArray[Any]:
    """All classes that any of some classifiers knows, sorted."""
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
