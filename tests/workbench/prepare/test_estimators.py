"""Every estimator takes what preparation hands on, and many levels stay affordable."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier

import orfeon
from orfeon.workbench.prepare import prepare


def people(n_rows, n_levels):
    """Words, numbers, dates, truths and missing cells; the class follows from some of them."""
    generator = np.random.default_rng(0)
    level = generator.integers(0, n_levels, n_rows)
    effect = generator.normal(size=n_levels)
    age = generator.normal(size=n_rows)
    age[generator.random(n_rows) < 0.1] = np.nan
    answer = effect[level] + np.nan_to_num(age) + generator.normal(scale=0.3, size=n_rows)
    return pd.DataFrame(
        {
            "city": np.char.add("city ", level.astype(str)),
            "age": age,
            "member": generator.random(n_rows) < 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n_rows) % 900, "D"),
            "rare": np.where(generator.random(n_rows) < 0.99, np.nan, 1.5 * age),
            "answer": np.where(answer > 0, "yes", "no"),
            "score": answer,
        }
    )


@pytest.fixture(scope="module")
def small():
    return people(120, 8)


def settings(kind):
    """Few members, so that all estimators fit within seconds."""
    names = kind().get_params()
    few = {"n_estimators": 3, "n_committees": 2, "n_rounds": 3, "max_iter": 3, "random_state": 0}
    return {name: value for name, value in few.items() if name in names}


@pytest.mark.parametrize("name", [
    "CARTClassifier", "C45Classifier", "IGPTreeClassifier", "BaggingClassifier",
    "RandomForestClassifier", "ClassSwitchingClassifier", "AdaBoostClassifier",
    "GradientBoostingClassifier", "IGPEnsembleClassifier", "IGPCommitteesClassifier",
    "ParallelPerceptronClassifier",
])  # fmt: skip
def test_classifiers_take_prepared_tables(small, name):
    prepared = prepare(small.drop(columns="score"), "answer")
    kind = getattr(orfeon, name)
    model = kind(**settings(kind)).fit(prepared.X, prepared.y)
    new = prepared.preparation.transform(people(40, 12).drop(columns=["answer", "score"]))
    assert set(model.predict(new)) <= {"no", "yes"}
    assert is_classifier(model)
    assert model.score(prepared.X, prepared.y) > 0.6


@pytest.mark.parametrize("name", [
    "CARTRegressor", "BaggingRegressor", "RandomForestRegressor", "GradientBoostingRegressor",
    "AdaBoostR2Regressor",
])  # fmt: skip
def test_regressors_take_prepared_tables(small, name):
    prepared = prepare(small.drop(columns="answer"), "score")
    assert prepared.task == "regression"
    kind = getattr(orfeon, name)
    model = kind(**settings(kind)).fit(prepared.X, prepared.y)
    assert np.isfinite(model.predict(prepared.X)).all()
    assert model.score(prepared.X, prepared.y) > 0.05


def test_stacks_take_prepared_tables(small):
    prepared = prepare(small.drop(columns="score"), "answer")
    stack = orfeon.StackingClassifier(
        [
            ("tree", orfeon.CARTClassifier()),
            ("bag", orfeon.BaggingClassifier(n_estimators=3, random_state=0)),
        ]
    )
    assert stack.fit(prepared.X, prepared.y).score(prepared.X, prepared.y) > 0.6


@pytest.mark.parametrize(
    ("n_rows", "n_categories"),
    [(4000, 2000), pytest.param(20_000, 10_000, marks=pytest.mark.thorough)],
)
def test_thousands_of_categories_cost_what_few_cost(n_rows, n_categories):
    """Rare categories are merged; all ensembles take them, none longer than a few seconds."""
    frame = people(n_rows, n_categories).drop(columns="score")
    start = time.process_time()
    prepared = prepare(frame, "answer")
    assert time.process_time() - start < 10
    assert prepared.X["city"].cat.categories.size == 255
    for model in (
        orfeon.BaggingClassifier(n_estimators=3, random_state=0),
        orfeon.AdaBoostClassifier(n_estimators=3, random_state=0),
        orfeon.GradientBoostingClassifier(n_estimators=3, random_state=0),
        orfeon.IGPEnsembleClassifier(n_estimators=2, random_state=0),
    ):
        start = time.process_time()
        model.fit(prepared.X, prepared.y)
        assert time.process_time() - start < 60  # with the compilation of kernels
        assert model.score(prepared.X, prepared.y) > 0.6
