"""Soft thresholds: near a cut a row goes down both branches; compared with plain recursion."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles import soft_thresholds as oracle
from tests.shared import cases
from tests.trees.test_c45_rules import problem

import orfeon
from orfeon import AdaBoostClassifier, BaggingClassifier, C45Classifier
from orfeon.datasets import make_waveform
from orfeon.forest.soft_thresholds import interval, left_share, soft_supports
from orfeon.io import ModelFileError
from orfeon.io.onnx import NoOnnxFormError


@pytest.mark.parametrize("settings", [{}, {"pruning": False, "min_samples_leaf": 1}], ids=str)
def test_intervals_and_shares_are_those_of_plain_recursion(settings):
    n_cuts = n_wide = 0
    for seed in range(cases(48)):
        X, y, weights = problem(seed)
        tree = C45Classifier(
            soft_thresholds=True, categorical_features=[2, 3], mdl_penalty=False, **settings
        ).fit(X, y, weights)
        forest, encoded = tree.forest_, tree._encode(X)
        labels = np.searchsorted(tree.classes_, y)
        expected = oracle.intervals(forest, encoded, labels, weights)
        for node, (lower, upper) in expected.items():
            assert tree.soft_bounds_[node] == pytest.approx((lower, upper), abs=1e-12)
            assert lower <= forest.threshold[node] <= upper
            n_cuts += 1
            n_wide += lower < forest.threshold[node] < upper
        for row, shares in zip(encoded, tree.predict_proba(X), strict=True):
            assert shares == pytest.approx(oracle.supports(forest, tree.soft_bounds_, row))
        likeliest = tree.classes_[np.argmax(tree.predict_proba(X), axis=1)]
        np.testing.assert_array_equal(tree.predict(X), likeliest)
    assert n_cuts > cases(48)
    assert n_wide > 0.3 * n_cuts


def test_an_interval_by_hand():
    # Samples 1 to 5 and 12 belong to the left. With the cut at 6, samples 6 and 12 are wrong, so
    # the limit is 2 + sqrt(2.5 * 10.5 / 13) = 3.421.
    values = np.arange(1.0, 13.0)
    is_left = np.isin(values, [1, 2, 3, 4, 5, 12])
    left, right = np.where(is_left, 0.0, 1.0), np.where(is_left, 1.0, 0.0)
    limit = 2 + np.sqrt(2.5 * 10.5 / 13)
    lower, upper = interval(values, left, right, np.ones(12), 6.0)
    # Errors if the cut were at 1, 2...: 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7, 6.
    assert lower == pytest.approx(3 - (limit - 3))
    assert upper == pytest.approx(7 + (limit - 3))


def test_the_share_falls_from_one_over_a_half_to_none():
    shares = left_share(np.array([0.0, 1.0, 1.5, 2.0, 4.0, 6.0, 7.0]), 1.0, 2.0, 6.0)
    assert shares.tolist() == [1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    assert left_share(np.array([1.9, 2.0, 2.1]), 2.0, 2.0, 2.0).tolist() == [1.0, 1.0, 0.0]


def test_far_from_all_cuts_nothing_changes_and_near_them_shares_move_without_a_jump():
    X, y = make_waveform(300, random_state=0)
    soft = C45Classifier(soft_thresholds=True, max_depth=2).fit(X, y)
    hard = C45Classifier(max_depth=2).fit(X, y)
    np.testing.assert_array_equal(soft.forest_.nodes, hard.forest_.nodes)
    assert hard.soft_bounds_ is None
    cuts = np.repeat(hard.forest_.threshold[:, None], 2, axis=1)
    np.testing.assert_allclose(soft_supports(hard.forest_, cuts, X), hard.predict_proba(X))
    root = int(soft.forest_.feature[0])
    inner = np.flatnonzero(hard.forest_.n_children)
    assert (hard.forest_.feature[inner] == root).sum() == 1
    rows = np.tile(X[:1], (2001, 1))
    rows[:, root] = np.linspace(X[:, root].min(), X[:, root].max(), 2001)
    (lower, upper), cut = soft.soft_bounds_[0], soft.forest_.threshold[0]
    steepest = 0.5 * (rows[1, root] - rows[0, root]) / min(cut - lower, upper - cut)
    moved, jumped = (np.abs(np.diff(t.predict_proba(rows), axis=0)).max() for t in (soft, hard))
    assert moved <= steepest + 1e-12
    assert jumped > 10 * steepest


def test_weights_are_copies():
    X, y = make_waveform(150, random_state=0)
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, 150)
    rows = rng.permutation(np.repeat(np.arange(150), weights))
    tree = C45Classifier(soft_thresholds=True)
    weighted = tree.fit(X, y, weights).soft_bounds_
    assert (weighted[:, 0] < weighted[:, 1]).sum() > 5
    np.testing.assert_array_equal(tree.fit(X[rows], y[rows]).soft_bounds_, weighted)
    halves = tree.fit(X, y, 0.5 * (weights > 0)).soft_bounds_
    np.testing.assert_array_equal(tree.fit(X, y, 1.0 * (weights > 0)).soft_bounds_, halves)


def test_it_is_saved_and_is_of_one_tree_only(tmp_path):
    X, y = make_waveform(100, random_state=0)
    tree = C45Classifier(soft_thresholds=True).fit(X, y)
    path = tmp_path / "soft.orfeon"
    orfeon.save(tree, path)
    np.testing.assert_array_equal(orfeon.load(path).predict_proba(X), tree.predict_proba(X))
    with pytest.raises(NoOnnxFormError, match="a tree with soft thresholds has no ONNX form"):
        orfeon.to_onnx(tree, missing="never")
    for ensemble in (BaggingClassifier, AdaBoostClassifier):
        members = ensemble(C45Classifier(soft_thresholds=True), n_estimators=2)
        with pytest.raises(ValueError, match="soft_thresholds=True is for a single tree"):
            members.fit(X, y)
    tree.soft_bounds_ = tree.soft_bounds_[1:]
    with pytest.raises(ModelFileError, match="soft_bounds_ must have a row for each node"):
        orfeon.save(tree, path)
    assert C45Classifier().fit(X, y).soft_bounds_ is None
