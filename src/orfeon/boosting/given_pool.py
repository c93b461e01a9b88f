"""Classifiers of any kind as a pool.

They predict the training samples once; one matrix-vector product then gives all weighted errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from orfeon.boosting.loop import MemberOutput
from orfeon.boosting.stump_pool import TIE
from orfeon.data.training_set import TrainingSet
from orfeon.ensembles.base import seed_estimator
from orfeon.ensembles.perturbation import draw_seed, member_generator
from orfeon.members.members import EstimatorMembers
from orfeon.utils import saved
from orfeon.utils.types import Floats, Integers32

#: Entries of the matrix of errors multiplied at a time, and kept as floats at most.
_BLOCK, _MOST_KEPT = 1 << 22, 1 << 24


@saved.attributes(
    classifier=saved.estimator,
    codes=saved.dict_of(saved.label, saved.integer(0)),
    place=saved.integer(0),
)
@dataclass(frozen=True)
class Voter:
    """Any classifier, made to predict class codes."""

    classifier: Any
    codes: dict[Any, int]
    place: int

    @classmethod
    def of(cls, classifier: Any, classes: npt.NDArray[Any], place: int, answers: Any) -> Voter:
        """Detect whether a classifier predicts classes or their codes."""
        known = getattr(classifier, "classes_", None)
        labels = np.unique(_one_column(answers, place) if known is None else np.asarray(known))
        table = {label: k for k, label in enumerate(classes.tolist())}
        numbers = {k: k for k in range(len(classes))}
        for codes in (table, numbers):
            if all(label in codes for label in labels.tolist()):
                return cls(classifier, codes, place)
        strange = next(label for label in labels.tolist() if label not in table)
        raise ValueError(
            f"classifier {place} of the pool predicts {strange!r}; allowed are the classes "
            f"{classes.tolist()}, or their indices 0 to {len(classes) - 1}."
        )

    def predict(self, X: Any) -> Integers32:
        """The class of each row."""
        return self.code(_outputs_of(self.classifier, X))

    def code(self, answers: Any) -> Integers32:
        """Labels as class codes."""
        labels, where = np.unique(_one_column(answers, self.place), return_inverse=True)
        for label in labels.tolist():
            if label not in self.codes:
                raise ValueError(
                    f"classifier {self.place} of the pool predicts {label!r}; allowed are "
                    f"{list(self.codes)}."
                )
        return np.array([self.codes[label] for label in labels.tolist()], np.int32)[where]


@saved.attributes(classifier=saved.estimator, codes=saved.array("i4", 1, low=0))
@dataclass(frozen=True)
class MemberVoter:
    """One member of a fitted ensemble, as an ensemble of one."""

    classifier: Any
    codes: Integers32

    def predict(self, X: Any) -> Integers32:
        """The class of each row."""
        return np.asarray(self.codes[_adapt(self.classifier).answers(X)[0]])


def _adapt(ensemble: Any) -> Any:
    # Imported late: the adapters import the boosters.
    from orfeon.members import adapt

    return adapt(ensemble)


def _outputs_of(classifier: Any, X: Any) -> Any:
    return classifier.predict(X) if hasattr(classifier, "predict") else classifier(X)


def _one_column(answers: Any, place: int) -> npt.NDArray[Any]:
    found = np.asarray(answers)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise ValueError(
            f"classifier {place} of the pool returns an array of shape {found.shape}; one class "
            "per row is expected."
        )
    return found


def _check_classifier(classifier: Any, place: int) -> None:
    wrong = None
    if isinstance(classifier, type):
        wrong = f"the class {classifier.__name__}, not an object of it"
    elif not hasattr(classifier, "predict") and not callable(classifier):
        wrong = f"of type {type(classifier).__name__}, without predict"
    elif hasattr(classifier, "__sklearn_tags__") and is_regressor(classifier):
        wrong = f"{type(classifier).__name__}, a regressor"
    if wrong is not None:
        raise TypeError(
            f"classifier {place} of the pool is {wrong}; give classifiers, fitted or not, or "
            "functions from rows to classes."
        )


def _is_fitted(classifier: Any) -> bool:
    if not hasattr(classifier, "fit") or not hasattr(classifier, "get_params"):
        return True
    try:
        check_is_fitted(classifier)
    except NotFittedError:
        return False
    return True


@saved.attributes(
    estimators=saved.list_of(saved.instance("Voter", "MemberVoter"), at_least=1),
    n_classes=saved.integer(1),
    features=saved.in_files("attributes", saved.none),
)
@dataclass(frozen=True)
class PoolMembers(EstimatorMembers):
    """Classifiers chosen from a pool; one chosen several times predicts once."""

    def votes(self, X: Any) -> Integers32:
        answers: dict[int, Integers32] = {}
        for voter in self.estimators:
            if id(voter) not in answers:
                answers[id(voter)] = voter.predict(X)
        return np.stack([answers[id(voter)] for voter in self.estimators])

    def supports(self, X: Any) -> Floats:
        answers: dict[int, Floats] = {}
        for member, voter in enumerate(self.estimators):
            if id(voter) not in answers:
                answers[id(voter)] = self._support(member, X)
        return np.stack([answers[id(voter)] for voter in self.estimators])

    def subset(self, chosen: Sequence[int] | npt.NDArray[np.integer[Any]]) -> PoolMembers:
        return PoolMembers(super().subset(chosen).estimators, self.n_classes)

    @staticmethod
    def concatenate(parts: Sequence[EstimatorMembers]) -> PoolMembers:
        return PoolMembers([e for part in parts for e in part.estimators], parts[0].n_classes)


@dataclass
class PoolLearner:
    """Chooses the classifier with the lowest weighted error; ties go to the first."""

    voters: list[Any]
    answers: npt.NDArray[Any]
    n_classes: int
    chosen: list[int]
    _wrong: Floats | None = field(default=None, repr=False)
    _of: npt.NDArray[Any] | None = field(default=None, repr=False)

    def errors(self, weights: Floats, labels: npt.NDArray[Any]) -> Floats:
        if self.answers.size <= _MOST_KEPT:
            if self._wrong is None or self._of is not labels:
                self._wrong, self._of = (self.answers != labels).astype(np.float64), labels
            return np.asarray(self._wrong @ weights)
        errors = np.empty(len(self.answers))
        step = max(1, _BLOCK // len(weights))
        for first in range(0, len(errors), step):
            wrong = self.answers[first : first + step] != labels
            errors[first : first + step] = wrong.astype(np.float64) @ weights
        return errors

    def train(
        self, weights: Floats, labels: npt.NDArray[Any], rng: np.random.Generator
    ) -> PoolMembers:
        errors = self.errors(weights, labels)
        best = int(np.flatnonzero(errors <= errors.min() + TIE * weights.sum())[0])
        self.chosen.append(best)
        return PoolMembers([self.voters[best]], self.n_classes)

    def predict_train(self, member: PoolMembers, what: MemberOutput) -> npt.NDArray[Any]:
        return np.asarray(self.answers[self.chosen[-1]])


# -- reading a pool --------------------------------------------------------------------------------


def read_pool(
    pool: Any,
    samples: TrainingSet,
    classes: npt.NDArray[Any],
    sequence: np.random.SeedSequence,
) -> tuple[list[Any], npt.NDArray[Any]]:
    """Return the fitted classifiers, and their predictions on the training samples."""
    if not isinstance(pool, list | tuple):
        return _read_ensemble(pool, samples.X, classes)
    voters, answers = [], []
    for place, given in enumerate(pool):
        _check_classifier(given, place)
        fitted = given
        if not _is_fitted(given):
            fitted = clone(given)
            seed_estimator(fitted, int(draw_seed(member_generator(sequence, place))))
            _fit(fitted, samples, classes)
        outputs = _outputs_of(fitted, samples.X)
        voters.append(Voter.of(fitted, classes, place, outputs))
        answers.append(voters[-1].code(outputs))
    return voters, _narrow(np.stack(answers), len(classes))


def _fit(classifier: Any, samples: TrainingSet, classes: npt.NDArray[Any]) -> None:
    X, y, weights = samples.X, classes[samples.y], samples.weights
    if samples.are_equal:
        classifier.fit(X, y)
    elif has_fit_parameter(classifier, "sample_weight"):
        classifier.fit(X, y, sample_weight=weights)
    else:
        raise ValueError(
            f"the samples have unequal weights, but {type(classifier).__name__} of the pool takes "
            "none; fit it before, or leave it out."
        )


def _read_ensemble(
    ensemble: Any, X: Any, classes: npt.NDArray[Any]
) -> tuple[list[Any], npt.NDArray[Any]]:
    adapted = _adapt(ensemble)
    if adapted.classes is None:
        raise TypeError(
            f"pool is a {type(ensemble).__name__}, whose members are regressors; give an ensemble "
            "of classifiers."
        )
    codes = Voter.of(adapted, classes, 0, adapted.classes).code(adapted.classes)
    voters = [MemberVoter(adapted.subset([t]), codes) for t in range(adapted.n_members)]
    return voters, _narrow(codes[adapted.answers(X)], len(classes))


def _narrow(answers: npt.NDArray[Any], n_classes: int) -> npt.NDArray[Any]:
    """The same codes in less memory."""
    return answers.astype(np.uint8 if n_classes <= 256 else np.int32)
