"""ccp_alpha of gradient boosting: each tree is the best of all its subtrees, by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import ensemble
from sklearn.base import clone
from sklearn.metrics import log_loss
from tests.boosting.first_order import mart_classifier, mart_regressor
from tests.boosting.test_gradient_boosting import AS_FRIEDMAN
from tests.shared import assert_same_forest

from orfeon import CARTRegressor, GradientBoostingClassifier, GradientBoostingRegressor
from orfeon.boosting.gradient import split_gains
from orfeon.boosting.pruned_trees import prune_by_gains
from orfeon.datasets import make_friedman1, make_waveform
from orfeon.forest import Forest, prune_to_alpha


def subtrees(tree: Forest, node: int = 0) -> list[frozenset[int]]:
    """The nodes that are split in each subtree with the same root."""
    if not tree.n_children[node]:
        return [frozenset()]
    left, right = (subtrees(tree, tree.first_child[node] + side) for side in range(2))
    return [frozenset()] + [frozenset({node}) | one | other for one in left for other in right]


def grown(seed: int) -> tuple[Forest, np.ndarray]:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)).round(1), rng.normal(size=40)
    weights = rng.integers(1, 4, 40).astype(float)
    forest = CARTRegressor(max_depth=4, random_state=seed).fit(X, y, weights).forest_
    return forest, split_gains(forest, forest.value[:, 0])


@pytest.mark.parametrize("seed", range(5))
def test_a_pruned_tree_is_the_smallest_of_the_best_subtrees(seed):
    forest, gains = grown(seed)
    total = float(forest.node_weight[0])
    every = subtrees(forest)
    for alpha in (0.001, 0.01, 0.03, 0.1, 0.3, 2.0):
        costs = [alpha * total * len(inner) - gains[list(inner)].sum() for inner in every]
        best = min(zip(costs, map(len, every), every, strict=True), key=lambda one: one[:2])[2]
        cut = prune_by_gains(forest, gains, alpha)
        assert set(cut.kept[~cut.forest.is_leaf]) == set(best)
        assert_same_forest(cut.forest, prune_to_alpha(forest, alpha, "variance"))


def test_rows_end_in_the_leaf_that_holds_their_old_one():
    forest, gains = grown(0)
    whole = Forest.concatenate([forest, grown(1)[0], forest])
    gains = np.concatenate([gains, grown(1)[1], gains])
    cut = prune_by_gains(whole, gains, 0.05)
    assert len(cut.forest.nodes) < len(whole.nodes)
    X = np.random.default_rng(0).normal(size=(300, 3))
    start, new_start = whole.tree_start[:-1], cut.forest.tree_start[:-1]
    assert_array_equal(cut.place[whole.apply(X) + start], cut.forest.apply(X) + new_start)


@pytest.mark.parametrize("alpha", [0.02, 0.2, 1.0])
def test_trees_of_first_order_are_pruned_as_those_of_scikit_learn(alpha):
    X, y = make_friedman1(200, random_state=0)
    settings = {"n_estimators": 8, "max_depth": 4, "ccp_alpha": alpha, "learning_rate": 0.3}
    ours = mart_regressor(**settings, random_state=0).fit(X, y)
    theirs = ensemble.GradientBoostingRegressor(**settings, **AS_FRIEDMAN, random_state=0)
    theirs.fit(X, y)
    sizes = [tree.get_n_leaves() for tree in theirs.estimators_[:, 0]]
    assert_array_equal(ours.forest_.n_leaves, sizes)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)
    assert min(sizes) < 16


SETTINGS = [
    {},
    {"tree_method": "histogram"},
    {"tree_shape": "free", "max_leaf_nodes": 9, "subsample": 1.0},
    {"sampling": "gradient", "subsample": 1.0},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_newton_trees(settings, n_classes):
    X, y = make_waveform(300, random_state=0)
    y = np.minimum(y, n_classes - 1)
    how = {"n_estimators": 10, "early_stopping": False, "random_state": 0, **settings}
    model = GradientBoostingClassifier(**how, ccp_alpha=0.01).fit(X, y)
    free = GradientBoostingClassifier(**{"tree_shape": "free", **how}).fit(X, y)
    assert 0.1 * free.forest_.n_leaves.sum() < model.forest_.n_leaves.sum()
    assert model.forest_.n_leaves.sum() < free.forest_.n_leaves.sum()
    # The scores of training are those of the trees that are left.
    assert_allclose(model.train_loss_[-1], log_loss(y, model.predict_proba(X)), rtol=1e-9)
    # A split that is left gains at least alpha for each sample.
    least = 0.01 * model.forest_.node_weight[model.forest_.tree_start[:-1]]
    parts = np.split(model._gains, model.forest_.tree_start[1:-1])
    for gains, bar in zip(parts, least, strict=True):
        assert gains.sum() >= bar * (gains > 0).sum() * (1 - 1e-9)


def test_a_large_alpha_leaves_no_split_and_none_changes_no_bit():
    X, y = make_friedman1(150, random_state=0)
    model = GradientBoostingRegressor(n_estimators=3, random_state=0)
    constant = clone(model).set_params(ccp_alpha=1e9).fit(X, y)
    assert (constant.forest_.n_nodes == 1).all()
    assert len(np.unique(constant.predict(X))) == 1
    for kind in (mart_regressor, GradientBoostingRegressor):
        one = kind(n_estimators=3, random_state=0).fit(X, y)
        other = kind(n_estimators=3, ccp_alpha=0.0, random_state=0).fit(X, y)
        assert_same_forest(one.forest_, other.forest_)


def test_copies_are_weights_and_sparse_rows_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    X[rng.random(X.shape) < 0.7] = 0
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    weights = rng.integers(0, 3, 150).astype(float)
    rows = np.repeat(np.arange(150), weights.astype(int))
    for kind in (mart_classifier, GradientBoostingClassifier):
        model = kind(n_estimators=6, ccp_alpha=0.02, random_state=0, early_stopping=False)
        weighted = clone(model).fit(X, y, weights)
        assert_same_forest(weighted.forest_, clone(model).fit(X[rows], y[rows]).forest_)
    by_bins = clone(model).set_params(tree_method="histogram").fit(X, y, weights)
    assert_same_forest(by_bins.forest_, clone(model).fit(sparse.csr_array(X), y, weights).forest_)


def test_bad_values():
    X, y = make_friedman1(60, random_state=0)
    with pytest.raises(ValueError, match="'ccp_alpha' parameter"):
        GradientBoostingRegressor(ccp_alpha=-0.1).fit(X, y)
    with pytest.raises(
        ValueError, match=r'tree_shape="symmetric" cannot be combined with ccp_alpha=0.1'
    ):
        GradientBoostingRegressor(ccp_alpha=0.1, tree_shape="symmetric").fit(X, y)
