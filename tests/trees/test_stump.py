"""Stumps: one test, the best there is."""

from __future__ import annotations

import numpy as np
import pytest
from tests.shared import assert_same_forest

from orfeon import CARTClassifier, CARTRegressor, StumpClassifier, StumpRegressor


def test_a_stump_is_the_first_test_of_a_tree(waveform, friedman):
    X, y = waveform
    for criterion in ("gini", "entropy"):
        stump = StumpClassifier(criterion=criterion, random_state=0).fit(X, y)
        tree = CARTClassifier(criterion=criterion, max_depth=1, random_state=0).fit(X, y)
        assert_same_forest(stump.forest_, tree.forest_)
        whole = CARTClassifier(criterion=criterion, random_state=0).fit(X, y).forest_
        assert stump.forest_.threshold[0] == whole.threshold[0]
        assert stump.forest_.feature[0] == whole.feature[0]
    X, y = friedman
    stump, tree = StumpRegressor(random_state=0), CARTRegressor(max_depth=1, random_state=0)
    assert_same_forest(stump.fit(X, y).forest_, tree.fit(X, y).forest_)


def test_no_other_test_is_better():
    """Every threshold of every feature tried by hand."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        X, y = np.round(rng.normal(size=(30, 3)), 1), rng.integers(0, 3, 30)
        stump = StumpClassifier().fit(X, y)

        def score(left, y=y):
            sides = (y[left], y[~left])
            return sum((np.bincount(side) ** 2).sum() / len(side) for side in sides)

        best = max(score(X[:, j] <= cut) for j in range(3) for cut in np.unique(X[:, j])[:-1])
        chosen = X[:, stump.forest_.feature[0]] <= stump.forest_.threshold[0]
        assert score(chosen) == pytest.approx(best, rel=1e-12)


def test_a_regression_stump_predicts_the_mean_of_each_side():
    X, y = np.arange(6.0)[:, None], np.array([1.0, 2.0, 3.0, 10.0, 11.0, 15.0])
    stump = StumpRegressor().fit(X, y)
    assert stump.forest_.threshold[0] == 2.5
    assert stump.predict([[0.0], [9.0]]).tolist() == [2.0, 12.0]
    weighted = StumpRegressor().fit(X, y, sample_weight=[1, 1, 1, 1, 1, 4])
    assert weighted.predict([[9.0]]).tolist() == [13.5]


def test_there_are_two_leaves_or_one():
    X = np.random.default_rng(1).normal(size=(50, 2))
    assert StumpClassifier().fit(X, X[:, 0] > 0).get_n_leaves() == 2
    assert StumpClassifier().fit(np.ones((50, 2)), X[:, 0] > 0).get_n_leaves() == 1
    assert StumpRegressor().fit(X, np.ones(50)).get_n_leaves() == 1


def test_weights_move_the_test():
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    cuts = [
        StumpClassifier().fit(X, y, sample_weight=w).forest_.threshold[0]
        for w in ([9, 9, 1, 1], [1, 9, 9, 1], [1, 1, 9, 9])
    ]
    assert cuts == [0.5, 1.5, 2.5]


def test_missing_values_alone_make_a_test():
    X = np.array([[1.0], [1.0], [np.nan], [np.nan]])
    stump = StumpClassifier().fit(X, [0, 0, 1, 1])
    assert stump.predict([[1.0], [5.0], [np.nan]]).tolist() == [0, 0, 1]
