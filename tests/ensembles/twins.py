"""What the tests of ensembles share: small ensembles, base learners that remember, slow twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from tests.shared import assert_same_forest

import orfeon.ensembles
from orfeon import C45Classifier, CARTClassifier, CARTRegressor, IGPTreeClassifier, StumpClassifier
from orfeon.data.training_set import hash_rows
from orfeon.ensembles.perturbation import draw_seed, member_generator
from orfeon.utils.seeding import seed_sequence

#: Probability that a statistical test fails though all is well, had its seed not been fixed.
LEVEL = 1e-4

#: Members of a small ensemble, where it is not simply six.
SIZES: dict[str, dict[str, Any]] = {
    "IGPCommitteesClassifier": {"n_committees": 4, "n_estimators": 3},
    "PartitionedClassifier": {"n_partitions": 3, "n_estimators": 2},
    "PartitionedRegressor": {"n_partitions": 3, "n_estimators": 2},
}

#: Settings besides the defaults that take other ways through the code.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "BaggingClassifier": [
        {"bootstrap": "balanced"},
        {"bootstrap": False, "max_samples": 0.5},
        {"class_weight": "balanced"},
        {"class_weight": {0: 2, 1: 1, 2: 1}, "combine": "soft"},
        {"estimator": CARTClassifier(pruning="cv", n_folds=3)},
        {"estimator": C45Classifier()},
        {"estimator": IGPTreeClassifier()},
    ],
    "BaggingRegressor": [
        {"bootstrap": "balanced", "max_samples": 0.7},
        {"estimator": CARTRegressor(min_samples_leaf=3)},
    ],
    "BoostingIGPClassifier": [{"combine": "soft"}],
    "ClassSwitchingClassifier": [
        {"estimator": CARTClassifier(class_weight="balanced"), "switch_rate": 0.2},
        {"estimator": StumpClassifier()},
    ],
    "DoubleBaggingClassifier": [{"estimator": C45Classifier()}],
    "ExtraTreesClassifier": [{"bootstrap": True, "criterion": "entropy"}],
    "IGPCommitteesClassifier": [{"combine": "soft", "criterion": "entropy"}],
    "IGPEnsembleClassifier": [{"class_weight": "balanced"}],
    "PartitionedClassifier": [
        {"n_estimators": 1},
        {"estimator": C45Classifier()},
    ],
    "RandomForestClassifier": [{"features_per": "tree", "max_samples": 0.5}],
    "RandomizedTreesClassifier": [{"class_weight": "balanced"}],
    "WaggingClassifier": [{"noise": "poisson"}, {"estimator": C45Classifier()}],
}

#: The ensembles whose members are drawn, those of boosted IGP trees among them.
ENSEMBLES = [*orfeon.ensembles.__all__, "BoostingIGPClassifier", "IGPCommitteesClassifier"]


def small(name: str, **given: Any) -> Any:
    """An ensemble of few members."""
    size = SIZES.get(name, {"n_estimators": 6})
    return getattr(orfeon, name)(random_state=0, **{**size, **given})


def every_setting(*names: str) -> list[Any]:
    """Small ensembles of every kind, or of those named, with defaults and with other settings."""
    return [
        small(name, **setting)
        for name in (names or ENSEMBLES)
        for setting in [{}, *SETTINGS.get(name, [])]
    ]


def every_default(suffix: str = "") -> list[Any]:
    """One small ensemble of every kind; of classifiers or regressors only, by their last word."""
    return [small(name) for name in ENSEMBLES if name.endswith(suffix)]


each_setting = pytest.mark.parametrize("ensemble", every_setting(), ids=str)
each_ensemble = pytest.mark.parametrize("ensemble", every_default(), ids=str)
each_classifier = pytest.mark.parametrize("ensemble", every_default("Classifier"), ids=str)
each_regressor = pytest.mark.parametrize("ensemble", every_default("Regressor"), ids=str)


def table(
    ensemble: Any, n_rows: int = 90, seed: int = 0
) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    """Continuous columns without copies, and a target that fits the ensemble: 3 classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    signal = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n_rows)
    return X, signal if is_regressor(ensemble) else np.digitize(signal, [0.3, 1.3])


def assert_same_trees(one: Any, other: Any, but: tuple[str, ...] = ()) -> None:
    """Two ensembles have the same trees, bit for bit, and the same committees."""
    assert_same_forest(one.forest_, other.forest_, but)
    if hasattr(one, "committee_forests_"):
        sizes = [[len(f) for f in e.committee_forests_] for e in (one, other)]
        assert sizes[0] == sizes[1]


# -- base learners that remember what they were given ----------------------------------------------


class _Remembers:
    """Keeps the training set; its first column says which row is which."""

    def _remember(self, X: Any, y: Any, weights: Any) -> Any:
        self.X_, self.y_ = np.asarray(X), np.asarray(y)
        self.weights_ = np.ones(len(self.y_)) if weights is None else np.asarray(weights)
        self.n_features_in_ = self.X_.shape[1]
        return self

    def counts(self, n_rows: int) -> npt.NDArray[np.float64]:
        """Weight of each row."""
        at = self.X_[:, 0].astype(np.int64)
        return np.bincount(at, weights=self.weights_, minlength=n_rows)


class Remembering(_Remembers, ClassifierMixin, BaseEstimator):
    """A classifier that keeps what it was given; predicts the first class."""

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.classes_ = np.unique(y)
        return self._remember(X, y, sample_weight)

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


class RememberingWithoutWeights(Remembering):
    """The same for base learners that take no weights."""

    def fit(self, X: Any, y: Any) -> Any:
        return super().fit(X, y)


class RememberingRegressor(_Remembers, RegressorMixin, BaseEstimator):
    """A regressor that keeps what it was given; predicts the mean."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return self._remember(X, y, sample_weight)

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.y_.mean())


def numbered(n_rows: int, n_features: int = 1) -> npt.NDArray[np.float64]:
    """Rows whose every value is the number of the row."""
    return np.tile(np.arange(n_rows, dtype=np.float64)[:, None], (1, n_features))


# -- drawing again ---------------------------------------------------------------------------------


def content_order(X: npt.NDArray[np.float64], codes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The order in which ensembles of trees see rows that have no copies."""
    return np.argsort(hash_rows(X, codes), kind="stable")


def generators(random_state: int, n_members: int) -> list[np.random.Generator]:
    """The generators of some members, before anything is drawn from them."""
    root = seed_sequence(random_state)
    return [member_generator(root, t) for t in range(n_members)]


def redraw(
    random_state: int, n_members: int, n_rows: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Seeds of the trees, and the bootstrap counts of the samples in their own order."""
    seeds, counts = [], []
    for rng in generators(random_state, n_members):
        seeds.append(draw_seed(rng))
        drawn = np.floor(rng.random(n_rows) * n_rows).astype(np.int64)
        counts.append([(drawn == i).sum() for i in range(n_rows)])
    return np.array(seeds), np.array(counts)
