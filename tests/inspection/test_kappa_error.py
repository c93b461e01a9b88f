"""Kappa and error of pairs of members."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from orfeon import AdaBoostClassifier, BaggingClassifier, BaggingRegressor
from orfeon.datasets import make_twonorm
from orfeon.inspection.kappa_errors import kappa_error
from orfeon.members.votes import read_selection
from orfeon.ordering.kappa import pairwise_kappa


def random_votes(seed, n_members=9, n_samples=60, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_samples)
    guess = rng.integers(0, n_classes, (n_members, n_samples))
    return np.where(rng.random(guess.shape) < 0.6, y, guess), y


def test_two_members_by_hand():
    """They agree on 6 of 10; both vote for the first class 6 times: by chance on 0.36 + 0.16."""
    votes = [[0, 0, 0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 0, 0, 1, 1]]
    y = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    cloud = kappa_error(votes, y=y)
    assert cloud.kappa == pytest.approx([(0.6 - 0.52) / (1 - 0.52)])
    assert cloud.error == pytest.approx([0.2])
    assert cloud.pairs.tolist() == [[0, 1]]
    assert cloud.centroid == pytest.approx((1 / 6, 0.2))
    assert cloud.spread == (0.0, 0.0)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_kappa_is_that_of_cohen_and_error_the_mean(n_classes):
    votes, y = random_votes(n_classes, n_classes=n_classes)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    cloud = kappa_error(votes, y=y, sample_weight=weights)
    assert len(cloud) == 36
    assert cloud.pairs.tolist() == [list(pair) for pair in combinations(range(9), 2)]
    errors = np.average(votes != y, axis=1, weights=weights)
    for (i, k), kappa, error in zip(cloud.pairs, cloud.kappa, cloud.error, strict=True):
        expected = cohen_kappa_score(votes[i], votes[k], sample_weight=weights)
        assert kappa == pytest.approx(expected, abs=1e-13)
        assert error == pytest.approx((errors[i] + errors[k]) / 2, abs=1e-14)
    assert cloud.centroid == pytest.approx((cloud.kappa.mean(), errors.mean()))
    assert cloud.spread == pytest.approx((cloud.kappa.std(), cloud.error.std()))


def test_kappa_is_the_one_that_members_are_ordered_by():
    votes, y = random_votes(1)
    matrix = pairwise_kappa(read_selection(votes, y))
    np.testing.assert_array_equal(kappa_error(votes, y=y).kappa, matrix[np.triu_indices(9, 1)])


def test_kappa_does_not_know_what_is_right():
    """Labels changed, kappa the same, error not."""
    votes, y = random_votes(2)
    one, other = kappa_error(votes, y=y), kappa_error(votes, y=(y + 1) % 3)
    np.testing.assert_array_equal(one.kappa, other.kappa)
    assert other.centroid[1] > one.centroid[1] + 0.3


def test_extremes_of_agreement():
    votes = [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    cloud = kappa_error(votes, y=[0, 0, 1, 1])
    found = dict(zip(map(tuple, cloud.pairs.tolist()), cloud.kappa, strict=True))
    assert found[0, 1] == 1  # always agree
    assert found[0, 2] == -1  # never agree
    assert found[0, 3] == 0  # a constant vote agrees as chance does
    assert found[3, 4] == 1  # nothing over nothing, and they always agree


def test_pairs_are_on_the_samples_on_which_both_vote():
    votes = np.array([[0, 0, 1, 1, 0, -1], [0, 1, 1, 0, -1, 0], [-1, -1, -1, -1, 1, -1]])
    cloud = kappa_error(votes, y=[0, 0, 1, 1, 1, 1], no_vote=-1)
    assert cloud.pairs.tolist() == [[0, 1], [0, 2]]  # 1 and 2 never meet
    # 0 and 1 agree on 2 of 4; 0 and 2 meet on one sample, on which they disagree for good.
    assert cloud.kappa.tolist() == [0.0, 0.0]
    assert cloud.error.tolist() == [0.25, 0.5]
    with pytest.raises(ValueError, match="no two members vote on a common sample"):
        kappa_error([[0, -1], [-1, 1]], y=[0, 1], no_vote=-1)


def test_weight_two_is_twice():
    votes, y = random_votes(3)
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    one = kappa_error(votes, y=y, sample_weight=weights)
    other = kappa_error(np.repeat(votes, weights, axis=1), y=np.repeat(y, weights))
    np.testing.assert_array_equal(one.kappa, other.kappa)
    np.testing.assert_array_equal(one.error, other.error)


# -- samples of pairs ------------------------------------------------------------------------------


def test_sampled_pairs_are_some_of_all_and_fixed_by_the_seed():
    votes, y = random_votes(4, n_members=30)
    whole = kappa_error(votes, y=y)
    some = kappa_error(votes, y=y, max_pairs=100, random_state=7)
    assert (len(whole), len(some)) == (435, 100)
    places = {tuple(pair): place for place, pair in enumerate(whole.pairs.tolist())}
    found = [places[tuple(pair)] for pair in some.pairs.tolist()]
    assert len(set(found)) == 100
    assert found == sorted(found)
    np.testing.assert_array_equal(some.kappa, whole.kappa[found])
    np.testing.assert_array_equal(some.error, whole.error[found])
    assert (some.centroid, some.spread) == (whole.centroid, whole.spread)
    again = kappa_error(votes, y=y, max_pairs=100, random_state=7)
    np.testing.assert_array_equal(again.pairs, some.pairs)
    other = kappa_error(votes, y=y, max_pairs=100, random_state=8)
    assert (other.pairs != some.pairs).any()
    assert len(kappa_error(votes, y=y, max_pairs=1000)) == 435


def test_sampled_pairs_are_drawn_evenly():
    votes, y = random_votes(5, n_members=12)
    drawn = np.zeros((12, 12))
    rng = np.random.default_rng(0)
    for _ in range(300):
        pairs = kappa_error(votes, y=y, max_pairs=22, random_state=rng).pairs
        drawn[pairs[:, 0], pairs[:, 1]] += 1
    counts = drawn[np.triu_indices(12, 1)]
    assert counts.sum() == 300 * 22
    assert counts.min() > 65  # 100 expected, with a standard deviation of 8
    assert counts.max() < 135


# -- what is known of ensembles --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_cloud_of_boosting_is_wider_and_higher_than_that_of_bagging(seed):
    """Twonorm, on the training set and on other samples: mean error, and spreads of both."""
    X, y = make_twonorm(300, random_state=seed)
    bag, boosted = (
        method(n_estimators=40, random_state=seed).fit(X, y)
        for method in (BaggingClassifier, AdaBoostClassifier)
    )
    for samples in ((X, y), make_twonorm(1000, random_state=100 + seed)):
        one, other = kappa_error(bag, *samples), kappa_error(boosted, *samples)
        assert len(one) == len(other) == 780
        assert other.centroid[1] > one.centroid[1] + 0.08  # higher
        assert other.centroid[0] < one.centroid[0] - 0.15  # more diverse
        assert other.spread[0] > 1.2 * one.spread[0]  # wider in kappa
        assert other.spread[1] > 1.2 * one.spread[1]  # and in error


def test_out_of_bag_pairs_err_as_on_other_samples(waveform):
    X, y = waveform
    bag = BaggingClassifier(n_estimators=20, random_state=0).fit(X, y)
    inside, outside = kappa_error(bag, X, y), kappa_error(bag, X, y, on="out_of_bag")
    assert inside.centroid[1] < 0.15
    assert outside.centroid[1] > 0.25
    assert outside.centroid[0] < inside.centroid[0] - 0.2


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_pairs", [0, -1, 2.5, True, "all"])
def test_a_number_of_pairs_that_is_none_is_refused(max_pairs):
    with pytest.raises(ValueError, match=f"max_pairs={max_pairs!r} is not allowed"):
        kappa_error([[0, 1], [1, 1]], y=[0, 1], max_pairs=max_pairs)


def test_other_bad_input_is_refused(friedman):
    with pytest.raises(ValueError, match="has 1 member; diversity needs two or more"):
        kappa_error([[0, 1]], y=[0, 1])
    with pytest.raises(ValueError, match="y is missing"):
        kappa_error([[0, 1], [1, 1]])
    regressors = BaggingRegressor(n_estimators=3, random_state=0).fit(*friedman)
    with pytest.raises(ValueError, match="votes for classes are needed"):
        kappa_error(regressors, *friedman)
