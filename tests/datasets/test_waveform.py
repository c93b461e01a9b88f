"""The waveform problem."""

import numpy as np
import pytest
from scipy.integrate import quad
from tests import shared

from orfeon.datasets import Waveform

# The waves as the classic generator tabulates them.
H1 = np.array([0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
H2 = np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1, 0])
H3 = np.array([0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0])
CLASSES = [(H1, H2), (H1, H3), (H2, H3)]


def brute_force_log_density(x, first, second):
    """Integrate the gaussian density over the share of the first wave."""

    def log_integrand(u):
        difference = x - u * first - (1 - u) * second
        return -(difference @ difference + len(x) * np.log(2 * np.pi)) / 2

    shares = np.linspace(0, 1, 101)
    logs = [log_integrand(u) for u in shares]
    peak = int(np.argmax(logs))
    integral, _ = quad(
        lambda u: np.exp(log_integrand(u) - logs[peak]), 0, 1, points=[shares[peak]], epsrel=1e-10
    )
    return logs[peak] + np.log(integral)


def test_peaks_are_at_7_15_and_11():
    assert [int(wave.argmax()) + 1 for wave in (H1, H2, H3)] == [7, 15, 11]


@pytest.mark.parametrize("label", [0, 1, 2])
def test_each_class_has_the_moments_of_its_mixture(label):
    """Mean (h + h') / 2 and covariance I + (h - h')(h - h')' / 12, within 5 standard errors."""
    X, y = Waveform(priors=np.eye(3)[label]).sample(30_000, random_state=0)
    assert set(y.tolist()) == {label}
    first, second = CLASSES[label]
    centred = X - (first + second) / 2
    assert np.all(np.abs(centred.mean(axis=0)) < 5 * X.std(axis=0) / np.sqrt(30_000))
    products = np.einsum("ni,nj->nij", centred[:5000], centred[:5000])
    expected = np.eye(21) + np.outer(first - second, first - second) / 12
    limits = 5 * products.std(axis=0) / np.sqrt(5000)
    assert np.all(np.abs(products.mean(axis=0) - expected) < limits)


def test_densities_match_brute_force_integration():
    X, _ = Waveform().sample(20, random_state=0)
    expected = [[brute_force_log_density(x, *waves) for waves in CLASSES] for x in X]
    np.testing.assert_allclose(Waveform().log_densities(X), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("shares", [(3.0, -2.0), (-2.0, 3.0), (0.0, 4.0), (-1.0, -1.0)])
def test_densities_match_brute_force_beyond_the_ends_of_the_segments(shares):
    x = shares[0] * H1 + shares[1] * H2
    expected = [brute_force_log_density(x, *waves) for waves in CLASSES]
    np.testing.assert_allclose(Waveform().log_densities(x[None])[0], expected, rtol=0, atol=1e-8)


def test_posteriors_weigh_the_densities_by_the_priors():
    priors = np.array([0.6, 0.3, 0.1])
    problem = Waveform(priors=priors)
    X, _ = problem.sample(20, random_state=1)
    joint = priors * np.exp([[brute_force_log_density(x, *waves) for waves in CLASSES] for x in X])
    np.testing.assert_allclose(
        problem.posterior(X), joint / joint.sum(axis=1, keepdims=True), rtol=1e-8
    )


def test_the_bayes_error_lies_between_the_published_figures():
    """Between 13.2% and 14%, and the quadrature agrees with the sample."""
    measured = Waveform().estimate_bayes_error(shared.cases(200_000), random_state=0)
    computed = Waveform().bayes_error()
    assert 0.132 - 4 * measured.standard_error <= measured.error
    assert measured.error <= 0.140 + 4 * measured.standard_error
    assert abs(measured.error - computed) <= 4 * measured.standard_error
    assert computed == pytest.approx(0.132933, abs=1e-5)
