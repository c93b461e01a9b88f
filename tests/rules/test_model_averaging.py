"""Bayesian model averaging of classes and of numbers."""

from __future__ import annotations

from math import exp, log, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import norm
from tests import shared

from orfeon.rules.model_averaging import ModelAveraging, ModelPosterior
from orfeon.rules.supports import Mean, Soft


def supports_of(seed, n_members=5, n_samples=20, n_classes=3):
    rng = np.random.default_rng(seed)
    supports = rng.dirichlet(np.ones(n_classes), (n_members, n_samples))
    return supports, rng.integers(0, n_classes, n_samples)


def log_likelihoods(supports, y, weights=None):
    logs = np.log(np.maximum(supports[:, np.arange(len(y)), y], 1e-3))
    return logs @ (np.ones(len(y)) if weights is None else weights)


def noisy(y, scales, seed=0):
    rng = np.random.default_rng(seed)
    return y + np.asarray(scales)[:, None] * rng.normal(size=(len(scales), len(y)))


# -- classes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_the_softmax_of_log_likelihoods(seed):
    supports, y = supports_of(seed)
    decider = ModelAveraging().learn(supports, y, 3)
    logs = log_likelihoods(supports, y)
    np.testing.assert_allclose(decider.log_weights, logs, rtol=1e-12)
    np.testing.assert_allclose(decider.weights, softmax(logs), rtol=1e-10)
    assert decider.weights.sum() == pytest.approx(1.0, abs=1e-15)


def test_shares_are_the_weighted_mean_of_supports():
    supports, y = supports_of(0)
    decider = ModelAveraging(temperature=8.0).learn(supports, y, 3)
    new, _ = supports_of(99, n_samples=50)
    expected = np.einsum("t,tnk->nk", decider.weights, new)
    np.testing.assert_allclose(decider.shares(new, 3), expected, rtol=1e-13)
    assert np.abs(expected - new.mean(axis=0)).max() > 0.01


def test_two_members_worked_by_hand():
    answers = [[[0.8, 0.2], [0.4, 0.6]], [[0.5, 0.5], [0.5, 0.5]]]
    decider = ModelAveraging().learn(answers, [0, 1], 2)
    first, second = 0.8 * 0.6, 0.5 * 0.5
    expected = np.array([first, second]) / (first + second)
    np.testing.assert_allclose(decider.weights, expected, rtol=1e-14)


def test_priors_multiply_likelihoods():
    supports, y = supports_of(1)
    priors = [1.0, 2.0, 3.0, 4.0, 90.0]
    decider = ModelAveraging(priors=priors).learn(supports, y, 3)
    expected = softmax(log_likelihoods(supports, y) + np.log(priors))
    np.testing.assert_allclose(decider.weights, expected, rtol=1e-10)


def test_temperature_divides_log_likelihoods_and_not_priors():
    supports, y = supports_of(1)
    priors = [1.0, 2.0, 3.0, 4.0, 90.0]
    decider = ModelAveraging(priors=priors, temperature=4.0).learn(supports, y, 3)
    expected = softmax(log_likelihoods(supports, y) / 4 + np.log(priors))
    np.testing.assert_allclose(decider.weights, expected, rtol=1e-10)


def test_a_very_high_temperature_makes_a_plain_mean():
    supports, y = supports_of(2)
    decider = ModelAveraging(temperature=1e12).learn(supports, y, 3)
    plain = Soft().learn(None, None, 3).shares(supports, 3)
    np.testing.assert_allclose(decider.shares(supports, 3), plain, rtol=0, atol=1e-9)


def test_parameters_are_paid_for_as_in_the_bayesian_information_criterion():
    supports, y = supports_of(3)
    n_parameters = np.array([1, 5, 2, 0, 3])
    decider = ModelAveraging(n_parameters=n_parameters).learn(supports, y, 3)
    criteria = n_parameters * log(20) - 2 * log_likelihoods(supports, y)
    np.testing.assert_allclose(decider.weights, softmax(-criteria / 2), rtol=1e-10)
    warm = ModelAveraging(n_parameters=n_parameters, temperature=4.0).learn(supports, y, 3)
    np.testing.assert_allclose(warm.weights, softmax(-criteria / 8), rtol=1e-10)


def test_half_weights_are_half_of_the_samples():
    supports, y = supports_of(6)
    decider = ModelAveraging().learn(supports, y, 3, np.full(20, 0.5))
    np.testing.assert_allclose(decider.log_weights, log_likelihoods(supports, y) / 2, rtol=1e-12)


def test_with_more_samples_the_weight_goes_to_the_best_member():
    """Supports of 0.7, 0.65 and 0.6 for the true class; the first is best."""
    answers = np.array([[[p, 1 - p]] for p in (0.7, 0.65, 0.6)])
    largest = []
    for n_samples in (1, 10, 100, 1000):
        decider = ModelAveraging().learn(answers.repeat(n_samples, axis=1), [0] * n_samples, 2)
        expected = softmax(n_samples * np.log([0.7, 0.65, 0.6]))
        np.testing.assert_allclose(decider.weights, expected, rtol=1e-9)
        largest.append(decider.weights[0])
    assert largest == sorted(largest)
    assert largest[0] == pytest.approx(0.7 / 1.95)
    assert largest[-1] > 1 - 1e-12


def test_certain_and_wrong_costs_as_much_as_the_floor_says():
    answers = [[[0.0, 1.0], [1.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]]]
    decider = ModelAveraging(floor=0.01).learn(answers, [0, 0], 2)
    np.testing.assert_allclose(decider.weights, [0.01 / 0.26, 0.25 / 0.26], rtol=1e-13)


def test_the_likelihood_of_errors_is_that_of_an_accuracy():
    """Nine and six right of ten; a wrong vote is for one of two other classes."""
    answers = np.eye(3)[np.array([[0] * 9 + [1], [0] * 6 + [2] * 4])]
    decider = ModelAveraging(likelihood="errors").learn(answers, [0] * 10, 3)
    logs = []
    for right in (9, 6):
        p = (right + 1) / 13
        logs.append(right * log(p) + (10 - right) * log((1 - p) / 2))
    np.testing.assert_allclose(decider.weights, softmax(logs), rtol=1e-12)


# -- answers that are not there ----------------------------------------------------------------


@pytest.mark.parametrize("likelihood", ["supports", "errors"])
def test_a_member_is_judged_by_the_samples_it_answers(likelihood):
    """Half of the answers taken away at random from two equal members change nothing."""
    answers = np.array([[[0.8, 0.2], [0.3, 0.7]] * 4, [[0.8, 0.2], [0.3, 0.7]] * 4])
    answers[1, 4:] = np.nan
    y = [0, 0] * 4
    decider = ModelAveraging(likelihood, temperature=2.0).learn(answers, y, 2)
    if likelihood == "supports":
        assert decider.log_weights[0] == pytest.approx(4 * log(0.8 * 0.3) / 2, rel=1e-14)
        np.testing.assert_allclose(decider.weights, [0.5, 0.5], rtol=1e-14)
    else:
        assert decider.log_weights[0] == pytest.approx(8 * log(0.5) / 2, rel=1e-14)
        np.testing.assert_allclose(decider.weights, [0.5, 0.5], rtol=1e-14)


@pytest.mark.parametrize("likelihood", ["supports", "errors"])
def test_a_member_that_never_answers_is_one_that_knows_nothing(likelihood):
    supports, y = supports_of(4, n_members=3)
    supports[1] = np.nan
    decider = ModelAveraging(likelihood).learn(supports, y, 3)
    assert decider.log_weights[1] == pytest.approx(20 * log(1 / 3), rel=1e-14)


def test_where_the_probable_members_are_silent_the_others_are_heard():
    """However improbable these are: exp(-2000) is below all floats."""
    decider = ModelPosterior(np.array([-2000.0, 0.0, -2000.0 - log(3)]))
    answers = np.array([[[1.0, 0.0]], [[0.5, 0.5]], [[0.0, 1.0]]])
    np.testing.assert_array_equal(decider.shares(answers, 2), [[0.5, 0.5]])
    answers[1] = np.nan
    np.testing.assert_allclose(decider.shares(answers, 2), [[0.75, 0.25]], rtol=1e-12)


@given(order=st.permutations(range(5)))
@settings(max_examples=shared.cases(30))
def test_a_subset_is_the_posterior_given_that_one_of_them_is_true(order):
    supports, y = supports_of(5)
    decider = ModelAveraging().learn(supports, y, 3)
    kept = list(order[:3])
    conditional = decider.weights[kept] / decider.weights[kept].sum()
    np.testing.assert_allclose(decider.subset(kept).weights, conditional, rtol=1e-12)


# -- numbers -----------------------------------------------------------------------------------


def test_targets_are_normal_around_predictions():
    y = np.random.default_rng(0).normal(size=12)
    answers = noisy(y, [0.5, 0.6, 1.0])
    decider = ModelAveraging().learn(answers, y, 0)
    variances = np.mean((answers - y) ** 2, axis=1)
    np.testing.assert_allclose(decider.variances, variances, rtol=1e-13)
    logs = norm.logpdf(y, answers, np.sqrt(variances)[:, None]).sum(axis=1)
    np.testing.assert_allclose(decider.log_weights, logs, rtol=1e-12)
    np.testing.assert_allclose(decider.weights, softmax(logs), rtol=1e-10)
    # In closed form: the inverse root mean squared error to the power of the number of samples.
    closed = variances ** (-12 / 2)
    np.testing.assert_allclose(decider.weights, closed / closed.sum(), rtol=1e-10)


def test_mean_and_variance_are_those_of_the_mixture():
    decider = ModelPosterior(np.log([0.5, 0.3, 0.2]), np.array([1.0, 4.0, 0.25]))
    answers = np.array([[1.0, 2.0], [3.0, 2.0], [-1.0, 2.0]])
    mean = 0.5 * 1 + 0.3 * 3 - 0.2 * 1
    within = 0.5 * 1 + 0.3 * 4 + 0.2 * 0.25
    between = 0.5 * (1 - mean) ** 2 + 0.3 * (3 - mean) ** 2 + 0.2 * (-1 - mean) ** 2
    np.testing.assert_allclose(decider.predict(answers), [mean, 2.0], rtol=1e-14)
    np.testing.assert_allclose(
        decider.predict_variance(answers), [within + between, within], rtol=1e-14
    )
    rng = np.random.default_rng(0)
    which = rng.choice(3, 400_000, p=[0.5, 0.3, 0.2])
    drawn = rng.normal(answers[which, 0], np.sqrt(decider.variances[which]))
    assert drawn.mean() == pytest.approx(mean, abs=0.01)
    assert drawn.var() == pytest.approx(within + between, rel=0.01)


def test_mean_and_variance_are_those_of_the_members_that_answer():
    decider = ModelPosterior(np.log([0.5, 0.3, 0.2]), np.array([1.0, 4.0, 0.25]))
    answers = np.array([[1.0, np.nan], [np.nan, np.nan], [-1.0, np.nan]])
    mean = (0.5 - 0.2) / 0.7
    second = (0.5 * (1 + 1) + 0.2 * (0.25 + 1)) / 0.7
    np.testing.assert_allclose(decider.predict(answers), [mean, np.nan], rtol=1e-14)
    np.testing.assert_allclose(
        decider.predict_variance(answers), [second - mean**2, np.nan], rtol=1e-13
    )


def test_after_many_samples_the_variance_is_the_error_that_comes():
    y = np.random.default_rng(1).normal(size=20_000)
    decider = ModelAveraging().learn(noisy(y, [0.7, 1.0, 1.5]), y, 0)
    new = np.random.default_rng(2).normal(size=20_000)
    answers = noisy(new, [0.7, 1.0, 1.5], seed=3)
    errors = (decider.predict(answers) - new) ** 2
    promised = decider.predict_variance(answers)
    assert promised.mean() == pytest.approx(0.49, rel=0.03)
    assert errors.mean() == pytest.approx(promised.mean(), rel=0.03)


def test_with_more_samples_the_best_regressor_takes_all():
    largest = []
    for n_samples in (4, 40, 400, 4000):
        y = np.random.default_rng(0).normal(size=n_samples)
        decider = ModelAveraging().learn(y + np.array([[1.0], [1.1], [1.2]]), y, 0)
        expected = softmax(-n_samples * np.log([1.0, 1.1, 1.2]))
        np.testing.assert_allclose(decider.weights, expected, rtol=1e-9)
        largest.append(decider.weights[0])
    assert largest == sorted(largest)
    assert largest[-1] > 1 - 1e-12


def test_a_faultless_member_has_the_least_variance_allowed():
    y = np.array([0.0, 2.0, 4.0, 6.0])  # variance 5
    decider = ModelAveraging(floor=0.01).learn([y, y + 1], y, 0)
    np.testing.assert_allclose(decider.variances, [0.05, 1.0], rtol=1e-14)
    expected = [-2 * log(2 * pi * 0.05), -2 * (log(2 * pi) + 1)]
    np.testing.assert_allclose(decider.log_weights, expected, rtol=1e-14)


def test_a_regressor_that_never_answers_is_worth_the_mean():
    y = np.array([0.0, 2.0, 4.0, 6.0])
    decider = ModelAveraging().learn([np.full(4, np.nan), np.full(4, 3.0), y + 1], y, 0)
    assert decider.log_weights[0] == decider.log_weights[1]
    assert decider.variances.tolist() == [5.0, 5.0, 1.0]
    assert decider.weights[2] == pytest.approx(1 / (1 + 2 * exp(-2 * log(5))), rel=1e-12)


@pytest.mark.parametrize(
    ("answers", "y"),
    [
        ([[1.0, 1.0], [1.0, 1.0]], [1.0, 1.0]),
        ([[1e200, -1e200], [-1e200, 1e200]], [1e200, 0.0]),
        ([[1e-200, 0.0], [0.0, 1e-200]], [0.0, 0.0]),
    ],
)
def test_extreme_errors_leave_sensible_weights(answers, y):
    decider = ModelAveraging().learn(answers, y, 0)
    np.testing.assert_allclose(decider.weights, [0.5, 0.5], rtol=1e-9)
    assert (decider.variances > 0).all()
    plain = Mean().learn(None, None, 0).predict([[1.0], [3.0]])
    np.testing.assert_allclose(decider.predict([[1.0], [3.0]]), plain, rtol=1e-9)


# -- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["priors", "n_parameters"])
def test_a_number_for_each_member_is_expected(option):
    supports, y = supports_of(0)
    with pytest.raises(ValueError, match=f"{option} has 2 values; one for each of 5 members"):
        ModelAveraging(**{option: [1.0, 2.0]}).learn(supports, y, 3)


def test_classes_have_no_variance():
    supports, y = supports_of(0)
    with pytest.raises(ValueError, match="variances are only known in regression"):
        ModelAveraging().learn(supports, y, 3).predict_variance(np.zeros((5, 1)))
