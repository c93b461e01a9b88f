"""Bias and variance: what each definition says, that its parts add up, and how sure they are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import shared

from orfeon.inspection.bias_variance import intervals as bootstrap
from orfeon.inspection.bias_variance.definitions import bias_variance_decomposition
from orfeon.inspection.bias_variance.domingos import domingos_decomposition
from orfeon.inspection.bias_variance.friedman import friedman_decomposition
from orfeon.inspection.bias_variance.intervals import (
    bias_variance_difference,
    bias_variance_intervals,
)
from orfeon.inspection.bias_variance.squared_error import squared_error_decomposition
from orfeon.inspection.bias_variance.zero_one import (
    breiman_decomposition,
    kohavi_wolpert_decomposition,
    kong_dietterich_decomposition,
    webb_decomposition,
)
from orfeon.utils.seeding import Purpose, branch

ZERO_ONE = ("kohavi_wolpert", "kong_dietterich", "breiman", "webb", "domingos")
BY_MODE = ("kong_dietterich", "breiman", "domingos")


@st.composite
def trainings(draw, max_classes=4):
    """Predictions of 1 to 7 trainings at 1 to 6 points, and probabilities of the classes."""
    n_classes = draw(st.integers(2, max_classes))
    n_trainings, n_points = draw(st.integers(1, 7)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    answers = rng.integers(0, n_classes, (n_trainings, n_points))
    tickets = rng.multinomial(draw(st.integers(1, 9)), np.full(n_classes, 1 / n_classes), n_points)
    return answers, tickets / tickets.sum(axis=1, keepdims=True)


def parts_of(found):
    return np.array([found.point_bias, found.point_variance, found.point_noise])


# -- what is true of all definitions ---------------------------------------------------------------


@pytest.mark.parametrize("definition", ZERO_ONE)
@given(case=trainings())
@settings(deadline=None, max_examples=shared.cases(60))
def test_parts_add_up_to_the_error_at_every_point(definition, case):
    answers, posterior = case
    found = bias_variance_decomposition(answers, definition=definition, posterior=posterior)
    by_hand = [1 - np.mean(posterior[i, answers[:, i]]) for i in range(answers.shape[1])]
    np.testing.assert_allclose(found.point_error, by_hand, rtol=0, atol=1e-14)
    np.testing.assert_allclose(parts_of(found).sum(axis=0), by_hand, rtol=0, atol=1e-14)
    total = found.bias + found.variance + found.noise
    assert total == pytest.approx(np.mean(by_hand), rel=0, abs=1e-14)


@pytest.mark.parametrize("definition", ZERO_ONE)
@given(case=trainings(), seed=st.integers(0, 100))
@settings(deadline=None, max_examples=shared.cases(40))
def test_without_known_probabilities_the_error_is_the_share_of_wrong_labels(definition, case, seed):
    answers, posterior = case
    y = np.random.default_rng(seed).integers(0, posterior.shape[1], answers.shape[1])
    found = bias_variance_decomposition(answers, y, definition=definition)
    assert found.noise == 0
    assert found.error == pytest.approx(np.mean(answers != y), rel=0, abs=1e-14)
    assert found.bias + found.variance == pytest.approx(found.error, rel=0, abs=1e-14)


@pytest.mark.parametrize(
    ("definition", "unbiased"), [*((name, False) for name in ZERO_ONE), ("kohavi_wolpert", True)]
)
def test_all_training_sets_of_a_small_world(definition, unbiased):
    """64 equally likely training sets at each of two points: the parts are those of the world.

    At each point labels are tickets of an urn; the learner draws three and says what most are, the
    lowest if there is no majority. The error is counted over all training sets and all new labels.
    """
    urns = [(0, 0, 1, 2), (1, 1, 2, 0)]

    def learnt(labels):
        counts = np.bincount(labels, minlength=3)
        return int(np.argmax(counts))

    answers = np.array([[learnt(labels) for labels in product(urn, repeat=3)] for urn in urns]).T
    posterior = np.array([np.bincount(urn, minlength=3) / 4 for urn in urns])
    wrong = [
        label != prediction for i in (0, 1) for label in urns[i] for prediction in answers[:, i]
    ]
    found = bias_variance_decomposition(
        answers, definition=definition, posterior=posterior, unbiased=unbiased
    )
    assert found.error == pytest.approx(np.mean(wrong), rel=0, abs=1e-14)
    assert parts_of(found).mean(axis=1).sum() == pytest.approx(np.mean(wrong), rel=0, abs=1e-14)


@pytest.mark.parametrize("definition", BY_MODE)
def test_the_bayes_rule_has_noise_alone(definition):
    posterior = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.4, 0.4, 0.2]])
    answers = np.tile(posterior.argmax(axis=1), (5, 1))
    found = bias_variance_decomposition(answers, definition=definition, posterior=posterior)
    assert found.bias == 0
    assert found.variance == pytest.approx(0, abs=1e-15)
    assert found.noise == pytest.approx((0.5 + 0.2 + 0.6) / 3, abs=1e-15)


@pytest.mark.parametrize("definition", BY_MODE)
def test_of_equally_probable_classes_any_may_be_predicted(definition):
    found = bias_variance_decomposition(
        [[1], [1], [1]], definition=definition, posterior=[[0.4, 0.4, 0.2]]
    )
    assert (found.bias, found.variance) == (0, 0)


def test_a_tie_between_predictions_goes_to_the_first_class():
    for definition in ZERO_ONE:
        found = bias_variance_decomposition([["b"], ["a"]], ["b"], definition=definition)
        assert found.central.tolist() == ["a"]
    assert kong_dietterich_decomposition([["b"], ["a"]], ["b"]).bias == 1


# -- Kohavi and Wolpert ----------------------------------------------------------------------------


def test_kohavi_wolpert_by_hand():
    answers = np.array([[0, 1, 2, 0, 0]]).T  # shares 3/5, 1/5, 1/5
    found = kohavi_wolpert_decomposition(answers, posterior=[[0.5, 0.5, 0.0]])
    assert found.bias == pytest.approx((0.01 + 0.09 + 0.04) / 2)
    assert found.variance == pytest.approx((1 - 0.36 - 0.04 - 0.04) / 2)
    assert found.noise == pytest.approx(0.25)
    assert found.error == pytest.approx(0.6)


@given(case=trainings())
@settings(deadline=None, max_examples=shared.cases(40))
def test_kohavi_wolpert_parts_are_never_negative_and_noise_is_at_most_that_of_bayes(case):
    answers, posterior = case
    found = kohavi_wolpert_decomposition(answers, posterior=posterior)
    assert (parts_of(found) >= -1e-15).all()
    bayes = 1 - posterior.max(axis=1)
    assert (found.point_noise <= bayes + 1e-15).all()
    assert (found.point_noise >= bayes / 2 - 1e-15).all()


def test_the_corrected_estimates_are_unbiased_over_all_samples_of_trainings():
    """Predictions drawn from urns: the mean over all samples of 3 is the truth of the urns."""
    urn, posterior = np.array([0, 0, 0, 1, 2]), [[0.6, 0.3, 0.1]]
    y_true = kohavi_wolpert_decomposition(urn[:, None], posterior=posterior)
    estimates = {True: [], False: []}
    for drawn in product(urn, repeat=3):
        for unbiased, kept in estimates.items():
            found = kohavi_wolpert_decomposition(
                np.array(drawn)[:, None], posterior=posterior, unbiased=unbiased
            )
            kept.append([found.bias, found.variance, found.error])
    means = {unbiased: np.mean(kept, axis=0) for unbiased, kept in estimates.items()}
    expected = [y_true.bias, y_true.variance, y_true.error]
    np.testing.assert_allclose(means[True], expected, atol=1e-14)
    excess = y_true.variance / 3
    np.testing.assert_allclose(means[False][0], y_true.bias + excess, atol=1e-14)
    np.testing.assert_allclose(means[False][1], y_true.variance - excess, atol=1e-14)


# -- Kong and Dietterich, Breiman, Domingos --------------------------------------------------------


def test_variance_of_a_learner_that_is_mostly_wrong_is_negative_but_for_breiman():
    answers = np.array([[1, 1, 1, 0]]).T
    assert kong_dietterich_decomposition(answers, [0]).variance == -0.25
    assert domingos_decomposition(answers, [0]).variance == -0.25
    found = breiman_decomposition(answers, [0])
    assert (found.bias, found.variance) == (0.75, 0)
    assert found.is_biased.tolist() == [True]


@given(case=trainings(), seed=st.integers(0, 100))
@settings(deadline=None, max_examples=shared.cases(40))
def test_without_noise_kong_dietterich_and_domingos_agree(case, seed):
    answers, posterior = case
    y = np.random.default_rng(seed).integers(0, posterior.shape[1], answers.shape[1])
    one, other = kong_dietterich_decomposition(answers, y), domingos_decomposition(answers, y)
    assert set(one.point_bias) <= {0.0, 1.0}
    np.testing.assert_allclose(parts_of(one), parts_of(other), atol=1e-14)


@given(case=trainings())
@settings(deadline=None, max_examples=shared.cases(40))
def test_breiman_gives_all_excess_error_to_bias_or_variance(case):
    answers, posterior = case
    found = breiman_decomposition(answers, posterior=posterior)
    excess = found.point_error - (1 - posterior.max(axis=1))
    bias = np.where(found.is_biased, excess, 0.0)
    np.testing.assert_allclose(found.point_bias, bias, atol=1e-14)
    np.testing.assert_allclose(found.point_variance, excess - bias, atol=1e-14)
    assert (excess >= -1e-14).all()


@given(case=trainings())
@settings(deadline=None, max_examples=shared.cases(40))
def test_webb_counts_wrong_predictions(case):
    """As printed: over predictions and labels, wrong ones of the most frequent class and others."""
    answers, posterior = case
    found = webb_decomposition(answers, posterior=posterior)
    for i, column in enumerate(answers.T):
        central = np.bincount(column).argmax()
        bias = variance = 0.0
        for prediction, (label, p) in product(column, enumerate(posterior[i])):
            wrong = p * (prediction != label) / len(column)
            bias += wrong * (prediction == central)
            variance += wrong * (prediction != central)
        assert found.point_bias[i] == pytest.approx(bias, abs=1e-14)
        assert found.point_variance[i] == pytest.approx(variance, abs=1e-14)
    assert found.noise == 0


@given(case=trainings(max_classes=2), seed=st.integers(0, 100))
@settings(deadline=None, max_examples=shared.cases(40))
def test_webb_is_breiman_with_two_classes_and_no_noise_only(case, seed):
    answers, _ = case
    y = np.random.default_rng(seed).integers(0, 2, answers.shape[1])
    one, other = webb_decomposition(answers, y), breiman_decomposition(answers, y)
    np.testing.assert_allclose(parts_of(one), parts_of(other), atol=1e-14)
    three = [[1], [1], [2]]  # both wrong
    assert webb_decomposition(three, [0]).bias == pytest.approx(2 / 3)
    assert breiman_decomposition(three, [0]).bias == 1
    noisy = {"predictions": [[0], [0], [1]], "posterior": [[0.8, 0.2]]}
    assert webb_decomposition(**noisy).bias == pytest.approx(2 / 3 * 0.2)
    assert breiman_decomposition(**noisy).bias == 0


@given(case=trainings(max_classes=2))
@settings(deadline=None, max_examples=shared.cases(60))
def test_domingos_factors_of_two_classes(case):
    answers, posterior = case
    found = domingos_decomposition(answers, posterior=posterior)
    biased = breiman_decomposition(answers, posterior=posterior).is_biased
    best = np.where(biased, 1 - found.central, found.central)
    right = (answers == best).mean(axis=0)
    np.testing.assert_allclose(found.noise_factor, 2 * right - 1, atol=1e-14)
    np.testing.assert_allclose(found.variance_factor, 1 - 2.0 * biased, atol=1e-14)
    net = found.unbiased_variance - found.biased_variance
    assert found.net_variance == pytest.approx(net, abs=1e-14)
    assert found.gross_noise == pytest.approx(np.minimum(*posterior.T).mean(), abs=1e-14)


def test_domingos_factors_of_three_classes_by_hand():
    answers = np.array([[1, 1, 1, 0, 2, 2]]).T  # shares 1/6, 1/2, 1/3
    found = domingos_decomposition(answers, posterior=[[0.5, 0.3, 0.2]])
    assert found.bias == 1
    assert found.gross_variance == pytest.approx(1 / 2)
    assert found.variance_factor[0] == pytest.approx(-(1 / 6) / (1 / 2))
    luck = (1 / 2 * 0.3 + 1 / 3 * 0.2) / 0.5
    assert found.noise_factor[0] == pytest.approx(1 / 6 - luck)
    assert found.error == pytest.approx(1 - 0.5 / 6 - 0.3 / 2 - 0.2 / 3)
    assert found.biased_variance == pytest.approx(0.5)


# -- Friedman --------------------------------------------------------------------------------------


def test_friedman_error_is_noise_plus_what_is_at_stake():
    rng = np.random.default_rng(0)
    estimates, second = rng.random((40, 30)), rng.random(30)
    posterior = np.column_stack([1 - second, second])
    found = friedman_decomposition(estimates, posterior=posterior)
    decided = estimates > 0.5
    wrong = np.where(decided, 1 - second, second).mean(axis=0)
    np.testing.assert_allclose(found.point_error, wrong, atol=1e-14)
    np.testing.assert_allclose(
        found.point_noise + found.stakes * found.boundary_error, wrong, atol=1e-14
    )
    assert found.error == pytest.approx(found.noise + found.reducible_error, abs=1e-14)
    by_votes = breiman_decomposition(decided.astype(int), posterior=posterior)
    assert found.error == pytest.approx(by_votes.error, abs=1e-14)
    both = friedman_decomposition(np.stack([1 - estimates, estimates], axis=2), posterior=posterior)
    assert both.reducible_error == pytest.approx(found.reducible_error, abs=1e-14)
    assert found.squared_bias == pytest.approx(np.mean((estimates.mean(axis=0) - second) ** 2))
    assert found.variance == pytest.approx(estimates.var(axis=0).mean())


def test_friedman_normal_approximation_holds_for_normal_estimates():
    rng = np.random.default_rng(1)
    second = np.array([0.7, 0.7, 0.2])
    estimates = np.clip(rng.normal([0.6, 0.45, 0.4], 0.08, (20_000, 3)), 0, 1)
    found = friedman_decomposition(estimates, posterior=np.column_stack([1 - second, second]))
    np.testing.assert_allclose(found.boundary_bias, [-0.1, 0.05, -0.1], atol=0.002)
    np.testing.assert_allclose(found.normal_boundary_error, found.boundary_error, atol=0.01)
    np.testing.assert_allclose(found.boundary_error, [0.1056, 0.7340, 0.1056], atol=0.01)


def test_a_biased_estimate_on_the_right_side_does_no_harm():
    found = friedman_decomposition([[0.51], [0.51]], posterior=[[0.05, 0.95]])
    assert found.squared_bias == pytest.approx(0.44**2)
    assert found.reducible_error == 0
    assert found.normal_boundary_error.tolist() == [0]


def test_an_estimate_of_one_half_decides_for_the_first_class():
    found = friedman_decomposition([[0.5]], ["a"], classes=["a", "b"])
    assert found.error == 0
    assert friedman_decomposition([[0.5]], ["b"], classes=["a", "b"]).error == 1


def test_friedman_refuses_other_than_two_classes_and_what_is_no_probability():
    with pytest.raises(ValueError, match=r"classes=\['a', 'b', 'c'\] is not allowed.*two classes"):
        friedman_decomposition([[0.2, 0.3, 0.4]], ["a", "b", "c"])
    with pytest.raises(ValueError, match=r"estimates has 1\.5; they are probabilities"):
        friedman_decomposition([[0.2, 1.5]], [0, 1])
    with pytest.raises(ValueError, match=r"estimates has shape \(1, 2, 3\)"):
        friedman_decomposition(np.ones((1, 2, 3)) / 3, [0, 1])


# -- squared error ---------------------------------------------------------------------------------


def test_squared_error_by_hand_with_known_noise():
    found = squared_error_decomposition([[1.0, 0.0], [3.0, 0.0]], [5.0, 1.0], noise=[0.5, 0.25])
    assert found.point_bias.tolist() == [9, 1]
    assert found.point_variance.tolist() == [1, 0]
    assert found.point_noise.tolist() == [0.5, 0.25]
    assert found.error == (10.5 + 1.25) / 2


@given(seed=st.integers(0, 1000), offset=st.sampled_from([0.0, 1e6]))
@settings(deadline=None, max_examples=shared.cases(40))
def test_squared_error_parts_add_up_to_the_mean_squared_error(seed, offset):
    rng = np.random.default_rng(seed)
    answers, y = offset + rng.normal(size=(6, 9)), offset + rng.normal(size=9)
    for unbiased in (False, True):
        found = squared_error_decomposition(answers, y, unbiased=unbiased)
        measured = np.mean((answers - y) ** 2)
        assert found.error == pytest.approx(measured, rel=1e-12)
        assert found.bias + found.variance == pytest.approx(measured, rel=1e-8)


def test_corrected_squared_bias_and_variance_are_unbiased():
    urn = np.array([0.0, 1.0, 5.0])
    y_true = squared_error_decomposition(urn[:, None], [1.0])
    kept = [
        squared_error_decomposition(np.array(drawn)[:, None], [1.0], unbiased=True)
        for drawn in product(urn, repeat=2)
    ]
    assert np.mean([one.bias for one in kept]) == pytest.approx(y_true.bias, abs=1e-14)
    assert np.mean([one.variance for one in kept]) == pytest.approx(y_true.variance, abs=1e-14)


def test_squared_error_refuses_what_is_no_variance_and_what_has_another_length():
    with pytest.raises(ValueError, match=r"noise=-1\.0 is not allowed"):
        squared_error_decomposition([[1.0]], [1.0], noise=-1.0)
    with pytest.raises(ValueError, match=r"noise=\[1, 2\] is not allowed"):
        squared_error_decomposition([[1.0]], [1.0], noise=[1, 2])
    with pytest.raises(ValueError, match=r"predictions has 1 columns and y has 2 rows"):
        squared_error_decomposition([[1.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"y is missing"):
        bias_variance_decomposition([[1.0]], definition="squared_error")
    with pytest.raises(ValueError, match=r"unbiased=True needs two trainings"):
        squared_error_decomposition([[1.0]], [1.0], unbiased=True)


# -- weights, labels, what is refused --------------------------------------------------------------


@pytest.mark.parametrize("definition", [*ZERO_ONE, "squared_error"])
def test_weight_zero_is_absent_and_weight_two_is_twice_to_the_last_bit(definition):
    rng = np.random.default_rng(3)
    answers, y = rng.integers(0, 3, (7, 50)), rng.integers(0, 3, 50)
    weights = rng.integers(0, 3, 50)
    weighted = bias_variance_decomposition(answers, y, definition=definition, sample_weight=weights)
    rows = rng.permutation(np.repeat(np.arange(50), weights))
    copied = bias_variance_decomposition(answers[:, rows], y[rows], definition=definition)
    for part in ("error", "bias", "variance", "noise"):
        assert getattr(weighted, part) == getattr(copied, part)
    assert len(weighted.point_error) == np.count_nonzero(weights)


def test_labels_may_be_words_and_columns_in_any_order():
    answers = [["no", "yes"], ["yes", "yes"]]
    one = kohavi_wolpert_decomposition(answers, posterior=[[0.7, 0.3], [0.1, 0.9]])
    other = kohavi_wolpert_decomposition(
        answers, posterior=[[0.3, 0.7], [0.9, 0.1]], classes=["yes", "no"]
    )
    assert one.error == other.error == pytest.approx((0.5 + 0.1) / 2)
    assert other.central.tolist() == ["yes", "yes"]  # tied at the first point
    assert one.central.tolist() == ["no", "yes"]


def test_a_class_that_nobody_predicts_has_its_column():
    found = kohavi_wolpert_decomposition([[0, 0]], posterior=[[0.5, 0.2, 0.3], [0.0, 0.0, 1.0]])
    assert found.error == pytest.approx((0.5 + 1) / 2)


@pytest.mark.parametrize(("arguments", "words"), [
    ({}, "neither is given"),
    ({"y": [0, 1], "posterior": [[1, 0], [0, 1]]}, "both are given"),
    ({"y": [0]}, "predictions has 2 columns and y has 1 rows"),
    ({"posterior": [[1.0, 0.0]]}, "predictions has 2 columns and posterior has 1 rows"),
    ({"posterior": [[0.5, 0.5], [0.7, 0.7]]}, r"posterior has \[0.7, 0.7\] in row 1"),
    ({"posterior": [[1.5, -0.5], [0.5, 0.5]]}, r"posterior has \[1.5, -0.5\] in row 0"),
    ({"posterior": [[1.0], [1.0]]}, r"posterior has shape \(2, 1\)"),
    ({"posterior": [[1, 0], [0, 1]], "classes": [1, 2]}, "predictions has 0, which is not among"),
    ({"posterior": [[1, 0], [0, 1]], "classes": [0, 1, 2]}, "classes has 3 labels"),
    ({"y": [0, 1], "classes": [0, 0]}, "has a label more than once"),
    ({"y": [0, 1], "sample_weight": [0, 0]}, "sample_weight is zero for every sample"),
    ({"y": [0, 1], "definition": "james"}, "definition='james' is not allowed"),
    ({"y": [0, 1], "definition": "breiman", "unbiased": True}, "unbiased=True is not allowed"),
    ({"y": [0, 1], "noise": 0.1}, "noise=0.1 is for definition='squared_error'"),
    ({"y": [0, 1], "definition": "squared_error", "classes": [0, 1]}, "classes is for classes"),
])  # fmt: skip
def test_what_cannot_be_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        bias_variance_decomposition([[0, 1], [1, 1]], **arguments)


def test_predictions_of_other_shapes_and_labels_without_a_column_are_refused():
    with pytest.raises(ValueError, match=r"predictions has shape \(2,\)"):
        bias_variance_decomposition([0, 1], [0, 1])
    with pytest.raises(ValueError, match=r"give the label of each column with classes="):
        bias_variance_decomposition([["a", "a"]], posterior=[[1, 0], [0, 1]])
    with pytest.raises(ValueError, match="NaN"):
        bias_variance_decomposition([[0.0, np.nan]], [0, 1])


# -- intervals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("definition", ["kong_dietterich", "breiman", "domingos"])
def test_classes_with_as_many_votes_in_a_bootstrap_sample_are_tied(definition):
    """One vote in six of a coin is tied, and goes to the first class, which is the right one."""
    answers = np.random.default_rng(8).integers(0, 2, (20, 300))
    found = bias_variance_intervals(
        answers, np.zeros(300, int), definition=definition, over="trainings", n_resamples=200,
        random_state=4,
    )  # fmt: skip
    # The same samples, counted in whole numbers.
    rng = np.random.default_rng(branch(np.random.SeedSequence(4), Purpose.REPEATING, 0))
    times = rng.multinomial(20, np.full(20, 1 / 20), 200)
    wrong = times @ answers
    assert np.mean(wrong == 10) > 0.12
    is_biased = wrong > 10
    bias = wrong / 20 if definition == "breiman" else 1.0
    biases = np.where(is_biased, bias, 0.0).mean(axis=1)
    assert found.standard_errors["bias"] == pytest.approx(biases.std(ddof=1), rel=1e-9)


@pytest.mark.parametrize("over", ["trainings", pytest.param("both", marks=pytest.mark.thorough)])
def test_intervals_cover_the_truth_as_often_as_they_say(over):
    """300 draws of 40 trainings at 60 points, whose chances to be wrong are known."""
    rng = np.random.default_rng(5)
    n_points, covered = 60, {"bias": 0, "variance": 0, "error": 0}
    fixed = rng.beta(1, 3, n_points)
    for seed in range(300):
        # Over both the truth is that of the distribution which the points come from.
        wrong = fixed if over == "trainings" else rng.beta(1, 3, n_points)
        answers = rng.random((40, n_points)) < wrong
        found = bias_variance_intervals(
            answers, np.zeros(n_points, bool), unbiased=True, over=over, n_resamples=100,
            random_state=seed,
        )  # fmt: skip
        # Moments of the beta distribution: means 1/4 of the chance and 1/10 of its square.
        squares, chance = (np.mean(fixed**2), fixed.mean()) if over == "trainings" else (0.1, 0.25)
        y_true = {"bias": squares, "variance": chance - squares, "error": chance}
        for part in covered:
            low, high = found.interval(part)
            covered[part] += low <= y_true[part] <= high
    for times in covered.values():
        assert 0.91 <= times / 300 <= 0.995


def test_intervals_over_points_too_are_wider():
    rng = np.random.default_rng(6)
    answers = rng.random((50, 80)) < rng.beta(1, 3, 80)
    errors = {
        over: bias_variance_intervals(
            answers, np.zeros(80, bool), over=over, random_state=0
        ).standard_errors["error"]
        for over in ("trainings", "both")
    }
    assert errors["both"] > 2 * errors["trainings"] > 0


@pytest.mark.parametrize("definition", [*ZERO_ONE, "squared_error"])
def test_estimates_are_those_of_the_decomposition(definition):
    rng = np.random.default_rng(7)
    answers, y = rng.integers(0, 3, (20, 30)), rng.integers(0, 3, 30)
    found = bias_variance_intervals(answers, y, definition=definition, random_state=0)
    plain = bias_variance_decomposition(answers, y, definition=definition)
    assert found.estimates == {
        part: getattr(plain, part) for part in ("error", "bias", "variance", "noise")
    }
    assert found.standard_errors["noise"] == 0
    low, high = found.interval("bias")
    assert low < plain.bias < high


def test_the_same_seed_gives_the_same_intervals_whatever_the_blocks(monkeypatch):
    rng = np.random.default_rng(8)
    answers, y = rng.integers(0, 2, (20, 30)), rng.integers(0, 2, 30)
    one = bias_variance_intervals(answers, y, random_state=4).standard_errors
    other = bias_variance_intervals(answers, y, random_state=5).standard_errors
    monkeypatch.setattr(bootstrap, "_BLOCK", 500)
    again = bias_variance_intervals(answers, y, random_state=4).standard_errors
    assert one == pytest.approx(again, rel=1e-9)
    assert one["bias"] != other["bias"]


def test_a_difference_of_the_same_is_nothing_and_pairs_are_surer():
    rng = np.random.default_rng(9)
    drawn, y = rng.random((60, 100)), np.zeros(100, bool)
    same = bias_variance_difference(drawn < 0.3, drawn < 0.3, y, random_state=0)
    assert set(same.estimates.values()) == {0.0}
    assert set(same.standard_errors.values()) == {0.0}
    paired = bias_variance_difference(drawn < 0.3, drawn < 0.27, y, random_state=0)
    other = bias_variance_difference(drawn < 0.3, rng.random((60, 100)) < 0.27, y, random_state=0)
    assert paired.standard_errors["error"] < 0.6 * other.standard_errors["error"]
    one, two = (bias_variance_decomposition(drawn < at, y) for at in (0.3, 0.27))
    assert paired.estimates["variance"] == two.variance - one.variance


def test_intervals_say_what_they_are_and_refuse_what_cannot_be():
    answers, y = [[0, 1], [1, 1], [0, 0]], [0, 1]
    found = bias_variance_intervals(answers, y, confidence=0.9, random_state=0)
    assert str(found).startswith("error 0.3333 [")
    assert str(found).endswith("(kohavi_wolpert, 90% intervals)")
    with pytest.raises(ValueError, match=r"part='luck' is not allowed"):
        found.interval("luck")
    with pytest.raises(ValueError, match=r"1 training; an interval needs two"):
        bias_variance_intervals([[0, 1]], y)
    for name, value in (("over", "points"), ("confidence", 1.0), ("n_resamples", 1)):
        with pytest.raises(ValueError, match=f"{name}={value!r} is not allowed"):
            bias_variance_intervals(answers, y, **{name: value})
    with pytest.raises(ValueError, match=r"first has shape \(3, 2\) and second \(2, 2\)"):
        bias_variance_difference(answers, answers[:2], y)
