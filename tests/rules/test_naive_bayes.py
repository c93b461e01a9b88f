"""The naive Bayes combiner."""

from __future__ import annotations

from itertools import product
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import shared

from orfeon.rules.answers import read_labels, read_part
from orfeon.rules.naive_bayes import NaiveBayes, VoteLikelihoods, confusion_counts
from orfeon.rules.votes import Plurality, Weighted, WeightedVote

#: Votes of members by true class (rows of each matrix): how often they vote for each class.
CONFUSION = np.array(
    [
        [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.05, 0.05, 0.9]],
        [[0.5, 0.3, 0.2], [0.1, 0.7, 0.2], [0.4, 0.3, 0.3]],
        [[0.1, 0.1, 0.8], [0.2, 0.5, 0.3], [0.7, 0.1, 0.2]],  # takes the first for the third
        [[0.6, 0.2, 0.2], [0.6, 0.2, 0.2], [0.3, 0.3, 0.4]],
    ]
)
PRIORS = np.array([0.5, 0.3, 0.2])


def patterns(n_members, n_classes):
    """All the ways in which members can vote, a column each."""
    return np.array(list(product(range(n_classes), repeat=n_members))).T


def joint(votes, confusion, priors):
    """Probability of each pattern together with each class."""
    found = np.tile(priors, (votes.shape[1], 1))
    for member, matrix in zip(votes, confusion, strict=True):
        found *= matrix[:, member].T
    return found


def decider_of(confusion, priors):
    return VoteLikelihoods(np.log(priors), np.log(np.swapaxes(confusion, 1, 2)))


def sample(confusion, priors, n_samples, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(len(priors), n_samples, p=priors)
    cumulative = confusion.cumsum(axis=2)[:, y]  # member, sample, class
    votes = (rng.random((len(confusion), n_samples, 1)) > cumulative).sum(axis=2)
    return np.minimum(votes, len(priors) - 1), y


# -- by hand -----------------------------------------------------------------------------------


def test_two_members_worked_by_hand():
    y = np.array([0, 0, 0, 1, 1])
    answers = np.array([[0, 0, 1, 1, 1], [0, 0, 0, 1, 0]])
    decider = NaiveBayes().learn(answers, y, 2)
    # Votes for 0 and for 1, one added to each: of class 0, then of class 1.
    first, second = [[3 / 5, 2 / 5], [1 / 4, 3 / 4]], [[4 / 5, 1 / 5], [2 / 4, 2 / 4]]
    found = np.exp(decider.log_likelihoods)
    np.testing.assert_allclose(found[0], np.transpose(first), rtol=1e-11)
    np.testing.assert_allclose(found[1], np.transpose(second), rtol=1e-11)
    np.testing.assert_allclose(np.exp(decider.log_priors), [3 / 5, 2 / 5], rtol=1e-11)
    both = np.array([3 / 5 * 3 / 5 * 1 / 5, 2 / 5 * 1 / 4 * 2 / 4])  # votes 0 and 1
    np.testing.assert_allclose(decider.shares([[0], [1]], 2)[0], both / both.sum(), rtol=1e-11)
    alone = np.array([3 / 5 * 1 / 5, 2 / 5 * 2 / 4])  # the first member does not vote
    np.testing.assert_allclose(decider.shares([[-1], [1]], 2)[0], alone / alone.sum(), rtol=1e-11)


def test_votes_are_counted_by_member_vote_and_class():
    answers, y = [[0, 2, 2, -1], [1, 1, 1, 1]], [0, 0, 2, 1]
    labels = read_labels(y, 3, [1.0, 2.0, 0.5, 7.0])
    counts = confusion_counts(read_part(answers, labels, "votes"))
    expected = np.zeros((2, 3, 3))
    expected[0, 0, 0], expected[0, 2, 0], expected[0, 2, 2] = 1.0, 2.0, 0.5
    expected[1, 1] = [3.0, 7.0, 0.5]
    np.testing.assert_array_equal(counts, expected)


def test_smoothing_adds_so_many_votes_for_each_class():
    answers, y = np.zeros((1, 6), dtype=int), np.zeros(6, dtype=int)
    for smoothing in (0.0, 0.5, 3.0):
        found = np.exp(NaiveBayes(smoothing=smoothing).learn(answers, y, 3).log_likelihoods[0])
        expected = np.array([6 + smoothing, smoothing, smoothing]) / (6 + 3 * smoothing)
        np.testing.assert_allclose(found[:, 0], expected, rtol=1e-11)
        np.testing.assert_allclose(found[:, 1:], 1 / 3, rtol=1e-11)  # classes never seen


# -- the Bayes rule ----------------------------------------------------------------------------


@pytest.mark.parametrize("priors", [PRIORS, np.full(3, 1 / 3), np.array([0.05, 0.05, 0.9])])
def test_with_the_true_confusion_matrices_it_is_the_bayes_rule(priors):
    votes = patterns(4, 3)
    exactly = joint(votes, CONFUSION, priors)
    shares = decider_of(CONFUSION, priors).shares(votes, 3)
    np.testing.assert_allclose(shares, exactly / exactly.sum(axis=1, keepdims=True), rtol=1e-12)
    chosen = exactly[np.arange(votes.shape[1]), shares.argmax(axis=1)]
    assert chosen.sum() == pytest.approx(exactly.max(axis=1).sum(), abs=1e-14)


def test_no_vote_of_these_members_comes_close():
    votes = patterns(4, 3)
    exactly = joint(votes, CONFUSION, PRIORS)

    def accuracy(decider):
        decided = decider.shares(votes, 3).argmax(axis=1)
        return exactly[np.arange(votes.shape[1]), decided].sum()

    bayes = accuracy(decider_of(CONFUSION, PRIORS))
    assert bayes == pytest.approx(exactly.max(axis=1).sum(), abs=1e-14)
    accuracies = np.einsum("tkk,k->t", CONFUSION, PRIORS)
    weighted = accuracy(WeightedVote(np.log(2 * accuracies / (1 - accuracies))))
    plain = accuracy(Plurality().learn(None, None, 3))
    assert plain + 0.05 < weighted + 0.02 < bayes


@pytest.mark.parametrize("absent", [0.0, 0.3])
def test_learnt_from_a_large_sample_it_is_the_bayes_rule(absent):
    answers, y = sample(CONFUSION, PRIORS, 200_000)
    answers[np.random.default_rng(1).random(answers.shape) < absent] = -1
    decider = NaiveBayes().learn(answers, y, 3)
    found = np.swapaxes(np.exp(decider.log_likelihoods), 1, 2)
    np.testing.assert_allclose(found, CONFUSION, rtol=0, atol=0.01)
    votes = patterns(4, 3)
    exactly = joint(votes, CONFUSION, PRIORS)
    decided = decider.shares(votes, 3).argmax(axis=1)
    # Where two classes are as good as tied, either is right.
    chosen = exactly[np.arange(votes.shape[1]), decided]
    clear = np.sort(exactly, axis=1)[:, 1] < 0.9 * exactly.max(axis=1)
    np.testing.assert_array_equal(decided[clear], exactly.argmax(axis=1)[clear])
    assert chosen.sum() == pytest.approx(exactly.max(axis=1).sum(), abs=1e-3)


def test_equal_priors_are_an_option():
    answers, y = sample(CONFUSION, np.array([0.9, 0.05, 0.05]), 20_000)
    learnt, equal = (
        NaiveBayes().learn(answers, y, 3),
        NaiveBayes(priors="equal").learn(answers, y, 3),
    )
    np.testing.assert_array_equal(learnt.log_likelihoods, equal.log_likelihoods)
    np.testing.assert_allclose(np.exp(equal.log_priors), 1 / 3, rtol=1e-11)
    assert np.exp(learnt.log_priors[0]) == pytest.approx(np.mean(y == 0), rel=1e-11)
    silent = np.full((4, 1), -1)
    np.testing.assert_array_equal(equal.shares(silent, 3), np.full((1, 3), 1 / 3))
    assert learnt.shares(silent, 3).argmax() == 0


# -- and the weighted vote ---------------------------------------------------------------------


@given(
    accuracies=st.lists(st.integers(1, 19), min_size=1, max_size=5),
    n_classes=st.integers(2, 3),
)
@settings(max_examples=shared.cases(60))
def test_with_symmetric_confusion_matrices_it_is_the_weighted_vote(accuracies, n_classes):
    p = np.array(accuracies) / 20
    wrong = (1 - p) / (n_classes - 1)
    eye = np.eye(n_classes)
    confusion = p[:, None, None] * eye + wrong[:, None, None] * (1 - eye)
    votes = patterns(len(p), n_classes)
    bayes = decider_of(confusion, np.full(n_classes, 1 / n_classes)).shares(votes, n_classes)
    weighted = WeightedVote(np.log(p / wrong)).shares(votes, n_classes)
    np.testing.assert_array_equal(bayes.argmax(axis=1), weighted.argmax(axis=1))
    # The shares say the same: log ratios of the one are differences of votes in the other.
    total = np.where(p > wrong, np.log(p / wrong), -(n_classes - 1) * np.log(p / wrong)).sum()
    gaps = np.log(bayes[:, :1] / bayes)
    np.testing.assert_allclose(gaps, total * (weighted[:, :1] - weighted), rtol=0, atol=1e-8)


def test_learnt_symmetric_confusion_matrices_make_the_learnt_weighted_vote():
    """Nine, seven and six right of ten, on each of two classes."""
    y = np.repeat([0, 1], 10)
    answers = np.array([np.r_[np.arange(10) >= n, np.arange(10) < n] for n in (9, 7, 6)]).astype(
        int
    )
    votes = patterns(3, 2)
    bayes = NaiveBayes().learn(answers, y, 2).shares(votes, 2)
    # Two votes are added for each of the two classes, instead of one for right and wrong.
    weighted = Weighted(smoothing=2.0).learn(answers, y, 2)
    np.testing.assert_allclose(
        weighted.weights, [log(20 / 4), log(16 / 8), log(14 / 10)], rtol=0, atol=1e-12
    )
    np.testing.assert_array_equal(bayes.argmax(axis=1), weighted.shares(votes, 2).argmax(axis=1))


def test_rounding_decides_no_tie_of_members_that_are_alike():
    """Six members of the same confusion matrix, three votes for each class, in every order."""
    y = np.repeat([0, 1], 10)
    answers = np.repeat([np.r_[np.arange(10) >= 7, np.arange(10) < 7]], 6, axis=0).astype(int)
    decider = NaiveBayes().learn(answers, y, 2)
    votes = patterns(6, 2)
    tied = votes.sum(axis=0) == 3
    np.testing.assert_array_equal(decider.shares(votes, 2)[tied], np.full((20, 2), 0.5))


# -- the edges ---------------------------------------------------------------------------------


def test_without_smoothing_what_was_never_seen_is_impossible():
    answers, y = np.array([[0, 0, 1, 1], [0, 1, 1, 1]]), np.array([0, 0, 1, 1])
    decider = NaiveBayes(smoothing=0.0).learn(answers, y, 2)
    shares = decider.shares([[0, 1, 0, 1], [0, 0, 1, 1]], 2)
    np.testing.assert_array_equal(shares[[0, 3]], [[1, 0], [0, 1]])
    np.testing.assert_array_equal(shares[1], [0.5, 0.5])  # the votes cannot be
    np.testing.assert_array_equal(shares[2], [1, 0])


def test_a_class_without_samples_is_never_decided_on():
    decider = NaiveBayes().learn([[0, 0, 1]], [0, 0, 1], 3)
    shares = decider.shares([[0, 1, 2, -1]], 3)
    np.testing.assert_array_equal(shares[:, 2], 0.0)
    np.testing.assert_allclose(shares[3], [2 / 3, 1 / 3, 0], rtol=1e-11)


def test_thousands_of_members_do_not_exhaust_the_product():
    decider = decider_of(np.repeat(CONFUSION, 1000, axis=0), PRIORS)
    votes = np.repeat(patterns(4, 3), 1000, axis=0)
    shares = decider.shares(votes, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    exactly = joint(patterns(4, 3), CONFUSION, np.ones(3))
    clear = np.sort(exactly, axis=1)[:, 1] < 0.99 * exactly.max(axis=1)
    assert clear.sum() > 60
    np.testing.assert_array_equal(shares.argmax(axis=1)[clear], exactly.argmax(axis=1)[clear])


def test_another_number_of_classes_is_refused():
    decider = decider_of(CONFUSION, PRIORS)
    with pytest.raises(ValueError, match="n_classes=4 is not allowed; 3 were learnt"):
        decider.shares(np.zeros((4, 1), dtype=int), 4)
