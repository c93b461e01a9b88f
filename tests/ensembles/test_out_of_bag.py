"""Out-of-bag estimates by brute force: only members that did not see a sample are asked."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import r2_score
from sklearn.naive_bayes import GaussianNB
from tests.ensembles.twins import LEVEL, Remembering, content_order, numbered, redraw, table

from orfeon import (
    BaggingClassifier,
    BaggingRegressor,
    ObliqueForestClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    WaggingClassifier,
)
from orfeon.data.training_set import TrainingSet
from orfeon.datasets import make_friedman1, make_ringnorm, make_twonorm, make_waveform
from orfeon.ensembles.out_of_bag import left_out


def in_bag(X, y, random_state, n_members):
    """Counts of the rows in the order given, drawn again."""
    _, counts = redraw(random_state, n_members, len(y))
    ordered = np.empty_like(counts)
    ordered[:, content_order(X, y)] = counts
    return ordered


def brute_force(votes, supports, out, y, weights):
    """Shares, error curve and votes of a classifier, sample by sample."""
    n_members, n_rows = votes.shape
    n_classes = supports.shape[2]
    kept = np.full((n_members, n_rows), -1)
    curve = []
    sums, queried = np.zeros((n_rows, n_classes)), np.zeros(n_rows)
    for t in range(n_members):
        wrong = total = 0.0
        for i in range(n_rows):
            if out[t, i]:
                kept[t, i] = votes[t, i]
                sums[i] += supports[t, i]
                queried[i] += 1
            if queried[i]:
                wrong += weights[i] * (np.argmax(sums[i]) != y[i])
                total += weights[i]
        curve.append(wrong / total if total else np.nan)
    shares = np.full((n_rows, n_classes), np.nan)
    shares[queried > 0] = sums[queried > 0] / queried[queried > 0, None]
    return kept, shares, np.array(curve)


# -- brute force -----------------------------------------------------------------------------------


@pytest.mark.parametrize("combine", ["majority", "soft"])
@pytest.mark.parametrize(
    "make", [BaggingClassifier, RandomForestClassifier, ObliqueForestClassifier]
)
def test_a_member_votes_only_on_what_it_did_not_see(make, combine):
    """Also beyond one block of members, and with leaves that are not pure."""
    X, y = table(make())
    given = {} if make is BaggingClassifier else {"min_samples_leaf": 4}
    forest = make(n_estimators=40, combine=combine, oob_score=True, random_state=2, **given).fit(
        X, y
    )
    out = in_bag(X, y, 2, 40) == 0
    votes = forest.votes(X)
    supports = forest.members_.supports(X) if combine == "soft" else np.eye(3)[votes]
    kept, shares, curve = brute_force(votes, supports, out, y, np.ones(len(y)))
    np.testing.assert_array_equal(forest.oob_votes_, kept)
    np.testing.assert_allclose(forest.oob_decision_function_, shares, atol=1e-12)
    np.testing.assert_allclose(forest.oob_error_curve_, curve, atol=1e-12)
    assert forest.oob_error_ == curve[-1]
    assert forest.oob_score_ == 1 - curve[-1]
    assert 0.3 < out.mean() < 0.43


def test_predictions_are_averaged_over_those_that_did_not_see_the_row():
    X, y = table(BaggingRegressor())
    bag = BaggingRegressor(n_estimators=40, oob_score=True, random_state=3).fit(X, y)
    out = in_bag(X, y, 3, 40) == 0
    answers = bag.predictions(X)
    expected = np.array([answers[out[:, i], i].mean() for i in range(len(y))])
    np.testing.assert_allclose(bag.oob_prediction_, expected, atol=1e-12)
    curve = []
    for t in range(1, 41):
        some = out[:t].any(axis=0)
        mean = [answers[:t][out[:t, i], i].mean() for i in np.flatnonzero(some)]
        curve.append(np.mean((mean - y[some]) ** 2))
    np.testing.assert_allclose(bag.oob_error_curve_, curve, atol=1e-12)
    assert bag.oob_error_ == pytest.approx(np.mean((expected - y) ** 2))
    assert bag.oob_score_ == pytest.approx(r2_score(y, expected))
    assert not hasattr(bag, "oob_votes_")


def test_other_base_learners_are_asked_alike():
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(GaussianNB(), 40, oob_score=True, combine="soft", random_state=4)
    bag.fit(X, y)
    _, counts = redraw(4, 40, len(y))  # rows are drawn in the order given
    votes, supports = bag.votes(X), bag.members_.supports(X)
    kept, shares, curve = brute_force(votes, supports, counts == 0, y, np.ones(len(y)))
    np.testing.assert_array_equal(bag.oob_votes_, kept)
    np.testing.assert_allclose(bag.oob_decision_function_, shares, atol=1e-12)
    np.testing.assert_allclose(bag.oob_error_curve_, curve)


def test_members_that_remember_were_not_asked_about_what_they_saw():
    """Nothing is drawn again here: the members themselves know what they were given."""
    n_rows = 50
    for given in ({}, {"bootstrap": "balanced"}, {"bootstrap": False, "max_samples": 0.4}):
        bag = BaggingClassifier(Remembering(), 20, oob_score=True, random_state=0, **given)
        bag.fit(numbered(n_rows), np.arange(n_rows) % 2)
        seen = np.array([member.counts(n_rows) > 0 for member in bag.estimators_])
        np.testing.assert_array_equal(bag.oob_votes_ == -1, seen)
        np.testing.assert_array_equal(bag.in_bag(numbered(n_rows), np.arange(n_rows) % 2) > 0, seen)


@pytest.mark.parametrize(
    "sampling", [{"bootstrap": "balanced"}, {"bootstrap": False, "max_samples": 0.5}]
)
def test_unpruned_trees_know_what_they_saw(sampling):
    """With classes drawn by lot, a tree is right where it saw the row, and elsewhere by chance."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    bag = BaggingClassifier(n_estimators=30, oob_score=True, random_state=0, **sampling).fit(X, y)
    right = bag.votes(X) == y
    out = bag.oob_votes_ >= 0
    assert right[~out].all()
    assert stats.binomtest(int(right[out].sum()), int(out.sum()), 0.5).pvalue > LEVEL
    assert abs(bag.oob_error_ - 0.5) < 4 * np.sqrt(0.25 / 300)


# -- weights ---------------------------------------------------------------------------------------


def test_an_sample_was_seen_as_soon_as_one_of_its_copies_was():
    X, y = table(BaggingClassifier(), 60)
    weights = np.arange(60) % 4
    bag = BaggingClassifier(n_estimators=150, oob_score=True, random_state=5)
    bag.fit(X, y, sample_weight=weights)
    present = np.flatnonzero(weights)
    order = present[content_order(X[present], y[present])]
    units = np.repeat(order, weights[order])
    _, counts = redraw(5, 150, len(units))
    seen = np.zeros((150, 60), bool)
    for t in range(150):
        seen[t, units[counts[t] > 0]] = True
    out = ~seen & (weights > 0)
    votes = bag.votes(X)
    kept, shares, curve = brute_force(votes, np.eye(3)[votes], out, y, weights.astype(float))
    np.testing.assert_array_equal(bag.oob_votes_, kept)
    np.testing.assert_allclose(bag.oob_decision_function_, shares)
    np.testing.assert_allclose(bag.oob_error_curve_, curve)
    # Rows of weight zero were never there: no estimate, and no warning.
    assert np.isnan(bag.oob_decision_function_[weights == 0]).all()
    assert (bag.oob_votes_[:, weights == 0] == -1).all()
    assert not np.isnan(bag.oob_decision_function_[weights > 0]).any()
    # A copy more is a chance more to be seen: (1 - 1/n)^(k n).
    for k in (1, 2, 3):
        expected = (1 - 1 / len(units)) ** (k * len(units))
        assert out[:, weights == k].mean() == pytest.approx(expected, abs=0.03)


def test_errors_are_weighted_by_the_samples_not_by_the_classes():
    X, y = table(BaggingClassifier())
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    for given in ({}, {"class_weight": {0: 3.0, 1: 1.0, 2: 1.0}}):
        bag = BaggingClassifier(n_estimators=200, oob_score=True, random_state=0, **given)
        bag.fit(X, y, sample_weight=weights)
        decided = bag.oob_decision_function_.argmax(axis=1)
        expected = np.average(decided != y, weights=weights)
        assert bag.oob_error_ == pytest.approx(expected)


def test_regression_is_weighted_too():
    X, y = table(BaggingRegressor())
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    weights[:5] = 0
    bag = BaggingRegressor(n_estimators=60, oob_score=True, random_state=0)
    bag.fit(X, y, sample_weight=weights)
    assert np.isnan(bag.oob_prediction_[:5]).all()
    squared = (bag.oob_prediction_[5:] - y[5:]) ** 2
    assert bag.oob_error_ == pytest.approx(np.average(squared, weights=weights[5:]))
    expected = r2_score(y[5:], bag.oob_prediction_[5:], sample_weight=weights[5:])
    assert bag.oob_score_ == pytest.approx(expected)


# -- samples that were never left out -------------------------------------------------------------


def test_samples_seen_by_every_member_are_nan_with_a_warning():
    X, y = table(BaggingClassifier())
    out = in_bag(X, y, 0, 3) == 0
    never = ~out.any(axis=0)
    message = f"{never.sum()} of 90 samples were seen by every member"
    with pytest.warns(UserWarning, match=message):
        bag = BaggingClassifier(n_estimators=3, oob_score=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(np.isnan(bag.oob_decision_function_).any(axis=1), never)
    decided = bag.oob_decision_function_[~never].argmax(axis=1)
    assert bag.oob_error_ == pytest.approx(np.mean(decided != y[~never]))


@pytest.mark.parametrize("make", [RandomForestClassifier, RandomForestRegressor])
def test_without_bootstrap_there_is_no_estimate(make):
    X, y = table(make())
    with pytest.warns(UserWarning, match="90 of 90 samples were seen by every member"):
        forest = make(5, bootstrap=False, oob_score=True).fit(X, y)
    assert np.isnan(forest.oob_error_)
    assert np.isnan(forest.oob_score_)
    assert np.isnan(forest.oob_error_curve_).all()


def test_estimates_go_when_they_are_not_asked_for_again():
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    assert bag.oob_error_curve_.shape == (40,)
    bag.set_params(oob_score=False).fit(X, y)
    for name in ("oob_error_", "oob_score_", "oob_votes_", "oob_decision_function_"):
        assert not hasattr(bag, name)


# -- is it true? -----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [make_twonorm, make_ringnorm, make_waveform])
@pytest.mark.parametrize("ensemble", [BaggingClassifier, RandomForestClassifier, WaggingClassifier])
def test_the_estimate_agrees_with_the_error_on_test_data(make, ensemble):
    X_test, y_test = make(4000, random_state=100)
    estimated, true = [], []
    for seed in range(5):
        X, y = make(200, random_state=seed)
        fitted = ensemble(n_estimators=100, oob_score=True, random_state=seed).fit(X, y)
        estimated.append(fitted.oob_error_)
        true.append(np.mean(fitted.predict(X_test) != y_test))
    e = np.mean(true)
    error = np.sqrt(e * (1 - e) / (5 * 200))
    assert abs(np.mean(estimated) - e) < stats.norm.isf(LEVEL / 2) * error


def test_the_estimate_of_a_regressor_agrees_too():
    X_test, y_test = make_friedman1(4000, random_state=100)
    ratios = []
    for seed in range(5):
        X, y = make_friedman1(200, random_state=seed)
        bag = BaggingRegressor(n_estimators=100, oob_score=True, random_state=seed).fit(X, y)
        ratios.append(bag.oob_error_ / np.mean((bag.predict(X_test) - y_test) ** 2))
    # Squared errors of 1000 samples: a standard error of about sqrt(2 / 1000).
    assert abs(np.mean(ratios) - 1) < stats.norm.isf(LEVEL / 2) * np.sqrt(2 / 1000)


# -- left_out, in_bag, permutation -----------------------------------------------------------------


def test_left_out_asks_for_all_copies():
    samples = TrainingSet(
        np.zeros(5, int), np.ones(5), 1, 1, rows=np.array([7, 2, 7, 4, 2]), n_given=9
    )
    seen = np.array([[True, False, False, False, False], [False] * 5, [True] * 5])
    out, one = left_out(seen, samples)
    assert out.tolist() == [[True, True, False], [True, True, True], [False, False, False]]
    assert samples.rows[one].tolist() == [2, 4, 7]


def test_what_was_in_the_bag_is_drawn_again():
    X, y = table(RandomForestClassifier())
    forest = RandomForestClassifier(15, random_state=3).fit(X, y)
    counts = forest.in_bag(X, y)
    np.testing.assert_array_equal(counts, in_bag(X, y, 3, 15))
    moved = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(forest.in_bag(X[moved], y[moved]), counts[:, moved])
    with pytest.raises(ValueError, match="not the training set of all members"):
        forest.in_bag(X, y, sample_weight=np.full(len(y), 2))
    with pytest.raises(ValueError, match="not the training set of all members"):
        forest.in_bag(X[:-1], y[:-1])
    with pytest.raises(ValueError, match="or the parameters have changed since"):
        forest.set_params(max_samples=0.5).in_bag(X, y)


def test_in_bag_counts_copies():
    X, y = table(RandomForestClassifier())
    weights = np.arange(len(y)) % 3
    forest = RandomForestClassifier(15, random_state=3).fit(X, y, sample_weight=weights)
    counts = forest.in_bag(X, y, sample_weight=weights)
    assert (counts.sum(axis=1) == weights.sum()).all()
    assert (counts[:, weights == 0] == 0).all()
    roots = forest.forest_.value[forest.forest_.tree_start[:-1]]
    for c in range(3):
        np.testing.assert_array_equal(counts[:, y == c].sum(axis=1), roots[:, c])


def test_a_forest_is_a_weighted_neighbourhood():
    """Its prediction for a new row is the weighted mean of the training targets."""
    X, y = table(RandomForestRegressor())
    X_new, _ = table(RandomForestRegressor(), seed=9)
    forest = RandomForestRegressor(20, random_state=0, min_samples_leaf=3).fit(X, y)
    weights = forest.training_weights(X_new, X, y)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    np.testing.assert_allclose(weights @ y, forest.predict(X_new))


@pytest.mark.parametrize("make", [RandomForestRegressor, BaggingRegressor])
def test_permutation_finds_the_informative_features(make):
    """Five of the ten features of friedman1 are noise."""
    X, y = make_friedman1(300, random_state=0)
    forest = make(n_estimators=60, importance="permutation", random_state=0).fit(X, y)
    importances = forest.feature_importances_
    assert importances.shape == (10,)
    assert set(np.argsort(importances)[::-1][:5]) == set(range(5))
    found = forest.permutation_importances_
    np.testing.assert_array_equal(importances, found.mean)
    assert not hasattr(forest, "oob_error_")


def test_permutation_asks_members_about_what_they_did_not_see():
    """Classes drawn by lot, learnt by heart: no attribute is important to those who did not see."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    forest = RandomForestClassifier(100, importance="permutation", random_state=0).fit(X, y)
    # Those who saw the samples would err on a fifth of them more.
    assert np.abs(forest.feature_importances_).max() < 0.05
    impurity = RandomForestClassifier(100, random_state=0).fit(X, y)
    assert impurity.feature_importances_.min() > 0.2


def test_permutation_needs_trees():
    X, y = table(BaggingClassifier())
    with pytest.raises(ValueError, match=r"importance=.permutation. is measured on trees"):
        BaggingClassifier(GaussianNB(), 5, importance="permutation").fit(X, y)
