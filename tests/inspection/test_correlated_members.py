"""The variance of a mean of correlated members, by the formula and as measured."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.ensemble

from orfeon import (
    AdaBoostClassifier,
    CARTClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from orfeon.datasets import Friedman1, ThreeNorm, TwoNorm, make_waveform
from orfeon.inspection.correlated_members import (
    correlated_mean_variance,
    member_correlation,
    member_correlation_curve,
)
from orfeon.inspection.retraining import Seeds, read_training_samples, repeat_trainings
from orfeon.members import adapt

SMALL = {"n_train": 60, "n_test": 30, "n_repetitions": 8, "random_state": 0}


def draw_members(rho, n_trainings=400, n_members=10, n_points=20, seed=0):
    """Numbers of variance 1, any two of one training having the correlation rho."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n_trainings, 1, n_points))
    own = rng.normal(size=(n_trainings, n_members, n_points))
    return np.sqrt(rho) * shared + np.sqrt(1 - rho) * own


# -- the formula -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("rho", "n_members", "expected"), [
    (0.0, 5, 0.2), (1.0, 5, 1.0), (0.5, 1, 1.0), (0.25, 3, 0.5), (-0.25, 5, 0.0),
])  # fmt: skip
def test_the_formula_by_hand(rho, n_members, expected):
    found = correlated_mean_variance(rho, 1.0, n_members)
    assert isinstance(found, float)
    assert found == pytest.approx(expected, abs=1e-15)
    assert correlated_mean_variance(rho, 7.0, n_members) == pytest.approx(7 * expected, abs=1e-14)


def test_the_formula_is_the_mean_of_the_covariance_matrix():
    for n_members in (1, 2, 6):
        covariance = 3.0 * (0.3 + 0.7 * np.eye(n_members))
        assert correlated_mean_variance(0.3, 3.0, n_members) == pytest.approx(covariance.mean())


def test_arrays_are_broadcast_and_the_floor_is_rho():
    found = correlated_mean_variance([[0.1], [0.5]], 2.0, [1, 10, 10**9])
    assert found.shape == (2, 3)
    np.testing.assert_allclose(found[:, 0], 2.0)
    np.testing.assert_allclose(found[:, 2], [0.2, 1.0], rtol=1e-7)


@pytest.mark.parametrize(("arguments", "words"), [
    ((1.1, 1.0, 3), "correlation=1.1 is not allowed"),
    ((-0.6, 1.0, 3), r"from -1 / \(L - 1\) to 1"),
    ((0.5, -1.0, 3), "variance=-1.0 is not allowed"),
    ((0.5, 1.0, 0), "n_members=0 is not allowed"),
    ((0.5, 1.0, 2.5), "n_members=2.5 is not allowed"),
])  # fmt: skip
def test_what_no_members_can_have_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        correlated_mean_variance(*arguments)


# -- measured --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.0, 0.2, 0.7])
def test_a_known_correlation_is_found_within_its_standard_error(rho):
    found = member_correlation(draw_members(rho))
    assert found.pooled_correlation == pytest.approx(rho, abs=4 * found.standard_error)
    assert 0 < found.standard_error < 0.02
    assert found.mean_variance == pytest.approx(1.0, abs=0.1)
    assert np.median(found.correlation) == pytest.approx(rho, abs=0.03)


def test_the_standard_error_is_the_spread_over_repetitions():
    found = [member_correlation(draw_members(0.3, 50, 6, 5, seed)) for seed in range(150)]
    spread = np.std([one.pooled_correlation for one in found])
    answers = np.mean([one.standard_error for one in found])
    assert answers == pytest.approx(spread, rel=0.25)


def test_the_formula_gives_the_measured_variance_of_the_mean_at_every_point():
    found = member_correlation(draw_members(0.4, n_trainings=9, n_members=4))
    by_formula = correlated_mean_variance(found.correlation, found.variance, 4)
    np.testing.assert_allclose(by_formula, found.ensemble_variance, rtol=1e-12)
    means = draw_members(0.4, n_trainings=9, n_members=4).mean(axis=1)
    np.testing.assert_allclose(found.ensemble_variance, means.var(axis=0, ddof=1), rtol=1e-12)
    pooled = correlated_mean_variance(found.pooled_correlation, found.mean_variance, 4)
    assert pooled == pytest.approx(found.ensemble_variance.mean(), rel=1e-12)


def test_votes_are_vectors_with_a_one_for_their_class():
    codes = np.random.default_rng(0).integers(0, 3, (6, 5, 4))
    found = member_correlation(codes, n_classes=3)
    vectors = [member_correlation(codes == code) for code in range(3)]
    np.testing.assert_allclose(found.variance, sum(one.variance for one in vectors), rtol=1e-12)
    np.testing.assert_allclose(
        found.ensemble_variance, sum(one.ensemble_variance for one in vectors), rtol=1e-12
    )


def test_members_that_all_agree_always_have_no_correlation_and_no_variance():
    found = member_correlation(np.zeros((3, 2, 4)))
    assert np.isnan(found.correlation).all()
    assert np.isnan(found.pooled_correlation)
    assert found.mean_variance == 0
    assert np.isnan(member_correlation(np.zeros((2, 2, 1))).standard_error)


def test_other_shapes_and_other_codes_are_refused():
    for shape in ((4, 3), (1, 3, 2), (3, 1, 2), (3, 2, 0)):
        with pytest.raises(ValueError, match="answers has shape"):
            member_correlation(np.zeros(shape))
    with pytest.raises(ValueError, match="class codes from 0 to 1"):
        member_correlation(np.full((2, 2, 2), 2), n_classes=2)


# -- forests ---------------------------------------------------------------------------------------


def test_fewer_features_make_trees_less_alike_and_more_variable():
    """As in figure 15.9 of Hastie et al.: correlation rises with the features at each node."""
    curve = member_correlation_curve(
        RandomForestRegressor(20), Friedman1(), values=(1, 3, 10), n_train=150, n_test=100,
        n_repetitions=40, random_state=0,
    )  # fmt: skip
    steps, errors = np.diff(curve.correlations), curve.standard_errors
    assert (steps > 2 * np.hypot(errors[1:], errors[:-1])).all()
    assert curve.correlations[0] < 0.04 < 0.08 < curve.correlations[2]
    assert (np.diff(curve.variances) < 0).all()
    by_formula = correlated_mean_variance(curve.correlations, curve.variances, 20)
    np.testing.assert_allclose(by_formula, curve.ensemble_variances, rtol=1e-10)


def test_the_formula_tells_the_variance_of_larger_forests():
    seeds = Seeds.of(0)
    samples = read_training_samples(Friedman1(), None, None, 100, 100, seeds)
    X, _ = samples.test_set()

    def answers(n_members):
        forest = RandomForestRegressor(n_members, max_features=3)
        return np.array(
            repeat_trainings(forest, samples, 60, lambda one: adapt(one).answers(X), seeds)
        )

    few = member_correlation(answers(10))
    large = answers(80).mean(axis=1).var(axis=0, ddof=1).mean()
    told = correlated_mean_variance(few.pooled_correlation, few.mean_variance, 80)
    assert told == pytest.approx(large, rel=0.1)
    assert few.ensemble_variance.mean() > 1.8 * large


def test_the_curve_is_made_of_the_answers_of_the_members():
    curve = member_correlation_curve(RandomForestClassifier(6), TwoNorm(), values=(2,), **SMALL)
    seeds = Seeds.of(0)
    samples = read_training_samples(TwoNorm(), None, None, 60, 30, seeds)
    X, _ = samples.test_set()
    answers = repeat_trainings(
        RandomForestClassifier(6, max_features=2), samples, 8,
        lambda forest: adapt(forest).answers(X), seeds,
    )  # fmt: skip
    by_hand = member_correlation(np.array(answers), n_classes=2)
    np.testing.assert_array_equal(curve.found[0].correlation, by_hand.correlation)
    assert curve.values == (2,)


def test_n_jobs_changes_nothing_and_scikit_learns_forests_are_welcome():
    forest = sklearn.ensemble.RandomForestRegressor(5)
    one, two = (
        member_correlation_curve(forest, Friedman1(), values=(1, 5), **SMALL, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    assert one.correlations.tolist() == two.correlations.tolist()


def test_another_parameter_and_a_data_set_that_lacks_a_class_at_times():
    X, y = make_waveform(120, random_state=0)
    y = np.where(y == 2, np.where(np.arange(120) < 20, 2, 0), y)
    curve = member_correlation_curve(
        RandomForestClassifier(5), X, np.array(["a", "b", "c"])[y], values=(1, 8),
        parameter="min_samples_leaf", n_train=8, n_repetitions=10, random_state=0,
    )  # fmt: skip
    assert curve.parameter == "min_samples_leaf"
    assert curve.found[0].between.shape == (10, 40, 3)
    np.testing.assert_allclose(curve.found[0].between.sum(axis=2), 1.0)


@pytest.mark.parametrize(("ensemble", "options", "words"), [
    (RandomForestRegressor(5), {"values": ()}, "values is empty"),
    (RandomForestRegressor(5), {"values": (1,), "parameter": "depth"}, "parameter='depth'"),
    (RandomForestRegressor(1), {"values": (1,)}, "has 1 member"),
    (RandomForestRegressor(5), {"values": (1,), "n_repetitions": 1}, "n_repetitions=1 is not"),
])  # fmt: skip
def test_what_has_no_correlation_is_refused(ensemble, options, words):
    with pytest.raises(ValueError, match=words):
        member_correlation_curve(ensemble, Friedman1(), **{**SMALL, **options})


@pytest.mark.filterwarnings("ignore:.* requested, because:UserWarning")
def test_ensembles_of_different_sizes_are_refused():
    """Some runs of boosting end early, at a member without error."""
    booster = AdaBoostClassifier(CARTClassifier(max_depth=3), n_estimators=100)
    with pytest.raises(ValueError, match=r"from \d+ to 100 members; all must have the same"):
        member_correlation_curve(
            booster, ThreeNorm(), parameter="tol", values=(0.0,), n_train=65, n_test=10,
            n_repetitions=12, random_state=4,
        )  # fmt: skip
