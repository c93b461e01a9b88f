"""Bounds on new samples against formulas written out, and what they depend on."""

from __future__ import annotations

from math import ceil, e, exp, log, log2, sqrt

import matplotlib
import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from orfeon import AdaBoostClassifier
from orfeon.boosting import (
    margin_generalization_bound,
    vc_dimension_of_votes,
    vc_generalization_bound,
)
from orfeon.datasets import make_waveform
from orfeon.inspection import GeneralizationBoundsDisplay

matplotlib.use("agg")


def test_vc_bound_of_two_classes_as_printed():
    N, T, d, delta = 50_000, 10, 3, 0.1
    D = 2 * (d + 1) * (T + 1) * log2(e * (T + 1))
    assert vc_dimension_of_votes(d, T) == pytest.approx(D)
    expected = 0.07 + 2 * sqrt((D * (log(2 * N / D) + 1) + log(9 / delta)) / N)
    assert vc_generalization_bound(0.07, N, T, d, delta=delta) == pytest.approx(expected)


def test_vc_bound_of_several_classes_by_counting():
    N, T, d, K, delta = 50_000, 5, 3, 4, 0.05
    ways = d * T * log(N * K**2) + T * log(e * N * K * (K - 1) / 2 / T)
    expected = 0.2 + sqrt(32 / N * (ways + log(8 / delta)))
    assert vc_generalization_bound(0.2, N, T, d, n_classes=K) == pytest.approx(expected)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("by", ["n_hypotheses", "vc_dimension"])
def test_margin_bound_is_the_least_over_the_numbers_of_members(by, n_classes):
    """By brute force over every n: what is tried on a grid is no smaller, and hardly larger."""
    N, theta, delta = 10_000_000, 0.4, 0.05
    size = 500 if by == "n_hypotheses" else 4

    def of(n):
        far = 2 * (n_classes - 1) * exp(-n * theta**2 / 8)
        failure = log(n * (n + 1) ** 2 / delta)
        if by == "n_hypotheses":
            return far + sqrt((failure + n * log(size)) / (2 * N))
        growth = log(e * N / size) if n_classes == 2 else log(N) + 2 * log(n_classes)
        return far + sqrt(32 / N * (failure + n * size * growth + log(8)))

    least = min(of(n) for n in range(1, ceil(8 / theta**2 * log(2 * n_classes * N)) + 2))
    bound = margin_generalization_bound(0.1, theta, N, n_classes=n_classes, **{by: size})
    assert least - 1e-12 <= bound - 0.1 <= least * 1.001


def test_only_the_vc_bound_grows_with_the_members():
    members = np.arange(1, 2000)
    bounds = vc_generalization_bound(np.zeros(len(members)), 100_000, members, 2)
    assert (np.diff(bounds) >= 0).all()
    assert bounds[0] < 0.2 < 1 < bounds[-1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_samples_and_larger_margins_make_the_bounds_smaller(n_classes):
    known = {"vc_dimension": 2, "n_classes": n_classes}
    sizes = [10**k for k in range(2, 10)]
    for bounds in (
        [float(margin_generalization_bound(0, 0.3, N, **known)) for N in sizes],
        [float(vc_generalization_bound(0, N, 10, 2, n_classes=n_classes)) for N in sizes],
        [float(margin_generalization_bound(0, t, 10**6, **known)) for t in (0.1, 0.3, 0.5, 1)],
    ):
        assert (np.diff(bounds) <= 0).all()
    assert bounds[-1] < 0.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"theta": 0.0, "n_hypotheses": 2}, "theta=0.0 is not allowed"),
        ({"theta": 0.5}, "give either n_hypotheses or vc_dimension"),
        ({"theta": 0.5, "n_hypotheses": 2, "vc_dimension": 2}, "give either"),
        ({"theta": 0.5, "vc_dimension": 0}, "vc_dimension=0 is not allowed: it must be at least 1"),
        ({"theta": 0.5, "vc_dimension": 1, "delta": 1.0}, "delta=1.0 is not a probability"),
        ({"theta": 0.5, "vc_dimension": 1, "n_classes": 1}, "n_classes=1 is not allowed"),
    ],
)
def test_bad_values_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        margin_generalization_bound(0.1, n_samples=100, **given)


def test_the_picture_has_the_bounds_and_the_errors_after_each_member():
    X, y = make_waveform(100, random_state=0)
    X_test, y_test = make_waveform(200, random_state=1)
    model = AdaBoostClassifier(n_estimators=8, algorithm="samme", random_state=0).fit(X, y)
    display = GeneralizationBoundsDisplay.from_estimator(
        model, X, y, X_test, y_test, vc_dimension=5
    )
    test = 1 - np.array(list(model.staged_score(X_test, y_test)))
    np.testing.assert_allclose(display.errors["test error"], test)
    training = 1 - np.array(list(model.staged_score(X, y)))
    expected = vc_generalization_bound(training, 100, np.arange(1, 9), 5, n_classes=3)
    np.testing.assert_allclose(display.bounds["by the number of members"], expected)
    shares = model.predict_proba(X)
    own = shares[np.arange(100), y]
    other = np.where(np.eye(3)[y] == 1, -1, shares).max(axis=1)
    by_theta = [
        margin_generalization_bound(
            (own - other <= t + 1e-12).mean(), t, 100, vc_dimension=5, n_classes=3
        )
        for t in np.arange(1, 21) / 20
    ]
    assert display.bounds["by the margins"][-1] == pytest.approx(min(by_theta))
    assert set(display.lines_) == {*display.bounds, *display.errors}
    assert "say nothing" in display.ax_.get_title()
    matplotlib.pyplot.close(display.figure_)
    bayes = GaussianNB().fit(X, y)
    with pytest.raises(TypeError, match="it has no staged_predict_proba"):
        GeneralizationBoundsDisplay.from_estimator(bayes, X, y, vc_dimension=5)
