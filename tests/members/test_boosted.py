"""Boosted ensembles of ours are ordered, pruned and asked early by their weighted votes."""

from __future__ import annotations

import numpy as np
import pytest

import orfeon
from orfeon import (
    AdaBoostClassifier,
    ArcX4Classifier,
    CARTClassifier,
    MultiBoostClassifier,
    PoolBoostClassifier,
    early_decision,
    order,
    prune,
)
from orfeon.datasets import make_waveform
from orfeon.members import adapt

X, Y = make_waveform(150, random_state=0)
X_NEW, _ = make_waveform(400, random_state=1)
VOTING = {
    "adaboost": AdaBoostClassifier(CARTClassifier(max_depth=3), 25, random_state=0),
    "arc_x4": ArcX4Classifier(n_estimators=25, random_state=0),
    "multiboost": MultiBoostClassifier(n_estimators=25, random_state=0),
    "pool": PoolBoostClassifier(n_estimators=25, random_state=0),
}
OTHERS = [
    "AdaBoostM2Classifier",
    "AdaBoostMHClassifier",
    "AdaBoostOCClassifier",
    "AdaBoostPairwiseClassifier",
    "FilterBoostClassifier",
    "GradientBoostingClassifier",
]


@pytest.fixture(params=VOTING)
def boosted(request):
    return VOTING[request.param].fit(X, Y)


def by_hand(votes, weights, members):
    """Weighted vote of some members."""
    sums = np.zeros((votes.shape[1], 3))
    for t in members:
        sums[np.arange(votes.shape[1]), votes[t]] += weights[t]
    return np.argmax(sums.round(9), axis=1)


def test_a_subset_votes_with_the_weights_of_its_members(boosted):
    kept = [7, 0, 19]
    smaller = adapt(boosted).subset(kept)
    expected = by_hand(boosted.votes(X_NEW), boosted.member_weights_, kept)
    np.testing.assert_array_equal(smaller.predict(X_NEW), boosted.classes_[expected])
    assert type(smaller) is type(boosted)
    assert len(smaller) == smaller.n_estimators == len(smaller.errors_) == 3
    assert len(boosted) == 25  # as it was


def test_the_curve_of_an_order_is_that_of_the_weighted_vote(boosted):
    ordered = order(boosted, X, Y, rule="reduce_error")
    votes = boosted.votes(X)
    codes = np.searchsorted(boosted.classes_, Y)
    for size in (1, 5, 25):
        decided = by_hand(votes, boosted.member_weights_, ordered.order[:size])
        assert ordered.error_curve[size - 1] == pytest.approx(np.mean(decided != codes))


def test_a_fifth_is_kept(boosted):
    small = prune(boosted, X, Y, rule="reduce_error", keep=0.2)
    assert len(small) == 5
    assert small.score(X, Y) > 0.7


def test_what_is_left_cannot_go_on(boosted):
    small = prune(boosted, X, Y, keep=5).set_params(n_estimators=9, warm_start=True)
    with pytest.raises(ValueError, match="chosen from others"):
        small.fit(X, Y)
    assert len(small) == 5


def test_an_early_decision_is_that_of_all(boosted):
    early = early_decision(boosted, X_NEW)
    np.testing.assert_array_equal(early.predictions, boosted.predict(X_NEW))
    assert early.n_queried.mean() < 25


def test_no_sample_is_out_of_bag(boosted):
    with pytest.raises(ValueError, match="trained on all the samples, weighted"):
        prune(boosted, X, Y, on="out_of_bag")


@pytest.mark.parametrize("name", OTHERS)
def test_those_that_do_not_decide_by_votes_are_refused(name):
    model = getattr(orfeon, name)(random_state=0).fit(X, Y)
    with pytest.raises(TypeError, match=f"{name} does not decide by a vote"):
        prune(model, X, Y)
    with pytest.raises(TypeError, match=f"{name} does not decide by a vote"):
        early_decision(model, X_NEW)


def test_a_weighted_median_is_no_mean():
    with pytest.raises(TypeError, match="AdaBoostR2Regressor does not decide by a vote"):
        prune(orfeon.AdaBoostR2Regressor(random_state=0).fit(X, X[:, 0]), X, X[:, 0])
