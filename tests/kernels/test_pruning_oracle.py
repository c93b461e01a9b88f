"""Pruning of the engine against a look at every pruned subtree, and against scikit-learn."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.oracles import Node, frozen, nested, rows_by_node
from tests.oracles.growth import Judge, Problem, random_problem
from tests.oracles.pruning import Leaves, Tree, pruned_subtrees, reduced_error, sequence
from tests.shared import cases

from orfeon.forest import Forest
from orfeon.forest.pruning import prune_reduced_error, prune_to_alpha, pruning_path
from orfeon.growth import Growth

FREE = {"min_samples_leaf": 0, "min_samples_split": 0}
#: What a leaf costs, and the criterion and number of classes to grow with.
RISKS = (
    ("error", "gini", 2), ("error", "gini", 4), ("gini", "gini", 3), ("entropy", "entropy", 3),
    ("variance", "variance", 0),
)  # fmt: skip


def skeleton(node: Node) -> Tree:
    """The shape of an engine's tree."""
    return Tree(node.index, tuple(skeleton(child) for child in node.children))


def cut_to(node: Node, leaves: Leaves) -> tuple[Any, ...]:
    """A tree pruned to some leaves, frozen."""
    if node.index in leaves:
        return (node.label,)
    pruned = replace(node, children=[replace(c) for c in node.children])
    return frozen(pruned)[:4] + tuple(cut_to(child, leaves) for child in node.children)


def exact_risks(judge: Judge, risk: str) -> dict[int, Fraction]:
    """Cost of every node as a share of the training weight, without rounding."""
    costs = {}
    for node in judge.root.walk():
        rows = judge.rows[node.index]
        if risk == "error":
            wrong = [r for r in rows if judge.problem.y[r] != node.label]
            costs[node.index] = judge.samples.weight(wrong) / judge.whole
        else:
            share = judge.samples.weight(rows) / judge.whole
            costs[node.index] = share * Fraction(judge.samples.impurity(rows))
    return costs


def assert_sequence(judge: Judge, forest: Forest, tree: int, risk: Any) -> int:
    """Breakpoints, risks, sizes and trees are those of the enumeration; returns the number."""
    costs = exact_risks(judge, risk)
    expected = sequence(skeleton(judge.root), costs)
    path = pruning_path(forest, tree, risk)
    assert path.n_leaves.tolist() == [len(leaves) for _, leaves in expected]
    np.testing.assert_allclose(path.alphas, [float(a) for a, _ in expected], rtol=1e-12, atol=1e-14)
    risks = [float(sum(costs[t] for t in leaves)) for _, leaves in expected]
    np.testing.assert_allclose(path.risks, risks, rtol=1e-12, atol=1e-14)
    ends = [*path.alphas[1:], 2 * path.alphas[-1] + 1]
    one = forest.subset([tree])
    for k, (_, leaves) in enumerate(expected):
        between = math.sqrt(path.alphas[k] * ends[k]) if k else ends[k] / 2
        for alpha in (path.alphas[k], between):
            assert frozen(nested(prune_to_alpha(one, alpha, risk).validate())) == cut_to(
                judge.root, leaves
            )
    return len(expected)


@pytest.mark.parametrize(
    ("risk", "criterion", "n_classes", "weights"),
    [
        (*risk, weights)
        for risk in RISKS
        for weights in ("none", "integer", "float")
        if risk[0] != "entropy" or weights == "float"  # ties of entropies have no exact answer
    ],
)
def test_the_nested_family_is_that_of_the_enumeration(risk, criterion, n_classes, weights):
    rng = np.random.default_rng([len(risk), n_classes, len(weights)])
    growth = Growth(criterion=criterion, **FREE)
    steps, compared = [], 0
    while compared < cases(25):
        problem = random_problem(rng, "mixed duplicates missing", weights, n_classes, n_rows=20)
        forest = problem.grow(growth, 2, seed=compared)
        if max(len(pruned_subtrees(skeleton(nested(forest, t)))) for t in range(2)) > 3000:
            continue
        steps += [
            assert_sequence(Judge(problem, growth, forest, t), forest, t, risk) for t in range(2)
        ]
        compared += 1
    assert max(steps) >= 4


@pytest.mark.parametrize(
    ("risk", "n_classes"), [("gini", 2), ("gini", 5), ("entropy", 3), ("variance", 0)]
)
def test_alphas_and_impurities_are_those_of_scikit_learn(risk, n_classes):
    """One feature and random weights, which scikit-learn sums exactly, leave no ties."""
    rng = np.random.default_rng(2)
    n = 300
    X = rng.normal(size=(n, 1)).astype(np.float32).astype(np.float64)
    noisy = X[:, 0] + rng.normal(size=n)
    y = np.digitize(noisy, np.linspace(-1, 1, n_classes - 1)) if n_classes else noisy
    weights = rng.integers(1 << 9, 1 << 11, n) / 1024
    if n_classes:
        theirs = DecisionTreeClassifier(criterion=risk, random_state=0)
    else:
        theirs = DecisionTreeRegressor(random_state=0)
    expected = theirs.cost_complexity_pruning_path(X, y, sample_weight=weights)
    forest = Problem(X, [0], y, weights, n_classes).grow(Growth(criterion=risk, **FREE))
    path = pruning_path(forest, 0, risk)
    assert len(path.alphas) == len(expected.ccp_alphas) > 20
    np.testing.assert_allclose(path.alphas, expected.ccp_alphas, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(path.risks, expected.impurities, rtol=1e-12, atol=1e-12)
    for k in (1, len(path.alphas) // 2, len(path.alphas) - 2):
        alpha = math.sqrt(path.alphas[k] * path.alphas[k + 1])
        pruned = prune_to_alpha(forest, alpha, risk)
        other = theirs.set_params(ccp_alpha=alpha).fit(X, y, sample_weight=weights)
        assert pruned.n_leaves.tolist() == [other.get_n_leaves()] == [path.n_leaves[k]]
        cuts = np.sort(pruned.threshold[~pruned.is_leaf])
        np.testing.assert_allclose(cuts, np.sort(other.tree_.threshold[other.tree_.feature >= 0]))


@pytest.mark.parametrize("features", ["ordered", "mixed duplicates missing", "categorical missing"])
@pytest.mark.parametrize("weights", ["none", "zero", "integer", "float"])
def test_reduced_error_pruning_is_the_recursion(features, weights):
    rng = np.random.default_rng([len(features), len(weights)])
    cut = kept = 0
    for seed in range(cases(40)):
        problem = random_problem(rng, features, "integer", int(rng.integers(2, 5)), n_rows=30)
        forest = problem.grow(Growth(), 3, seed=seed)
        judge_set = random_problem(rng, features, weights, problem.n_classes, n_rows=30)
        rows = rng.integers(0, len(problem.y), len(judge_set.y))
        X = problem.X[rows] + np.where(problem.is_categorical, 0.0, rng.normal(size=(len(rows), 1)))
        noisy = rng.random(len(rows)) < 0.3
        y = np.where(noisy, judge_set.y, problem.y[rows])
        pruned = prune_reduced_error(forest, X, y, judge_set.weights).validate()
        exact = [Fraction(float(w)) for w in judge_set.all_weights]
        whole = all(w.denominator == 1 for w in exact)
        tie = Fraction(0) if whole else Fraction(1, 10**13) * sum(exact)
        for t in range(3):
            root = nested(forest, t)
            reached = rows_by_node(root, X)
            errors = {
                node.index: sum(
                    (exact[r] for r in reached[node.index] if y[r] != node.label), Fraction(0)
                )
                for node in root.walk()
            }
            leaves = reduced_error(skeleton(root), errors, tie)
            assert frozen(nested(pruned, t)) == cut_to(root, leaves)
            cut += len(leaves) < len(root.leaves())
            kept += len(leaves) > 1
    assert cut > cases(20)
    assert kept > cases(20)


def test_a_branch_that_no_sample_of_the_pruning_set_reaches_is_cut():
    X = np.arange(8.0)[:, None]
    problem = Problem(X, [0], np.array([0, 0, 0, 1, 1, 1, 0, 0]), None, 2)
    forest = problem.grow(Growth())
    assert forest.n_leaves.tolist() == [3]
    pruned = prune_reduced_error(forest, X[:6], problem.y[:6])
    assert pruned.n_leaves.tolist() == [2]
    empty = prune_reduced_error(forest, X[:0], problem.y[:0])
    assert empty.n_nodes.tolist() == [1]


def test_the_trees_of_the_family_are_nested_and_end_at_the_root():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 3))
    problem = Problem(X, [0] * 3, (X[:, 0] + rng.normal(size=200) > 0).astype(int), None, 2)
    forest = problem.grow(Growth(), 4)
    for t in range(4):
        path = pruning_path(forest, t)
        assert (np.diff(path.alphas) > 0).all()
        assert (np.diff(path.n_leaves) < 0).all()
        assert path.n_leaves[-1] == 1
        sizes = [len(prune_to_alpha(forest.subset([t]), a).nodes) for a in path.alphas.tolist()]
        assert sizes == [2 * n - 1 for n in path.n_leaves]
        assert all(b > a for b, a in itertools.pairwise(sizes))
