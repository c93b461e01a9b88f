"""Wagging: the distribution of the weights, and that the members get them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tests.ensembles.twins import (
    LEVEL,
    Remembering,
    RememberingRegressor,
    content_order,
    generators,
    numbered,
    table,
)
from tests.shared import assert_same_forest

from orfeon import WaggingClassifier, WaggingRegressor
from orfeon.data.presorted import Table
from orfeon.ensembles.perturbation import draw_seed
from orfeon.ensembles.wagging import gaussian_weights, poisson_weights
from orfeon.growth import grow_forest


def weights_given(n_rows=50, n_members=200, sample_weight=None, **given):
    wag = WaggingClassifier(Remembering(), n_members, random_state=0, **given)
    wag.fit(numbered(n_rows), np.arange(n_rows) % 2, sample_weight=sample_weight)
    return np.array([member.counts(n_rows) for member in wag.estimators_])


# -- weights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.5, 2.0, 5.0])
def test_gaussian_weights_have_mean_one_and_are_cut_at_zero(scale):
    weights = weights_given(scale=scale).ravel()
    at_zero = stats.norm.cdf(-1 / scale)
    assert stats.binomtest(int((weights == 0).sum()), len(weights), at_zero).pvalue > LEVEL
    positive = weights[weights > 0]
    beyond = stats.truncnorm(-1 / scale, np.inf, loc=1, scale=scale)
    assert stats.kstest(positive, beyond.cdf).pvalue > LEVEL
    # Before the cut the mean is 1: the positive ones alone have another.
    assert positive.mean() == pytest.approx(beyond.mean(), rel=0.03)


def test_members_have_weights_of_their_own():
    weights = weights_given(n_members=30)
    assert np.abs(np.corrcoef(weights) - np.eye(30)).max() < 0.65
    assert np.abs(np.corrcoef(weights)[np.triu_indices(30, 1)].mean()) < 0.05


def test_poisson_weights_are_minus_the_logarithm_of_thousandths():
    weights = weights_given(noise="poisson").ravel()
    thousandths = np.exp(-weights) * 1000
    np.testing.assert_allclose(thousandths, np.rint(thousandths), atol=1e-9)
    u = np.rint(thousandths).astype(int)
    assert u.min() >= 1
    assert u.max() <= 999
    counts = np.bincount((u - 1) // 37, minlength=27)  # 999 = 27 * 37
    assert stats.chisquare(counts).pvalue > LEVEL
    assert weights.min() > 0
    # Nearly exponential: a step of 1/1000 is below what so many weights can tell.
    assert stats.kstest(weights[:5000], "expon").pvalue > LEVEL


def test_all_thousandths_occur():
    u = np.rint(np.exp(-poisson_weights(20_000, np.random.default_rng(0))) * 1000)
    assert set(u) == set(range(1, 1000))


def test_weights_multiply_those_given():
    given = np.linspace(0.5, 3.0, 50)
    np.testing.assert_allclose(
        weights_given(noise="poisson", sample_weight=given, n_members=5),
        weights_given(noise="poisson", n_members=5) * given,
    )


def test_some_weight_is_always_positive():
    rng = np.random.default_rng(0)
    for _ in range(300):
        assert gaussian_weights(1, 5.0, rng)[0] > 0


# -- members ---------------------------------------------------------------------------------------


def test_regressors_get_them_too():
    wag = WaggingRegressor(RememberingRegressor(), 50, scale=2.0, random_state=0)
    wag.fit(numbered(50), np.arange(50.0))
    weights = np.array([member.counts(50) for member in wag.estimators_])
    test = stats.binomtest(int((weights == 0).sum()), weights.size, stats.norm.cdf(-0.5))
    assert test.pvalue > LEVEL


@pytest.mark.parametrize("noise", ["gaussian", "poisson"])
def test_the_trees_are_those_grown_by_hand(noise):
    X, y = table(WaggingClassifier())
    wag = WaggingClassifier(n_estimators=8, noise=noise, scale=1.5, random_state=3).fit(X, y)
    order = content_order(X, y)
    seeds, weights = [], []
    for rng in generators(3, 8):
        seeds.append(draw_seed(rng))
        if noise == "gaussian":
            weights.append(np.maximum(1 + 1.5 * rng.standard_normal(len(y)), 0))
        else:
            weights.append(-np.log(rng.integers(1, 1000, len(y)) / 1000))
    forest = grow_forest(
        Table(X[order]), y[order], n_classes=3, seeds=np.array(seeds), weights=np.array(weights)
    )
    assert_same_forest(wag.forest_, forest)


def test_samples_of_weight_zero_are_out_of_bag():
    """Of gaussian weights with sd 2, 31% are cut to zero; Poisson weights leave no sample out."""
    X, y = table(WaggingClassifier())
    wag = WaggingClassifier(n_estimators=60, oob_score=True, random_state=0).fit(X, y)
    out = int((wag.oob_votes_ >= 0).sum())
    assert stats.binomtest(out, wag.oob_votes_.size, stats.norm.cdf(-0.5)).pvalue > LEVEL
    with pytest.warns(UserWarning, match="90 of 90 samples were seen by every member"):
        poisson = WaggingClassifier(n_estimators=9, noise="poisson", oob_score=True).fit(X, y)
    assert np.isnan(poisson.oob_error_)
    assert np.isnan(poisson.oob_decision_function_).all()


@pytest.mark.parametrize(
    ("make", "base"),
    [(WaggingClassifier, KNeighborsClassifier()), (WaggingRegressor, KNeighborsRegressor())],
)
def test_a_base_learner_without_weights_is_refused(make, base):
    X, y = table(make())
    message = rf"estimator=KNeighbors\w+\(\) takes no sample_weight, which {make.__name__} needs"
    with pytest.raises(ValueError, match=message):
        make(base).fit(X, y)


@pytest.mark.parametrize("given", [{"noise": "uniform"}, {"scale": 0}, {"scale": -1.0}])
def test_other_noise_is_refused(given):
    X, y = table(WaggingClassifier())
    with pytest.raises(ValueError, match=f"'{next(iter(given))}' parameter of WaggingClassifier"):
        WaggingClassifier(**given).fit(X, y)
