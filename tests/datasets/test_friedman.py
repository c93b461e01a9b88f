"""Friedman's regression problems."""

import numpy as np
import pytest

from orfeon.datasets import Friedman1, Friedman2, Friedman3

PROBLEMS = [Friedman1, Friedman2, Friedman3]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_without_noise_the_target_is_the_regression_function(problem):
    """scikit-learn draws the samples, our formula predicts them."""
    X, y = problem(noise=0).sample(500, random_state=0)
    np.testing.assert_allclose(problem().predict(X), y, rtol=1e-12)
    assert problem(noise=0).bayes_error() == 0


def test_regression_functions_at_points_worked_by_hand():
    assert Friedman1().predict([[0.5, 1 / 3, 1, 1, 1, *[9] * 5]])[0] == pytest.approx(25)
    assert Friedman2().predict([[3, 1, 5, 1]])[0] == pytest.approx(5)
    assert Friedman3().predict([[4, 1, 5, 1]])[0] == pytest.approx(np.pi / 4)


@pytest.mark.parametrize(("problem", "noise"), [(Friedman1, 1), (Friedman2, 125), (Friedman3, 0.1)])
def test_the_noise_has_the_stated_deviation(problem, noise):
    """Within 5 standard errors of a standard deviation, on 20 000 samples."""
    X, y = problem().sample(20_000, random_state=0)
    residuals = y - problem().predict(X)
    assert residuals.std() == pytest.approx(noise, rel=5 / np.sqrt(40_000))
    assert problem().bayes_error() == pytest.approx(noise**2)


@pytest.mark.parametrize(
    ("problem", "ratio"), [(Friedman1, 4.88), (Friedman2, 3.03), (Friedman3, 3.16)]
)
def test_the_signal_is_three_to_five_times_the_default_noise(problem, ratio):
    X, _ = problem().sample(50_000, random_state=0)
    assert problem().predict(X).std() / problem().noise == pytest.approx(ratio, rel=0.02)


def test_features_have_their_ranges():
    X, _ = Friedman1(n_features=7).sample(5000, random_state=0)
    assert X.shape[1] == 7
    np.testing.assert_allclose(X.min(axis=0), 0, atol=0.005)
    np.testing.assert_allclose(X.max(axis=0), 1, atol=0.005)
    X, _ = Friedman2().sample(5000, random_state=0)
    low, high = np.array([0, 40 * np.pi, 0, 1]), np.array([100, 560 * np.pi, 1, 11])
    np.testing.assert_allclose((X.min(axis=0) - low) / (high - low), 0, atol=0.005)
    np.testing.assert_allclose((high - X.max(axis=0)) / (high - low), 0, atol=0.005)


def test_friedman1_needs_five_features():
    with pytest.raises(ValueError, match="n_features must be an integer of at least 5, got 4"):
        Friedman1(n_features=4)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_bad_noise_is_refused(problem):
    with pytest.raises(ValueError, match=r"noise must be a number in \[0, inf\), got -1"):
        problem(noise=-1)
    with pytest.raises(TypeError, match=r"noise must be a number in \[0, inf\), got 'loud'"):
        problem(noise="loud")
