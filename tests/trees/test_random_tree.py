"""Trees of random tests."""

from __future__ import annotations

import numpy as np
import pytest
from tests.shared import assert_same_forest

from orfeon import CARTClassifier, RandomTreeClassifier
from orfeon.data.presorted import Table
from orfeon.datasets import make_waveform
from orfeon.growth import Growth, grow_forest
from orfeon.utils.seeding import tree_seeds


def test_trees_are_grown_until_they_know_every_sample(waveform):
    X, y = waveform
    for settings in ({}, {"max_features": None}, {"max_features": "sqrt", "criterion": "entropy"}):
        assert RandomTreeClassifier(random_state=0, **settings).fit(X, y).score(X, y) == 1.0


def roots(X, y, n_trees):
    """The first tests of many random trees."""
    forest = grow_forest(
        Table(X), y, n_classes=2, seeds=tree_seeds(np.random.SeedSequence(0), n_trees),
        growth=Growth(splitter="random", max_features=1, max_depth=1),
    )  # fmt: skip
    return forest.nodes[forest.tree_start[:-1]]


def test_features_are_drawn_evenly():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 5)), np.arange(20) % 2
    used = roots(X, y, 1000)["feature"]
    assert np.bincount(used, minlength=5).min() > 150


def test_cuts_are_uniform_between_the_extremes():
    X, y = np.array([[-1.0], [0.1], [0.2], [3.0]]), np.array([0, 1, 0, 1])
    cuts = roots(X, y, 2000)["threshold"]
    assert cuts.min() > -1
    assert cuts.max() < 3
    deciles = np.quantile(cuts, np.linspace(0.1, 0.9, 9))
    np.testing.assert_allclose(deciles, np.linspace(-0.6, 2.6, 9), atol=0.15)


def test_constant_features_are_not_cut():
    rng = np.random.default_rng(1)
    X, y = np.ones((30, 4)), rng.integers(0, 2, 30)
    X[:, 2] = rng.normal(size=30)
    for seed in range(20):
        forest = RandomTreeClassifier(random_state=seed).fit(X, y).forest_
        assert set(forest.feature[~forest.is_leaf]) == {2}


def test_categories_are_cut_into_random_subsets():
    X = np.array([["a"], ["b"], ["c"], ["d"]] * 5, dtype=object)
    y = np.arange(20) % 4
    seen = set()
    for seed in range(200):
        tree = RandomTreeClassifier(max_depth=1, random_state=seed).fit(X, y)
        table = tuple(tree.forest_.branches[:4].tolist())
        assert len(set(table)) == 2
        seen.add(table)
    assert len(seen) == 14


def test_more_cuts_make_better_trees():
    """One cut per node is chance; the best of all features' cuts nears CART's."""
    X, y = make_waveform(2300, random_state=2)
    errors = {}
    for name, model in (
        ("one", RandomTreeClassifier()),
        ("all", RandomTreeClassifier(max_features=None)),
        ("cart", CARTClassifier()),
    ):
        scores = [
            model.set_params(random_state=s).fit(X[:300], y[:300]).score(X[300:], y[300:])
            for s in range(15)
        ]
        errors[name] = 1 - np.mean(scores)
    assert errors["one"] > errors["all"] + 0.05
    assert errors["all"] < errors["cart"] + 0.02


def test_limits_are_kept(waveform):
    X, y = waveform
    for settings in ({"max_features": 1}, {"max_features": None}):
        tree = RandomTreeClassifier(max_depth=4, random_state=0, **settings).fit(X, y)
        assert tree.get_depth() <= 4
        tree = RandomTreeClassifier(max_leaf_nodes=9, random_state=0, **settings).fit(X, y)
        assert tree.get_n_leaves() <= 9
        tree = RandomTreeClassifier(min_samples_leaf=20, random_state=0, **settings).fit(X, y)
        assert tree.forest_.weights()[tree.forest_.is_leaf].min() >= 20
        assert tree.get_n_leaves() > 2


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_shares_of_the_weight_do_not_depend_on_its_unit(share, waveform):
    X, y = waveform
    weights = np.random.default_rng(3).uniform(0.5, 1.5, 300)
    for scale in (1.0, 2.0**-10, 2.0**20):
        tree = RandomTreeClassifier(min_samples_leaf=share, random_state=0)
        tree.fit(X, y, sample_weight=weights * scale)
        least = tree.forest_.weights()[tree.forest_.is_leaf].min()
        assert least >= share * (weights * scale).sum() * (1 - 1e-6)
        plain = RandomTreeClassifier(min_samples_leaf=share, random_state=0)
        plain.fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(tree.predict(X), plain.predict(X))


def test_the_target_does_not_move_a_single_cut(waveform):
    """With one feature a node, only where growth stops depends on the classes."""
    X, y = waveform
    one = RandomTreeClassifier(max_depth=1, random_state=4).fit(X, y)
    other = RandomTreeClassifier(max_depth=1, random_state=4).fit(X, (y + 1) % 3)
    np.testing.assert_array_equal(one.forest_.nodes, other.forest_.nodes)
    again = RandomTreeClassifier(max_depth=1, random_state=4).fit(X, y)
    assert_same_forest(one.forest_, again.forest_)
