"""Classifiers of any make as a pool to choose from.

What they say of the training examples is asked once; choosing is then one product of a matrix and a
vector, the weighted errors of all of them.
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

from orfeon.boosting.loop import Hears
from orfeon.boosting.stump_pool import TIE
from orfeon.ensembles.perturbation import Examples, draw_seed, member_generator
from orfeon.ensembles.training import seed_estimator
from orfeon.members import EstimatorMembers

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

#: Entries of the matrix of errors that are multiplied at once, and that are kept as floats at most.
_BLOCK, _MOST_KEPT = 1 << 22, 1 << 24


@dataclass(frozen=True)
class Voter:
    """A classifier of any make that says class codes.

    Parameters
    ----------
    classifier : estimator or callable
        Something with ``predict``, or a function of rows.
    codes : dict
        The code of each label that it may say.
    place : int
        Where it is in the pool, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting.given_pool import Voter
    >>> signs = lambda X: np.where(X[:, 0] > 0, "plus", "minus")
    >>> Voter(signs, {"minus": 0, "plus": 1}, 0).predict(np.array([[3.0], [-1.0]]))
    array([1, 0], dtype=int32)
    """

    classifier: Any
    codes: dict[Any, int]
    place: int

    @classmethod
    def of(cls, classifier: Any, classes: npt.NDArray[Any], place: int, said: Any) -> Voter:
        """Find out whether a classifier says classes or codes of them.

        Parameters
        ----------
        classifier : estimator or callable
            The classifier.
        classes : ndarray of shape (n_classes,)
            The classes.
        place : int
            Where it is in the pool.
        said : array of shape (n_rows,)
            What it says of the training examples.

        Returns
        -------
        Voter
            The same classifier.
        """
        known = getattr(classifier, "classes_", None)
        labels = np.unique(_one_column(said, place) if known is None else np.asarray(known))
        table = {label: k for k, label in enumerate(classes.tolist())}
        numbers = {k: k for k in range(len(classes))}
        for codes in (table, numbers):
            if all(label in codes for label in labels.tolist()):
                return cls(classifier, codes, place)
        strange = next(label for label in labels.tolist() if label not in table)
        raise ValueError(
            f"classifier {place} of the pool says {strange!r}; allowed are the classes "
            f"{classes.tolist()}, or their indices 0 to {len(classes) - 1}."
        )

    def predict(self, X: Any) -> Codes:
        """The class of each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows, as the classifier takes them.

        Returns
        -------
        ndarray of int32 of shape (n_rows,)
            Class codes.
        """
        return self.code(_say(self.classifier, X))

    def code(self, said: Any) -> Codes:
        """Labels as class codes.

        Parameters
        ----------
        said : array of shape (n_rows,)
            What the classifier says.

        Returns
        -------
        ndarray of int32 of shape (n_rows,)
            Class codes.
        """
        labels, where = np.unique(_one_column(said, self.place), return_inverse=True)
        for label in labels.tolist():
            if label not in self.codes:
                raise ValueError(
                    f"classifier {self.place} of the pool says {label!r}; allowed are "
                    f"{list(self.codes)}."
                )
        return np.array([self.codes[label] for label in labels.tolist()], np.int32)[where]


@dataclass(frozen=True)
class MemberVoter:
    """One member of a fitted ensemble, as an ensemble of one.

    Parameters
    ----------
    classifier : ensemble
        An ensemble with this member alone.
    codes : ndarray of int32
        The code of each class that the ensemble knows.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon import BaggingClassifier
    >>> from orfeon.boosting.given_pool import MemberVoter
    >>> bag = BaggingClassifier(n_estimators=1, bootstrap=False).fit([[0.0], [1.0]], ["b", "c"])
    >>> MemberVoter(bag, np.array([1, 2], np.int32)).predict([[1.0], [0.0]])
    array([2, 1], dtype=int32)
    """

    classifier: Any
    codes: Codes

    def predict(self, X: Any) -> Codes:
        """The class of each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_attributes)
            Rows, as the ensemble takes them.

        Returns
        -------
        ndarray of int32 of shape (n_rows,)
            Class codes.
        """
        return np.asarray(self.codes[_adapt(self.classifier).answers(X)[0]])


def _adapt(ensemble: Any) -> Any:
    # Whoever gives no ensemble does not wait for the adapters; and they know our boosters.
    from orfeon.adapters import adapt

    return adapt(ensemble)


def _say(classifier: Any, X: Any) -> Any:
    return classifier.predict(X) if hasattr(classifier, "predict") else classifier(X)


def _one_column(said: Any, place: int) -> npt.NDArray[Any]:
    found = np.asarray(said)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise ValueError(
            f"classifier {place} of the pool gives an array of shape {found.shape}; one class for "
            "each row is expected."
        )
    return found


def _check_classifier(classifier: Any, place: int) -> None:
    """Refuse what is no classifier."""
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
            "functions of rows that give their classes."
        )


def _is_fitted(classifier: Any) -> bool:
    if not hasattr(classifier, "fit") or not hasattr(classifier, "get_params"):
        return True
    try:
        check_is_fitted(classifier)
    except NotFittedError:
        return False
    return True


@dataclass(frozen=True)
class PoolMembers(EstimatorMembers):
    """Classifiers chosen from a pool; one that was chosen several times is asked once.

    Parameters
    ----------
    estimators : sequence of Voter or MemberVoter
        The classifiers, in the order in which they were chosen.
    n_classes : int
        Number of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting.given_pool import PoolMembers, Voter
    >>> high = Voter(lambda X: X[:, 0] > 1, {False: 0, True: 1}, 0)
    >>> PoolMembers([high, high], 2).votes(np.array([[0.0], [2.0]]))
    array([[0, 1],
           [0, 1]], dtype=int32)
    """

    def votes(self, X: Any) -> Codes:
        """Class code that each member votes for.

        Parameters
        ----------
        X : array of shape (n_rows, n_attributes)
            Rows, as the classifiers take them.

        Returns
        -------
        ndarray of shape (n_members, n_rows)
            Class codes.
        """
        said: dict[int, Codes] = {}
        for voter in self.estimators:
            if id(voter) not in said:
                said[id(voter)] = voter.predict(X)
        return np.stack([said[id(voter)] for voter in self.estimators])

    def supports(self, X: Any) -> Floats:
        """What each member supports; see :meth:`EstimatorMembers.supports`."""
        said: dict[int, Floats] = {}
        for member, voter in enumerate(self.estimators):
            if id(voter) not in said:
                said[id(voter)] = self._support(member, X)
        return np.stack([said[id(voter)] for voter in self.estimators])

    def subset(self, chosen: Sequence[int] | npt.NDArray[np.integer[Any]]) -> PoolMembers:
        """Some of the members.

        Parameters
        ----------
        chosen : sequence of int, or mask
            Which.

        Returns
        -------
        PoolMembers
            These, in the order given.
        """
        return PoolMembers(super().subset(chosen).estimators, self.n_classes)

    @staticmethod
    def concatenate(parts: Sequence[EstimatorMembers]) -> PoolMembers:
        """The members of several, in order.

        Parameters
        ----------
        parts : sequence of PoolMembers
            Members from one pool.

        Returns
        -------
        PoolMembers
            All of them.
        """
        return PoolMembers([e for part in parts for e in part.estimators], parts[0].n_classes)


@dataclass
class PoolLearner:
    """Chooses the classifier of least weighted error; the first of those that are equally good.

    Parameters
    ----------
    voters : list
        The classifiers of the pool.
    said : ndarray of shape (n_pool, n_rows)
        Class codes that they say of the training examples.
    n_classes : int
        Number of classes.
    chosen : list of int
        What was chosen so far; added to.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting.given_pool import PoolLearner
    >>> said = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 1]])
    >>> learner = PoolLearner(["zero", "one", "both"], said, 2, [])
    >>> learner.train(np.ones(3), np.array([0, 1, 0]), np.random.default_rng(0)).estimators
    ['zero']
    """

    voters: list[Any]
    said: npt.NDArray[Any]
    n_classes: int
    chosen: list[int]
    _wrong: Floats | None = field(default=None, repr=False)
    _of: npt.NDArray[Any] | None = field(default=None, repr=False)

    def errors(self, weights: Floats, labels: npt.NDArray[Any]) -> Floats:
        """Weight that each classifier of the pool gets wrong.

        Parameters
        ----------
        weights : ndarray of shape (n_rows,)
            Weights of the examples.
        labels : ndarray of shape (n_rows,)
            Class codes.

        Returns
        -------
        ndarray of shape (n_pool,)
            Weights.
        """
        if self.said.size <= _MOST_KEPT:
            if self._wrong is None or self._of is not labels:
                self._wrong, self._of = (self.said != labels).astype(np.float64), labels
            return np.asarray(self._wrong @ weights)
        errors = np.empty(len(self.said))
        step = max(1, _BLOCK // len(weights))
        for first in range(0, len(errors), step):
            wrong = self.said[first : first + step] != labels
            errors[first : first + step] = wrong.astype(np.float64) @ weights
        return errors

    def train(
        self, weights: Floats, labels: npt.NDArray[Any], rng: np.random.Generator
    ) -> PoolMembers:
        """Choose a classifier.

        Parameters
        ----------
        weights : ndarray of shape (n_rows,)
            Weights, on any scale.
        labels : ndarray of shape (n_rows,)
            Class codes.
        rng : numpy.random.Generator
            Not used: nothing is drawn.

        Returns
        -------
        PoolMembers
            The classifier, as members of length one.
        """
        errors = self.errors(weights, labels)
        best = int(np.flatnonzero(errors <= errors.min() + TIE * weights.sum())[0])
        self.chosen.append(best)
        return PoolMembers([self.voters[best]], self.n_classes)

    def hear(self, member: PoolMembers, what: Hears) -> npt.NDArray[Any]:
        """What the classifier chosen last says of the training examples.

        Parameters
        ----------
        member : PoolMembers
            The classifier.
        what : {"votes"}
            Class codes.

        Returns
        -------
        ndarray of shape (n_rows,)
            What it says.
        """
        return np.asarray(self.said[self.chosen[-1]])


# -- from what is given to a pool ------------------------------------------------------------------


def read_pool(
    pool: Any,
    X: Any,
    examples: Examples,
    classes: npt.NDArray[Any],
    sequence: np.random.SeedSequence,
) -> tuple[list[Any], npt.NDArray[Any]]:
    """The classifiers of a pool, and what they say of the training examples.

    Parameters
    ----------
    pool : sequence of classifiers, or fitted ensemble
        Classifiers, fitted or not, and functions of rows; or an ensemble, whose members they are.
    X : array, sparse matrix or data frame of shape (n_rows, n_attributes)
        The training examples.
    examples : Examples
        Their classes and weights.
    classes : ndarray of shape (n_classes,)
        The classes.
    sequence : numpy.random.SeedSequence
        Root of the randomness of those that are fitted here.

    Returns
    -------
    list of Voter or MemberVoter
        The classifiers, all of them fitted.
    ndarray of int of shape (n_pool, n_rows)
        Class codes.

    Examples
    --------
    >>> import numpy as np
    >>> from orfeon.boosting.given_pool import read_pool
    >>> from orfeon.ensembles.perturbation import Examples
    >>> examples = Examples(np.array([0, 1]), np.ones(2), 2, 1)
    >>> X, classes = np.array([[0.0], [1.0]]), np.array(["no", "yes"])
    >>> pool = [lambda X: np.where(X[:, 0] > 0.5, "yes", "no"), lambda X: np.full(len(X), "no")]
    >>> read_pool(pool, X, examples, classes, np.random.SeedSequence(0))[1].tolist()
    [[0, 1], [0, 0]]
    """
    if not isinstance(pool, list | tuple):
        return _read_ensemble(pool, X, classes)
    voters, answers = [], []
    for place, given in enumerate(pool):
        _check_classifier(given, place)
        fitted = given
        if not _is_fitted(given):
            fitted = clone(given)
            seed_estimator(fitted, int(draw_seed(member_generator(sequence, place))))
            _fit(fitted, X, examples, classes)
        said = _say(fitted, X)
        voters.append(Voter.of(fitted, classes, place, said))
        answers.append(voters[-1].code(said))
    return voters, _narrow(np.stack(answers), len(classes))


def _fit(classifier: Any, X: Any, examples: Examples, classes: npt.NDArray[Any]) -> None:
    """Fit a classifier to the training examples."""
    y, weights = classes[examples.labels], examples.weights
    if examples.are_equal:
        classifier.fit(X, y)
    elif has_fit_parameter(classifier, "sample_weight"):
        classifier.fit(X, y, sample_weight=weights)
    else:
        raise ValueError(
            f"the examples have unequal weights, and {type(classifier).__name__} of the pool takes "
            "none; give it fitted, or leave it out."
        )


def _read_ensemble(
    ensemble: Any, X: Any, classes: npt.NDArray[Any]
) -> tuple[list[Any], npt.NDArray[Any]]:
    """The members of a fitted ensemble as a pool."""
    adapted = _adapt(ensemble)
    if adapted.classes is None:
        raise TypeError(
            f"pool is a {type(ensemble).__name__}, whose members are regressors; give an ensemble "
            "of classifiers."
        )
    codes = Voter.of(adapted, classes, 0, adapted.classes).code(adapted.classes)
    voters = [MemberVoter(adapted.subset([t]), codes) for t in range(adapted.n_members)]
    return voters, _narrow(codes[adapted.answers(X)], len(classes))


def _narrow(said: npt.NDArray[Any], n_classes: int) -> npt.NDArray[Any]:
    """The same codes in less memory."""
    return said.astype(np.uint8 if n_classes <= 256 else np.int32)
