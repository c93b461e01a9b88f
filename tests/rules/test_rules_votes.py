"""Plurality, majority and weighted votes, and weighted means of predictions."""

from __future__ import annotations

from itertools import product
from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orfeon import BaggingClassifier
from orfeon.rules.votes import Majority, Plurality, Weighted, WeightedVote, on_grid


def counted(votes, n_classes, rule=None):
    return (rule or Plurality()).learn(None, None, n_classes).shares(votes, n_classes)


def patterns(n_members, n_classes):
    """All the ways in which members can vote, a column each."""
    return np.array(list(product(range(n_classes), repeat=n_members))).T


def probabilities(votes, accuracies, n_classes):
    """Probability of each pattern when each class is true; wrong votes are spread evenly."""
    p = np.asarray(accuracies)[:, None]
    return np.stack(
        [np.where(votes == k, p, (1 - p) / (n_classes - 1)).prod(axis=0) for k in range(n_classes)],
        axis=1,
    )


def error(decisions, likelihoods):
    """Probability of a wrong decision when all classes are equally likely."""
    n_patterns, n_classes = likelihoods.shape
    right = likelihoods[np.arange(n_patterns), decisions]
    return 1 - right.sum() / n_classes


def log_odds(accuracies, n_classes=2):
    p = np.asarray(accuracies)
    return np.log(p * (n_classes - 1) / (1 - p))


def answers_of_accuracy(n_right, n_samples):
    """Votes of members that are right on so many samples of class 0."""
    votes = np.ones((len(n_right), n_samples), dtype=int)
    for member, n in enumerate(n_right):
        votes[member, :n] = 0
    return votes


# -- counting ----------------------------------------------------------------------------------


def test_votes_are_counted():
    votes = [[0, 1, 2, 2], [0, 1, 1, 2], [0, 2, 0, 0], [1, 2, 0, 2]]
    np.testing.assert_array_equal(
        counted(votes, 3), [[0.75, 0.25, 0], [0, 0.5, 0.5], [0.5, 0.25, 0.25], [0.25, 0, 0.75]]
    )


def test_the_first_of_tied_classes_is_decided_on():
    votes = [[0, 2, 1], [1, 1, 2]]
    np.testing.assert_array_equal(counted(votes, 3).argmax(axis=1), [0, 1, 1])


def test_only_those_who_vote_are_counted():
    votes = [[-1, 0, -1], [1, -1, -1], [1, 0, -1], [0, 1, -1]]
    shares = counted(votes, 2)
    np.testing.assert_array_equal(shares, [[1 / 3, 2 / 3], [2 / 3, 1 / 3], [0.5, 0.5]])


def test_shares_are_those_of_an_ensemble_to_the_last_bit(waveform):
    X, y = waveform
    bag = BaggingClassifier(n_estimators=11, random_state=0).fit(X, y)
    np.testing.assert_array_equal(counted(bag.votes(X), 3), bag.vote_shares(X))


@given(st.lists(st.lists(st.integers(-1, 3), min_size=5, max_size=5), min_size=1, max_size=9))
def test_majority_and_plurality_decide_alike(votes):
    shares = counted(votes, 4)
    np.testing.assert_array_equal(counted(votes, 4, Majority()), shares)
    counts = [[column.count(k) for k in range(4)] for column in zip(*votes, strict=True)]
    decisions = [row.index(max(row)) for row in counts]
    np.testing.assert_array_equal(shares.argmax(axis=1), decisions)
    has_majority = Majority().learn(None, None, 4).has_majority(votes, 4)
    expected = [2 * max(row) > sum(row) for row in counts]
    np.testing.assert_array_equal(has_majority, expected)


def test_more_than_half_is_a_majority_and_half_is_none():
    decider = Majority().learn(None, None, 2)
    votes = [[0, 0, 0], [0, 0, -1], [1, 1, -1], [1, -1, -1]]
    np.testing.assert_array_equal(decider.has_majority(votes, 2), [False, True, True])
    weighty = Majority(weights=[0.1, 0.2, 0.3, 0.0]).learn(None, None, 2)
    np.testing.assert_array_equal(weighty.has_majority(votes, 2), [False, False, True])


@pytest.mark.parametrize(("n_members", "p"), [(21, 0.7), (11, 0.6), (4, 0.55)])
def test_the_majority_of_independent_members_errs_as_the_binomial_tail_says(n_members, p):
    n_wrong = np.arange(n_members + 1)
    votes = (np.arange(n_members)[:, None] < n_wrong).astype(int)  # 0 is right
    decided = counted(votes, 2).argmax(axis=1)
    chances = [comb(n_members, n) * (1 - p) ** n * p ** (n_members - n) for n in n_wrong]
    expected = sum(chances[n] for n in n_wrong if 2 * n > n_members)
    found = np.array(chances)[decided == 1].sum()
    assert found == pytest.approx(expected, rel=1e-12)
    if (n_members, p) == (21, 0.7):
        assert round(found, 3) == 0.026


def test_given_weights_multiply_votes():
    votes = [[0, 1], [1, 1], [1, 0]]
    weighted = counted(votes, 2, Plurality(weights=[3, 1, 1]))
    repeated = counted(np.array(votes)[[0, 0, 0, 1, 2]], 2)
    np.testing.assert_array_equal(weighted, repeated)
    np.testing.assert_array_equal(weighted, [[0.6, 0.4], [0.2, 0.8]])


def test_rounding_decides_no_tie():
    """0.1 + 0.2 is more than 0.3 in floats, and 0.7 less than 0.1 + 0.6."""
    decider = Plurality(weights=[0.1, 0.2, 0.3]).learn(None, None, 2)
    np.testing.assert_array_equal(decider.shares([[1, 0], [1, 0], [0, 1]], 2), np.full((2, 2), 0.5))
    decider = Plurality(weights=[0.1, 0.6, 0.7]).learn(None, None, 2)
    assert decider.shares([[0], [0], [1]], 2).argmax() == 0
    assert decider.shares([[1], [1], [0]], 2).argmax() == 0


def test_a_wrong_number_of_weights_is_refused():
    decider = Majority(weights=[1, 2]).learn(None, None, 2)
    with pytest.raises(ValueError, match="answers has 3 members; 2 are expected"):
        decider.shares([[0], [0], [1]], 2)


# -- log odds ----------------------------------------------------------------------------------


def test_weights_are_smoothed_log_odds():
    answers = answers_of_accuracy([9, 7, 5, 2], 10)
    decider = Weighted().learn(answers, np.zeros(10, dtype=int), 2)
    expected = [log(10 / 2), log(8 / 4), 0.0, log(3 / 9)]
    np.testing.assert_allclose(decider.weights, expected, rtol=0, atol=1e-12)
    more = Weighted(smoothing=0.5).learn(answers, np.zeros(10, dtype=int), 2)
    assert more.weights[0] == pytest.approx(log(9.5 / 1.5), abs=1e-12)
    half = Weighted().learn(answers, np.zeros(10, dtype=int), 2, np.full(10, 0.5))
    assert half.weights[0] == pytest.approx(log(5.5 / 1.5), abs=1e-12)


def test_with_more_classes_a_guess_is_worth_nothing():
    """Of three classes a member that is right in a third of the cases weighs nothing."""
    y = np.zeros(12, dtype=int)
    decider = Weighted().learn(answers_of_accuracy([4, 6, 2], 12), y, 3)
    expected = [log(5 * 2 / (8 + 2)), log(7 * 2 / (6 + 2)), log(3 * 2 / (10 + 2))]
    np.testing.assert_allclose(decider.weights, expected, rtol=0, atol=1e-12)
    assert decider.weights[0] == 0.0


def test_accuracy_is_that_of_the_votes_cast():
    answers = np.array([[0, 0, 0, -1, -1, -1], [0, 0, 0, 1, 1, 1], [-1] * 6])
    decider = Weighted().learn(answers, np.zeros(6, dtype=int), 2)
    np.testing.assert_allclose(decider.weights, [log(4), 0, 0], rtol=0, atol=1e-12)


def test_the_fewer_votes_the_closer_to_a_guess():
    weights = [
        Weighted().learn(np.zeros((1, n), int), np.zeros(n, int), 2).weights[0]
        for n in (1, 10, 100)
    ]
    np.testing.assert_allclose(weights, [log(2), log(11), log(101)], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("accuracies", "n_classes"),
    [
        ((0.9, 0.6, 0.6, 0.6, 0.55), 2),
        ((0.95, 0.8, 0.7, 0.7, 0.7, 0.6, 0.51), 2),
        ((0.8, 0.3, 0.4, 0.65), 2),  # some are worse than a guess
        ((0.8, 0.5, 0.45, 0.4), 3),
        ((0.7, 0.2, 0.6, 0.6), 3),
        ((0.6, 0.5, 0.3, 0.2), 4),
    ],
)
def test_log_odds_are_the_best_weights_of_independent_members(accuracies, n_classes):
    votes = patterns(len(accuracies), n_classes)
    likelihoods = probabilities(votes, accuracies, n_classes)
    shares = WeightedVote(log_odds(accuracies, n_classes)).shares(votes, n_classes)
    decided = shares.argmax(axis=1)
    best = likelihoods.max(axis=1)
    chosen = likelihoods[np.arange(votes.shape[1]), decided]
    np.testing.assert_allclose(chosen, best, rtol=1e-10)  # the Bayes rule, pattern by pattern
    plain = error(counted(votes, n_classes).argmax(axis=1), likelihoods)
    weighted = error(decided, likelihoods)
    assert weighted == pytest.approx(1 - best.sum() / n_classes, abs=1e-12)
    assert weighted < plain - 1e-3


@given(st.lists(st.floats(0.05, 0.95), min_size=1, max_size=6))
def test_no_members_make_log_odds_worse_than_the_majority(accuracies):
    votes = patterns(len(accuracies), 2)
    likelihoods = probabilities(votes, accuracies, 2)
    weighted = WeightedVote(log_odds(accuracies)).shares(votes, 2).argmax(axis=1)
    bayes = 1 - likelihoods.max(axis=1).sum() / 2
    assert error(weighted, likelihoods) == pytest.approx(bayes, abs=1e-9)
    assert bayes <= error(counted(votes, 2).argmax(axis=1), likelihoods) + 1e-12


def test_the_weighted_vote_learnt_from_a_large_sample_is_the_bayes_rule():
    accuracies, n_samples = np.array([0.9, 0.65, 0.62, 0.6, 0.7]), 100_000
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_samples)
    right = rng.random((5, n_samples)) < accuracies[:, None]
    decider = Weighted().learn(np.where(right, y, 1 - y), y, 2)
    np.testing.assert_allclose(decider.weights, log_odds(accuracies), rtol=0, atol=0.04)
    votes = patterns(5, 2)
    likelihoods = probabilities(votes, accuracies, 2)
    decided = decider.shares(votes, 2).argmax(axis=1)
    np.testing.assert_array_equal(decided, likelihoods.argmax(axis=1))


def test_members_of_equal_accuracy_make_a_plurality_vote():
    votes = patterns(5, 3)
    equal = WeightedVote(on_grid(np.full(5, log(4)))).shares(votes, 3)
    np.testing.assert_allclose(equal, counted(votes, 3), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(equal.argmax(axis=1), counted(votes, 3).argmax(axis=1))


def test_equal_log_odds_are_tied_whoever_gives_them():
    """An accuracy of 0.9 weighs as much as two of 0.75: log 9 is twice log 3."""
    decider = WeightedVote(log_odds([0.9, 0.75, 0.75]))
    np.testing.assert_array_equal(decider.shares([[1, 0], [0, 1], [0, 1]], 2), np.full((2, 2), 0.5))


# -- members worse than a guess ----------------------------------------------------------------


def test_the_vote_of_a_member_that_is_mostly_wrong_counts_for_the_other_class():
    answers = answers_of_accuracy([1], 10)
    decider = Weighted().learn(answers, np.zeros(10, dtype=int), 2)
    np.testing.assert_array_equal(decider.shares([[0, 1, -1]], 2), [[0, 1], [1, 0], [0.5, 0.5]])


def test_or_not_at_all():
    answers = answers_of_accuracy([1, 8], 10)
    decider = Weighted(below_chance="silent").learn(answers, np.zeros(10, dtype=int), 2)
    np.testing.assert_allclose(decider.weights, [0, log(3)], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(decider.shares([[0, 0], [1, -1]], 2), [[0, 1], [0.5, 0.5]])


def test_a_vote_against_one_of_three_classes_counts_for_both_others():
    decider = WeightedVote(np.array([-1.0, 2.0]))
    np.testing.assert_array_equal(
        decider.shares([[0, 0, -1], [0, 1, 1]], 3), [[0.5, 0.25, 0.25], [0, 0.75, 0.25], [0, 1, 0]]
    )


# -- predictions -------------------------------------------------------------------------------


def test_predictions_are_weighted_by_inverse_squared_errors():
    y = np.array([0.0, 2.0, 4.0, 6.0])  # mean 3, variance 5
    answers = y + np.array([[1.0, -1, 1, -1], [2.0, 2, 2, 2], [0.0, 0, 0, 0]])
    decider = Weighted().learn(answers, y, 0)
    expected = [5 / (4 * 1 + 5), 5 / (4 * 4 + 5), 5 / (4 * 0 + 5)]
    np.testing.assert_allclose(decider.weights, expected, rtol=1e-14)
    found = decider.predict([[1.0], [0.0], [5.0]])
    assert found == pytest.approx((expected[0] + 5 * expected[2]) / sum(expected), rel=1e-14)
    nearly = Weighted(smoothing=1e-9).learn(answers[:2], y, 0).weights
    assert nearly[0] / nearly[1] == pytest.approx(4.0, rel=1e-8)


def test_a_member_that_never_predicts_is_worth_the_mean_of_the_targets():
    y = np.array([0.0, 2.0, 4.0, 6.0])
    answers = np.array([y + 1, np.full(4, np.nan), np.full(4, 3.0)])
    weights = Weighted().learn(answers, y, 0).weights
    np.testing.assert_allclose(weights, [5 / 9, 1 / 5, 1 / 5], rtol=1e-14)


def test_inverse_squared_errors_are_the_best_weights_of_uncorrelated_errors():
    rng = np.random.default_rng(1)
    scales, y = np.array([1.0, 2.0, 0.5]), rng.normal(size=200_000)
    answers = y + scales[:, None] * rng.normal(size=(3, len(y)))
    decider = Weighted().learn(answers, y, 0)
    new = rng.normal(size=200_000)
    noisy = new + scales[:, None] * rng.normal(size=(3, len(new)))
    found = np.mean((decider.predict(noisy) - new) ** 2)
    assert found == pytest.approx(1 / (1 + 1 / 4 + 4), rel=0.01)
    plain = np.mean((noisy.mean(axis=0) - new) ** 2)
    assert plain == pytest.approx((1 + 4 + 1 / 4) / 9, rel=0.01)


@pytest.mark.parametrize(
    ("answers", "y"),
    [
        ([[1.0, 1.0], [1.0, 1.0]], [1.0, 1.0]),  # no errors, and nothing to explain
        ([[1e200, -1e200], [-1e200, 1e200]], [1e200, 0.0]),  # squares beyond all numbers
        ([[1e-200, 0.0], [0.0, 1e-200]], [0.0, 0.0]),  # squares that vanish
    ],
)
def test_extreme_errors_leave_sensible_weights(answers, y):
    decider = Weighted().learn(answers, y, 0)
    assert np.isfinite(decider.weights).all()
    assert (decider.weights > 0).all()
    np.testing.assert_allclose(decider.predict([[1.0], [3.0]]), [2.0], rtol=1e-12)


def test_one_faultless_member_of_constant_targets_decides():
    decider = Weighted().learn([[1.0, 1.0], [2.0, 2.0]], [1.0, 1.0], 0)
    assert decider.predict([[7.0], [9.0]]) == pytest.approx([7.0], abs=1e-12)
    assert decider.predict([[np.nan], [9.0]]) == pytest.approx([9.0], abs=1e-12)


def test_a_tie_of_odds_is_a_tie():
    """The smoothed odds 1330/1190 and 1380/1140 multiply to those of the third, 1449/1071."""
    right = (1329, 1379, 1448)
    answers = [np.arange(2518) >= n for n in right]
    decider = Weighted().learn(np.array(answers, dtype=int), np.zeros(2518, int), 2)
    np.testing.assert_array_equal(decider.shares([[0], [0], [1]], 2), [[0.5, 0.5]])
