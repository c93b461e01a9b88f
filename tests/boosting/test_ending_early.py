"""Boosters that end by themselves with far fewer members than requested warn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from tests.shared import public_estimators

from orfeon import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostR2Regressor,
    BoostingIGPClassifier,
    CARTClassifier,
    FilterBoostClassifier,
    PoolBoostClassifier,
)
from orfeon.boosting.adaboost import AdaBoostScheme
from orfeon.boosting.gradient_base import GradientBoosting
from orfeon.boosting.loop import RoundResult, Run
from orfeon.utils.user_warning import AdvisedWarning

N_ROWS = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 2))
CODES = (X[:, 0] > 0).astype(int)
NUMBERS = X[:, 0] + RNG.normal(size=N_ROWS)


class Scripted(ClassifierMixin, BaseEstimator):
    """Learns nothing: errs on one row of ten, each member on others, until it is right or wrong."""

    fits = 0

    def __init__(self, until: int = 3, then: str = "right") -> None:
        self.until = until
        self.then = then

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.number_ = type(self).fits
        type(self).fits += 1
        return self

    def predict(self, X):
        right = (X[:, 0] > 0).astype(int)
        if self.number_ >= self.until:
            return right if self.then == "right" else 1 - right
        order = np.argsort(np.argsort(X[:, 1]))
        return np.where(order % 10 == self.number_, 1 - right, right)


@pytest.fixture(autouse=True)
def _begin():
    Scripted.fits = 0


def warned(booster, y=CODES):
    """What a fit warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        booster.fit(X, y)
    return [str(one.message) for one in caught]


def test_a_member_without_error_after_others():
    (answers,) = warned(AdaBoostClassifier(Scripted(3), 20))
    assert answers == (
        "AdaBoostClassifier: boosting ended with 4 members of the 20 requested, because the last "
        "one makes no error on the training samples. Give a weaker estimator, such as a tree with "
        'max_depth. Or set on_failure="bootstrap".'
    )


def test_a_member_no_better_than_chance_after_others():
    (answers,) = warned(AdaBoostClassifier(Scripted(3, "wrong"), 20))
    assert answers == (
        "AdaBoostClassifier: boosting ended with 3 members of the 20 requested, because the next "
        "one errs on 1 of the weight, which is no better than chance. Give a stronger estimator, "
        "such as a deeper tree."
    )
    with pytest.warns(AdvisedWarning, match="1 member of the 20 requested"):
        AdaBoostClassifier(Scripted(1 + Scripted.fits, "wrong"), 20).fit(X, CODES)


@pytest.mark.parametrize(("n_requested", "n_warnings"), [(8, 0), (9, 1), (4, 0), (3, 0)])
def test_half_of_the_members_are_enough(n_requested, n_warnings):
    booster = AdaBoostClassifier(Scripted(3), n_requested)
    assert len(warned(booster)) == n_warnings
    assert len(booster) == min(n_requested, 4)


def test_early_stopping_and_going_on_after_failures_do_not_warn():
    patient = AdaBoostClassifier(Scripted(2), 20, n_iter_no_change=5, validation_fraction=0.3)
    assert warned(patient) == []
    assert len(patient) < 10
    assert warned(AdaBoostClassifier(Scripted(9), 20, on_failure="restart")) == []


def test_one_class_leaves_nothing_to_learn():
    for booster in (AdaBoostClassifier(), AdaBoostM2Classifier(), BoostingIGPClassifier()):
        assert warned(booster, np.ones(N_ROWS)) == []
    assert warned(AdaBoostR2Regressor(), np.ones(N_ROWS)) == []


@pytest.mark.parametrize("name", [n for n in public_estimators() if "Boost" in n])
@pytest.mark.parametrize("task", ["easy", "noise"])
def test_whoever_ends_with_few_members_warns(name, task):
    """Whatever the rule is by which a booster ends."""
    booster = public_estimators()[name]()
    if isinstance(booster, GradientBoosting):
        booster.set_params(n_estimators=50, early_stopping=False)  # which never warns
    easy, noise = (CODES, RNG.integers(0, 2, N_ROWS))
    if isinstance(booster, RegressorMixin):
        easy, noise = np.round(X[:, 0]), RNG.normal(size=N_ROWS)
    answers = warned(booster.set_params(random_state=0), easy if task == "easy" else noise)
    requested = 3 if isinstance(booster, FilterBoostClassifier) else booster.n_estimators
    n_members = len(getattr(booster, "members_", range(requested)))
    assert len(answers) == (n_members < requested / 2)


def test_several_problems_that_end_in_different_ways():
    booster = AdaBoostMHClassifier(n_estimators=50)
    last = RoundResult(0.2, np.ones(3), keep=True, ends=True)
    run = Run(AdaBoostScheme(CODES, np.ones(N_ROWS), 2), n_kept=2, ended=True, results=[last])
    assert str(booster._explain(run)) == (
        "AdaBoostMHClassifier: boosting ended with 2 members of the 50 requested, because on each "
        "problem a member makes no error, or is no better than chance. Give another estimator."
    )


def test_filtering_that_runs_out_of_samples():
    booster = FilterBoostClassifier(depth=3, min_samples=10, random_state=0)
    y = (X[:, 0] + X[:, 1] + RNG.normal(size=N_ROWS) > 0).astype(int)
    (answers,) = warned(booster, y)
    assert f"depth=3 ended with {len(booster.members_)} members of the 27 requested" in answers


def test_a_pool_is_given_advice_of_its_own():
    y = RNG.integers(0, 2, N_ROWS)
    (answers,) = warned(PoolBoostClassifier([CARTClassifier(max_depth=1)], 50), y)
    assert "1 member of the 50 requested" in answers
    assert answers.endswith("Give a pool with stronger classifiers.")
