"""AdaBoost.R: by hand, against exact fractions, its theorem, and its ends."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from tests import shared
from tests.oracles.boosting_regression import AdaBoostR, median
from tests.shared import assert_same_forest

from orfeon import CARTRegressor
from orfeon.boosting.adaboost_r import AdaBoostRRegressor, AdaBoostRScheme, squared_error_bound
from orfeon.boosting.vote_sums import weighted_median

RNG = np.random.default_rng(0)


def rounds_of(scheme, told):
    """Judgements of a scheme that is told what members say, one after the other."""
    results = []
    for answers in told:
        results.append(scheme.evaluate(answers))
        if results[-1].ends:
            break
        scheme.reweigh(answers, results[-1], RNG)
    return results


# -- by hand ---------------------------------------------------------------------------------------


def test_two_rounds_by_hand():
    """Targets 0, 1/2, 1: their questions weigh 1/2, 1/4, 1/2."""
    scheme = AdaBoostRScheme(np.array([0.0, 0.5, 1.0]), np.ones(3))
    assert scheme.weights.tolist() == [0.5, 0.25, 0.5]
    # The first example is off by 1/2: (1/2)**2 / 2 = 1/8 of 5/4.
    first = np.array([0.5, 0.5, 1.0])
    result = scheme.evaluate(first)
    assert result.error == 0.1
    assert result.vote == pytest.approx(math.log(9), rel=1e-15)
    scheme.reweigh(first, result, RNG)
    # 1/8 stays, all else is divided by 9: 1/8 + 3/72, 2/72, 4/72, of 1/4.
    np.testing.assert_allclose(scheme.weights / scheme.weights.sum(), [2 / 3, 1 / 9, 2 / 9])
    assert scheme.evaluate(first).error == pytest.approx(0.5, rel=1e-15)
    # The third is off by 1/2: of its 4/72, 1/72 is wrong, of 18/72 in all.
    second = scheme.evaluate(np.array([0.0, 0.5, 0.5]))
    assert second.error == pytest.approx(1 / 18, rel=1e-14)
    assert second.vote == pytest.approx(math.log(17), rel=1e-14)


def test_targets_of_any_scale_are_taken_to_the_unit_interval():
    y, answers = np.array([0.0, 0.5, 1.0, 0.125]), np.array([0.5, 0.25, 1.0, 1.0])
    unit, other = (AdaBoostRScheme(a * y + b, np.ones(4)) for a, b in ((1, 0), (8, -100)))
    assert unit.evaluate(answers) == other.evaluate(8 * answers - 100)
    np.testing.assert_array_equal(unit.weights, other.weights)
    assert other.labels.tolist() == (8 * y - 100).tolist()  # members are trained on these


# -- against fractions -----------------------------------------------------------------------------

UNIT = st.integers(0, 32).map(lambda k: k / 32) | st.floats(0, 1, width=16)


@st.composite
def runs(draw, n_rounds=6):
    """Targets that have the ends of the unit interval, counts, and what members say."""
    inner = draw(st.lists(UNIT, max_size=4))
    y = [0.0, *inner, 1.0]
    counts = draw(st.lists(st.integers(1, 3), min_size=len(y), max_size=len(y)))
    near = st.lists(st.floats(-0.375, 0.375, width=16), min_size=len(y), max_size=len(y))
    steps = draw(st.lists(near, min_size=1, max_size=n_rounds))
    told = [np.clip(np.array(y) + step, 0, 1) for step in steps]
    return np.array(y), np.array(counts, dtype=float), told


def fractions(numbers):
    return [Fraction(float(number)) for number in numbers]


@settings(max_examples=shared.cases(100), deadline=None)
@given(runs())
def test_errors_and_votes_are_those_of_exact_fractions(run):
    y, counts, told = run
    exact = AdaBoostR(fractions(y), fractions(counts))
    scheme = AdaBoostRScheme(y, counts)
    for answers in told:
        mass = scheme.weights
        expected = [float(one) for one in exact.masses()]
        np.testing.assert_allclose(mass / mass.sum(), expected, rtol=1e-11)
        result = scheme.evaluate(answers)
        goes_on = exact.predict_train(fractions(answers))
        assert result.error == pytest.approx(float(exact.errors[-1]), rel=1e-11)
        # One half but for rounding is one half, at which a member has nothing to say.
        fails = exact.errors[-1] >= 0.5 - 1e-10
        if fails or not goes_on:
            assert result.keep == (not fails)
            assert result.ends == (fails or exact.errors[-1] == 0)
            assert (result.vote > 23) == (exact.errors[-1] == 0)
            break
        log_odds = -math.log(exact.betas[-1])
        assert result.vote == pytest.approx(log_odds, rel=1e-10, abs=1e-10)
        scheme.reweigh(answers, result, RNG)
        # What was wrong weighs e as before, the rest beta * (1 - e) = e: half of it is wrong.
        assert exact.error(fractions(answers)) == Fraction(1, 2)
        assert scheme.evaluate(answers).error == pytest.approx(0.5, rel=1e-11)


@settings(max_examples=shared.cases(100), deadline=None)
@given(runs())
def test_the_mean_squared_error_of_the_median_is_bounded(run):
    """Theorem 12, at every round, in fractions: E (h - y)**2 <= 2 Z 2**T prod sqrt(e (1 - e))."""
    y, counts, told = run
    exact = AdaBoostR(fractions(y), fractions(counts))
    spread = np.average(y**2 + (1 - y) ** 2, weights=counts)
    votes = []
    for t, answers in enumerate(told, start=1):
        if not exact.predict_train(fractions(answers)):
            break
        votes.append(Fraction(-math.log(exact.betas[-1])))
        decided = np.array([median([one[i] for one in told[:t]], votes) for i in range(len(y))])
        squared = np.average((decided - y) ** 2, weights=counts)
        errors = [float(e) for e in exact.errors]
        bound = squared_error_bound(errors, [float(vote) for vote in votes], spread)
        assert squared <= bound[-1] * (1 + 1e-9)
        product = spread * 2**t * math.prod(math.sqrt(e * (1 - e)) for e in errors)
        assert bound[-1] == pytest.approx(product, rel=1e-9)
        if t == 1:  # before any reweighting the error is the squared error itself
            assert errors[0] == pytest.approx(squared / spread, rel=1e-9, abs=1e-15)


def test_the_bound_of_bad_votes_is_a_bound_too():
    """The first member alone, with a vote of 1, though it errs on more than half."""
    assert squared_error_bound([0.9], [1.0])[0] == pytest.approx(0.9 * 1.6487 + 0.1 * 0.6065, 1e-4)
    assert squared_error_bound([0.2, 0.0], [math.log(4), 99.0], 0.5).tolist() == [0.4, 0.0]


# -- the ends --------------------------------------------------------------------------------------


def test_errors_above_one_half_end_the_run_and_one_half_does_without_samples():
    y, weights = np.array([0.0, 1.0]), np.ones(2)
    half = AdaBoostRScheme(y, weights).evaluate(np.array([1.0, 1.0]))
    assert half == (0.5, 0.0, False, True)
    sampled = AdaBoostRScheme(y, weights, draws=True).evaluate(np.array([1.0, 1.0]))
    assert sampled == (0.5, 0.0, False, False)
    more = AdaBoostRScheme(y, np.array([3.0, 1.0])).evaluate(np.array([1.0, 1.0]))
    assert more == (0.75, 0.0, False, True)


def test_a_member_without_error_outweighs_all_others():
    y = np.array([0.0, 0.3, 1.0])
    scheme = AdaBoostRScheme(y, np.ones(3))
    told = [*(y + np.diag([1e-4, 1e-4, -1e-4])), y]
    results = rounds_of(scheme, told)
    votes = np.array([result.vote for result in results])
    assert results[-1] == (0.0, 2 * votes[:-1].sum(), True, True)
    assert votes[:-1].sum() > math.log(1e10)
    assert weighted_median(np.array(told), votes).tolist() == y.tolist()
    alone = AdaBoostRScheme(y, np.ones(3)).evaluate(y)
    assert alone == (0.0, math.log(1e10), True, True)


def test_rounding_is_no_error():
    y = np.array([1e6, 1e6 + 1, 1e6 + 2])
    answers = y * (1 + 3e-16)
    assert (answers != y).all()
    assert AdaBoostRScheme(y, np.ones(3)).evaluate(answers).error == 0
    assert AdaBoostRScheme(y, np.ones(3)).evaluate(y + 1e-4).error > 0


def test_predictions_beyond_the_targets_count_as_the_nearest_end():
    y = np.array([2.0, 3.0, 6.0])
    beyond, ends = np.array([-50.0, 1e300, np.inf]), np.array([2.0, 6.0, 6.0])
    scheme, other = AdaBoostRScheme(y, np.ones(3)), AdaBoostRScheme(y, np.ones(3))
    assert scheme.evaluate(beyond) == other.evaluate(ends)
    for one, answers in ((scheme, beyond), (other, ends)):
        one.reweigh(answers, one.evaluate(answers), RNG)
    np.testing.assert_array_equal(scheme.weights, other.weights)


def test_predictions_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="estimator predicts NaN for 1 of 2 training samples"):
        AdaBoostRScheme(np.array([0.0, 1.0]), np.ones(2)).evaluate(np.array([0.0, np.nan]))


def test_a_weight_of_two_is_two_copies_to_the_last_bit():
    rng = np.random.default_rng(3)
    y = rng.random(30)
    told = [y + rng.normal(size=30) / 5 for _ in range(8)]
    one = AdaBoostRScheme(y, np.full(30, 2.0))
    two = AdaBoostRScheme(np.tile(y, 2), np.ones(60))
    results = rounds_of(one, told)
    assert rounds_of(two, [np.tile(answers, 2) for answers in told]) == results
    assert len(results) == 8


def test_a_thousand_rounds_neither_underflow_nor_overflow():
    rng = np.random.default_rng(4)
    y = rng.random(20)
    scheme = AdaBoostRScheme(y, np.ones(20))
    n_rounds = 0
    for _ in range(1500):
        answers = y + np.where(rng.random(20) < 0.3, rng.normal(size=20) / 4, 0)
        result = scheme.evaluate(answers)
        if result.ends:
            continue
        scheme.reweigh(answers, result, rng)
        n_rounds += 1
        assert np.isfinite(scheme.weights).all()
        assert scheme.weights.max() > 0
    assert n_rounds > 1000
    assert scheme.questions.log_factors.min() < -746  # exp of which no float holds


# -- the estimator ---------------------------------------------------------------------------------


def test_each_member_is_trained_with_the_mass_of_the_samples(friedman):
    """A run written out: linear models by weights that the oracle's formulas give."""
    X, y = friedman[0][:60], friedman[1][:60]
    boosted = AdaBoostRRegressor(LinearRegression(), 6).fit(X, y)
    scheme = AdaBoostRScheme(y, np.ones(60))
    for member, error, vote in zip(
        boosted.estimators_, boosted.errors_, boosted.member_weights_, strict=True
    ):
        line = LinearRegression().fit(X, y, sample_weight=scheme.weights)
        np.testing.assert_allclose(member.predict(X), line.predict(X), rtol=1e-9)
        result = scheme.evaluate(line.predict(X))
        assert (error, vote) == pytest.approx((result.error, result.vote), rel=1e-7)
        scheme.reweigh(line.predict(X), result, RNG)
    assert len(boosted) > 1


@pytest.mark.parametrize("sampling", ["weights", "resample"])
def test_errors_follow_from_what_the_members_say(friedman, sampling):
    """Told what the members say of the training set, the oracle has the same errors."""
    X, y = friedman[0][:40], friedman[1][:40]
    boosted = AdaBoostRRegressor(n_estimators=6, sampling=sampling, random_state=0).fit(X, y)
    low, high = boosted.target_range_
    assert (low, high) == (y.min(), y.max())
    exact = AdaBoostR(fractions((y - low) / (high - low)), [Fraction(1)] * 40)
    for answers in boosted.predictions(X):
        exact.predict_train(fractions((answers - low) / (high - low)))
    expected = np.array([float(e) for e in exact.errors])
    np.testing.assert_allclose(boosted.errors_, expected, rtol=1e-9)
    np.testing.assert_allclose(boosted.betas_, expected / (1 - expected), rtol=1e-8)
    np.testing.assert_allclose(boosted.member_weights_, -np.log(boosted.betas_), rtol=1e-9)
    assert len(boosted) >= 4


@pytest.mark.parametrize("base", [None, CARTRegressor(max_depth=1), LinearRegression()], ids=str)
@pytest.mark.parametrize("sampling", ["weights", "resample"])
def test_the_training_error_stays_below_its_bound(friedman, base, sampling):
    X, y = friedman
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    boosted = AdaBoostRRegressor(base, 30, sampling=sampling, random_state=0).fit(X, y, weights)
    squared = [np.average((p - y) ** 2, weights=weights) for p in boosted.staged_predict(X)]
    assert (squared <= boosted.squared_error_bounds_ * (1 + 1e-9)).all()
    assert squared[0] <= boosted.squared_error_bounds_[0] / 2  # where it is far from tight
    assert (np.diff(boosted.squared_error_bounds_) <= 0).all()


def test_boosting_helps(friedman):
    X, y = friedman
    from orfeon.datasets import make_friedman1

    X_test, y_test = make_friedman1(2000, random_state=1)
    scores = [
        model.fit(X, y).score(X_test, y_test)
        for model in (
            CARTRegressor(max_depth=3),
            AdaBoostRRegressor(random_state=0),
            AdaBoostRRegressor(CARTRegressor(), sampling="resample", random_state=0),
        )
    ]
    assert scores[0] < 0.56 < 0.62 < scores[1] < 0.67 < 0.72 < scores[2]


def test_predictions_are_the_weighted_median_within_the_range_of_the_targets(friedman):
    X, y = friedman
    boosted = AdaBoostRRegressor(LinearRegression(), 10).fit(X, y)
    far = 5 * X[:50] - 2
    raw = np.array([member.predict(far) for member in boosted.estimators_])
    assert raw.min() < y.min()
    assert raw.max() > y.max()
    answers = boosted.predictions(far)
    np.testing.assert_array_equal(answers, np.clip(raw, y.min(), y.max()))
    votes = boosted.member_weights_
    np.testing.assert_array_equal(boosted.predict(far), weighted_median(answers, votes))
    median_first = np.clip(weighted_median(raw, votes), y.min(), y.max())
    np.testing.assert_array_equal(boosted.predict(far), median_first)
    for t, stage in enumerate(boosted.staged_predict(far), start=1):
        np.testing.assert_array_equal(stage, weighted_median(answers[:t], votes[:t]))


@pytest.mark.parametrize("sampling", ["weights", "resample"])
@pytest.mark.parametrize("base", [None, LinearRegression()], ids=str)
def test_weights_are_copies(friedman, base, sampling):
    X, y = friedman[0][:60], friedman[1][:60]
    counts = np.random.default_rng(1).integers(0, 4, 60)
    model = AdaBoostRRegressor(base, 8, sampling=sampling, random_state=3)
    weighted = clone(model).fit(X, y, counts)
    copied = clone(model).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_array_equal(weighted.errors_, copied.errors_)
    np.testing.assert_array_equal(weighted.predict(X), copied.predict(X))
    assert len(weighted) > 1


def test_missing_values_and_categories_go_to_the_trees(friedman):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, y = friedman
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    table = (
        pandas.DataFrame(holes).add_prefix("x").assign(colour=rng.choice(["red", "green"], len(y)))
    )
    table["colour"] = table["colour"].astype("category")
    y = y + 20 * (table["colour"] == "red").to_numpy()
    boosted = AdaBoostRRegressor(n_estimators=10, random_state=0).fit(table, y)
    assert boosted.score(table, y) > 0.9
    assert boosted.feature_importances_.argmax() == 10


def test_neighbours_take_no_weights_and_are_given_samples(friedman):
    X, y = friedman
    boosted = AdaBoostRRegressor(KNeighborsRegressor(3), 10, random_state=0).fit(X, y)
    assert len(boosted) > 1
    assert boosted.score(X, y) > KNeighborsRegressor(3).fit(X[::2], y[::2]).score(X, y)
    again = AdaBoostRRegressor(KNeighborsRegressor(3), 10, random_state=0).fit(X, y)
    np.testing.assert_array_equal(boosted.predict(X), again.predict(X))


class Contrary(RegressorMixin, BaseEstimator):
    """Predicts the end of the unit interval that is farther off."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.where(np.asarray(X)[:, 0] > 0.5, 0.0, 1.0)


def test_a_first_member_that_fails_is_alone_with_a_warning():
    X = np.linspace(0, 1, 11)[:, None]
    with pytest.warns(UserWarning, match="the first member errs on 0.89 of the weight"):
        boosted = AdaBoostRRegressor(Contrary(), 10).fit(X, X[:, 0])
    assert len(boosted) == 1
    np.testing.assert_array_equal(boosted.predict(X), Contrary().predict(X))
    squared = np.mean((boosted.predict(X) - X[:, 0]) ** 2)
    assert squared <= boosted.squared_error_bounds_[0]


def test_a_learner_that_repeats_itself_is_kept_once():
    """In the second round it errs on one half: it has nothing to add."""
    X, y = np.zeros((5, 1)), np.array([0.0, 0.1, 0.2, 0.3, 1.0])
    boosted = AdaBoostRRegressor(DummyRegressor(strategy="constant", constant=0.2), 4).fit(X, y)
    assert boosted.predict(X).tolist() == [0.2] * 5
    assert len(boosted) == 1
    assert boosted.member_weights_[0] > 1


def test_a_perfect_first_member_is_alone_with_a_warning(friedman):
    X, y = friedman
    with pytest.warns(UserWarning, match="the first member makes no error on the training"):
        boosted = AdaBoostRRegressor(CARTRegressor(), 10).fit(X, y)
    assert len(boosted) == 1
    assert boosted.errors_.tolist() == boosted.squared_error_bounds_.tolist() == [0.0]
    np.testing.assert_allclose(boosted.predict(X), y, rtol=1e-12)


@pytest.mark.parametrize("value", [0.0, 7.3, -1e9])
@pytest.mark.parametrize("base", [None, LinearRegression(), KNeighborsRegressor(1)], ids=str)
def test_a_constant_target_is_learnt_by_one_member(value, base):
    X = np.random.default_rng(0).random((12, 2))
    boosted = AdaBoostRRegressor(base, 5, random_state=0).fit(X, np.full(12, value))
    assert boosted.predict(X).tolist() == [value] * 12
    assert len(boosted) == 1


def test_one_sample_is_enough():
    boosted = AdaBoostRRegressor(n_estimators=5).fit([[1.0]], [4.0])
    assert boosted.predict([[0.0], [9.0]]).tolist() == [4.0, 4.0]


@pytest.mark.parametrize("sampling", ["weights", "resample"])
def test_a_warm_start_is_a_longer_run(friedman, sampling):
    X, y = friedman
    whole = AdaBoostRRegressor(n_estimators=12, sampling=sampling, random_state=5).fit(X, y)
    warm = AdaBoostRRegressor(n_estimators=4, sampling=sampling, warm_start=True, random_state=5)
    warm.fit(X, y)
    warm = pickle.loads(pickle.dumps(warm))
    warm.set_params(n_estimators=12).fit(X, y)
    assert_same_forest(warm.forest_, whole.forest_)
    np.testing.assert_array_equal(warm.member_weights_, whole.member_weights_)
    np.testing.assert_array_equal(warm.errors_, whole.errors_)
    np.testing.assert_array_equal(warm.squared_error_bounds_, whole.squared_error_bounds_)
    assert len(whole) > 4


def test_early_stopping_keeps_the_members_up_to_the_best(friedman):
    X, y = friedman
    boosted = AdaBoostRRegressor(
        n_estimators=50, n_iter_no_change=3, validation_fraction=0.3, random_state=0
    ).fit(X, y)
    errors = boosted.validation_errors_
    assert len(boosted) < 50
    assert len(boosted) == errors.argmin() + 1 == len(errors) - 3


def test_the_order_of_the_rows_does_not_matter(friedman):
    X, y = friedman
    order = np.random.default_rng(2).permutation(len(y))
    model = AdaBoostRRegressor(n_estimators=8, random_state=1)
    one, other = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    assert_same_forest(one.forest_, other.forest_)
    np.testing.assert_array_equal(one.errors_, other.errors_)


def test_equal_weights_are_no_weights_to_the_last_bit(friedman):
    X, y = friedman
    model = AdaBoostRRegressor(n_estimators=6, sampling="weights", random_state=0)
    plain = clone(model).fit(X, y)
    for weight in (0.3, 1 / 7, 2.0**-500, 1e-300):
        weighted = clone(model).fit(X, y, np.full(len(y), weight))
        np.testing.assert_array_equal(weighted.errors_, plain.errors_)
        np.testing.assert_array_equal(weighted.predict(X), plain.predict(X))


def test_parameters_that_are_not_allowed_are_refused():
    with pytest.raises(ValueError, match="'sampling' parameter of AdaBoostRRegressor must be"):
        AdaBoostRRegressor(sampling="draw").fit([[0.0], [1.0]], [0.0, 1.0])
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(ValueError, match="is not a regressor; AdaBoostRRegressor needs one"):
        AdaBoostRRegressor(DecisionTreeClassifier()).fit([[0.0], [1.0]], [0.0, 1.0])
