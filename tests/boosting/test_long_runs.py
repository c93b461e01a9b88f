"""Long runs: weights stay positive and finite, and so does all that is made of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from tests import shared
from tests.boosting.test_hand_worked import LABELS, POINTS

from orfeon import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostOCClassifier,
    AdaBoostPairwiseClassifier,
    ArcX4Classifier,
    MultiBoostClassifier,
    PoolBoostClassifier,
    StumpClassifier,
)
from orfeon.boosting.adaboost import AdaBoostScheme
from orfeon.boosting.loop import RoundResult

#: Enough for the weight of a sample that is always right to reach its floor of 1e-200.
ROUNDS = 3000 if shared.thorough else 900
N_ROWS = 12
ROWS = np.arange(float(N_ROWS))[:, None]
CODES = np.arange(N_ROWS) % 2


def separable():
    """The ten points worked by hand: three stumps are right together, so boosting never ends."""
    return np.array(POINTS, dtype=float), np.array(LABELS)


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(n_estimators=ROUNDS, min_weight=0.0),
        AdaBoostClassifier(n_estimators=ROUNDS, min_weight=0.0, algorithm="samme"),
        AdaBoostClassifier(n_estimators=ROUNDS, sampling="resample", on_failure="restart"),
        AdaBoostM2Classifier(StumpClassifier(), ROUNDS),
        AdaBoostMHClassifier(n_estimators=ROUNDS),
        AdaBoostMHClassifier(n_estimators=ROUNDS, joint=False),
        AdaBoostPairwiseClassifier(n_estimators=ROUNDS),
        AdaBoostOCClassifier(StumpClassifier(), ROUNDS),
        MultiBoostClassifier(StumpClassifier(), ROUNDS, n_committees=1),
        ArcX4Classifier(StumpClassifier(), ROUNDS, sampling="weights"),
        PoolBoostClassifier(n_estimators=ROUNDS),
    ],
    ids=str,
)
def test_weights_do_not_underflow_in_long_runs(model):
    """Some points are right in almost all rounds: their weights fall without end, but not to 0."""
    X, y = separable()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = clone(model).set_params(warm_start=True, random_state=0).fit(X, y)
    assert len(model) >= ROUNDS
    assert np.isfinite(model.errors_).all()
    assert np.isfinite(model.member_weights_).all()
    assert (model.errors_ > 0).all()
    assert model.score(X, y) == 1.0
    weights = model._run.scheme.weights
    assert np.isfinite(weights).all()
    assert (weights > 0).all()
    is_joint = getattr(model, "joint", False)
    assert weights.sum(axis=None if is_joint else 0) == pytest.approx(1.0, rel=1e-9)
    assert np.isfinite(model.predict_proba(X)).all()


class Forgetful(ClassifierMixin, BaseEstimator):
    """Knows all rows by their number but one of the first eleven, another one each time."""

    def __init__(self, turns=None):
        self.turns = turns

    def __sklearn_clone__(self):
        return Forgetful(self.turns)  # all clones count together

    def fit(self, X, y, sample_weight=None):
        self.known_ = np.array(y)
        self.known_[self.turns[0] % 11] ^= 1
        self.turns[0] += 1
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return self.known_[X[:, 0].astype(int)]


@pytest.mark.parametrize(
    ("model", "least"),
    [
        (AdaBoostClassifier(), 1e-200),
        (AdaBoostClassifier(min_weight=1e-30), 1e-30),
        (AdaBoostClassifier(algorithm="samme", on_failure="restart"), 1e-200),
        (AdaBoostM2Classifier(), 1e-200),
        (AdaBoostMHClassifier(), 1e-200),
        (AdaBoostMHClassifier(joint=False), 1e-200),
        (AdaBoostPairwiseClassifier(), 1e-200),
        (AdaBoostOCClassifier(), 1e-200),
        (MultiBoostClassifier(n_committees=1), 1e-8),
    ],
    ids=str,
)
def test_a_sample_that_is_always_right_keeps_a_weight(model, least):
    """Each round divides it by the odds, many times: it stays above 0, and may rise."""
    model = clone(model).set_params(
        estimator=Forgetful([0]), n_estimators=ROUNDS, warm_start=True, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(ROWS, CODES)
    assert len(model) == ROUNDS
    assert (model.errors_ > 0).all()
    assert (model.errors_ < 0.5).all()
    assert np.isfinite(model.member_weights_).all()
    weights = model._run.scheme.weights
    assert weights[11].min() == pytest.approx(least, rel=1e-6)
    assert np.isfinite(weights).all()
    assert weights[:11].min() > 1e-4
    np.testing.assert_array_equal(model.predict(ROWS), CODES)


def test_a_weight_at_the_floor_can_rise_again():
    """By a factor of nine in each round, from 1e-200 to almost all of the weight."""
    scheme = AdaBoostScheme(CODES, np.ones(N_ROWS), 2)
    rng = np.random.default_rng(0)
    for turn in range(900):
        answers = CODES ^ (np.arange(N_ROWS) == turn % 11)
        scheme.reweigh(answers, scheme.evaluate(answers), rng)
    assert scheme.weights[11] == pytest.approx(1e-200, rel=1e-6)
    for _ in range(400):
        scheme.reweigh(CODES ^ (np.arange(N_ROWS) == 11), RoundResult(0.1, 0.5 * np.log(9)), rng)
    assert scheme.weights[11] > 0.5
    assert scheme.weights.sum() == pytest.approx(1, rel=1e-12)
