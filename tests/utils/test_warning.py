"""Warnings name the user's line, whatever lies between it and where they arise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import make_scorer
from sklearn.pipeline import Pipeline, make_pipeline

import orfeon
from orfeon.imbalance import negative_accuracy
from orfeon.inspection import importances

X = np.random.default_rng(0).normal(size=(60, 2))
Y = (X.sum(axis=1) > 0).astype(int)
FEW = np.arange(3.0)[:, None], np.array([0, 1, 0])
STUMP = orfeon.CARTClassifier(max_depth=1)


def fit(model: Any, X: Any = X, y: Any = Y) -> Pipeline:
    """Within a pipeline: frames of scikit-learn lie between the caller and the model."""
    return make_pipeline(model).fit(X, y)


def fit_again(model: Any) -> None:
    pipeline = make_pipeline(model.set_params(warm_start=True, random_state=0)).fit(X, Y)
    pipeline.fit(X, Y)


def fit_to_other_targets() -> None:
    model = make_pipeline(orfeon.ParallelPerceptronRegressor(max_iter=2, warm_start=True))
    model.fit(X, Y).fit(X, 100 * Y)


def resample() -> None:
    imblearn = pytest.importorskip("imblearn.pipeline")
    sampler = orfeon.WeightedDistanceEditing(n_neighbors=1, sampling_strategy=["a"])
    pipeline = imblearn.make_pipeline(sampler)
    pipeline.fit_resample([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "b", "a"])


def score() -> None:
    make_scorer(negative_accuracy)(fit(STUMP, *FEW), FEW[0], [0, 0, 0])


def permute() -> None:
    forest = fit(orfeon.RandomForestClassifier(3, random_state=0))
    importances(forest[0], X, Y, kind="permutation", on="train", random_state=0)


WARNINGS: dict[str, tuple[Callable[[], Any], str, type[Warning]]] = {
    "no new members": (
        lambda: fit_again(orfeon.BaggingClassifier(n_estimators=2)),
        "n_estimators=2, as many members as there are: none is trained", UserWarning,
    ),
    "no new rounds": (
        lambda: fit_again(orfeon.GradientBoostingClassifier(n_estimators=2)),
        "n_estimators=2, as many members as there are: none is trained", UserWarning,
    ),
    "none set aside": (
        lambda: fit(orfeon.AdaBoostM2Classifier(STUMP, 2, n_iter_no_change=1), *FEW),
        "sets none of the 3 samples aside", UserWarning,
    ),
    "none set aside from gradients": (
        lambda: fit(
            orfeon.GradientBoostingRegressor(
                n_estimators=2, n_iter_no_change=1, early_stopping="validation"
            ),
            *FEW,
        ),
        "sets none of the 3 samples aside", UserWarning,
    ),
    "steps too large": (
        lambda: fit(orfeon.GradientBoostingRegressor(learning_rate=2.5, n_estimators=5)),
        "Give a smaller learning_rate", UserWarning,
    ),
    "flips": (
        lambda: fit(orfeon.FlippingClassifier(n_estimators=2, flip_rate=0.6), X, X[:, 0] > -0.5),
        "the vote will turn against it", UserWarning,
    ),
    "alone": (
        lambda: fit(orfeon.FilterBoostClassifier(random_state=0), Y[:, None], Y),
        "so it decides alone", UserWarning,
    ),
    "restless trees": (
        lambda: fit(orfeon.IGPTreeClassifier(random_state=0)),
        "did not converge in 1 rounds", RuntimeWarning,
    ),
    "other targets": (fit_to_other_targets, "predictions stay in the range", UserWarning),
    "lost class": (resample, "keeps no sample of 1 of the classes", UserWarning),
    "undefined": (score, "it is taken as the negative class", UndefinedMetricWarning),
    "training set": (permute, "was trained on these samples", UserWarning),
    "codes for labels": (
        lambda: orfeon.ordering.order_votes(np.array([[0, 1], [1, 0]]), np.array([1, 2])),
        "do both name the classes in the same way", UserWarning,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WARNINGS)
def test_a_warning_names_the_line_of_the_caller(name, monkeypatch):
    monkeypatch.setattr("orfeon.growth.igp.MAX_ROUNDS", 1)
    do, words, category = WARNINGS[name]
    with pytest.warns(category, match=words) as told:
        do()
    assert [one.filename for one in told if words in str(one.message)] == [__file__]
