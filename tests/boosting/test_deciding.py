"""Decisions of weighted members: sums in their order, ties that rounding does not break, stages."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests import shared
from tests.boosting.boosters import each_setting, small, table
from tests.oracles.boosting_script import Script, ScriptedClassifier

from orfeon import (
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostPairwiseClassifier,
    AdaBoostR2Regressor,
    ArcX4Classifier,
    CARTClassifier,
    StumpClassifier,
)
from orfeon.boosting.binary_problems import ProblemTally, all_pairs, one_against_rest
from orfeon.boosting.output_codes import _ColourTally
from orfeon.boosting.vote_sums import MedianTally, SupportTally, VoteTally, with_ties

usual = settings(deadline=None, derandomize=True, max_examples=shared.cases(80))
votes_of_members = st.lists(st.floats(1e-3, 20), min_size=1, max_size=12)


# -- ties ------------------------------------------------------------------------------------------


def test_rounding_does_not_break_a_tie():
    """A tenth three times is not three tenths, in floating point; the first class has it."""
    sums = np.array([[0.3, 0.1 + 0.1 + 0.1], [0.1 + 0.1 + 0.1, 0.3]])
    assert sums[0, 0] < sums[0, 1]
    assert np.argmax(sums, axis=1).tolist() == [1, 0]
    assert np.argmax(with_ties(sums, 0.6), axis=1).tolist() == [0, 0]


@given(arrays(np.float64, (6, 4), elements=st.floats(0, 10)), st.floats(1, 100))
@usual
def test_only_what_is_tied_is_changed(sums, total):
    tied = with_ties(sums, total)
    greatest = sums.max(axis=1, keepdims=True)
    changed = tied != sums
    assert (greatest - sums <= 1e-12 * total)[changed].all()
    np.testing.assert_array_equal(tied.max(axis=1, keepdims=True), greatest)
    far = greatest - sums > 1e-12 * total
    np.testing.assert_array_equal(tied[far], sums[far])


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]])
def test_a_tied_vote_takes_the_first_class_in_any_order(order):
    """Votes of 0.1, 0.2 and 0.3: one and two against three, and one for each class at last."""
    votes = np.array([0.1, 0.2, 0.3, 0.05])[order]
    answers = np.array([[1, 0], [1, 0], [0, 1], [2, 2]])[order]
    tally = VoteTally(2, 3)
    for row, vote in zip(answers, votes, strict=True):
        tally.add(row, vote)
    assert tally.decide().tolist() == [0, 0]


def test_a_tie_of_a_fitted_model_is_a_tie_everywhere():
    """Two equal votes against each other: F is 0, the shares are halves, the first class wins."""
    y = np.arange(8) % 2
    answers = [y ^ (np.arange(8) == 0), y ^ (np.arange(8) == 1)]
    X = np.arange(8.0)[:, None]
    model = ArcX4Classifier(ScriptedClassifier(Script(answers, 8)), 2, sampling="weights")
    model.fit(X, np.array(["no", "yes"])[y])
    assert model.decision_function(X[:2]).tolist() == [0.0, 0.0]
    assert model.predict_proba(X[:2]).tolist() == [[0.5, 0.5]] * 2
    assert model.predict(X[:2]).tolist() == ["no", "no"]
    assert list(model.staged_predict(X[:2]))[1].tolist() == ["no", "no"]


# -- tallies ---------------------------------------------------------------------------------------


def one_by_one(numbers):
    """A sum with the rounding of each step, which Python's own makes good from 3.12 on."""
    return functools.reduce(operator.add, numbers, 0.0)


@given(votes_of_members, st.integers(0, 10**6))
@usual
def test_votes_are_added_up(votes, seed):
    answers = np.random.default_rng(seed).integers(0, 3, (len(votes), 5))
    tally = VoteTally(5, 3)
    for t, (row, vote) in enumerate(zip(answers, votes, strict=True)):
        tally.add(row, vote)
        by_hand = [
            [one_by_one(v for v, r in zip(votes[: t + 1], answers, strict=False) if r[i] == c)
             for c in range(3)]
            for i in range(5)
        ]  # fmt: skip
        np.testing.assert_array_equal(tally.sums, by_hand)
    assert tally.total == one_by_one(votes)


@given(votes_of_members, st.integers(0, 10**6))
@usual
def test_supports_are_added_up(votes, seed):
    answers = np.random.default_rng(seed).random((len(votes), 5, 3))
    tally = SupportTally(5, 3)
    for row, vote in zip(answers, votes, strict=True):
        tally.add(row, vote)
    np.testing.assert_allclose(tally.sums, np.tensordot(votes, answers, 1), rtol=1e-13)
    np.testing.assert_array_equal(tally.decide(), tally.sums.argmax(axis=1))


@given(votes_of_members, st.integers(0, 10**6))
@usual
def test_the_median_is_the_least_prediction_with_half_of_the_votes(votes, seed):
    answers = np.random.default_rng(seed).integers(0, 5, (len(votes), 4)).astype(float)
    tally = MedianTally(4, 0)
    for row, vote in zip(answers, votes, strict=True):
        tally.add(row, vote)
    for median, column in zip(tally.decide(), answers.T, strict=True):
        below = sum(v for v, s in zip(votes, column, strict=True) if s < median)
        up_to = sum(v for v, s in zip(votes, column, strict=True) if s <= median)
        half = sum(votes) / 2
        assert below < half * (1 + 1e-9)
        assert up_to >= half * (1 - 1e-9)


@given(votes_of_members, st.integers(0, 10**6))
@usual
def test_colours_are_votes_for_all_classes_that_have_them(votes, seed):
    rng = np.random.default_rng(seed)
    answers, colours = rng.integers(0, 2, (len(votes), 5)), rng.integers(0, 2, (len(votes), 4))
    tally = _ColourTally(5, 4)
    sums = np.zeros((5, 4))
    for row, colour, vote in zip(answers, colours, votes, strict=True):
        tally.add(row, vote * (2.0 * colour - 1))
        sums += vote * (row[:, None] == colour[None, :])
    np.testing.assert_allclose(tally.sums, sums, rtol=1e-13)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("codes", [one_against_rest(3), all_pairs(4)])
def test_problems_are_decoded_by_their_codes(codes, bounded):
    rng = np.random.default_rng(0)
    n_problems, n_classes = codes.shape
    votes, answers = rng.random((6, n_problems)), rng.choice([-1, 0, 1], (6, 7, n_problems))
    tally = ProblemTally(7, codes, bounded=bounded)
    for row, vote in zip(answers, votes, strict=True):
        tally.add(row, vote)
    by_hand = np.zeros((7, n_classes))
    outputs = (votes[:, None, :] * answers).sum(axis=0)
    for i, p, c in np.ndindex(7, n_problems, n_classes):
        by_hand[i, c] += (np.tanh(outputs[i, p]) if bounded else outputs[i, p]) * codes[p, c]
    np.testing.assert_allclose(tally.sums, by_hand, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tally.total, votes.sum(axis=0), rtol=1e-14)


# -- models ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_members", [1, 31, 32, 33, 64, 70])
@pytest.mark.parametrize("base", [CARTClassifier(max_depth=2), DecisionTreeClassifier(max_depth=2)])
def test_members_are_asked_in_blocks_that_do_not_show(base, n_members):
    """Whether trees of ours, added up by a kernel, or others: sums are those of a loop."""
    X, y = table(GaussianNB(), 80)
    model = ArcX4Classifier(base, n_members, sampling="weights", random_state=0).fit(X, y)
    sums, votes = np.zeros((80, 3)), model.votes(X)
    stages = model.staged_decision_function(X)
    for row, stage in zip(votes, stages, strict=True):
        sums[np.arange(80), row] += 1.0
        np.testing.assert_array_equal(stage, sums)
    np.testing.assert_array_equal(model.decision_function(X), sums)
    assert len(votes) == n_members


def test_sums_of_trees_are_those_of_the_loop_to_the_bit():
    X, y = table(GaussianNB(), 200)
    model = AdaBoostClassifier(
        CARTClassifier(max_depth=2), 60, on_failure="restart", random_state=0
    ).fit(X, y)
    tally = VoteTally(200, 3)
    for row, vote in zip(model.votes(X), model.member_weights_, strict=True):
        tally.add(row, vote)
    expected = with_ties(tally.sums, model.member_weights_.sum())
    np.testing.assert_array_equal(model.decision_function(X), expected)
    X_missing = X.copy()
    X_missing[::3, 0] = np.nan
    tally = VoteTally(200, 3)
    for row, vote in zip(model.votes(X_missing), model.member_weights_, strict=True):
        tally.add(row, vote)
    expected = with_ties(tally.sums, model.member_weights_.sum())
    np.testing.assert_array_equal(model.decision_function(X_missing), expected)


def test_the_outputs_of_problems_are_the_real_valued_decision():
    X, y = table(GaussianNB())
    model = small("AdaBoostMHClassifier").fit(X, y)
    outputs = sum(
        answers * vote
        for answers, vote in zip(model.members_.outputs(X), model.member_weights_, strict=True)
    )
    np.testing.assert_allclose(model.decision_function(X), outputs, rtol=1e-12, atol=1e-13)
    pairs = small("AdaBoostPairwiseClassifier").fit(X, y)
    outputs = sum(
        answers * vote
        for answers, vote in zip(pairs.members_.outputs(X), pairs.member_weights_, strict=True)
    )
    a_b, a_c, b_c = np.tanh(outputs.T)
    by_hand = np.column_stack([-a_b - a_c, a_b - b_c, a_c + b_c])
    np.testing.assert_allclose(pairs.decision_function(X), by_hand, rtol=1e-11, atol=1e-12)
    assert pairs.pairs_.tolist() == [[0, 1], [0, 2], [1, 2]]


@pytest.mark.parametrize("name", ["AdaBoostMHClassifier", "AdaBoostPairwiseClassifier"])
def test_two_classes_are_decided_as_adaboost_decides(name):
    X, y = table(GaussianNB())
    y = np.minimum(y, 1)
    model = small(name, n_estimators=15).fit(X, y)
    plain = small("AdaBoostClassifier", n_estimators=15).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    # two problems that mirror each other, or one that counts for both classes
    F = plain.decision_function(X)
    F = np.tanh(F) if name == "AdaBoostPairwiseClassifier" else F
    np.testing.assert_allclose(model.decision_function(X), 2 * F)


def test_the_greater_the_sum_the_larger_the_share():
    for name in ("AdaBoostMHClassifier", "AdaBoostPairwiseClassifier", "AdaBoostOCClassifier"):
        X, y = table(GaussianNB())
        model = small(name).fit(X, y)
        sums, shares = model.decision_function(X), model.predict_proba(X)
        np.testing.assert_array_equal(
            np.diff(sums, axis=1) > 1e-12, np.diff(shares, axis=1) > 1e-13
        )
        np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)


@each_setting
def test_asking_changes_nothing(booster):
    """What was handed out is not written to by the next question; nor is the model."""
    X, y = table(booster)
    model = clone(booster).fit(X, y)
    first, kept = model.predict(X), model.predict(X).copy()
    stages = list(model.staged_predict(X))
    copies = [stage.copy() for stage in stages]
    model.predict(X[::-1])
    list(model.staged_predict(X[::-1]))
    np.testing.assert_array_equal(first, kept)
    for stage, copy in zip(stages, copies, strict=True):
        np.testing.assert_array_equal(stage, copy)
    np.testing.assert_array_equal(model.predict(X[::-1])[::-1], first)


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(n_estimators=5), AdaBoostM2Classifier(n_estimators=5),
        small("AdaBoostMHClassifier"), small("AdaBoostPairwiseClassifier"),
        small("AdaBoostOCClassifier"),
    ],
    ids=str,
)  # fmt: skip
def test_stages_of_scores_are_arrays_of_their_own(model):
    """The sums go on growing; what was yielded stays."""
    X, y = table(model)
    model = clone(model).fit(X, y)
    for method in (model.staged_decision_function, model.staged_predict_proba):
        collected = list(method(X))
        for k, now in enumerate(method(X)):
            np.testing.assert_array_equal(collected[k], now)
        assert len({stage.tobytes() for stage in collected}) > 1


def test_scores_of_stages_take_weights():
    X, y = table(GaussianNB())
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weights)
    model = small("AdaBoostM2Classifier").fit(X, y)
    np.testing.assert_allclose(
        list(model.staged_score(X, y, sample_weight=weights)),
        list(model.staged_score(X[copies], y[copies])),
        rtol=1e-13,
    )
    X, target = table(AdaBoostR2Regressor())
    regressor = small("AdaBoostR2Regressor").fit(X, target)
    np.testing.assert_allclose(
        list(regressor.staged_score(X, target, sample_weight=weights)),
        list(regressor.staged_score(X[copies], target[copies])),
        rtol=1e-12,
    )


def test_no_rows_are_refused_and_one_is_enough():
    X, y = table(GaussianNB())
    for name in ("AdaBoostClassifier", "AdaBoostM2Classifier", "AdaBoostMHClassifier"):
        model = small(name).fit(X, y)
        np.testing.assert_array_equal(model.predict(X[:1]), model.predict(X)[:1])
        np.testing.assert_array_equal(
            model.decision_function(X[:1]), model.decision_function(X)[:1]
        )
        with pytest.raises(ValueError, match="minimum of 1 is required"):
            model.predict(X[:0])


def test_a_single_stump_decides_as_the_stump():
    X, y = table(GaussianNB())
    model = AdaBoostClassifier(n_estimators=1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), StumpClassifier().fit(X, y).predict(X))
    assert set(np.unique(model._raw_shares(X))) <= {0.0, 1.0}


def test_an_easy_pair_does_not_outvote_those_that_matter():
    """Three classes in a row: the outer two are told apart with ease, and know no other."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 200)
    X = rng.normal(np.array([0.0, 4.0, 2.0])[y], 0.7)[:, None]
    model = AdaBoostPairwiseClassifier(n_estimators=50, random_state=0).fit(X[::2], y[::2])
    together = AdaBoostMHClassifier(n_estimators=50, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > together.score(X[1::2], y[1::2]) - 0.03
