"""Prediction sets and abstention of classifiers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom
from tests.oracles.uncertainty import adaptive_set

import orfeon
from orfeon import (
    BalancedSubsetsClassifier,
    ClassSwitchingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)
from orfeon.datasets import make_waveform
from orfeon.uncertainty.abstention import confidence_threshold, risk_bound
from orfeon.uncertainty.sets import class_scores, score_limits


@pytest.fixture(scope="module")
def data():
    return make_waveform(150, random_state=0)


@pytest.fixture(scope="module")
def new():
    return make_waveform(40, random_state=1)[0]


@pytest.fixture(scope="module")
def forest(data):
    return RandomForestClassifier(40, oob_score=True, random_state=0).fit(*data)


@pytest.mark.parametrize("coverage", [0.6, 0.9, 0.97])
def test_sets_are_their_definition(forest, data, new, coverage):
    known, shares = forest.oob_decision_function_, forest.vote_shares(new)
    expected = [adaptive_set(row, known, data[1], coverage) for row in shares]
    assert np.array_equal(forest.predict_set(new, coverage), expected)


def test_sets_hold_the_prediction_and_grow_with_the_coverage(forest, new):
    sets = [forest.predict_set(new, coverage) for coverage in (0.5, 0.8, 0.9, 0.99)]
    rows, predicted = np.arange(len(new)), forest.predict_proba(new).argmax(axis=1)
    for smaller, larger in pairwise(sets):
        assert smaller[rows, predicted].all()
        assert (larger | ~smaller).all()
    assert sets[0].sum() < sets[-1].sum()


def test_scores_by_hand():
    shares = np.array([[0.5, 0.2, 0.3], [0.0, 1.0, 0.0]])
    assert class_scores(shares).tolist() == [[0.0, 0.8, 0.5], [1.0, 0.0, 1.0]]
    with_penalty = class_scores(shares, penalty=0.1)
    assert with_penalty == pytest.approx(np.array([[0.0, 1.0, 0.6], [1.1, 0.0, 1.2]]))
    half = class_scores(shares, part=np.array([0.5, 0.5]))
    assert half == pytest.approx(np.array([[0.25, 0.9, 0.65], [1.0, 0.5, 1.0]]))


@pytest.mark.parametrize(
    ("given", "low", "high"),
    [
        ({}, 0.88, 0.95),
        ({"class_conditional": True}, 0.88, 0.96),
        ({"penalty": 0.2}, 0.88, 0.95),
        ({"randomized": True, "random_state": 0}, 0.88, 0.95),
    ],
)
def test_coverage_on_new_samples(given, low, high):
    shares = []
    for seed in range(12):
        X, y = make_waveform(200, random_state=seed)
        X_test, y_test = make_waveform(500, random_state=1000 + seed)
        forest = RandomForestClassifier(40, oob_score=True, random_state=seed).fit(X, y)
        sets = forest.predict_set(X_test, **given)
        shares.append(sets[np.arange(500), y_test].mean())
    assert low < np.mean(shares) < high


def test_each_class_is_covered_on_its_own():
    by_class = np.zeros((2, 12, 2))
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = (rng.random(1300) < 0.15).astype(int)
        X = rng.normal(size=(1300, 3)) + y[:, None]
        forest = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X[:300], y[:300])
        for k, conditional in enumerate((False, True)):
            sets = forest.predict_set(X[300:], class_conditional=conditional)
            held = sets[np.arange(1000), y[300:]]
            by_class[k, seed] = [held[y[300:] == c].mean() for c in (0, 1)]
    marginal, conditional = by_class.mean(axis=1)
    assert marginal[1] < 0.75  # the rare class pays for the others
    assert conditional[1] > 0.88


def test_a_class_of_too_few_samples_is_in_all_sets():
    scores, classes = np.zeros((30, 2)), np.repeat([0, 1], [25, 5])
    limits = score_limits(scores, classes, np.ones(30), 0.9, by_class=True)
    assert limits.tolist() == [0.0, np.inf]


def test_randomized_sets_follow_the_seed(forest, new):
    one = forest.predict_set(new, 0.8, randomized=True, random_state=1)
    assert np.array_equal(one, forest.predict_set(new, 0.8, randomized=True, random_state=1))
    assert not np.array_equal(one, forest.predict_set(new, 0.8, randomized=True, random_state=2))


def test_weight_2_is_two_copies(data, new):
    X, y = data
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    copies = np.repeat(np.arange(len(y)), weights)
    model = RandomForestClassifier(40, oob_score=True, random_state=0)
    weighted = model.fit(X, y, weights)
    answers = weighted.predict_set(new), weighted.predict_or_abstain(new, 0.4)[1]
    repeated = model.fit(X[copies], y[copies])
    assert np.array_equal(answers[0], repeated.predict_set(new))
    assert np.array_equal(answers[1], repeated.predict_or_abstain(new, 0.4)[1])


@pytest.mark.parametrize("calibrate", [None, "sigmoid"])
@pytest.mark.parametrize("combine", ["majority", "soft", "median", "weighted"])
def test_any_rule_strings_and_files(data, new, combine, calibrate, tmp_path):
    X, y = data
    names = np.array(["red", "green", "blue"])[y]
    model = ExtraTreesClassifier(
        40, bootstrap=True, combine=combine, calibrate=calibrate, oob_score=True, random_state=0
    ).fit(X, names)
    sets = model.predict_set(new)
    assert sets.shape == (40, 3)
    labels, accepted = model.predict_or_abstain(new, 0.4)
    assert np.array_equal(labels, model.predict(new))
    orfeon.save(model, tmp_path / "model.orfeon")
    loaded = orfeon.load(tmp_path / "model.orfeon")
    assert np.array_equal(loaded.predict_set(new), sets)
    assert np.array_equal(loaded.predict_or_abstain(new, 0.4)[1], accepted)


# -- abstention ------------------------------------------------------------------------------------


def test_the_bound_is_clopper_pearsons():
    # The largest rate that makes as few errors as these this improbable.
    for n_wrong, n_accepted in ((0, 20), (3, 50), (10, 40)):
        bound = risk_bound(n_wrong, n_accepted, 0.05)
        assert binom.cdf(n_wrong, n_accepted, bound) == pytest.approx(0.05)
    assert risk_bound(5, 5, 0.05) == 1.0


def test_the_threshold_is_the_lowest_that_bisection_finds():
    confidences = np.arange(1000) / 1000
    is_wrong = confidences < 0.5  # all errors are below a half
    threshold = confidence_threshold(confidences, is_wrong, np.ones(1000), 0.1, 0.95)
    accepted = confidences >= threshold
    assert risk_bound(is_wrong[accepted].sum(), accepted.sum(), 0.005) <= 0.1
    lower = confidences >= threshold - 0.01
    assert risk_bound(is_wrong[lower].sum(), lower.sum(), 0.005) > 0.1


def test_the_risk_is_kept_on_new_samples():
    broken, taken = 0, []
    for seed in range(20):
        X, y = make_waveform(500, random_state=seed)
        X_test, y_test = make_waveform(1000, random_state=1000 + seed)
        forest = RandomForestClassifier(50, oob_score=True, random_state=seed).fit(X, y)
        labels, accepted = forest.predict_or_abstain(X_test, max_risk=0.2)
        broken += (labels != y_test)[accepted].mean() > 0.2
        taken.append(accepted.mean())
    assert broken <= 2
    assert 0.5 < np.mean(taken) < 0.95


def test_a_risk_that_cannot_be_reached_says_what_can(forest, new):
    with pytest.raises(ValueError, match=r"max_risk=0.001 cannot be reached.*150 samples.*lowest"):
        forest.predict_or_abstain(new, 0.001)
    for name in ("max_risk", "confidence"):
        with pytest.raises(ValueError, match=f"{name}=1.0 is not allowed"):
            forest.predict_or_abstain(new, **{name: 1.0})


def test_what_is_missing_is_named(data, new):
    X, y = data
    with pytest.raises(ValueError, match="set oob_score=True and fit again"):
        RandomForestClassifier(5).fit(X, y).predict_set(new)
    with pytest.raises(ValueError, match="ConformalClassifier"):
        ClassSwitchingClassifier(n_estimators=5).fit(X, y).predict_or_abstain(new)
    with pytest.raises(ValueError, match="ConformalClassifier"):
        BalancedSubsetsClassifier(n_estimators=2).fit(X, y).predict_set(new)
    fitted = RandomForestClassifier(40, oob_score=True).fit(X, y)
    for penalty in (-1, np.nan, "x"):
        with pytest.raises(ValueError, match="penalty="):
            fitted.predict_set(new, penalty=penalty)
