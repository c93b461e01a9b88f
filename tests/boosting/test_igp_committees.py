"""IGP committees: the two identities, and the vote in two stages."""

from __future__ import annotations

import numpy as np
import pytest
from tests.boosting.test_boosting_igp import assert_same_run, overlapping, twin
from tests.ensembles.twins import table
from tests.oracles.probabilities import smoothed
from tests.shared import assert_same_forest

from orfeon import BoostingIGPClassifier, IGPCommitteesClassifier, IGPEnsembleClassifier
from orfeon.datasets import make_waveform
from orfeon.forest import Forest


@pytest.fixture(scope="module")
def committees():
    X, y = make_waveform(150, random_state=0)
    return IGPCommitteesClassifier(7, 5, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def rows():
    return make_waveform(200, random_state=1)[0]


# -- identities ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_tree_in_each_is_the_igp_ensemble(seed):
    X, y = overlapping(seed)
    committees = IGPCommitteesClassifier(9, 1, random_state=seed).fit(X, y)
    ensemble = IGPEnsembleClassifier(9, random_state=seed).fit(X, y)
    assert_same_forest(Forest.concatenate(committees.committee_forests_), ensemble.forest_)
    np.testing.assert_array_equal(committees.votes(X), ensemble.votes(X))
    np.testing.assert_array_equal(committees.predict_proba(X), ensemble.predict_proba(X))


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_one_committee_is_boosting_igp(seed):
    X, y = overlapping(seed)
    committees = IGPCommitteesClassifier(1, 15, random_state=seed).fit(X, y)
    boosting = BoostingIGPClassifier(15, random_state=seed).fit(X, y)
    assert_same_forest(committees.committee_forests_[0], boosting.forest_)
    np.testing.assert_array_equal(committees.predict(X), boosting.predict(X))
    # The shares within the only committee are the vote of its trees.
    committees.set_params(combine="soft")
    np.testing.assert_allclose(committees.mean_supports(X), boosting.vote_shares(X))


def test_each_committee_is_a_run_of_its_own():
    X, y = overlapping(1)
    committees = IGPCommitteesClassifier(4, 6, random_state=1).fit(X, y)
    for c, forest in enumerate(committees.committee_forests_):
        run = twin(X, y, 1, 6, committee=c)

        class Fitted:
            forest_ = forest

        assert_same_run(Fitted, run)


# -- the vote --------------------------------------------------------------------------------------


def test_committees_vote_first(committees, rows):
    """By brute force; pooling the trees decides otherwise on some rows."""
    within = []
    for forest in committees.committee_forests_:
        counts = np.zeros((len(rows), 3))
        for t in range(len(forest)):
            counts[np.arange(len(rows)), forest.subset([t]).predict(rows)] += 1
        within.append(counts)
    first_stage = np.array([counts.argmax(axis=1) for counts in within])
    np.testing.assert_array_equal(committees.votes(rows), first_stage)
    second = np.stack([(first_stage == c).sum(axis=0) for c in range(3)], axis=1)
    np.testing.assert_allclose(committees.vote_shares(rows), second / 7)
    np.testing.assert_array_equal(committees.predict(rows), second.argmax(axis=1))
    pooled = np.sum(within, axis=0)
    assert (pooled.argmax(axis=1) != second.argmax(axis=1)).any()
    shares = np.mean([counts / counts.sum(axis=1)[:, None] for counts in within], axis=0)
    np.testing.assert_allclose(committees.mean_supports(rows), shares)


def test_soft_voting_averages_the_shares_within(rows):
    X, y = make_waveform(150, random_state=0)
    soft = IGPCommitteesClassifier(7, 5, combine="soft", random_state=0).fit(X, y)
    expected = smoothed(soft, soft.mean_supports(rows))
    np.testing.assert_allclose(soft.predict_proba(rows), expected)
    np.testing.assert_array_equal(soft.predict(rows), soft.mean_supports(rows).argmax(axis=1))


def test_stages_are_committees(committees, rows):
    votes = committees.votes(rows)
    stages = list(committees.staged_predict(rows))
    assert len(stages) == len(committees) == 7
    for t, stage in enumerate(stages):
        counts = np.stack([(votes[: t + 1] == c).sum(axis=0) for c in range(3)], axis=1)
        np.testing.assert_array_equal(stage, counts.argmax(axis=1))


def test_committees_are_estimators(committees, rows):
    assert len(committees.estimators_) == 7
    for vote, committee in zip(committees.votes(rows), committees.estimators_, strict=True):
        assert isinstance(committee, BoostingIGPClassifier)
        np.testing.assert_array_equal(committee.predict(rows), vote)
        np.testing.assert_allclose(committee.predict_proba(rows).sum(axis=1), 1.0)
    assert committees.estimators_[-1].estimators_[0].predict(rows).shape == (200,)


# -- the first of them -----------------------------------------------------------------------------


def test_the_first_three_by_three(committees, rows):
    smaller = committees.first(3, 3)
    assert [len(forest) for forest in smaller.committee_forests_] == [3, 3, 3]
    for whole, some in zip(committees.committee_forests_, smaller.committee_forests_, strict=False):
        assert_same_forest(whole.subset(range(3)), some)
    assert smaller.get_params()["n_committees"] == smaller.get_params()["n_estimators"] == 3
    assert len(smaller) == 3
    # The whole stays as it was.
    assert len(committees) == 7
    assert committees.n_committees == 7
    X, y = make_waveform(150, random_state=0)
    fresh = IGPCommitteesClassifier(3, 3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(fresh.predict(rows), smaller.predict(rows))
    np.testing.assert_array_equal(fresh.votes(rows), smaller.votes(rows))


def test_committees_that_ended_early_have_fewer(rows):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    committees = IGPCommitteesClassifier(5, 30, random_state=0).fit(X, y)
    sizes = [len(forest) for forest in committees.committee_forests_]
    assert min(sizes) < 30
    assert [len(f) for f in committees.first(5, 8).committee_forests_] == [min(s, 8) for s in sizes]


@pytest.mark.parametrize("size", [(0, 1), (8, 1), (1, 0), (-1, 3)])
def test_impossible_sizes_are_refused(committees, size):
    with pytest.raises(ValueError, match=rf"n_committees={size[0]} and n_estimators={size[1]} are"):
        committees.first(*size)


def test_its_forest_has_the_trees_of_all_committees(committees):
    sizes = [len(forest) for forest in committees.committee_forests_]
    assert len(committees.forest_) == sum(sizes)
    assert_same_forest(committees.forest_.subset(range(sizes[0])), committees.committee_forests_[0])
    importances = committees.feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    # The ends of the waves are noise.
    assert importances[[0, 20]].sum() < 0.08 < importances[[6, 10, 14]].sum()


def test_no_committee_is_refused():
    X, y = table(IGPCommitteesClassifier())
    with pytest.raises(ValueError, match="'n_committees' parameter of IGPCommitteesClassifier"):
        IGPCommitteesClassifier(0).fit(X, y)
