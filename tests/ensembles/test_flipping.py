"""Flipping: labels change at the rate asked for, and the class proportions stay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.ensembles.twins import LEVEL, Remembering, numbered

from orfeon import FlippingClassifier
from orfeon.datasets import make_twonorm
from orfeon.ensembles.flipping import flip_labels, flip_probabilities, largest_flip_rate


def flipped_labels(y, n_members, **given):
    flipping = FlippingClassifier(Remembering(), n_members, random_state=0, **given)
    return np.array([member.y_ for member in flipping.fit(numbered(len(y)), y).estimators_])


# -- the probabilities -----------------------------------------------------------------------------


@settings(deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 1000), min_size=2, max_size=6), st.integers(0, 200))
def test_rows_sum_to_one_and_the_shares_are_stationary(sizes, thousandths):
    shares = np.array(sizes) / np.sum(sizes)
    rate = min(thousandths / 1000, 0.999 * largest_flip_rate(shares))
    probabilities = flip_probabilities(shares, rate)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(shares @ probabilities, shares, atol=1e-12)
    # Overall a fraction `rate` changes, to each other class in proportion to its share.
    assert 1 - shares @ np.diag(probabilities) == pytest.approx(rate, abs=1e-12)
    for i, row in enumerate(probabilities):
        ratio = np.delete(row, i) / np.delete(shares, i)
        np.testing.assert_allclose(ratio, ratio[0])


def test_the_formulas_of_the_paper():
    shares, rate = np.array([0.5, 0.3, 0.2]), 0.2
    w = 0.2 / (1 - 0.25 - 0.09 - 0.04)
    probabilities = flip_probabilities(shares, rate)
    assert probabilities[0, 1] == pytest.approx(w * 0.3)
    assert probabilities[2, 0] == pytest.approx(w * 0.5)
    assert probabilities[1, 1] == pytest.approx(1 - w * 0.7)


def test_labels_are_drawn_with_these_probabilities():
    probabilities = np.array([[0.6, 0.3, 0.1], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]])
    labels = np.repeat([0, 1, 2], 5000)
    flipped = flip_labels(labels, probabilities, np.random.default_rng(0))
    assert (flipped[labels == 1] == 1).all()
    for c in (0, 2):
        counts = np.bincount(flipped[labels == c], minlength=3)
        assert stats.chisquare(counts, 5000 * probabilities[c]).pvalue > LEVEL


def test_a_place_at_the_very_end_is_a_class():
    class AtTheEnd:
        def random(self, n):
            return np.full(n, np.nextafter(1.0, 0.0))

    tenths = np.full((10, 10), 0.1)  # ten of which add up to a little less than one
    assert flip_labels(np.arange(10), tenths, AtTheEnd()).tolist() == [9] * 10


# -- the ensemble ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [[100, 100], [160, 40], [120, 50, 30]])
def test_proportions_are_kept_in_expectation(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    n_members = 400
    labels = flipped_labels(y, n_members, flip_rate=0.15)
    changed = int((labels != y).sum())
    assert stats.binomtest(changed, labels.size, 0.15).pvalue > LEVEL
    after = np.bincount(labels.ravel(), minlength=len(sizes))
    # Each class gains as many as it loses; the variance of the difference is known.
    for c, size in enumerate(sizes):
        p = flip_probabilities(np.array(sizes) / 200, 0.15)
        variance = sum(n * p[k, c] * (1 - p[k, c]) for k, n in enumerate(sizes)) * n_members
        z = (after[c] - n_members * size) / np.sqrt(variance)
        assert 2 * stats.norm.sf(abs(z)) > LEVEL


def test_every_transition_has_its_probability():
    y = np.repeat([0, 1, 2], [120, 50, 30])
    labels = flipped_labels(y, 400, flip_rate=0.2)
    expected = flip_probabilities(np.array([0.6, 0.25, 0.15]), 0.2)
    for c in range(3):
        counts = np.bincount(labels[:, y == c].ravel(), minlength=3)
        assert stats.chisquare(counts, counts.sum() * expected[c]).pvalue > LEVEL


def test_proportions_are_those_of_the_weights():
    y, weights = np.repeat([0, 1], [50, 50]), np.repeat([4, 1], [50, 50])
    X = np.random.default_rng(0).normal(size=(100, 2))
    fitted = FlippingClassifier(n_estimators=3, flip_rate=0.1).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(
        fitted.flip_probabilities_, flip_probabilities(np.array([0.8, 0.2]), 0.1)
    )


def test_members_err_where_labels_were_flipped():
    """The number is not fixed, unlike that of class-switching: it is binomial."""
    X, y = make_twonorm(200, random_state=0)
    flipping = FlippingClassifier(n_estimators=200, flip_rate=0.2, random_state=0).fit(X, y)
    counts = (flipping.votes(X) != y).sum(axis=1)
    assert stats.binomtest(int(counts.sum()), 200 * 200, 0.2).pvalue > LEVEL
    low, high = stats.chi2.ppf([LEVEL / 2, 1 - LEVEL / 2], 199) / 199
    assert low < counts.var(ddof=1) / (200 * 0.2 * 0.8) < high


@pytest.mark.parametrize(("n_classes", "rate"), [(2, 0.3), (4, 0.45)])
def test_the_default_is_three_fifths_of_the_limit(n_classes, rate):
    X = np.random.default_rng(0).normal(size=(40, 2))
    fitted = FlippingClassifier(n_estimators=3, random_state=0).fit(X, np.arange(40) % n_classes)
    assert fitted.flip_rate_ == pytest.approx(rate)


def test_one_class_has_nothing_to_flip_to():
    X = np.random.default_rng(0).normal(size=(20, 2))
    flipping = FlippingClassifier(n_estimators=3).fit(X, np.full(20, "only"))
    assert flipping.flip_rate_ == 0
    assert flipping.flip_probabilities_.tolist() == [[1.0]]
    assert set(flipping.predict(X)) == {"only"}


# -- rates that are too large ----------------------------------------------------------------------


def unequal(share, n=200):
    X = np.random.default_rng(0).normal(size=(n, 2))
    return X, (np.arange(n) < share * n).astype(np.int64)


@pytest.mark.parametrize("rate", [0.2, 0.25])
def test_a_rate_at_the_share_of_the_smaller_class_warns(rate):
    X, y = unequal(0.2)
    with pytest.warns(UserWarning, match=rf"flip_rate={rate} is not below .* smaller class, 0\.2"):
        fitted = FlippingClassifier(n_estimators=3, flip_rate=rate).fit(X, y)
    # Half of its labels change at the very share, more beyond.
    assert fitted.flip_probabilities_[1, 0] == pytest.approx(rate / 0.4)


def test_a_rate_below_it_does_not_warn():
    X, y = unequal(0.2)
    fitted = FlippingClassifier(n_estimators=3, flip_rate=0.19).fit(X, y)
    assert fitted.flip_probabilities_[1, 1] > 0.5


def test_beyond_the_limit_the_vote_turns_against_the_smaller_class():
    X, y = unequal(0.2)
    with pytest.warns(UserWarning, match="smaller class"):
        turned = FlippingClassifier(n_estimators=301, flip_rate=0.26, random_state=0).fit(X, y)
    assert np.mean(turned.predict(X)[y == 1] == 1) < 0.1
    kept = FlippingClassifier(n_estimators=301, flip_rate=0.14, random_state=0).fit(X, y)
    assert np.mean(kept.predict(X)[y == 1] == 1) > 0.9


@settings(deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 1000), min_size=2, max_size=6), st.integers(0, 999))
def test_probabilities_at_any_rate(sizes, thousandths):
    """Beyond the limit, a row whose formula is negative is clipped; the others follow it."""
    rate = thousandths / 1000
    shares = np.array(sizes) / np.sum(sizes)
    probabilities = flip_probabilities(shares, rate)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    w = rate / (1 - shares @ shares)
    for i, (row, share) in enumerate(zip(probabilities, shares, strict=True)):
        stays = max(1 - w * (1 - share), 0)
        assert row[i] == pytest.approx(stays, abs=1e-12)
        others = np.delete(shares, i)
        np.testing.assert_allclose(
            np.delete(row, i), (1 - stays) * others / others.sum(), atol=1e-9
        )
    beyond = rate > largest_flip_rate(shares) * (1 + 1e-9)
    assert beyond == bool((w * (1 - shares) > 1 + 1e-9).any())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_rate_beyond_the_limit_warns_and_changes_all_labels_of_the_smallest_class(n_classes):
    X, y = unequal(0.1)
    y[:3] = n_classes - 1
    shares = np.bincount(y) / len(y)
    most = (1 - shares @ shares) / (1 - shares.min())
    with pytest.warns(UserWarning, match=rf"flip_rate=0\.5 is beyond {most:.4g}, where all"):
        fitted = FlippingClassifier(n_estimators=3, flip_rate=0.5).fit(X, y)
    assert fitted.flip_rate_ == 0.5
    assert fitted.flip_probabilities_[shares.argmin(), shares.argmin()] == 0
    if n_classes == 3:  # just below it some stay
        fitted = FlippingClassifier(n_estimators=2, flip_rate=most * 0.999).fit(X, y)
        assert fitted.flip_probabilities_.min() == pytest.approx(0.001, rel=1e-6)


@pytest.mark.parametrize(
    ("p_min", "p_hat", "message"),
    [
        (0.2, 4 / 5, "is not below the share of the smaller class"),  # at the limit: all change
        (0.1, 4 / 5, "is beyond 0.2, where all"),
        (0.1, 3 / 5, "is beyond 0.2, where all"),
        (0.1, 2 / 5, "is not below the share of the smaller class"),  # at the limit again
    ],
)
def test_the_published_settings_at_and_beyond_the_limit(p_min, p_hat, message):
    """Table 4.6 prints the error of always predicting the larger class for these four."""
    X, y = unequal(p_min)
    with pytest.warns(UserWarning, match=message) as caught:
        fitted = FlippingClassifier(n_estimators=51, relative_rate=p_hat, random_state=0).fit(X, y)
    assert len(caught) == 1
    assert fitted.flip_probabilities_[1].tolist() == pytest.approx([1, 0], abs=1e-12)
    assert fitted.flip_probabilities_[0, 1] == pytest.approx(p_hat / 2 / (2 * (1 - p_min)))
    assert np.mean(fitted.predict(X) == 1) < 0.02


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"relative_rate": 1.0}, r"relative_rate=1\.0 is not allowed.*below 1"),
        ({"flip_rate": 1.0}, "'flip_rate' parameter of FlippingClassifier must be"),
        ({"flip_rate": -0.1}, "'flip_rate' parameter of FlippingClassifier must be"),
        ({"relative_rate": -0.1}, "'relative_rate' parameter of FlippingClassifier must be"),
    ],
)
def test_impossible_rates_are_refused(given, message):
    X, y = unequal(0.5)
    with pytest.raises(ValueError, match=message):
        FlippingClassifier(**given).fit(X, y)
