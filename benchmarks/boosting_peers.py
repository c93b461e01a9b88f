"""The boosting libraries, through ``fit`` of their public estimators, and problems for them.

Each gets the rows in the form that suits it best, and the same number of threads.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn.ensemble
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

import orfeon
from benchmarks.contestants import ORFEON, SCIKIT_LEARN, Contestant
from benchmarks.problems import Data

Answers = npt.NDArray[Any]

#: From this many rows on, scikit-learn does a fraction of the rounds.
_SLOW_FROM = 20_000


@dataclass(frozen=True, kw_only=True)
class Booster(Contestant):
    """One library's way to boost."""

    #: Takes a model; gives the number of rounds that it ran.
    n_rounds: Callable[[Any], int]
    #: Takes a model and rows; gives its predictions after each round. Only orfeon's are compared
    #: with models of fewer rounds.
    staged: Callable[[Any, Data], Iterator[Answers]] | None = None
    #: Whether predictions are those of ``predict_proba``: probabilities of the second class.
    soft: bool = False

    def answers(self, model: Any, rows: Data, n_rounds: int) -> Answers:
        """Predictions of a model, or of its first rounds."""
        if self.staged is None or n_rounds >= self.n_rounds(model):
            return (self.predict_proba if self.soft else self.predict)(model, rows)
        return next(islice(self.staged(model, rows), n_rounds - 1, None))


# -- AdaBoost --------------------------------------------------------------------------------------


def _boost_orfeon(make_tree: Callable[[], Any]) -> Booster:
    def fit(data: Data, n_members: int, seed: int) -> Any:
        model = orfeon.AdaBoostClassifier(make_tree(), n_members, n_jobs=1, random_state=seed)
        with warnings.catch_warnings():
            # That one member without error is all there is, is what one case is about.
            warnings.filterwarnings("ignore", "AdaBoostClassifier: the first member makes no error")
            return model.fit(data.X, data.y)

    return Booster(
        ORFEON, fit, lambda model, rows: model.predict(rows.X),
        lambda model, rows: model.predict_proba(rows.X),
        n_rounds=len, staged=lambda model, rows: model.staged_predict(rows.X),
    )  # fmt: skip


def _boost_scikit_learn(max_depth: int | None, divisor: int | None) -> Booster:
    def fit(data: Data, n_members: int, seed: int) -> Any:
        tree = DecisionTreeClassifier(max_depth=max_depth)
        model = sklearn.ensemble.AdaBoostClassifier(tree, n_estimators=n_members, random_state=seed)
        return model.fit(data.narrow, data.y)

    return Booster(
        SCIKIT_LEARN, fit, lambda model, rows: model.predict(rows.narrow),
        lambda model, rows: model.predict_proba(rows.narrow),
        slow_from=None if divisor is None else _SLOW_FROM, divisor=divisor or 1,
        n_rounds=lambda model: len(model.estimators_),
    )  # fmt: skip


def adaboost_stumps() -> list[Booster]:
    """AdaBoost of trees of one test; of two classes scikit-learn's SAMME is the same algorithm."""
    return [_boost_orfeon(orfeon.StumpClassifier), _boost_scikit_learn(1, divisor=5)]


def adaboost_depth_5() -> list[Booster]:
    """AdaBoost of trees of at most five tests on a path."""
    ours = _boost_orfeon(lambda: orfeon.CARTClassifier(max_depth=5))
    return [ours, _boost_scikit_learn(5, divisor=10)]


def adaboost_full_trees() -> list[Booster]:
    """AdaBoost of trees without limits.

    They grow deeper from round to round, so a fraction of the rounds would be the fast ones: both
    libraries run all.
    """
    return [_boost_orfeon(orfeon.CARTClassifier), _boost_scikit_learn(None, divisor=None)]


# -- problems --------------------------------------------------------------------------------------


def two_clusters(
    n_rows: int, n_test: int, n_features: int = 20, noise: float = 0.05
) -> tuple[Data, Data]:
    """Two classes of gaussian clusters, some features of noise, and some labels that are wrong.

    Examples
    --------
    >>> training, test = two_clusters(300, 100)
    >>> training.shape, test.shape, training.n_classes
    ((300, 20), (100, 20), 2)
    """
    X, y = make_classification(
        n_rows + n_test, n_features, n_informative=n_features // 2,
        n_redundant=n_features // 5, n_classes=2, flip_y=noise, random_state=0,
    )  # fmt: skip
    X = np.asarray(X, np.float32).astype(np.float64)
    y = np.asarray(y, np.int64)
    name = "two clusters"
    return Data(name, X[:n_rows].copy(), y[:n_rows]), Data(name, X[n_rows:].copy(), y[n_rows:])


def contradicting_clusters(
    n_rows: int, n_test: int, *, rounded: bool = False, share: float = 0.1
) -> tuple[Data, Data]:
    """The same problem, in which some samples are there twice, with either label.

    A tree without limits separates all different samples, makes no error, and leaves nothing to
    boost. Here no tree can, so all rounds run.

    Examples
    --------
    >>> training, _ = contradicting_clusters(300, 100)
    >>> len(training.X), len(np.unique(training.X, axis=0))
    (300, 270)
    """
    n_repeated = round(share * n_rows)
    once, test = two_clusters(n_rows - n_repeated, n_test)
    X = np.concatenate([once.X, once.X[:n_repeated]])
    labels = np.concatenate([once.y, 1 - once.y[:n_repeated]])
    if rounded:
        X, test = np.round(X), Data(test.name, np.round(test.X), test.y)
    return Data("contradicting clusters", X, labels), test
