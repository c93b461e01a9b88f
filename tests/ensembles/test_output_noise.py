"""Output smearing: the noise on the targets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.ensembles.twins import LEVEL, RememberingRegressor, numbered, table

from orfeon import CARTRegressor, OutputSmearingRegressor
from orfeon.datasets import make_friedman1


def noise_of(y, n_members=200, sample_weight=None, noise=1.0):
    smearing = OutputSmearingRegressor(
        RememberingRegressor(), n_members, noise=noise, random_state=0
    )
    smearing.fit(numbered(len(y)), y, sample_weight=sample_weight)
    return np.array([member.y_ - y for member in smearing.estimators_])


def test_noise_is_gaussian_in_standard_deviations_of_the_targets():
    y = np.random.default_rng(0).exponential(scale=3.0, size=80)
    for noise in (0.3, 1.0):
        added = noise_of(y, noise=noise)
        # The mean is taken away, which costs one degree of freedom.
        sd = noise * y.std() * np.sqrt(1 - 1 / 80)
        assert stats.kstest(added.ravel() / sd, "norm").pvalue > LEVEL
        sums = (added**2).sum() / (noise * y.std()) ** 2
        assert LEVEL < stats.chi2(200 * 79).cdf(sums) < 1 - LEVEL
        assert len({row.tobytes() for row in added}) == 200


def test_the_mean_target_stays_as_it_is():
    y = np.arange(50.0)
    assert np.abs(noise_of(y).mean(axis=1)).max() < 1e-12
    weights = np.linspace(0.1, 2.0, 50)
    assert np.abs(noise_of(y, sample_weight=weights) @ weights).max() < 1e-11


def test_the_spread_is_that_of_the_weighted_targets():
    y, weights = np.arange(60.0), np.linspace(3.3, 0.1, 60)
    mean = np.average(y, weights=weights)
    spread = np.sqrt(np.average((y - mean) ** 2, weights=weights))
    added = noise_of(y, 400, sample_weight=weights)
    # Each has the variance of the noise, less that of its weighted mean.
    share = weights / weights.sum()
    variance = spread**2 * (1 - 2 * share + (share**2).sum())
    ratios = (added**2).mean(axis=0) / variance
    low, high = stats.chi2.ppf([LEVEL / 120, 1 - LEVEL / 120], 400) / 400
    assert (ratios > low).all()
    assert (ratios < high).all()


def test_no_noise_is_the_tree_itself():
    X, y = table(OutputSmearingRegressor())
    smearing = OutputSmearingRegressor(n_estimators=4, noise=0.0, random_state=0).fit(X, y)
    for answers in smearing.predictions(X):
        np.testing.assert_allclose(answers, CARTRegressor().fit(X, y).predict(X), atol=1e-12)


def test_members_learn_the_smeared_targets_by_heart():
    X, y = table(OutputSmearingRegressor())
    smearing = OutputSmearingRegressor(n_estimators=400, random_state=0).fit(X, y)
    errors = smearing.predictions(X) - y
    assert errors.std() == pytest.approx(y.std(), rel=0.02)
    # Which average out over the members.
    rest = (smearing.predict(X) - y).std() / y.std()
    assert rest == pytest.approx(1 / np.sqrt(400), rel=0.3)


def test_it_is_better_than_one_tree():
    X, y = make_friedman1(200, random_state=0)
    X_test, y_test = make_friedman1(1000, random_state=1)
    alone = CARTRegressor(random_state=0).fit(X, y).score(X_test, y_test)
    smeared = OutputSmearingRegressor(n_estimators=100, random_state=0).fit(X, y)
    assert smeared.score(X_test, y_test) > alone + 0.15


def test_constant_targets_have_no_spread():
    X = np.random.default_rng(0).normal(size=(20, 2))
    smearing = OutputSmearingRegressor(n_estimators=3).fit(X, np.full(20, 2.5))
    assert smearing.predict(X).tolist() == [2.5] * 20


def test_negative_noise_is_refused():
    X, y = table(OutputSmearingRegressor())
    with pytest.raises(ValueError, match="'noise' parameter of OutputSmearingRegressor must be"):
        OutputSmearingRegressor(noise=-0.1).fit(X, y)
