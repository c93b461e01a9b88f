"""The error of bagged regressors: by hand, unbiased on average, and near that of a test set."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import BaggingRegressor as TheirBagging
from sklearn.tree import DecisionTreeRegressor

from orfeon import BaggingClassifier, BaggingRegressor, CARTRegressor
from orfeon.datasets import make_friedman1
from orfeon.inspection import bagging_error
from orfeon.inspection.out_of_bag_error import errors_of
from orfeon.members.votes import read_selection


def estimate(predictions, y, **options):
    return errors_of(read_selection(predictions, y, no_vote=np.nan, task="regression", **options))


def test_by_hand():
    # On the first sample 1 and 3 (mean 2, variance 2), on the second 4, 5 and 9 (mean 6, variance
    # 7); the third has one prediction only and does not count.
    predictions = [[1.0, 4.0, 0.5], [3.0, 5.0, np.nan], [np.nan, 9.0, np.nan]]
    found = estimate(predictions, [0.0, 5.0, 0.0])
    assert found.out_of_bag == pytest.approx((2**2 + 1**2) / 2)
    assert found.limit == pytest.approx((4 - 2 / 2 + 1 - 7 / 3) / 2)
    assert found.error == pytest.approx((4 - 1 + 2 / 3 + 1) / 2)
    assert (found.n_members, found.n_samples) == (3, 2)


def test_unbiased_where_members_are_independent():
    # y = 0, members N(0.5, 1): infinitely many have error 0.25, and T of them 0.25 + 1/T.
    rng = np.random.default_rng(0)
    n_members, n_samples = 8, 200_000
    predictions = rng.normal(0.5, 1.0, (n_members, n_samples))
    predictions[rng.random(predictions.shape) < 0.6] = np.nan
    found = estimate(predictions, np.zeros(n_samples))
    assert found.limit == pytest.approx(0.25, abs=0.01)
    assert found.error == pytest.approx(0.25 + 1 / n_members, abs=0.01)
    assert found.out_of_bag > 0.5


@pytest.mark.parametrize("bagging", [BaggingRegressor, TheirBagging])
def test_nearer_to_the_test_error_than_out_of_bag(bagging):
    tree = CARTRegressor() if bagging is BaggingRegressor else DecisionTreeRegressor()
    found, errors = [], []
    for seed in range(4):
        X, y = make_friedman1(200, random_state=seed)
        X_test, y_test = make_friedman1(2000, random_state=100 + seed)
        bag = bagging(tree, n_estimators=8, random_state=seed).fit(X, y)
        found.append(bagging_error(bag, X, y))
        errors.append(np.mean((bag.predict(X_test) - y_test) ** 2))
    plain = np.mean([one.out_of_bag for one in found]) - np.mean(errors)
    assert abs(np.mean([one.error for one in found]) - np.mean(errors)) < plain / 2


def test_weight_two_is_two_copies():
    rng = np.random.default_rng(1)
    predictions = rng.normal(size=(6, 30))
    predictions[rng.random(predictions.shape) < 0.4] = np.nan
    y, weights = rng.normal(size=30), rng.integers(0, 3, 30)
    copies = np.repeat(np.arange(30), weights)
    weighted = estimate(predictions, y, sample_weight=weights)
    copied = estimate(predictions[:, copies], y[copies])
    assert weighted.error == pytest.approx(copied.error, rel=1e-12)
    assert weighted.out_of_bag == pytest.approx(copied.out_of_bag, rel=1e-12)


def test_bad_input():
    X, y = make_friedman1(60, random_state=0)
    votes = BaggingClassifier(n_estimators=3).fit(X, y > 14)
    with pytest.raises(ValueError, match="ensemble votes for classes; bagging_error needs"):
        bagging_error(votes, X, y > 14)
    with pytest.raises(ValueError, match="no sample was left out by two members"):
        bagging_error(BaggingRegressor(n_estimators=1).fit(X, y), X, y)
    whole = BaggingRegressor(n_estimators=3, bootstrap=False).fit(X, y)
    with pytest.raises(ValueError, match="each of its members saw all the samples"):
        bagging_error(whole, X, y)
