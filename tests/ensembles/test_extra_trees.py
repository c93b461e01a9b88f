"""Extremely randomised trees: random cuts, all samples, and the trees grown by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.ensembles.twins import LEVEL, content_order, generators, redraw, table
from tests.shared import assert_same_forest

from orfeon import ExtraTreesClassifier, ExtraTreesRegressor
from orfeon.data.presorted import Table
from orfeon.ensembles.perturbation import draw_seed
from orfeon.growth import Growth, grow_forest


@pytest.mark.parametrize(
    ("make", "criterion", "drawn"),
    [(ExtraTreesClassifier, "gini", 2), (ExtraTreesRegressor, "variance", None)],
)
def test_the_trees_are_those_grown_by_hand(make, criterion, drawn):
    X, y = table(make())
    forest = make(8, random_state=3).fit(X, y)
    order = content_order(X, y)
    seeds = np.array([draw_seed(rng) for rng in generators(3, 8)])
    growth = Growth(criterion, splitter="random", max_features=drawn)
    by_hand = grow_forest(
        Table(X[order]), y[order], n_classes=3 if criterion == "gini" else 0, seeds=seeds,
        growth=growth,
    )  # fmt: skip
    assert_same_forest(forest.forest_, by_hand)
    bagged = make(8, bootstrap=True, random_state=3).fit(X, y)
    _, counts = redraw(3, 8, len(y))
    by_hand = grow_forest(
        Table(X[order]), y[order], n_classes=3 if criterion == "gini" else 0, seeds=seeds,
        weights=counts, growth=growth,
    )  # fmt: skip
    assert_same_forest(bagged.forest_, by_hand)


def roots(n_trees=600, **given):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 1, 200), rng.uniform(-5, 5, 200), rng.normal(size=200)])
    y = (X[:, 1] > 1).astype(np.int64)
    forest = ExtraTreesClassifier(n_trees, random_state=0, max_depth=1, **given).fit(X, y).forest_
    at = forest.tree_start[:-1]
    return X, forest.feature[at], forest.threshold[at]


def test_random_trees_do_not_look_at_the_classes():
    """With one feature drawn: any feature, and a cut anywhere between its extremes."""
    X, features, thresholds = roots(max_features=1)
    assert stats.chisquare(np.bincount(features, minlength=3)).pvalue > LEVEL
    for j in range(3):
        low, high = X[:, j].min(), X[:, j].max()
        # A cut is moved to the middle between two values, or kept between them: it parts the rows
        # as the uniform one did, so the share of rows below says where it was.
        places = (thresholds[features == j] - low) / (high - low)
        assert stats.kstest(places, "uniform").pvalue > LEVEL


def test_with_all_features_drawn_the_best_cut_is_taken():
    _, features, thresholds = roots(max_features=None)
    assert np.mean(features == 1) > 0.9
    # Its cuts are still random ones.
    assert np.std(thresholds[features == 1]) > 1


def test_all_samples_are_seen():
    X, y = table(ExtraTreesClassifier())
    forest = ExtraTreesClassifier(10, random_state=0).fit(X, y)
    assert (forest.votes(X) == y).all()
    top = forest.forest_.value[forest.forest_.tree_start[:-1]]
    assert (top == np.bincount(y)).all()
    X, y = table(ExtraTreesRegressor())
    answers = ExtraTreesRegressor(10, random_state=0).fit(X, y).predictions(X)
    np.testing.assert_allclose(answers, np.tile(y, (10, 1)), atol=1e-12)


def test_subsamples_without_replacement():
    X, y = table(ExtraTreesClassifier())
    forest = ExtraTreesClassifier(10, max_samples=0.5, random_state=0).fit(X, y)
    top = forest.forest_.value[forest.forest_.tree_start[:-1]]
    assert (top.sum(axis=1) == 45).all()
    assert len(np.unique(top, axis=0)) > 3


@pytest.mark.parametrize("make", [ExtraTreesClassifier, ExtraTreesRegressor])
def test_more_features_than_there_are_is_refused(make):
    X, y = table(make())
    with pytest.raises(ValueError, match="max_features=6 is more than the 5 features"):
        make(max_features=6).fit(X, y)
