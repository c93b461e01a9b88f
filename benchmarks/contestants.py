"""The libraries with an ensemble method, through ``fit`` and ``predict`` of public estimators.

Each uses one thread, and gets the rows in the form that suits it best.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import sklearn.ensemble
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier

import orfeon
from benchmarks import peers, problems
from benchmarks.problems import Data, Floats, Integers

ORFEON, SCIKIT_LEARN, YDF, INTEL = "orfeon", "scikit-learn", "ydf", "Intel's extension"


@dataclass(frozen=True)
class Contestant:
    """One library's way to do a method."""

    #: The library.
    name: str
    #: Takes data, a number of trees and a seed; gives a fitted model.
    fit: Callable[[Data, int, int], Any]
    #: Takes a model and rows; gives class codes.
    predict: Callable[[Any, Data], npt.NDArray[Any]]
    #: Takes a model and rows; gives shares of the classes.
    predict_proba: Callable[[Any, Data], npt.NDArray[Any]]
    #: What is not comparable.
    note: str = ""
    #: From this many rows on, only a fraction of the trees is timed.
    slow_from: int | None = None
    #: Which fraction: the tenth part.
    divisor: int = 10
    #: Whether other processes do the work.
    in_processes: bool = False

    def trees_timed(self, n_rows: int, n_trees: int) -> int:
        """Number of trees that are timed."""
        if self.slow_from is None or n_rows < self.slow_from:
            return n_trees
        return max(1, n_trees // self.divisor)


# -- the libraries ---------------------------------------------------------------------------------


def of_orfeon(estimator: type[Any], *, n_jobs: int = 1, **settings: Any) -> Contestant:
    """An estimator of orfeon."""

    def fit(data: Data, n_trees: int, seed: int) -> Any:
        model = estimator(n_estimators=n_trees, n_jobs=n_jobs, random_state=seed, **settings)
        return model.fit(data.X, data.y)

    return Contestant(
        ORFEON, fit, lambda model, rows: model.predict(rows.X),
        lambda model, rows: model.predict_proba(rows.X),
    )  # fmt: skip


def of_scikit_learn(
    estimator: type[Any], *, slow_from: int | None = None, **settings: Any
) -> Contestant:
    """An estimator of scikit-learn."""

    def fit(data: Data, n_trees: int, seed: int) -> Any:
        model = estimator(n_estimators=n_trees, n_jobs=1, random_state=seed, **settings)
        return model.fit(data.narrow, data.y)

    return Contestant(
        SCIKIT_LEARN, fit, lambda model, rows: model.predict(rows.narrow),
        lambda model, rows: model.predict_proba(rows.narrow), slow_from=slow_from,
    )  # fmt: skip


def of_peer(
    peer: peers.Peer,
    *,
    square_root: bool = False,
    train: peers.Train | None = None,
    slow_from: int | None = None,
    divisor: int = 10,
) -> Contestant:
    """A forest of another library, with all features at each node or the root of their number."""

    def fit(data: Data, n_trees: int, seed: int) -> Any:
        max_features = math.isqrt(data.shape[1]) if square_root else None
        return (train or peer.train)(data, n_trees, max_features, seed)

    return Contestant(
        peer.name, fit, peer.predict, peer.predict_proba, peer.note, slow_from, divisor
    )  # fmt: skip


def compared_peers() -> list[peers.Peer]:
    """The peers of ensembles, whether installed or not."""
    return [peer for peer in peers.PEERS if peer.name in (YDF, INTEL)]


def _installed() -> dict[str, peers.Peer]:
    return {peer.name: peer for peer in compared_peers() if peer.is_installed}


# -- the methods -----------------------------------------------------------------------------------


# Scaling up would also scale what ydf does once per fit, so it grows all trees unless time forbids.


def _forests(*, square_root: bool, ydf_divisor: int) -> list[Contestant]:
    return [
        of_peer(
            peer, square_root=square_root, slow_from=20_000 if name == YDF else None,
            divisor=ydf_divisor,
        )
        for name, peer in _installed().items()
    ]  # fmt: skip


def bagging() -> list[Contestant]:
    """Bagged trees that choose among all features."""
    return [
        of_orfeon(orfeon.BaggingClassifier),
        of_scikit_learn(sklearn.ensemble.BaggingClassifier, slow_from=2000),
        *_forests(square_root=False, ydf_divisor=5),
    ]


def random_forest() -> list[Contestant]:
    """Bagged trees that choose among the square root of the features at each node."""
    return [
        of_orfeon(orfeon.RandomForestClassifier),
        of_scikit_learn(sklearn.ensemble.RandomForestClassifier, slow_from=20_000),
        *_forests(square_root=True, ydf_divisor=2),
    ]


def extra_trees() -> list[Contestant]:
    """Trees of random cuts of the square root of the features; ydf has none."""
    contestants = [
        of_orfeon(orfeon.ExtraTreesClassifier),
        of_scikit_learn(sklearn.ensemble.ExtraTreesClassifier),
    ]
    intel = _installed().get(INTEL)
    if intel is not None:
        own = of_peer(intel, square_root=True, train=peers.train_intel_extra_trees)
        contestants.append(replace(own, note="Intel's extension cuts between bins."))
    return contestants


# -- class-switching with scikit-learn's trees -----------------------------------------------------


def _grow(
    X: npt.NDArray[np.float32], labels: Integers, seed: int
) -> list[DecisionTreeClassifier]:  # fmt: skip
    return [
        DecisionTreeClassifier(random_state=seed + t).fit(X, switched)
        for t, switched in enumerate(labels)
    ]


class SwitchedTrees:
    """What a user of scikit-learn would write: a loop over switched labels, and a vote."""

    def __init__(self, n_trees: int, seed: int, n_processes: int = 1) -> None:
        self.n_trees = n_trees
        self.seed = seed
        self.n_processes = n_processes
        self.trees: list[DecisionTreeClassifier] = []
        self.n_classes = 0

    def fit(self, data: Data) -> SwitchedTrees:
        """Switch labels and grow the trees."""
        self.n_classes = data.n_classes
        labels = problems.switched_labels(data, self.n_trees, self.seed)
        if self.n_processes == 1:
            self.trees = _grow(data.narrow, labels, self.seed)
            return self
        cuts = np.linspace(0, self.n_trees, self.n_processes + 1).astype(int)
        parts = Parallel(n_jobs=self.n_processes)(
            delayed(_grow)(data.narrow, labels[a:b], self.seed + int(a)) for a, b in pairwise(cuts)
        )
        self.trees = [tree for part in parts for tree in part]
        return self

    def predict_proba(self, data: Data) -> Floats:
        """Share of the trees that vote for each class."""
        rows = np.arange(len(data.y))
        counts = np.zeros((len(rows), self.n_classes))
        for tree in self.trees:
            counts[rows, tree.predict(data.narrow).astype(np.int64)] += 1
        return counts / len(self.trees)

    def predict(self, data: Data) -> Integers:
        """The class of most votes."""
        return np.asarray(np.argmax(self.predict_proba(data), axis=1))


def of_switched_trees(name: str, n_processes: int, slow_from: int | None = None) -> Contestant:
    """The loop with scikit-learn's trees."""

    def fit(data: Data, n_trees: int, seed: int) -> SwitchedTrees:
        return SwitchedTrees(n_trees, seed, n_processes).fit(data)

    return Contestant(
        name, fit, SwitchedTrees.predict, SwitchedTrees.predict_proba, slow_from=slow_from,
        in_processes=n_processes > 1,
    )  # fmt: skip


def class_switching(*, quick: bool = False) -> list[Contestant]:
    """Trees grown on partly switched labels; the quick form grows a tenth of the peer's."""
    return [
        of_orfeon(orfeon.ClassSwitchingClassifier, relative_rate=problems.RELATIVE_SWITCH_RATE),
        of_switched_trees("scikit-learn trees", 1, slow_from=0 if quick else None),
    ]


def class_switching_in_two(*, quick: bool = False) -> list[Contestant]:
    """The same on two threads, or in two processes."""
    return [
        of_orfeon(
            orfeon.ClassSwitchingClassifier, n_jobs=2, relative_rate=problems.RELATIVE_SWITCH_RATE
        ),
        of_switched_trees("scikit-learn trees, 2 processes", 2, slow_from=0 if quick else None),
    ]


# -- errors ----------------------------------------------------------------------------------------


def error_of(contestant: Contestant, models: Sequence[Any], test: Data) -> float:
    """Test error of some models that vote together."""
    shares = sum(contestant.predict_proba(model, test) for model in models)
    return float((np.argmax(shares, axis=1) != test.y).mean())


def error_of_first(model: Any, n_trees: int, test: Data) -> float:
    """Error of the first members of an ensemble of orfeon."""
    if n_trees >= len(model):
        return float((model.predict(test.X) != test.y).mean())
    counts = model.forest_.subset(range(n_trees)).count_votes(test.X)
    return float((np.argmax(counts, axis=1) != test.y).mean())
