"""Other libraries' forests, as alike as their options allow.

All use bootstrap samples (or similar), the same number of features at every node, unlimited depth,
leaves of one sample, one thread, and compute nothing besides the trees. Each is given the rows in
the form that it likes best.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from benchmarks.problems import Data


class Train(Protocol):
    """Grows a forest."""

    def __call__(
        self, data: Data, n_trees: int, max_features: int | None = None, seed: int = 0
    ) -> Any:
        """Grow so many trees, which choose among all features or some drawn at each node."""


@dataclass(frozen=True)
class Peer:
    """A library to compare with."""

    #: What it is called.
    name: str
    #: What is imported.
    package: str
    #: What is not comparable.
    note: str
    #: Takes the data and the number of trees, and where they are wanted the number of features
    #: drawn at each node and a seed; gives the library's model.
    train: Train
    #: Takes the model and rows; gives class probabilities, of two classes maybe those of the second
    #: alone.
    predict_proba: Callable[[Any, Data], npt.NDArray[Any]]
    #: Takes the model and rows; gives class codes.
    predict: Callable[[Any, Data], npt.NDArray[Any]]
    #: Whether a tenth of the trees is timed on large data.
    slow: bool = False

    @property
    def is_installed(self) -> bool:
        """Whether it can be imported."""
        return importlib.util.find_spec(self.package) is not None


def _import(name: str) -> Any:
    """Import a peer; the warnings of its own imports are not ours to show."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


def _train_ydf(data: Data, n_trees: int, max_features: int | None = None, seed: int = 0) -> Any:
    ydf = _import("ydf")
    learner = ydf.RandomForestLearner(
        label="y", num_trees=n_trees, max_depth=-1, min_examples=1,
        num_candidate_attributes=-1 if max_features is None else max_features,
        compute_oob_performances=False, num_threads=1, random_seed=seed,
    )  # fmt: skip
    return learner.train({**data.columns, "y": data.y}, verbose=0)


def _predict_proba_ydf(model: Any, data: Data) -> npt.NDArray[Any]:
    return np.asarray(model.predict(data.columns, num_threads=1))


def _predict_ydf(model: Any, data: Data) -> npt.NDArray[Any]:
    # Its own predict_class gives the classes as strings, which takes longer.
    return np.asarray(np.argmax(_predict_proba_ydf(model, data), axis=1))


def _train_intel(data: Data, n_trees: int, max_features: int | None = None, seed: int = 0) -> Any:
    ensemble = _import("sklearnex.ensemble")
    forest = ensemble.RandomForestClassifier(
        n_trees, max_features=max_features, n_jobs=1, random_state=seed
    )  # fmt: skip
    return forest.fit(data.narrow, data.y)


def train_intel_extra_trees(
    data: Data, n_trees: int, max_features: int | None = None, seed: int = 0
) -> Any:
    """Intel's trees of random cuts."""
    ensemble = _import("sklearnex.ensemble")
    forest = ensemble.ExtraTreesClassifier(
        n_trees, max_features=max_features, n_jobs=1, random_state=seed
    )  # fmt: skip
    return forest.fit(data.narrow, data.y)


def _predict_proba_intel(model: Any, data: Data) -> npt.NDArray[Any]:
    return np.asarray(model.predict_proba(data.narrow))


def _predict_intel(model: Any, data: Data) -> npt.NDArray[Any]:
    return np.asarray(model.predict(data.narrow))


def _train_lightgbm(
    data: Data, n_trees: int, max_features: int | None = None, seed: int = 0
) -> Any:
    lightgbm = _import("lightgbm")
    n_rows, n_features = data.shape
    settings = {
        "boosting": "rf",
        "objective": "multiclass",
        "num_class": data.n_classes,
        "bagging_freq": 1,
        "bagging_fraction": 0.632,
        "feature_fraction_bynode": (max_features or n_features) / n_features,
        # More leaves than the trees get, but no more: its memory grows with the limit.
        "num_leaves": max(31, n_rows // 2),
        "histogram_pool_size": 512,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0.0,
        "num_threads": 1,
        "seed": seed,
        "verbosity": -1,
    }
    return lightgbm.train(settings, lightgbm.Dataset(data.narrow, data.y), n_trees)


def _predict_proba_lightgbm(model: Any, data: Data) -> npt.NDArray[Any]:
    return np.asarray(model.predict(data.narrow, num_threads=1))


def _predict_lightgbm(model: Any, data: Data) -> npt.NDArray[Any]:
    return np.asarray(np.argmax(_predict_proba_lightgbm(model, data), axis=1))


PEERS = (
    Peer(
        "ydf",
        "ydf",
        "ydf: exact splits; draws its own bootstrap samples.",
        _train_ydf,
        _predict_proba_ydf,
        _predict_ydf,
        slow=True,
    ),
    Peer(
        "Intel's extension",
        "sklearnex",
        "Intel's extension: splits among at most 256 bins of each feature, not exact; draws its "
        "own bootstrap samples.",
        _train_intel,
        _predict_proba_intel,
        _predict_intel,
    ),
    Peer(
        "LightGBM rf",
        "lightgbm",
        "LightGBM rf: one tree for each class instead of one for all; splits among at most 255 "
        "bins; 63.2% of the rows drawn without replacement instead of a bootstrap sample.",
        _train_lightgbm,
        _predict_proba_lightgbm,
        _predict_lightgbm,
        slow=True,
    ),
)


def installed_peers() -> list[Peer]:
    """The peers that can be imported."""
    return [peer for peer in PEERS if peer.is_installed]


def missing_notices(peers: Sequence[Peer] = PEERS) -> list[str]:
    """One line for each peer that cannot."""
    return [
        f"{peer.name} is not installed ({peer.package}): left out."
        for peer in peers
        if not peer.is_installed
    ]
