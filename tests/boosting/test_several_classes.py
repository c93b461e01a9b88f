"""Boosters of several skewed classes: none ends early without a word, and few end early."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from orfeon import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostOCClassifier,
    AdaBoostPairwiseClassifier,
    ArcX4Classifier,
    BoostingIGPClassifier,
    CARTClassifier,
    MultiBoostClassifier,
    PoolBoostClassifier,
    RealAdaBoostClassifier,
)

SIZE = 60
TREE = CARTClassifier(max_depth=3)


def categories(n_rows=400):
    """A product of six categories; four classes with shares of 62, 27, 8 and 3%."""
    rng = np.random.default_rng(0)
    X = np.stack([rng.integers(0, k, n_rows) for k in (4, 4, 4, 3, 3, 3)], axis=1).astype(float)
    score = X[:, 0] + X[:, 1] + X[:, 2] / 2 - X[:, 4]
    y = np.array([3, 2, 1, 1])[np.digitize(score, [0.5, 2.0, 5.0])]
    return X, np.where((X[:, 5] == 0) | (X[:, 3] == 0) | (score > 5), 0, y)


def noisy(n_rows=350):
    """Ten overlapping classes with shares from 31% down to 0.7%."""
    rng = np.random.default_rng(0)
    shares = np.array([0.31, 0.29, 0.16, 0.11, 0.035, 0.03, 0.025, 0.02, 0.013, 0.007])
    y = rng.choice(10, n_rows, p=shares / shares.sum())
    return 0.9 * rng.normal(size=(10, 8))[y] + rng.normal(size=(n_rows, 8)), y


TABLES = {"categories": categories(), "noisy": noisy()}
tables = pytest.mark.parametrize("table", TABLES)


def fitted(model, table):
    """A fitted booster, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.set_params(random_state=0).fit(*TABLES[table])
    return model, [str(one.message) for one in caught]


@tables
@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(TREE, SIZE),
        AdaBoostM2Classifier(n_estimators=SIZE),
        AdaBoostMHClassifier(n_estimators=SIZE),
        AdaBoostOCClassifier(n_estimators=SIZE),
        AdaBoostPairwiseClassifier(n_estimators=SIZE),
        ArcX4Classifier(n_estimators=SIZE),
        BoostingIGPClassifier(n_estimators=SIZE),
        MultiBoostClassifier(n_estimators=SIZE),
        MultiBoostClassifier(TREE, SIZE),
        PoolBoostClassifier(n_estimators=SIZE),
        RealAdaBoostClassifier(n_estimators=SIZE),
        RealAdaBoostClassifier(TREE, SIZE),
    ],
    ids=str,
)
def test_a_run_goes_on(model, table):
    model, said = fitted(model, table)
    assert len(model) == SIZE
    assert not said


@tables
@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(TREE, SIZE, algorithm="m1"),
        PoolBoostClassifier(n_estimators=SIZE, algorithm="m1"),
        PoolBoostClassifier(n_estimators=SIZE, rule="soft_margin"),
        RealAdaBoostClassifier(n_estimators=SIZE, confidence="probability"),
    ],
    ids=str,
)
def test_a_run_that_ends_says_so(model, table):
    model, said = fitted(model, table)
    assert len(model) < SIZE / 2
    assert len(said) == 1
    assert "stronger" in said[0]
    if not isinstance(model, RealAdaBoostClassifier):
        assert 'algorithm="samme"' in said[0]


def test_whoever_wants_m1_and_gets_nearly_all_members_is_warned_too():
    X, y = TABLES["categories"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        n_members = len(AdaBoostClassifier(TREE, SIZE, algorithm="m1", random_state=0).fit(X, y))
    model = AdaBoostClassifier(TREE, n_members + 1, algorithm="m1", random_state=0)
    words = f"boosting ended with {n_members} members of the {n_members + 1} requested"
    with pytest.warns(UserWarning, match=words):
        model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(n_estimators=n_members).fit(X, y)  # as many as requested


@pytest.mark.parametrize("make", [categories, noisy])
def test_samme_errs_less_than_m1(make):
    X, y = make(800)
    half = len(y) // 2
    errors = {}
    for algorithm in ("m1", "samme"):
        model = AdaBoostClassifier(TREE, SIZE, algorithm=algorithm, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            errors[algorithm] = 1 - model.fit(X[:half], y[:half]).score(X[half:], y[half:])
    assert errors["samme"] < 0.85 * errors["m1"]


def test_with_two_classes_both_are_the_same_to_the_bit():
    X, y = TABLES["noisy"]
    models = [
        AdaBoostClassifier(TREE, 30, algorithm=algorithm, random_state=0).fit(X, y > 0)
        for algorithm in ("m1", "samme")
    ]
    np.testing.assert_array_equal(models[0].decision_function(X), models[1].decision_function(X))
    np.testing.assert_array_equal(models[0].error_bounds_, models[1].error_bounds_)
