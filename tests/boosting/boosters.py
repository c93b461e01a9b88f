"""What the tests of boosters share: small boosters of every kind, samples, comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import is_regressor
from tests.shared import assert_same_forest

import orfeon.boosting
from orfeon import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    IGPTreeClassifier,
    RandomTreeClassifier,
)

#: Every booster that trains one member after the other, and settings that take other ways.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "AdaBoostClassifier": [
        {},
        {"on_failure": "restart", "estimator": CARTClassifier(max_depth=4)},
        {"on_failure": "bootstrap", "estimator": CARTClassifier(max_depth=4)},
        {"algorithm": "samme"},
        {"sampling": "resample"},
        {"algorithm": "samme", "sampling": "resample", "on_failure": "bootstrap"},
        {"min_weight": 0.005},
        {"learning_rate": 0.3},
        {"estimator": CARTClassifier(class_weight={0: 1, 1: 2, 2: 1}, max_depth=2)},
        {"estimator": IGPTreeClassifier()},
        {"estimator": C45Classifier(), "sampling": "resample"},
        {"estimator": CARTClassifier(pruning="cv", n_folds=3), "on_failure": "restart"},
        {"estimator": RandomTreeClassifier(max_depth=3)},
    ],
    "AdaBoostM2Classifier": [{}, {"sampling": "resample"}, {"estimator": C45Classifier()}],
    "AdaBoostMHClassifier": [{}, {"joint": False}, {"sampling": "resample"}],
    "AdaBoostOCClassifier": [{}, {"sampling": "resample"}],
    "AdaBoostPairwiseClassifier": [{}, {"sampling": "resample"}],
    "AdaBoostR2Regressor": [{}, {"sampling": "weights", "loss": "square"}],
    "AdaBoostRRegressor": [{}, {"sampling": "resample", "estimator": CARTRegressor()}],
    "ArcX4Classifier": [{}, {"sampling": "weights", "estimator": CARTClassifier(max_depth=2)}],
    "MultiBoostClassifier": [{}, {"n_committees": 2, "estimator": CARTClassifier(max_depth=2)}],
    "PoolBoostClassifier": [{}, {"n_thresholds": 4}],
    "RealAdaBoostClassifier": [{}, {"confidence": "probability"}, {"sampling": "resample"}],
}
N_MEMBERS = 9


def small(name: str, **given: Any) -> Any:
    """A booster of few members."""
    return getattr(orfeon.boosting, name)(random_state=0, **{"n_estimators": N_MEMBERS, **given})


def every_setting(*names: str) -> list[Any]:
    """Small boosters of every kind, or of those named, in every setting."""
    return [small(name, **s) for name in names or SETTINGS for s in SETTINGS[name]]


def every_default(suffix: str = "") -> list[Any]:
    """One small booster of every kind; of classifiers or regressors only, by their last word."""
    return [small(name) for name in SETTINGS if name.endswith(suffix)]


each_setting = pytest.mark.parametrize("booster", every_setting(), ids=str)
each_booster = pytest.mark.parametrize("booster", every_default(), ids=str)
each_classifier = pytest.mark.parametrize("booster", every_default("Classifier"), ids=str)
each_regressor = pytest.mark.parametrize("booster", every_default("Regressor"), ids=str)


def table(
    booster: Any, n_rows: int = 120, seed: int = 0
) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    """Continuous columns without copies, and a target that fits: 3 classes, one of them large."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    signal = X[:, 0] + 0.6 * X[:, 1] ** 2 + 0.7 * rng.normal(size=n_rows)
    return X, signal if is_regressor(booster) else np.digitize(signal, [0.9, 1.9])


def answers(model: Any, X: Any) -> dict[str, npt.NDArray[Any]]:
    """Everything that a model says of rows."""
    names = ["predict", "predictions"]
    if not is_regressor(model):
        names = ["predict", "predict_proba", "decision_function", "votes"]
    return {name: getattr(model, name)(X) for name in names}


def assert_same_answers(one: Any, other: Any, X: Any, other_X: Any = None) -> None:
    """Two models say the same of the same rows, to the bit."""
    mine, others = answers(one, X), answers(other, X if other_X is None else other_X)
    for name, outputs in mine.items():
        np.testing.assert_array_equal(outputs, others[name], err_msg=name)


def assert_same_model(one: Any, other: Any, X: Any) -> None:
    """Two boosters have the same members with the same votes, and say the same, to the bit."""
    assert len(one) == len(other)
    np.testing.assert_array_equal(one.member_weights_, other.member_weights_)
    np.testing.assert_array_equal(one.errors_, other.errors_)
    if hasattr(one, "forest_"):
        assert_same_forest(one.forest_, other.forest_)
    assert_same_answers(one, other, X)
