"""Bagging: what each member sees, and that its trees are those grown by hand from the draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.ensembles.twins import (
    LEVEL,
    Remembering,
    RememberingRegressor,
    RememberingWithoutWeights,
    content_order,
    numbered,
    redraw,
    table,
)
from tests.shared import assert_same_forest

from orfeon import BaggingClassifier, BaggingRegressor, CARTClassifier, CARTRegressor
from orfeon.data.presorted import Table
from orfeon.datasets import make_waveform
from orfeon.growth import Growth, grow_forest


def samples(bag, n_rows=40, sample_weight=None):
    """How often each row is in each member's sample."""
    y = np.arange(n_rows) % 2
    bag.fit(numbered(n_rows), y, sample_weight=sample_weight)
    return np.array([member.counts(n_rows) for member in bag.estimators_])


# -- what members see ------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [Remembering, RememberingWithoutWeights, RememberingRegressor])
def test_samples_are_bootstrap_samples(base):
    """As many as there are, each sample binomial, whether the base takes weights or not."""
    make = BaggingRegressor if base is RememberingRegressor else BaggingClassifier
    counts = samples(make(base(), 1000, random_state=0))
    assert (counts.sum(axis=1) == 40).all()
    assert stats.chisquare(counts.sum(axis=0)).pvalue > LEVEL
    times = np.bincount(counts[:, 7].astype(int), minlength=5)[:4]
    expected = 1000 * stats.binom(40, 1 / 40).pmf(np.arange(4))
    rest = [1000 - times.sum()], [1000 - expected.sum()]
    observed = np.concatenate([times, rest[0]])
    assert stats.chisquare(observed, np.concatenate([expected, rest[1]])).pvalue > LEVEL
    distinct = (counts > 0).mean()
    assert distinct == pytest.approx(1 - (1 - 1 / 40) ** 40, abs=0.008)


def test_members_have_samples_of_their_own():
    counts = samples(BaggingClassifier(Remembering(), 50, random_state=0))
    assert len({row.tobytes() for row in counts}) == 50
    assert abs(np.corrcoef(counts[0], counts[1])[0, 1]) < 0.5


def test_weighted_samples_are_drawn_in_proportion():
    weights = np.linspace(0.1, 2.0, 40)
    bag = BaggingClassifier(Remembering(), 500, random_state=0)
    counts = samples(bag, sample_weight=weights)
    assert (counts.sum(axis=1) == 40).all()
    expected = 500 * 40 * weights / weights.sum()
    assert stats.chisquare(counts.sum(axis=0), expected).pvalue > LEVEL


@pytest.mark.parametrize(("max_samples", "size"), [(0.5, 20), (13, 13), (0.01, 1), (40, 40)])
@pytest.mark.parametrize("bootstrap", [True, False, "balanced"])
def test_the_size_of_the_samples_can_be_chosen(max_samples, size, bootstrap):
    base = Remembering()
    bag = BaggingClassifier(base, 4, bootstrap=bootstrap, max_samples=max_samples, random_state=0)
    counts = samples(bag)
    assert (counts.sum(axis=1) == size).all()
    if bootstrap is False:
        assert set(counts.ravel()) <= {0, 1}
    else:
        assert counts.max() > 1 or size < 20


def test_a_balanced_bootstrap_draws_every_sample_equally_often():
    counts = samples(BaggingClassifier(Remembering(), 15, bootstrap="balanced", random_state=0))
    assert (counts.sum(axis=0) == 15).all()
    assert (counts.sum(axis=1) == 40).all()
    assert counts.max() > 2
    bag = BaggingClassifier(Remembering(), 7, bootstrap="balanced", max_samples=11, random_state=0)
    totals = samples(bag).sum(axis=0)
    assert totals.sum() == 77
    assert totals.max() - totals.min() == 1


def test_a_balanced_bootstrap_counts_copies():
    """A sample of weight 3 is three, and each is drawn as often as any other."""
    weights = np.arange(40) % 4
    X, y = table(BaggingClassifier(), 40)
    bag = BaggingClassifier(n_estimators=12, bootstrap="balanced", random_state=0)
    bag.fit(X, y, sample_weight=weights)
    roots = bag.forest_.value[bag.forest_.tree_start[:-1]]
    expected = 12 * np.bincount(y, weights=weights)
    np.testing.assert_array_equal(roots.sum(axis=0), expected)


def test_balanced_samples_hold_weighted_samples_in_proportion():
    """As nearly as whole numbers allow."""
    weights = np.linspace(0.1, 2.0, 40)
    bag = BaggingClassifier(Remembering(), 25, bootstrap="balanced", random_state=0)
    counts = samples(bag, sample_weight=weights)
    assert (counts.sum(axis=1) == 40).all()
    assert np.abs(counts.sum(axis=0) - 1000 * weights / weights.sum()).max() < 1


# -- the trees -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "growth"),
    [
        (CARTClassifier(), Growth()),
        (CARTClassifier(criterion="entropy", max_depth=4), Growth("entropy", max_depth=4)),
        (CARTClassifier(max_features=2, n_best=3), Growth(max_features=2, n_best=3)),
        (CARTClassifier(min_samples_leaf=4), Growth(min_samples_leaf=4)),
    ],
)
def test_the_trees_are_those_grown_by_hand(base, growth):
    X, y = table(BaggingClassifier())
    bag = BaggingClassifier(base, 10, random_state=5).fit(X, y)
    order = content_order(X, y)
    seeds, counts = redraw(5, 10, len(y))
    forest = grow_forest(
        Table(X[order]), y[order], n_classes=3, seeds=seeds, weights=counts, growth=growth
    )
    assert_same_forest(bag.forest_, forest)
    # Without the weights or the seeds it would be another.
    other = grow_forest(Table(X[order]), y[order], n_classes=3, seeds=seeds, growth=growth)
    assert not np.array_equal(bag.forest_.tree_start, other.tree_start)


def test_regression_trees_are_those_grown_by_hand():
    X, y = table(BaggingRegressor())
    bag = BaggingRegressor(n_estimators=10, random_state=6).fit(X, y)
    order = content_order(X, y)
    seeds, counts = redraw(6, 10, len(y))
    forest = grow_forest(Table(X[order]), y[order], n_classes=0, seeds=seeds, weights=counts)
    assert_same_forest(bag.forest_, forest)
    np.testing.assert_allclose(
        bag.predict(X), np.mean([forest.subset([t]).predict(X) for t in range(10)], axis=0)
    )


@pytest.mark.parametrize("pruning", ["cv", 0.02])
def test_pruned_trees_are_bagged_pruned(pruning):
    X, y = make_waveform(300, random_state=1)
    base = CARTClassifier(pruning=pruning)
    pruned = BaggingClassifier(base, 10, random_state=0).fit(X, y)
    unpruned = BaggingClassifier(n_estimators=10, random_state=0).fit(X, y)
    assert (pruned.forest_.n_leaves < unpruned.forest_.n_leaves).all()
    assert (pruned.forest_.n_leaves > 1).all()


def test_all_samples_and_no_bootstrap_is_the_same_tree_again():
    """But for ties between splits, which continuous values do not have here."""
    X, y = table(BaggingRegressor())
    bag = BaggingRegressor(n_estimators=3, bootstrap=False, random_state=0).fit(X, y)
    alone = CARTRegressor(random_state=0).fit(X, y)
    for answers in bag.predictions(X):
        np.testing.assert_allclose(answers, alone.predict(X), atol=1e-12)


def test_bagging_errs_less_than_its_members():
    X, y = make_waveform(300, random_state=2)
    X_test, y_test = make_waveform(3000, random_state=3)
    bag = BaggingClassifier(n_estimators=50, random_state=0).fit(X, y)
    members = (bag.votes(X_test) != y_test).mean(axis=1)
    assert members.min() > 0.24
    assert np.mean(bag.predict(X_test) != y_test) < 0.21


# -- refusals --------------------------------------------------------------------------------------


def test_more_samples_than_samples_are_refused():
    X, y = table(BaggingClassifier())
    with pytest.raises(ValueError, match="max_samples=91 is more than the 90 training samples"):
        BaggingClassifier(max_samples=91).fit(X, y)
    # Copies are samples.
    bag = BaggingClassifier(n_estimators=1, max_samples=180, random_state=0)
    forest = bag.fit(X, y, sample_weight=np.full(90, 2)).forest_
    assert forest.value[0].sum() == 180


@pytest.mark.parametrize("max_samples", [0, -1, 1.5, 0.0, "half"])
def test_impossible_sizes_are_refused(max_samples):
    X, y = table(BaggingClassifier())
    with pytest.raises(ValueError, match="'max_samples' parameter of BaggingClassifier must be"):
        BaggingClassifier(max_samples=max_samples).fit(X, y)
