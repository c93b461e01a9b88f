"""CART: the splits of the book, and what its settings mean."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.shared import assert_same_forest

from orfeon import CARTClassifier, CARTRegressor
from orfeon.forest.pruning import node_impurities

# -- splits ----------------------------------------------------------------------------------------

#: Six samples of two classes in shares of 1/3 and 2/3, and two features of one test each.
SIX = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, 1]], dtype=float)
SIX_CLASSES = np.array([1, 1, 1, 0, 0, 1])


def gini(*counts: int) -> Fraction:
    """The sum of p_i p_j over i < j: half of 1 minus the sum of squares."""
    total = sum(counts)
    return sum(
        (Fraction(a, total) * Fraction(b, total) for a, b in itertools.combinations(counts, 2)),
        Fraction(0),
    )


def test_the_worked_sample_of_two_splits():
    """Gini 2/9 at the root, gains of 1/9 and 1/18: the first is chosen (Martínez-Muñoz 2006)."""
    assert gini(2, 4) == Fraction(2, 9)
    gains = []
    for feature in (0, 1):
        parts = [SIX_CLASSES[SIX[:, feature] == side] for side in (0, 1)]
        after = [Fraction(len(p), 6) * gini(*np.bincount(p, minlength=2).tolist()) for p in parts]
        gains.append(gini(2, 4) - sum(after))
    assert gains == [Fraction(1, 9), Fraction(1, 18)]

    for seed in range(10):
        tree = CARTClassifier(max_depth=1, random_state=seed).fit(SIX, SIX_CLASSES)
        assert (tree.forest_.feature[0], tree.forest_.threshold[0]) == (0, 0.5)
    for feature, gain in enumerate(gains):
        forest = CARTClassifier(max_depth=1).fit(SIX[:, [feature]], SIX_CLASSES).forest_
        impurity = node_impurities(forest, "gini")
        assert impurity[0] / 2 == pytest.approx(2 / 9, abs=1e-15)
        left = forest.weights()[1:] @ impurity[1:] / 6
        assert (impurity[0] - left) / 2 == pytest.approx(float(gain), abs=1e-15)


def test_thresholds_are_midpoints():
    tree = CARTClassifier().fit([[1.0], [2.0], [5.0]], [0, 0, 1])
    assert tree.forest_.threshold[0] == 3.5
    assert tree.predict([[3.5], [np.nextafter(3.5, 4)]]).tolist() == [0, 1]


def test_trees_grow_until_every_leaf_is_pure(waveform):
    X, y = waveform
    for settings in ({}, {"criterion": "entropy"}, {"max_features": 1}, {"n_best": 20}):
        tree = CARTClassifier(random_state=0, **settings).fit(X, y)
        assert tree.score(X, y) == 1.0
        assert (np.count_nonzero(tree.forest_.value[tree.forest_.is_leaf], axis=1) == 1).all()


def test_light_samples_are_set_apart_too(waveform):
    X, y = waveform
    weights = np.random.default_rng(0).exponential(size=300) ** 2
    tree = CARTClassifier(random_state=0).fit(X, y, sample_weight=weights)
    assert tree.score(X, y) == 1.0
    tree = CARTRegressor(random_state=0).fit(X, X[:, 0], sample_weight=weights)
    np.testing.assert_allclose(tree.predict(X), X[:, 0], atol=1e-8)


def test_a_tied_leaf_takes_the_label_of_its_parent():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]])
    tree = CARTClassifier().fit(X, [0, 1, 1, 1, 1])
    assert tree.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]
    assert tree.predict([[0.0]]).tolist() == [1]
    tree = CARTClassifier().fit(X[:2], ["b", "a"])
    assert tree.predict([[0.0]]).tolist() == ["a"]


def test_equally_good_features_are_chosen_at_random():
    X = np.repeat(np.arange(10.0)[:, None], 4, axis=1)
    y = np.arange(10) // 5
    used = [CARTClassifier(random_state=s).fit(X, y).forest_.feature[0] for s in range(400)]
    assert np.bincount(used, minlength=4).min() > 70


def test_categories_are_split_into_the_best_subset():
    pandas = pytest.importorskip("pandas")
    colours = ["red", "green", "blue", "grey", "pink"] * 6
    frame = pandas.DataFrame({"colour": colours, "noise": np.arange(30) % 7})
    warm = np.isin(colours, ["red", "pink"])
    for y in (warm, np.where(warm, "warm", "cold")):
        tree = CARTClassifier(random_state=0).fit(frame, y)
        assert tree.get_n_leaves() == 2
        assert tree.forest_.feature[0] == 0
        np.testing.assert_array_equal(tree.predict(frame), y)
    heights = {"red": 3.0, "green": 1.0, "blue": 1.0, "grey": 3.0, "pink": 2.0}
    y = np.array([heights[c] for c in colours])
    tree = CARTRegressor(random_state=0).fit(frame, y)
    assert tree.get_n_leaves() == 3
    np.testing.assert_allclose(tree.predict(frame), y)


def test_missing_values_go_to_the_better_side_and_new_ones_to_the_heavier():
    X = np.array([[1.0], [2.0], [3.0], [np.nan], [np.nan]])
    for missing_class in (0, 1):
        y = np.array([0, 0, 1, missing_class, missing_class])
        tree = CARTClassifier().fit(X, y)
        assert tree.get_n_leaves() == 2
        np.testing.assert_array_equal(tree.predict(X), y)
    tree = CARTClassifier().fit(X[:3], [0, 0, 1])
    assert tree.predict([[np.nan]]).tolist() == [0]
    tree = CARTClassifier().fit(X[:3], [0, 1, 1])
    assert tree.predict([[np.nan]]).tolist() == [1]


def test_an_unseen_category_is_a_missing_value():
    X = np.array([["a"], ["a"], ["b"]], dtype=object)
    tree = CARTClassifier().fit(X, [0, 0, 1])
    queried = np.array([["c"], [None]], dtype=object)
    assert tree.predict(queried).tolist() == [0, 0]


# -- scikit-learn ----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "entropy", "variance"])
@pytest.mark.parametrize("weighted", [False, True])
def test_importances_are_those_of_scikit_learn(criterion, weighted):
    """Where no two splits are equally good: a few thresholds, and one feature with the signal."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4)).astype(np.float32).astype(np.float64)
    signal = 2 * X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=200)
    weights = rng.uniform(0.5, 2, 200) if weighted else None
    for leaves in (2, 5, 9):
        ours: Any
        theirs: Any
        if criterion == "variance":
            y = signal
            ours, theirs = CARTRegressor(), DecisionTreeRegressor()
        else:
            y = np.digitize(signal, [-1, 1])
            ours = CARTClassifier(criterion=criterion)
            theirs = DecisionTreeClassifier(criterion=criterion)
        ours.set_params(max_leaf_nodes=leaves, random_state=0).fit(X, y, weights)
        theirs.set_params(max_leaf_nodes=leaves, random_state=0).fit(X, y, weights)
        np.testing.assert_allclose(
            ours.feature_importances_, theirs.feature_importances_, atol=1e-12
        )
        assert ours.feature_importances_.sum() == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-12)


def test_importances_sum_to_one_whatever_the_tree(waveform, friedman):
    X, y = waveform
    for settings in ({}, {"criterion": "entropy"}, {"pruning": "cv"}, {"max_features": 3}):
        tree = CARTClassifier(random_state=0, **settings).fit(X, y)
        assert tree.feature_importances_.sum() == pytest.approx(1.0, abs=1e-12)
        assert (tree.feature_importances_ >= 0).all()
        unused = np.setdiff1d(np.arange(21), tree.forest_.feature[~tree.forest_.is_leaf])
        assert (tree.feature_importances_[unused] == 0).all()
    X, y = friedman
    used = CARTRegressor(random_state=0, pruning="cv").fit(X, y).feature_importances_
    assert used[:5].sum() > 0.95


# -- limits ----------------------------------------------------------------------------------------


def leaf_weights(tree: Any) -> Any:
    return tree.forest_.weights()[tree.forest_.is_leaf]


@pytest.mark.parametrize("model", [CARTClassifier, CARTRegressor])
def test_limits_are_kept(model, waveform):
    X, y = waveform
    y = y if model is CARTClassifier else X[:, 10] + X[:, 3]
    for depth in (1, 3):
        assert model(max_depth=depth).fit(X, y).get_depth() == depth
    for leaves in (2, 7, 20):
        assert model(max_leaf_nodes=leaves).fit(X, y).get_n_leaves() == leaves
    assert leaf_weights(model(min_samples_leaf=11).fit(X, y)).min() >= 11
    assert leaf_weights(model(min_samples_leaf=0.05).fit(X, y)).min() >= 15
    assert leaf_weights(model(min_weight_fraction_leaf=0.1).fit(X, y)).min() >= 30
    forest = model(min_samples_split=40).fit(X, y).forest_
    assert forest.weights()[~forest.is_leaf].min() >= 40
    forest = model(min_samples_split=0.2).fit(X, y).forest_
    assert forest.weights()[~forest.is_leaf].min() >= 60


def test_a_least_decrease_stops_growth(waveform):
    X, y = waveform
    forest = CARTClassifier(min_impurity_decrease=0.02, random_state=0).fit(X, y).forest_
    weighted = forest.weights() * node_impurities(forest, "gini") / 300
    for node in np.flatnonzero(forest.n_children > 0):
        child = forest.first_child[node]
        assert weighted[node] - weighted[child] - weighted[child + 1] >= 0.02 - 1e-12
    assert 2 < forest.n_leaves[0] < 15


def test_whole_weights_count_as_copies_in_limits_and_others_relative_to_their_mean(waveform):
    X, y = waveform
    weights = np.random.default_rng(2).uniform(0.5, 1.5, 300)
    for scale in (1.0, 1e-3, 1e6):
        tree = CARTClassifier(min_samples_leaf=10, random_state=0)
        tree.fit(X, y, sample_weight=weights * scale)
        assert leaf_weights(tree).min() >= 10 * (weights * scale).mean() * (1 - 1e-6)
        tree.set_params(min_samples_leaf=0.1).fit(X, y, sample_weight=weights * scale)
        assert leaf_weights(tree).min() >= 30 * (weights * scale).mean() * (1 - 1e-6)
    tree = CARTClassifier(min_samples_leaf=10).fit(X, y, sample_weight=np.full(300, 5))
    assert np.count_nonzero(leaf_weights(tree) == 10) > 0


def test_max_features_is_a_number_a_share_or_a_rule(waveform):
    X, y = waveform
    same = {16: [16, 0.8], 4: [4, "sqrt"], 5: [5, "log2"]}
    for settings in same.values():
        one, other = (
            CARTClassifier(max_features=m, random_state=0).fit(X, y).forest_ for m in settings
        )
        assert_same_forest(one, other)


# -- weights of classes ----------------------------------------------------------------------------


def test_class_weights_are_weights(waveform):
    X, y = waveform
    factors = {0: 1.0, 1: 3.0, 2: 2.0}
    by_class = CARTClassifier(class_weight=factors, max_depth=4, random_state=0).fit(X, y)
    by_row = CARTClassifier(max_depth=4, random_state=0)
    by_row.fit(X, y, sample_weight=np.array([factors[c] for c in y]))
    assert_same_forest(by_class.forest_, by_row.forest_)
    np.testing.assert_array_equal(by_class.predict_proba(X), by_row.predict_proba(X))


def test_balanced_classes_weigh_the_same_at_the_root(waveform):
    X, y = waveform
    few = np.concatenate([np.flatnonzero(y == 0)[:10], np.flatnonzero(y != 0)])
    tree = CARTClassifier(class_weight="balanced", random_state=0).fit(X[few], y[few])
    np.testing.assert_allclose(tree.forest_.value[0], len(few) / 3, rtol=1e-9)
    assert tree.score(X[few], y[few]) == 1.0


def test_a_class_of_weight_zero_is_never_predicted(waveform):
    X, y = waveform
    tree = CARTClassifier(class_weight={0: 0.0, 1: 1.0, 2: 1.0}).fit(X, y)
    assert tree.classes_.tolist() == [0, 1, 2]
    assert set(tree.predict(X)) == {1, 2}
    assert (tree.predict_proba(X)[:, 0] == 0).all()


# -- regression ------------------------------------------------------------------------------------


def test_leaves_predict_the_weighted_mean(friedman):
    X, y = friedman
    weights = np.random.default_rng(3).uniform(0, 2, 200)
    for settings in ({"max_depth": 3}, {"pruning": "cv"}, {"min_samples_leaf": 9}):
        tree = CARTRegressor(random_state=0, **settings).fit(X, y, sample_weight=weights)
        leaves = tree.apply(X)
        for leaf in np.unique(leaves):
            rows = leaves == leaf
            mean = np.average(y[rows], weights=weights[rows])
            np.testing.assert_allclose(tree.predict(X[rows]), mean, rtol=1e-10)
            variance = np.average((y[rows] - mean) ** 2, weights=weights[rows])
            assert tree.forest_.impurity[leaf] == pytest.approx(variance, rel=1e-9, abs=1e-12)
            assert tree.forest_.node_weight[leaf] == pytest.approx(weights[rows].sum(), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-290, 1e-100, 1.0, 1e100, 1e148])
def test_targets_of_any_size(scale, friedman):
    X, y = friedman
    tree = CARTRegressor(random_state=0).fit(X, y * scale)
    np.testing.assert_allclose(tree.predict(X), y * scale, rtol=1e-9)
    shallow = CARTRegressor(max_depth=2, random_state=0).fit(X, y * scale)
    expected = CARTRegressor(max_depth=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(shallow.apply(X), expected.apply(X))


def test_the_smallest_targets_there_are(friedman):
    """Too close together for the fixed-point sums to tell apart: their middle is the answer."""
    X, _ = friedman
    y = np.arange(200) * 5e-324
    predicted = CARTRegressor().fit(X, y).predict(X)
    assert 50 * 5e-324 < predicted.min() <= predicted.max() < 150 * 5e-324


def test_a_large_offset_of_the_target_costs_no_split(friedman):
    X, y = friedman
    plain = CARTRegressor(max_leaf_nodes=10, random_state=0).fit(X, np.round(y, 3))
    moved = CARTRegressor(max_leaf_nodes=10, random_state=0).fit(X, np.round(y, 3) + 1e9)
    np.testing.assert_array_equal(moved.forest_.nodes, plain.forest_.nodes)
    np.testing.assert_allclose(moved.predict(X) - 1e9, plain.predict(X), atol=1e-5)


# -- the estimator ---------------------------------------------------------------------------------


def test_classes_may_be_anything_that_can_be_ordered(waveform):
    X, y = waveform
    expected = CARTClassifier(random_state=0, max_depth=3).fit(X, y)
    names = np.array(["ant", "bee", "cow"])
    codes = np.array([-5, 0, 100])
    for labels in (names, names.astype(object), codes, codes.astype(float), codes.astype(np.int8)):
        tree = CARTClassifier(random_state=0, max_depth=3).fit(X, labels[y])
        assert_same_forest(tree.forest_, expected.forest_)
        np.testing.assert_array_equal(tree.predict(X), labels[expected.predict(X)])
        assert tree.classes_.tolist() == sorted(labels.tolist())
        assert tree.n_classes_ == 3
    two = CARTClassifier().fit(X, y > 0)
    assert two.classes_.dtype == bool


def test_the_pruning_path_leaves_the_estimator_as_it_was(waveform):
    X, y = waveform
    tree = CARTClassifier(pruning="cv", random_state=0)
    path = tree.cost_complexity_pruning_path(X, y)
    with pytest.raises(NotFittedError):
        tree.predict(X)
    assert path.n_leaves[0] > 20
    assert tree.get_params() == clone(tree).get_params()


def test_shape_of_a_small_tree():
    tree = CARTClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0])
    assert (tree.get_depth(), tree.get_n_leaves(), tree.n_features_in_) == (2, 3, 1)
    assert tree.apply([[0.0], [1.5], [9.0]]).tolist() != []
    assert tree.decision_path([[0.0], [1.0]]).toarray().sum(axis=1).max() == 3
    assert len(set(tree.apply([[0.0], [1.0], [3.0]]))) == 3
    assert tree.apply([[1.0]]) == tree.apply([[2.0]])


# -- linear combinations ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        # This compiles another kernel, for a quarter of a minute.
        pytest.param({"pruning": "cv", "n_folds": 3}, marks=pytest.mark.thorough),
        {"ties": "first"},
    ],
)
@pytest.mark.parametrize("kind", [CARTClassifier, CARTRegressor])
def test_weights_are_copies_in_the_search_for_linear_combinations(kind, settings):
    n_combined = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 3))
        if seed % 2:
            X = np.round(2 * X)
            X[rng.random(X.shape) < 0.1] = np.nan
        y = np.nansum(X, axis=1) + 0.5 * rng.normal(size=40)
        if kind is CARTClassifier:
            y = y > 0
        weights = rng.integers(0, 4, 40)
        rows = np.repeat(np.arange(40), weights)
        tree = kind(linear_combinations=True, random_state=0, **settings)
        weighted = clone(tree).fit(X, y, weights).forest_
        copied = clone(tree).fit(X[rows], y[rows]).forest_
        # The variance within a leaf is a sum in floats; nothing is grown or predicted from it.
        assert_same_forest(copied, weighted, but=("leaf_impurity",))
        if kind is CARTRegressor:
            np.testing.assert_allclose(copied.leaf_impurity, weighted.leaf_impurity, rtol=1e-12)
        present = weights > 0
        absent = clone(tree).fit(X[present], y[present], weights[present]).forest_
        assert_same_forest(absent, weighted)
        n_combined += len(weighted.projections[1])
    assert n_combined > 10
