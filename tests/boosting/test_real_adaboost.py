"""Boosting of confidence-rated members: formulas, bounds, and what they reduce to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import RidgeClassifier
from sklearn.tree import DecisionTreeClassifier
from tests import shared
from tests.oracles.boosting_script import play

from orfeon import AdaBoostClassifier, CARTClassifier, RealAdaBoostClassifier
from orfeon.boosting import error_bound
from orfeon.boosting.real_adaboost import RealScheme
from orfeon.datasets import make_twonorm, make_waveform

usual = settings(deadline=None, derandomize=True, max_examples=shared.cases(60))


@st.composite
def supports(draw, most_classes=4):
    """Labels, and class supports of members that lean towards the labels."""
    n_classes, n = draw(st.integers(2, most_classes)), draw(st.integers(3, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    y = rng.integers(0, n_classes, n)
    leaning = np.eye(n_classes)[y] * rng.uniform(0, 1.5)
    return y, rng.dirichlet(np.ones(n_classes), size=(5, n)) + leaning, n_classes


def scaled(raw):
    return raw / raw.sum(axis=2, keepdims=True)


@given(problem=supports(most_classes=2))
@usual
def test_two_classes_by_the_textbook(problem):
    """r = sum D y h, alpha = half of ln((1 + r)/(1 - r)), D exp(-alpha y h) / Z."""
    y, raw, _ = problem
    p = scaled(raw)
    _, learner, kept = play(RealScheme(y, np.ones(len(y)), 2, "probability"), p)
    sign, D = 2 * y - 1, np.full(len(y), 1 / len(y))
    for one, weights, outputs in zip(kept, learner.weights, p, strict=False):
        np.testing.assert_allclose(weights, D, rtol=1e-9)
        h = outputs[:, 1] - outputs[:, 0]
        r = D @ (sign * h)
        if r <= 0:  # the only member is kept, though it is useless
            break
        alpha = 0.5 * np.log((1 + r) / (1 - r))
        assert one.result.vote == pytest.approx(alpha)
        D = D * np.exp(-alpha * sign * h)
        assert D.sum() <= np.sqrt(1 - r**2) + 1e-12  # Schapire and Singer, corollary 1
        D /= D.sum()


@given(problem=supports())
@usual
def test_the_product_of_the_normalisers_bounds_the_training_error(problem):
    y, raw, n_classes = problem
    p = scaled(raw)
    scheme = RealScheme(y, np.ones(len(y)), n_classes, "probability")
    _, _, kept = play(scheme, p)
    sums = np.zeros((len(y), n_classes))
    for t, one in enumerate(kept):
        if one.result.error >= 0.5:
            break
        sums += one.result.vote * p[t]
        best_other = np.where(np.eye(n_classes)[y] == 1, -np.inf, sums).max(axis=1)
        wrong = (sums[np.arange(len(y)), y] <= best_other).mean()
        bound = np.prod(scheme.normalisers[: t + 1])
        assert wrong <= bound + 1e-12
        errors = [one.result.error for one in kept[: t + 1]]
        assert bound <= error_bound(errors)[-1] + 1e-12


@given(problem=supports(), rate=st.sampled_from([0.3, 1.0]))
@usual
def test_log_odds_of_several_classes_are_samme_r(problem, rate):
    """The weights as Zhu et al. (2009) print them, with y coded as 1 and -1/(K - 1)."""
    y, raw, K = problem
    p = scaled(raw)
    scheme = RealScheme(y, np.ones(len(y)), K, "log_odds", 1e-12, learning_rate=rate)
    run, learner, _ = play(scheme, p)
    coded = np.where(np.eye(K)[y] == 1, 1.0, -1.0 / (K - 1))
    w = np.full(len(y), 1 / len(y))
    for result, weights, outputs in zip(run.results, learner.weights, p, strict=False):
        np.testing.assert_allclose(weights, w, rtol=1e-7)
        if not result.keep:
            break
        w = w * np.exp(-rate * (K - 1) / K * (coded * np.log(outputs)).sum(axis=1))
        w /= w.sum()


@pytest.fixture(scope="module")
def noisy():
    X, y = make_twonorm(150, random_state=0)
    y = y.copy()
    y[::7] = 1 - y[::7]
    return X, y


def test_leaf_values_are_the_best_for_the_exponential_loss(noisy):
    """Real AdaBoost: in each leaf half of ln(W+ / W-), which no other values beat."""
    X, y = noisy
    base = CARTClassifier(max_depth=1, min_samples_leaf=30)  # no pure leaves
    model = RealAdaBoostClassifier(base, 8, smoothing=1e-9, random_state=0).fit(X, y)
    sign, F = 2 * y - 1, np.zeros(len(y))
    for t, decided in enumerate(model.staged_decision_function(X)):
        leaf = model.estimators_[t].apply(X)
        D = np.exp(-sign * F)
        D /= D.sum()
        added = decided - F
        leaves = np.unique(leaf)
        for one in leaves:
            plus, minus = (D[(leaf == one) & (sign == s)].sum() for s in (1, -1))
            np.testing.assert_allclose(added[leaf == one], 0.5 * np.log(plus / minus), atol=1e-6)
        place = np.searchsorted(leaves, leaf)
        best = minimize(
            lambda c, D=D, place=place: D @ np.exp(-sign * c[place]), np.zeros(len(leaves))
        ).fun
        assert model.normalisers_[t] <= best + 1e-6
        F = decided
    losses = np.exp(-sign * F).mean()
    assert model.error_bounds_[-1] == pytest.approx(losses, rel=1e-6)


def test_probabilities_are_the_logistic_function_of_twice_the_sums(noisy):
    X, y = noisy
    model = RealAdaBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    expected = 1 / (1 + np.exp(-2 * model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), (expected > 0.5).astype(int))


@pytest.mark.parametrize("make", [make_twonorm, make_waveform])
def test_members_without_probabilities_are_those_of_adaboost(make):
    """Supports of 0 and 1: r = 1 - 2 e, and the formulas are AdaBoost.M1's."""
    X, y = make(100, random_state=0)
    base = RidgeClassifier()
    real = RealAdaBoostClassifier(base, 10, confidence="probability", random_state=0).fit(X, y)
    plain = AdaBoostClassifier(base, 10, algorithm="m1", random_state=0).fit(X, y)
    assert len(real) == len(plain) > 3
    np.testing.assert_allclose(real.member_weights_, plain.member_weights_, rtol=1e-9)
    np.testing.assert_allclose(real.errors_, plain.errors_, rtol=1e-9)
    np.testing.assert_allclose(real.error_bounds_, plain.error_bounds_, rtol=1e-9)
    np.testing.assert_array_equal(real.predict(X), plain.predict(X))


@pytest.mark.parametrize("confidence", ["log_odds", "probability"])
def test_training_errors_are_below_the_bounds(noisy, confidence):
    X, y = noisy
    model = RealAdaBoostClassifier(
        CARTClassifier(max_depth=2), 15, confidence=confidence, random_state=0
    ).fit(X, y)
    errors = 1 - np.array(list(model.staged_score(X, y)))
    assert (errors <= model.error_bounds_ + 1e-12).all()
    assert model.error_bounds_[-1] < 0.5


def test_there_is_no_bound_for_log_odds_of_three_classes():
    X, y = make_waveform(80, random_state=0)
    model = RealAdaBoostClassifier(n_estimators=3, random_state=0).fit(X, y)
    with pytest.raises(AttributeError, match="no bound for 3 classes"):
        model.error_bounds_  # noqa: B018


def test_scikit_learn_trees_give_the_same(noisy):
    X, y = noisy
    given_ = {"n_estimators": 8, "random_state": 0}
    ours = RealAdaBoostClassifier(CARTClassifier(max_depth=1), **given_).fit(X, y)
    theirs = RealAdaBoostClassifier(DecisionTreeClassifier(max_depth=1), **given_).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6)


def test_a_tree_without_error_ends_the_run(noisy):
    X, y = noisy
    with pytest.warns(UserWarning, match="the first member makes no error"):
        model = RealAdaBoostClassifier(CARTClassifier(), 5, random_state=0).fit(X, y)
    assert len(model) == 1
    assert model.score(X, y) == 1


@pytest.mark.parametrize("given_", [{"smoothing": 0}, {"confidence": "high"}, {"learning_rate": 0}])
def test_bad_settings_are_named(noisy, given_):
    (name,) = given_
    with pytest.raises(ValueError, match=f"'{name}' parameter of RealAdaBoostClassifier"):
        RealAdaBoostClassifier(**given_).fit(*noisy)


def test_votes_without_probabilities_are_too_extreme_for_log_odds(noisy):
    with pytest.warns(UserWarning, match="too extreme to lower the loss"):
        model = RealAdaBoostClassifier(RidgeClassifier(), 5).fit(*noisy)
    assert len(model) == 1
