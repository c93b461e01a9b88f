"""What is true of every synthetic problem."""

import numpy as np
import pytest
from scipy.stats import binomtest
from tests import shared

import orfeon.datasets
from orfeon.datasets import (
    ClassificationProblem,
    Problem,
    RegressionProblem,
    list_problems,
    problem,
)

CLASSIFICATION = [
    name for name in list_problems() if isinstance(problem(name), ClassificationProblem)
]
N_STANDARD_ERRORS = 4  # a two-sided level of 6e-5 for each comparison


def unbalanced(name: str) -> ClassificationProblem:
    n_classes = problem(name).n_classes
    return problem(name, priors=[0.8, 0.2] if n_classes == 2 else [0.7, 0.2, 0.1])


def test_the_list_has_the_twelve_problems():
    assert list_problems() == [
        "circle",
        "diagonal",
        "friedman1",
        "friedman2",
        "friedman3",
        "gaussian_clouds",
        "nested_spheres",
        "ringnorm",
        "three_clouds",
        "threenorm",
        "twonorm",
        "waveform",
    ]


def test_an_unknown_name_is_refused_with_the_known_ones_in_the_message():
    with pytest.raises(ValueError, match=r"name must be one of circle, .*waveform, got 'monks'"):
        problem("monks")


def test_an_unknown_parameter_is_refused_by_name():
    with pytest.raises(TypeError, match="'prior'"):
        problem("waveform", prior=[1, 0, 0])


def test_everything_public_exists():
    assert all(hasattr(orfeon.datasets, name) for name in orfeon.datasets.__all__)


@pytest.mark.parametrize("name", list_problems())
def test_samples_have_the_promised_shapes_and_types(name):
    source = problem(name)
    X, y = source.sample(57, random_state=0)
    assert X.shape == (57, source.n_features)
    assert X.dtype == np.float64
    assert y.shape == (57,)
    assert y.dtype == (np.float64 if isinstance(source, RegressionProblem) else np.int64)


@pytest.mark.parametrize("name", list_problems())
def test_the_function_draws_the_same_as_the_problem(name):
    from_function = getattr(orfeon.datasets, f"make_{name}")(20, random_state=5)
    from_problem = problem(name).sample(20, random_state=5)
    np.testing.assert_array_equal(from_function[0], from_problem[0])
    np.testing.assert_array_equal(from_function[1], from_problem[1])


@pytest.mark.parametrize(
    "make_state", [int, np.int64, np.random.default_rng, np.random.RandomState]
)
@pytest.mark.parametrize("name", list_problems())
def test_a_random_state_fixes_the_sample_and_another_changes_it(name, make_state):
    first, again, other = (problem(name).sample(30, random_state=make_state(s)) for s in (3, 3, 4))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.any(first[0] == other[0])


@pytest.mark.parametrize("make_state", [np.random.default_rng, np.random.RandomState])
def test_a_generator_goes_on_from_one_sample_to_the_next(make_state):
    state = make_state(0)
    first, second = (problem("twonorm").sample(10, random_state=state)[0] for _ in range(2))
    assert not np.any(first == second)


def test_without_a_random_state_samples_differ():
    first, second = (problem("twonorm").sample(10)[0] for _ in range(2))
    assert not np.any(first == second)


@pytest.mark.parametrize("name", CLASSIFICATION)
@pytest.mark.parametrize("configure", [problem, unbalanced])
def test_classes_appear_with_their_priors(name, configure):
    """An exact binomial test of each class at level 1e-4, on 20 000 samples."""
    source = configure(name)
    _, y = source.sample(20_000, random_state=11)
    counts = np.bincount(y, minlength=source.n_classes)
    assert counts.size == source.n_classes
    for count, prior in zip(counts, source.class_priors, strict=True):
        assert binomtest(int(count), 20_000, prior).pvalue > 1e-4


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_a_class_of_prior_zero_is_never_drawn_nor_the_error_positive(name):
    n_classes = problem(name).n_classes
    source = problem(name, priors=np.eye(n_classes)[1])
    X, y = source.sample(500, random_state=0)
    assert set(y.tolist()) == {1}
    np.testing.assert_array_equal(source.predict(X), 1)
    np.testing.assert_allclose(source.posterior(X), np.eye(n_classes)[np.ones(500, dtype=int)])
    assert source.bayes_error() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_posteriors_are_probabilities_and_the_rule_takes_the_largest(name):
    source = unbalanced(name)
    X, _ = source.sample(2000, random_state=0)
    posterior = source.posterior(X)
    assert posterior.shape == (2000, source.n_classes)
    assert posterior.min() >= 0
    np.testing.assert_allclose(posterior.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(source.predict(X), posterior.argmax(axis=1))


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_posteriors_are_calibrated_on_the_problems_own_samples(name):
    """The indicator of a class less its posterior has mean zero under any weight in x."""
    source = unbalanced(name)
    X, y = source.sample(shared.cases(50_000), random_state=2)
    posterior = source.posterior(X)
    residuals = np.eye(source.n_classes)[y] - posterior
    for weights in (np.ones(len(X)), X[:, 0], posterior[:, 1]):
        weighted = weights[:, None] * residuals
        standard_errors = weighted.std(axis=0) / np.sqrt(len(X))
        limits = N_STANDARD_ERRORS * standard_errors + 1e-12
        assert np.all(np.abs(weighted.mean(axis=0)) <= limits)


@pytest.mark.parametrize(
    "source",
    [*map(problem, list_problems()), *map(unbalanced, CLASSIFICATION)],
    ids=[*list_problems(), *(f"unbalanced {name}" for name in CLASSIFICATION)],
)
def test_the_measured_bayes_error_is_the_computed_one(source):
    measured = source.estimate_bayes_error(shared.cases(100_000), random_state=3)
    assert abs(measured.error - source.bayes_error()) <= N_STANDARD_ERRORS * measured.standard_error


def test_the_standard_error_is_that_of_a_proportion():
    measured = problem("threenorm").estimate_bayes_error(5000, random_state=0)
    expected = np.sqrt(measured.error * (1 - measured.error) / 5000)
    assert measured.standard_error == pytest.approx(expected, rel=1e-9)


def test_problems_are_values():
    assert problem("waveform", priors=[0.5, 0.25, 0.25]) == problem(
        "waveform", priors=np.array([0.5, 0.25, 0.25])
    )
    assert len({problem("circle"), problem("circle"), problem("circle", radius=0.3)}) == 2
    with pytest.raises(AttributeError):
        problem("circle").radius = 0.2


@pytest.mark.parametrize("name", CLASSIFICATION)
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda p: [*p, 0.0], ValueError, r"priors must have one probability for each of the"),
        (lambda p: p[0], ValueError, r"priors must have one probability for each of the"),
        (lambda p: [1.5, -0.5, 0.0][: len(p)], ValueError, r"priors must not be negative or NaN"),
        (lambda p: [np.nan] * len(p), ValueError, r"priors must not be negative or NaN"),
        (lambda p: [0.2] * len(p), ValueError, r"priors must sum to 1, got .* sums to 0\.[46]"),
        (lambda p: ["a"] * len(p), TypeError, r"priors must be a sequence of [23] prob.*'a'"),
    ],
)
def test_bad_priors_are_refused(name, change, error, message):
    with pytest.raises(error, match=message):
        problem(name, priors=change(problem(name).class_priors.tolist()))


@pytest.mark.parametrize("name", list_problems())
def test_bad_numbers_of_samples_are_refused(name):
    for value in (0, -5):
        with pytest.raises(ValueError, match=rf"n_samples must be .* at least 1, got {value}"):
            problem(name).sample(value)
    for value in (10.0, "10", True, None):
        with pytest.raises(TypeError, match=rf"n_samples must be .* at least 1, got {value!r}"):
            problem(name).sample(value)


@pytest.mark.parametrize("name", list_problems())
def test_bad_random_states_are_refused(name):
    with pytest.raises(ValueError, match="random_state must not be negative, got -1"):
        problem(name).sample(10, random_state=-1)
    for value in ("seed", 1.5, True):
        with pytest.raises(TypeError, match=rf"random_state must be None, an .* got {value!r}"):
            problem(name).sample(10, random_state=value)


@pytest.mark.parametrize("name", list_problems())
def test_bad_points_are_refused(name):
    source: Problem = problem(name)
    width = source.n_features
    with pytest.raises(ValueError, match=f"X must have {width} columns, got {width + 1}"):
        source.predict(np.zeros((3, width + 1)))
    with pytest.raises(ValueError, match="X contains NaN"):
        source.predict(np.full((3, width), np.nan))
    with pytest.raises(ValueError, match=r"X must not exceed 1e\+12 in absolute value, got 2e\+12"):
        source.predict(np.full((3, width), -2e12))
    with pytest.raises(ValueError, match="Expected 2D array"):
        source.predict(np.zeros(width))


@pytest.mark.parametrize("name", CLASSIFICATION)
@pytest.mark.parametrize("scale", [1.0, 1e3, 1e12])
def test_the_farthest_points_still_have_posteriors(name, scale):
    source = problem(name)
    X = scale * np.concatenate([np.eye(source.n_features), -np.eye(source.n_features)])
    np.testing.assert_allclose(source.posterior(X).sum(axis=1), 1)


def test_the_farthest_points_are_rightly_classified():
    X = np.outer([1e12, -1e12], np.ones(20))
    np.testing.assert_array_equal(problem("twonorm").posterior(X), [[1, 0], [0, 1]])
    np.testing.assert_array_equal(problem("ringnorm").predict(X), [0, 0])
    np.testing.assert_array_equal(problem("threenorm").predict(X), [0, 0])


@pytest.mark.parametrize("name", ["twonorm", "ringnorm", "nested_spheres"])
@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (2.0, TypeError)])
def test_bad_numbers_of_features_are_refused(name, value, error):
    with pytest.raises(error, match=f"n_features must be an integer of at least 1, got {value}"):
        problem(name, n_features=value)
