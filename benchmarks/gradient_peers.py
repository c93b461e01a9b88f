"""The gradient boosting libraries, through ``fit``, with trees as similar as their options allow.

Each gets the rows in the form that suits it best, and the same number of threads. The learning rate
is 0.1; nothing is sampled, and none stops early.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import sklearn.ensemble

import orfeon
from benchmarks.boosting_peers import Answers, Booster, two_clusters
from benchmarks.contestants import ORFEON, SCIKIT_LEARN
from benchmarks.peers import _import
from benchmarks.problems import Data
from orfeon.datasets import make_friedman1

LIGHTGBM, XGBOOST = "LightGBM", "XGBoost"
#: What is imported of the peers that may be absent.
_PACKAGES = {LIGHTGBM: "lightgbm", XGBOOST: "xgboost"}
#: From this many rows on, scikit-learn's exact trees do the tenth part of the rounds.
_SLOW_FROM = 20_000
_LEARNING_RATE = 0.1

#: Trees of at most so many tests on a path, of all thresholds.
EXACT: dict[str, Any] = {"max_depth": 3}
#: Trees of so many leaves at most, best first, of thresholds between bins.
BINNED: dict[str, Any] = {"max_depth": None, "max_leaf_nodes": 31, "min_samples_leaf": 20}
_BINS = 255
#: What else orfeon is given, so that it does the same: trees of the gradient, of all rows and
#: features, for all rounds.
PLAIN: dict[str, Any] = {
    "order": 1, "subsample": 1.0, "max_features": None, "tree_method": "exact",
    "early_stopping": False,
}  # fmt: skip


def is_installed(library: str) -> bool:
    """Whether a peer can be imported."""
    return importlib.util.find_spec(_PACKAGES[library]) is not None


def missing_notices() -> list[str]:
    """One line for each peer that cannot be imported."""
    return [
        f"{library} is not installed ({package}): left out."
        for library, package in _PACKAGES.items()
        if not is_installed(library)
    ]


def _by_second_order(library: str, classes: bool) -> str:
    """A note on how a peer chooses the splits of trees for classes; for numbers all do the same."""
    if not classes:
        return ""
    return (
        f"{library} splits by second-order gain, orfeon by the variance of the gradient: the trees "
        "differ."
    )


# -- the libraries ---------------------------------------------------------------------------------


def _of_second(model: Any, rows: Any) -> Answers:
    """Probabilities of the second of two classes."""
    return np.asarray(model.predict_proba(rows)[:, 1])


def _staged_orfeon(model: Any, rows: Data) -> Iterator[Answers]:
    if hasattr(model, "staged_predict_proba"):
        return (answers[:, 1] for answers in model.staged_predict_proba(rows.X))
    staged: Iterator[Answers] = model.staged_predict(rows.X)
    return staged


def _of_orfeon(*, classes: bool, n_threads: int, **settings: Any) -> Booster:
    estimator: Callable[..., Any] = (
        orfeon.GradientBoostingClassifier if classes else orfeon.GradientBoostingRegressor
    )

    def fit(data: Data, n_members: int, seed: int) -> Any:
        model = estimator(
            n_estimators=n_members, learning_rate=_LEARNING_RATE, n_jobs=n_threads,
            random_state=seed, categorical_features=list(data.categorical) or "auto",
            **{**PLAIN, **settings},
        )  # fmt: skip
        return model.fit(data.X, data.y)

    return Booster(
        ORFEON, fit, lambda model, rows: model.predict(rows.X),
        lambda model, rows: _of_second(model, rows.X), soft=classes,
        n_rounds=lambda model: int(model.n_estimators_), staged=_staged_orfeon,
    )  # fmt: skip


def _of_scikit_learn_exact(*, classes: bool) -> Booster:
    estimator = getattr(
        sklearn.ensemble,
        "GradientBoostingClassifier" if classes else "GradientBoostingRegressor",
    )

    def fit(data: Data, n_members: int, seed: int) -> Any:
        model = estimator(
            n_estimators=n_members, learning_rate=_LEARNING_RATE, random_state=seed, **EXACT
        )
        return model.fit(data.narrow, data.y)

    return Booster(
        SCIKIT_LEARN, fit, lambda model, rows: model.predict(rows.narrow),
        lambda model, rows: _of_second(model, rows.narrow), slow_from=_SLOW_FROM, soft=classes,
        n_rounds=lambda model: int(model.n_estimators_),
    )  # fmt: skip


def _of_scikit_learn_binned(*, classes: bool) -> Booster:
    """It takes the threads that the thread pools are held to."""
    estimator = getattr(
        sklearn.ensemble,
        "HistGradientBoostingClassifier" if classes else "HistGradientBoostingRegressor",
    )

    def fit(data: Data, n_members: int, seed: int) -> Any:
        model = estimator(
            max_iter=n_members, learning_rate=_LEARNING_RATE, max_bins=_BINS,
            early_stopping=False, random_state=seed,
            categorical_features=list(data.categorical) or None, **BINNED,
        )  # fmt: skip
        return model.fit(data.X, data.y)

    return Booster(
        SCIKIT_LEARN, fit, lambda model, rows: model.predict(rows.X),
        lambda model, rows: _of_second(model, rows.X), _by_second_order(SCIKIT_LEARN, classes),
        soft=classes, n_rounds=lambda model: int(model.n_iter_),
    )  # fmt: skip


def _of_lightgbm(*, classes: bool, n_threads: int) -> Booster:
    settings = {
        "objective": "binary" if classes else "regression",
        "num_leaves": BINNED["max_leaf_nodes"],
        "max_depth": -1,
        "min_data_in_leaf": BINNED["min_samples_leaf"],
        "min_sum_hessian_in_leaf": 0.0,
        "max_bin": _BINS,
        "learning_rate": _LEARNING_RATE,
        "num_threads": n_threads,
        "verbosity": -1,
    }

    def fit(data: Data, n_members: int, seed: int) -> Any:
        lightgbm = _import("lightgbm")
        rows = lightgbm.Dataset(
            data.narrow, data.y, categorical_feature=list(data.categorical),
            params={"verbosity": -1},
        )  # fmt: skip
        return lightgbm.train({**settings, "seed": seed}, rows, n_members)

    def say(model: Any, rows: Data) -> Answers:
        return np.asarray(model.predict(rows.narrow, num_threads=n_threads))

    return Booster(
        LIGHTGBM, fit, (lambda model, rows: say(model, rows) > 0.5) if classes else say, say,
        _by_second_order(LIGHTGBM, classes), soft=classes,
        n_rounds=lambda model: int(model.num_trees()),
    )  # fmt: skip


def _of_xgboost(*, classes: bool, n_threads: int, binned: bool) -> Booster:
    settings = {
        "objective": "binary:logistic" if classes else "reg:squarederror",
        "eta": _LEARNING_RATE,
        "lambda": 0.0,  # the others do not shrink leaf values either
        "nthread": n_threads,
        "verbosity": 0,
    }
    if binned:
        settings |= {
            "tree_method": "hist", "grow_policy": "lossguide", "max_depth": 0,
            "max_leaves": BINNED["max_leaf_nodes"], "max_bin": _BINS,
            # It has sums of second derivatives instead of samples: at most 1/4 each of classes.
            "min_child_weight": BINNED["min_samples_leaf"] * (0.25 if classes else 1.0),
        }  # fmt: skip
    else:
        settings |= {"tree_method": "exact", "min_child_weight": 0.0, **EXACT}

    def fit(data: Data, n_members: int, seed: int) -> Any:
        xgboost = _import("xgboost")
        form: dict[str, Any] = {"nthread": n_threads}
        if data.categorical:
            kinds = ["c" if j in data.categorical else "q" for j in range(data.shape[1])]
            form |= {"feature_types": kinds, "enable_categorical": True}
        if binned:
            rows = xgboost.QuantileDMatrix(data.narrow, data.y, max_bin=_BINS, **form)
        else:
            rows = xgboost.DMatrix(data.narrow, data.y, **form)
        return xgboost.train({**settings, "seed": seed}, rows, n_members)

    def say(model: Any, rows: Data) -> Answers:
        if rows.categorical:
            kinds = ["c" if j in rows.categorical else "q" for j in range(rows.shape[1])]
            matrix = _import("xgboost").DMatrix(
                rows.narrow, feature_types=kinds, enable_categorical=True
            )
            return np.asarray(model.predict(matrix))
        return np.asarray(model.inplace_predict(rows.narrow))

    note = _by_second_order(XGBOOST, classes)
    if classes and binned:
        note += " XGBoost's leaves have a least sum of second derivatives, not of samples."
    return Booster(
        XGBOOST, fit, (lambda model, rows: say(model, rows) > 0.5) if classes else say, say,
        note, soft=classes,
        n_rounds=lambda model: int(model.num_boosted_rounds()),
    )  # fmt: skip


# -- the methods -----------------------------------------------------------------------------------


def exact(*, classes: bool, n_threads: int = 1) -> list[Booster]:
    """Trees of depth three that consider all thresholds."""
    who = [
        _of_orfeon(classes=classes, n_threads=n_threads, **EXACT),
        _of_scikit_learn_exact(classes=classes),
    ]
    if is_installed(XGBOOST):
        who.append(_of_xgboost(classes=classes, n_threads=n_threads, binned=False))
    return who


def binned(*, classes: bool, n_threads: int = 1) -> list[Booster]:
    """Trees of 31 leaves that consider the thresholds between 255 bins."""
    who = [
        _of_orfeon(
            classes=classes, n_threads=n_threads, tree_method="histogram", max_bins=_BINS, **BINNED
        ),
        _of_scikit_learn_binned(classes=classes),
    ]
    if is_installed(LIGHTGBM):
        who.append(_of_lightgbm(classes=classes, n_threads=n_threads))
    if is_installed(XGBOOST):
        who.append(_of_xgboost(classes=classes, n_threads=n_threads, binned=True))
    return who


# -- problems --------------------------------------------------------------------------------------


def friedman(n_rows: int, n_test: int, n_features: int = 20) -> tuple[Data, Data]:
    """Targets that depend on five features non-linearly, and not on the others.

    Examples
    --------
    >>> training, test = friedman(300, 100)
    >>> training.shape, test.shape, training.y.dtype
    ((300, 20), (100, 20), dtype('float64'))
    """
    X, numbers = make_friedman1(n_rows + n_test, n_features=n_features, random_state=0)
    X = np.asarray(X, np.float32).astype(np.float64)
    y: Any = numbers  # others have class codes
    name = "friedman1"
    return Data(name, X[:n_rows].copy(), y[:n_rows]), Data(name, X[n_rows:].copy(), y[n_rows:])


def problem(*, classes: bool, n_features: int = 20) -> Callable[[int, int], tuple[Data, Data]]:
    """The problem of two classes, or that of numbers."""
    return partial(two_clusters if classes else friedman, n_features=n_features)
