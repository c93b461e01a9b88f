"""What early decision refuses, with the argument, its value and what is allowed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from orfeon import (
    BaggingClassifier,
    BaggingRegressor,
    PrunedClassifier,
    RandomForestClassifier,
)
from orfeon.combining import early_decision, early_decision_votes
from orfeon.datasets import make_waveform
from orfeon.ordering import BoostingBased

VOTES = np.array([[0, 1], [1, 1], [0, 0]])


@pytest.mark.parametrize("confidence", [0, -0.5, 1.01, float("nan"), float("inf"), "1", True, None])
def test_confidences_that_are_none_are_refused(confidence):
    with pytest.raises(ValueError, match=r"confidence=.* above 0, at most 1"):
        early_decision_votes(VOTES, confidence=confidence)


@pytest.mark.parametrize("block", [0, -1, 2.0, True, "3"])
def test_blocks_that_are_none_are_refused(block):
    with pytest.raises(ValueError, match=r"block=.* an integer from 1 on, or None"):
        early_decision_votes(VOTES, block=block)


@pytest.mark.parametrize("weights", [[1, 1], [[1, 1, 1]], 2.0])
def test_weights_of_another_number_are_refused(weights):
    with pytest.raises(ValueError, match=r"weights has shape .* each of the 3 members"):
        early_decision_votes(VOTES, member_weights=weights)


@pytest.mark.parametrize("weights", [[1, -1, 1], [0, 0, 0], [1, np.nan, 1], [1, np.inf, 1]])
def test_weights_that_cannot_count_are_refused(weights):
    with pytest.raises(ValueError, match="weights must be finite, not negative"):
        early_decision_votes(VOTES, member_weights=weights)


def test_less_confidence_is_about_equal_votes(waveform):
    X, y = waveform
    with pytest.raises(ValueError, match=r"confidence=0.9 is not allowed with member_weights"):
        early_decision_votes(VOTES, member_weights=[1, 2, 3], confidence=0.9)
    soft = RandomForestClassifier(4, combine="soft").fit(X, y)
    with pytest.raises(ValueError, match=r"confidence=0.9 .* set combine=\"majority\""):
        early_decision(soft, X, confidence=0.9)
    with pytest.raises(ValueError, match=r"weights are for votes, .* combine=\"soft\""):
        early_decision(soft, X, member_weights=np.ones(4))


@pytest.mark.parametrize("votes", [[0, 1, 1], np.zeros((0, 3)), np.zeros((3, 0)), 1.0])
def test_votes_of_another_shape_are_refused(votes):
    with pytest.raises(ValueError, match=r"votes has shape .*\(n_members, n_rows\)"):
        early_decision_votes(votes)


def test_votes_that_are_no_labels_are_refused():
    with pytest.raises(ValueError, match="entries that are None, NaN or infinite"):
        early_decision_votes([[0.0, np.nan], [1.0, 1.0]])


def test_ensembles_that_cannot_be_asked_are_refused(waveform, friedman):
    X, y = waveform
    with pytest.raises(NotFittedError):
        early_decision(RandomForestClassifier(), X)
    regressor = BaggingRegressor(n_estimators=3, random_state=0)
    with pytest.raises(ValueError, match="BaggingRegressor for regression"):
        early_decision(regressor, X)
    numbers = regressor.fit(*friedman).members_
    with pytest.raises(ValueError, match="Forest for regression"):
        early_decision(numbers, friedman[0])
    with pytest.raises(TypeError, match=r"ensemble is a GaussianNB.*EstimatorMembers"):
        early_decision(GaussianNB().fit(X, y), X)
    with pytest.raises(ValueError, match=r"type ndarray.* early_decision_votes\(\)"):
        early_decision(VOTES, X)
    forest = RandomForestClassifier(4).fit(X, y)
    for queried in (forest, forest.forest_):
        with pytest.raises(ValueError, match="X is None"):
            early_decision(queried)
    with pytest.raises(ValueError, match=r"X has shape \(0, 21\); it needs at least one row"):
        early_decision(forest.forest_, X[:0])
    with pytest.raises(ValueError, match=r"X has 5 features, .* expecting 21 features"):
        early_decision(forest, X[:, :5])
    with pytest.raises(ValueError, match=r"X has shape \(300, 5\).* 21 features"):
        early_decision(forest.forest_, X[:, :5])


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_votes_that_are_none_are_refused(nothing):
    votes = np.array([["a", nothing], ["a", "b"]], dtype=object)
    with pytest.raises(ValueError, match="entries that are None, NaN or infinite"):
        early_decision_votes(votes)


def test_masked_votes_are_refused():
    votes = np.ma.masked_equal([[0, 1], [1, 1], [-1, 0]], -1)
    with pytest.raises(ValueError, match="votes has masked entries"):
        early_decision_votes(votes)


def test_pruned_ensembles_are_asked_as_what_they_keep():
    X, y = make_waveform(100, random_state=0)
    bag = BaggingClassifier(n_estimators=20, random_state=0)
    pruned = PrunedClassifier(bag, keep=7, random_state=0).fit(X, y)
    decided = early_decision(pruned, X)
    assert decided.n_members == 7
    np.testing.assert_array_equal(decided.predictions, pruned.predict(X))
    weighted = pruned.set_params(rule=BoostingBased(weighted_vote=True)).fit(X, y)
    with pytest.raises(ValueError, match="weights the votes"):
        early_decision(weighted, X)
    by_hand = early_decision(
        weighted.ensemble_, X, member_weights=weighted.order_.member_weights[: len(weighted.kept_)]
    )
    np.testing.assert_array_equal(by_hand.predictions, weighted.predict(X))
