"""Other libraries' forests of bagged trees, as alike as their options allow.

All are asked for bootstrap samples (or their like), every attribute at every node, unlimited depth,
leaves of one example, one thread, and nothing besides the trees.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Narrow = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Peer:
    """A library to compare with.

    Parameters
    ----------
    name : str
        What it is called.
    package : str
        What is imported.
    note : str
        What is not comparable.
    train : callable
        Takes X, y and the number of trees; gives the library's model.
    predict_proba : callable
        Takes the model and X; gives class probabilities.
    slow : bool, default=False
        Whether a tenth of the trees is timed on large data.
    """

    name: str
    package: str
    note: str
    train: Callable[[Narrow, Labels, int], Any]
    predict_proba: Callable[[Any, Narrow], npt.NDArray[Any]]
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


def _ydf_columns(X: Narrow) -> dict[str, npt.NDArray[Any]]:
    return {f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])}


def _train_ydf(X: Narrow, y: Labels, n_trees: int) -> Any:
    ydf = _import("ydf")
    learner = ydf.RandomForestLearner(
        label="y", num_trees=n_trees, max_depth=-1, min_examples=1, num_candidate_attributes=-1,
        compute_oob_performances=False, num_threads=1,
    )  # fmt: skip
    return learner.train({**_ydf_columns(X), "y": y}, verbose=0)


def _predict_ydf(model: Any, X: Narrow) -> npt.NDArray[Any]:
    return np.asarray(model.predict(_ydf_columns(X), num_threads=1))


def _train_intel(X: Narrow, y: Labels, n_trees: int) -> Any:
    ensemble = _import("sklearnex.ensemble")
    forest = ensemble.RandomForestClassifier(
        n_trees, max_features=None, n_jobs=1, random_state=0
    )  # fmt: skip
    return forest.fit(X, y)


def _predict_intel(model: Any, X: Narrow) -> npt.NDArray[Any]:
    return np.asarray(model.predict_proba(X))


def _train_lightgbm(X: Narrow, y: Labels, n_trees: int) -> Any:
    lightgbm = _import("lightgbm")
    settings = {
        "boosting": "rf",
        "objective": "multiclass",
        "num_class": int(y.max()) + 1,
        "bagging_freq": 1,
        "bagging_fraction": 0.632,
        # More leaves than the trees get, but no more: its memory grows with the limit.
        "num_leaves": max(31, len(y) // 2),
        "histogram_pool_size": 512,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0.0,
        "num_threads": 1,
        "verbosity": -1,
    }
    return lightgbm.train(settings, lightgbm.Dataset(X, y), n_trees)


def _predict_lightgbm(model: Any, X: Narrow) -> npt.NDArray[Any]:
    return np.asarray(model.predict(X, num_threads=1))


PEERS = (
    Peer(
        "ydf",
        "ydf",
        "ydf: exact splits; draws its own bootstrap samples.",
        _train_ydf,
        _predict_ydf,
        slow=True,
    ),
    Peer(
        "Intel's extension",
        "sklearnex",
        "Intel's extension: splits among at most 256 bins of each attribute, not exact; draws its "
        "own bootstrap samples.",
        _train_intel,
        _predict_intel,
    ),
    Peer(
        "LightGBM rf",
        "lightgbm",
        "LightGBM rf: one tree for each class instead of one for all; splits among at most 255 "
        "bins; 63.2% of the rows drawn without replacement instead of a bootstrap sample.",
        _train_lightgbm,
        _predict_lightgbm,
        slow=True,
    ),
)


def installed_peers() -> list[Peer]:
    """The peers that can be imported."""
    return [peer for peer in PEERS if peer.is_installed]


def missing_notices() -> list[str]:
    """One line for each peer that cannot."""
    return [
        f"{peer.name} is not installed ({peer.package}): left out."
        for peer in PEERS
        if not peer.is_installed
    ]
