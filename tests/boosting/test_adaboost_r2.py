"""AdaBoost.R2: by hand, against its pseudo-code and scikit-learn's, and its ends."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import AdaBoostRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor
from tests import shared
from tests.oracles.boosting_regression import adaboost_r2
from tests.shared import assert_same_forest

from orfeon import CARTRegressor
from orfeon.boosting.adaboost_r2 import AdaBoostR2Regressor, AdaBoostR2Scheme, scaled_losses
from orfeon.boosting.vote_sums import weighted_median
from orfeon.datasets import make_friedman1

RNG = np.random.default_rng(0)
each_loss = pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
each_sampling = pytest.mark.parametrize("sampling", ["weights", "resample"])


# -- by hand ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "losses"),
    [
        ("linear", [0, 0.25, 0.5, 1]),
        ("square", [0, 0.0625, 0.25, 1]),
        ("exponential", [0, 1 - math.exp(-0.25), 1 - math.exp(-0.5), 1 - math.exp(-1)]),
    ],
)
def test_losses_by_hand(loss, losses):
    away = np.array([0.0, 2.0, 4.0, 8.0])
    np.testing.assert_allclose(scaled_losses(away, loss), losses, rtol=1e-15)
    assert scaled_losses(np.zeros(3), loss).tolist() == [0, 0, 0]


def test_one_round_by_hand():
    """Losses 0, 1/4, 1/2, 1/4, 1, 1/4 average to 3/8: beta is 3/5."""
    y = np.arange(6.0)
    answers = y + np.array([0.0, -2.0, 4.0, 2.0, 8.0, -2.0])
    scheme = AdaBoostR2Scheme(y, np.ones(6))
    result = scheme.evaluate(answers)
    assert result.error == 0.375
    assert result.vote == pytest.approx(math.log(5 / 3), rel=1e-15)
    scheme.reweigh(answers, result, RNG)
    expected = 0.6 ** np.array([1, 0.75, 0.5, 0.75, 0, 0.75])
    np.testing.assert_allclose(scheme.weights, expected, rtol=1e-14)


# -- the pseudo-code -------------------------------------------------------------------------------

NUMBERS = st.integers(-40, 40).map(lambda k: k / 4)


@st.composite
def runs(draw):
    """Targets, weights, and what members say: now and then just the target."""
    n_rows = draw(st.integers(2, 7))
    y = np.array(draw(st.lists(NUMBERS, min_size=n_rows, max_size=n_rows)))
    weights = draw(st.lists(st.floats(0.1, 5), min_size=n_rows, max_size=n_rows))
    steps = st.lists(st.just(0.0) | NUMBERS, min_size=n_rows, max_size=n_rows)
    told = draw(st.lists(steps.filter(any), min_size=1, max_size=8))
    return y, np.array(weights), [y + step for step in told]


@settings(max_examples=shared.cases(100), deadline=None)
@given(runs(), st.sampled_from(["linear", "square", "exponential"]))
def test_averages_votes_and_weights_are_those_of_the_pseudo_code(run, loss):
    y, weights, told = run
    averages, betas, distributions = adaboost_r2(y, told, weights, loss)
    scheme = AdaBoostR2Scheme(y, weights, loss)
    for t, average in enumerate(averages):
        now = scheme.weights
        np.testing.assert_allclose(now / now.sum(), distributions[t], rtol=1e-11)
        result = scheme.evaluate(told[t])
        assert result.error == pytest.approx(average, rel=1e-11)
        if abs(average - 0.5) < 1e-9:
            return  # one half but for rounding
        assert result.ends == (average > 0.5) == (not result.keep)
        if result.ends:
            return
        assert result.vote == pytest.approx(-math.log(betas[t]), rel=1e-10)
        scheme.reweigh(told[t], result, RNG)


@settings(max_examples=shared.cases(100), deadline=None)
@given(runs(), st.sampled_from(["linear", "square", "exponential"]))
def test_a_round_takes_the_weight_to_twice_the_average_loss_at_most(run, loss):
    """beta**(1 - L) <= 1 - (1 - beta)(1 - L), with equality where losses are 0 or 1 only.

    So the sum of the new weights is at most 1 - (1 - beta)(1 - average) = 2 average, and in the
    case of equality the member errs on exactly half of it, as in AdaBoost.
    """
    y, weights, told = run
    scheme = AdaBoostR2Scheme(y, weights, loss)
    result = scheme.evaluate(told[0])
    if not result.keep:
        return
    losses = scaled_losses(np.abs(told[0] - y), loss)
    before = weights / weights.sum()
    after = before * math.exp(-result.vote) ** (1 - losses)
    assert after.sum() <= 2 * result.error * (1 + 1e-9)
    scheme.reweigh(told[0], result, RNG)
    if set(losses) <= {0.0, 1.0}:
        assert after.sum() == pytest.approx(2 * result.error, rel=1e-9)
        assert scheme.evaluate(told[0]).error == pytest.approx(0.5, rel=1e-9)


@each_loss
@pytest.mark.parametrize("depth", [1, 4])
def test_errors_votes_and_median_of_scikit_learn(friedman, loss, depth):
    """Its members, told to our formulas, get its errors, its weights and its median."""
    X, y = friedman
    base = DecisionTreeRegressor(max_depth=depth)
    theirs = AdaBoostRegressor(base, n_estimators=20, loss=loss, random_state=0).fit(X, y)
    scheme = AdaBoostR2Scheme(y, np.ones(len(y)), loss)
    told = np.array([member.predict(X) for member in theirs.estimators_])
    results = []
    for answers in told:
        results.append(scheme.evaluate(answers))
        scheme.reweigh(answers, results[-1], RNG)
    n_members = len(told)
    assert n_members > 3
    errors, votes = (np.array([getattr(j, name) for j in results]) for name in ("error", "vote"))
    np.testing.assert_allclose(errors, theirs.estimator_errors_[:n_members], rtol=1e-9)
    np.testing.assert_allclose(votes, theirs.estimator_weights_[:n_members], rtol=1e-9)
    np.testing.assert_array_equal(weighted_median(told, votes), theirs.predict(X))


# -- the ends --------------------------------------------------------------------------------------


def test_an_average_of_one_half_ends_the_run():
    y = np.arange(1.0, 5.0)
    half = AdaBoostR2Scheme(y, np.ones(4)).evaluate(np.array([1.0, 2, 4, 3]))
    assert half == (0.5, 0.0, False, True)
    less = AdaBoostR2Scheme(y, np.ones(4)).evaluate(np.array([1, 2, 3.5, 3]))
    assert less == (0.375, math.log(5 / 3), True, False)


def test_a_member_without_error_outweighs_all_others():
    y = np.arange(40.0)
    scheme = AdaBoostR2Scheme(y, np.ones(40))
    told = [y + (np.arange(40) == k) for k in range(12)]
    votes = []
    for answers in told:
        result = scheme.evaluate(answers)
        votes.append(result.vote)
        scheme.reweigh(answers, result, RNG)
    last = scheme.evaluate(y)
    assert last == (0.0, max(math.log(1e10), 2 * sum(votes)), True, True)
    decided = weighted_median(np.array([*told, y]), np.array([*votes, last.vote]))
    assert decided.tolist() == y.tolist()


def test_rounding_is_no_error():
    """Shares of the largest distance would make it as large as any."""
    y = np.array([0.3, 0.6, 0.9])
    scheme = AdaBoostR2Scheme(y, np.ones(3))
    assert scheme.evaluate(np.array([0.1 + 0.2, 0.6, 0.9])).error == 0
    assert scheme.evaluate(np.array([0.3 + 1e-9, 0.6, 0.9])).error == pytest.approx(1 / 3)


def test_predictions_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="estimator predicts NaN for 2 of 3 training samples"):
        AdaBoostR2Scheme(np.arange(3.0), np.ones(3)).evaluate(np.array([0.0, np.nan, np.nan]))


def test_weights_do_not_underflow():
    """One sample falls behind the others by 9**-1000, and catches up again."""
    y = np.arange(10.0)
    scheme = AdaBoostR2Scheme(y, np.ones(10))
    for wrong in (y > 0, y == 0):
        result = scheme.evaluate(y + wrong)._replace(vote=math.log(9))
        for _ in range(1000):
            scheme.reweigh(y + wrong, result, RNG)
            assert scheme.weights.max() == 1.0
        if wrong[1]:
            assert scheme.weights[0] == 0.0  # in floats
    np.testing.assert_allclose(scheme.weights, 1.0, rtol=1e-9)


# -- the estimator ---------------------------------------------------------------------------------


@each_loss
@each_sampling
def test_errors_follow_from_what_the_members_say(friedman, loss, sampling):
    X, y = friedman
    model = AdaBoostR2Regressor(n_estimators=15, loss=loss, sampling=sampling, random_state=0)
    boosted = model.fit(X, y)
    answers = boosted.predictions(X)
    averages, betas, _ = adaboost_r2(y, answers, np.ones(len(y)), loss)
    np.testing.assert_allclose(boosted.errors_, averages, rtol=1e-9)
    np.testing.assert_allclose(boosted.betas_, betas, rtol=1e-9)
    np.testing.assert_allclose(boosted.member_weights_, -np.log(betas), rtol=1e-9)
    votes = boosted.member_weights_
    np.testing.assert_array_equal(boosted.predict(X), weighted_median(answers, votes))
    stages = list(boosted.staged_predict(X))
    np.testing.assert_array_equal(stages[4], weighted_median(answers[:5], votes[:5]))
    assert len(stages) == len(boosted) == 15


def test_each_member_is_trained_with_the_weights(friedman):
    X, y = friedman
    boosted = AdaBoostR2Regressor(LinearRegression(), 6, sampling="weights").fit(X, y)
    told = np.array([member.predict(X) for member in boosted.estimators_])
    _, _, distributions = adaboost_r2(y, told, np.ones(len(y)), "linear")
    assert len(boosted) == 6
    for member, weights in zip(boosted.estimators_, distributions, strict=False):
        line = LinearRegression().fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(member.coef_, line.coef_, rtol=1e-8)


def test_it_is_as_good_as_that_of_scikit_learn():
    """Over several training sets of 200, within two hundredths of R² on average."""
    X_test, y_test = make_friedman1(1000, random_state=99)
    scores = []
    for seed in range(10 if shared.thorough else 4):
        X, y = make_friedman1(200, random_state=seed)
        ours = AdaBoostR2Regressor(random_state=seed).fit(X, y).score(X_test, y_test)
        theirs = AdaBoostRegressor(random_state=seed).fit(X, y).score(X_test, y_test)
        alone = CARTRegressor(max_depth=3).fit(X, y).score(X_test, y_test)
        scores.append((ours, theirs, alone))
    ours, theirs, alone = np.mean(scores, axis=0)
    assert abs(ours - theirs) < 0.02
    assert ours > alone + 0.1


@each_sampling
@pytest.mark.parametrize("base", [None, LinearRegression()], ids=str)
def test_weights_are_copies(friedman, base, sampling):
    X, y = friedman[0][:60], friedman[1][:60]
    counts = np.random.default_rng(1).integers(0, 4, 60)
    model = AdaBoostR2Regressor(base, 8, sampling=sampling, random_state=3)
    weighted = clone(model).fit(X, y, counts)
    copied = clone(model).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_array_equal(weighted.errors_, copied.errors_)
    np.testing.assert_array_equal(weighted.predict(X), copied.predict(X))
    assert len(weighted) > 1


def test_missing_values_go_to_the_trees(friedman):
    X, y = friedman
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    boosted = AdaBoostR2Regressor(n_estimators=10, random_state=0).fit(holes, y)
    assert boosted.score(holes, y) > 0.6
    assert np.isfinite(boosted.predict(np.full((1, X.shape[1]), np.nan))).all()


def test_neighbours_take_no_weights_and_are_given_samples(friedman):
    X, y = friedman
    one, other = (
        AdaBoostR2Regressor(KNeighborsRegressor(3), 10, sampling=way, random_state=0).fit(X, y)
        for way in ("weights", "resample")
    )
    assert len(one) == 10
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_a_first_member_that_fails_is_alone_with_a_warning():
    X, y = np.zeros((4, 1)), np.array([0.0, 0.0, 0.0, 1.0])
    base = DummyRegressor(strategy="constant", constant=9.0)
    with pytest.warns(UserWarning, match="the first member errs on 0.972 of the weight"):
        boosted = AdaBoostR2Regressor(base, 10).fit(X, y)
    assert boosted.predict(X).tolist() == [9.0] * 4
    assert len(boosted) == 1


def test_a_perfect_first_member_is_alone_with_a_warning(friedman):
    X, y = friedman
    with pytest.warns(UserWarning, match="the first member makes no error on the training"):
        boosted = AdaBoostR2Regressor(CARTRegressor(), 10, sampling="weights").fit(X, y)
    assert boosted.errors_.tolist() == [0.0]
    np.testing.assert_allclose(boosted.predict(X), y, rtol=1e-12)


@pytest.mark.parametrize("value", [0.0, 7.3, -1e9])
@pytest.mark.parametrize("base", [None, LinearRegression(), KNeighborsRegressor(1)], ids=str)
def test_a_constant_target_is_learnt_by_one_member(value, base):
    X = np.random.default_rng(0).random((12, 2))
    boosted = AdaBoostR2Regressor(base, 5, random_state=0).fit(X, np.full(12, value))
    np.testing.assert_allclose(boosted.predict(X), value, rtol=1e-12)
    assert len(boosted) == 1


def test_one_sample_is_enough():
    boosted = AdaBoostR2Regressor(n_estimators=5).fit([[1.0]], [4.0])
    assert boosted.predict([[0.0], [9.0]]).tolist() == [4.0, 4.0]


@each_sampling
def test_a_warm_start_is_a_longer_run(friedman, sampling):
    X, y = friedman
    whole = AdaBoostR2Regressor(n_estimators=12, sampling=sampling, random_state=5).fit(X, y)
    warm = AdaBoostR2Regressor(n_estimators=4, sampling=sampling, warm_start=True, random_state=5)
    warm = pickle.loads(pickle.dumps(warm.fit(X, y)))
    warm.set_params(n_estimators=12).fit(X, y)
    assert_same_forest(warm.forest_, whole.forest_)
    np.testing.assert_array_equal(warm.member_weights_, whole.member_weights_)
    np.testing.assert_array_equal(warm.errors_, whole.errors_)
    assert len(whole) == 12


def test_early_stopping_keeps_the_members_up_to_the_best(friedman):
    X, y = friedman
    boosted = AdaBoostR2Regressor(
        n_estimators=200, n_iter_no_change=5, validation_fraction=0.3, random_state=0
    ).fit(X, y)
    errors = boosted.validation_errors_
    assert len(boosted) == errors.argmin() + 1 == len(errors) - 5


def test_equal_weights_are_no_weights_to_the_last_bit(friedman):
    X, y = friedman
    model = AdaBoostR2Regressor(n_estimators=6, sampling="weights", random_state=0)
    plain = clone(model).fit(X, y)
    for weight in (0.3, 1 / 7, 2.0**-500, 1e-300):
        weighted = clone(model).fit(X, y, np.full(len(y), weight))
        np.testing.assert_array_equal(weighted.errors_, plain.errors_)
        np.testing.assert_array_equal(weighted.predict(X), plain.predict(X))


def test_parameters_that_are_not_allowed_are_refused():
    with pytest.raises(ValueError, match="'loss' parameter of AdaBoostR2Regressor must be"):
        AdaBoostR2Regressor(loss="cubic").fit([[0.0], [1.0]], [0.0, 1.0])
