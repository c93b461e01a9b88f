"""The other ways to find a split: the first of ties, some of the samples, linear combinations."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracles import linear_combinations, nested
from tests.oracles.growth import Judge, random_problem
from tests.oracles.splits import all_splits
from tests.shared import assert_same_forest, cases

from orfeon.growth import Growth

FEATURES = ("ordered duplicates missing", "categorical missing", "mixed duplicates missing")
WEIGHTS = ("none", "integer", "float")
FREE = {"min_samples_leaf": 0, "min_samples_split": 0}


@pytest.mark.parametrize(("criterion", "n_classes"), [("gini", 2), ("gini", 3), ("variance", 0)])
def test_the_first_of_the_best_features_and_boundaries_wins(criterion, n_classes):
    rng = np.random.default_rng(0)
    n_tied = 0
    for seed in range(cases(80)):
        problem = random_problem(rng, "ordered duplicates", "none", n_classes)
        growth = Growth(criterion=criterion, ties="first")
        forest = problem.grow(growth, seed=seed)
        judge = Judge(problem, growth, forest)
        judge.check()
        for node in nested(forest, 0).walk():
            if not node.children:
                continue
            rows = judge.rows[node.index]
            splits = all_splits(problem.X, problem.is_categorical, rows, judge.samples)
            best = max(s.gain for s in splits)
            tied = sorted((s.feature, s.threshold) for s in splits if s.gain == best)
            n_tied += len(tied) > 1
            assert (node.feature, node.threshold) == tied[0]
    assert n_tied > 10


def test_every_seed_gives_the_same_tree_if_the_first_wins():
    problem = random_problem(np.random.default_rng(1), "mixed duplicates", "none", 2, n_rows=60)
    trees = [problem.grow(Growth(ties="first"), seed=s) for s in range(5)]
    for tree in trees[1:]:
        assert_same_forest(tree, trees[0])


# -- some of the samples ---------------------------------------------------------------------------


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("criterion", "n_classes"), [("gini", 2), ("error", 3), ("variance", 0)])
def test_nodes_that_are_not_larger_are_searched_whole(features, weights, criterion, n_classes):
    rng = np.random.default_rng(2)
    growth = Growth(criterion=criterion, max_split_samples=14, ties="first", **FREE)
    whole = Growth(criterion=criterion, ties="first", **FREE)
    for _ in range(cases(16)):
        problem = random_problem(rng, features, weights, n_classes)
        assert_same_forest(problem.grow(growth), problem.grow(whole))


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("criterion", "n_classes"), [("gini", 2), ("entropy", 3), ("variance", 0)])
def test_samples_that_were_not_drawn_follow_the_test(features, weights, criterion, n_classes):
    """Statistics of every node are those of the rows that its tests send there."""
    rng = np.random.default_rng(3)
    growth = Growth(criterion=criterion, max_split_samples=4, **FREE)
    for seed in range(cases(24)):
        problem = random_problem(rng, features, weights, n_classes, n_rows=40)
        judge = Judge(problem, growth, problem.grow(growth, seed=seed))
        for node in judge.root.walk():
            judge.check_statistics(node)
            if not node.children and judge.is_open(node):
                rows = judge.rows[node.index]  # nothing separates them
                assert not all_splits(problem.X, problem.is_categorical, rows, judge.samples)


def test_the_split_is_the_best_of_as_many_samples():
    """Each root is the best cut of some 3 of the 6 samples."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    y = np.array([0, 0, 1, 0, 1, 1])
    problem = random_problem(np.random.default_rng(0), "ordered", "none", 2)
    problem.X, problem.n_categories, problem.y = X, [0], y
    forest = problem.grow(Growth(max_split_samples=3, max_depth=1), n_trees=300)
    found = {float(forest.threshold[i]) for i in forest.tree_start[:-1]}
    possible = set()
    for i in range(6):
        for j in range(i + 1, 6):
            for k in range(j + 1, 6):
                rows = [i, j, k]
                labels = y[rows]
                if labels[0] == labels[1] != labels[2]:
                    possible.add((X[j, 0] + X[k, 0]) / 2)
                elif labels[0] != labels[1]:  # 0 1 1 or, tied with its other cut, 0 1 0
                    possible.add((X[i, 0] + X[j, 0]) / 2)
    # When the three are of one class, all six decide.
    assert found <= possible | {1.5, 3.5}
    assert len(found) >= 4


# -- linear combinations ---------------------------------------------------------------------------


@pytest.mark.parametrize("deletion", [0.0, 0.2, 0.6])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_root_is_the_combination_of_the_plain_search(deletion, weighted):
    rng = np.random.default_rng(4)
    n_combined = 0
    for seed in range(cases(24)):
        n, d, k = 25, int(rng.integers(2, 5)), int(rng.integers(2, 4))
        X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d)
        y = np.digitize((X / X.std(axis=0)) @ rng.normal(size=d), [-0.5, 0.7][: k - 1])
        y = np.where(rng.random(n) < 0.1, rng.integers(k, size=n), y)
        y[:k] = np.arange(k)
        w = rng.integers(1, 4, n) if weighted else np.ones(n, np.int64)
        problem = random_problem(rng, "ordered", "none", 2)
        problem.X, problem.y, problem.n_classes = X, y, k
        problem.n_categories, problem.weights = [0] * d, w.astype(np.float64)
        growth = Growth(splitter="linear", max_depth=1, deletion=deletion)
        forest = problem.grow(growth, seed=seed)
        coefficients, gain = linear_combinations.search(X, y, w, deletion)
        single = max(linear_combinations.best_cut(X[:, j], y, w)[0] for j in range(d))
        if np.count_nonzero(coefficients) < 2 or forest.feature[0] >= 0:
            assert gain <= linear_combinations.gain_of(single, y, w) * (1 + 1e-12)
            assert forest.feature[0] >= 0
            continue
        n_combined += 1
        start, terms, weights = forest.projections
        found = np.zeros(d)
        found[terms[start[0] : start[1]]] = weights[start[0] : start[1]]
        np.testing.assert_allclose(found, coefficients, rtol=1e-9)
        left = X @ coefficients <= forest.threshold[0]
        score = linear_combinations.score_of(left, y, w)
        assert linear_combinations.gain_of(score, y, w) == pytest.approx(gain)
        np.testing.assert_array_equal(forest.apply(X)[:, 0] == 1, left)
    assert n_combined > 0


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize(("criterion", "n_classes"), [("gini", 2), ("error", 3), ("variance", 0)])
def test_missing_values_and_categories_beside_linear_combinations(features, criterion, n_classes):
    rng = np.random.default_rng(5)
    growth = Growth(criterion=criterion, splitter="linear", **FREE)
    for seed in range(cases(16)):
        problem = random_problem(rng, features, "float", n_classes, n_rows=30)
        forest = problem.grow(growth, seed=seed)
        leaves = forest.apply(np.ascontiguousarray(problem.X))[:, 0]
        weights = forest.weights()
        for leaf in np.unique(leaves[problem.present]):
            inside = [r for r in problem.present if leaves[r] == leaf]
            assert weights[leaf] == pytest.approx(problem.all_weights[inside].sum(), rel=1e-9)
