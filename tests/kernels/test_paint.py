"""Painted votes are those that routing each point of the grid gives, to the last one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles import nested
from tests.oracles.maps import vote_map

from orfeon import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    ClassSwitchingClassifier,
    ExtraTreesClassifier,
    RandomSubspaceClassifier,
)
from orfeon.datasets import make_circle
from orfeon.forest import NODE, Forest
from orfeon.kernels.routing import paint


def random_tree(rng, cuts, n_classes, n_splits):
    """Nodes and labels of a tree of random splits, at thresholds drawn from those given."""
    nodes = [(np.inf, 0, 0)]
    label = [rng.integers(n_classes)]
    for _ in range(n_splits):
        leaf = rng.choice([n for n, node in enumerate(nodes) if node[2] == n])
        feature = int(rng.integers(2))
        nodes[leaf] = (float(rng.choice(cuts[feature])), feature, len(nodes))
        for _ in range(2):
            nodes.append((np.inf, 0, len(nodes)))
            label.append(rng.integers(n_classes))
    return nodes, label


def forest_of(trees, n_classes):
    start = np.cumsum([0, *(len(nodes) for nodes, _ in trees)])
    nodes = np.array([node for nodes, _ in trees for node in nodes], dtype=NODE)
    inner = nodes["first_child"] != np.concatenate([np.arange(len(n)) for n, _ in trees])
    return Forest(
        start, nodes, np.where(inner, 2, 0).astype(np.uint16), np.zeros(len(nodes), np.uint16),
        np.concatenate([label for _, label in trees]).astype(np.int32),
        np.ones((len(nodes), n_classes)), n_classes, np.zeros(2, np.int64),
    ).validate()  # fmt: skip


def painted(forest, x, y, votes=None, trees=slice(None), n_planes=None):
    """Votes for each class at each point, of shape (n_classes, n_rows, n_columns)."""
    n_planes = forest.n_classes if n_planes is None else n_planes
    corners = np.zeros((n_planes, len(y) + 1, len(x) + 1), np.int64)
    votes = np.ones(len(forest), np.int64) if votes is None else votes
    chosen = np.arange(len(forest))[trees]
    start = forest.tree_start[chosen[0] : chosen[-1] + 2]
    words = forest._words()
    paint.paint_votes(*words, start, forest.label, votes[chosen], x, y, corners)
    sums = corners.cumsum(axis=1).cumsum(axis=2)
    return sums[:, :-1, :-1]


def points(x, y):
    return np.ascontiguousarray(np.stack([a.ravel() for a in np.meshgrid(x, y)], axis=1))


def routed(forest, x, y):
    counts = forest.count_votes(points(x, y))
    return counts.T.reshape(forest.n_classes, len(y), len(x))


def test_thresholds_at_the_coordinates_themselves_and_beside_them():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        grid = [np.sort(rng.normal(size=rng.integers(1, 9))) for _ in range(2)]
        # On a point, the next float on either side, its value in single precision, and beyond all.
        cuts = [
            np.concatenate([
                at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf), at.astype(np.float32),
                [at[0] - 1, at[-1] + 1, -np.inf, np.finfo(np.float64).max],
            ]) for at in grid
        ]  # fmt: skip
        n_classes = int(rng.integers(1, 5))
        trees = [random_tree(rng, cuts, n_classes, int(rng.integers(0, 12))) for _ in range(5)]
        forest = forest_of(trees, n_classes)
        found = painted(forest, *grid)
        assert (found == routed(forest, *grid)).all()
        walked = [nested(forest, t) for t in range(len(forest))]
        answers = np.array(vote_map(walked, *grid))  # (rows, columns, trees), by an obvious walk
        assert (found == [(answers == k).sum(axis=2) for k in range(n_classes)]).all()
        assert (found.sum(axis=0) == len(forest)).all()


@pytest.mark.parametrize("model", [
    BaggingClassifier(n_estimators=25),
    BaggingClassifier(C45Classifier(), n_estimators=25),
    ClassSwitchingClassifier(n_estimators=25),
    ExtraTreesClassifier(n_estimators=25),
    RandomSubspaceClassifier(n_estimators=25, max_features=1),
    AdaBoostClassifier(CARTClassifier(max_depth=4), n_estimators=25),
])  # fmt: skip
@pytest.mark.parametrize("on_the_data", [False, True])
def test_forests_of_all_kinds(model, on_the_data):
    X, y = make_circle(300, random_state=0)
    X = np.round(X, 2)  # with ties, and with thresholds that are on a grid of halves
    codes = y + 2 * (X[:, 0] > 0.7)
    forest = model.set_params(random_state=0).fit(X, codes).forest_
    grid = np.linspace(-0.1, 1.1, 57)
    if on_the_data:
        grid = np.unique(np.concatenate([X.ravel(), forest.threshold[~forest.is_leaf]]))
        grid = grid[:: len(grid) // 150 + 1]
    assert (painted(forest, grid, grid) == routed(forest, grid, grid)).all()


def test_a_tree_as_deep_as_it_has_splits_needs_no_more_room():
    # Each split takes a strip off, so the subtrees put aside are as many as columns and rows.
    n = 3000
    for away in (0, 1):  # the child that is a leaf
        nodes, label = [], [0]
        for depth in range(n):
            inner = 2 * depth - away if depth else 0
            feature = depth % 2
            cut = float(depth // 2 if away == 0 else n - depth // 2) + 0.5
            nodes.append((inner, (cut, feature, 2 * depth + 1)))
            label += [depth % 2, 1 - depth % 2]
        table = [(np.inf, 0, k) for k in range(2 * n + 1)]
        at = 0
        for _, node in nodes:
            table[at] = node
            at = node[2] + (1 - away)
        forest = forest_of([(table, np.array(label))], 2)
        assert forest.depth[0] == n
        for grid in (np.arange(0.0, n, 7.0), np.arange(2.0)):
            assert (painted(forest, grid, grid) == routed(forest, grid, grid)).all()


def test_equal_coordinates_have_equal_votes():
    X, y = make_circle(100, random_state=0)
    forest = BaggingClassifier(n_estimators=11, random_state=0).fit(X, y).forest_
    grid = np.repeat(np.linspace(0, 1, 8), 3)
    found = painted(forest, grid, grid)
    assert (found == routed(forest, grid, grid)).all()
    assert (found[:, :, ::3] == found[:, :, 2::3]).all()


def test_votes_weigh_what_they_are_given_and_trees_add_up():
    X, y = make_circle(100, random_state=0)
    forest = BaggingClassifier(n_estimators=12, random_state=0).fit(X, y).forest_
    grid = np.linspace(0, 1, 31)
    votes = np.array([3, -1, 0, 10, 2, 2, 5, 1, 1, 1, 7, 2**40])
    whole = painted(forest, grid, grid, votes)
    answers = forest.votes(points(grid, grid)).reshape(12, 31, 31)
    for code in range(2):
        assert (whole[code] == np.tensordot(votes, answers == code, axes=1)).all()
    parts = [painted(forest, grid, grid, votes, slice(*ends)) for ends in ((0, 5), (5, 12))]
    assert (sum(parts) == whole).all()


def test_classes_without_a_plane_are_not_painted():
    X, y = make_circle(100, random_state=0)
    codes = y + 2 * (X[:, 1] > 0.5)
    forest = BaggingClassifier(n_estimators=7, random_state=0).fit(X, codes).forest_
    grid = np.linspace(0, 1, 20)
    some = painted(forest, grid, grid, n_planes=3)
    assert (some == routed(forest, grid, grid)[:3]).all()
    assert painted(forest, grid, grid, n_planes=0).shape == (0, 20, 20)
