"""Diagonal, circle and nested spheres."""

import numpy as np
import pytest
from scipy.stats import binomtest, chi2, kstest
from sklearn.tree import DecisionTreeClassifier

from orfeon.datasets import Circle, Diagonal, NestedSpheres, make_nested_spheres

PROBLEMS = [Diagonal, Circle, NestedSpheres]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_labels_are_exactly_the_regions(problem):
    X, y = problem().sample(20_000, random_state=0)
    np.testing.assert_array_equal(problem().predict(X), y)
    assert problem().bayes_error() == 0


@pytest.mark.parametrize("problem", [Diagonal, Circle])
def test_points_fill_the_unit_square_evenly(problem):
    """Counts of 16 equal cells, a chi-squared test at level 1e-4."""
    X, _ = problem().sample(16_000, random_state=1)
    counts, _, _ = np.histogram2d(X[:, 0], X[:, 1], bins=4, range=[[0, 1], [0, 1]])
    assert counts.sum() == 16_000
    assert chi2.sf(((counts - 1000) ** 2 / 1000).sum(), 15) > 1e-4


def test_above_the_diagonal_is_class_one():
    X, y = Diagonal().sample(5000, random_state=0)
    np.testing.assert_array_equal(y, X[:, 1] > X[:, 0])


def test_inside_the_circle_is_class_one_and_half_of_the_area():
    X, y = Circle().sample(5000, random_state=0)
    squared = ((X - 0.5) ** 2).sum(axis=1)
    np.testing.assert_array_equal(y, squared < 1 / (2 * np.pi))
    np.testing.assert_allclose(Circle().class_priors, [0.5, 0.5])


def test_a_circles_own_priors_are_the_areas():
    np.testing.assert_allclose(Circle(radius=0.1).class_priors, [1 - np.pi / 100, np.pi / 100])


def test_points_of_a_small_circle_are_uniform_in_it():
    """The squared distance to the centre is uniform, a Kolmogorov-Smirnov test at level 1e-4."""
    X, y = Circle(radius=1e-4, priors=(0.5, 0.5)).sample(4000, random_state=0)
    squared = ((X[y == 1] - 0.5) ** 2).sum(axis=1) / 1e-8
    assert squared.max() <= 1 + 1e-9
    assert kstest(squared, "uniform").pvalue > 1e-4


def test_the_nested_spheres_are_standard_gaussian_points():
    """The squared norms follow the chi-squared distribution, at level 1e-4; half are outside."""
    X, y = NestedSpheres().sample(10_000, random_state=0)
    squared = (X**2).sum(axis=1)
    assert kstest(squared, "chi2", args=(10,)).pvalue > 1e-4
    assert np.abs(X.mean(axis=0)).max() < 5 / 100
    np.testing.assert_array_equal(y, squared > 9.341818)


def test_priors_of_the_nested_spheres_change_the_shares_not_the_regions():
    X, y = NestedSpheres(priors=(0.9, 0.1)).sample(20_000, random_state=0)
    np.testing.assert_array_equal(y, (X**2).sum(axis=1) > 9.341818)
    inside = (X[y == 0] ** 2).sum(axis=1)
    assert kstest(2 * chi2.cdf(inside, 10), "uniform").pvalue > 1e-4


def test_one_stump_errs_on_about_46_percent_of_the_nested_spheres():
    X, y = make_nested_spheres(12_000, random_state=0)
    stump = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[:2000], y[:2000])
    assert 1 - stump.score(X[2000:], y[2000:]) == pytest.approx(0.46, abs=0.015)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_label_noise_is_the_bayes_error_and_leaves_the_points_alone(problem):
    clean_X, clean_y = problem().sample(20_000, random_state=0)
    X, y = problem(label_noise=0.1).sample(20_000, random_state=0)
    np.testing.assert_array_equal(X, clean_X)
    assert binomtest(int((y != clean_y).sum()), 20_000, 0.1).pvalue > 1e-4
    assert problem(label_noise=0.1).bayes_error() == 0.1
    np.testing.assert_array_equal(problem(label_noise=0.1).predict(X), clean_y)
    np.testing.assert_allclose(
        problem(label_noise=0.1).posterior(X), np.array([[0.9, 0.1], [0.1, 0.9]])[clean_y]
    )


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("value", [-0.1, 0.5, np.nan])
def test_bad_label_noise_is_refused(problem, value):
    with pytest.raises(
        ValueError, match=rf"label_noise must be a number in \[0, 0.5\), got {value}"
    ):
        problem(label_noise=value)


@pytest.mark.parametrize("value", [0, -0.3, 0.51])
def test_bad_radii_are_refused(value):
    with pytest.raises(ValueError, match=rf"radius must be a number in \(0, 0.5\], got {value}"):
        Circle(radius=value)


def test_the_largest_circle_touches_the_sides():
    X, y = Circle(radius=0.5, priors=(0.0, 1.0)).sample(20_000, random_state=0)
    assert y.all()
    assert X.min() == pytest.approx(0, abs=0.01)
    assert X.max() == pytest.approx(1, abs=0.01)
