"""Routing of many rows, few rows and shallow trees: all ways agree, and agree with the tests."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from tests.oracles.routing import KINDS, branch, random_forest, random_rows

from orfeon.forest import NODE, Forest
from orfeon.forest.packed import _FEW_ROWS, _SHALLOW
from orfeon.kernels.routing.packed import MOST_CATEGORIES
from orfeon.kernels.routing.route import ALL_BRANCHES

#: Features of full trees: two ordered ones and two of categories.
N_CATEGORIES = (0, 0, 5, 60)


def full_forest(
    depth: int, seed: int = 0, n_trees: int = 5, n_classes: int = 3, share_of_leaves: float = 0.0
) -> Forest:
    """Trees of all tests on all paths, but for some that end early."""
    rng = np.random.default_rng(seed)
    nodes, n_children, missing, branches, starts = [], [], [], [], [0]
    for _ in range(n_trees):
        n_nodes, levels, node = 1, [0], 0
        while node < n_nodes:
            is_leaf = levels[node] == depth or (node > 0 and rng.random() < share_of_leaves)
            feature = 0 if is_leaf else int(rng.integers(len(N_CATEGORIES)))
            n = 0 if is_leaf else N_CATEGORIES[feature]
            threshold = np.inf if is_leaf else float(np.round(rng.normal(), 1))
            if n:
                threshold = float(len(branches))
                branches += rng.integers(0, 2, n).tolist()
            nodes.append((threshold, feature, node if is_leaf else n_nodes))
            n_children.append(0 if is_leaf else 2)
            missing.append(0 if is_leaf else int(rng.integers(2)))
            if not is_leaf:
                n_nodes += 2
                levels += [levels[node] + 1] * 2
            node += 1
        starts.append(len(nodes))
    value: Any = rng.integers(0, 4, (len(nodes), n_classes or 1)).astype(np.uint32)
    label = np.argmax(value, axis=1).astype(np.int32)
    weight = None
    if n_classes == 0:
        value, label = rng.normal(size=(len(nodes), 1)), label[:0]
        weight = np.ones(n_children.count(0))
    return Forest(
        tree_start=np.array(starts), nodes=np.array(nodes, NODE),
        n_children=np.array(n_children, np.uint16), missing=np.array(missing, np.uint16),
        label=label, value=value, n_classes=n_classes, n_categories=np.array(N_CATEGORIES),
        branches=np.array(branches, np.uint16), leaf_weight=weight,
        leaf_impurity=None if weight is None else np.zeros(0),
    ).validate()  # fmt: skip


def leaf(forest: Forest, tree: int, x: Any) -> int:
    """The leaf of a row, test by test."""
    root, node = int(forest.tree_start[tree]), 0
    while forest.n_children[root + node]:
        node = int(forest.first_child[root + node]) + branch(forest, root + node, x)
    return node


def one_split(n_categories: int, table: list[int], missing: int) -> Forest:
    """A stump on a categorical feature, beside an ordered one that it does not use."""
    nodes = [(0.0, 1, 1), (np.inf, 0, 1), (np.inf, 0, 2)]
    return Forest(
        tree_start=np.array([0, 3]), nodes=np.array(nodes, NODE),
        n_children=np.array([2, 0, 0], np.uint16), missing=np.array([missing, 0, 0], np.uint16),
        label=np.array([0, 0, 1], np.int32), value=np.array([[1, 1], [1, 0], [0, 1]], np.uint32),
        n_classes=2, n_categories=np.array([0, n_categories]), branches=np.array(table, np.uint16),
    ).validate()  # fmt: skip


@pytest.mark.parametrize("share_of_leaves", [0.0, 0.3])
@pytest.mark.parametrize("depth", [1, 2, 3, _SHALLOW, _SHALLOW + 1, 9])
def test_shallow_and_deep_trees_follow_their_tests(depth, share_of_leaves):
    forest = full_forest(depth, depth, share_of_leaves=share_of_leaves)
    X = random_rows(forest, 1100, 1, share_missing=0.1)  # more than a block of shallow trees
    reached = forest.apply(X)
    assert (forest._packed.heaps is None) == (forest.depth.max() > _SHALLOW)
    for i in (*range(60), 1023, 1024, 1099):
        assert reached[i].tolist() == [leaf(forest, t, X[i]) for t in range(len(forest))]


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("depth", [3, 9])
@pytest.mark.parametrize("share_missing", [0.0, 0.2])
def test_any_number_of_rows_gets_the_same_bits(depth, n_classes, share_missing):
    forest = full_forest(depth, 3, 20, n_classes, 0.1)
    X = random_rows(forest, 300, 2, share_missing)
    whole = forest.mean_supports(X)
    for size in (1, 7, 8, 9, _FEW_ROWS - 1, _FEW_ROWS, 299):
        parts = [forest.mean_supports(X[a : a + size]) for a in range(0, 300, size)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()
    one_by_one = forest.supports(X)
    total = np.zeros_like(whole)
    for tree in one_by_one:
        total += tree
    assert (total / len(forest)).tobytes() == whole.tobytes()
    if n_classes:
        weights = np.random.default_rng(3).exponential(size=20)
        whole = forest.weigh_votes(X, weights)
        rows = [forest.weigh_votes(X[i : i + 1], weights) for i in range(300)]
        assert np.concatenate(rows).tobytes() == whole.tobytes()


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("n_categories", [1, 2, 62, 63, 64, 65, 200])
def test_all_codes_of_sets_that_fit_a_word_and_of_larger_ones(n_categories, missing):
    table = np.random.default_rng(n_categories).integers(0, 2, n_categories).tolist()
    forest = one_split(n_categories, table, missing)
    codes = np.array([*range(n_categories), np.nan])
    X = np.column_stack([np.full(len(codes), np.nan), codes])
    for rows in (X, np.tile(X, (40, 1))):
        expected = np.tile([*table, missing], len(rows) // len(X))
        np.testing.assert_array_equal(forest.votes(rows)[0], expected)
        np.testing.assert_array_equal(forest.predict(rows), expected)
    assert forest._packed.has_odd == (n_categories > MOST_CATEGORIES)
    for code in (-1.0, float(n_categories)):
        with pytest.raises(ValueError, match=rf"X\[1, 1\] is {code}; this feature has"):
            forest.predict(np.array([[0.0, 0.0], [0.0, code]]))


_SPECIAL = (
    -np.inf, -1.7e308, -1.0, -2.3e-308, -5e-324, -0.0, 0.0, 5e-324, 2.3e-308, 1.0,
    np.nextafter(1.0, 2.0), 1.7e308, np.inf,
)  # fmt: skip


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("threshold", _SPECIAL)
def test_packed_numbers_compare_as_floats(threshold, missing):
    nodes = [(threshold, 0, 1), (np.inf, 0, 1), (np.inf, 0, 2)]
    forest = Forest(
        tree_start=np.array([0, 3]), nodes=np.array(nodes, NODE),
        n_children=np.array([2, 0, 0], np.uint16), missing=np.array([missing, 0, 0], np.uint16),
        label=np.array([0, 0, 1], np.int32), value=np.array([[1, 1], [1, 0], [0, 1]], np.uint32),
        n_classes=2, n_categories=np.array([0]),
    )  # fmt: skip
    X = np.array([*_SPECIAL, np.nan])[:, None]
    expected = [*(x > threshold for x in _SPECIAL), bool(missing)]
    for rows in (X, np.tile(X, (10, 1))):
        np.testing.assert_array_equal(forest.predict(rows), np.tile(expected, len(rows) // len(X)))
    plain = X[:-1]
    np.testing.assert_array_equal(forest.predict(plain), expected[:-1])


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_go_down_every_branch_do_not_change_the_others(kind):
    forest = random_forest(11, kind, n_trees=9, fractional=True).validate()
    whole = random_rows(forest, 50, 1)
    holed = random_rows(forest, 50, 2, share_missing=0.4)
    order = np.random.default_rng(3).permutation(100)
    X = np.concatenate([whole, holed])[order]
    for method in (forest.mean_supports, forest.count_votes, forest.apply, forest.predict):
        rows = [method(row[None]) for row in X]
        np.testing.assert_array_equal(method(X), np.concatenate(rows))
    np.testing.assert_array_equal(
        forest.votes(X), np.concatenate([forest.votes(row[None]) for row in X], axis=1)
    )


@pytest.mark.parametrize("depth", [3, 8])
def test_trees_of_several_scores_take_turns(depth):
    forest = full_forest(depth, 5, n_trees=12, n_classes=0)
    for n_rows in (1, 200):
        X = random_rows(forest, n_rows, 6, share_missing=0.1)
        sums = np.full((n_rows, 3), 0.5)
        assert not len(forest.add_predictions(X, np.zeros(0), sums))
        expected = np.full((n_rows, 3), 0.5)
        for t, values in enumerate(forest.supports(X)):
            expected[:, t % 3] += values[:, 0]
        assert sums.tobytes() == expected.tobytes()


def test_trees_of_a_node_and_unused_features():
    forest = full_forest(1, 0, n_trees=3).subset([0])
    lone = Forest(
        tree_start=np.array([0, 1]), nodes=np.array([(np.inf, 0, 0)], NODE),
        n_children=np.zeros(1, np.uint16), missing=np.zeros(1, np.uint16),
        label=np.ones(1, np.int32), value=np.array([[1, 3]], np.uint32), n_classes=2,
        n_categories=np.array([0, 4]),
    )  # fmt: skip
    X = np.full((50, 2), np.nan)
    assert lone.predict(X).tolist() == [1] * 50
    assert lone.mean_supports(X[:1]).tolist() == [[0.25, 0.75]]
    assert len(forest._packed.features) == 1


def test_what_is_derived_is_not_pickled():
    forest = random_forest(2, "sets")
    before = len(pickle.dumps(forest))
    forest.predict(random_rows(forest, 40, 0, share_missing=0.1))
    assert "_packed" in vars(forest)
    assert len(pickle.dumps(forest)) == before
    again = pickle.loads(pickle.dumps(forest))
    assert "_packed" not in vars(again)
    X = random_rows(forest, 40, 1)
    np.testing.assert_array_equal(again.votes(X), forest.votes(X))


def test_a_table_that_sends_a_category_down_all_branches_is_odd():
    forest = one_split(3, [0, ALL_BRANCHES, 1], 0)
    assert forest._packed.has_odd
    X = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, np.nan]])
    assert forest.mean_supports(X).tolist() == [[1, 0], [0.5, 0.5], [0, 1], [1, 0]]
